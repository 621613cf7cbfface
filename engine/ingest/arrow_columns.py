"""Columns of Arrow batches in the forms in which decoders give the columns of a relation.

Enters: Arrow types, then arrays of them. Leaves: arrays in the forms of `views.model.arrow_schema`,
strings for columns that are read later. An Arrow type is taken where PostgreSQL assigns its values
without a word, and nothing is guessed: a string is no number, and a time without a zone is no time
with one. Raises PostgreSQL's errors for values that a column can't have.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from engine.ingest.field_readers import has_kernel
from engine.streams.row_errors import shown
from engine.tables.arrow_values import FieldError
from ringbuffer.memory.columns import NUMERIC_DIGITS_MAX, ColumnLayout, PhysicalType
from ringbuffer.scalar.calendars.calendar import (
    DATE_DAYS_END,
    DATE_DAYS_MIN,
    TIMESTAMP_INFINITY,
    TIMESTAMP_US_END,
    TIMESTAMP_US_MIN,
)
from sql.catalog.catalog import ColumnDescription
from sql.errors import SqlError
from sql.types.datatypes import SqlType
from sql.values.literals import apply_modifier, input_value

Convert = Callable[[pa.Array], pa.Array]

DECIMAL256_DIGITS = 76
# Of the strings of one column in one morsel, once they are written out.
TEXT_BYTES_MAX = 1 << 28
# The first is the string's length.
VIEW_WORDS = 4
DAY_MS = 86_400_000
INTEGERS = {
    PhysicalType.INT16: pa.int16(),
    PhysicalType.INT32: pa.int32(),
    PhysicalType.INT64: pa.int64(),
}


def conversion(column: ColumnDescription, layout: ColumnLayout, given: pa.DataType) -> Convert | None:
    """Return how arrays of an Arrow type become those of a column, None where they can't.

    The function that is returned raises FieldError for the first value that is none.
    """
    if isinstance(given, pa.BaseExtensionType):
        return _after(lambda array: array.storage, conversion(column, layout, given.storage_type))
    if kinds.is_null(given):
        return lambda array: pa.nulls(len(array), _null_form(layout))
    if kinds.is_dictionary(given):
        return _after(_decoded, conversion(column, layout, given.value_type))
    if _is_text(given):
        return _text_conversion(column, layout)
    return _value_conversion(column.type, layout, given)


def require_readable(array: pa.Array) -> None:
    """Raise 54000 for views of strings that are too long together.

    They may all show the same bytes, which are then read and written as often.
    """
    if isinstance(array, pa.ExtensionArray):
        require_readable(array.storage)
    elif kinds.is_dictionary(array.type):
        require_readable(array.dictionary)
    elif kinds.is_string_view(array.type):
        _check_size(int(_sizes(array).sum()))


def _after(first: Convert, then: Convert | None) -> Convert | None:
    return None if then is None else lambda array: then(first(array))


def _null_form(layout: ColumnLayout) -> pa.DataType:
    if layout.physical == PhysicalType.NUMERIC:
        return pa.decimal128(NUMERIC_DIGITS_MAX, layout.scale)
    if layout.physical == PhysicalType.TEXT:
        return pa.string()
    return pa.bool_() if layout.physical == PhysicalType.BOOL else pa.int64()


def _is_text(given: pa.DataType) -> bool:
    return given in (pa.string(), pa.large_string(), pa.string_view())


def _text_conversion(column: ColumnDescription, layout: ColumnLayout) -> Convert | None:
    kind = column.type
    if kind.is_enum:
        return lambda array: _numbers(_texts(array), kind)
    if has_kernel(kind) and layout.physical != PhysicalType.TEXT:
        return None
    length_max = layout.length_max
    if length_max is None or not has_kernel(kind):
        return _texts
    return lambda array: _shortened(_texts(array), kind, length_max)


def _value_conversion(kind: SqlType, layout: ColumnLayout, given: pa.DataType) -> Convert | None:
    """Return the conversion of values that are no texts."""
    physical = layout.physical
    is_exact = kinds.is_integer(given) or (kinds.is_decimal(given) and 0 <= given.scale < NUMERIC_DIGITS_MAX)
    if not has_kernel(kind):
        # Read as the text of a number.
        return (lambda array: array.cast(pa.string())) if kind.family == "numeric" and is_exact else None
    if kind.is_enum:
        return None
    if physical in INTEGERS and kinds.is_integer(given):
        return lambda array: _integers(array, INTEGERS[physical], kind)
    if physical == PhysicalType.NUMERIC and is_exact:
        return lambda array: _decimals(array, kind, layout)
    if physical == PhysicalType.FLOAT64 and (kinds.is_floating(given) or kinds.is_integer(given)):
        return lambda array: array.cast(pa.float64(), safe=False)
    if physical == PhysicalType.FLOAT32 and (kinds.is_floating(given) or kinds.is_integer(given)):
        return lambda array: _reals(array, kind)
    if physical == PhysicalType.BOOL and kinds.is_boolean(given):
        return lambda array: array
    if physical == PhysicalType.DATE and kinds.is_date(given):
        return lambda array: _dates(array)
    if physical == PhysicalType.TIMESTAMP and kinds.is_timestamp(given) and (given.tz is not None) == layout.zoned:
        return _times
    return None


def _first(found: pa.Array) -> int:
    """Return the index of the first true value, -1 without one."""
    return int(pc.index(found, True).as_py())


def _check(bad: pa.Array, array: pa.Array, sqlstate: str, message: str) -> None:
    """Raise FieldError for the first bad value."""
    row = _first(bad)
    if row >= 0:
        raise FieldError(row, str(array[row].as_py()), SqlError(sqlstate, message))


def _outside(array: pa.Array, low: int, high: int) -> pa.Array:
    """Tell which integers are not in [low, high]."""
    if kinds.is_unsigned_integer(array.type):
        return pc.greater(array, pa.scalar(high, pa.uint64()))
    return pc.or_(pc.less(array, pa.scalar(low)), pc.greater(array, pa.scalar(high)))


def _integers(array: pa.Array, wanted: pa.DataType, kind: SqlType) -> pa.Array:
    high = (1 << (wanted.bit_width - 1)) - 1
    if array.type != wanted:
        _check(_outside(array, -high - 1, high), array, "22003", f"{kind.sql_name} out of range")
    return array.cast(wanted)


def _decimals(array: pa.Array, kind: SqlType, layout: ColumnLayout) -> pa.Array:
    if kinds.is_integer(array.type):
        array = array.cast(pa.decimal128(20, 0))
    wide = array.cast(pa.decimal256(DECIMAL256_DIGITS, array.type.scale))
    # There is room for the rounding of numbers below the limit alone.
    limit = pa.scalar(Decimal(10 ** (layout.precision - layout.scale)), wide.type)
    row = _first(pc.greater_equal(pc.abs(wide), limit))
    if row < 0:
        rounded = pc.round(wide, ndigits=layout.scale, round_mode="half_towards_infinity")
        row = _first(pc.greater_equal(pc.abs(rounded), limit))
    if row >= 0:
        value = array[row].as_py()
        try:
            apply_modifier(value, kind)
        except SqlError as error:
            raise FieldError(row, str(value), error) from None
    return rounded.cast(pa.decimal128(NUMERIC_DIGITS_MAX, layout.scale))


def _reals(array: pa.Array, kind: SqlType) -> pa.Array:
    found = array.cast(pa.float32(), safe=False)
    if array.type == pa.float64():
        overflows = pc.and_(pc.is_inf(found), pc.invert(pc.is_inf(array)))
        underflows = pc.and_(pc.equal(found, 0.0), pc.not_equal(array, 0.0))
        row = _first(pc.or_(overflows, underflows))
        if row >= 0:
            text = repr(array[row].as_py())
            raise FieldError(row, text, SqlError("22003", f'"{text}" is out of range for type {kind.sql_name}'))
    return found


def _dates(array: pa.Array) -> pa.Array:
    days = array.cast(pa.int32()) if kinds.is_date32(array.type) else pc.divide(array.cast(pa.int64()), DAY_MS)
    _check(_outside(days, DATE_DAYS_MIN, DATE_DAYS_END - 1), days, "22008", "date out of range")
    return days


def _times(array: pa.Array) -> pa.Array:
    """Return microseconds, rounded where there are nanoseconds."""
    units = array.cast(pa.int64())
    unit = array.type.unit
    if unit == "ns":
        values = pc.fill_null(units, 0).to_numpy(zero_copy_only=False)
        whole = np.floor_divide(values, 1000)
        whole += values - 1000 * whole >= 500
        return pc.if_else(units.is_valid(), pa.array(whole), pa.scalar(None, pa.int64()))
    factor = {"s": 1_000_000, "ms": 1000, "us": 1}[unit]
    low, high = TIMESTAMP_US_MIN // factor, min(TIMESTAMP_US_END, TIMESTAMP_INFINITY) // factor - 1
    _check(_outside(units, low, high), units, "22008", "timestamp out of range")
    return pc.multiply(units, factor)


def _decoded(array: pa.DictionaryArray) -> pa.Array:
    """Return the values of an array with a dictionary, which may be much longer."""
    values = array.dictionary
    if not _is_text(values.type):
        return pc.take(values, array.indices)
    places, counts = pc.value_counts(array.indices).flatten()
    _check_size(int((_sizes(_texts_at(values, places)) * counts.to_numpy()).sum()))
    return _texts_at(values, array.indices).cast(pa.string())


def _texts_at(values: pa.Array, places: pa.Array) -> pa.Array:
    """Return strings by their places: views, too, which pyarrow does not take."""
    if not kinds.is_string_view(values.type):
        return pc.take(values, places)
    if not len(values):
        return pa.nulls(len(places), values.type)
    views = np.frombuffer(values.buffers()[1], dtype="V16")[values.offset :]
    found = views[pc.fill_null(places, 0).to_numpy(zero_copy_only=False)]
    known = pc.fill_null(pc.take(values.is_valid(), places), False)
    buffers = [known.buffers()[1], pa.py_buffer(found), *values.buffers()[2:]]
    return pa.Array.from_buffers(values.type, len(places), buffers)


def _texts(array: pa.Array) -> pa.Array:
    """Return strings, which have no zero bytes."""
    if array.type != pa.string():
        _check_size(int(_sizes(array).sum()))
        array = array.cast(pa.string())
    row = _first(pc.match_substring(array, "\0"))
    if row >= 0:
        raise FieldError(row, "", SqlError("22021", 'invalid byte sequence for encoding "UTF8": 0x00'))
    return array


def _sizes(array: pa.Array) -> npt.NDArray[np.int64]:
    """Return the bytes of each string, 0 for NULLs."""
    if kinds.is_string_view(array.type) and len(array):
        end = array.offset + len(array)
        words = np.frombuffer(array.buffers()[1], dtype=np.uint32, count=end * VIEW_WORDS)[::VIEW_WORDS]
        found = words[array.offset :].astype(np.int64)
        if array.null_count:
            found[~array.is_valid().to_numpy(zero_copy_only=False)] = 0
        return found
    lengths = pc.fill_null(pc.binary_length(array), 0).to_numpy(zero_copy_only=False)
    return np.asarray(lengths, dtype=np.int64)


def _check_size(size: int) -> None:
    if size > TEXT_BYTES_MAX:
        hint = "Send smaller batches."
        raise SqlError("54000", "the strings of an Arrow batch are too long together", hint=hint)


def _shortened(array: pa.Array, kind: SqlType, length_max: int) -> pa.Array:
    """Return the strings of a varchar(n): spaces at the end may be too many."""
    is_long = pc.greater(pc.utf8_length(array), length_max)
    if _first(is_long) < 0:
        return array
    rows = pc.indices_nonzero(is_long).to_pylist()
    fitting = [_read(array[row].as_py(), kind, row) for row in rows]
    return pc.replace_with_mask(array, pc.fill_null(is_long, False), pa.array(fitting, pa.string()))


def _numbers(array: pa.Array, kind: SqlType) -> pa.Array:
    """Return the numbers of labels of an enum."""
    assert kind.enum is not None
    labels = kind.enum.labels
    places = pc.index_in(array, pa.array([label.text for label in labels], pa.string()))
    row = _first(pc.and_(places.is_null(), array.is_valid()))
    if row >= 0:
        _read(array[row].as_py(), kind, row)
    return pc.take(pa.array([label.number for label in labels], pa.int64()), places)


def _read(text: str, kind: SqlType, row: int) -> object:
    """Return the value of a text. Raises FieldError."""
    try:
        return input_value(text, kind, "UTC")
    except SqlError as error:
        raise FieldError(row, shown(text), error) from None
