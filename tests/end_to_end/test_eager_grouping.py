"""Joins that no stream pipeline probes, and tables that change under a view, against PostgreSQL
over tables with the same rows.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import psycopg
import pytest

from tests.end_to_end.joined_shapes import JOINED
from tests.end_to_end.test_view_shapes import STREAMS, TABLES, WRITERS, insert
from tests.oracle.antumbra import AntumbraServer

Connection = psycopg.Connection[tuple[object, ...]]

LATER = {
    "later_inner": "select a.name, count(*), sum(s.d), avg(s.v), min(s.t), count(distinct s.v) d from s join a on a.id = s.k "
    "group by a.name",
    "later_left": "select s.t, a.g, count(*), sum(a.id) i, bool_or(s.v > 3), bit_and(s.v) from s left join a on a.id = s.k and a.g < 3 "
    "group by 1, 2",
}
CHANGES = (
    "UPDATE a SET name = 'four', g = 1 WHERE id = 4",
    "DELETE FROM a WHERE id = 2",
    "INSERT INTO a VALUES (5, 'five', 1), (2, 'two again', 7)",
)


def check(ours: Connection, theirs: Connection) -> None:
    for name, query in (JOINED | LATER).items():
        expected = sorted(map(repr, theirs.execute(query.encode()).fetchall()))
        assert sorted(map(repr, ours.execute(f"SELECT * FROM {name}".encode()).fetchall())) == expected, (name, query)


@pytest.mark.turns(2, 1)
def test_joins_that_no_stream_pipeline_probes(tmp_path: Path, oracle: Connection) -> None:
    server = AntumbraServer(tmp_path / "data").start()
    chance = Random(6)
    with server.connect() as ours:
        for name, columns in STREAMS.items():
            ours.execute(f"CREATE FOREIGN TABLE {name} {columns} SERVER stream".encode())
            oracle.execute(f"CREATE TABLE {name} {columns}".encode())
        for statement in TABLES:
            ours.execute(statement.encode())
            oracle.execute(statement.encode())
        for name, query in JOINED.items():
            ours.execute(f"CREATE VIEW {name} AS {query}".encode())
        ours.execute("SET default_stream_join = 'retroactive'")
        for name, query in LATER.items():
            ours.execute(f"CREATE VIEW {name} AS {query}".encode())
        check(ours, oracle)
        writers = [server.connect() for _ in range(WRITERS)]
        for statements_count in (5, 30):
            insert(chance, writers, oracle, statements_count)
            check(ours, oracle)
        for writer in writers:
            writer.close()
        ours.execute(
            "CREATE VIEW fixed WITH (stream_join = frozen) AS SELECT a.name, count(*) FROM s JOIN a ON a.id = k GROUP BY a.name"
        )
        with pytest.raises(psycopg.errors.ObjectInUse) as refused:
            ours.execute(CHANGES[0].encode())
        assert '"fixed"' in str(refused.value) and "stream_join = retroactive" in (
            refused.value.diag.message_hint or ""
        )
        ours.execute("DROP VIEW fixed")
        for change in CHANGES:
            ours.execute(change.encode())
            oracle.execute(change.encode())
            check(ours, oracle)
    server.kill()
    server.start()
    with server.connect() as ours:
        check(ours, oracle)
        insert(chance, [ours], oracle, 10)
        check(ours, oracle)
        for stream in STREAMS:
            ours.execute(f"DROP FOREIGN TABLE {stream} CASCADE".encode())
    assert server.stop() == 0


def test_what_eager_grouping_says(server: AntumbraServer) -> None:
    with server.connect() as ours:
        notices: list[str] = []
        ours.add_notice_handler(lambda diagnostic: notices.append(diagnostic.message_primary or ""))
        ours.execute("CREATE FOREIGN TABLE told (a integer, b integer, c integer) SERVER stream")
        ours.execute("CREATE TABLE teller (a integer)")
        try:
            query = "SELECT t.a, count(*) FROM teller t LEFT JOIN told USING (a) WHERE told.b IS NULL OR told.b > 0 GROUP BY t.a"
            ours.execute(f"CREATE VIEW says AS {query}".encode())
            assert notices == ["eager grouping groups stream told also by b, a"]
            (line,) = ours.execute(f"EXPLAIN CREATE VIEW again AS {query}".encode()).fetchmany(2)[1]
            assert line == "Eager grouping groups stream told also by b, a"
            for options, text, message in (
                (" WITH (eager_grouping = off)", query, "keeps a table's rows"),
                ("", query.replace("count(*)", "first(c)"), "first over rows that are grouped"),
            ):
                with pytest.raises(psycopg.errors.FeatureNotSupported, match=message) as refused:
                    ours.execute(f"CREATE VIEW refused{options} AS {text}".encode())
            assert "Rule (b)" in (refused.value.diag.message_detail or ""), "there is one stream"
            notices.clear()
            ours.execute(f"CREATE VIEW whole AS {query.replace('count(*)', 'count(DISTINCT c)')}".encode())
            assert notices == ["eager grouping keeps every column of stream told: 56 bytes for each distinct row"]
            with pytest.raises(psycopg.errors.InvalidParameterValue, match="stream_join"):
                ours.execute(f"CREATE VIEW refused WITH (stream_join = later) AS {query}".encode())
        finally:
            ours.execute("DROP FOREIGN TABLE told CASCADE")
            ours.execute("DROP TABLE teller")
