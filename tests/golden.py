"""Data files: SQL, and what was made of it when the file was written, in lines that begin with a
bar.

Blocks are divided by empty lines. `pytest -m golden --rewrite` writes what is made of the SQL today
into the files; the diff is the review. What is kept here is a copy, never an answer: answers are
PostgreSQL's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from sql.errors import SqlError

Made = Callable[[str], Iterable[str]]


@dataclass(frozen=True)
class Block:
    """One text of a file, and the lines that belong to it."""

    sql: str
    made: tuple[str, ...]

    def text(self) -> str:
        """Return the block as the file holds it."""
        return "\n".join([self.sql, *(f"| {line}".rstrip() for line in self.made)]) + "\n"


def blocks(path: Path) -> list[Block]:
    """Return the blocks of a file."""
    found = []
    for part in path.read_text().split("\n\n"):
        lines = part.strip("\n").split("\n")
        # The first line is SQL whatever it begins with: there are operators of bars.
        first = next((index for index, line in enumerate(lines) if index and line.startswith("|")), len(lines))
        if lines[:first] != [""]:
            found.append(
                Block("\n".join(lines[:first]), tuple(line[1:].removeprefix(" ").rstrip() for line in lines[first:]))
            )
    return found


def texts(*paths: Path) -> list[str]:
    """Return the SQL of files."""
    return [block.sql for path in paths for block in blocks(path)]


class Golden:
    """Compares files with what is made today, or writes them. rewrite: write them."""

    def __init__(self, rewrite: bool) -> None:
        self._rewrite = rewrite

    def __call__(self, path: Path, made: Made) -> None:
        """Raise AssertionError for each block of a file of which something else is made today."""
        kept = blocks(path)
        assert kept, f"{path.name} is empty"
        today = [Block(block.sql, tuple(line.rstrip() for line in made(block.sql))) for block in kept]
        if self._rewrite:
            path.write_text("\n".join(block.text() for block in today))
            return
        wrong = [
            f"{old.text()}today:\n{new.text()}" for old, new in zip(kept, today, strict=True) if old.made != new.made
        ]
        assert not wrong, f"{path.name}: {len(wrong)} of {len(kept)} differ\n" + "\n".join(wrong)


def error_lines(error: SqlError) -> list[str]:
    """Return an error with all that a client is told."""
    place = "" if error.position is None else f" at {error.position}"
    beside = (("DETAIL", error.detail), ("HINT", error.hint))
    return [f"ERROR {error.sqlstate}{place}: {error.message}", *(f"{word}: {text}" for word, text in beside if text)]
