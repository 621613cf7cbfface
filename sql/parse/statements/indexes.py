"""CREATE INDEX, DROP INDEX and ALTER INDEX."""

from __future__ import annotations

from dataclasses import dataclass

from sql.errors import SqlError, not_supported
from sql.parse.grammar import expressions
from sql.parse.grammar.cursor import Cursor
from sql.parse.grammar.from_clause import table_function
from sql.parse.statements.constraints import nulls_treatment
from sql.parse.statements.declaration import Naming, Right, Statement
from sql.parse.statements.kept_properties import NOTHING, parameters, statistics_of_index
from sql.parse.statements.parts import TableChange
from sql.parse.statements.rules import begins
from sql.parse.statements.storage_parameters import OF_ANY_INDEX, OF_INDEX, OF_METHODS, storage_parameters, tablespace
from sql.parse.statements.update import written_name
from sql.parse.syntax import Expression, Name

WrittenExpression = tuple[Expression, str]


@dataclass(frozen=True)
class CreateIndex(
    Statement, tag="CREATE INDEX", defines=True, named=(("table", Naming.KNOWN),), rights=(("table", Right.OWN),)
):
    """The statement CREATE [UNIQUE] INDEX [CONCURRENTLY] [IF NOT EXISTS] [name] ON table (columns).

    Attributes:
        columns: (name, position); the name of an expression is ''.
        expressions: those among the columns, in their order, with their texts.
        where: the condition of an index of a part of the rows, with its text, or None.
        classes: of each column, the name of its operator class as written, or ''.
        options: of each column as pg_index has them: DESCENDING, NULLS_FIRST, both or 0.
        orders: of each column, those of ORDERS that were written.
        collations: of each column, the name after COLLATE, or ''.
        method: the name of the access method, which is shown and changes nothing else.
        parameters: of WITH, as texts name=value, which are shown.
        included: of INCLUDE, like the columns.
    """

    name: str | None
    table: str
    table_position: int
    columns: tuple[tuple[str, int], ...]
    expressions: tuple[WrittenExpression, ...]
    where: WrittenExpression | None
    classes: tuple[str, ...]
    options: tuple[int, ...]
    orders: tuple[tuple[str, ...], ...]
    collations: tuple[str, ...]
    method: str
    parameters: tuple[str, ...]
    included: tuple[tuple[str, int], ...]
    unique: bool
    concurrently: bool
    if_not_exists: bool


@dataclass(frozen=True)
class DropIndex(
    Statement,
    tag="DROP INDEX",
    defines=True,
    named=(("names", Naming.DROPPED),),
    rights=(("names", Right.OWN_INDEXES),),
):
    """DROP INDEX [CONCURRENTLY] [IF EXISTS] names."""

    names: tuple[tuple[str, int], ...]
    if_exists: bool
    concurrently: bool


@dataclass(frozen=True)
class RenameIndex(
    Statement,
    tag="ALTER INDEX",
    defines=True,
    named=(
        ("name", Naming.KNOWN),
        ("new_name", Naming.BESIDE),
    ),
    rights=(("name", Right.OWN_INDEX),),
):
    """ALTER INDEX [IF EXISTS] name RENAME TO new_name."""

    name: str
    new_name: str
    if_exists: bool


@dataclass(frozen=True)
class AlterIndex(
    Statement, tag="ALTER INDEX", defines=True, named=(("name", Naming.KNOWN),), rights=(("name", Right.OWN_INDEX),)
):
    """ALTER INDEX [IF EXISTS] name with a change of how the index is kept."""

    name: str
    if_exists: bool
    change: TableChange


# Bits of pg_index.indoption.
DESCENDING, NULLS_FIRST = 1, 2
ORDERS = ("ASC/DESC", "NULLS FIRST/LAST")


@begins("create index")
def create_index(cursor: Cursor) -> CreateIndex:
    """Read CREATE [UNIQUE] INDEX [CONCURRENTLY] [[IF NOT EXISTS] name] ON [ONLY] table (columns).

    The list of columns is [USING method] (column [ASC | DESC] ..., ...).
    """
    cursor.expect("create")
    unique = cursor.accept("unique")
    cursor.expect("index")
    concurrently = cursor.accept("concurrently")
    if_not_exists = cursor.accept_if_not_exists()
    name = None if not if_not_exists and cursor.at("on") else cursor.name()
    cursor.expect("on")
    cursor.accept("only")
    table, position = written_name(cursor)
    method = cursor.name() if cursor.accept("using") else "btree"
    read = cursor.listed(lambda cursor: (indexed_column(cursor), column_order(cursor)))
    keys, orders = zip(*read, strict=True)
    names, positions, collations, classes, written_keys = zip(*keys, strict=True)
    options, written = zip(*orders, strict=True)
    included = cursor.listed(included_column) if cursor.accept("include") else ()
    nulls_treatment(cursor)
    valid = OF_METHODS.get(method, OF_INDEX)
    kept = storage_parameters(cursor, valid) if cursor.accept("with") else ()
    if cursor.accept("tablespace"):
        tablespace(cursor)
    where = cursor.with_text(expressions.expression) if cursor.accept("where") else None
    text = cursor.statement_text
    return CreateIndex(
        text,
        name,
        table,
        position,
        tuple(zip(names, positions, strict=True)),
        tuple(one for one in written_keys if one is not None),
        where,
        classes,
        options,
        written,
        collations,
        method,
        kept,
        included,
        unique,
        concurrently,
        if_not_exists,
    )


