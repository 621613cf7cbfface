"""Kernels that were compiled by an earlier test, or by an earlier run, are not compiled again.

Code is kept in pytest's cache folder by its stamp, which tells text, imported sources, types,
versions and processor. Servers under test find it there, too, in the folder that the variable
KEPT_KERNELS names. Files whose subject is compiling are marked `compiles`: for them nothing is
kept.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

if TYPE_CHECKING:
    import pytest

UNUSED_S_MAX = 3 * 24 * 3600.0
VARIABLE = "KEPT_KERNELS"


def kernels_folder(config: pytest.Config) -> Path:
    """Return the folder of what this version of the compiler has made."""
    import ringbuffer.compile

    digest = hashlib.sha256()
    for path in sorted(Path(next(iter(ringbuffer.compile.__path__))).glob("*.py")):
        digest.update(path.read_bytes())
    assert config.cache is not None
    return config.cache.mkdir("kernels") / digest.hexdigest()[:16]


@contextmanager
def kept_kernels(folder: Path) -> Iterator[None]:
    """Let all databases of this process keep compiled kernels in a folder, and find them there."""
    from ringbuffer.compile import loader
    from ringbuffer.compile.kernel_code import KernelCode, from_bytes, to_bytes

    known_code = loader._known_code

    def known(path: Path, stamp: bytes) -> KernelCode | None:
        found = known_code(path, stamp)
        kept = folder / stamp.hex()
        if found is not None or not kept.is_file():
            return found
        kept.touch()
        data = kept.read_bytes()
        loader._write(path.with_suffix(loader.CODE_SUFFIX), data)
        return from_bytes(data, stamp)

    def keep(code: KernelCode, stamp: bytes) -> bytes:
        data = to_bytes(code, stamp)
        loader._write(folder / stamp.hex(), data)
        return data

    with patch.object(loader, "_known_code", known), patch.object(loader, "to_bytes", keep):
        yield


def remove_unused(folder: Path) -> None:
    """Delete what no run has used for days, and what other versions of the compiler have made."""
    for path in folder.parent.glob("*/*"):
        # Another run may put it elsewhere meanwhile.
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < time.time() - UNUSED_S_MAX:
                path.unlink()
