"""Files whose contents are memory that the system may write out and take back.

They have no names, are not synced, and end with the process.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ringbuffer.memory.spilled_memory import MappedFile


def map_new_file(folder: Path, size: int) -> MappedFile:
    """Return a new file of so many zeros, for which the disk has room. Raises OSError."""
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        # A full disk would end the process when the memory is written.
        os.posix_fallocate(file.fileno(), 0, size)
        return MappedFile(file.fileno(), size)
