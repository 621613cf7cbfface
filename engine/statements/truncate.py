"""The statement TRUNCATE."""

from __future__ import annotations

from engine.ddl.dependents import owned_by
from engine.ddl.table_building import restarted
from engine.execution.defining import finish, table_work
from engine.execution.registry import handles
from engine.execution.work import Work
from engine.tables.truncation import truncate_tables, truncated
from sql.parse.statements.delete import Truncate


@handles(Truncate)
async def truncate(statement: Truncate, work: Work) -> None:
    """Empty tables, and begin their sequences anew with RESTART IDENTITY."""
    if statement.restart_identity:
        changed = await table_work(work)
        for entry in truncated(statement, changed.image):
            for sequence in owned_by(changed.image, entry.description.oid):
                work.identity.require_owner(changed.image, sequence.description.name)
                changed.put(restarted(sequence, changed))
        finish(changed, work)
    await work.threads.in_worker(empty, statement, work)


def empty(statement: Truncate, work: Work) -> None:
    """Take the rows out of the tables."""
    tables = work.server.transactions.begin_tables(work.transaction)
    truncate_tables(statement, tables, work.identity.require_privilege, work.notice)
