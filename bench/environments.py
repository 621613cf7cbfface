"""Environments of packages that are none of Antumbra's own: peers of the race, clients of tests.

Enters: a file of pinned packages. Leaves: the Python of an environment with exactly these, made
where it is not there or of other packages.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
STAMP = "packages.txt"
INSTALL_S_MAX = 900


class PackagesError(Exception):
    """Packages cannot be installed."""


def python_with(packages: Path, folder: Path) -> Path:
    """Return the Python of the environment in `folder`. Raises PackagesError."""
    stamp, python = folder / STAMP, folder / "bin" / "python"
    if stamp.is_file() and stamp.read_text() == packages.read_text():
        return python
    print(f"installing {packages.stem} into {folder.relative_to(TREE)}", file=sys.stderr, flush=True)
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-input"]
    for command in (
        [sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)],
        [*pip, "--disable-pip-version-check", "-r", str(packages)],
    ):
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALL_S_MAX)
        except subprocess.CalledProcessError as error:
            raise PackagesError(f"its packages cannot be installed: {last_line(error.stderr)}") from error
        except subprocess.TimeoutExpired as error:
            raise PackagesError(f"its packages were not there after {INSTALL_S_MAX} s") from error
    stamp.write_text(packages.read_text())
    return python


def last_line(text: str) -> str:
    """Return what an error says."""
    return text.strip().rpartition("\n")[2]
