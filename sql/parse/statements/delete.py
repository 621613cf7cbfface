"""[WITH ...] DELETE FROM relation [AS alias] [USING ...] [WHERE ...] [RETURNING ...]; TRUNCATE."""

from __future__ import annotations

from sql.parse.grammar import common_tables, from_clause
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.insert import returning
from sql.parse.statements.statement import Delete, Truncate
from sql.parse.statements.update import where_clause, written_name, written_relation
from sql.parse.syntax import CommonTable


def delete(cursor: Cursor) -> Delete:
    """Read the statement from its first word, which may be WITH."""
    first = cursor.index
    return delete_after_with(cursor, common_tables.common_tables(cursor), first)


def delete_after_with(cursor: Cursor, common: tuple[CommonTable, ...], first: int) -> Delete:
    """Read the statement from DELETE; it began at token `first`."""
    cursor.expect("delete", "from")
    name, position, alias = written_relation(cursor)
    using = from_clause.from_items(cursor) if cursor.accept("using") else ()
    where = where_clause(cursor)
    targets = returning(cursor)
    return Delete(cursor.text_since(first), name, position, alias, using, where, targets, common)


def truncate(cursor: Cursor) -> Truncate:
    """Read TRUNCATE [TABLE] [ONLY] name [*], ... [RESTART | CONTINUE IDENTITY] [CASCADE | RESTRICT]."""
    first = cursor.index
    cursor.expect("truncate")
    cursor.accept("table")
    names = [written_name(cursor)]
    while cursor.accept_operator(","):
        names.append(written_name(cursor))
    identity = cursor.accept_any("restart", "continue")
    if identity is not None:
        cursor.expect("identity")
    cascade = cursor.accept_any("cascade", "restrict") == "cascade"
    return Truncate(cursor.text_since(first), tuple(names), identity == "restart", cascade)
