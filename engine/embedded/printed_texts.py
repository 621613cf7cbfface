"""Texts that `sql/emit` prints for DuckDB, read as functions of a row.

Enters: the text of a call or a cast, whose operands are written as OPERAND. Leaves: a function of
the values of a row, which computes only what a CASE comes to. Raises LookupError for what is not
known to mean the same on Python's values. Must not know the trees that texts are printed of.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

from engine.embedded.own_functions import RowFunction, called_with
from engine.embedded.printed_parts import (
    BOOL,
    MAPPED,
    NULL,
    TEXT,
    Part,
    bool_of,
    call,
    cast,
    combined,
    common,
    comparison,
    constant,
    decided,
    element_of,
    field_of,
    identity,
    item_at,
    listed,
    number,
    sliced,
    whole,
)  # fmt: skip
from sql.functions.arguments import RUN

OPERAND = "operand_{}"
TOKEN = re.compile(
    r"\s*(?:operand_(?P<place>\d+)|'(?P<text>[^']*(?:''[^']*)*)'|(?P<number>\d+)(?![\w.])|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<symbol>//|\|\||<>|<=|>=|[-+*/%&=<>()\[\]{},.:]))"
)
TARGET = re.compile(r" (\w+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?(?:\[\])*)\)")
ORDERS = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
# By precedence, loose ones first; `||` and `&` are between comparisons and sums.
BINARY = (("||", "&"), ("+", "-"), ("*", "//", "%", "/"))


def text_function(text: str, operands: Sequence[Part]) -> Part:
    """Return what a text computes of a row. Raises LookupError for what only DuckDB computes."""
    reader = _Reader(text, operands)
    found = reader.expression()
    reader.expect(None)
    return found


class _Reader:
    """A text that is read from the left; names in lambdas are values that a row carries besides."""

    def __init__(self, text: str, operands: Sequence[Part]) -> None:
        self._text, self._operands, self._at = text, operands, 0
        self._names: dict[str, Part] = {}
        self._token: re.Match[str] | None = TOKEN.match(text)

    def expression(self) -> Part:
        """Read anything."""
        return self._logical("OR", True, lambda: self._logical("AND", False, self._negated))

    def expect(self, wanted: str | None) -> None:
        """Read a word or symbol; None: the end."""
        if wanted is None and self._at == len(self._text):
            return
        if wanted is None or not self._accept(wanted):
            raise LookupError(self._text[self._at :])

    def _logical(self, word: str, decisive: bool, operand: Callable[[], Part]) -> Part:
        parts = [operand()]
        while self._accept(word):
            parts.append(operand())
        return parts[0] if len(parts) == 1 else Part(decided(decisive, [bool_of(part) for part in parts]), BOOL)

    def _negated(self) -> Part:
        if not self._accept("NOT"):
            return self._compared()
        return Part(called_with(operator.not_, [bool_of(self._negated())], True), BOOL)

    def _compared(self) -> Part:
        left = self._binary(0)
        for symbol, compare in ORDERS.items():
            if self._accept(symbol):
                return comparison(compare, left, self._binary(0))
        if self._accept("IS"):
            is_not = self._accept("NOT")
            if self._accept("NULL"):
                value = left.value
                return Part((lambda row: value(row) is not None) if is_not else lambda row: value(row) is None, BOOL)
            self.expect("DISTINCT")
            self.expect("FROM")
            return identity(left, self._binary(0), is_not)
        is_not = self._accept("NOT")
        if self._accept("BETWEEN"):
            low = comparison(operator.ge, left, self._binary(0))
            self.expect("AND")
            found = decided(False, [low.value, comparison(operator.le, left, self._binary(0)).value])
        elif self._accept("IN"):
            self.expect("(")
            found = decided(True, [comparison(operator.eq, left, one).value for one in self._parts(")")])
        elif self._accept("LIKE"):
            found = self._like(left)
        else:
            return left
        return Part(called_with(operator.not_, [found], True) if is_not else found, BOOL)

    def _like(self, text: Part) -> RowFunction:
        pattern = self._binary(0)
        self.expect("ESCAPE")
        if self._binary(0).constant != "\\":
            raise LookupError("ESCAPE")
        return call("text_like_short", [text, pattern]).value

    def _binary(self, level: int) -> Part:
        if level == len(BINARY):
            return self._suffixed()
        left = self._binary(level + 1)
        while (symbol := next(filter(self._accept, BINARY[level]), None)) is not None:
            left = combined(symbol, left, self._binary(level + 1))
        return left

    def _suffixed(self) -> Part:
        found = self._primary()
        while True:
            if self._accept("."):
                found = field_of(found, self._word())
            elif self._accept("["):
                found = self._item(found)
            else:
                return found

    def _item(self, items: Part) -> Part:
        """Read what follows the bracket of a list."""
        element, low = element_of(items), whole(self.expression())
        if self._accept("]"):
            return Part(called_with(item_at, [items.value, low], True), element)
        self.expect(":")
        high = whole(self.expression())
        self.expect("]")
        return Part(called_with(sliced, [items.value, low, high], True), items.kind)

    def _primary(self) -> Part:
        token = self._next()
        if token["place"] is not None:
            return self._operands[int(token["place"])]
        if token["text"] is not None:
            return constant(token["text"].replace("''", "'"), TEXT)
        if token["number"] is not None:
            return number(int(token["number"]))
        if token["word"] is not None:
            return self._named(token["word"])
        match token["symbol"]:
            case "(":
                found = self.expression()
                self.expect(")")
                return found
            case "[":
                return listed(self._parts("]"))
            case "{":
                return self._struct()
            case "-":
                return combined("-", number(0), self._suffixed())
        raise LookupError(token[0])

    def _named(self, word: str) -> Part:
        if word in self._names:
            return self._names[word]
        if word in ("NULL", "TRUE", "FALSE"):
            return constant(*{"NULL": (None, NULL), "TRUE": (True, BOOL), "FALSE": (False, BOOL)}[word])
        if word == "CASE":
            return self._case()
        self.expect("(")
        if word == "CAST":
            return self._cast()
        if word in MAPPED:
            return self._mapped(word)
        return call(word, self._parts(")"))

    def _case(self) -> Part:
        branches: list[tuple[RowFunction, Part]] = []
        while self._accept("WHEN"):
            condition = bool_of(self.expression())
            self.expect("THEN")
            branches.append((condition, self.expression()))
        last = self.expression() if self._accept("ELSE") else constant(None, NULL)
        self.expect("END")
        kind = common([value.kind for _, value in branches] + [last.kind])
        tests, otherwise = [(condition, value.value) for condition, value in branches], last.value

        def chosen(row: Sequence[Any]) -> Any:
            return next((value for condition, value in tests if condition(row)), otherwise)(row)

        return Part(chosen, kind)

    def _cast(self) -> Part:
        value = self.expression()
        self.expect("AS")
        match = TARGET.match(self._text, self._at)
        if match is None:
            raise LookupError(self._text[self._at :])
        self._move(match.end())
        return cast(value, match[1])

    def _struct(self) -> Part:
        names: list[str] = []
        values: list[Part] = []
        while True:
            token = self._next()
            names.append(token["text"] or token["word"])
            self.expect(":")
            values.append(self.expression())
            if not self._accept(","):
                break
        self.expect("}")
        fields = ", ".join(f"{name} {value.kind}" for name, value in zip(names, values, strict=True))
        functions = [value.value for value in values]
        return Part(lambda row: tuple(function(row) for function in functions), f"STRUCT({fields})")

    def _mapped(self, word: str) -> Part:
        """Read the list and the lambda of a function that looks at each item."""
        items = self.expression()
        self.expect(",")
        self.expect("lambda")
        name, place = self._word(), -1 - len(self._names)
        self.expect(":")
        if name in self._names:
            raise LookupError(name)
        self._names[name] = Part(lambda row: row[place], element_of(items))
        body = self.expression()
        del self._names[name]
        self.expect(")")
        # The names of lambdas outside of this one come last in a row.
        inner, keep = body.value, MAPPED[word]

        def run(row: Sequence[Any]) -> Any:
            values = items.value(row)
            if values is None:
                return None
            outer = len(row) + place + 1
            return keep(values, [inner((*row[:outer], value, *row[outer:])) for value in values])

        return Part(run, items.kind if word == "list_filter" else f"{body.kind}[]")

    def _parts(self, end: str) -> list[Part]:
        found: list[Part] = []
        while not self._accept(end):
            if found:
                self.expect(",")
            if self._text.startswith(RUN, self._at) or self._text.startswith(" " + RUN, self._at):
                self._move(self._text.index(RUN, self._at) + len(RUN))
            else:
                found.append(self.expression())
        return found

    def _accept(self, wanted: str) -> bool:
        token = self._token
        if token is None or (token["word"] != wanted and token["symbol"] != wanted):
            return False
        self._move(token.end())
        return True

    def _next(self) -> re.Match[str]:
        token = self._token
        if token is None:
            raise LookupError(self._text[self._at :])
        self._move(token.end())
        return token

    def _word(self) -> str:
        found: str | None = self._next()["word"]
        if found is None:
            raise LookupError(self._text)
        return found

    def _move(self, at: int) -> None:
        self._at, self._token = at, TOKEN.match(self._text, at)
