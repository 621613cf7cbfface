"""SET, RESET and SHOW: settings of the session as they are from now on."""

from __future__ import annotations

from engine.execution.outcome import Outcome, text_outcome
from engine.execution.prepared import SHOW_ALL_COLUMNS
from engine.execution.registry import handles
from engine.execution.work import Work
from sql.errors import SqlError
from sql.parse.statements.variables import SetVariable, Show
from sql.settings.table import canonical_name


@handles(SetVariable)
def set_variable(statement: SetVariable, work: Work) -> None:
    """Set a variable, with LOCAL until the transaction ends.

    Raises 25001, and the errors of the setting.
    """
    transaction = work.transaction
    begun = transaction.pins is not None or transaction.tables is not None or bool(transaction.operations)
    if begun and statement.name == "transaction" and "isolation level" in (statement.value or ""):
        raise SqlError("25001", "SET TRANSACTION ISOLATION LEVEL must be called before any query")
    work.settings.set(statement.name, statement.value, statement.local)
    if statement.local and not work.in_block:
        what = "SET TRANSACTION" if statement.name == "transaction" else "SET LOCAL"
        work.notice("25P01", f"{what} can only be used in transaction blocks", "WARNING")


@handles(Show)
def show(statement: Show, work: Work) -> Outcome:
    """Show a variable, or all. Raises 42704."""
    if statement.name == "all":
        return text_outcome(statement.tag, SHOW_ALL_COLUMNS, work.settings.show_all())
    return text_outcome(statement.tag, [canonical_name(statement.name)], [[work.settings.show(statement.name)]])
