"""Parts of the sums and averages of numerics, on Python's values; and sums, averages, deviations
and regressions of floats with PostgreSQL's digits: its own steps, in the order of the rows.

What follows from a NaN or an infinity among numerics is `special_numerics`'. Of floats enter Arrow
list columns with the values of y and of x, one list per group, or of rows with their frames, one
list per partition, and leave one float per group, or one list of floats per partition; a ValueError
has the mark of 22003 for sums that overflow, of 57014 for a statement that is to end.
`ringbuffer.groups.float_frames` adds, and float_results.py divides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from engine.embedded import decimals
from engine.embedded.arrow_numerics import numeric_array, numeric_rows, one_array
from engine.embedded.decimals import Numeric
from engine.embedded.error_mark import marked
from engine.embedded.functions.math import VARIABLE, variance
from engine.embedded.functions.special_numerics import NAN, SPECIAL_MARKS, total_of
from engine.embedded.stopping import go_on, in_run
from ringbuffer.groups.aggregates import SKETCHES, State
from ringbuffer.groups.float_frames import PAIRS, Frames, float_frames
from ringbuffer.groups.float_results import KINDS, RESULTS
from ringbuffer.groups.sketches import NOT_OF_ONE_KIND, Sketch, string_words
from ringbuffer.groups.top_values import (
    ENTRIES,
    ENTRIES_MAX,
    ENTRY_BYTES,
    HEADER_BYTES,
    LOST,
    entry_bytes,
    is_top,
)
from ringbuffer.memory.error_codes import MESSAGES, NOT_A_SKETCH, OK
from sql.errors import SqlError
from sql.values.special_numbers import SPECIAL_SCALE

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
# The rows that are added before a statement may end.
STEPS_MAX = 10_000_000


def float8_aggregate(ys: pa.Array, xs: pa.Array, names: pa.Array) -> pa.Array:
    """Return an aggregate, by its name, of the values of each list."""
    bounds, name = _bounds(ys), names[0].as_py()
    values = _Values(one_array(ys).flatten(), one_array(xs).flatten())
    return _results(name, values.sums(name, _Frames(bounds[:-1], bounds[1:])))


def float8_window(rows: pa.Array, names: pa.Array) -> pa.Array:
    """Return lists of each row's number and an aggregate of its frame, whose bounds are rows of the
    list.

    names: 'name' or 'name ties'.
    """
    bounds, flat = _bounds(rows), one_array(rows).flatten()
    name, _, ties = names[0].as_py().partition(" ")
    starts = np.repeat(bounds[:-1], np.diff(bounds))
    low, high, out_low, out_high = (flat.field(place).to_numpy(zero_copy_only=False) + starts for place in range(3, 7))
    frames = _Frames(low, np.maximum(high, low), out_low, out_high, bool(ties))
    found = _results(name, _Values(flat.field(1), flat.field(2)).sums(name, frames))
    numbered = pa.StructArray.from_arrays([flat.field(0), found], ["id", "v"])
    return pa.ListArray.from_arrays(pa.array(bounds.astype(np.int32)), numbered)


def _bounds(values: pa.Array) -> Rows:
    """Return the begin of each list among the values of all lists, and their end.

    A NULL has no values.
    """
    counts = pc.fill_null(pc.list_value_length(one_array(values)), 0).to_numpy(zero_copy_only=False)
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts, dtype=np.int64)])


@dataclass(frozen=True)
class _Frames:
    """The bounds of frames, as `float_frames` takes them."""

    low: Rows
    high: Rows
    out_low: Rows | None = None
    out_high: Rows | None = None
    keeps_own: bool = False

    def bounds(self) -> Frames:
        """The bounds, and the bounds of the rows that are left out."""
        none = np.zeros_like(self.low)
        out_low, out_high = (none if bound is None else bound for bound in (self.out_low, self.out_high))
        return Frames(self.low, self.high, out_low, out_high, int(self.keeps_own))


class _Values:
    """The values of all lists."""

    def __init__(self, y: pa.Array, x: pa.Array) -> None:
        self.known = pc.and_(y.is_valid(), x.is_valid()).to_numpy(zero_copy_only=False).astype(np.uint8)
        self.y: Floats = np.ascontiguousarray(y.to_numpy(zero_copy_only=False), dtype=np.float64)
        self.x: Floats = np.ascontiguousarray(x.to_numpy(zero_copy_only=False), dtype=np.float64)

    def sums(self, name: str, frames: _Frames) -> Floats:
        """Return the sums of frames, some million rows at a time.

        Raises a ValueError with the mark of 22003, or of 57014.
        """
        kind, count = KINDS.get(name, PAIRS), len(frames.low)
        sums, steps = np.zeros((count, 6)), np.cumsum(frames.high - frames.low)
        bounds = frames.bounds()
        begin = 0
        while begin < count:
            try:
                go_on()
            except SqlError as error:
                raise ValueError(marked(error)) from None
            limit = STEPS_MAX + (int(steps[begin - 1]) if begin else 0)
            end = max(begin + 1, int(np.searchsorted(steps, limit, side="right")))
            if float_frames(kind, self.y, self.x, self.known, bounds, begin, end, sums) != OK:
                raise ValueError(marked(SqlError("22003", "value out of range: overflow")))
            begin = end
        return sums


def _results(name: str, sums: Floats) -> pa.Array:
    """Return the values of an aggregate, NULL where it has no value."""
    with np.errstate(all="ignore"):
        values, missing = RESULTS[name](sums)
    return pa.array(values, pa.float64(), mask=missing)


def numeric_deviation(lists: pa.Array, names: pa.Array) -> pa.Array:
    """Return a variance or a deviation, by its name, of the numerics of each list, by squares of
    any length.
    """
    bounds, name = _bounds(lists), names[0].as_py() if len(names) else ""
    values = numeric_rows(one_array(lists).flatten())
    try:
        return numeric_array([_deviation(values[low:high], name) for low, high in pairwise(bounds.tolist())])
    except SqlError as error:
        raise ValueError(marked(error)) from None


def _deviation(values: list[Numeric | None], name: str) -> Numeric | None:
    go_on()
    known = [value for value in values if value is not None]
    if any(scale == SPECIAL_SCALE for _, scale in known):
        return NAN if len(known) > name.endswith("samp") else None
    scale = max((scale for _, scale in known), default=0)
    wholes = [unscaled * 10 ** (scale - own) for unscaled, own in known]
    return variance(len(wholes), (sum(wholes), scale), 0, (sum(one * one for one in wholes), 2 * scale), name)


def sketches_of(state: State, lists: pa.Array) -> pa.Array:
    """Return a sketch of the words of each list, NULL for a list that is NULL."""
    bounds, flat = _bounds(lists), one_array(lists).flatten().to_numpy(zero_copy_only=False).astype(np.int64)
    found: list[bytes | None] = []
    for low, high in pairwise(bounds.tolist()):
        go_on()
        sketch = Sketch()
        sketch.note(state, flat[low:high])
        found.append(sketch.bytes)
    return pa.array(found, pa.binary())


def top_of(lists: pa.Array) -> pa.Array:
    """Return a sketch of the texts of each list, NULL for a list that is NULL."""
    bounds, flat = _bounds(lists), one_array(lists).flatten().to_pylist()
    found: list[bytes | None] = []
    for low, high in pairwise(bounds.tolist()):
        sketch = Sketch()
        for start in range(low, high, TEXTS_AT_ONCE):
            go_on()
            sketch.count(text.encode() for text in flat[start : min(start + TEXTS_AT_ONCE, high)])
        found.append(sketch.bytes)
    return pa.array(found, pa.binary())


def combined_of(lists: pa.Array) -> pa.Array:
    """Return the sketch of all that the sketches of each list have seen. Raises 22023 for what is
    none, or of another kind.
    """
    bounds, flat = _bounds(lists), one_array(lists).flatten().to_pylist()
    found: list[bytes | None] = []
    for low, high in pairwise(bounds.tolist()):
        sketch = Sketch()
        for one in flat[low:high]:
            go_on()
            sketch.add(one)
        found.append(sketch.bytes)
        if high > low and found[-1] is None:
            raise ValueError(marked(SqlError("22023", NOT_OF_ONE_KIND)))
    return pa.array(found, pa.binary())


def top_values(sketch: bytes, count: int) -> list[str]:
    """Return the texts that came most often, first those with the largest counts, of equal ones in
    the order of their bytes.
    """
    return [text for _, text in _entries(sketch, count)]


def top_counts(sketch: bytes, count: int) -> list[int]:
    """Return how often they came: never too few."""
    return [-times for times, _ in _entries(sketch, count)]


def _entries(sketch: bytes, count: int) -> list[tuple[int, str]]:
    """Return (count below 0, text) in order. Raises SqlError 22023."""
    if not 0 < count <= ENTRIES_MAX:
        raise SqlError("22023", f"the number of values must be between 1 and {ENTRIES_MAX}")
    w0, w1, heap, _kept = string_words(sketch)
    if not is_top(w0, w1, heap):
        raise SqlError(*MESSAGES[NOT_A_SKETCH])
    lost, entries = _word(sketch, 8 * LOST), _word(sketch, 8 * ENTRIES)
    found, at = [], HEADER_BYTES
    for _ in range(entries):
        size = _word(sketch, at + 16)
        text = sketch[at + ENTRY_BYTES : at + ENTRY_BYTES + size].decode(errors="replace")
        found.append((-_word(sketch, at) - lost, text))
        at += entry_bytes(size)
    return sorted(found, key=lambda entry: (entry[0], entry[1].encode()))[:count]


def _word(sketch: bytes, at: int) -> int:
    return int.from_bytes(sketch[at : at + 8], "little", signed=True)


# So many texts are counted until the next look at whether the run is to stop.
TEXTS_AT_ONCE = 1_000
key, average = decimals.key, decimals.average


def mark(value: Numeric) -> int:
    """Return the bit of a value's scale."""
    return 1 << value[1]


