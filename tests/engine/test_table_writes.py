"""Writing to durable tables: the same statements here and in PostgreSQL, with equal rows, tags and error fields.

`writes/*.sql` holds scripts for an empty database, one statement per line. A line `--! SQLSTATE reason` before a statement says that ours
is to be this error, and why it differs; `--- reason` that DETAIL, HINT and position are not compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.end_to_end.raw_client import Answer, RawClient
from tests.engine.session_client import World
from tests.oracle.postgres import PostgresCluster

SCRIPTS = sorted((Path(__file__).parent / "writes").glob("*.sql"))
WORDS = ("detail", "hint", "position")


@dataclass(frozen=True)
class Line:
    """A statement of a script. ours: the SQLSTATE that we answer instead, or ''. loose: words for people are not compared."""

    text: str
    ours: str = ""
    loose: bool = False


def read_script(path: Path) -> Iterator[Line]:
    ours, loose = "", False
    for line in path.read_text().splitlines():
        if line.startswith("--! "):
            ours = line.split()[1]
        elif line.startswith("--- "):
            loose = True
        elif line and not line.startswith("--"):
            yield Line(line.removesuffix(";"), ours, loose)
            ours, loose = "", False


def test_there_are_enough_statements() -> None:
    assert sum(1 for path in SCRIPTS for _ in read_script(path)) > 300


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    running = World(tmp_path)
    yield running
    running.close()


@pytest.mark.parametrize("path", SCRIPTS, ids=[path.stem for path in SCRIPTS])
def test_script(path: Path, world: World, postgres: PostgresCluster) -> None:
    oracle = RawClient(postgres.port, "postgres", "postgres")
    oracle.ask_in_full("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    client = world.client()
    different = []
    for line in read_script(path):
        theirs, ours = oracle.ask_in_full(line.text), client.ask_in_full(line.text)
        if line.ours:
            if not ours[0][0].startswith(f"E {line.ours}"):
                different.append(f"{line.text}\n  wanted {line.ours}\n  found  {ours}")
        elif comparable(ours, theirs, line) != comparable(theirs, theirs, line):
            different.append(f"{line.text}\n  wanted {theirs}\n  found  {ours}")
    oracle.hang_up()
    assert not different, f"{len(different)} of {path.name} differ\n" + "\n".join(different)


def comparable(answers: list[Answer], wanted: list[Answer], line: Line) -> object:
    """Return what two servers must agree on: we may give a hint or a position where PostgreSQL gives none."""
    found = []
    for index, (text, fields) in enumerate(answers):
        kept = wanted[index][1] if index < len(wanted) else {}
        shown = {
            name: value
            for name, value in fields.items()
            if not (line.loose and name in WORDS) and (name in kept or name not in ("hint", "position"))
        }
        found.append((text, shown))
    words = line.text.lower()
    ordered = words.startswith("select") and "order by" in words
    return found if ordered else sorted(found, key=repr)
