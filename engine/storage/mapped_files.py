"""Files whose contents are memory that the system may write out and take back.

They have no names, are not synced, and end with their memory.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import tempfile
from pathlib import Path

import numpy as np

from ringbuffer.memory.spilled_memory import MappedFile

# Of <sys/mman.h>: the memory is to be where it is.
MAP_FIXED = 0x10

map_memory = ctypes.CDLL(None, use_errno=True).mmap
map_memory.restype = ctypes.c_void_p
map_memory.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]


def map_new_file(folder: Path, size: int) -> MappedFile:
    """Return a new file of so many zeros, for which the disk has room. Raises OSError."""
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        # A full disk would end the process when the memory is written.
        os.posix_fallocate(file.fileno(), 0, size)
        # Python keeps a descriptor for as long as it has mapped a file; there are many of them.
        memory = MappedFile(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        address = np.frombuffer(memory, np.uint8).ctypes.data
        access = mmap.PROT_READ | mmap.PROT_WRITE
        if map_memory(address, size, access, mmap.MAP_SHARED | MAP_FIXED, file.fileno(), 0) != address:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return memory
