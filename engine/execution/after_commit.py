"""The registry of the effects that a transaction has on sessions after its COMMIT, and what an
effect knows of the session.

A function names its effect itself: `@follows_commit(Notice)`. Enters: the effects of a committed
transaction (`Transaction.after_commit`). Leaves: calls of the functions, on the event loop. Must
not know any of the effects.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import Any, Protocol, TypeVar

from engine.execution.server_parts import ServerParts


class Inbox(Protocol):
    """The messages for a session's client that answer no message of the client.

    Attributes:
        process_id: of the session.
        at_end: is called with the inbox when nothing is taken any more.
    """

    process_id: int
    at_end: set[Callable[[Any], object]]

    def put(self, message: bytes) -> None:
        """Send a message of the protocol, at once if the client is idle outside of a block, else
        as soon as it is. On the event loop.
        """


Follow = TypeVar("Follow", bound=Callable[[Any, ServerParts, Inbox], None])
FOLLOWING: dict[type, Callable[[Any, ServerParts, Inbox], None]] = {}


def follows_commit(kind: type) -> Callable[[Follow], Follow]:
    """Register the function of the effects of a kind. Kinds follow in the order in which they are
    registered.
    """

    def register(function: Follow) -> Follow:
        assert kind not in FOLLOWING, kind
        FOLLOWING[kind] = function
        return function

    return register


def follow_commit(effects: Collection[Hashable], server: ServerParts, inbox: Inbox) -> None:
    """Let the effects of a transaction happen, kind by kind, in their order."""
    for kind, function in FOLLOWING.items():
        for effect in effects:
            if type(effect) is kind:
                function(effect, server, inbox)
