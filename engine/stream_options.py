"""OPTIONS of a stream: which there are, what their values mean, and what ALTER FOREIGN TABLE makes of them.

Enters: names with values as written. Leaves: numbers. Raises PostgreSQL's errors for options of foreign tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sql.durations import milliseconds
from sql.errors import SqlError
from sql.statements.create_foreign_table import OPTIONS
from sql.statements.options import invalid_option
from sql.statements.statement import OptionChange

CAPACITY_MAX = 1 << 30


@dataclass(frozen=True)
class StreamOptions:
    """What the options of one stream say. capacity: tuples, a power of two; timeout_ms: None where the session's setting counts."""

    capacity: int
    timeout_ms: int | None


def read_options(options: Mapping[str, str], capacity_default: int) -> StreamOptions:
    """Return what options mean. Raises 22023 for a value that is none."""
    timeout = options.get("timeout")
    return StreamOptions(
        _capacity(options, capacity_default), None if timeout is None else milliseconds(timeout, "timeout")
    )


def changed_options(options: Mapping[str, str], changes: Sequence[OptionChange]) -> dict[str, str]:
    """Return the options after ALTER ... OPTIONS. Raises 42704, 42710 and HV00D, and never says anything of values."""
    found = dict(options)
    for change in changes:
        if change.action == "add":
            if change.name in found:
                raise SqlError("42710", f'option "{change.name}" provided more than once')
        elif change.name not in found:
            raise SqlError("42704", f'option "{change.name}" not found')
        if change.action == "drop":
            del found[change.name]
        else:
            found[change.name] = change.value
    for change in changes:
        if change.name in found and change.name not in OPTIONS:
            raise invalid_option(change.name, OPTIONS, change.position)
    return found


def _capacity(options: Mapping[str, str], default: int) -> int:
    text = options.get("capacity")
    if text is None:
        return default
    if not text.isdigit() or not 1 <= int(text) <= CAPACITY_MAX:
        raise SqlError(
            "22023",
            f'invalid value for option "capacity": "{text}"',
            hint=f"The capacity of a stream is a number of tuples from 1 to {CAPACITY_MAX}; it is rounded up to a power of two.",
        )
    return 1 << (int(text) - 1).bit_length()
