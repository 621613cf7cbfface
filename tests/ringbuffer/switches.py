"""A scheduler that switches from one piece of code to another between any two of its bytecodes, at
one place after the other.

The other piece runs as a whole, in the same thread, where nobody holds the lock: so each switch is
the same each time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock
from types import FrameType
from typing import Any, TypeVar

Result = TypeVar("Result")


class Switch:
    """One switch to `other`, before bytecode number `place` of what `runs` runs in `files`, or the
    first one after it without `lock`.
    """

    def __init__(self, files: tuple[Path, ...], place: int) -> None:
        self._files = frozenset(map(str, files))
        self._left = place
        self.has_happened = False

    def runs(self, work: Callable[[], Result], other: Callable[[], object], lock: Lock) -> Result:
        """Return what `work` returns, having switched to `other` once, if there are so many
        bytecodes.
        """

        def trace(frame: FrameType, event: str, _: Any) -> Any:
            if frame.f_code.co_filename not in self._files:
                return None
            frame.f_trace_opcodes = True
            if event == "opcode" and not self.has_happened:
                self._left -= 1
                if self._left < 0 and not lock.locked():
                    self.has_happened = True
                    sys.settrace(None)
                    other()
            return None if self.has_happened else trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            return work()
        finally:
            sys.settrace(before)


def at_every_place(*files: Path) -> Iterator[Switch]:
    """Give switches at the first place, the second one, and so on, as long as they happen."""
    place = 0
    while True:
        switch = Switch(files, place)
        yield switch
        if not switch.has_happened:
            assert place > 0, "nothing has run in these files"
            return
        place += 1
