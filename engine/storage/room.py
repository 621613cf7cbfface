"""How much a file may still grow: what its disk has left, and what the system lets a file take."""

from __future__ import annotations

import os
import resource
from pathlib import Path


def room_bytes(file: Path) -> int:
    """Return by how many bytes a file, which exists, may grow. Raises OSError."""
    disk = os.statvfs(file)
    free = disk.f_bavail * disk.f_frsize
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return free if limit == resource.RLIM_INFINITY else min(free, limit - file.stat().st_size)
