"""The registration of our own functions in DuckDB: once per database, an Arrow column per argument.

Scalar functions are strict in NULL; float arithmetic runs on whole numpy columns. Errors carry
their SQLSTATE through DuckDB in the texts of `error_mark`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from duckdb.func import FunctionNullHandling, PythonUDFType
from duckdb.sqltypes import DuckDBPyType

from engine.embedded import decimals
from engine.embedded.arrow_numerics import (
    decimal_array,
    decimal_integers,
    has_specials,
    numeric_array,
    numeric_rows,
    one_array,
)
from engine.embedded.c_interface import opened_database
from engine.embedded.error_mark import marked
from engine.embedded.functions import special_numerics
from engine.embedded.functions.growing import Limited, limited, texts_fit, texts_joined, texts_separated
from engine.embedded.functions.kernels import KERNELS
from engine.embedded.functions.math import NULL_MATH_SPECIFICATIONS
from engine.embedded.functions.routines import KEY, VARIABLE, registered
from engine.embedded.functions.series import SERIES_FUNCTIONS
from engine.embedded.functions.special_numerics import SPECIAL_FUNCTIONS
from engine.embedded.functions.sums import LIST_AGGREGATES
from engine.embedded.functions.type import (
    COLUMN_SPECIFICATIONS,
    INTERVAL_TYPE,
    TYPE_SPECIFICATIONS,
    ZONED_TIME_TYPE,
    interval_array,
    interval_rows,
    zoned_time_array,
    zoned_time_rows,
)
from engine.embedded.kernel_functions import kernel_functions
from engine.embedded.patterns.batches import in_batches
from engine.embedded.value_limits import ROWS_SHARE, VALUES_BYTES_MAX, rows_too_wide, too_long
from engine.scheduler.collecting import collecting_later
from sql.errors import SqlError
from sql.functions.texts import JOINED_MAX

KEY_FIELDS = [
    pa.field("whole", pa.decimal128(38, 0)),
    pa.field("high", pa.decimal128(19, 0)),
    pa.field("low", pa.decimal128(19, 0)),
]
# Bytes of a column that become Python's values at once.
COLUMN_BYTES_MAX = 1 << 22
POSITIONAL = inspect.Parameter.POSITIONAL_ONLY

# The types that have been read, by their names.
TYPES: dict[str, DuckDBPyType] = {}

Scalar = Callable[..., Any]
ArrowFunction = Callable[..., pa.Array]


def open_database(path: str, config: dict[str, Any], bytes_max: int = VALUES_BYTES_MAX) -> duckdb.DuckDBPyConnection:
    """Return a connection to a new database with the functions that are kernels."""
    with opened_database(path, config) as (connection, functions):
        kernel_functions().register(functions, KERNELS, bytes_max)
    return connection


def register_functions(connection: duckdb.DuckDBPyConnection, bytes_max: int = VALUES_BYTES_MAX) -> None:
    """Make every function known that is Python; `bytes_max` bounds the texts of one call for a
    batch of rows.
    """
    for name, arguments, result, function in SPECIFICATIONS:
        _register(
            connection,
            name,
            arguments,
            result,
            rows_of(function, arguments, result, bytes_max, special=SPECIAL_FUNCTIONS.get(name)),
        )
    for one in registered():
        run = rows_of(one.function, one.arguments, one.result, bytes_max, one.is_strict, one.special)
        if one.takes_run:
            _register(connection, one.name, [*one.arguments, "BIGINT"], one.result, in_batches(one.ahead, run))
        else:
            _register(connection, one.name, one.arguments, one.result, run, one.is_volatile)
    for name, arguments, result, function in NULL_MATH_SPECIFICATIONS:
        run = rows_of(function, arguments, result, bytes_max, strict=False, special=SPECIAL_FUNCTIONS[name])
        _register(connection, name, arguments, result, run)
    for n in range(2, JOINED_MAX + 1):
        _register(connection, f"texts_joined_{n}", ["VARCHAR[]"], _TEXT, texts_joined(bytes_max))
    for name, width_max, refusal in (("texts", bytes_max, too_long), ("rows", ROWS_SHARE * bytes_max, rows_too_wide)):
        _register(connection, f"wide_{name}_fit", ["BIGINT"], "BOOLEAN", texts_fit(width_max, refusal), volatile=True)
    _register(connection, "texts_separated", [_TEXT, "VARCHAR[]"], _TEXT, texts_separated(bytes_max))
    for name, arguments, result, function in TYPE_SPECIFICATIONS:
        _register(connection, name, arguments, result, row_by_row(function, arguments, result))
    for name, arguments, result, columns_function in (*COLUMN_SPECIFICATIONS, *LIST_AGGREGATES, *SERIES_FUNCTIONS):
        _register(connection, name, arguments, result, columns_function)
    for name, keep_larger in (("numeric_greatest", True), ("numeric_least", False)):
        _register(connection, name, [VARIABLE] * 2, VARIABLE, numeric_extreme(keep_larger))


def _register(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    arguments: Sequence[str],
    result: str,
    function: ArrowFunction,
    volatile: bool = False,
) -> None:
    setattr(function, "__signature__", signature_of(len(arguments)))  # noqa: B010
    connection.create_function(
        name,
        function,
        [type_of(connection, argument) for argument in arguments],
        type_of(connection, result),
        type=PythonUDFType.ARROW,
        null_handling=FunctionNullHandling.SPECIAL,
        side_effects=volatile,
    )


@cache
def signature_of(arguments_count: int) -> inspect.Signature:
    """Return what tells DuckDB how many arguments a function has: it counts the parameters that a
    signature declares, and *columns declares one.
    """
    return inspect.Signature([inspect.Parameter(f"column_{index}", POSITIONAL) for index in range(arguments_count)])


def type_of(connection: duckdb.DuckDBPyConnection, name: str) -> DuckDBPyType:
    """Return one of DuckDB's types; to read a name takes as long as to make a function known."""
    found = TYPES.get(name)
    if found is None:
        found = TYPES[name] = connection.dtype(name)
    return found


