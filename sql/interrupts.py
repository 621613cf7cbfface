"""The end of long work on a client's text: its loops call `check`, so that cancel and
statement_timeout reach them.

Enters: a check for the work of one thread, which raises to end the work. Leaves: the errors of that
check, out of the loop that was running. Where no check is set, as on the event loop, which takes
small texts only, nothing happens. Must not know sessions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class _Known(threading.local):
    check: Callable[[], None] | None = None


_known = _Known()


def check() -> None:
    """Raise the error that ends the work of this thread, if there is one.

    Call at least every few milliseconds.
    """
    known = _known.check
    if known is not None:
        known()


@contextmanager
def interrupted_by(known: Callable[[], None]) -> Iterator[None]:
    """Let `known` end the work inside, on this thread."""
    before, _known.check = _known.check, known
    try:
        yield
    finally:
        _known.check = before
