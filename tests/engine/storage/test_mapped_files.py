"""Memory of files without names."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from engine.storage.mapped_files import map_new_file
from ringbuffer.memory.spilled_memory import leave

SIZE = 1 << 17


def test_files_take_no_descriptors(tmp_path: Path) -> None:
    """A server with many views has thousands of them, and its clients need descriptors too."""
    before = len(os.listdir("/proc/self/fd"))
    memories = [map_new_file(tmp_path, SIZE) for _ in range(20)]
    assert len(os.listdir("/proc/self/fd")) == before and not list(tmp_path.iterdir())
    for number, memory in enumerate(memories):
        array = np.frombuffer(memory, np.uint8)
        assert not array.any()
        array.fill(number)
        leave(array)
        assert (array == number).all()


def test_the_memory_ends_with_its_last_array(tmp_path: Path) -> None:
    def mapped() -> int:
        return Path("/proc/self/maps").read_text().count(str(tmp_path))

    array = np.frombuffer(map_new_file(tmp_path, SIZE), np.uint8)
    assert mapped() == 1
    del array
    assert mapped() == 0
