"""A hint is right when it is followed: what a refusal says to write is accepted, and means what was
asked for.

Each case is a refused view, words of its hint, and a view (and a query on it) as the hint says,
whose rows are those of the refused query in PostgreSQL over the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

COLUMNS = "svc text, ms float8, at timestamptz, payload text"
ROWS = """INSERT INTO hinted VALUES ('a', 10, now(), '{"type": "x"}'), ('a', 10, now() - interval '2 hours', '{"type": "y"}'),
    ('a', 10, NULL, '{"type": "y"}'), ('a', 1000, now(), NULL), ('a', 500, NULL, NULL), ('b', NULL, now() - interval '1 day', NULL)"""
SLIDING = (
    "SELECT svc, sum(n)::bigint FROM (SELECT date_trunc('minute', at) AS step, svc, count(*) AS n FROM hinted GROUP BY step, svc) g "
    "WHERE step > now() - interval '1 hour' GROUP BY svc"
)
CASES = (
    ("SELECT svc, count(*) FROM hinted WHERE now() - at < interval '1 hour' GROUP BY svc", "in steps", SLIDING),
    (
        "SELECT svc, count(*) FROM hinted WHERE at BETWEEN now() - interval '1 hour' AND now() GROUP BY svc",
        "in steps",
        SLIDING,
    ),
)


@pytest.fixture(scope="module")
def theirs(postgres: PostgresCluster) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with postgres.connect() as connection:
        connection.execute(f"CREATE TABLE hinted ({COLUMNS})".encode())
        connection.execute(ROWS.encode())
        yield connection
        connection.execute("DROP TABLE hinted")


@pytest.mark.parametrize(("refused", "words", "written"), CASES)
def test_what_a_hint_says_to_write_is_what_was_asked_for(
    server: AntumbraServer,
    theirs: psycopg.Connection[tuple[object, ...]],
    refused: str,
    words: str,
    written: str,
) -> None:
    with server.connect() as ours:
        ours.execute(f"CREATE FOREIGN TABLE hinted ({COLUMNS}) SERVER stream".encode())
        try:
            with pytest.raises(psycopg.errors.FeatureNotSupported) as error:
                ours.execute(f"CREATE VIEW asked AS {refused}".encode())
            assert words in (error.value.diag.message_hint or "")
            with pytest.raises(psycopg.errors.FeatureNotSupported):
                ours.execute(f"EXPLAIN CREATE VIEW asked AS {refused}".encode())
            ours.execute(f"CREATE VIEW followed AS {written}".encode())
            ours.execute(ROWS.encode())
            rows = ours.execute("SELECT * FROM followed ORDER BY 1").fetchall()
            assert rows == theirs.execute(f"{refused} ORDER BY 1".encode()).fetchall()
        finally:
            ours.execute("DROP FOREIGN TABLE hinted CASCADE")


def test_a_view_that_passes_over_rows_of_other_weeks_is_told_what_now_means(server: AntumbraServer) -> None:
    with server.connect() as ours:
        notices: list[str] = []
        ours.add_notice_handler(lambda diagnostic: notices.append(diagnostic.message_primary or ""))
        ours.execute("CREATE FOREIGN TABLE hinted (week integer) SERVER stream")
        try:
            ours.execute("CREATE VIEW this_week AS SELECT count(*) FROM hinted WHERE week = extract(week FROM now())")
            assert notices == [
                "now() below the grouping is the time at which a tuple is inserted, not the time at which the view is read",
                'view "this_week" groups by the time zone "UTC", whoever reads it: extract(week FROM now())',
            ]
        finally:
            ours.execute("DROP FOREIGN TABLE hinted CASCADE")


@pytest.mark.parametrize(
    "condition",
    [
        "at::date = current_date",
        "at IN (now())",
        "at::date NOT IN (current_date, current_date - 1)",
        "to_char(at, 'YYYY-MM-DD') LIKE to_char(now(), 'YYYY-MM-DD')",
        "nullif(at::date, current_date) IS NULL",
        "extract(hour FROM at) = extract(hour FROM localtimestamp)",
        "at < 'now'::text::timestamptz - interval '1 hour'",
        "at::date = 'today'::varchar::date",
    ],
)
def test_no_disguise_makes_a_condition_on_the_rows_of_today_look_like_an_answer(
    server: AntumbraServer, condition: str
) -> None:
    with server.connect() as ours:
        ours.execute("CREATE FOREIGN TABLE passing (k integer, at timestamptz) SERVER stream")
        try:
            with pytest.raises(psycopg.errors.FeatureNotSupported, match="moves with now") as refused:
                ours.execute(f"CREATE VIEW today AS SELECT count(*) FROM passing WHERE {condition}".encode())
            assert "in steps" in (refused.value.diag.message_hint or "")
        finally:
            ours.execute("DROP FOREIGN TABLE passing CASCADE")


def test_a_condition_on_a_table_that_moves_with_now_is_made_above_the_groups(server: AntumbraServer) -> None:
    with server.connect() as ours:
        ours.execute("CREATE FOREIGN TABLE visits (id integer) SERVER stream")
        ours.execute(
            "CREATE TABLE seen (id integer, at timestamptz); INSERT INTO seen VALUES (1, now()), (2, '2001-01-01')"
        )
        recent = "at > now() - interval '1 hour'"
        try:
            for refused in (
                f"SELECT id, count(*) FROM visits JOIN seen USING (id) WHERE {recent} GROUP BY id",
                f"SELECT id, count(*) FROM visits WHERE id IN (SELECT id FROM seen WHERE {recent}) GROUP BY id",
                "SELECT id, count(*) FROM visits WHERE id < (SELECT extract(hour FROM now())) GROUP BY id",
            ):
                with pytest.raises(psycopg.errors.FeatureNotSupported) as error:
                    ours.execute(f"CREATE VIEW moving AS {refused}".encode())
                assert "compare above them" in (error.value.diag.message_hint or "")
            groups = "FROM (SELECT id, count(*) AS n FROM visits GROUP BY id) g"
            joined = f"SELECT id, sum(n)::bigint AS n {groups} JOIN seen USING (id) WHERE {recent} GROUP BY id"
            chosen = (
                f"SELECT id, sum(n)::bigint AS n {groups} WHERE id IN (SELECT id FROM seen WHERE {recent}) GROUP BY id"
            )
            ours.execute(f"CREATE VIEW joined AS {joined}".encode())
            ours.execute(f"CREATE VIEW chosen AS {chosen}".encode())
            (plan,) = ours.execute(f"EXPLAIN (FORMAT json) CREATE VIEW other AS {joined}".encode()).fetchone() or ()
            assert "now()" in str(plan)
            lines = ours.execute(f"EXPLAIN CREATE VIEW other AS {joined}".encode()).fetchall()
            assert any("- interval '01:00:00'" in str(line) for (line,) in lines)
            ours.execute("INSERT INTO visits VALUES (1), (1), (2)")
            for view in ("joined", "chosen"):
                assert ours.execute(f"SELECT * FROM {view}".encode()).fetchall() == [(1, 2)]
            ours.execute("UPDATE seen SET at = at - interval '2 hours'")
            for view in ("joined", "chosen"):
                assert ours.execute(f"SELECT * FROM {view}".encode()).fetchall() == []
        finally:
            ours.execute("DROP FOREIGN TABLE visits CASCADE")
            ours.execute("DROP TABLE seen CASCADE")
