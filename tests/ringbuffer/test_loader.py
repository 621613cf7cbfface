"""Generated kernels as files: one per text, imported apart, compiled for exactly the types asked for."""

from __future__ import annotations

import gc
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest

from ringbuffer.kernel_text import KernelTextError
from ringbuffer.loader import load_kernel, release_kernel

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
    kernel, path = load_kernel(tmp_path, "a_view", TEXT.format(start=0), "total", TYPES)
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


def test_a_kernel_that_two_have_loaded_stays_when_one_lets_go(tmp_path: Path) -> None:
    first, path = load_kernel(tmp_path, "shared", TEXT.format(start=3), "total", TYPES)
    second, same_path = load_kernel(tmp_path, "shared", TEXT.format(start=3), "total", TYPES)
    third, _ = load_kernel(tmp_path, "shared", TEXT.format(start=3), "total", TYPES)
    assert path == same_path
    held = [release_kernel(first), release_kernel(third)]
    del first, third, held
    gc.collect()
    assert second(0, 3, np.array([1, 2, 4])) == 10


def test_the_text_on_the_disk_is_not_what_runs(tmp_path: Path) -> None:
    _, path = load_kernel(tmp_path, "changed", TEXT.format(start=0), "total", TYPES)
    path.write_text(TEXT.format(start=1_000))
    compiled = tmp_path / "__pycache__"
    assert not list(compiled.glob("*.pyc")), "nobody else's code can be put there"
    kernel, _ = load_kernel(tmp_path, "changed", TEXT.format(start=0), "total", TYPES)
    assert kernel(0, 1, np.array([1])) == 1
    assert path.read_text() == TEXT.format(start=0)


@pytest.mark.parametrize(
    "line",
    [
        "import os",
        "from os import path",
        "found = 'text'",
        "open(1)",
        "found.read(1)",
        "found = lambda: 1",
        "while 1:pass",
    ],
)
def test_what_no_kernel_has_is_not_run(line: str, tmp_path: Path) -> None:
    with pytest.raises(KernelTextError):
        load_kernel(tmp_path, "hostile", TEXT.format(start=f"0\n    {line}"), "total", TYPES)
    with pytest.raises(KernelTextError):
        load_kernel(tmp_path, "hostile", f"{line}\n{TEXT.format(start=0)}", "total", TYPES)
    assert not list(tmp_path.iterdir())