def rows_of(
    function: Scalar,
    arguments: Sequence[str],
    result: str,
    bytes_max: int,
    strict: bool = True,
    special: Scalar | None = None,
) -> ArrowFunction:
    """Return `row_by_row` with its results for NaN and the infinities, and its limit for a
    batch.
    """
    assert special is not None or VARIABLE not in arguments, function
    return row_by_row(limited(function, result, bytes_max), arguments, result, strict, special)


def row_by_row(
    function: Scalar | Limited,
    arguments: Sequence[str],
    result: str,
    strict: bool = True,
    special: Scalar | None = None,
) -> ArrowFunction:
    """Return a scalar function as one over Arrow columns; a strict function does not see NULLs.

    special: is called instead for rows in which a numeric is NaN or an infinity.
    """
    readers, writer = [_reader(argument) for argument in arguments], _writer(result)
    numerics = [place for place, argument in enumerate(arguments) if argument == VARIABLE]

    def run(*columns: pa.ChunkedArray) -> pa.Array:
        arrays = [one_array(column) for column in columns]
        plain = function.begin() if isinstance(function, Limited) else function
        call = plain
        if special is not None and any(has_specials(arrays[place]) for place in numerics):
            call = either(plain, special, numerics)
        rows = zip(*(read(array) for read, array in zip(readers, arrays, strict=True)), strict=True)
        try:
            with collecting_later():
                return writer([None if strict and None in row else call(*row) for row in rows])
        except SqlError as error:
            failed = marked(error)
        # DuckDB tries a constant a dozen times, and the frames of an exception hold the columns.
        columns, arrays = (), []
        del rows, plain, call
        raise ValueError(failed)

    return run


def either(function: Scalar, special: Scalar, numerics: Sequence[int]) -> Scalar:
    """Return `function`, but `special` where an operand among `numerics` is NaN or an infinity."""

    def run(*row: Any) -> Any:
        found = any(row[place] is not None and special_numerics.is_special(row[place]) for place in numerics)
        return special(*row) if found else function(*row)

    return run


