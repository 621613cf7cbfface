"""The kernel cache must notice a change in any file that a kernel reaches, and intrinsics must do
what their names say.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from ringbuffer.compile import jit
from ringbuffer.compile.jit import entry_of, kernel, sources_stamp
from ringbuffer.memory.addresses import (
    atomic_add,
    bits_of_float,
    copy_bytes,
    float_from_bits,
    load_acquire,
    multiply_unsigned,
    store_release,
)


@kernel
def exercise(words: np.ndarray[tuple[int], np.dtype[np.int64]]) -> tuple[int, int, int, float]:
    """-> (word before an addition, word after it, high word of 2^63 * 6, 1.5 through its bits);
    words int64[4].
    """
    address = words.ctypes.data
    store_release(address, 5)
    before = atomic_add(address, 3)
    copy_bytes(address + 8, address, 8)
    _, high = multiply_unsigned(np.uint64(1 << 63), np.uint64(6))
    return before, load_acquire(address + 8), high, float_from_bits(bits_of_float(1.5))


def test_intrinsics() -> None:
    assert exercise(np.zeros(4, dtype=np.int64)) == (5, 8, 3, 1.5)


def test_stamp_covers_imports(tmp_path: Path, monkeypatch: object) -> None:
    stamp = sources_stamp(Path(exercise.__code__.co_filename) if hasattr(exercise, "__code__") else Path(__file__))
    assert stamp == sources_stamp(Path(__file__))
    file = tmp_path / "generated.py"
    file.write_text("from ringbuffer.memory.addresses import copy_bytes\n")
    with_memory = sources_stamp(file)
    sources_stamp.cache_clear()
    file.write_text(
        "from ringbuffer.memory.addresses import copy_bytes\nfrom ringbuffer.scalar.numbers.fields import parse_bool\n"
    )
    assert sources_stamp(file) != with_memory
    # A module that is imported by its room is one of them, too.
    sources_stamp.cache_clear()
    file.write_text("from ringbuffer.memory import addresses\n")
    assert jit._imported(file.read_text()) == ["memory.addresses"]


def test_the_stamp_is_in_use() -> None:
    assert exercise._cache._cache_file._source_stamp == sources_stamp(Path(__file__))  # type: ignore[attr-defined]


@kernel
def doubled(value: int) -> int:
    """-> twice the value."""
    return 2 * value


def test_constants_do_not_make_kernels_of_their_own() -> None:
    typing: Any = doubled
    types: Any = numba.types
    for constant in (3, 4):
        typing.get_call_template((types.literal(constant),), {})
    assert [str(kind) for (kind,) in typing.signatures] == ["int64"]


@kernel
def _sum_from(values: npt.NDArray[np.int64], start: int) -> int:
    total = 0
    for index in range(start, values.shape[0]):
        total += values[index]
    return total


def test_an_entry_is_the_kernel_for_arguments_of_the_same_types() -> None:
    entry = entry_of(_sum_from, np.zeros(1, dtype=np.int64), 0)
    for count in (0, 1, 1000):
        values = np.arange(count, dtype=np.int64)
        assert entry(values, 1) == _sum_from(values, 1) == sum(range(1, count))
