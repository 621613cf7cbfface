"""Generated kernels as files: one per text, loaded apart, compiled for exactly the types asked for,
gone when nobody holds them.
"""

from __future__ import annotations

import ctypes
import gc
import resource
import stat
import weakref
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from ringbuffer.compile.kernel_code import KernelCode
from ringbuffer.compile.kernel_text import KernelTextError
from ringbuffer.compile.loader import CODE_SUFFIX, load_c_function, load_kernel

pytestmark = pytest.mark.compiles

TEXT = """from ringbuffer.compile.jit import kernel


@kernel
def total(start, end, data):
    found = {start}
    for row in range(start, end):
        found += data[row]
    return found
"""
TYPES = ("int64", "int64", "int64[::1]")
DATA = np.array([1, 2, 4])


def not_compiled(name: str, text: str, function: str, types: Sequence[str]) -> KernelCode:
    raise AssertionError(f"{name} is compiled again")


def test_a_kernel_runs_for_its_types_only(tmp_path: Path) -> None:
    kernel, path = load_kernel(tmp_path, "a_view", TEXT.format(start=0), "total", TYPES)
    assert path == tmp_path / "a_view.py"
    assert kernel(0, 3, DATA) == 7
    assert kernel.entry_for(0, 3, DATA)(0, 3, DATA) == 7
    for other in (np.array([1.0, 2.0, 4.0]), DATA.astype(np.int32), np.arange(6)[::2], 5, None):
        with pytest.raises(TypeError):
            kernel(0, 3, other)
        with pytest.raises(TypeError):
            kernel.entry_for(0, 3, other)
    with pytest.raises(TypeError):
        kernel(0, 3)


def test_two_files_do_not_share_code(tmp_path: Path) -> None:
    first, _ = load_kernel(tmp_path, "one", TEXT.format(start=0), "total", TYPES)
    second, _ = load_kernel(tmp_path, "two", TEXT.format(start=10), "total", TYPES)
    data = np.array([5])
    assert (first(0, 1, data), second(0, 1, data)) == (5, 15)


def test_what_has_the_same_text_is_loaded_once(tmp_path: Path) -> None:
    first, _ = load_kernel(tmp_path, "one", TEXT.format(start=0), "total", TYPES)
    second, _ = load_kernel(tmp_path, "one", TEXT.format(start=0), "total", TYPES)
    assert first is second


def test_the_second_load_finds_file_and_machine_code(tmp_path: Path) -> None:
    kernel, path = load_kernel(tmp_path, "again", TEXT.format(start=0), "total", TYPES)
    beside = path.with_suffix(CODE_SUFFIX)
    written = [file.stat().st_mtime_ns for file in (path, beside)]
    assert sorted(tmp_path.iterdir()) == [beside, path]
    del kernel
    kernel, _ = load_kernel(tmp_path, "again", TEXT.format(start=0), "total", TYPES, not_compiled)
    assert [file.stat().st_mtime_ns for file in (path, beside)] == written
    assert kernel(0, 0, np.zeros(0, dtype=np.int64)) == 0


def test_code_that_others_may_have_written_is_made_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    kernel, path = load_kernel(tmp_path, "written", TEXT.format(start=0), "total", TYPES)
    beside = path.with_suffix(CODE_SUFFIX)
    assert [stat.S_IMODE(file.stat().st_mode) for file in (path, beside)] == [0o600, 0o600]
    for mode in (0o620, 0o602, 0o666):
        beside.chmod(mode)
        del kernel
        caplog.clear()
        kernel, _ = load_kernel(tmp_path, "written", TEXT.format(start=0), "total", TYPES)
        assert kernel(0, 3, DATA) == 7
        assert "another user may have written it" in caplog.text
        assert stat.S_IMODE(beside.stat().st_mode) == 0o600


def test_code_that_is_damaged_or_of_another_text_is_made_anew(tmp_path: Path) -> None:
    def load(start: int) -> int:
        kernel, _ = load_kernel(tmp_path, "flipped", TEXT.format(start=start), "total", TYPES)
        found = kernel(0, 3, DATA)
        del kernel
        load_kernel(tmp_path, "flipped", TEXT.format(start=start), "total", TYPES, not_compiled)
        return found

    assert load(0) == 7
    beside = tmp_path / f"flipped{CODE_SUFFIX}"
    whole = beside.read_bytes()
    places = range(0, len(whole), max(1, len(whole) // 20))
    for place in places:
        beside.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert load(0) == 7
    for cut in (b"", whole[:20], whole[:-1], whole + b"\0", bytes(len(whole))):
        beside.write_bytes(cut)
        assert load(0) == 7
    assert load(10) == 17
    beside.write_bytes(whole)
    assert load(10) == 17


@pytest.mark.slow
def test_a_kernel_goes_with_its_machine_code_when_nobody_holds_it(tmp_path: Path) -> None:
    kernel, _ = load_kernel(tmp_path, "gone", TEXT.format(start=0), "total", TYPES)
    gone, entry = weakref.ref(kernel), kernel.entry
    del kernel
    assert gone() is None
    # Who is calling the code holds it.
    assert entry(0, 3, DATA) == 7
    del entry

    def load() -> None:
        load_kernel(tmp_path, "gone", TEXT.format(start=0), "total", TYPES, not_compiled)

    for _ in range(50):
        load()
    before = memory_kib()
    for _ in range(150):
        load()
    # numba's own engine kept some hundred kB of each.
    assert memory_kib() - before < 3000


def memory_kib() -> int:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 1024


def test_the_text_on_the_disk_is_not_what_runs(tmp_path: Path) -> None:
    _, path = load_kernel(tmp_path, "changed", TEXT.format(start=0), "total", TYPES)
    path.write_text(TEXT.format(start=1_000))
    assert not list(tmp_path.rglob("*.pyc")), "nobody else's code can be put there"
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


def test_a_function_for_c_whose_code_nobody_keeps(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A caller from C can't be told that a disk is full."""
    folder = tmp_path / "file"
    folder.write_bytes(b"")
    text = TEXT.format(start=0).replace("data[row]", "row + data")
    address = load_c_function(folder, "words", text, "total", 3)
    assert ctypes.CFUNCTYPE(*[ctypes.c_int64] * 4)(address)(1, 3, 10) == 23
    assert "machine code is not kept" in caplog.text
