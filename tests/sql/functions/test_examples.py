"""The examples of the table of functions: the answers that rows give are those of PostgreSQL, where
it has the function, and of each engine that has the function.
"""

from __future__ import annotations

import pytest

from engine.embedded.functions.routines import implementation
from sql.functions import sketches
from sql.functions.aggregate_rows import Aggregate
from sql.functions.catalog import OF_CATALOG
from sql.functions.rows import Kernel, Row
from sql.functions.table import AGGREGATE_ROWS, ROUTINES, ROWS, SET_ROWS, WINDOW_ROWS
from tests.engine.session_client import World
from tests.oracle.postgres import PostgresCluster

OTHERS: tuple[Row, ...] = (*AGGREGATE_ROWS.values(), *WINDOW_ROWS.values(), *SET_ROWS.values())
EXAMPLES = [row for row in (*ROWS.values(), *OTHERS) if row.example is not None]


def answer(row: Row) -> str | None:
    assert row.example is not None
    return row.example[1]


def query(row: Row) -> str:
    assert row.example is not None
    return f"SELECT {row.example[0]}"


def test_every_function_that_clients_call_has_an_example() -> None:
    """A row without a name is called by no client. Volatile functions have no answer, and a type of
    a client's own none that PostgreSQL has; what the catalog's functions answer is in
    `tests/system_catalog`.
    """
    called = [row for row in ROWS.values() if row.overloads and row.volatility != "volatile"]
    called = [row for row in called if row.canonical not in OF_CATALOG and (row.names or ":" in row.signatures)]
    assert not [row.canonical for row in called if row.example is None and "enum" not in row.signatures.split()]
    others = [row for row in OTHERS if row.names and row.canonical not in OF_CATALOG]
    assert [row.canonical for row in others if row.example is None] == ["_pg_expandarray"]


def test_an_example_calls_its_function() -> None:
    def names(row: Row) -> set[str]:
        return {name for names, _ in row.named_overloads for name in names}

    assert not [row.canonical for row in EXAMPLES if not any(name in query(row).lower() for name in names(row))]


def test_implementations_are_there() -> None:
    assert all(isinstance(one.implementation, Kernel) or callable(implementation(one)) for one in ROUTINES)


def test_answers_are_those_of_postgres(postgres: PostgresCluster) -> None:
    wrong = []
    with postgres.connect() as connection:
        for row in EXAMPLES:
            if row in sketches.FUNCTIONS or (isinstance(row, Aggregate) and row.is_own):
                continue
            result = connection.pgconn.exec_(query(row).encode())
            value = result.get_value(0, 0) if result.ntuples == 1 else result.error_message
            said = None if value is None else value.decode()
            if said != answer(row):
                wrong.append(f"{query(row)}: {said!r}, not {answer(row)!r}")
    assert not wrong, "\n".join(wrong)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("examples"))


def test_the_embedded_engine_answers_as_the_row_says(world: World) -> None:
    client, wrong = world.client(), []
    for row in EXAMPLES:
        said = client.ask(query(row))[1:2]
        kept = answer(row)
        if said != [f"D {[None if kept is None else kept.encode()]}"]:
            wrong.append(f"{query(row)}: {said}, not {answer(row)!r}")
    assert not wrong, "\n".join(wrong)
