"""When checkpoints are made: after so much log, after so much time, by command, and at shutdown.

Enters: a function that makes a checkpoint, and the position of the log. Leaves: calls of the
function, one at a time, on a thread of their own, and the outcome for the statement that has asked
for a checkpoint. A checkpoint that fails is tried again later, since the log has everything. Must
not know what a checkpoint holds.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from engine.storage.errors import disk_error
from sql.errors import SqlError
from views.model.protocols import Clock

log = logging.getLogger(__name__)

POLL_S = 0.5
# After a failure the next try of ourselves comes after this time, and then after twice that, up to
# a limit.
RETRY_S = 10.0
RETRY_S_MAX = 300.0

CANCELED = "57014"
STOPPING = "57P01"


class Checkpointer:
    """The thread that makes the checkpoints of one server.

    Arguments:
        make: makes a checkpoint and returns its position; its argument, which it calls again and
            again, raises SqlError 57014 when the server stops.
        position: returns the position of the log's end, at little cost.
        log_bytes, interval_s: when a checkpoint is due; an interval of 0: never by time.
    """

    def __init__(
        self,
        make: Callable[[Callable[[], None]], int],
        position: Callable[[], int],
        clock: Clock,
        log_bytes: int,
        interval_s: float,
        poll_s: float = POLL_S,
    ) -> None:
        self._make = make
        self._position = position
        self._clock = clock
        self._log_bytes = log_bytes
        self._interval_s = interval_s
        self._poll_s = poll_s
        self._changed = threading.Condition()
        self._begun = 0
        self._ended = 0
        self._wanted = 0
        self._error: SqlError | None = None
        self._last_position = 0
        self._last_s = 0.0
        self._failures = 0
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="antumbra-checkpoints", daemon=True)

    def start(self, last_position: int) -> None:
        """Begin to make checkpoints. last_position: of the newest checkpoint."""
        self._last_position = last_position
        self._last_s = self._clock.monotonic_s()
        self._thread.start()

    def request(self, check_cancelled: Callable[[], None] = lambda: None) -> None:
        """Return after a checkpoint that was begun after the call.

        check_cancelled: called now and then; what it raises ends the waiting, but not the
        checkpoint. Raises the error of the checkpoint, such as SqlError 53100 and 58030, and 57P01
        when the server stops.
        """
        with self._changed:
            wanted = self._wanted = self._begun + 1
            self._changed.notify_all()
            while self._ended < wanted:
                if self._stopping or not self._thread.is_alive():
                    raise SqlError(STOPPING, "terminating connection due to administrator command", severity="FATAL")
                self._changed.wait(self._poll_s)
                check_cancelled()
            if self._error is not None:
                raise SqlError(
                    self._error.sqlstate, self._error.message, detail=self._error.detail, hint=self._error.hint
                )

    def stop(self, finally_one: bool) -> None:
        """Make no more checkpoints, except a last one if `finally_one` is true.

        A start after the last one has nothing to replay. There are no commits any more.
        """
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()
        if finally_one:
            self._attempt(lambda: None)

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._stopping and not self._is_due():
                    self._changed.wait(self._poll_s)
                if self._stopping:
                    return
                if not self._is_due():
                    continue
                self._begun += 1
            # A bug ends the thread, whose hook reports it; waiting statements are woken.
            error: SqlError | None = SqlError("XX000", "the checkpoint failed")
            try:
                error = self._attempt(self._check_stopping)
            finally:
                with self._changed:
                    self._ended, self._error = self._begun, error
                    self._changed.notify_all()

    def _is_due(self) -> bool:
        """Tell whether a statement waits for a checkpoint, or it is time for one."""
        if self._wanted > self._begun:
            return True
        grown = self._position() - self._last_position
        passed_s = self._clock.monotonic_s() - self._last_s
        if self._failures:
            return passed_s >= min(RETRY_S * 2.0 ** (self._failures - 1), RETRY_S_MAX)
        return grown >= self._log_bytes or (0 < self._interval_s <= passed_s and grown > 0)

    def _attempt(self, check_cancelled: Callable[[], None]) -> SqlError | None:
        """Make a checkpoint if the log has anything new, and return the error if it fails."""
        error: SqlError | None = None
        if self._position() == self._last_position:
            return None
        try:
            self._last_position = self._make(check_cancelled)
        except OSError as failure:
            error = disk_error(failure, "write a checkpoint", hint="The log keeps everything until one can be written.")
        except SqlError as failure:
            error = failure
        self._last_s = self._clock.monotonic_s()
        self._failures = 0 if error is None else self._failures + 1
        if error is not None and error.sqlstate != CANCELED:
            log.warning("the checkpoint failed, and the log keeps everything: %s", error.message)
        return error

    def _check_stopping(self) -> None:
        if self._stopping:
            raise SqlError(CANCELED, "the server stops")
