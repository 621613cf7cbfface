"""VACUUM and ANALYZE, which here only look up whether their tables exist."""

from __future__ import annotations

from dataclasses import dataclass

from sql.errors import SqlError
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.declaration import Naming, Statement
from sql.parse.statements.options import boolean_or_string
from sql.parse.statements.rules import begins


@dataclass(frozen=True)
class Maintenance(Statement):
    """The statements VACUUM and ANALYZE.

    Attributes:
        verb: VACUUM or ANALYZE.
        tables: (name, position), none for all tables.
    """

    text: str
    verb: str
    tables: tuple[tuple[str, int], ...]

    named = (("tables", Naming.ALL_KNOWN),)

    @property
    def tag(self) -> str:
        """See Statement."""
        return self.verb


ANALYZE_OPTIONS = frozenset({"verbose", "skip_locked"})
VACUUM_OPTIONS = frozenset(
    "verbose skip_locked analyze analyse freeze full disable_page_skipping index_cleanup process_toast truncate parallel".split()
)
WORDS = ("full", "freeze", "verbose", "analyze", "analyse")


@begins("vacuum")
def vacuum(cursor: Cursor) -> Maintenance:
    """Read VACUUM [(options)] [FULL] [FREEZE] [VERBOSE] [ANALYZE] [tables]."""
    first = cursor.index
    cursor.expect("vacuum")
    if cursor.at_operator("("):
        options(cursor, "VACUUM", VACUUM_OPTIONS)
    else:
        while cursor.accept_any(*WORDS):
            pass
    return Maintenance(cursor.text_since(first), "VACUUM", tables(cursor))


@begins("analyse", "analyze")
def analyze(cursor: Cursor) -> Maintenance:
    """Read ANALYZE [(options)] [VERBOSE] [tables]."""
    first = cursor.index
    cursor.advance()
    if cursor.at_operator("("):
        options(cursor, "ANALYZE", ANALYZE_OPTIONS)
    else:
        cursor.accept("verbose")
    return Maintenance(cursor.text_since(first), "ANALYZE", tables(cursor))


def options(cursor: Cursor, verb: str, known: frozenset[str]) -> None:
    """Read (name [value], ...)."""
    cursor.expect_operator("(")
    while True:
        position = cursor.position
        name = cursor.label()
        if name not in known:
            cursor.defer(SqlError("42601", f'unrecognized {verb} option "{name}"', position))
        if not cursor.at_operator(",", ")"):
            boolean_or_string(cursor)
        if not cursor.accept_operator(","):
            break
    cursor.expect_operator(")")


def tables(cursor: Cursor) -> tuple[tuple[str, int], ...]:
    """Read table [(columns)], ..., or nothing."""
    if cursor.at_end_of_statement():
        return ()
    found = []
    while True:
        position = cursor.position
        found.append((cursor.relation_name(), position))
        if cursor.at_operator("("):
            cursor.names_in_parentheses()
        if not cursor.accept_operator(","):
            return tuple(found)