def quotient(total: Numeric, count: int) -> Numeric:
    """Return total / count, with PostgreSQL's scale of a quotient."""
    return decimals.divide(total, (count, 0))


def total(whole: int, high: int, low: int, marks: int) -> Numeric:
    """Return the sum of values of which the parts of the keys were summed, and the marks united."""
    if marks >= SPECIAL_MARKS[-1]:
        return total_of(marks)
    return decimals.total(whole, high, low, marks.bit_length() - 1)


def variable_average(upper: int, lower: int, high: int, low: int, marks: int, count: int) -> Numeric:
    """Return an average of values whose keys were summed, the whole parts in 10^19 and the rest."""
    if marks >= SPECIAL_MARKS[-1]:
        return total_of(marks)
    scale = marks.bit_length() - 1
    step = 10**decimals.KEY_PART_DIGITS
    unscaled = ((upper * step + lower) * step + high) * step + low
    return decimals.divide((unscaled * 10**scale // decimals.UNSCALED_LIMIT, scale), (count, 0))


_ROWS = "STRUCT(id BIGINT, y DOUBLE, x DOUBLE, low BIGINT, high BIGINT, out_low BIGINT, out_high BIGINT)[]"
LIST_AGGREGATES: list[tuple[str, list[str], str, Callable[..., pa.Array]]] = [
    *(
        (f"{state.name.lower()}_of", ["BIGINT[]", "BIGINT"], "BLOB", in_run(partial(sketches_of, state)))
        for state in sorted(SKETCHES - {State.COMBINED, State.TOP})
    ),
    ("top_of", ["VARCHAR[]", "BIGINT"], "BLOB", in_run(top_of)),
    ("combined_of", ["BLOB[]", "BIGINT"], "BLOB", in_run(combined_of)),
    ("numeric_deviation", [f"{VARIABLE}[]", "VARCHAR", "BIGINT"], VARIABLE, in_run(numeric_deviation)),
    ("float8_aggregate", ["DOUBLE[]", "DOUBLE[]", "VARCHAR", "BIGINT"], "DOUBLE", in_run(float8_aggregate)),
    ("float8_window", [_ROWS, "VARCHAR", "BIGINT"], "STRUCT(id BIGINT, v DOUBLE)[]", in_run(float8_window)),
]
