"""Python's search for garbage, while a long text is worked on: that goes through all that there is,
and holds up every client meanwhile.

The tokens and trees of a text of megabytes are millions of objects, of which none is garbage before
its statement ends, and all are gone with it. So the oldest generation is left alone meanwhile; the
younger ones, of some thousand objects, are searched as ever.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from time import monotonic

# Shorter ones leave nothing worth mentioning.
LONG_TEXT = 16_384
NEVER = 1_000_000_000
# Where long texts come without a pause, garbage is looked for all the same.
PAUSE_S_MAX = 60.0


class _Pause:
    """How many long texts are worked on, of the process. began_s: since when there was no
    search.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.usual = gc.get_threshold()
        self.works_count = 0
        self.began_s = 0.0

    def begin(self) -> bool:
        """One more is worked on; return whether garbage is due to be looked for."""
        with self.lock:
            now_s = monotonic()
            if not self.works_count:
                self.began_s = now_s
                self.usual = gc.get_threshold()
                gc.set_threshold(self.usual[0], self.usual[1], NEVER)
            self.works_count += 1
            is_due = now_s - self.began_s > PAUSE_S_MAX
            if is_due:
                self.began_s = now_s
            return is_due

    def end(self) -> None:
        """One fewer."""
        with self.lock:
            self.works_count -= 1
            if not self.works_count:
                gc.set_threshold(*self.usual)


_pause = _Pause()


@contextmanager
def collecting_later() -> Iterator[None]:
    """Leave the oldest generation alone while a long text is worked on."""
    if _pause.begin():
        gc.collect()
    try:
        yield
    finally:
        _pause.end()


async def collected_later(work: Awaitable[None]) -> None:
    """Do what works on a long text."""
    with collecting_later():
        await work
