"""The examples of the table of functions over the columns of a stream: a row of values in place of
each example's constants.

What a kernel has is computed there, the rest before the kernel runs. The answers are those of the
embedded engine for constants, which `test_examples.py` compares with PostgreSQL's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.function_page import in_stream, printed
from sql.bind import bind_query
from sql.bind.substitute import substitute_now
from sql.catalog.catalog import ColumnDescription, RelationDescription, SessionSettings
from sql.emit.duckdb import emit_duckdb
from sql.errors import SqlError
from sql.functions import sketches
from sql.functions.rows import Function
from sql.functions.table import ROWS
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.relations import Project
from sql.types.datatypes import SqlType
from tests.engine.interpreted import interpreted
from tests.engine.session_client import World

# Literals of an example, those with the name of their type first.
LITERAL = re.compile(
    r"(?:\b(?P<kind>date|timestamp(?:tz)?|time(?:tz)?|interval) )?(?P<text>(?:E|U&)?'(?:[^'\\]|''|\\.)*')|(?<![\w'])\d+(?:\.\d+)?"
)
# The types that the column of a literal may have.
STRINGS, NUMBERS = ("text", "json", "jsonb", "text[]", "inet"), ("int4", "numeric", "int8", "int2", "float8")
# Functions whose example has no argument that may be a column.
WITHOUT_COLUMNS = {"pi", "quote_nullable"}
# Functions whose example is a condition that moves with now(), or asks what an aggregate makes.
MOVING = {"age_today", *(row.canonical for row in sketches.FUNCTIONS)}
# Rows that a vector is computed of; a few rows are computed without the engine.
MANY = 300
KEYS_MAX = 30
NULL = "no value"
# Of the examples, `make test` takes one of so many parts.
PARTS = 8


@dataclass(frozen=True)
class Example:
    """An example with columns in place of constants."""

    name: str
    constant: str
    text: str
    is_kernel: bool


class Stream:
    """The stream of the examples' constants: a column of its own for each of them."""

    def __init__(self) -> None:
        self.columns: list[tuple[str, str]] = []

    def relation(self, name: str) -> RelationDescription:
        columns = tuple(ColumnDescription(f"c{place}", SqlType(kind)) for place, (kind, _) in enumerate(self.columns))
        return RelationDescription(name, "stream", 20_000, columns)

    def relation_names(self) -> Iterable[str]:
        return ("s",)

    def place_of(self, text: str) -> tuple[str, str] | None:
        """Return the type of an expression and where a stream pipeline computes it."""
        try:
            (statement,) = parse(f"SELECT ({text}) FROM s")
            assert isinstance(statement, Select)
            root = bind_query(statement.query, self, SessionSettings(time_zone="UTC")).root
            root = substitute_now(root, 0)
        except SqlError:
            return None
        assert isinstance(root, Project)
        _, expression = root.items[0]
        place = in_stream(expression, root.input.schema, bool(printed(emit_duckdb, root)))
        return (expression.type.sql_name, place) if place else None

    def example(self, row: Function) -> Example:
        """Put columns in place of the constants of an example, wherever PostgreSQL's types and our
        constants allow it.
        """
        assert row.example is not None
        text, place = row.example[0], 0
        meant = self.place_of(text)
        assert meant is not None, text
        while (found := LITERAL.search(text, place)) is not None:
            place = found.end()
            for kind in kinds_of(found):
                self.columns.append((kind, found["text"] or found[0]))
                column = f"c{len(self.columns) - 1}"
                replaced = text[: found.start()] + column + text[found.end() :]
                got = self.place_of(replaced)
                if got is not None and got[0] == meant[0]:
                    meant, text, place = got, replaced, found.start() + len(column)
                    break
                self.columns.pop()
        return Example(row.canonical, row.example[0], text, meant[1] == "yes")


def kinds_of(literal: re.Match[str]) -> Sequence[str]:
    """Return the types that the column of a literal may have."""
    if literal["text"] is not None:
        return (literal["kind"],) if literal["kind"] else STRINGS
    return ("numeric",) if "." in literal[0] else NUMBERS


@pytest.mark.slow
@pytest.mark.turns(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_examples_in_streams(part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # To compile hundreds of expressions takes a minute.
    monkeypatch.setattr("views.upkeep.kernels.load_kernel", interpreted)
    stream = Stream()
    rows = [row for row in ROWS.values() if row.example is not None and row.canonical not in MOVING][part::PARTS]
    examples = [stream.example(row) for row in rows]
    assert {one.name for one in examples if not re.search(r"\bc\d", one.text)} == WITHOUT_COLUMNS & {
        one.name for one in examples
    }
    world = World(tmp_path)
    client = world.client()
    columns = ", ".join(f"c{place} {kind}" for place, (kind, _) in enumerate(stream.columns))
    said = client.ask(f"CREATE FOREIGN TABLE s (row int, {columns}) SERVER stream")
    assert said[0] == "C CREATE FOREIGN TABLE", said
    values = ", ".join(value for _, value in stream.columns)
    parts = list(batches(examples))
    for number, some in enumerate(parts):
        texts = ", ".join(f"max(coalesce(({one.text})::text, '{NULL}')) AS c{place}" for place, one in enumerate(some))
        said = client.ask(f"CREATE VIEW v{number} AS SELECT {texts}, count(*) FROM s")
        assert said[-2] == "C CREATE VIEW", (said, texts)
    for source in (f"VALUES (1, {values})", f"SELECT g, {values} FROM generate_series(2, {MANY}) g"):
        said = client.ask(f"INSERT INTO s {source}")
        assert said[0].startswith("C INSERT"), said
    wrong = []
    for number, some in enumerate(parts):
        constants = ", ".join(f"coalesce(({one.constant})::text, '{NULL}')" for one in some)
        wanted = client.ask(f"SELECT {constants}, {MANY}")[1]
        found = client.ask(f"SELECT * FROM v{number}")[1]
        if found != wanted:
            wrong.append(f"{[one.text for one in some]}: {found}, not {wanted}")
    world.close()
    assert not wrong, "\n".join(wrong)


def batches(examples: Sequence[Example]) -> Iterator[Sequence[Example]]:
    """Yield the examples of each view, those of kernels in views of their own."""
    for is_kernel in (True, False):
        part = [one for one in examples if one.is_kernel == is_kernel]
        for start in range(0, len(part), KEYS_MAX):
            yield part[start : start + KEYS_MAX]
