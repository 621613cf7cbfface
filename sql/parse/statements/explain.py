"""EXPLAIN [ANALYZE] [VERBOSE] [(options)] SELECT ... | EXECUTE ... | CREATE VIEW ..."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sql.errors import SqlError, not_supported
from sql.names.keywords import RESERVED
from sql.parse.grammar import common_tables, queries
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.create_view import CreateView, create_view
from sql.parse.statements.declaration import Naming, Right, Statement
from sql.parse.statements.options import named_value, object_kind
from sql.parse.statements.prepared import Execute, execute
from sql.parse.statements.rules import begins
from sql.parse.statements.select import Select
from sql.parse.syntax import Query
from sql.values.booleans import parse_bool


@dataclass(frozen=True)
class Explain(
    Statement, tag="EXPLAIN", named=(("statement", Naming.STATEMENT),), rights=(("statement", Right.STATEMENT),)
):
    """The statement EXPLAIN [(options)] statement.

    Attributes:
        statement: a Select or a CreateView; or EXECUTE of a Select, which takes its place when the
            statement is done.
        wrong: the error of the options, which PostgreSQL finds after those of the statement.
    """

    statement: Select | CreateView | Execute
    options: Mapping[str, str] = field(default_factory=dict)
    wrong: SqlError | None = None

    @property
    def explained(self) -> Select | CreateView:
        """The statement, after what EXECUTE names has taken its place."""
        assert not isinstance(self.statement, Execute), self.text
        return self.statement


FORMATS = ("text", "json", "dot")
OPTIONS = frozenset({"analyze", "verbose", "costs", "settings", "buffers", "wal", "timing", "summary", "format"})


@begins("explain")
def explain(cursor: Cursor) -> Explain:
    """Read the statement from its first word."""
    first = cursor.index
    cursor.expect("explain")
    options: dict[str, str] = {}
    wrong = None
    if cursor.at_operator("(") and cursor.ahead(1).value not in (*queries.STARTS, "("):
        options = explain_options(cursor)
        wrong, cursor.deferred = cursor.deferred, None
    else:
        for word in ("analyze", "analyse", "verbose"):
            if cursor.accept(word):
                options["analyze" if word == "analyse" else word] = "true"
    if cursor.at_words("create", "view") or cursor.at_words("create", "or", "replace", "view"):
        view = create_view(cursor)
        return Explain(cursor.text_since(first), view, options, wrong)
    if cursor.at("execute"):
        executed = execute(cursor)
        return Explain(cursor.text_since(first), executed, options, wrong)
    if cursor.at("insert", "update", "delete", "merge", "declare", "refresh"):
        raise not_supported(f"EXPLAIN {cursor.token.value.upper()}", cursor.position)
    if cursor.at("create"):
        if object_kind(cursor) == "table":
            raise not_supported("EXPLAIN CREATE TABLE", cursor.position)
        if cursor.at_words("create", "materialized", "view"):
            hint = "CREATE VIEW over a stream is kept up to date, and EXPLAIN CREATE VIEW shows how."
            raise not_supported("EXPLAIN CREATE MATERIALIZED VIEW", cursor.position, hint)
        cursor.advance()
        cursor.fail()
    query, text = cursor.with_text(explained_query)
    return Explain(cursor.text_since(first), Select(text, query), options, wrong)


def explained_query(cursor: Cursor) -> Query:
    """Read a query; INSERT, UPDATE and DELETE after WITH are refused."""
    position = cursor.position
    common = common_tables.common_tables(cursor)
    if common and cursor.at("insert", "update", "delete"):
        raise not_supported(f"EXPLAIN {cursor.token.value.upper()}", cursor.position)
    return queries.query_after_with(cursor, common, position)


def explain_options(cursor: Cursor) -> dict[str, str]:
    """Read (name [value], ...)."""
    found: dict[str, str] = {}

    def option(cursor: Cursor) -> None:
        if cursor.at(*RESERVED) and not cursor.at("analyze", "analyse"):
            cursor.fail()
        name, given, position = named_value(cursor)
        name = "analyze" if name == "analyse" else name
        value = "true" if given is None else given.lower()
        if name not in OPTIONS:
            cursor.defer(SqlError("42601", f'unrecognized EXPLAIN option "{name}"', position))
        elif name == "format" and given is None:
            cursor.defer(SqlError("42601", "format requires a parameter"))
        elif name == "format" and value in ("xml", "yaml"):
            cursor.refuse(f"EXPLAIN (FORMAT {value.upper()})", position)
        elif name == "format" and value not in FORMATS:
            cursor.defer(SqlError("22023", f'unrecognized value for EXPLAIN option "format": "{value}"', position))
        elif name != "format" and parse_bool(value) is None:
            cursor.defer(SqlError("42601", f"{name} requires a Boolean value"))
        found[name] = value

    cursor.listed(option)
    for name in ("wal", "timing"):
        if parse_bool(found.get(name, "")) and not parse_bool(found.get("analyze", "")):
            cursor.defer(SqlError("22023", f"EXPLAIN option {name.upper()} requires ANALYZE"))
    return found
