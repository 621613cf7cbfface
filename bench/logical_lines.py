"""Counts the logical lines of each room: `python -m bench.logical_lines [commit ...]`.

Without a commit, those of the tree.

A logical line is one statement of Python, whatever lines it is written on. Docstrings, comments,
imports and blank lines are none.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("engine", "views", "sql", "ringbuffer")


def logical_lines(source: str) -> int:
    """Return how many statements a module has, those within others included."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Module | ast.stmt)]
    documented = [
        node for node in nodes if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    docstrings = {id(node.body[0]) for node in documented if ast.get_docstring(node, clean=False) is not None}
    statements = (node for node in nodes if isinstance(node, ast.stmt) and id(node) not in docstrings)
    return sum(1 for node in statements if not isinstance(node, ast.Import | ast.ImportFrom))


def room_of(path: str) -> str:
    """Return the room of a file: its package and the folder in it, if it lies in one."""
    package, *within = Path(path).parts
    return f"{package}/{within[0]}" if len(within) > 1 else package


def sources(commit: str | None) -> Iterator[tuple[str, str]]:
    """Yield path and text of each Python file of the packages. commit: as git names it; None: of
    the tree as it lies there.
    """
    if commit is None:
        for package in PACKAGES:
            for path in sorted((ROOT / package).rglob("*.py")):
                yield str(path.relative_to(ROOT)), path.read_text()
        return
    listed = git("ls-tree", "-r", "--name-only", commit, *PACKAGES)
    for name in listed.splitlines():
        if name.endswith(".py"):
            yield name, git("show", f"{commit}:{name}")


def git(*arguments: str) -> str:
    """Return what git says."""
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def rooms(commit: str | None = None) -> Counter[str]:
    """Return the logical lines of each room."""
    found: Counter[str] = Counter()
    for path, source in sources(commit):
        found[room_of(path)] += logical_lines(source)
    return found


def main(commits: list[str]) -> None:
    """Print one column per commit, and one of the tree where none is given."""
    columns = [rooms(commit) for commit in commits] or [rooms()]
    for room in sorted(set().union(*columns)):
        print(f"{room:30}", *(f"{column[room]:7}" for column in columns))
    for package in PACKAGES:
        sums = [sum(count for room, count in column.items() if room.split("/")[0] == package) for column in columns]
        print(f"{package + ', all':30}", *(f"{count:7}" for count in sums))
    print(f"{'all':30}", *(f"{column.total():7}" for column in columns))


if __name__ == "__main__":
    main(sys.argv[1:])
