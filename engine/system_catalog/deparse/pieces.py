"""Pieces of an expression that is printed, with all parentheses or, pretty, with those that are
needed.

Enters: what stands beside what, and the type of each. Leaves: text, on a `Page`. The rules are
those of PostgreSQL's own texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.system_catalog.deparse.layout import Page
from sql.types.datatypes import UNKNOWN, SqlType

LOW, HIGH = frozenset("+-"), frozenset("*/%")
# Kinds with parentheses, brackets or words of their own around what is in them.
ENCLOSING = frozenset({"list", "subscript", "case", "call", "words"})
SIMPLE = ENCLOSING | {"column", "parameter", "constant", "syntax", "named"}


@dataclass(frozen=True, eq=False)
class Piece:
    """An expression, or a part of one.

    Attributes:
        kind: one of SIMPLE, 'words' with those that have no parentheses at all, or 'cast',
            'operator', 'logic', 'test', 'field', 'subquery' or '' for what is none of these.
        parts: texts, operands, and what writes onto the page by itself.
        is_spread: each operand gets parentheses where that is needed, the whole unless pretty.
        shows: implicit casts at the top of operands are printed; None: as around the piece.
        after: the text that follows the parentheses.
        word: of an operator or a condition the sign, of a cast its method ('function', 'relabel',
            'array' or 'text'), of a column the name that it is printed with.
        value: of a constant its text, None for NULL.
        is_implicit: a cast that the text does not have.
    """

    kind: str
    type: SqlType
    parts: tuple[Part, ...]
    is_spread: bool = False
    shows: bool | None = False
    after: str = ""
    word: str = ""
    value: str | None = None
    is_implicit: bool = False

    @property
    def operands(self) -> list[Piece]:
        """The parts that are pieces."""
        return [part for part in self.parts if isinstance(part, Piece)]

    @property
    def is_function_cast(self) -> bool:
        """True for a cast that a function does."""
        return self.kind == "cast" and self.word == "function"


Part = str | Piece | Callable[[], None]


def beside(parts: Sequence[Part], shows: bool = False, between: str = "") -> Piece:
    """Return parts beside each other, operands without parentheses."""
    found = [one for part in parts for one in (between, part)]
    return Piece("", UNKNOWN, tuple(found[1:]), shows=shows)


def write(piece: Piece, page: Page, pretty: bool, implicit: bool = False) -> None:
    """Print a piece.

    implicit: print implicit casts at the top, too.
    """
    if piece.is_implicit and not implicit:
        _operand(piece.operands[0], piece, page, pretty, False)
        return
    page.write("(" * (piece.is_spread and not pretty))
    shows = implicit if piece.shows is None else piece.shows
    for part in piece.parts:
        if isinstance(part, str):
            page.write(part)
        elif not isinstance(part, Piece):
            part()
        elif piece.is_spread:
            _operand(part, piece, page, pretty, shows)
        else:
            write(part, page, pretty, shows)
    page.write(")" * (piece.is_spread and not pretty) + piece.after)


def _operand(piece: Piece, parent: Piece, page: Page, pretty: bool, implicit: bool) -> None:
    needed = pretty and not is_simple(piece, parent)
    page.write("(" * needed)
    write(piece, page, pretty, implicit)
    page.write(")" * needed)


def is_simple(piece: Piece, parent: Piece) -> bool:
    """Tell whether a piece needs no parentheses inside of another one."""
    match piece.kind:
        case "field":
            return parent.kind != "field"
        case "cast":
            return piece.word == "function" or is_simple(piece.operands[0], piece)
        case "operator" if parent.kind == "operator":
            return _binds_tighter(piece, parent)
        case "operator" | "subquery" | "test":
            return parent.kind == "logic" or parent.kind in ENCLOSING
        case "logic" if parent.kind == "logic":
            return parent.word == "or" or (parent.word == "and" and piece.word != "or")
        case "logic":
            return parent.kind in ENCLOSING
    return piece.kind in SIMPLE


def _binds_tighter(piece: Piece, parent: Piece) -> bool:
    """Tell whether an operation needs no parentheses as an operand of another one."""
    signs = (piece.word, parent.word)
    if len(piece.operands) != 2 or len(parent.operands) != 2 or not all(one in LOW | HIGH for one in signs):
        return False
    if (piece.word in HIGH) != (parent.word in HIGH):
        return piece.word in HIGH
    return piece is parent.operands[0]


def constant_text(value: str | None, kind: SqlType) -> tuple[str, bool]:
    """Return a constant without its type, and whether the type is needed after it."""
    if value is None:
        return "NULL", True
    family = kind.family
    if family == "int4":
        return (literal(value), True) if value.startswith("-") else (value, False)
    if family == "numeric":
        is_plain = value[:1].isdigit() and "." in value
        return (value, kind.precision is not None) if is_plain else (literal(value), True)
    return (value, False) if family == "bool" else (literal(value), family != "unknown")


def literal(text: str) -> str:
    """Return a text as a literal."""
    return "'" + text.replace("'", "''") + "'"
