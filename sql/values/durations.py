"""Durations and sizes as settings write them: '100ms', '1min', '64MB'.

Enters: text. Leaves: whole units, or None where the text is no number.
"""

from __future__ import annotations

import math
import re

from sql.errors import SqlError

MILLISECONDS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "min": 60_000.0, "h": 3_600_000.0, "d": 86_400_000.0}
KILOBYTES = {"B": 1 / 1024, "kB": 1.0, "MB": 1024.0, "GB": 1024.0**2, "TB": 1024.0**3}

# No part of the expression gives back what it took: long digits and blanks before a wrong end would
# be tried in all ways.
QUANTITY = re.compile(
    r"\s*+([+-]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?\d++)?+|[+-]?0[xX][0-9a-fA-F]++)\s*+([A-Za-z]*+)\s*+"
)


def quantity(text: str, units: dict[str, float]) -> int | None:
    """Return `text` as a whole number of the base unit of `units`, or None.

    Halves are rounded to even, as PostgreSQL does.
    """
    value = real_quantity(text, units)
    return None if value is None else round(value)


def real_quantity(text: str, units: dict[str, float]) -> float | None:
    """Return `text` as a number of the base unit of `units`, or None."""
    match = QUANTITY.fullmatch(text)
    if match is None:
        return None
    number, unit = match.groups()
    # For a number that is too large for a float, with 0x or without.
    value = float(number) if "x" not in number.lower() else float(int(number, 16)) if len(number) < 200 else math.inf
    if unit:
        if unit not in units:
            return None
        value *= units[unit]
    return value if math.isfinite(value) else None


def milliseconds(text: str, option: str = "publish") -> int:
    """Return the duration of an option."""
    value = quantity(text, MILLISECONDS)
    if value is None or value < 0:
        hint = 'Valid units for this parameter are "us", "ms", "s", "min", "h", and "d".'
        raise SqlError("22023", f'invalid value for option "{option}": "{text}"', hint=hint)
    return value
