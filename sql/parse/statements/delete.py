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
class Truncate(
    Statement,
    tag="TRUNCATE TABLE",
    writes=True,
    named=(("names", Naming.ALL_KNOWN),),
    rights=(("names", Right.TRUNCATE),),
):
    """TRUNCATE [TABLE] names [RESTART IDENTITY | CONTINUE IDENTITY] [CASCADE | RESTRICT]."""

    names: tuple[tuple[str, int], ...]
    restart_identity: bool
    cascade: bool


@dataclass(frozen=True)
class Delete(Statement, tag="DELETE", writes=True):
    """[WITH ...] DELETE FROM relation [AS alias] [USING items] [WHERE where] [RETURNING
    targets].
    """

    name: str
    name_position: int
    alias: str | None
    using: tuple[syntax.FromItem, ...]
    where: syntax.Expression | None
    returning: tuple[syntax.Target, ...] = ()
    common_tables: tuple[syntax.CommonTable, ...] = ()


@begins("delete")
def delete(cursor: Cursor) -> Delete:
    """Read the statement from its first word, which may be WITH."""
    return delete_after_with(cursor, common_tables.common_tables(cursor))


def delete_after_with(cursor: Cursor, common: tuple[CommonTable, ...]) -> Delete:
    """Read the statement from DELETE."""
    cursor.expect("delete", "from")
    name, position, alias = written_relation(cursor)
    using = from_clause.from_items(cursor) if cursor.accept("using") else ()
    where = where_clause(cursor)
    targets = returning(cursor)
    return Delete(cursor.statement_text, name, position, alias, using, where, targets, common)


@begins("truncate")
def truncate(cursor: Cursor) -> Truncate:
    """Read TRUNCATE [TABLE] [ONLY] name [*], ... [RESTART | CONTINUE IDENTITY] [CASCADE |
    RESTRICT].
    """
    cursor.expect("truncate")
    cursor.accept("table")
    names = cursor.several(written_name)
    identity = cursor.accept_any("restart", "continue")
    if identity is not None:
        cursor.expect("identity")
    cascade = cursor.cascade()
    return Truncate(cursor.statement_text, names, identity == "restart", cascade)