def indexed_column(cursor: Cursor) -> tuple[str, int, str, str, WrittenExpression | None]:
    """Read one column, a call or (expression): its name, position, collation, all of which are the
    order of bytes, operator class, and the expression.
    """
    position, name, written = cursor.position, "", None
    if cursor.at_operator("("):
        cursor.advance()
        written = cursor.with_text(expressions.expression)
        cursor.expect_operator(")")
    elif cursor.at_name() and cursor.ahead(1).value not in ("(", "."):
        name = cursor.name()
    else:
        written = cursor.with_text(table_function)
    if written is not None and isinstance(written[0], Name) and len(written[0].parts) == 1:
        name, written = written[0].parts[0], None
    collation = expressions.collation(cursor) if cursor.at("collate") else ""
    kind = ""
    if cursor.at_name() and not cursor.at("asc", "desc", "nulls"):
        kind = cursor.qualified_name()[-1]
        if cursor.at_operator("("):
            raise not_supported("parameters of an operator class", cursor.position)
    return name, position, collation, kind, written


def column_order(cursor: Cursor) -> tuple[int, tuple[str, ...]]:
    """Read [ASC | DESC] [NULLS FIRST | LAST], which is shown and changes nothing else here."""
    order, nulls = cursor.accept_any("asc", "desc"), None
    if cursor.accept("nulls"):
        nulls = cursor.one_of("first", "last")
    descending = order == "desc"
    nulls_first = descending if nulls is None else nulls == "first"
    written = tuple(one for one, word in zip(ORDERS, (order, nulls), strict=True) if word is not None)
    return DESCENDING * descending | NULLS_FIRST * nulls_first, written


def included_column(cursor: Cursor) -> tuple[str, int]:
    """Read one column of INCLUDE, where only names may stand, with its position.

    The column is shown and changes nothing else here.
    """
    name, position = "", cursor.position
    if cursor.at_operator("("):
        cursor.enclosed(expressions.expression)
        cursor.defer(SqlError("0A000", "expressions are not supported in included columns"))
    else:
        name = cursor.name()
    wrong = []
    if cursor.accept("collate"):
        cursor.qualified_name()
        wrong.append("a collation")
    if cursor.at_name() and not cursor.at("asc", "desc", "nulls"):
        cursor.qualified_name()
        wrong.append("an operator class")
    if cursor.accept_any("asc", "desc"):
        wrong.append("ASC/DESC options")
    if cursor.accept("nulls"):
        cursor.one_of("first", "last")
        wrong.append("NULLS FIRST/LAST options")
    for what in wrong:
        cursor.defer(SqlError("42P17", f"including column does not support {what}"))
    return name, position


@begins("drop index")
def drop_index(cursor: Cursor) -> DropIndex:
    """Read DROP INDEX [CONCURRENTLY] [IF EXISTS] name, ... [CASCADE | RESTRICT].

    Nothing depends on an index.
    """
    cursor.expect("drop", "index")
    concurrently = cursor.accept("concurrently")
    if_exists = cursor.accept("if", "exists")
    names = cursor.several(Cursor.placed_relation)
    cursor.cascade()
    return DropIndex(cursor.statement_text, names, if_exists, concurrently)


@begins("alter index")
def alter_index(cursor: Cursor) -> RenameIndex | AlterIndex:
    """Read ALTER INDEX [IF EXISTS] name RENAME TO name, SET (parameters), RESET (parameters), SET
    TABLESPACE name, or ALTER [COLUMN] number SET STATISTICS target.
    """
    position = cursor.position
    cursor.expect("alter", "index")
    if_exists = cursor.accept("if", "exists")
    name = cursor.relation_name()
    if cursor.at("set", "reset", "alter"):
        return AlterIndex(cursor.statement_text, name, if_exists, index_change(cursor))
    if not cursor.accept("rename"):
        raise not_supported("ALTER INDEX", position, hint="An index can be renamed, or dropped and made anew.")
    cursor.expect("to")
    new_name = cursor.name()
    return RenameIndex(cursor.statement_text, name, new_name, if_exists)


def index_change(cursor: Cursor) -> TableChange:
    """Read a change of how an index is kept."""
    if cursor.at("alter"):
        statistics_of_index(cursor)
        return NOTHING
    if cursor.accept("set", "tablespace"):
        tablespace(cursor)
        return NOTHING
    return parameters(cursor, OF_ANY_INDEX, cursor.position)
