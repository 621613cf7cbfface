"""Writing to durable tables: the same statements here and in PostgreSQL, with equal rows, tags and
error fields.

`writes/*.sql` holds scripts for an empty database, one statement per line. A line `--! SQLSTATE
reason` before a statement says that ours is to be this error, and why it differs; `--- reason` that
DETAIL, HINT and position are not compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.end_to_end.raw_client import SYNC, Answer, RawClient, bind, describe, execute, parse, query
from tests.engine.session_client import World
from tests.oracle.postgres import PostgresCluster

SCRIPTS = sorted((Path(__file__).parent / "writes").glob("*.sql"))
WORDS = ("detail", "hint", "position")


@dataclass(frozen=True)
class Line:
    """A statement of a script. ours: the SQLSTATE that we answer instead, or ''. loose: words for
    people are not compared.
    """

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
    """Return what two servers must agree on: we may give a hint or a position where PostgreSQL
    gives none.
    """
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


PARAMETERS = (
    ("c char(4)", b"ab"),
    ("v varchar(3)", b"abc  "),
    ("i interval", b"1 mon 2 days 03:04:05.6"),
    ("m time", b"12:34:56.789"),
    ("u uuid", b"A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"),
    ("y bytea", b"\\x00ff10"),
    ("j json", b'{"a" : [1]}'),
    ("k jsonb", b'{"b": 1, "a" : 2.50}'),
    ("a int[]", b"{1,NULL,3}"),
    ("s text[]", b'{x,"y,z",NULL}'),
    ("n numeric", b"12345678901234567890.12345"),
    ("p numeric(8,2)", b"1.005"),
    ("l int8", b"-9223372036854775808"),
    ("h int2", b"32767"),
    ("b bool", b"yes"),
    ("f float4", b"1.1"),
    ("g float8", b"-Infinity"),
    ("d date", b"0044-03-15 BC"),
    ("t timestamp", b"0001-12-31 23:59:59.999999 BC"),
    ("z timestamptz", b"2020-02-29 12:00:00.123456+05"),
)


@pytest.mark.turns(3)
@pytest.mark.parametrize(("column", "value"), PARAMETERS, ids=[column for column, _ in PARAMETERS])
def test_parameters_of_every_type(column: str, value: bytes, world: World, postgres: PostgresCluster) -> None:
    """As rows without the engine, and as rows that it computes; by text and back as text and
    binary.
    """
    oracle = RawClient(postgres.port, "postgres", "postgres")
    oracle.ask(query("DROP SCHEMA public CASCADE; CREATE SCHEMA public"))
    client = world.client()
    name = column.split()[0]
    messages = [query(f"CREATE TABLE typed ({column}, x int)")]
    for text in (
        "INSERT INTO typed VALUES ($1, 1) RETURNING *",
        "INSERT INTO typed SELECT $1, 2 RETURNING *",
        f"INSERT INTO typed VALUES ($1, length($1::text)) RETURNING {name}",
        f"UPDATE typed SET {name} = $1 WHERE x = 1 RETURNING {name}",
    ):
        for given in (value, None):
            for results in ((), (1,)):
                messages.append(parse(text) + bind([given], results=results) + describe("P") + execute() + SYNC)
    messages.append(query("SELECT * FROM typed ORDER BY x"))
    for message in messages:
        assert client.ask(message) == oracle.ask(message)
    oracle.hang_up()
