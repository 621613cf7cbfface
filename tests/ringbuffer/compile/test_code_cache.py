"""Machine code that is not as it was written, or that others may have written, is made anew, with a
line in the log; it never runs.
"""

from __future__ import annotations

import os
import random
import shutil
import stat
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from ringbuffer.compile import code_cache
from ringbuffer.compile.code_cache import safe_place
from ringbuffer.compile.jit import sources_stamp

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


def load(folder: Path, start: int = 0, text: str = TEXT) -> int:
    """Load a kernel as a new process does; return what it computes."""
    safe_place.cache_clear()
    sources_stamp.cache_clear()
    path = folder / f"kept_{start}.py"
    path.write_text(text.format(start=start))
    module = ModuleType(f"kept_{start}")
    # numba asks for the module by name when it loads code.
    sys.modules[module.__name__] = module
    exec(compile(path.read_text(), str(path), "exec"), module.__dict__)  # noqa: S102
    kernel: Any = module.__dict__["total"]
    kernel.compile(f"int64({', '.join(TYPES)})")
    found = kernel(0, 3, DATA)
    del sys.modules[module.__name__]
    return int(found)


def kept(folder: Path, ending: str) -> list[Path]:
    return sorted((folder / "__pycache__").glob(f"*.{ending}"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assert load(tmp_path) == 7
    assert len(kept(tmp_path, "nbi")) == len(kept(tmp_path, "nbc")) == 1
    return tmp_path


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are written from now on."""
    written: list[str] = []
    write = code_cache.CheckedCacheFile._save_data

    def save(self: code_cache.CheckedCacheFile, name: str, data: object) -> None:
        written.append(name)
        write(self, name, data)

    monkeypatch.setattr(code_cache.CheckedCacheFile, "_save_data", save)
    return written


def test_what_is_whole_is_loaded(folder: Path, compiled: list[str]) -> None:
    assert load(folder) == 7
    assert compiled == []
    for path in (*kept(folder, "nbi"), *kept(folder, "nbc")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_flipped_bit_anywhere(
    ending: str, folder: Path, compiled: list[str], caplog: pytest.LogCaptureFixture, request: pytest.FixtureRequest
) -> None:
    caplog.set_level("INFO", logger="ringbuffer")
    (path,) = kept(folder, ending)
    whole = path.read_bytes()
    randomness = random.Random(request.config.getoption("--seed"))
    places = [0, len(whole) - 1, len(whole) - 36, *randomness.sample(range(len(whole)), 5)]
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << randomness.randrange(8)
        path.write_bytes(damaged)
        compiled.clear()
        caplog.clear()
        assert load(folder) == 7, place
        assert len(compiled) == 1 and "is made anew" in caplog.text, place
        assert len(path.read_bytes()) > 100 and load(folder) == 7 and len(compiled) == 1


@pytest.mark.turns(3)
@pytest.mark.parametrize("size", [0, 1, 39, 40, -1])
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_file_that_was_cut(ending: str, size: int, folder: Path, compiled: list[str]) -> None:
    (path,) = kept(folder, ending)
    path.write_bytes(path.read_bytes()[:size])
    assert load(folder) == 7 and len(compiled) == 1


def test_machine_code_of_another_kernel(folder: Path, compiled: list[str]) -> None:
    assert load(folder, 100) == 107
    zero, hundred = kept(folder, "nbc")
    shutil.copy(hundred, zero)
    compiled.clear()
    assert load(folder) == 7
    assert compiled == [zero.name]


def test_machine_code_of_older_sources(folder: Path, compiled: list[str]) -> None:
    """As after a crash between the two files."""
    (index,), (code,) = kept(folder, "nbi"), kept(folder, "nbc")
    old = code.read_bytes()
    assert load(folder, 0) == 7
    text = TEXT.replace("found += data[row]", "found += 2 * data[row]")
    assert load(folder, text=text) == 14
    code.write_bytes(old)
    assert load(folder, text=text) == 14
    assert index.exists()


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write(mode: int, folder: Path, compiled: list[str]) -> None:
    (path,) = kept(folder, "nbc")
    path.chmod(mode)
    assert load(folder) == 7 and len(compiled) == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o1777])
def test_others_lose_the_right_to_write_in_our_folder(mode: int, folder: Path, compiled: list[str]) -> None:
    made = folder / "__pycache__"
    made.chmod(mode)
    assert load(folder) == 7 and compiled == []
    assert not made.stat().st_mode & 0o022


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_file_of_somebody_else(
    ending: str, folder: Path, compiled: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    os.chown(kept(folder, ending)[0], 12345, 12345)
    assert load(folder) == 7 and len(compiled) == 1
    assert "another user may have written it" in caplog.text


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_folder_of_somebody_else(
    folder: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    os.chown(folder / "__pycache__", 12345, 12345)
    own = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("XDG_CACHE_HOME", str(own))
    before = [path.read_bytes() for path in kept(folder, "nbc")]
    assert load(folder) == 7 and len(compiled) == 1
    assert load(folder) == 7 and len(compiled) == 1, "it is kept where nobody else may write"
    assert len(list(own.rglob("*.nbc"))) == 1 and before == [path.read_bytes() for path in kept(folder, "nbc")]
    os.chown(own / "antumbra", 12345, 12345)
    assert load(folder) == 7 and load(folder) == 7 and len(compiled) == 1, "nowhere"


def test_a_folder_in_which_we_may_not_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """A container's code is root's, and its server is not."""
    request.addfinalizer(code_cache.safe_place.cache_clear)
    code, own = tmp_path / "code", tmp_path / "home"
    monkeypatch.setenv("XDG_CACHE_HOME", str(own))
    monkeypatch.setattr(os, "access", lambda path, mode: path != code)
    code_cache.safe_place.cache_clear()
    place = code_cache.safe_place(code)
    assert place is not None and place.is_relative_to(own)
