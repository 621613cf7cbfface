"""The folder of generated kernels: which of its files still belong to a view.

Enters: the views that exist. Leaves: a folder without the files of others, among them the machine code that numba keeps beside them.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def remove_unused(folder: Path, used: Iterable[Path]) -> int:
    """Delete every file in `folder` that is not one of `used` or its compiled form; return how many."""
    stems = {path.stem for path in used}
    removed = 0
    for path in (*folder.glob("*.*"), *folder.glob("__pycache__/*.*")):
        if path.name.partition(".")[0] in stems or path.is_dir():
            continue
        path.unlink(missing_ok=True)
        removed += 1
    return removed
