"""Texts of queries that are printed once for all values of their parameters.

Enters: a tree whose parameters stand where no decision of the printer, nor of what comes before it,
depends on a value: beside a column in a comparison. Leaves: the text with a mark in the place of
each, and the text for given values, which is that of the tree with these values in it
(`tests/sql/emit/test_open_values.py`). Must not take a value that is NULL or long: those do decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from sql.errors import not_supported
from sql.functions.comparisons import COMPARISONS
from sql.tree.expressions import Call, Cast, Column, Expression, Literal, Parameter
from sql.tree.relations import Relation
from sql.tree.walks import all_relations, children, walk
from sql.types.datatypes import SqlType

# No client's text has a zero byte. Keys of relations have some, and names beside them, but none
# after a number.
MARK = "\0" * 3
PLACE = re.compile(rf"{MARK}([0-9]+){MARK}")
INTEGERS = frozenset({"int2", "int4", "int8"})
STRINGS = frozenset({"text", "varchar"})
OPEN = INTEGERS | STRINGS | {"bpchar", "uuid", "date", "timestamp", "timestamptz", "bool", "float4", "float8"}
CHARACTERS_MAX = 256
# Trees of which it is known.
KNOWN_MAX = 256


@lru_cache(maxsize=KNOWN_MAX)
def is_open(root: Relation) -> bool:
    """Tell whether the text of a tree is the same for all short values of its parameters, but for
    the values.
    """
    found = [node for part in all_relations(root) for item in children(part) for node in walk(item)]
    parameters_count = sum(isinstance(node, Parameter) for node in found)
    return 0 < parameters_count == sum(_is_open_comparison(node) for node in found)


def _is_open_comparison(node: Expression) -> bool:
    if not isinstance(node, Call) or node.function not in COMPARISONS:
        return False
    plain = [one.operand if isinstance(one, Cast) and _is_widened(one) else one for one in node.arguments]
    kinds = {type(one) for one in plain}
    return kinds == {Column, Parameter} and all(one.type.family in OPEN for one in (*plain, *node.arguments))


def _is_widened(node: Cast) -> bool:
    kinds = {node.type.family, node.operand.type.family}
    return kinds <= INTEGERS or (kinds <= STRINGS and node.type.length is None)


def may_stand(values: Sequence[Literal]) -> bool:
    """Tell whether values may be put into a printed text."""
    return all(
        one.value is not None and (not isinstance(one.value, str) or len(one.value) <= CHARACTERS_MAX) for one in values
    )


def mark_of(parameter: Parameter) -> str:
    """Return what stands for a parameter in a text."""
    return f"{MARK}{parameter.number}{MARK}"


class OpenText:
    """A text with places for values."""

    def __init__(self, text: str, root: Relation) -> None:
        self.characters_count = len(text)
        self._kinds: dict[int, SqlType] = {}
        for part in all_relations(root) if MARK in text else ():
            for item in children(part):
                self._kinds.update((one.number, one.type) for one in walk(item) if isinstance(one, Parameter))
        self._pieces = PLACE.split(text)
        self._numbers = [int(number) for number in self._pieces[1::2]]

    def filled(self, values: Sequence[Literal], printed: Callable[[Literal], str]) -> str:
        """Return the text with values; printed: an engine's text of a constant."""
        if not self._numbers:
            return self._pieces[0]
        if not values:
            raise not_supported(f"parameter ${self._numbers[0]} in this place")
        pieces = self._pieces.copy()
        texts = {number: printed(Literal(values[number - 1].value, kind)) for number, kind in self._kinds.items()}
        pieces[1::2] = [texts[number] for number in self._numbers]
        return "".join(pieces)
