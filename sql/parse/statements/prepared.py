"""PREPARE and EXECUTE."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sql.parse import syntax
from sql.parse.grammar.calls import arguments
from sql.parse.grammar.cursor import Cursor
from sql.parse.grammar.types import type_name
from sql.parse.statements.declaration import Statement
from sql.parse.statements.rules import begins
from sql.parse.statements.transaction import Transaction, prepare_transaction
from sql.parse.syntax import Expression


@dataclass(frozen=True)
class Prepare(Statement, tag="PREPARE"):
    """PREPARE name [(types)] AS statement."""

    name: str
    types: tuple[syntax.TypeName, ...]
    statement: Statement


@dataclass(frozen=True)
class Execute(Statement, tag="EXECUTE"):
    """EXECUTE name [(arguments)]."""

    name: str
    arguments: tuple[syntax.Expression, ...]
    position: int


PREPARABLE = ("select", "values", "table", "with", "insert", "update", "delete")


def prepare(cursor: Cursor, statement: Callable[[Cursor], Statement]) -> Prepare | Transaction:
    """Read PREPARE name [(types)] AS statement, which `statement` reads, or PREPARE TRANSACTION."""
    first = cursor.index
    cursor.expect("prepare")
    if cursor.at("transaction") and cursor.ahead(1).kind == "string":
        cursor.advance()
        return prepare_transaction(cursor)
    name = cursor.name()
    types = cursor.listed(type_name) if cursor.at_operator("(") else ()
    cursor.expect("as")
    if not cursor.at(*PREPARABLE) and not cursor.at_operator("("):
        cursor.fail()
    prepared = statement(cursor)
    return Prepare(cursor.text_since(first), name, types, prepared)


@begins("execute")
def execute(cursor: Cursor) -> Execute:
    """Read EXECUTE name [(arguments)]."""
    cursor.expect("execute")
    name = cursor.name()
    given: tuple[Expression, ...] = ()
    position = cursor.position
    if cursor.accept_operator("("):
        position = cursor.position
        given, _ = arguments(cursor, variadic_allowed=False)
        cursor.expect_operator(")")
    return Execute(cursor.statement_text, name, given, position)
