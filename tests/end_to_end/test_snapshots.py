"""One moment for everything that a statement or a transaction block reads: views of several
streams, and tables, among mixed commits.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

pytestmark = pytest.mark.slow

WORK_S = 2.5
TOGETHER = "SELECT (SELECT n FROM sn_a), (SELECT count(*) FROM sn_rows), (SELECT n FROM sn_b)"
ONE_BY_ONE = ("SELECT n FROM sn_a", "SELECT count(*) FROM sn_rows", "SELECT n FROM sn_b", "SELECT n FROM sn_best")

Connection = psycopg.Connection[tuple[object, ...]]


@pytest.fixture
def relations(server: AntumbraServer) -> Iterator[None]:
    """A table and two streams that always get one row together, and views that count the streams'
    rows.
    """
    with server.connect() as connection:
        connection.execute("CREATE FOREIGN TABLE sn_one (k int) SERVER stream")
        connection.execute("CREATE FOREIGN TABLE sn_two (k int) SERVER stream")
        connection.execute("CREATE TABLE sn_rows (k int)")
        connection.execute("CREATE VIEW sn_a AS SELECT count(*) AS n FROM sn_one")
        connection.execute("CREATE VIEW sn_b AS SELECT count(*) AS n FROM sn_two")
        connection.execute(
            "CREATE VIEW sn_best AS SELECT sum(m) AS n FROM (SELECT k, count(*) AS m FROM sn_two GROUP BY k) AS g"
        )
        yield
        connection.execute("DROP FOREIGN TABLE sn_one, sn_two CASCADE")
        connection.execute("DROP TABLE sn_rows")


def insert_everywhere(connection: Connection) -> None:
    with connection.transaction():
        for name in ("sn_one", "sn_rows", "sn_two"):
            connection.execute(f"INSERT INTO {name} VALUES (1)".encode())


def one_value(connection: Connection, text: str) -> int:
    row = connection.execute(text.encode()).fetchone()
    assert row is not None
    return int(str(row[0] or 0))


@pytest.mark.usefixtures("relations")
@pytest.mark.parametrize("first", ONE_BY_ONE[:2])
def test_the_first_read_of_a_block_fixes_everything(server: AntumbraServer, first: str) -> None:
    with server.connect() as writer, server.connect(autocommit=False) as reader:
        insert_everywhere(writer)
        assert one_value(reader, first) == 1
        insert_everywhere(writer)
        assert [one_value(writer, text) for text in ONE_BY_ONE] == [2, 2, 2, 2]
        assert [one_value(reader, text) for text in ONE_BY_ONE] == [1, 1, 1, 1]
        reader.commit()
        # Answers are kept by now. A table is there, so that they stand for no snapshot; without one
        # they do.
        insert_everywhere(writer)
        assert one_value(reader, first) == 3
        insert_everywhere(writer)
        assert [one_value(reader, text) for text in ONE_BY_ONE] == [3, 3, 3, 3]


@pytest.mark.usefixtures("relations")
def test_begin_fixes_nothing_and_neither_does_a_statement_without_relations(server: AntumbraServer) -> None:
    with server.connect() as writer, server.connect(autocommit=False) as reader:
        reader.execute("SELECT 1")
        insert_everywhere(writer)
        assert [one_value(reader, text) for text in ONE_BY_ONE] == [1, 1, 1, 1]


@pytest.mark.usefixtures("relations")
def test_a_write_to_a_table_fixes_the_views_too(server: AntumbraServer) -> None:
    with server.connect() as writer, server.connect(autocommit=False) as reader:
        reader.execute("INSERT INTO sn_rows VALUES (7)")
        insert_everywhere(writer)
        assert [one_value(reader, text) for text in ONE_BY_ONE] == [0, 1, 0, 0]


def test_kept_answers_fix_the_views_of_a_block(server: AntumbraServer) -> None:
    with server.connect() as writer, server.connect(autocommit=False) as reader:
        writer.execute("CREATE FOREIGN TABLE sk (k int) SERVER stream")
        try:
            for name in ("sk_a", "sk_b"):
                writer.execute(f"CREATE VIEW {name} AS SELECT count(*) AS n FROM sk".encode())
            for _ in range(3):
                assert one_value(writer, "SELECT n FROM sk_a") == 0
                assert one_value(writer, "SELECT 1") == 1
            assert one_value(reader, "SELECT 1") == 1
            writer.execute("INSERT INTO sk VALUES (0)")
            assert one_value(reader, "SELECT n FROM sk_a") == 1, "an answer without relations fixes nothing"
            reader.rollback()
            assert one_value(writer, "SELECT n FROM sk_a") == 1
            assert one_value(reader, "SELECT n FROM sk_a") == 1
            writer.execute("INSERT INTO sk VALUES (1)")
            assert one_value(writer, "SELECT n FROM sk_b") == 2
            assert one_value(reader, "SELECT n FROM sk_b") == 1
            assert one_value(reader, "SELECT n FROM sk_a") == 1
            reader.rollback()
            assert one_value(reader, "SELECT n FROM sk_b") == 2
            reader.rollback()
        finally:
            writer.execute("DROP FOREIGN TABLE sk CASCADE")


@pytest.mark.usefixtures("relations")
def test_no_reader_sees_half_of_a_mixed_commit(server: AntumbraServer) -> None:
    end = time.monotonic() + WORK_S
    reads = dict.fromkeys(("together", "one by one", "copied"), 0)
    lock = threading.Lock()

    def write() -> None:
        with server.connect() as connection:
            while time.monotonic() < end:
                insert_everywhere(connection)

    def read(seed: int) -> None:
        draw = random.Random(seed)
        with server.connect() as connection, server.connect(autocommit=False) as block:
            while time.monotonic() < end:
                match draw.choice(tuple(reads)):
                    case "together":
                        kind, found = "together", set(connection.execute(TOGETHER.encode()).fetchall()[0])
                    case "one by one":
                        texts = draw.sample(ONE_BY_ONE, k=len(ONE_BY_ONE))
                        kind, found = "one by one", {one_value(block, text) for text in texts}
                        block.commit()
                    case _:
                        name = f"sn_copy_{seed}"
                        connection.execute(f"CREATE TABLE {name} AS {TOGETHER} AS x".encode())
                        kind, found = "copied", set(connection.execute(f"SELECT * FROM {name}".encode()).fetchall()[0])
                        connection.execute(f"DROP TABLE {name}".encode())
                assert len(found) == 1, (kind, found)
                with lock:
                    reads[kind] += 1

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(write), *(pool.submit(read, seed) for seed in (1, 2))]:
            done.result()
    assert all(reads.values()), reads
