"""The page that a definition is printed on: lines, how far they are indented, and the style.

The numbers are those of PostgreSQL's own texts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sql.names.relation_keys import quoted
from sql.types.datatypes import SqlType

CLAUSE_INDENT, JOIN_INDENT, ITEM_INDENT, CASE_INDENT = 8, 4, 4, 4
INDENT_MAX = 40


@dataclass
class Page:
    """A text that grows at its end.

    Attributes:
        indented: lines are broken and indented.
        level: how far, in characters.
    """

    indented: bool = True
    text: str = ""
    level: int = 0

    def write(self, text: str) -> None:
        """Add a text."""
        self.text += text

    def strip(self) -> None:
        """Take blanks away from the end."""
        self.text = self.text.rstrip(" ")

    def line(self, text: str, before: int = 0, after: int = 0, more: int = 0) -> None:
        """Begin a new line with a word.

        before, after: added to the level before and after the word; more: to this line alone.
        """
        if not self.indented:
            self.write(text)
            return
        self.level += before
        self.strip()
        if self.level < INDENT_MAX:
            blanks = max(self.level, 0) + more
        else:
            blanks = (INDENT_MAX + (self.level - INDENT_MAX) // (CLAUSE_INDENT // 2)) % INDENT_MAX + more
        self.text += "\n" + " " * blanks + text
        self.level = max(self.level + after, 0)

    def part(self, text: str, before: int = 0) -> None:
        """Begin a new line with a word in the midst of a clause, or write it after a blank.

        before: as of `line`.
        """
        self.line(text if self.indented else f" {text}", before)

    def begin(self) -> None:
        """Begin a query, whose first word stands after a blank where lines are indented."""
        self.level += CLAUSE_INDENT
        self.write(" " * self.indented)

    @property
    def column(self) -> int:
        """How many characters the last line has."""
        return len(self.text) - (self.text.rfind("\n") + 1)

    def place(self, piece: str, breaks: bool) -> None:
        """Add one item of a list.

        breaks: the item begins a line.
        """
        if piece.startswith("\n"):
            self.strip()
        elif breaks and self.indented:
            self.line("", -CLAUSE_INDENT, CLAUSE_INDENT, ITEM_INDENT)
        self.write(piece)


@dataclass(frozen=True)
class Style:
    """How a definition is printed.

    Attributes:
        pretty: without parentheses that are not needed.
        wrap: the column after which lists go on in a new line; 0: after each item.
        relation_name: a relation as the session sees it, from its schema and name.
        type_name: a type, likewise.
        function_name: a user's function, likewise.
        object_name: the value of a constant of regclass and the like, from its type and oid.
    """

    pretty: bool
    wrap: int
    relation_name: Callable[[str, str], str]
    type_name: Callable[[SqlType], str]
    function_name: Callable[[str, str], str]
    object_name: Callable[[str, int], str]


def qualified(schema: str, name: str) -> str:
    """Return a name with its schema."""
    return f"{quoted(schema)}.{quoted(name)}"
