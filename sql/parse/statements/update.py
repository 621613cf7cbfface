"""[WITH ...] UPDATE relation [AS alias] SET ... [FROM ...] [WHERE ...] [RETURNING ...]."""

from __future__ import annotations

from dataclasses import dataclass

from sql.errors import not_supported
from sql.parse import syntax
from sql.parse.grammar import common_tables, from_clause
from sql.parse.grammar import expressions as grammar
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.assignments import assignments
from sql.parse.statements.declaration import Statement
from sql.parse.statements.insert import returning
from sql.parse.statements.parts import Assignment
from sql.parse.statements.rules import begins
from sql.parse.syntax import CommonTable, Expression


@dataclass(frozen=True)
class Update(Statement, tag="UPDATE", writes=True):
    """[WITH ...] UPDATE relation [AS alias] SET ... [FROM items] [WHERE where] [RETURNING
    targets].
    """

    name: str
    name_position: int
    alias: str | None
    assignments: tuple[Assignment, ...]
    from_items: tuple[syntax.FromItem, ...]
    where: syntax.Expression | None
    returning: tuple[syntax.Target, ...] = ()
    common_tables: tuple[syntax.CommonTable, ...] = ()


@begins("update")
def update(cursor: Cursor) -> Update:
    """Read the statement from its first word, which may be WITH."""
    return update_after_with(cursor, common_tables.common_tables(cursor))


def update_after_with(cursor: Cursor, common: tuple[CommonTable, ...]) -> Update:
    """Read the statement from UPDATE."""
    cursor.expect("update")
    name, position, alias = written_relation(cursor, "set")
    cursor.expect("set")
    changes = assignments(cursor)
    items = from_clause.from_items(cursor) if cursor.accept("from") else ()
    where = where_clause(cursor)
    targets = returning(cursor)
    return Update(cursor.statement_text, name, position, alias, changes, items, where, targets, common)


def written_relation(cursor: Cursor, *not_alias: str) -> tuple[str, int, str | None]:
    """Read the relation that is changed and [[AS] alias]; return its name, position and alias."""
    name, position = written_name(cursor)
    alias = None
    if cursor.accept("as") or (cursor.at_name() and not cursor.at(*not_alias)):
        alias = cursor.name()
    return name, position, alias


def written_name(cursor: Cursor) -> tuple[str, int]:
    """Read [ONLY] name [*] with the position of the name."""
    return cursor.with_only(Cursor.relation_name)


def where_clause(cursor: Cursor) -> Expression | None:
    """Read WHERE condition; WHERE CURRENT OF is refused."""
    if not cursor.accept("where"):
        return None
    if cursor.at_words("current", "of"):
        raise not_supported("WHERE CURRENT OF", cursor.position)
    return grammar.expression(cursor)
