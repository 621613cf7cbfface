"""VACUUM and ANALYZE: DuckDB keeps its statistics with every write, and gives room free at its
checkpoints.
"""

from __future__ import annotations

from engine.catalog.image import TableEntry
from engine.execution.outcome import Outcome
from engine.execution.registry import handles
from engine.execution.work import Work
from sql.errors import SqlError
from sql.names.relation_keys import name_of
from sql.names.suggestions import did_you_mean
from sql.parse.statements.maintenance import Maintenance


@handles(Maintenance)
def maintain(statement: Maintenance, work: Work) -> Outcome:
    """Look up whether the tables exist.

    Raises 42P01, and 25001 for VACUUM in a transaction block.
    """
    if statement.verb == "VACUUM":
        work.require_alone(statement.tag)
    image, roles = work.image, work.image.roles
    role = work.identity.current(roles)
    for name, position in statement.tables:
        entry = image.entries.get(name)
        if entry is None:
            hint = did_you_mean(name, image.relation_names())
            raise SqlError("42P01", f'relation "{name}" does not exist', hint=hint, position=position)
        if not isinstance(entry, TableEntry):
            text = f'skipping "{name_of(name)}" --- cannot {statement.verb.lower()} non-tables or special system tables'
            work.notice("01000", text, "WARNING")
        elif not roles.has_privileges_of(role, image.privileges.owner(entry.description.oid)):
            text = f'skipping "{name_of(name)}" --- only table or database owner can {statement.verb.lower()} it'
            work.notice("01000", text, "WARNING")
    return Outcome(statement.tag)
