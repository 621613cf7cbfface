"""Long texts and large parameters of clients: read and bound on a thread, where cancel and
statement_timeout end the work.

The thread gives the interpreter to the event loop many times in a millisecond, and the text that
one call of a C function looks at is bounded (`sql.parse.lexer`), so that other clients notice
nothing. Short texts are read at once, which takes less time than a thread's beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from engine.scheduler.threads import TEXT_AT_ONCE_MAX
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.declaration import Statement

if TYPE_CHECKING:
    from engine.sessions.session import Session

Result = TypeVar("Result")

# Values of parameters that are read at once.
PARAMETERS_AT_ONCE_BYTES_MAX = 16_384
# After so long at the statements of one Query, the event loop has a turn for others.
TURN_S = 0.003


async def timed(session: Session, work: Callable[..., Result], *arguments: Any) -> Result:
    """Do work on a long text before its statement runs; the time counts for statement_timeout."""
    session.timeout.start()
    try:
        return await session.threads.in_pieces(work, *arguments)
    except SqlError as error:
        raise session.timeout.error_or(error) from None
    finally:
        session.timeout.stop()


async def parsed(session: Session, text: str) -> Sequence[Statement]:
    """Return the statements of a Query."""
    if len(text) <= TEXT_AT_ONCE_MAX:
        return parse(session.settings.checked_text(text))
    return await timed(session, lambda: parse(session.settings.checked_text(text)))
