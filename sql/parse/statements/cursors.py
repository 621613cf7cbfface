"""DECLARE, FETCH, MOVE and CLOSE."""

from __future__ import annotations

from dataclasses import dataclass

from sql.errors import SqlError
from sql.parse.grammar import queries
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.declaration import Statement
from sql.parse.statements.options import relation_options, signed_number
from sql.parse.statements.rules import begins
from sql.parse.statements.select import Select
from sql.parse.statements.subscribe import Subscribe, subscription
from sql.times.interval_input import interval_value


@dataclass(frozen=True)
class Declare(Statement, tag="DECLARE CURSOR"):
    """The statement DECLARE name CURSOR FOR select.

    Attributes:
        scroll: None where neither SCROLL nor NO SCROLL is written.
        hold: WITH HOLD is written.
        subscribe: of CURSOR FOR SUBSCRIBE, whose SELECT `select` is then.
    """

    name: str
    select: Select
    binary: bool = False
    scroll: bool | None = None
    hold: bool = False
    subscribe: Subscribe | None = None


@dataclass(frozen=True)
class Fetch(Statement):
    """The statements FETCH and MOVE.

    Attributes:
        direction: 'forward', 'backward', 'absolute' or 'relative'.
        count: None is ALL.
        moves: the statement is MOVE.
        timeout_s: how long it waits for rows of a subscription; None: until there are some.
    """

    name: str
    direction: str
    count: int | None
    moves: bool = False
    timeout_s: float | None = None

    @property
    def tag(self) -> str:
        """See Statement."""
        return "MOVE" if self.moves else "FETCH"


@dataclass(frozen=True)
class CloseCursor(Statement):
    """The statement CLOSE name, or CLOSE ALL where `name` is None."""

    name: str | None

    @property
    def tag(self) -> str:
        """See Statement."""
        return "CLOSE CURSOR ALL" if self.name is None else "CLOSE CURSOR"


# Words of FETCH that have a count, that may have one, and that have none.
COUNTED = ("absolute", "relative")
DIRECTED = ("forward", "backward")
SINGLE = ("next", "prior", "first", "last")
COUNT_MAX = (1 << 31) - 1


@begins("declare")
def declare(cursor: Cursor) -> Declare:
    """Read DECLARE name [BINARY] [ASENSITIVE | INSENSITIVE] [[NO] SCROLL] CURSOR [{WITH | WITHOUT}
    HOLD] FOR query.
    """
    cursor.expect("declare")
    name = cursor.name()
    words = []
    scroll: bool | None = None
    while not cursor.at("cursor"):
        if cursor.accept("no"):
            cursor.expect("scroll")
            words.append("no scroll")
            scroll = False
        else:
            word = cursor.one_of("binary", "asensitive", "insensitive", "scroll")
            words.append(word)
            scroll = True if word == "scroll" else scroll
    cursor.expect("cursor")
    hold = False
    if cursor.at("with", "without"):
        hold = cursor.advance().value == "with"
        cursor.expect("hold")
    cursor.expect("for")
    if cursor.at("execute"):
        cursor.fail()
    subscribe = subscription(cursor) if cursor.at("subscribe") else None
    if subscribe is not None:
        query, text = subscribe.select.query, subscribe.select.text
        for is_given, word in ((scroll, "SCROLL"), (hold, "WITH HOLD")):
            if is_given:
                cursor.refuse(f"DECLARE ... {word} ... FOR SUBSCRIBE", cursor.position)
    else:
        query, text = cursor.with_text(queries.query)
    for one, other in (("scroll", "no scroll"), ("asensitive", "insensitive")):
        if one in words and other in words:
            cursor.defer(SqlError("42P11", f"cannot specify both {one.upper()} and {other.upper()}"))
    return Declare(cursor.statement_text, name, Select(text, query), "binary" in words, scroll, hold, subscribe)


@begins("fetch", "move")
def fetch(cursor: Cursor) -> Fetch:
    """Read FETCH or MOVE [direction] [FROM | IN] name."""
    moves = cursor.advance().value == "move"
    direction, count = fetch_direction(cursor)
    cursor.accept_any("from", "in")
    name = cursor.name()
    timeout_s = None
    if cursor.accept("with"):
        options = relation_options(cursor, {"timeout": ()})
        months, days, micros = interval_value(options.get("timeout", "0"))
        timeout_s = ((months * 30 + days) * 86_400) + micros / 1_000_000
    return Fetch(cursor.statement_text, name, direction, count, moves, timeout_s)


def fetch_direction(cursor: Cursor) -> tuple[str, int | None]:
    """Return 'forward', 'backward', 'absolute' or 'relative' with the count; None is ALL."""
    if at_cursor_name(cursor):
        return "forward", 1
    word = cursor.accept_any(*SINGLE)
    if word is not None:
        return {"next": ("forward", 1), "prior": ("backward", 1), "first": ("absolute", 1), "last": ("absolute", -1)}[
            word
        ]
    word = cursor.accept_any(*COUNTED)
    if word is not None:
        return word, whole_number(cursor)
    word = cursor.accept_any(*DIRECTED)
    if word is not None and at_cursor_name(cursor):
        return word, 1
    if cursor.accept("all"):
        return word or "forward", None
    return word or "forward", whole_number(cursor)


def at_cursor_name(cursor: Cursor) -> bool:
    """Tell whether the direction has been read: FROM, IN, or the name that ends the statement
    follows.
    """
    if cursor.at("from", "in") or (cursor.at_name() and not cursor.at(*COUNTED, *DIRECTED, *SINGLE)):
        return True
    following = cursor.ahead(1)
    ends = following.kind == "end" or (following.kind == "operator" and following.value == ";")
    return cursor.at_name() and ends


def whole_number(cursor: Cursor) -> int:
    """Read an integer with its sign."""
    position = cursor.index
    text = signed_number(cursor)
    if not text.lstrip("+-").isdigit() or abs(int(text)) > COUNT_MAX:
        cursor.index = position
        cursor.fail()
    return int(text)


@begins("close")
def close(cursor: Cursor) -> CloseCursor:
    """Read CLOSE name | ALL."""
    cursor.expect("close")
    name = None if cursor.accept("all") else cursor.name()
    return CloseCursor(cursor.statement_text, name)
