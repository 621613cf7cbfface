"""The results of PostgreSQL's functions of numerics where an operand is NaN or an infinity: see
`sql.values.special_numbers`.

Arithmetic follows floats: a finite operand takes part as its sign, so a result is NaN, an infinity
or zero. A row of the table of functions names what is called where there is such an operand, and
`SPECIAL_FUNCTIONS` has an entry for every function of numerics that has no row. Strict in NULL.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from engine.embedded.decimals import Numeric
from engine.embedded.functions.number_formats import formatted_special
from sql.errors import SqlError, not_supported
from sql.types.datatypes import numeric
from sql.values.special_numbers import NAN_RANK, SPECIAL_SCALE, SPECIALS, no_room, not_an_integer

MINUS_INFINITY, INFINITY, NAN = ((rank, SPECIAL_SCALE) for rank in SPECIALS)
ZERO, ONE = (0, 0), (1, 0)

# Marks of the summands, a bit each: the scales from 0 to 38, then the special values by rank.
SPECIAL_MARKS = {-1: 1 << 40, 1: 1 << 41, NAN_RANK: 1 << 42}
# Above the whole part of every number, with digits after the point that a number so large can't
# have.
KEY_MAX = 10**38 - 1


def is_special(value: Numeric) -> bool:
    """True for NaN and the infinities."""
    return value[1] == SPECIAL_SCALE


def approximate(value: Numeric) -> float:
    """Return NaN or an infinity as a float; for a finite number its sign."""
    unscaled, scale = value
    if scale == SPECIAL_SCALE:
        return float(SPECIALS[unscaled])
    return float((unscaled > 0) - (unscaled < 0))


def exact(value: float) -> Numeric:
    """Return NaN, an infinity or a whole number as a numeric."""
    if math.isnan(value):
        return NAN
    if math.isinf(value):
        return INFINITY if value > 0 else MINUS_INFINITY
    return int(value), 0


def is_nan(*operands: Numeric) -> bool:
    return (NAN_RANK, SPECIAL_SCALE) in operands


def divide(left: Numeric, right: Numeric) -> Numeric:
    if is_nan(left, right):
        return NAN
    if right[0] == 0:
        raise SqlError("22012", "division by zero")
    return exact(approximate(left) / approximate(right))


def key(value: Numeric) -> tuple[int, int, int]:
    """Return a key below or above those of all numbers (`decimals.key`)."""
    if value == MINUS_INFINITY:
        return -KEY_MAX, -1, 0
    return KEY_MAX, value[0], 0


def no_key(value: Numeric) -> tuple[int, int, int]:
    """Return what adds nothing to the sums of keys."""
    return 0, 0, 0


def mark(value: Numeric) -> int:
    """Return the bit of a special value."""
    return SPECIAL_MARKS[value[0]]


def quotient(total: Numeric, count: int) -> Numeric:
    """Return total / count."""
    return divide(total, (count, 0))


def third(upper: int, lower: int, fraction: Numeric, count: int) -> Numeric:
    """Return the average of values among which is a special one, their sum."""
    return fraction


def total_of(marks: int) -> Numeric:
    """Return the sum of summands with such marks, some of them special."""
    has_minus, has_plus, has_nan = (bool(marks & mark) for mark in SPECIAL_MARKS.values())
    if has_nan or (has_minus and has_plus):
        return NAN
    return INFINITY if has_plus else MINUS_INFINITY


def compare(left: Numeric, right: Numeric) -> int:
    """Return -1, 0 or 1 in PostgreSQL's order: NaN equals itself and is above everything else."""
    first, second = key_of_order(left), key_of_order(right)
    return (first > second) - (first < second)


def key_of_order(value: Numeric) -> int:
    return value[0] if is_special(value) else 0


def finite(value: Numeric, type_name: str) -> Numeric:
    """Raise the error of a cast to an integer type, or to numeric(p,s)."""
    if type_name.startswith("numeric"):
        precision, scale = (int(part) for part in type_name[len("numeric(") : -1].split(","))
        raise no_room(SPECIALS[value[0]], numeric(precision, scale))
    raise not_an_integer(SPECIALS[value[0]], type_name)


