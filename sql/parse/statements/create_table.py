"""CREATE TABLE, with columns and constraints or AS a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sql.errors import SqlError, not_supported
from sql.names.relation_keys import TEMPORARY, written_schema
from sql.parse import syntax
from sql.parse.grammar import queries
from sql.parse.grammar.cursor import Cursor
from sql.parse.grammar.from_clause import column_names
from sql.parse.statements.columns import table_column
from sql.parse.statements.constraints import at_table_constraint, refuse_inheritance, table_constraint
from sql.parse.statements.declaration import Naming, Right, Statement
from sql.parse.statements.parts import Constraint, LikeRelation, TableColumn
from sql.parse.statements.rules import begins
from sql.parse.statements.sequences import created_name, persistence
from sql.parse.statements.storage_parameters import storage_parameters, tablespace
from sql.parse.syntax import Query


@dataclass(frozen=True)
class CreateTable(
    Statement,
    defines=True,
    named=(
        ("name", Naming.NEW_AT_POSITION),
        ("likes", Naming.LIKES),
        ("columns", Naming.TYPES),
    ),
    rights=(
        ("name", Right.CREATE_AT_POSITION),
        ("constraints", Right.REFER),
        ("columns", Right.REFER),
        ("likes", Right.LIKE),
    ),
):
    """The statement CREATE TABLE [IF NOT EXISTS] name (columns, likes and constraints), or AS a
    query.

    The form with a query is ... [(column names)] AS query [WITH [NO] DATA]. A temporary table has a
    name in the schema pg_temp.

    Attributes:
        on_commit: 'drop', 'delete' or 'preserve' (the rows), or the empty text.
        parameters: of WITH, as texts name=value.
    """

    name: str
    name_position: int
    columns: tuple[TableColumn, ...]
    constraints: tuple[Constraint, ...]
    if_not_exists: bool
    query: syntax.Query | None = None
    column_names: tuple[str, ...] = ()
    with_data: bool = True
    on_commit: str = ""
    likes: tuple[LikeRelation, ...] = ()
    parameters: tuple[str, ...] = ()

    @property
    def tag(self) -> str:
        """See Statement."""
        return "CREATE TABLE" if self.query is None else "CREATE TABLE AS"


COLUMNS_MAX = 1600
# The parts that LIKE can copy beside names, types and NOT NULL. Tables here have no generated
# columns, nor choices of how they are stored.
LIKE_PARTS = (
    "comments", "compression", "constraints", "defaults", "generated", "identity", "indexes", "statistics", "storage",
)  # fmt: skip


@begins("create table")
def create_table(cursor: Cursor) -> CreateTable:
    """Read the statement from its first word."""
    cursor.expect("create")
    is_temporary = persistence(cursor)
    cursor.expect("table")
    if_not_exists = cursor.accept_if_not_exists()
    name_position = cursor.position
    name = created_name(cursor, is_temporary)
    if cursor.at("partition", "of"):
        raise not_supported("PARTITION OF" if cursor.at("partition") else "CREATE TABLE OF", cursor.position)
    columns: tuple[TableColumn, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    likes: tuple[LikeRelation, ...] = ()
    query: Query | None = None
    names: tuple[str, ...] = ()
    with_data = True
    if cursor.at_operator("(") and not at_names_only(cursor):
        columns, constraints, likes = elements(cursor, name)
        refuse_inheritance(cursor)
        if cursor.at("partition"):
            raise not_supported("PARTITION BY", cursor.position)
        on_commit, parameters = storage_clauses(cursor)
        check_columns(cursor, name, columns, constraints, has_others=bool(likes))
    else:
        names = column_names(cursor)
        check_names(cursor, names)
        on_commit, parameters = storage_clauses(cursor)
        cursor.expect("as")
        query, with_data = table_query(cursor)
    if on_commit and written_schema(name) != TEMPORARY:
        cursor.defer(SqlError("42P16", "ON COMMIT can only be used on temporary tables"))
    text = cursor.statement_text
    return CreateTable(
        text,
        name,
        name_position,
        columns,
        constraints,
        if_not_exists,
        query,
        names,
        with_data,
        on_commit,
        likes,
        parameters,
    )


def at_names_only(cursor: Cursor) -> bool:
    """Tell whether a list of bare names follows, as before AS query, and no column definitions."""
    return cursor.ahead(1).kind in ("word", "quoted") and cursor.ahead(2).value in (",", ")")


def table_query(cursor: Cursor) -> tuple[Query, bool]:
    """Read query [WITH [NO] DATA] after AS."""
    if cursor.at("execute"):
        raise not_supported("CREATE TABLE AS EXECUTE", cursor.position)
    query = queries.query(cursor)
    if not cursor.accept("with"):
        return query, True
    with_data = not cursor.accept("no")
    cursor.expect("data")
    return query, with_data


Elements = tuple[tuple[TableColumn, ...], tuple[Constraint, ...], tuple[LikeRelation, ...]]


def elements(cursor: Cursor, table: str) -> Elements:
    """Read (columns, constraints and likes)."""
    columns: list[TableColumn] = []
    constraints: list[Constraint] = []
    likes: list[LikeRelation] = []

    def element(cursor: Cursor) -> None:
        if cursor.at("like"):
            likes.append(like_relation(cursor, len(columns)))
        elif at_table_constraint(cursor):
            found = table_constraint(cursor)
            constraints.extend(() if found is None else (found,))
        else:
            columns.append(table_column(cursor, table))

    cursor.listed_or_none(element)
    return tuple(columns), tuple(constraints), tuple(likes)


def like_relation(cursor: Cursor, before: int) -> LikeRelation:
    """Read LIKE name [INCLUDING | EXCLUDING part]..."""
    cursor.expect("like")
    position = cursor.position
    name = cursor.relation_name()
    including: set[str] = set()
    while (word := cursor.accept_any("including", "excluding")) is not None:
        part = cursor.accept_any("all", *LIKE_PARTS) or cursor.fail()
        parts = LIKE_PARTS if part == "all" else (part,)
        including = including.union(parts) if word == "including" else including.difference(parts)
    return LikeRelation(name, position, before, frozenset(including))


def storage_clauses(cursor: Cursor) -> tuple[str, tuple[str, ...]]:
    """Read USING method, WITH (parameters) | WITHOUT OIDS, ON COMMIT and TABLESPACE.

    Return the word after ON COMMIT, if it is written, and the parameters.
    """
    on_commit = ""
    parameters: tuple[str, ...] = ()
    position = cursor.position
    if cursor.accept("using"):
        if cursor.name() != "heap":
            cursor.refuse("an access method", position)
    if cursor.accept("with"):
        parameters = storage_parameters(cursor)
    elif cursor.accept("without"):
        cursor.expect("oids")
    if cursor.accept("on"):
        cursor.expect("commit")
        on_commit = cursor.accept_any("drop", "delete", "preserve") or cursor.fail()
        if on_commit != "drop":
            cursor.expect("rows")
    if cursor.accept("tablespace"):
        tablespace(cursor)
    return on_commit, parameters


def check_columns(
    cursor: Cursor,
    table: str,
    columns: tuple[TableColumn, ...],
    constraints: tuple[Constraint, ...],
    has_others: bool = False,
) -> None:
    """Defer PostgreSQL's errors for columns that are there twice, and for keys that do not fit the
    columns.

    has_others: there are columns that only the catalog knows.
    """
    if len(columns) > COLUMNS_MAX:
        cursor.defer(SqlError("54011", f"tables can have at most {COLUMNS_MAX} columns"))
    names = {column.name for column in columns}
    check_names(cursor, [column.name for column in columns])
    every = [*(item for column in columns for item in column.constraints), *constraints]
    keys = [item for item in every if item.kind == "primary key"]
    if len(keys) > 1:
        cursor.defer(SqlError("42P16", f'multiple primary keys for table "{table}" are not allowed', keys[1].position))
    for item in constraints:
        if item.kind in ("primary key", "unique") and not has_others:
            check_key(cursor, item, names)


def check_names(cursor: Cursor, names: Sequence[str]) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            cursor.defer(SqlError("42701", f'column "{name}" specified more than once'))


def check_key(cursor: Cursor, item: Constraint, names: set[str]) -> None:
    seen: set[str] = set()
    for name, _ in item.columns:
        if name not in names:
            cursor.defer(SqlError("42703", f'column "{name}" named in key does not exist', item.position))
        if name in seen:
            kind = "primary key" if item.kind == "primary key" else "unique"
            message = f'column "{name}" appears twice in {kind} constraint'
            cursor.defer(SqlError("42701", message, item.position))
        seen.add(name)
