"""Functions that DuckDB has itself, on a row's values as Python has them: exact for every value,
and quick, so that a row of an INSERT is computed on the event loop.

Enters: a call. Leaves: its function, None for all other calls. A function raises 22003 as
PostgreSQL does. Must not know more than one row.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import md5
from operator import add, concat, mul, neg, sub
from typing import Any

from sql.errors import SqlError
from sql.functions.patterns import LOWER, UPPER
from sql.tree.expressions import Call

INTEGERS = {"int2": ("smallint", 1 << 15), "int4": ("integer", 1 << 31), "int8": ("bigint", 1 << 63)}
ARITHMETIC: dict[str, Callable[..., int]] = {"add": add, "subtract": sub, "multiply": mul, "negate": neg}
# ASCII letters alone, as in the C locale.
TO_UPPER, TO_LOWER = str.maketrans(LOWER, UPPER), str.maketrans(UPPER, LOWER)
OF_TEXTS: dict[str, Callable[..., Any]] = {
    "upper": lambda text: text.translate(TO_UPPER),
    "lower": lambda text: text.translate(TO_LOWER),
    "length": len,
    "md5": lambda text: md5(text.encode(), usedforsecurity=False).hexdigest(),
    "concat_op": concat,
}
PLAIN = frozenset(ARITHMETIC) | frozenset(OF_TEXTS)


def plain_function(call: Call) -> Callable[..., Any] | None:
    """Return what computes a call of values that are not NULL."""
    families = {argument.type.family for argument in call.arguments}
    if call.function in OF_TEXTS and families <= {"text", "varchar"}:
        return OF_TEXTS[call.function]
    family = call.type.family
    if call.function not in ARITHMETIC or families != {family} or family not in INTEGERS:
        return None
    compute = ARITHMETIC[call.function]
    name, bound = INTEGERS[family]

    def checked(*operands: int) -> int:
        value = compute(*operands)
        if not -bound <= value < bound:
            raise SqlError("22003", f"{name} out of range")
        return value

    return checked
