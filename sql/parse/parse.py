"""The parser: text to statements.

Enters: the text of a Query or Parse message. Leaves: statements, frozen dataclasses.

The grammar is our own: `sql.parse.grammar` reads queries and expressions, and each file of
`sql.parse.statements` has statements and the rules that read them. Every node knows its position,
and what PostgreSQL refuses is refused. Must not know relations or the meanings of types.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from sql.parse import statements
from sql.parse.grammar import common_tables, queries
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.declaration import Empty, Statement
from sql.parse.statements.delete import Delete, delete_after_with
from sql.parse.statements.insert import Insert, insert_after_with
from sql.parse.statements.options import object_kind
from sql.parse.statements.prepared import Prepare, prepare
from sql.parse.statements.rules import RULES, begins
from sql.parse.statements.select import Select
from sql.parse.statements.transaction import Transaction
from sql.parse.statements.unsupported import refusal
from sql.parse.statements.update import Update, update_after_with

for found in iter_modules(statements.__path__, statements.__name__ + "."):
    # Each module registers its rules by the first words that they read.
    import_module(found.name)


def parse(text: str) -> tuple[Statement, ...]:
    """Return the statements of `text`, at least one (`Empty`).

    Positions are 1-based characters of the whole text.
    """
    cursor = Cursor(text)
    try:
        return statements_of(cursor)
    finally:
        cursor.release()


def statements_of(cursor: Cursor) -> tuple[Statement, ...]:
    """Read all statements of the text."""
    statements: list[Statement] = []
    while True:
        while cursor.accept_operator(";"):
            pass
        if cursor.token.kind == "end":
            break
        statements.append(statement(cursor))
        if not cursor.at_end_of_statement():
            cursor.fail()
    cursor.finish()
    return tuple(statements) or (Empty(),)


def statement(cursor: Cursor) -> Statement:
    """Read one statement."""
    cursor.first = cursor.index
    if queries.at_query(cursor) or cursor.at_operator("("):
        return query_statement(cursor)
    if cursor.token.kind != "word":
        cursor.fail()
    word = cursor.token.value
    rule = RULES.get(word) or RULES.get(f"{word} {object_kind(cursor)}")
    if rule is None:
        raise refusal(cursor)
    return rule(cursor)


@begins("prepare")
def prepared(cursor: Cursor) -> Prepare | Transaction:
    """Read PREPARE, which has a statement inside."""
    return prepare(cursor, statement)


def query_statement(cursor: Cursor) -> Select | Insert | Update | Delete:
    """Read a query, or another statement that may begin with WITH."""
    position = cursor.position
    common = common_tables.common_tables(cursor)
    if common and cursor.at("insert"):
        return insert_after_with(cursor, common)
    if common and cursor.at("update"):
        return update_after_with(cursor, common)
    if common and cursor.at("delete"):
        return delete_after_with(cursor, common)
    query = queries.query_after_with(cursor, common, position)
    return Select(cursor.statement_text, query)
