"""INSERTs that can be done once more: their stream may be altered between their rows and their
commit, unseen by clients.

Enters: how an INSERT was done. Leaves: its tag, and the step that does it in another transaction
with the same tag. Must not commit.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from engine.commit.transaction import Step
from engine.execution.outcome import Outcome
from engine.statements.literal_insert import LiteralInsert
from sql.parse.parse import parse
from sql.parse.statements.declaration import Empty, Statement
from sql.parse.statements.insert import Insert
from sql.tree.expressions import Literal

if TYPE_CHECKING:
    from engine.execution.prepared import Portal, Prepared
    from engine.sessions.session import Session


def statement_again(
    session: Session, outcome: Outcome, statement: Statement, parameters: tuple[Literal, ...], prepared: Prepared | None
) -> Step | None:
    """Return the step that does a statement of the general way again.

    None is returned when the statement is no INSERT, or its client gets rows of it.
    """
    if not isinstance(statement, Insert | LiteralInsert) or outcome.schema is not None:
        return None
    return outcome.tag, partial(run, session, statement, parameters, prepared)


def text_again(session: Session, tag: str, text: str) -> Step:
    """Return the step that does the text of a Query again, which has one statement."""

    async def run_text() -> str:
        found = await session.threads.with_text(text, parse, session.settings.checked_text(text))
        (statement,) = (one for one in found if not isinstance(one, Empty))
        return await run(session, statement, (), None)

    return tag, run_text


def portal_again(session: Session, tag: str, portal: Portal) -> Step:
    """Return the step that runs a portal again whose row was decoded without its values."""

    async def run_portal() -> str:
        prepared = portal.prepared
        portal.row = None
        await session.threads.with_text(prepared.text, prepared.read, session.runner.image(), session.settings)
        portal.decode_parameters(session.settings)
        return await run(session, portal.prepared.statement, portal.values, portal.prepared)

    return tag, run_portal


async def run(
    session: Session, statement: Statement, parameters: tuple[Literal, ...], prepared: Prepared | None
) -> str:
    """Run a statement in a transaction of its own; return its tag."""
    transaction = session.block.current()
    transaction.serializable = session.settings.is_serializable
    return (await session.runner.run(statement, transaction, parameters, prepared)).tag
