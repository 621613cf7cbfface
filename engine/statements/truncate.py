"""The statement TRUNCATE."""

from __future__ import annotations

from engine.ddl.table_building import owned_sequences, restarted
from engine.execution.defining import finish, table_work
from engine.execution.outcome import Outcome
from engine.execution.registry import handles
from engine.execution.work import Work
from engine.tables.truncation import truncate_tables, truncated
from sql.parse.statements.delete import Truncate


@handles(Truncate)
async def truncate(statement: Truncate, work: Work) -> Outcome:
    """Empty tables, and begin their sequences anew with RESTART IDENTITY."""
    if statement.restart_identity:
        changed = await table_work(work)
        for entry in truncated(statement, changed.image):
            for sequence in owned_sequences(changed, entry):
                name = sequence.description.name
                work.identity.require_owner(changed.image, name)
                changed.image = changed.image.with_replaced(name, restarted(sequence, changed))
        finish(changed, work)
    await work.threads.in_worker(empty, statement, work)
    return Outcome(statement.tag)


def empty(statement: Truncate, work: Work) -> None:
    """Take the rows out of the tables."""
    tables = work.server.transactions.begin_tables(work.transaction)
    truncate_tables(statement, tables, work.identity.require_privilege, work.notice)
