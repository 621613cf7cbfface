"""Whose TimeZone a definition computes in: its reader's or writer's, but in the groups of a
continuous view its creator's, which is told.

What ordinary views, defaults and checks give is held to PostgreSQL by tests/cases/k01*.
"""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

Connection = psycopg.Connection[tuple[object, ...]]

MADE = """
CREATE FOREIGN TABLE hits (at timestamptz, v int) SERVER stream;
CREATE FOREIGN TABLE dated (id int, d date DEFAULT '2024-06-01 20:00+00'::timestamptz::date, at timestamptz DEFAULT now()) SERVER stream;
CREATE TABLE plain (id int, d date DEFAULT '2024-06-01 20:00+00'::timestamptz::date, CHECK (d = '2024-06-01 20:00+00'::timestamptz::date));
SET TimeZone = 'Asia/Tokyo';
CREATE VIEW by_date AS SELECT at::date AS d, sum(v) AS v FROM hits GROUP BY 1;
CREATE VIEW by_day AS SELECT date_trunc('day', at) AS day, max(at)::text AS last FROM hits GROUP BY 1;
CREATE VIEW above AS SELECT at, at::date AS d FROM hits GROUP BY at;
CREATE VIEW over_it AS SELECT d, count(*) AS n FROM above GROUP BY d;
CREATE VIEW dates AS SELECT id, d, count(*) AS n FROM dated GROUP BY 1, 2;
CREATE VIEW elsewhere WITH (time_zone = 'America/New_York') AS SELECT at::date AS d, count(*) AS n FROM hits GROUP BY 1;
INSERT INTO hits VALUES ('2024-06-01 16:00+00', 1), ('2024-06-01 01:00+00', 2), ('2024-06-02 14:00+00', 4)
"""


@pytest.fixture(scope="module")
def zoned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AntumbraServer]:
    """A server with MADE, started once more since."""
    server = AntumbraServer(tmp_path_factory.mktemp("zones") / "data").start()
    with server.connect() as connection:
        for statement in MADE.split(";\n"):
            connection.execute(statement.encode())
    assert server.stop() == 0
    yield server.start()
    assert server.stop() == 0


def rows(connection: Connection, zone: str, query: str) -> list[tuple[object, ...]]:
    """Return what a session in a zone reads, as texts."""
    connection.execute(f"SET TimeZone = '{zone}'".encode())
    return connection.execute(query.encode()).fetchall()


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Tokyo"])
def test_groups_stay_in_the_zone_of_their_creator(zoned: AntumbraServer, zone: str) -> None:
    with zoned.connect() as connection:
        assert rows(connection, zone, "SELECT d::text, v FROM by_date ORDER BY 1") == [
            ("2024-06-01", 2),
            ("2024-06-02", 5),
        ]
        found = rows(connection, zone, "SELECT d::text, n FROM elsewhere ORDER BY 1")
        assert found == [("2024-05-31", 1), ("2024-06-01", 1), ("2024-06-02", 1)]
        days = rows(connection, zone, "SELECT (day AT TIME ZONE 'UTC')::text FROM by_day ORDER BY 1")
        assert days == [("2024-05-31 15:00:00",), ("2024-06-01 15:00:00",)]


def test_what_is_above_the_groups_is_in_the_zone_of_the_reader(zoned: AntumbraServer) -> None:
    with zoned.connect() as connection, zoned.connect() as other:
        for _ in range(2):
            # Answers that are kept are those of one zone.
            assert rows(connection, "UTC", "SELECT d::text FROM above ORDER BY at") == [
                ("2024-06-01",), ("2024-06-01",), ("2024-06-02",)
            ]  # fmt: skip
            assert rows(other, "America/New_York", "SELECT d::text FROM above ORDER BY at") == [
                ("2024-05-31",), ("2024-06-01",), ("2024-06-02",)
            ]  # fmt: skip
            assert rows(connection, "Asia/Tokyo", "SELECT d::text, n FROM over_it ORDER BY 1") == [
                ("2024-06-01", 1), ("2024-06-02", 2)
            ]  # fmt: skip
        assert rows(connection, "UTC", "SELECT last FROM by_day ORDER BY day LIMIT 1") == [("2024-06-01 01:00:00+00",)]
        assert rows(other, "Asia/Tokyo", "SELECT last FROM by_day ORDER BY day LIMIT 1") == [
            ("2024-06-01 10:00:00+09",)
        ]


