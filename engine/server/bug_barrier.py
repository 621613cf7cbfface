"""The barrier at which the exceptions of a session end, so that a bug costs one statement and not
the server.

Enters: an exception. Leaves: an answer to the client, by the connection that handles its messages.
Must not know messages.
"""

from __future__ import annotations

import types
from typing import Protocol

from engine.scheduler.deep_trees import too_deep


class Answering(Protocol):
    """The connection that tells a client about a bug."""

    def answer_bug(self, error: Exception) -> None:
        """Tell the client, and the log, which exception was raised while its message was
        handled.
        """


class BugBarrier:
    """The one place that takes any exception."""

    __slots__ = ("_answering",)

    def __init__(self, answering: Answering) -> None:
        self._answering = answering

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: types.TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        self._answering.answer_bug(too_deep() if isinstance(error, RecursionError) else error)
        return True
