"""Sequences: numbers that never come twice, not even after a crash.

Enters: how many values are wanted. Leaves: the values, as one array. Values are logged ahead in
blocks: the store knows a value beyond those that were given out, so that most calls write nothing.
No transaction takes a value back. Must not know how the log is kept.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sql.errors import SqlError
from sql.parse.statements.parts import SequenceOptions
from sql.types.datatypes import INT2, INT4, INT8, SqlType

# As many values as PostgreSQL logs ahead.
LOGGED_AHEAD = 32
LIMITS = {"int2": 1 << 15, "int4": 1 << 31, "int8": 1 << 63}
TYPES = {kind.family: kind for kind in (INT2, INT4, INT8)}


@dataclass(frozen=True)
class SequenceDefinition:
    """The options of a sequence, all resolved."""

    type: SqlType
    start: int
    increment: int
    minimum: int
    maximum: int
    cache: int
    cycle: bool

    @property
    def length(self) -> int:
        """How many values lie between minimum and maximum, an increment apart."""
        return (self.maximum - self.minimum) // abs(self.increment) + 1


def resolve(options: SequenceOptions, default_type: SqlType = INT8) -> SequenceDefinition:
    """Return the definition of CREATE SEQUENCE.

    Raises 22023 as PostgreSQL for contradicting options.
    """
    kind = options.type or default_type
    increment = 1 if options.increment is None else options.increment
    limit = LIMITS.get(kind.family, 0)
    if not limit:
        raise SqlError("22023", "sequence type must be smallint, integer, or bigint")
    minimum = (1 if increment > 0 else -limit) if no(options.minimum) else int(options.minimum or 0)
    maximum = (limit - 1 if increment > 0 else -1) if no(options.maximum) else int(options.maximum or 0)
    start = options.start if options.start is not None else (minimum if increment > 0 else maximum)
    definition = SequenceDefinition(kind, start, increment, minimum, maximum, options.cache or 1, bool(options.cycle))
    check(definition, options.cache)
    return definition


def no(value: int | None) -> bool:
    """Tell whether an option was left out, or was NO MINVALUE and the like."""
    return value is None or value is False


def check(definition: SequenceDefinition, cache: int | None = None) -> None:
    """Raise 22023 for options that contradict each other."""
    limit = LIMITS[definition.type.family]
    name = definition.type.sql_name
    if definition.increment == 0:
        raise SqlError("22023", "INCREMENT must not be zero")
    for word, value in (("MAXVALUE", definition.maximum), ("MINVALUE", definition.minimum)):
        if not -limit <= value < limit:
            raise SqlError("22023", f"{word} ({value}) is out of range for sequence data type {name}")
    if definition.minimum >= definition.maximum:
        raise SqlError("22023", f"MINVALUE ({definition.minimum}) must be less than MAXVALUE ({definition.maximum})")
    require_within(definition, definition.start, "START")
    if cache is not None and cache <= 0:
        raise SqlError("22023", f"CACHE ({cache}) must be greater than zero")


def require_within(definition: SequenceDefinition, value: int, word: str) -> None:
    """Raise 22023 for a value out of the bounds. word: the option that gives it."""
    if value < definition.minimum:
        raise SqlError("22023", f"{word} value ({value}) cannot be less than MINVALUE ({definition.minimum})")
    if value > definition.maximum:
        raise SqlError("22023", f"{word} value ({value}) cannot be greater than MAXVALUE ({definition.maximum})")


@dataclass(eq=False)
class SequenceCounter:
    """The state of a sequence.

    Attributes:
        number: of its record in the store, a new one with each restart inside a transaction.
        last: the value given last, or the next one when `called` is False.
        ahead: how many more values the store counts as given.
        log: writes (number, last, called) durably; None while the creation of the sequence is not
            committed.
    """

    number: int
    last: int
    called: bool = False
    ahead: int = 0
    log: Callable[[int, int, bool], None] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, name: str, definition: SequenceDefinition, count: int) -> npt.NDArray[np.int64]:
        """Return the next `count` values.

        Raises 2200H at the limit of a sequence that does not cycle; no value is taken then.
        """
        with self.lock:
            values = self._next(name, definition, count)
            if count:
                if self.log is not None and count > self.ahead:
                    beyond = _advanced(definition, int(values[-1]), LOGGED_AHEAD)
                    self.log(self.number, beyond[0], True)
                    self.ahead = beyond[1] + count
                self.ahead = max(self.ahead - count, 0)
                self.last, self.called = int(values[-1]), True
            return values

    def set(self, value: int, called: bool) -> None:
        """Set the sequence to `value`, durably."""
        with self.lock:
            if self.log is not None:
                self.log(self.number, value, called)
            self.last, self.called, self.ahead = value, called, 0

    def record(self, definition: SequenceDefinition) -> tuple[int, bool]:
        """Return the record for a commit that creates the sequence: (last, called).

        If a value was given, values are logged ahead in the record.
        """
        with self.lock:
            if not self.called:
                return self.last, False
            last, self.ahead = _advanced(definition, self.last, LOGGED_AHEAD)
            return last, True

    def settle(self) -> None:
        """Store the real state of the sequence, at an orderly end."""
        with self.lock:
            if self.log is not None and self.ahead:
                self.log(self.number, self.last, self.called)
                self.ahead = 0

    def _next(self, name: str, definition: SequenceDefinition, count: int) -> npt.NDArray[np.int64]:
        step = definition.increment
        first = self.last + step if self.called else self.last
        room = _room(definition, first)
        if count <= room:
            return first + step * np.arange(count, dtype=np.int64)
        if not definition.cycle:
            word, limit = ("maximum", definition.maximum) if step > 0 else ("minimum", definition.minimum)
            raise SqlError("2200H", f'nextval: reached {word} value of sequence "{name}" ({limit})')
        origin = definition.minimum if step > 0 else definition.maximum
        places = np.arange(count, dtype=np.int64)
        return np.where(
            places < room,
            first + step * np.minimum(places, room),
            origin + step * ((places - room) % definition.length),
        )


def _room(definition: SequenceDefinition, first: int) -> int:
    """Return how many values there are from `first` to the limit."""
    if definition.increment > 0:
        return max((definition.maximum - first) // definition.increment + 1, 0)
    return max((first - definition.minimum) // -definition.increment + 1, 0)


def _advanced(definition: SequenceDefinition, value: int, count: int) -> tuple[int, int]:
    """Return the value up to `count` steps on, and how many steps were possible."""
    steps = min(count, _room(definition, value + definition.increment))
    return value + steps * definition.increment, steps


def sequence_row(counter: SequenceCounter) -> pa.Table:
    """Return the row of SELECT FROM a sequence: last_value, log_cnt, is_called."""
    return pa.table({"last_value": [counter.last], "log_cnt": [counter.ahead], "is_called": [counter.called]})
