"""LIMIT, OFFSET, FETCH FIRST, and FOR UPDATE."""

from __future__ import annotations

from dataclasses import dataclass

from sql.errors import SqlError
from sql.parse.grammar import expressions as grammar
from sql.parse.grammar import primaries
from sql.parse.grammar.cursor import Cursor
from sql.parse.syntax import Constant, Expression, Locking, Operation

LOCKS = (("update",), ("no", "key", "update"), ("share",), ("key", "share"))


@dataclass(frozen=True)
class Limits:
    """The clauses LIMIT, OFFSET and FETCH FIRST as they were read.

    Attributes:
        position: of the first clause, 0 without any.
        limit_position, offset_position: of the values of the clauses.
    """

    limit: Expression | None = None
    offset: Expression | None = None
    with_ties: bool = False
    position: int = 0
    limit_position: int = 0
    offset_position: int = 0


def limits(cursor: Cursor) -> Limits:
    """Read LIMIT or FETCH FIRST, and OFFSET, in either order and each at most once."""
    position = cursor.position
    limit: Expression | None = None
    offset: Expression | None = None
    limit_position = offset_position = 0
    with_ties = False
    while (limit is None and cursor.at("limit", "fetch")) or (offset is None and cursor.at("offset")):
        if cursor.at("limit"):
            limit_position, limit = limit_clause(cursor)
        elif cursor.at("fetch"):
            limit_position, limit, with_ties = fetch_first(cursor)
        else:
            offset_position, offset = offset_clause(cursor)
    if limit is None and offset is None:
        return Limits()
    return Limits(limit, offset, with_ties, position, limit_position, offset_position)


def limit_clause(cursor: Cursor) -> tuple[int, Expression]:
    """Read LIMIT count or LIMIT ALL, with the position of its value."""
    position = cursor.position
    cursor.expect("limit")
    value_position = cursor.position
    if cursor.accept("all"):
        return value_position, Constant("null", "", value_position)
    limit = grammar.expression(cursor)
    if cursor.accept_operator(","):
        grammar.expression(cursor)
        hint = "Use separate LIMIT and OFFSET clauses."
        raise SqlError("42601", "LIMIT #,# syntax is not supported", position, hint=hint)
    return value_position, limit


def offset_clause(cursor: Cursor) -> tuple[int, Expression]:
    """Read OFFSET start [ROW | ROWS].

    Before the word only a primary expression or a signed number may stand.
    """
    cursor.expect("offset")
    position = cursor.position
    first = cursor.index
    offset = grammar.expression(cursor)
    if cursor.at("row", "rows"):
        if not is_count(cursor, first):
            cursor.fail()
        cursor.advance()
    return position, offset


def is_count(cursor: Cursor, first: int) -> bool:
    """Tell whether what was read since token `first` is a primary expression, or a number with its
    sign.
    """
    last = cursor.index
    token = cursor.tokens[first]
    if token.kind == "operator" and token.value in ("+", "-"):
        return last == first + 2 and cursor.tokens[first + 1].kind in ("integer", "decimal")
    if token.kind == "operator" and token.value != "(":
        return False
    cursor.index = first
    primaries.primary(cursor)
    found, cursor.index = cursor.index, last
    return found == last


def fetch_first(cursor: Cursor) -> tuple[int, Expression, bool]:
    """Read FETCH FIRST | NEXT [count] ROW | ROWS ONLY | WITH TIES."""
    cursor.expect("fetch")
    cursor.one_of("first", "next")
    position = cursor.position
    rows: Expression = Constant("integer", "1", position)
    if not (cursor.at("row", "rows") and cursor.ahead(1).value in ("only", "with")):
        rows = count(cursor)
    cursor.one_of("row", "rows")
    if cursor.accept("with"):
        cursor.expect("ties")
        return position, rows, True
    cursor.expect("only")
    return position, rows, False


def count(cursor: Cursor) -> Expression:
    """Read a primary expression, or a number with its sign."""
    position = cursor.position
    first = cursor.index
    sign = cursor.token.value if cursor.at_operator("+", "-") else ""
    if not sign:
        return primaries.primary(cursor)
    cursor.advance()
    if cursor.token.kind not in ("integer", "decimal"):
        cursor.fail()
    number = primaries.primary(cursor)
    assert isinstance(number, Constant)
    if sign == "-":
        return Constant(number.kind, "-" + number.value, position)
    return Operation("+", (number,), position, cursor.shown_since(first))


def locking(cursor: Cursor) -> tuple[Locking, ...] | None:
    """Read FOR UPDATE and the like, None if none is next; FOR READ ONLY changes nothing."""
    if not cursor.at("for"):
        return None
    if cursor.accept("for", "read", "only"):
        return ()
    found = []
    while cursor.at("for"):
        position = cursor.position
        cursor.advance()
        lock = next((words for words in LOCKS if cursor.accept(*words)), None)
        if lock is None:
            cursor.accept("no") and cursor.accept("key")
            cursor.accept("key")
            cursor.fail()
        strength = f"FOR {' '.join(lock).upper()}"
        tables: list[tuple[str, int]] = []
        while cursor.accept_operator(",") if tables else cursor.accept("of"):
            place = cursor.position
            name = cursor.qualified_name()
            if len(name) > 1:
                cursor.defer(SqlError("42601", f"{strength} must specify unqualified relation names", place))
            tables.append((name[-1], place))
        wait = "wait"
        if cursor.accept("nowait"):
            wait = "nowait"
        elif cursor.accept("skip"):
            cursor.expect("locked")
            wait = "skip"
        found.append(Locking(strength, tuple(tables), wait, position))
    return tuple(found)