def test_defaults_of_streams_and_copies_are_in_the_zone_of_the_writer(zoned: AntumbraServer) -> None:
    with zoned.connect() as connection:
        for number, zone in enumerate(("UTC", "Asia/Tokyo")):
            connection.execute(f"SET TimeZone = '{zone}'".encode())
            first = number * 10
            connection.execute(f"INSERT INTO dated (id) VALUES ({first})".encode())
            connection.execute(f"INSERT INTO dated (id) SELECT {first + 1}".encode())
            connection.execute("INSERT INTO dated (id) VALUES (%s)", [first + 2], prepare=True)
            for table in ("dated", "plain"):
                with connection.cursor().copy(f"COPY {table} (id) FROM STDIN".encode()) as copy:
                    copy.write(f"{first + 3}\n")
        found = connection.execute("SELECT id, d::text FROM dates WHERE n = 1 ORDER BY 1").fetchall()
        tabled = connection.execute("SELECT id, d::text FROM plain ORDER BY 1").fetchall()
    assert found == [(number, "2024-06-01") for number in range(4)] + [
        (number, "2024-06-02") for number in range(10, 14)
    ]
    assert tabled == [(3, "2024-06-01"), (13, "2024-06-02")]


def test_the_zone_of_groups_is_told(zoned: AntumbraServer) -> None:
    told: list[str] = []
    with zoned.connect() as connection:
        connection.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
        connection.execute("SET TimeZone = 'Europe/Rome'")
        connection.execute("CREATE VIEW told AS SELECT date_trunc('week', at) AS w, count(*) FROM hits GROUP BY 1")
        connection.execute("CREATE VIEW quiet AS SELECT at::date AS d, at, count(*) FROM hits GROUP BY at")
        plan = connection.execute("EXPLAIN CREATE VIEW x AS SELECT at::date, count(*) FROM hits GROUP BY 1").fetchall()
        plan += connection.execute("EXPLAIN SELECT * FROM told").fetchall()
        options = connection.execute("SELECT relname, reloptions FROM pg_class WHERE reloptions IS NOT NULL").fetchall()
        connection.execute("DROP VIEW told, quiet")
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            connection.execute("CREATE VIEW x WITH (time_zone = nowhere) AS SELECT at::date FROM hits GROUP BY 1")
    assert told == ['view "told" groups by the time zone "Europe/Rome", whoever reads it: date_trunc(\'week\', at)']
    assert sum('time zone "Europe/Rome"' in str(line) for (line,) in plan) == 2
    assert {str(name): value for name, value in options} == {
        "by_date": ["time_zone=Asia/Tokyo"],
        "by_day": ["time_zone=Asia/Tokyo"],
        "elsewhere": ["time_zone=America/New_York"],
        "told": ["time_zone=Europe/Rome"],
    }


def test_texts_in_other_forms_are_refused(zoned: AntumbraServer) -> None:
    """A cast to text in a view is not shown in the forms that only results have."""
    with zoned.connect() as connection:
        connection.execute("CREATE VIEW texts AS SELECT d::text AS t FROM plain")
        connection.execute("SET DateStyle = 'German'")
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="datestyle"):
            connection.execute("SELECT * FROM texts")
        connection.execute("RESET DateStyle")
        connection.execute("SELECT * FROM texts")
        connection.execute("DROP VIEW texts")


def test_a_bad_check_names_the_writer_s_day(zoned: AntumbraServer) -> None:
    with zoned.connect() as connection:
        connection.execute("CREATE TABLE checked (at timestamptz CHECK (at::date = '2024-01-02'))")
        connection.execute("SET TimeZone = 'Pacific/Kiritimati'")
        with pytest.raises(psycopg.errors.CheckViolation):
            connection.execute("INSERT INTO checked VALUES ('2024-01-02 12:00+00')")
        connection.execute("SET TimeZone = 'Pacific/Pago_Pago'")
        connection.execute("INSERT INTO checked VALUES ('2024-01-02 12:00+00')")
        connection.execute("DROP TABLE checked")
