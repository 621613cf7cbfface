"""VACUUM and ANALYZE, which here only look up whether their tables exist, and CLUSTER, which notes
the index.

The first two also take relations of the catalog, so that the names are found where the statement
runs.
"""

from __future__ import annotations

from dataclasses import dataclass

from sql.errors import SqlError
from sql.names.relation_keys import as_written, name_of
from sql.parse.grammar.cursor import Cursor, relation_of
from sql.parse.grammar.from_clause import column_names
from sql.parse.statements.declaration import Naming, Right, Statement
from sql.parse.statements.options import named_values
from sql.parse.statements.rules import begins
from sql.parse.statements.update import written_name
from sql.values.booleans import parse_bool


@dataclass(frozen=True)
class Maintenance(Statement):
    """The statements VACUUM and ANALYZE.

    Attributes:
        verb: VACUUM or ANALYZE.
        tables: (name as written, position), none for all tables.
        columns: of each of the tables, none for all columns.
    """

    verb: str
    tables: tuple[tuple[str, int], ...]
    columns: tuple[tuple[str, ...], ...]

    @property
    def tag(self) -> str:
        """See Statement."""
        return self.verb


@dataclass(frozen=True)
class Cluster(Statement, tag="CLUSTER", defines=True, named=(("table", Naming.KNOWN),), rights=(("table", Right.OWN),)):
    """CLUSTER [VERBOSE] table [USING index].

    Attributes:
        index: '' for that of the last time.
    """

    table: str
    table_position: int
    index: str


@dataclass(frozen=True)
class ClusterAll(Statement, tag="CLUSTER"):
    """CLUSTER of all tables."""


ANALYZE_OPTIONS = frozenset({"verbose", "skip_locked"})
VACUUM_OPTIONS = frozenset(
    "verbose skip_locked analyze analyse freeze full disable_page_skipping index_cleanup process_toast truncate parallel".split()
)
ANALYZE = ("analyze", "analyse")
WORKERS_MAX = 1024
WORDS = ("full", "freeze", "verbose", *ANALYZE)


@begins("vacuum")
def vacuum(cursor: Cursor) -> Maintenance:
    """Read VACUUM [(options)] [FULL] [FREEZE] [VERBOSE] [ANALYZE] [tables]."""
    cursor.expect("vacuum")
    analyzes = False
    if cursor.at_operator("("):
        analyzes = not options(cursor, "VACUUM", VACUUM_OPTIONS).isdisjoint(ANALYZE)
    else:
        while cursor.at(*WORDS):
            analyzes = cursor.at(*ANALYZE) or analyzes
            cursor.advance()
    named, columns = tables(cursor)
    if any(columns) and not analyzes:
        cursor.defer(SqlError("0A000", "ANALYZE option must be specified when a column list is provided"))
    return Maintenance(cursor.statement_text, "VACUUM", named, columns)


@begins("cluster")
def cluster(cursor: Cursor) -> Cluster | ClusterAll:
    """Read CLUSTER [(VERBOSE [value])] [VERBOSE] [table [USING index]], or index ON table."""
    cursor.expect("cluster")
    if cursor.at_operator("("):
        options(cursor, "CLUSTER", frozenset({"verbose"}))
    else:
        cursor.accept("verbose")
    if cursor.at_end_of_statement():
        return ClusterAll(cursor.statement_text)
    name, position = written_name(cursor)
    index = ""
    if cursor.accept("on"):
        index = name_of(name)
        name, position = written_name(cursor)
    elif cursor.accept("using"):
        index = cursor.name()
    return Cluster(cursor.statement_text, name, position, index)


@begins("analyse", "analyze")
def analyze(cursor: Cursor) -> Maintenance:
    """Read ANALYZE [(options)] [VERBOSE] [tables]."""
    cursor.advance()
    if cursor.at_operator("("):
        options(cursor, "ANALYZE", ANALYZE_OPTIONS)
    else:
        cursor.accept("verbose")
    named, columns = tables(cursor)
    return Maintenance(cursor.statement_text, "ANALYZE", named, columns)


def options(cursor: Cursor, verb: str, known: frozenset[str]) -> set[str]:
    """Read (name [value], ...); return the names."""
    found = named_values(cursor)
    for name, value, position in found:
        if name not in known:
            cursor.defer(SqlError("42601", f'unrecognized {verb} option "{name}"', position))
        elif name == "parallel":
            require_workers(cursor, value, position)
        elif name == "index_cleanup" and value is not None and value.lower() == "auto":
            continue
        elif value is not None and parse_bool(value) is None:
            cursor.defer(SqlError("42601", f"{name} requires a Boolean value"))
    return {name for name, value, _ in found if value is None or parse_bool(value)}


def require_workers(cursor: Cursor, value: str | None, position: int) -> None:
    """Defer the error of a PARALLEL that is no count of workers from 0 to 1024."""
    if value is None:
        cursor.defer(SqlError("42601", "parallel option requires a value between 0 and 1024", position))
    elif not value.isdigit():
        cursor.defer(SqlError("42601", "parallel requires an integer value"))
    elif int(value) > WORKERS_MAX:
        cursor.defer(SqlError("42601", "parallel workers for vacuum must be between 0 and 1024", position))


def tables(cursor: Cursor) -> tuple[tuple[tuple[str, int], ...], tuple[tuple[str, ...], ...]]:
    """Read table [(columns)], ..., or nothing; return the tables, and the columns of each."""
    if cursor.at_end_of_statement():
        return (), ()
    found = cursor.several(lambda cursor: (cursor.placed(catalog_or_relation), column_names(cursor)))
    return tuple(table for table, _ in found), tuple(columns for _, columns in found)


def catalog_or_relation(cursor: Cursor) -> str:
    """Read the name of a relation as written, which may be one of pg_catalog."""
    position, parts = cursor.position, cursor.qualified_name()
    return as_written(parts) if len(parts) == 2 else relation_of(parts, position)
