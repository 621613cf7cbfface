"""Counts of a view are not lost without a word: drops say it, the rename dance of tools keeps
it, EXPLAIN tells before.
"""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

COUNTED = "had counted"
GONE = 'continuous view "{}" had counted {}, which is gone with it'
KEEPS = 'view "{}" goes on with what it has counted, since the new one has the same query'
SUMS = "SELECT k, sum(x) AS n FROM events GROUP BY k"
BOTH = (
    "SELECT a.k, a.n, b.m FROM (SELECT k, sum(x) AS n FROM events GROUP BY k) a "
    "JOIN (SELECT k, count(*) AS m FROM events GROUP BY k) b ON a.k = b.k"
)
Connection = psycopg.Connection[tuple[object, ...]]


@pytest.fixture
def notices() -> list[str]:
    return []


@pytest.fixture
def ours(server: AntumbraServer, notices: list[str]) -> Iterator[Connection]:
    with server.connect() as connection:
        connection.add_notice_handler(lambda diagnostic: notices.append(diagnostic.message_primary or ""))
        connection.execute("CREATE FOREIGN TABLE events (k text, x integer) SERVER stream")
        yield connection
        connection.execute("DROP FOREIGN TABLE IF EXISTS events CASCADE")


def counted(notices: list[str]) -> list[str]:
    return [text for text in notices if COUNTED in text]


@pytest.mark.parametrize("query", [SUMS, BOTH])
def test_a_drop_says_what_is_lost_with_a_view(ours: Connection, notices: list[str], query: str) -> None:
    ours.execute(f"CREATE VIEW seen AS {query}".encode())
    ours.execute("DROP VIEW seen")
    assert not notices, "it had counted nothing"
    ours.execute(f"CREATE VIEW seen AS {query}".encode())
    ours.execute("INSERT INTO events VALUES ('a', 1)")
    ours.execute("DROP VIEW seen")
    assert notices == [GONE.format("seen", "1 tuple")]


@pytest.mark.parametrize(
    "statement",
    [
        "DROP FOREIGN TABLE events CASCADE",
        "ALTER FOREIGN TABLE events DROP COLUMN x CASCADE",
        "DROP SCHEMA apart CASCADE",
    ],
)
def test_so_does_whatever_takes_views_with_it(ours: Connection, notices: list[str], statement: str) -> None:
    ours.execute("CREATE SCHEMA apart")
    try:
        ours.execute(f"CREATE VIEW apart.one AS {SUMS}".encode())
        ours.execute(f"CREATE VIEW apart.two AS {BOTH}".encode())
        ours.execute("INSERT INTO events VALUES ('a', 1), ('b', 2)")
        ours.execute(statement.encode())
        assert counted(notices) == ["2 continuous views had counted tuples, which are gone with them"]
    finally:
        ours.execute("DROP SCHEMA IF EXISTS apart CASCADE")


def dance(ours: Connection, name: str, query: str) -> None:
    """Replace a view as dbt does: https://docs.getdbt.com/docs/build/materializations, view."""
    ours.execute(f"DROP VIEW IF EXISTS {name}__dbt_tmp CASCADE".encode())
    ours.execute(f"DROP VIEW IF EXISTS {name}__dbt_backup CASCADE".encode())
    with ours.transaction():
        ours.execute(f"CREATE VIEW {name}__dbt_tmp AS ({query})".encode())
        ours.execute(f"ALTER TABLE {name} RENAME TO {name}__dbt_backup".encode())
        ours.execute(f"ALTER TABLE {name}__dbt_tmp RENAME TO {name}".encode())
    ours.execute(f"DROP VIEW IF EXISTS {name}__dbt_backup CASCADE".encode())


@pytest.mark.parametrize("query", [SUMS, BOTH])
def test_a_view_that_tools_replace_by_the_same_query_goes_on(ours: Connection, notices: list[str], query: str) -> None:
    ours.execute(f"CREATE VIEW model AS {query}".encode())
    ours.execute("COMMENT ON VIEW model IS 'kept'")
    ours.execute("INSERT INTO events VALUES ('a', 1)")
    for _ in range(2):
        ours.execute("CREATE VIEW reader AS SELECT * FROM model WHERE n > 0")
        ours.execute("CREATE VIEW further AS SELECT * FROM reader")
        dance(ours, "model", query)
        # Tools know that DROP ... CASCADE has taken what had read the old view, and make it anew.
        assert ours.execute("SELECT count(*) FROM pg_class WHERE relname IN ('reader', 'further')").fetchone() == (0,)
    ours.execute("CREATE VIEW reader AS SELECT * FROM model WHERE n > 0")
    assert notices.count(KEEPS.format("model")) == 2 and not counted(notices)
    ours.execute("INSERT INTO events VALUES ('a', 2)")
    (row,) = ours.execute("SELECT * FROM model").fetchall()
    assert row[:2] == ("a", 3)
    assert ours.execute("SELECT * FROM reader").fetchall() == [row]
    assert ours.execute("SELECT obj_description('model'::regclass)").fetchall() == [("kept",)]


