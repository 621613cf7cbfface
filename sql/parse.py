"""Text to statements. Enters: the text of a Query or Parse message. Leaves: `sql.statements.statement` dataclasses.

Statements have our own grammar (`sql.grammar` and one file per statement here in `sql.statements`): every node knows its position, and
what PostgreSQL refuses is refused. Must not know relations or types' meanings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sql.grammar import queries
from sql.grammar.cursor import Cursor
from sql.statements.copy import copy
from sql.statements.create_foreign_table import create_foreign_table
from sql.statements.create_view import create_view
from sql.statements.drop import drop
from sql.statements.explain import explain
from sql.statements.insert import insert
from sql.statements.session_state import close, deallocate, discard, unlisten
from sql.statements.statement import Empty, Insert, Select, Statement
from sql.statements.transaction import STARTS, transaction
from sql.statements.unsupported import refusal
from sql.statements.variables import reset, set_variable, show

RULES: dict[str, Callable[[Cursor], Statement]] = {
    "close": close,
    "copy": copy,
    "deallocate": deallocate,
    "discard": discard,
    "explain": explain,
    "insert": insert,
    "reset": reset,
    "set": set_variable,
    "show": show,
    "unlisten": unlisten,
    **dict.fromkeys(STARTS, transaction),
}


def parse(text: str) -> tuple[Statement, ...]:
    """Return the statements of `text`, at least one (`Empty`); positions count characters of the whole text from 1."""
    cursor = Cursor(text)
    statements: list[Statement] = []
    while True:
        while cursor.accept_operator(";"):
            pass
        if cursor.token.kind == "end":
            break
        statements.append(statement(cursor))
        if not cursor.at_end_of_statement():
            cursor.fail()
    return tuple(statements) or (Empty(),)


def statement(cursor: Cursor) -> Statement:
    """Read one statement."""
    if queries.at_query(cursor):
        return query_statement(cursor)
    if cursor.token.kind != "word":
        cursor.fail()
    rule = RULES.get(cursor.token.value)
    if rule is not None:
        return rule(cursor)
    if cursor.at_words("create", "foreign") and not cursor.at_words("create", "foreign", "data"):
        return create_foreign_table(cursor)
    if cursor.at_words("create", "view") or cursor.at_words("create", "or", "replace", "view"):
        return create_view(cursor)
    if cursor.at_words("drop", "foreign", "table") or cursor.at_words("drop", "view"):
        return drop(cursor)
    raise refusal(cursor)


def query_statement(cursor: Cursor) -> Select | Insert:
    first = cursor.index
    if cursor.at("with"):
        common = queries.common_tables(cursor)
        if cursor.at("insert"):
            found = insert(cursor)
            query = found.query
            if query is not None:
                query = replace(query, common_tables=(*common, *query.common_tables))
            return replace(found, text=cursor.text_since(first), query=query)
        cursor.index = first
    query = queries.query(cursor)
    return Select(cursor.text_since(first), query)
