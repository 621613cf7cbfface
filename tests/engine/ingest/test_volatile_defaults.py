"""Defaults of a stream that are another value in each row: each row has its own, whichever way the
rows come.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from tests.end_to_end.raw_client import COPY_DONE, SYNC, bind, copy_data, execute, parse
from tests.engine.session_client import SessionClient, World
from tests.faults.machine import shared_kernels

STREAM = """CREATE FOREIGN TABLE s (
    k integer, number float8 DEFAULT random(), id uuid DEFAULT gen_random_uuid(), long text DEFAULT md5(random()::text),
    word text DEFAULT 'a constant that is longer than a word', at timestamptz DEFAULT now(),
    plain numeric DEFAULT 1.50, rounded numeric(6,2) DEFAULT 1.005) SERVER stream"""
VIEW = """CREATE VIEW v AS SELECT k, number, id::text AS id, long, word, at, plain, rounded, count(*) AS n
    FROM s GROUP BY k, number, id, long, word, at, plain, rounded"""
# More rows than a morsel has.
MANY = 70_000
HEX = "[0-9a-f]"


@pytest.fixture(scope="module", autouse=True)
def _kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with shared_kernels(tmp_path_factory.mktemp("kernels")):
        yield


@pytest.fixture
def client(world: World) -> SessionClient:
    client = world.client()
    client.run(STREAM, VIEW)
    return client


def literals(client: SessionClient, count: int) -> None:
    for first in range(0, count, 3):
        rows = range(first, min(first + 3, count))
        client.run(f"INSERT INTO s (k) VALUES {', '.join(f'({number})' for number in rows)}")


def single(client: SessionClient, count: int) -> None:
    for number in range(count):
        client.run(f"INSERT INTO s (k) VALUES ({number})")


def prepared(client: SessionClient, count: int) -> None:
    client.ask(parse("INSERT INTO s (k) VALUES ($1)", "p", [23]), SYNC)
    binds = [part for number in range(count) for part in (bind((str(number).encode(),), "p", ""), execute("", 0))]
    client.ask(*binds, SYNC)


def expressions(client: SessionClient, count: int) -> None:
    client.run(f"INSERT INTO s (k) VALUES {', '.join(f'({number} + 0)' for number in range(count))}")


def written_out(client: SessionClient, count: int) -> None:
    rows = ", ".join(f"({number}, DEFAULT, DEFAULT, DEFAULT)" for number in range(count))
    client.run(f"INSERT INTO s (k, number, id, long) VALUES {rows}")


def query(client: SessionClient, count: int) -> None:
    client.run(f"INSERT INTO s (k) SELECT g FROM generate_series(0, {count - 1}) g")


def copy(client: SessionClient, count: int) -> None:
    lines = "".join(f"{number}\n" for number in range(count)).encode()
    client.ask("COPY s (k) FROM STDIN", copy_data(lines), COPY_DONE)


@pytest.mark.turns(4)
@pytest.mark.parametrize(
    ("way", "count"),
    [(single, 5), (literals, 10), (prepared, 10), (expressions, 10), (written_out, 10), (query, MANY), (copy, MANY)],
)
def test_each_row_has_its_own(client: SessionClient, way: Callable[[SessionClient, int], None], count: int) -> None:
    way(client, count)
    distinct = "count(DISTINCT k), count(DISTINCT number), count(DISTINCT id), count(DISTINCT long)"
    (row,) = client.rows(
        f"SELECT count(*), sum(n), {distinct}, count(DISTINCT word), min(word), min(plain), max(rounded) FROM v"
    )
    numbers = ", ".join([f"b'{count}'"] * 6)
    assert row == f"D [{numbers}, b'1', b'a constant that is longer than a word', b'1.50', b'1.01']"
    for line in client.rows("SELECT id, long FROM v LIMIT 3"):
        assert re.fullmatch(rf"D \[b'{HEX}{{8}}(-{HEX}{{4}}){{3}}-{HEX}{{12}}', b'{HEX}{{32}}'\]", line), line


def test_what_a_session_answers_is_refused(client: SessionClient) -> None:
    client.run("CREATE SEQUENCE q", "CREATE TABLE t (k integer DEFAULT nextval('q'))")
    for text in (
        "CREATE FOREIGN TABLE r (k integer DEFAULT nextval('q')) SERVER stream",
        "ALTER FOREIGN TABLE s ALTER COLUMN k SET DEFAULT 1 + nextval('q')",
        "ALTER FOREIGN TABLE s ADD COLUMN more integer DEFAULT nextval('q')",
    ):
        (error, _) = client.ask(text)
        assert error.startswith(f"E ERROR 0A000 at {text.index('nextval') + 1}: "), error
    client.run("INSERT INTO s (k) VALUES (nextval('q')), (nextval('q')), (7)")
    assert client.rows("SELECT k FROM v ORDER BY k") == ["D [b'1']", "D [b'2']", "D [b'7']"]
