"""REINDEX [(options)] INDEX | TABLE | SCHEMA | DATABASE | SYSTEM [CONCURRENTLY] name."""

from __future__ import annotations

from dataclasses import dataclass

from sql.errors import SqlError
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.declaration import Naming, Right, Statement
from sql.parse.statements.options import named_values
from sql.parse.statements.rules import begins
from sql.parse.statements.storage_parameters import require_tablespace
from sql.values.booleans import parse_bool

KINDS = ("index", "table", "schema", "database", "system")
OPTIONS = ("concurrently", "tablespace", "verbose")


@dataclass(frozen=True)
class Reindex(Statement, tag="REINDEX", defines=True, writes=False):
    """The statement REINDEX.

    Attributes:
        kind: 'index', 'table', 'schema', 'database' or 'system'.
    """

    kind: str
    name: str
    concurrently: bool

    @property
    def named(self) -> tuple[tuple[str, Naming], ...]:
        """See Statement."""
        return (("name", Naming.KNOWN),) if self.kind in ("index", "table") else ()

    @property
    def rights(self) -> tuple[tuple[str, Right], ...]:
        """See Statement.

        The rights for schemas and for the database are checked by the function that does the
        statement.
        """
        return {"index": (("name", Right.OWN_INDEX),), "table": (("name", Right.OWN),)}.get(self.kind, ())


@begins("reindex")
def reindex(cursor: Cursor) -> Reindex:
    """Read REINDEX."""
    cursor.expect("reindex")
    concurrently = cursor.at_operator("(") and options(cursor)
    kind = cursor.one_of(*KINDS)
    concurrently = cursor.accept("concurrently") or concurrently
    name = cursor.relation_name() if kind in ("index", "table") else cursor.name()
    return Reindex(cursor.statement_text, kind, name, bool(concurrently))


def options(cursor: Cursor) -> bool:
    """Read (name [value], ...), and tell whether CONCURRENTLY is on.

    Errors of options wait for the end of the text: 42601 for an unknown one, 42704 for a tablespace
    that is not there.
    """
    concurrently = False
    space = None
    for name, value, position in named_values(cursor):
        is_on = True if value is None else parse_bool(value)
        if name not in OPTIONS:
            cursor.defer(SqlError("42601", f'unrecognized REINDEX option "{name}"', position))
        elif name == "tablespace":
            space = value
            if value is None:
                cursor.defer(SqlError("42601", "tablespace requires a parameter"))
        elif is_on is None:
            cursor.defer(SqlError("42601", f"{name} requires a Boolean value"))
        elif name == "concurrently":
            concurrently = is_on
    require_tablespace(cursor, space)
    return concurrently
