"""Sessions that write another dialect: what they are told, what is stored, where an error is."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

pytestmark = pytest.mark.slow

Connection = psycopg.Connection[tuple[object, ...]]


@pytest.fixture
def connection(server: AntumbraServer) -> Iterator[Connection]:
    with server.connect() as connection:
        connection.execute("create foreign table clicks (page text, ms int, at date) server stream")
        yield connection
        connection.execute("set antumbra.sql_dialect = default")
        connection.execute("drop foreign table clicks cascade")


def told(connection: Connection) -> list[str]:
    """Return the list to which notices will be appended."""
    notices: list[str] = []
    connection.add_notice_handler(lambda notice: notices.append(f"{notice.severity} {notice.message_primary}"))
    return notices


def test_a_view_is_stored_as_it_was_translated(connection: Connection) -> None:
    notices = told(connection)
    connection.execute("set antumbra.sql_dialect = 'snowflake'")
    connection.execute("insert into clicks values ('a', 5, '2024-01-31')")
    connection.execute(
        "create view slow as select page, count_if(ms > 3) as n, sum(ms) / 2 as half from clicks group by all"
    )
    connection.execute("insert into clicks values ('a', 2, '2024-01-31'), ('a', 7, '2024-02-01')")
    assert connection.execute("select iff(n > 0, n, 0), half from slow").fetchall() == [(1, 4.5)]
    assert notices[0].startswith("NOTICE translated from Snowflake: CREATE VIEW slow AS SELECT page, COUNT(*) FILTER")
    connection.execute("set antumbra.sql_dialect = default")
    (stored,) = connection.execute("select pg_get_viewdef('slow')").fetchone() or ()
    assert "FILTER (WHERE (clicks.ms > 3))" in str(stored)


def test_windows_that_hop_are_antumbras(connection: Connection) -> None:
    connection.execute("create table seen (page text, at timestamp)")
    connection.execute(
        "insert into seen values ('a', '2024-01-01 00:00:30'), ('b', '2024-01-01 00:01:30'), ('c', null)"
    )
    connection.execute("set antumbra.sql_dialect = 'risingwave'")
    hop = "hop(seen, at, interval '1 minute', interval '2 minutes')"
    found = connection.execute(
        f"select s.window_start::text, count(*) as n, max_by(page, at) from {hop} as s group by 1 order by 1".encode()
    ).fetchall()
    assert found == [("2023-12-31 23:59:00", 1, "a"), ("2024-01-01 00:00:00", 2, "b"), ("2024-01-01 00:01:00", 1, "b")]
    assert connection.execute(f"select count(*) from {hop} where seen.page = 'a'".encode()).fetchone() == (2,)
    connection.execute("set antumbra.sql_dialect = default")
    connection.execute("drop table seen")


def test_a_text_means_what_its_session_writes(connection: Connection) -> None:
    """An answer that is kept for a text is not given to a session that means something else by
    it.
    """
    text = "select 7 / 2"
    assert connection.execute(text).fetchone() == (3,)
    connection.execute("set antumbra.sql_dialect = 'mysql'")
    assert connection.execute(text).fetchone() == (3.5,)
    connection.execute("set antumbra.sql_dialect = default")
    assert connection.execute(text).fetchone() == (3,)


def test_parameters_go_through(connection: Connection) -> None:
    for dialect in ("mysql", "snowflake", "bigquery", "oracle", "trino", "duckdb", "spark", "tsql"):
        connection.execute(f"set antumbra.sql_dialect = '{dialect}'")
        found = connection.execute("select coalesce(cast(%s as decimal(5, 1)), 2) + 1", ("1.5",)).fetchone()
        assert found == (2.5,), dialect


def test_errors_have_no_place_in_another_text(connection: Connection) -> None:
    connection.execute("set antumbra.sql_dialect = 'snowflake'")
    with pytest.raises(psycopg.errors.UndefinedColumn) as undefined:
        connection.execute("select iff(true, nosuch, 1) from clicks")
    assert undefined.value.diag.statement_position is None
    with pytest.raises(psycopg.errors.FeatureNotSupported) as refused:
        connection.execute("select nosuch(page) from clicks")
    assert refused.value.diag.statement_position == "8"
    assert "the function nosuch of Snowflake" in str(refused.value)
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        connection.execute("set antumbra.sql_dialect = 'cobol'")
