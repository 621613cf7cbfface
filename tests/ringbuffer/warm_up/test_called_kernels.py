"""Set-up compiles the kernels that generated ones call, for the types of their arguments."""

from __future__ import annotations

import numba
import numpy as np

from ringbuffer.groups import aggregate_results, aggregates, hash_table
from ringbuffer.groups.aggregate_results import DecimalVariances
from ringbuffer.scalar.numbers import arithmetic
from ringbuffer.scalar.texts import text_functions
from ringbuffer.warm_up.called_kernels import called_kernels, declared_types

WORDS, PAIRS = np.zeros(4, dtype=np.int64), np.zeros((4, 2), dtype=np.int64)
SCALES, NULLS = np.zeros(4, dtype=np.int16), np.zeros(4, dtype=np.uint8)
# Kernels over bytes that may or may not be written to, which decoders call.
UNTOLD_MAX = 55


def test_types_are_those_of_arguments() -> None:
    variances = DecimalVariances(PAIRS, SCALES, NULLS, NULLS)
    for function, arguments in (
        (aggregate_results.bigint_sums, (WORDS, 1, 1, 1, 1, WORDS, NULLS)),
        (aggregate_results.decimal_sums, (WORDS, 1, 1, 1, 1, 1, PAIRS, SCALES, NULLS)),
        (aggregate_results.decimal_variances, (WORDS, 1, 1, 1, 1, 1, 1, True, variances)),
        (aggregates.add_square, (WORDS, 1, 1)),
        (arithmetic.add_int64, (1, 1)),
    ):
        assert declared_types(function) == tuple(map(numba.typeof, arguments)), function


def test_each_kernel_is_among_those_that_are_compiled() -> None:
    found = list(called_kernels())
    assert arithmetic.add_int64 in found and aggregates.text_key in found
    assert any(one.py_func.__module__ == text_functions.__name__ for one in found)
    # Of sizes: compiled with the view that has them.
    assert declared_types(hash_table.find_group) is None
    assert sum(declared_types(one) is None for one in found) <= UNTOLD_MAX
