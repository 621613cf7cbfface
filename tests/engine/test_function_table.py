"""Every signature in the table of functions, every cast and every aggregate in each engine that has
it: the embedded engine over a table, kernels and what is computed for them over a stream, and
Spark, each with PostgreSQL's answers for columns of every type.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pytest

from engine.spark.upper import SparkUpperExecutor
from engine.tables.arrow_values import column_array
from sql.bind import bind_query
from sql.bind.substitute import substitute_now
from sql.catalog.catalog import ColumnDescription, RelationDescription, SessionSettings
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.relations import Relation
from tests.engine.answers import output_rows
from tests.engine.function_calls import (
    TABLE,
    Call,
    aggregate_texts,
    answer,
    column_values,
    create_postgres_table,
    definition,
    postgres_calls,
    sql_types,
    stream_aggregates,
    table_rows,
)
from tests.engine.in_spark import in_spark, spark_takes
from tests.engine.interpreted import interpreted
from tests.engine.session_client import SessionClient, World
from tests.oracle.postgres import PostgresCluster

pytestmark = pytest.mark.slow

# What is refused by name, and what answers by the day on which it is asked.
REFUSED = {"\"regexp_like\"(c_text, 'a+', c_text)"}
MOVING = {'"age"(c_timestamp)', '"age"(c_timestamptz)'}
# Rows that are refused by name: the numeric of a field is never infinite.
REFUSED_ROWS = {"\"extract\"('epoch', c_timestamp)": 4}
# Calls of one view, and of one query of Spark.
BATCH = 30
# Of all calls and aggregates, `make test` takes one of so many parts.
PARTS = 10
Item = TypeVar("Item")


@pytest.fixture(scope="module")
def calls(postgres: PostgresCluster) -> list[Call]:
    with postgres.connect() as connection:
        found = postgres_calls(connection)
    return [without_refused(one) for one in found if one.text not in MOVING | REFUSED]


def without_refused(call: Call) -> Call:
    """Return a call with the row that is refused among its errors."""
    place = REFUSED_ROWS.get(call.text)
    if place is None:
        return call
    rows = {other: text for other, text in call.rows.items() if other != place}
    return Call(call.text, rows, {**call.errors, place: "0A000"})


@pytest.fixture(scope="module")
def aggregates(postgres: PostgresCluster) -> dict[str, str | None]:
    with postgres.connect() as connection:
        create_postgres_table(connection)
        found = {text: answer(connection, f"SELECT ({text})::text FROM {TABLE}") for text in aggregate_texts()}
    return {text: said[0] for text, said in found.items() if isinstance(said, list)}


def test_all_are_calls_that_postgres_has(calls: Sequence[Call]) -> None:
    unknown = {"42883", "42725", "42601", "42846", "0A000", "42P18"}
    assert not [one.text for one in calls if unknown & set(one.errors.values()) and one.text not in REFUSED_ROWS]
    assert len(calls) > 700


def rows_of(said: Sequence[str]) -> list[list[bytes | None]]:
    """Return the rows of an answer."""
    return [ast.literal_eval(line[2:]) for line in said if line.startswith("D ")]


def sent(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


@pytest.mark.turns(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_the_embedded_engine(
    part: int, tmp_path: Path, calls: Sequence[Call], aggregates: dict[str, str | None]
) -> None:
    world = World(tmp_path)
    client, wrong = world.client(), []
    client.run(definition("CREATE TABLE"), f"INSERT INTO {TABLE} VALUES {', '.join(table_rows())}")
    for one in calls[part::PARTS]:
        if one.rows:
            said = client.ask(f"SELECT ({one.text})::text FROM {TABLE} WHERE {one.guard} ORDER BY id")
            if rows_of(said) != [[sent(text)] for text in one.rows.values()]:
                wrong.append(f"{one.text}: {said}, not {one.rows}")
        for state, place in {state: place for place, state in one.errors.items()}.items():
            said = client.ask(f"SELECT ({one.text})::text FROM {TABLE} WHERE id = {place}")
            if not any(line.startswith(f"E ERROR {state}") for line in said):
                wrong.append(f"{one.text} at row {place}: {said}, not {state}")
    for text, value in list(aggregates.items())[part::PARTS]:
        said = client.ask(f"SELECT ({text})::text FROM {TABLE}")
        if rows_of(said) != [[sent(value)]]:
            wrong.append(f"{text}: {said}, not {value!r}")
    world.close()
    assert not wrong, "\n".join(wrong)


@pytest.mark.turns(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_streams(part: int, tmp_path: Path, calls: Sequence[Call], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("views.upkeep.kernels.load_kernel", interpreted)
    world = World(tmp_path)
    client, wrong = world.client(), []
    client.run(definition("CREATE FOREIGN TABLE", " SERVER stream"))
    parts = list(batches([one for one in calls if one.rows][part::PARTS]))
    for number, some in enumerate(parts):
        items = (f"max(({one.text})::text) FILTER (WHERE {one.guard})" for one in some)
        client.run(f"CREATE VIEW v{number} AS SELECT id, {named(items)} FROM {TABLE} GROUP BY id")
    client.run(*(f"INSERT INTO {TABLE} VALUES {row}" for row in table_rows()))
    for number, some in enumerate(parts):
        rows = rows_of(client.ask(f"SELECT * FROM v{number} ORDER BY id"))
        assert len(rows) == len(list(table_rows()))
        for place, one in enumerate(some):
            found = {row: rows[row - 1][place + 1] for row in one.rows}
            if found != {row: sent(text) for row, text in one.rows.items()}:
                wrong.append(f"{one.text}: {found}, not {one.rows}")
    world.close()
    assert not wrong, "\n".join(wrong)


@pytest.mark.turns(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_aggregates_in_streams(
    part: int, tmp_path: Path, postgres: PostgresCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("views.upkeep.kernels.load_kernel", interpreted)
    with postgres.connect() as connection:
        create_postgres_table(connection)
        told = {
            text: answer(connection, f"SELECT ({text})::text FROM {TABLE}")
            for text in list(dict.fromkeys(stream_aggregates()))[part::PARTS]
        }
    wanted = {text: said[0] for text, said in told.items() if isinstance(said, list)}
    world = World(tmp_path)
    client, wrong = world.client(), []
    client.run(definition("CREATE FOREIGN TABLE", " SERVER stream"))
    taken = [text for some in batches(list(wanted)) for text in views_of(client, some)]
    parts = list(batches(taken))
    for number, some in enumerate(parts):
        client.run(f"CREATE VIEW a{number} AS SELECT {named(f'({text})::text' for text in some)} FROM {TABLE}")
    client.run(*(f"INSERT INTO {TABLE} VALUES {row}" for row in table_rows()))
    for number, some in enumerate(parts):
        said = client.ask(f"SELECT * FROM a{number}")
        (row,) = rows_of(said) or [[b"an error"] * len(some)]
        for text, value in zip(some, row, strict=True):
            if value != sent(wanted[text]):
                wrong.append(f"{text}: {value!r}, not {wanted[text]!r} ({said[0]})")
    # What a table has not either is all that is refused.
    client.run(definition("CREATE TABLE", name="kept"))
    for text in wanted.keys() - set(taken):
        said = client.ask(f"SELECT {text} FROM kept")
        if not said[0].startswith("E ERROR 0A000"):
            wrong.append(f"{text} is refused over a stream alone: {said[0]}")
    world.close()
    assert not wrong, "\n".join(wrong)
    assert len(taken) > 600 // PARTS, len(taken)


def views_of(client: SessionClient, texts: Sequence[str]) -> list[str]:
    """Return those of the aggregates of which views can be made."""
    if made(client, f"CREATE VIEW a AS SELECT {named(iter(texts))} FROM {TABLE}"):
        return list(texts)
    middle = len(texts) // 2
    return [*views_of(client, texts[:middle]), *views_of(client, texts[middle:])] if middle else []


def made(client: SessionClient, text: str) -> bool:
    """Tell whether a view can be made, and drop it."""
    said = client.ask(text)
    if said[-2] != "C CREATE VIEW":
        assert "0A000" in said[0], (text, said)
        return False
    client.run("DROP VIEW a")
    return True


def named(items: Iterator[str]) -> str:
    return ", ".join(f"{item} AS c{place}" for place, item in enumerate(items))


def batches(calls: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(calls), BATCH):
        yield calls[start : start + BATCH]


class OneTable:
    """A catalog of the table."""

    def relation(self, name: str) -> RelationDescription | None:
        if name != TABLE:
            return None
        columns = tuple(ColumnDescription(name, kind) for name, kind in sql_types().items())
        return RelationDescription(TABLE, "view", 20_000, columns)

    def relation_names(self) -> Iterable[str]:
        return (TABLE,)


def bound(items: Sequence[str], guard: str = "true") -> Relation:
    """Return the tree of a query on the table, in the form that Spark gets."""
    (statement,) = parse(f"SELECT {named(iter(items))} FROM {TABLE} WHERE {guard}")
    assert isinstance(statement, Select)
    root = bind_query(statement.query, OneTable(), SessionSettings(time_zone="UTC")).root
    return substitute_now(root, 0)


def is_sparks(text: str) -> bool:
    try:
        return spark_takes(bound([text]))
    except SqlError:
        return False


def cast_to_text(output: str | None, family: str) -> str | None:
    """Return what a cast to text makes of a value of which this is the output."""
    if output is not None and family == "bool":
        return {"t": "true", "f": "false"}[output]
    return output.rstrip(" ") if output is not None and family == "bpchar" else output


@pytest.mark.turns(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_spark(part: int, upper: SparkUpperExecutor, calls: Sequence[Call], aggregates: dict[str, str | None]) -> None:
    inputs = {TABLE: pa.table({name: column_array(column_values(name), kind) for name, kind in sql_types().items()})}

    def columns(texts: Sequence[str], guard: str = "true") -> list[tuple[str | None, ...]]:
        root = bound(texts, guard)
        assert spark_takes(root), texts
        rows = output_rows(upper.run("view", in_spark(root), inputs, {}), root.schema)
        return [
            tuple(cast_to_text(value, column.type.family) for value in values)
            for column, values in zip(root.schema, zip(*rows, strict=True), strict=True)
        ]

    taken = [one for one in calls[part::PARTS] if one.rows and is_sparks(one.text)]
    by_guard: dict[str, list[Call]] = {}
    for one in taken:
        by_guard.setdefault(one.guard, []).append(one)
    wrong = []
    for guard, some in by_guard.items():
        for batch in batches(some):
            for one, found in zip(batch, columns([one.text for one in batch], guard), strict=True):
                if found != tuple(one.rows.values()):
                    wrong.append(f"{one.text}: {found}, not {one.rows}")
    grouped = [text for text in list(aggregates)[part::PARTS] if is_sparks(text)]
    for text, (value,) in zip(grouped, columns(grouped), strict=True):
        if value != aggregates[text]:
            wrong.append(f"{text}: {value!r}, not {aggregates[text]!r}")
    assert len(taken) > 200 // PARTS, len(taken)
    assert len(grouped) > 20 // PARTS, len(grouped)
    assert not wrong, "\n".join(wrong)
