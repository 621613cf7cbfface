"""DEALLOCATE and DISCARD: a session gives up prepared statements and other state."""

from __future__ import annotations

from engine.dialect.notifications import Listening
from engine.execution.registry import handles
from engine.execution.work import Work
from engine.statements.drop import drop_temporary
from sql.parse.statements.session_state import Deallocate, Discard


@handles(Deallocate)
def deallocate(statement: Deallocate, work: Work) -> None:
    """Forget a prepared statement, or all. Raises 26000."""
    work.names.deallocate(statement.name)


@handles(Discard)
async def discard(statement: Discard, work: Work) -> None:
    """Forget what the statement names. Raises 25001 for all of it in a transaction block."""
    if statement.what == "all":
        work.require_alone(statement.tag)
        work.names.deallocate(None)
        work.names.close_portal(None)
        work.transaction.after_commit[Listening(None, False)] = None
        work.locks.give_all_back()
        work.settings.set("session_authorization", None)
        work.settings.reset_all()
    if statement.what in ("all", "sequences"):
        work.sequences.forget()
    if statement.what in ("all", "temp"):
        await drop_temporary(work)