def test_a_view_that_was_replaced_is_not_dropped_from_under_its_readers(ours: Connection) -> None:
    ours.execute(f"CREATE VIEW model AS {SUMS}".encode())
    ours.execute("CREATE VIEW reader AS SELECT * FROM model")
    with ours.transaction():
        ours.execute(f"CREATE VIEW made AS {SUMS}".encode())
        ours.execute("ALTER VIEW model RENAME TO aside")
        ours.execute("ALTER VIEW made RENAME TO model")
    with pytest.raises(psycopg.errors.DependentObjectsStillExist):
        ours.execute("DROP VIEW aside")
    ours.execute("DROP VIEW reader")
    ours.execute("DROP VIEW aside")


def test_with_another_query_it_begins_anew_and_says_so(ours: Connection, notices: list[str]) -> None:
    ours.execute(f"CREATE VIEW model AS {SUMS}".encode())
    ours.execute("INSERT INTO events VALUES ('a', 1)")
    for query in (
        SUMS.replace("sum", "max"),
        SUMS.replace("n FROM", "other FROM"),
        SUMS.replace("GROUP", "WHERE x > 0 GROUP"),
    ):
        notices.clear()
        dance(ours, "model", query)
        assert counted(notices) == [GONE.format("model__dbt_backup", "1 tuple")]
        assert ours.execute("SELECT * FROM model").fetchall() == []
        ours.execute("INSERT INTO events VALUES ('a', 1)")


def test_it_goes_on_after_a_crash_as_well(tmp_path_factory: pytest.TempPathFactory) -> None:
    server = AntumbraServer(tmp_path_factory.mktemp("dance") / "data").start()
    with server.connect() as ours:
        ours.execute("CREATE FOREIGN TABLE events (k text, x integer) SERVER stream")
        ours.execute(f"CREATE VIEW model AS {SUMS}".encode())
        ours.execute("INSERT INTO events VALUES ('a', 1)")
        ours.execute("CHECKPOINT")
        dance(ours, "model", SUMS)
        ours.execute("INSERT INTO events VALUES ('a', 2)")
    server.kill()
    server.start()
    try:
        with server.connect() as ours:
            assert ours.execute("SELECT * FROM model").fetchall() == [("a", 3)]
    finally:
        assert server.stop() == 0


def test_explain_tells_whether_the_contents_are_kept(ours: Connection) -> None:
    ours.execute(f"CREATE VIEW model AS {SUMS}".encode())
    ours.execute("INSERT INTO events VALUES ('a', 1)")
    ours.execute("ALTER FOREIGN TABLE events ADD COLUMN y integer")

    def first_line(query: str, options: str = "") -> object:
        return (ours.execute(f"EXPLAIN CREATE OR REPLACE VIEW model{options} AS {query}".encode()).fetchone() or ("",))[
            0
        ]

    kept = 'View "model" keeps what it has counted of stream "events". Its stream pipeline goes on: Group by k: sum(x) AS sum'
    assert first_line(SUMS.replace("GROUP", "WHERE k > 'a' GROUP")) == kept
    assert (
        first_line(SUMS.replace("sum", "max"), " WITH (reset = true)")
        == "What the view has counted is lost (reset = true)"
    )
    for query in (SUMS.replace("sum", "max"), "SELECT 'a' AS k, 1::bigint AS n"):
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="without losing what it has counted"):
            first_line(query)
    assert ours.execute("SELECT * FROM model").fetchall() == [("a", 1)], "EXPLAIN has changed nothing"


def test_explain_keeps_what_is_grouped_by_the_zone_of_the_session(ours: Connection) -> None:
    days = "SELECT extract(day FROM at) AS day, count(*) AS n FROM moments GROUP BY 1"
    ours.execute("CREATE FOREIGN TABLE moments (at timestamptz) SERVER stream")
    try:
        ours.execute("SET timezone = 'Asia/Tokyo'")
        ours.execute(f"CREATE VIEW daily AS {days}".encode())
        for zone, is_kept in (("Asia/Tokyo", True), ("UTC", False)):
            ours.execute(f"SET timezone = '{zone}'".encode())
            for statement in ("EXPLAIN CREATE OR REPLACE VIEW", "CREATE OR REPLACE VIEW"):
                refused = None
                try:
                    ours.execute(f"{statement} daily AS {days}".encode())
                except psycopg.errors.ObjectNotInPrerequisiteState as error:
                    refused = error
                assert (refused is None) == is_kept, (statement, zone)
    finally:
        ours.execute("RESET timezone")
        ours.execute("DROP FOREIGN TABLE moments CASCADE")
