"""[WITH ...] DELETE FROM relation [AS alias] [USING ...] [WHERE ...] [RETURNING ...]; TRUNCATE."""

from __future__ import annotations

from dataclasses import dataclass

from sql.parse import syntax
from sql.parse.grammar import common_tables, from_clause
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.declaration import Naming, Right, Statement
from sql.parse.statements.insert import returning
from sql.parse.statements.rules import begins
from sql.parse.statements.update import where_clause, written_name, written_relation
from sql.parse.syntax import CommonTable


@dataclass(frozen=True)
class Truncate(Statement):
    """TRUNCATE [TABLE] names [RESTART IDENTITY | CONTINUE IDENTITY] [CASCADE | RESTRICT]."""

    text: str
    names: tuple[tuple[str, int], ...]
    restart_identity: bool
    cascade: bool

    tag = "TRUNCATE TABLE"
    writes = True
    named = (("names", Naming.ALL_KNOWN),)
    rights = (("names", Right.TRUNCATE),)


@dataclass(frozen=True)
class Delete(Statement):
    """[WITH ...] DELETE FROM relation [AS alias] [USING items] [WHERE where] [RETURNING
    targets].
    """

    text: str
    name: str
    name_position: int
    alias: str | None
    using: tuple[syntax.FromItem, ...]
    where: syntax.Expression | None
    returning: tuple[syntax.Target, ...] = ()
    common_tables: tuple[syntax.CommonTable, ...] = ()

    tag = "DELETE"
    writes = True


@begins("delete")
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


@begins("truncate")
def truncate(cursor: Cursor) -> Truncate:
    """Read TRUNCATE [TABLE] [ONLY] name [*], ... [RESTART | CONTINUE IDENTITY] [CASCADE |
    RESTRICT].
    """
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