def _reader(kind: str) -> Callable[[pa.Array], Iterable[Any]]:
    if kind == VARIABLE:
        return numeric_rows
    if kind.startswith("DECIMAL"):
        return decimal_integers
    if kind == INTERVAL_TYPE:
        return interval_rows
    if kind == ZONED_TIME_TYPE:
        return zoned_time_rows
    if kind == "DATE":
        return lambda column: column.view(pa.int32()).to_pylist()
    if kind.startswith("TIMESTAMP"):
        return lambda column: column.view(pa.int64()).to_pylist()
    return values_of


def values_of(column: pa.Array) -> Iterable[Any]:
    """Return the values of a column; long values are made one after the other, not all at once."""
    return column.to_pylist() if column.nbytes <= COLUMN_BYTES_MAX else (value.as_py() for value in column)


def _writer(kind: str) -> Callable[[list[Any]], pa.Array]:
    if kind == VARIABLE:
        return numeric_array
    if kind == KEY:
        return _key_array
    if kind == INTERVAL_TYPE:
        return interval_array
    if kind == ZONED_TIME_TYPE:
        return zoned_time_array
    if kind == f"{VARIABLE}[]":
        return numeric_lists
    if kind.startswith("DECIMAL"):
        precision, scale = (int(part) for part in kind[8:-1].split(","))
        return lambda values: decimal_array(values, precision, scale)
    arrow = ARROW_TYPES[kind]
    return lambda values: pa.array(values, arrow)


ARROW_TYPES = {
    "BOOLEAN": pa.bool_(),
    "SMALLINT": pa.int16(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "VARCHAR": pa.string(),
    "DATE": pa.date32(),
    "TIMESTAMPTZ": pa.timestamp("us", "UTC"),
    "BLOB": pa.binary(),
    "VARCHAR[]": pa.list_(pa.string()),
    "VARCHAR[][]": pa.list_(pa.list_(pa.string())),
    "BIGINT[]": pa.list_(pa.int64()),
}


def _key_array(rows: list[tuple[int, int, int] | None]) -> pa.Array:
    parts = [
        decimal_array([None if row is None else row[index] for row in rows], field.type.precision, 0)
        for index, field in enumerate(KEY_FIELDS)
    ]
    return pa.StructArray.from_arrays(
        parts, fields=KEY_FIELDS, mask=pa.array([row is None for row in rows], pa.bool_())
    )


def numeric_lists(rows: list[list[decimals.Numeric] | None]) -> pa.Array:
    """Return lists of variable numerics."""
    offsets = np.cumsum([0, *(len(row or ()) for row in rows)], dtype=np.int32)
    values = numeric_array([value for row in rows for value in row or ()])
    mask = pa.array([row is None for row in rows], pa.bool_())
    return pa.ListArray.from_arrays(pa.array(offsets), values, mask=mask)


def numeric_extreme(keep_larger: bool) -> ArrowFunction:
    """Return GREATEST or LEAST of two variable numerics; a NULL doesn't count."""

    def choose(left: decimals.Numeric | None, right: decimals.Numeric | None) -> decimals.Numeric | None:
        if left is None or right is None:
            return right if left is None else left
        specials = special_numerics.is_special(left) or special_numerics.is_special(right)
        order = (special_numerics if specials else decimals).compare(left, right)
        return left if order == 0 or (order > 0) == keep_larger else right

    def run(left: pa.ChunkedArray, right: pa.ChunkedArray) -> pa.Array:
        pairs = zip(numeric_rows(one_array(left)), numeric_rows(one_array(right)), strict=True)
        return numeric_array([choose(first, second) for first, second in pairs])

    return run


_TEXT = "VARCHAR"
SPECIFICATIONS: list[tuple[str, list[str], str, Scalar]] = [
    ("numeric_finite", [VARIABLE, _TEXT], VARIABLE, lambda value, type_name: value),
    ("numeric_limited_from_text", [_TEXT, "INTEGER", "INTEGER"], VARIABLE, decimals.limited_from_text),
]
