"""Arithmetic of floats and shifts of integers on whole columns, with PostgreSQL's errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from engine.embedded.arrow_numerics import one_array
from engine.embedded.error_mark import marked
from engine.embedded.functions import scalar as scalar_functions
from sql.errors import SqlError

ArrowFunction = Callable[..., pa.Array]


def integer_shift(bits: int, is_left: bool) -> ArrowFunction:
    """Return << or >> of an integer type: by bits modulo 32 or 64, without overflow."""
    modulus = 64 if bits == 64 else 32

    def run(value: pa.ChunkedArray, amount: pa.ChunkedArray) -> pa.Array:
        numbers, amounts = one_array(value), one_array(amount)
        nulls = numbers.is_null().to_numpy(zero_copy_only=False) | amounts.is_null().to_numpy(zero_copy_only=False)
        wide = numbers.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64 if bits == 64 else np.int32)
        places = (amounts.fill_null(0).to_numpy(zero_copy_only=False) % modulus).astype(wide.dtype)
        moved = np.left_shift(wide, places) if is_left else np.right_shift(wide, places)
        return pa.array(moved.astype(f"int{bits}"), mask=nulls)

    return run


def float_arithmetic(name: str, dtype: type[np.floating[Any]]) -> ArrowFunction:
    """Return float arithmetic that raises for new infinities, vanishing results, and x / 0."""
    ufunc = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}[name]

    def run(left: pa.ChunkedArray, right: pa.ChunkedArray) -> pa.Array:
        first, second = one_array(left), one_array(right)
        nulls = np.zeros(len(first), bool)
        for operand in (first, second):
            if operand.null_count:
                nulls |= operand.is_null().to_numpy(zero_copy_only=False)
        x = first.to_numpy(zero_copy_only=False).astype(dtype, copy=False)
        y = second.to_numpy(zero_copy_only=False).astype(dtype, copy=False)
        with np.errstate(all="ignore"):
            result = ufunc(x, y)
        valid = ~nulls
        if name == "divide" and np.any(valid & (y == 0) & ~np.isnan(x)):
            raise ValueError(marked(SqlError("22012", "division by zero")))
        if np.any(valid & np.isinf(result) & ~np.isinf(x) & ~np.isinf(y)):
            raise ValueError(marked(scalar_functions.overflow()))
        if name in ("multiply", "divide"):
            vanished = valid & (result == 0) & (x != 0)
            vanished &= (y != 0) if name == "multiply" else ~np.isinf(y)
            if np.any(vanished):
                raise ValueError(marked(scalar_functions.underflow()))
        return pa.array(result, mask=nulls)

    return run
