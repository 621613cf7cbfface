"""VACUUM and ANALYZE: DuckDB keeps its statistics with every write, and gives room free at its
checkpoints.
"""

from __future__ import annotations

from engine.catalog.image import TableEntry
from engine.execution.registry import handles
from engine.execution.work import Work
from sql.errors import SqlError
from sql.names.relation_keys import name_of
from sql.parse.statements.maintenance import Maintenance


@handles(Maintenance)
def maintain(statement: Maintenance, work: Work) -> None:
    """Look up whether the tables and columns exist.

    Raises 42P01, 42703, 42701, and 25001 for VACUUM in a transaction block.
    """
    if statement.verb == "VACUUM":
        work.require_alone(statement.tag)
    image, roles = work.image, work.image.roles
    role = work.identity.current(roles)
    for (name, position), columns in zip(statement.tables, statement.columns, strict=True):
        entry = image.existing(name, position)
        if not isinstance(entry, TableEntry):
            text = f'skipping "{name_of(name)}" --- cannot {statement.verb.lower()} non-tables or special system tables'
            work.notice("01000", text, "WARNING")
        elif not roles.has_privileges_of(role, image.privileges.owner(entry.description.oid)):
            text = f'skipping "{name_of(name)}" --- only table or database owner can {statement.verb.lower()} it'
            work.notice("01000", text, "WARNING")
        else:
            check_columns(name, {column.name for column in entry.description.columns}, columns)


def check_columns(table: str, known: set[str], columns: tuple[str, ...]) -> None:
    """Raise 42703 for columns that do not exist, and 42701 for those that are named twice."""
    relation = f'of relation "{name_of(table)}"'
    for number, name in enumerate(columns):
        if name not in known:
            raise SqlError("42703", f'column "{name}" {relation} does not exist')
        if name in columns[:number]:
            raise SqlError("42701", f'column "{name}" {relation} appears more than once')
