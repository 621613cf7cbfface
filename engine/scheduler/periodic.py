"""Work that is due again and again, each piece under a key, on threads of its own.

Enters: the keys with their intervals, whenever they change; a function that does the work of a key,
and one that ends work which is over its deadline. Leaves: calls of the first, one at a time for
each key, and of the second until the work has ended: the work may be just about to begin what can
be ended, and would not hear of a single call. What is due when is `views.upkeep.schedule`'s to say.
A failure is logged once, and again when it is another one. Must not know what the work is.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from math import inf
from time import monotonic

from sql.errors import SqlError
from views.upkeep.schedule import Pace

log = logging.getLogger(__name__)

THREADS = 2
# How often work that is over its deadline is ended.
AGAIN_S = 0.1
STOPPING = "57P01"
END_S_MAX = 5.0

# From a key, what raises 57P01 or 57014 when the work is to end, and when that is at the latest.
Work = Callable[[Hashable, Callable[[], None], float], None]


class Periodic:
    """The threads of one server's periodic work.

    Arguments:
        work: does the work of a key. Raises SqlError.
        end: lets the work of a key fail that runs too long, or when the server stops.
    """

    def __init__(self, work: Work, end: Callable[[Hashable], None]) -> None:
        self._work = work
        self._end = end
        self._changed = threading.Condition()
        self._paces: dict[Hashable, Pace] = {}
        # When the work of a key is ended next.
        self._running: dict[Hashable, float] = {}
        self._told: dict[Hashable, str] = {}
        self._stopping = False
        self._workers = ThreadPoolExecutor(THREADS, thread_name_prefix="antumbra-periodic")
        self._thread = threading.Thread(target=self._run, name="antumbra-schedule", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End the work that runs, and begin none."""
        with self._changed:
            self._stopping = True
            running = list(self._running)
            self._changed.notify_all()
        for key in running:
            self._end(key)
        self._workers.shutdown(wait=False, cancel_futures=True)
        if self._thread.is_alive():
            self._thread.join(END_S_MAX)

    def _run(self) -> None:
        while True:
            with self._changed:
                now_s = monotonic()
                for key, pace in self._paces.items():
                    if pace.due_s <= now_s and key not in self._running:
                        self._running[key] = inf
                        self._workers.submit(self._once, key, pace)
                late = [key for key, deadline_s in self._running.items() if deadline_s <= now_s]
                self._running.update(dict.fromkeys(late, now_s + AGAIN_S))
                waiting = [pace.due_s for key, pace in self._paces.items() if key not in self._running]
                next_s = min([*waiting, *self._running.values()], default=inf)
                if not self._stopping and not late:
                    self._changed.wait(None if next_s == inf else max(0.0, next_s - now_s))
                if self._stopping:
                    return
            for key in late:
                self._end(key)

    def follow(self, wanted: Mapping[Hashable, float]) -> None:
        """Take up new keys and intervals in seconds, and forget other keys; from any thread."""
        with self._changed:
            now_s = monotonic()
            for key in self._paces.keys() - wanted.keys():
                del self._paces[key]
                self._told.pop(key, None)
            for key, every_s in wanted.items():
                known = self._paces.get(key)
                self._paces[key] = Pace(every_s, now_s) if known is None else known.with_interval(every_s, now_s)
            self._changed.notify_all()

    def _once(self, key: Hashable, pace: Pace) -> None:
        began_s = monotonic()
        deadline_s = pace.deadline_s(began_s)
        with self._changed:
            self._running[key] = deadline_s
            self._changed.notify_all()
        failure: str | None = "a bug, see above"
        try:
            self._work(key, self._check, deadline_s)
            failure = None
        except SqlError as error:
            failure = error.message
        except Exception:
            # At the end of the server, what the work needs may be gone.
            if not self._stopping:
                log.exception("a bug in the scheduled refresh of %s", key)
        finally:
            with self._changed:
                self._running.pop(key, None)
                if key in self._paces:
                    self._paces[key] = self._paces[key].after(began_s, monotonic(), failure is not None)
                    self._tell(key, failure)
                self._changed.notify_all()

    def _check(self) -> None:
        """Raise 57P01 once the server stops."""
        if self._stopping:
            raise SqlError(STOPPING, "the server stops")

    def _tell(self, key: Hashable, failure: str | None) -> None:
        """Log a failure that is another one than that of the last time."""
        known = self._told.pop(key, None)
        if failure is None:
            if known is not None:
                log.warning("the scheduled refresh of %s succeeds again", key)
            return
        self._told[key] = failure
        if failure != known and not self._stopping:
            log.warning("the scheduled refresh of %s failed, and is tried again: %s", key, failure)
