"""COPY of a relation or a query: FROM STDIN, TO STDOUT, or a file, with PostgreSQL's new and old
options.

The forms are COPY relation [(columns)] FROM STDIN [WHERE ...] and COPY relation | (query) TO
STDOUT.
"""

from __future__ import annotations

from dataclasses import dataclass

from sql.errors import SqlError, not_supported
from sql.parse import syntax
from sql.parse.grammar import expressions as grammar
from sql.parse.grammar import queries
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.copy_options import RawOption, copy_options, old_copy_options, resolve
from sql.parse.statements.declaration import Naming, Right, Statement
from sql.parse.statements.parts import CopyOptions
from sql.parse.statements.rules import begins
from sql.parse.statements.subscribe import Subscribe, subscription
from sql.parse.syntax import Expression, Query


@dataclass(frozen=True)
class CopyFrom(
    Statement,
    tag="COPY FROM",
    named=(("name", Naming.KNOWN),),
    rights=(
        ("file", Right.READ_FILE),
        ("name", Right.INSERT),
    ),
):
    """The statement COPY relation [(columns)] FROM STDIN, or FROM 'file' on the server.

    Attributes:
        file: not None for a file.
        where: the condition of the rows that are kept.
    """

    name: str
    name_position: int
    columns: tuple[tuple[str, int], ...] | None
    options: CopyOptions
    file: str | None = None
    where: syntax.Expression | None = None


@dataclass(frozen=True)
class CopyTo(Statement, tag="COPY TO", rights=(("file", Right.WRITE_FILE),)):
    """The statement COPY relation [(columns)] | (query) TO STDOUT, or TO 'file' on the server.

    Attributes:
        query: None for a relation.
        file: not None for a file.
        subscribe: of COPY (SUBSCRIBE ...), whose query `query` is then.
    """

    query: syntax.Query | None
    name: str
    name_position: int
    options: CopyOptions
    columns: tuple[tuple[str, int], ...] | None = None
    file: str | None = None
    subscribe: Subscribe | None = None

    @property
    def named(self) -> tuple[tuple[str, Naming], ...]:
        """See Statement."""
        return (("name", Naming.KNOWN),) if self.query is None else ()


@begins("copy")
def copy(cursor: Cursor) -> CopyFrom | CopyTo:
    """Read the statement from its first word."""
    cursor.expect("copy")
    raw: list[RawOption] = []
    binary_position = cursor.position
    if cursor.accept("binary"):
        raw.append(("format", "binary", binary_position))
    query: Query | None = None
    subscribe: Subscribe | None = None
    name = ""
    name_position = cursor.position
    columns: tuple[tuple[str, int], ...] | None = None
    if cursor.at_operator("(") and not raw:
        copied = cursor.enclosed(copied_query)
        subscribe = copied if isinstance(copied, Subscribe) else None
        query = copied.select.query if isinstance(copied, Subscribe) else copied
    else:
        name = cursor.relation_name()
        columns = cursor.names_in_parentheses() if cursor.at_operator("(") else None
    if query is not None and not cursor.at("to"):
        cursor.fail()
    direction = cursor.one_of("from", "to")
    file = endpoint(cursor)
    raw += old_delimiter(cursor, query is not None)
    cursor.accept("with")
    raw += copy_options(cursor) if cursor.at_operator("(") else old_copy_options(cursor)
    where = where_clause(cursor, direction == "from", query is not None)
    options = resolved(cursor, raw, direction == "from")
    text = cursor.statement_text
    if direction == "from":
        return CopyFrom(text, name, name_position, columns, options, file, where)
    if subscribe is not None and file is not None:
        raise not_supported("COPY (SUBSCRIBE ...) TO a file", hint="COPY it TO STDOUT.")
    return CopyTo(text, query, name, name_position, options, columns, file, subscribe)


def resolved(cursor: Cursor, raw: list[RawOption], is_from: bool) -> CopyOptions:
    """Return the options; an error in them waits, as in PostgreSQL, for the end of the text."""
    try:
        return resolve(raw, is_from)
    except SqlError as error:
        cursor.defer(error)
        return CopyOptions()


def copied_query(cursor: Cursor) -> Query | Subscribe:
    """Read the query in the parentheses of COPY."""
    if cursor.at("subscribe"):
        return subscription(cursor)
    if cursor.at("insert", "update", "delete"):
        raise not_supported(f"COPY ({cursor.token.value.upper()} ...)", cursor.position)
    return queries.query(cursor)


def endpoint(cursor: Cursor) -> str | None:
    """Read STDIN or STDOUT (None), or the name of a file on the server.

    No client may start a program there.
    """
    position = cursor.position
    if cursor.accept("program"):
        cursor.string()
        hint = "Anyone can COPY to stdout or from stdin. psql's \\copy command also works for anyone."
        cursor.refuse("COPY with PROGRAM", position, hint)
        return None
    if cursor.token.kind == "string":
        return cursor.string()
    # PostgreSQL takes both words in both directions.
    cursor.one_of("stdin", "stdout")
    return None


def old_delimiter(cursor: Cursor, is_query: bool) -> list[RawOption]:
    """Read [USING] DELIMITERS 'text', the only option of old versions.

    A query never had the option.
    """
    position = cursor.position
    if is_query or not cursor.at("using", "delimiters"):
        return []
    cursor.accept("using")
    cursor.expect("delimiters")
    return [("delimiter", cursor.string(), position)]


def where_clause(cursor: Cursor, is_from: bool, is_query: bool) -> Expression | None:
    """Read WHERE, which only COPY FROM has."""
    position = cursor.position
    if is_query or not cursor.accept("where"):
        return None
    condition = grammar.expression(cursor)
    if not is_from:
        raise SqlError("42601", "WHERE clause not allowed with COPY TO", position)
    return condition
