"""The registry of the functions that do statements.

A function names its statements itself: `@handles(DropIndex)`.

Enters: statements whose names are found and whose rights are checked, and the work. Leaves:
outcomes. All modules of the rooms that `load` is called with are imported, so that a new statement
is found by the file that it is in.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import Any, TypeVar

from engine.execution.outcome import Outcome
from engine.execution.work import Work
from sql.errors import not_supported
from sql.parse.statements.declaration import Statement

# What it returns is the outcome, nothing if the statement's tag says all of that.
Handle = Callable[[Any, Work], Outcome | Awaitable[Outcome | None] | None]
Handler = TypeVar("Handler", bound=Handle)
Define = Callable[[Work], Awaitable[Outcome]]
Surrounding = Callable[[Any, Work, Define], Awaitable[Outcome]]
HANDLERS: dict[type[Statement], Handle] = {}


SURROUNDINGS: dict[type[Statement], Surrounding] = {}


def handles(*kinds: type[Statement]) -> Callable[[Handler], Handler]:
    """Register a function for the statements of these kinds."""

    def register(handler: Handler) -> Handler:
        for kind in kinds:
            assert kind not in HANDLERS, kind
            HANDLERS[kind] = handler
        return handler

    return register


def surrounds(kind: type[Statement]) -> Callable[[Surrounding], Surrounding]:
    """Register a function that does all of a defining statement of this kind, by calling its last
    argument.

    The function calls it as often as it has to.
    """

    def register(surrounding: Surrounding) -> Surrounding:
        SURROUNDINGS[kind] = surrounding
        return surrounding

    return register


def load(*rooms: ModuleType) -> None:
    """Import the modules of rooms that have functions for statements."""
    for room in rooms:
        for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
            importlib.import_module(module.name)


async def do(statement: Statement, work: Work) -> Outcome:
    """Do a statement. Raises SqlError."""
    handler = HANDLERS.get(type(statement))
    if handler is None:
        raise not_supported(type(statement).__name__)
    outcome = handler(statement, work)
    done = await outcome if inspect.isawaitable(outcome) else outcome
    return Outcome(statement.tag) if done is None else done
