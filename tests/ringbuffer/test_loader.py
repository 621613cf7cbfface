"""Generated kernels as files: one per text, imported apart, compiled for exactly the types asked for."""

from __future__ import annotations

import gc
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest

from ringbuffer.loader import file_name, load_kernel, release_kernel

TEXT = """from ringbuffer.jit import kernel


@kernel
def total(start, end, data):
    found = {start}
    for row in range(start, end):
        found += data[row]
    return found
"""
TYPES = ("int64", "int64", "int64[::1]")


def test_a_kernel_runs_for_its_types_only(tmp_path: Path) -> None:
    kernel, path = load_kernel(tmp_path, "a view", TEXT.format(start=0), "total", TYPES)
    assert path == tmp_path / "a_view.py"
    assert kernel(0, 3, np.array([1, 2, 4])) == 7
    with pytest.raises(TypeError):
        kernel(0, 3, np.array([1.0, 2.0, 4.0]))


def test_two_files_do_not_share_code(tmp_path: Path) -> None:
    first, _ = load_kernel(tmp_path, "one", TEXT.format(start=0), "total", TYPES)
    second, _ = load_kernel(tmp_path, "two", TEXT.format(start=10), "total", TYPES)
    data = np.array([5])
    assert (first(0, 1, data), second(0, 1, data)) == (5, 15)


def test_the_second_load_finds_file_and_machine_code(tmp_path: Path) -> None:
    _, path = load_kernel(tmp_path, "again", TEXT.format(start=0), "total", TYPES)
    cached = sorted((tmp_path / "__pycache__").glob("again.total*"))
    assert cached
    written = path.stat().st_mtime_ns
    kernel, _ = load_kernel(tmp_path, "again", TEXT.format(start=0), "total", TYPES)
    assert path.stat().st_mtime_ns == written
    assert sorted((tmp_path / "__pycache__").glob("again.total*")) == cached
    assert kernel(0, 0, np.zeros(0, dtype=np.int64)) == 0


def test_a_released_kernel_can_be_called_until_it_is_let_go(tmp_path: Path) -> None:
    kernel, path = load_kernel(tmp_path, "gone", TEXT.format(start=0), "total", TYPES)
    gone = weakref.ref(kernel)
    held = release_kernel(kernel)
    assert not any(name.endswith(path.stem) for name in sys.modules)
    assert kernel(0, 3, np.array([1, 2, 4])) == 7
    del kernel, held
    gc.collect()
    assert gone() is None
    kernel, _ = load_kernel(tmp_path, "gone", TEXT.format(start=0), "total", TYPES)
    assert kernel(0, 3, np.array([1, 2, 4])) == 7


def test_names_are_safe() -> None:
    assert file_name('../we "ird" ö') == "___we__ird___"
    assert len(file_name("x" * 1000)) == 100
