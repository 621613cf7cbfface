"""A single INSERT that can be done once more, since its stream may be altered between its rows and its commit: clients do not see that.

Enters: how it was done. Leaves: the same tag, in another transaction. Must not commit.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from engine.commit.transaction import Again
from engine.statements.outcome import Outcome
from sql.parse.parse import parse
from sql.parse.statements.declaration import Empty, Statement
from sql.tree.expressions import Literal

if TYPE_CHECKING:
    from engine.sessions.prepared import Portal, Prepared
    from engine.sessions.session import Session


def statement_again(
    session: Session, outcome: Outcome, statement: Statement, parameters: tuple[Literal, ...], prepared: Prepared | None
) -> Again | None:
    """Return how a statement is done again that was run in the general way; None when its client gets rows of it."""
    return (
        Again(outcome.tag, partial(run, session, statement, parameters, prepared)) if outcome.schema is None else None
    )


def text_again(session: Session, tag: str, text: str) -> Again:
    """Return how the text of a Query is done again, which has one statement."""

    async def run_text() -> str:
        found = await session.with_text(text, parse, session.settings.checked_text(text))
        (statement,) = (one for one in found if not isinstance(one, Empty))
        return await run(session, statement, (), None)

    return Again(tag, run_text)


def portal_again(session: Session, tag: str, portal: Portal) -> Again:
    """Return how a portal is run again whose row was decoded without its values."""

    async def run_portal() -> str:
        portal.row = None
        portal.decode_parameters(session.settings)
        return await run(session, portal.prepared.statement, portal.values, portal.prepared)

    return Again(tag, run_portal)


async def run(
    session: Session, statement: Statement, parameters: tuple[Literal, ...], prepared: Prepared | None
) -> str:
    """Run a statement in a transaction of its own; return its tag."""
    transaction = session.block.current()
    transaction.serializable = session.settings.is_serializable
    return (await session.runner.run(statement, transaction, parameters, prepared)).tag