def at_scale(value: Numeric) -> int:
    """Raise the error of a numeric whose scale is known before it is computed."""
    raise not_supported(f"{to_text(value)} as a numeric of known scale")


def to_text(value: Numeric) -> str:
    return str(SPECIALS[value[0]])


def width_bucket(operand: Numeric, low: Numeric, high: Numeric, count: int) -> int:
    if count <= 0:
        raise SqlError("2201G", "count must be greater than zero")
    if is_nan(operand, low, high):
        raise SqlError("2201G", "operand, lower bound, and upper bound cannot be NaN")
    if is_special(low) or is_special(high):
        raise SqlError("2201G", "lower and upper bounds must be finite")
    order = low[0] * 10 ** max(high[1] - low[1], 0) - high[0] * 10 ** max(low[1] - high[1], 0)
    if order == 0:
        raise SqlError("2201G", "lower bound cannot equal upper bound")
    if (operand == INFINITY) != (order < 0):
        return 0
    if count == 2**31 - 1:
        raise SqlError("22003", "integer out of range")
    return count + 1


def square_root(value: Numeric) -> Numeric:
    if value == MINUS_INFINITY:
        raise SqlError("2201F", "cannot take square root of a negative number")
    return value


def logarithm(value: Numeric) -> Numeric:
    if value == MINUS_INFINITY:
        raise negative_logarithm()
    return value


def negative_logarithm() -> SqlError:
    return SqlError("2201E", "cannot take logarithm of a negative number")


def exponential(value: Numeric) -> Numeric:
    return ZERO if value == MINUS_INFINITY else value


def format_number(value: Numeric, template: str) -> str | None:
    return formatted_special(float(SPECIALS[value[0]]), template)


def log(base: Numeric, value: Numeric) -> Numeric:
    if is_nan(base, value):
        return NAN
    if base[0] < 0 or value[0] < 0:
        raise negative_logarithm()
    if base[0] == 0 or value[0] == 0:
        raise SqlError("2201E", "cannot take logarithm of zero")
    if base == INFINITY:
        return NAN if value == INFINITY else ZERO
    return INFINITY


def power(base: Numeric, exponent: Numeric) -> Numeric:
    """Return base ^ exponent by POSIX's rules of pow()."""
    if is_nan(base):
        return ONE if exponent[0] == 0 else NAN
    if is_nan(exponent):
        return ONE if is_one(base) else NAN
    if base[0] == 0 and exponent[0] < 0:
        raise SqlError("2201F", "zero raised to a negative power is undefined")
    whole = is_special(exponent) or exponent[0] % 10 ** exponent[1] == 0
    if base[0] < 0 and not whole:
        raise SqlError("2201F", "a negative number raised to a non-integer power yields a complex result")
    if exponent[0] == 0 or is_one(base):
        return ONE
    if is_special(exponent):
        size = math.inf if is_special(base) else abs(base[0]) - 10 ** base[1]
        if size == 0:
            return ONE
        return INFINITY if base[0] != 0 and (size > 0) == (exponent[0] > 0) else ZERO
    if exponent[0] < 0:
        return ZERO
    odd = exponent[0] // 10 ** exponent[1] % 2 == 1
    return MINUS_INFINITY if base == MINUS_INFINITY and odd else INFINITY


def is_one(value: Numeric) -> bool:
    return not is_special(value) and value[0] == 10 ** value[1]


def series(start: Numeric, stop: Numeric, step: Numeric) -> list[Numeric]:
    for what, value in (("start value", start), ("stop value", stop), ("step size", step)):
        if is_special(value):
            raise SqlError("22023", f"{what} cannot be {'NaN' if is_nan(value) else 'infinity'}")
    raise AssertionError("one of them is special")


def same(value: Numeric, *digits: int) -> Numeric:
    return value


def nan(*operands: Numeric) -> Numeric:
    return NAN


def nothing(*operands: Numeric) -> None:
    """Return NULL."""
    return


SPECIAL_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "numeric_variance": nan,
    "numeric_finite": finite,
}
