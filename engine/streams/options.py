"""The OPTIONS of a stream: their names, the meaning of their values, and their changes by ALTER.

Enters: names with values as written. Leaves: numbers. Raises PostgreSQL's errors for options of
foreign tables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ringbuffer.ring.ring import STRING_CAPACITY_MAX
from sql.errors import SqlError
from sql.parse.statements.create_foreign_table import OPTIONS
from sql.parse.statements.options import invalid_option
from sql.parse.statements.parts import OptionChange
from sql.values.durations import milliseconds

CAPACITY_MAX = 1 << 30
STRING_CAPACITY_MIN = 1024
SIZE = re.compile(r"\s*+([0-9]{1,15})\s*+(B|kB|MB|GB|TB)?\s*+", re.ASCII)
UNIT_BYTES = {None: 1, "B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}


@dataclass(frozen=True)
class StreamOptions:
    """The options of one stream.

    Attributes:
        capacity: tuples, a power of two.
        string_capacity: bytes of long texts that each of the two string buffers may hold.
        timeout_ms: of scans; None: the setting of the session counts.
    """

    capacity: int
    string_capacity: int
    timeout_ms: int | None = None


def read_options(options: Mapping[str, str], defaults: StreamOptions) -> StreamOptions:
    """Return the meaning of options. Raises 22023 for an invalid value."""
    capacity, string_capacity, timeout = (options.get(name) for name in ("capacity", "string_capacity", "timeout"))
    return StreamOptions(
        defaults.capacity if capacity is None else _capacity(capacity),
        defaults.string_capacity if string_capacity is None else _string_capacity(string_capacity),
        defaults.timeout_ms if timeout is None else milliseconds(timeout, "timeout"),
    )


def changed_options(options: Mapping[str, str], changes: Sequence[OptionChange]) -> dict[str, str]:
    """Return the options after ALTER ... OPTIONS, without a look at values.

    Raises 42704, 42710 and HV00D.
    """
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


def _capacity(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= CAPACITY_MAX:
        raise SqlError(
            "22023",
            f'invalid value for option "capacity": "{text}"',
            hint=f"The capacity of a stream is a number of tuples from 1 to {CAPACITY_MAX}; it is rounded up to a power of two.",
        )
    return 1 << (int(text) - 1).bit_length()


def _string_capacity(text: str) -> int:
    match = SIZE.fullmatch(text)
    size = 0 if match is None else int(match[1]) * UNIT_BYTES[match[2]]
    if not STRING_CAPACITY_MIN <= size <= STRING_CAPACITY_MAX:
        raise SqlError(
            "22023",
            f'invalid value for option "string_capacity": "{text}"',
            hint='It is a size from "1kB" to "1TB", of each of the two buffers that hold a stream\'s texts of more than 12 bytes.',
        )
    return size
