"""SET, RESET and SHOW.

Enters: the statement, and the transaction that SET LOCAL is of. Leaves: settings of the session as they are from now on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.sessions.prepared import SHOW_ALL_COLUMNS
from engine.statements.outcome import Outcome, text_outcome
from sql.errors import SqlError
from sql.parse.statements.variables import SetVariable, Show
from sql.settings.settings import Settings
from sql.settings.table import canonical_name

if TYPE_CHECKING:
    from engine.commit.transaction import Transaction
    from engine.sessions.session import Session


def set_variable(session: Session, statement: SetVariable, transaction: Transaction, in_block: bool) -> Outcome:
    """Do SET or RESET. Raises 25001, and what the setting refuses."""
    begun = transaction.pins is not None or transaction.tables is not None or bool(transaction.operations)
    if begun and statement.name == "transaction" and "isolation level" in (statement.value or ""):
        raise SqlError("25001", "SET TRANSACTION ISOLATION LEVEL must be called before any query")
    session.settings.set(statement.name, statement.value, statement.local)
    if statement.local and not in_block:
        what = "SET TRANSACTION" if statement.name == "transaction" else "SET LOCAL"
        session.notice("25P01", f"{what} can only be used in transaction blocks", "WARNING")
    return Outcome("RESET" if statement.text[:5].lower() == "reset" else "SET")


def show(settings: Settings, statement: Show) -> Outcome:
    """Do SHOW. Raises 42704."""
    if statement.name == "all":
        return text_outcome("SHOW", SHOW_ALL_COLUMNS, settings.show_all())
    return text_outcome("SHOW", [canonical_name(statement.name)], [[settings.show(statement.name)]])
