"""Memory that one statement makes the server take: values, series and answers are bounded, or wait
in a file for a client that does not read.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.end_to_end.raw_client import RawClient, query
from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

pytestmark = pytest.mark.slow

MIB = 1024 * 1024
# Without bounds each of these takes 3 GB or more.
GROWTH_BYTES_MAX = 1536 * MIB
# 600 MB of rows, of which some 64 may be in memory.
UNREAD = "SELECT repeat('x', 1000) AS text FROM generate_series(1, 600000)"
UNREAD_BYTES_MAX = 350 * MIB
LOOK_S = 0.01
REPLACED = ", 'o', 'oooo')"
STEPS = "".join(f", c{n + 1} AS (SELECT d || d || d || d AS d FROM c{n})" for n in range(10))
GROWING = (
    ("SELECT count(*) FROM pg_class, generate_series(1, 2000000::bigint)", None),
    ("SELECT generate_series(1, 2000000000) FROM pg_class", "53200"),
    ("SELECT count(*) FROM pg_class c, generate_series(1, c.oid::bigint * 1000000)", "53200"),
    ("SELECT a.oid FROM pg_class a, pg_class b, pg_class c, pg_class d", "53200"),
    ("SELECT count(*) FROM few, generate_series(1, few.a * 10000000::bigint)", "53200"),
    ("SELECT count(*) FROM generate_series(1, 1e9, 0.5)", "53200"),
    ("SELECT count(*) FROM generate_series(timestamp '2000-01-01', '2000-02-01', '1 second')", None),
    ("SELECT length(replace(repeat('a', 100000), 'a', repeat('b', 100000)))", "53200"),
    ("SELECT replace(relname::text || repeat_of.text, 'a', repeat_of.text) FROM pg_class, repeat_of", "53200"),
    ("SELECT length(regexp_replace(repeat('a', 50000), 'a', repeat('b', 100000), 'g'))", "53200"),
    ("SELECT length(format('%1000000000s', 'x'))", "53200"),
    ("SELECT length(format('%1$60000000s%1$60000000s', 'x'))", "53200"),
    ("SELECT format('%1000000000s', relname) FROM pg_class", "53200"),
    ("SELECT length(repeat('a', 1000000000))", "54000"),
    ("SELECT lpad(a::text, 1000000) FROM generate_series(1, 1000) a", "54000"),
    ("SELECT array_length(string_to_array(repeat('a,', 30000000), ','), 1)", "53200"),
    ("SELECT array_to_string(string_to_array(repeat('a,', 100000), ','), repeat('b', 10000))", "53200"),
    (f"SELECT length({' || '.join(['x'] * 40)}) FROM (SELECT repeat('a', 20000000) AS x) q", "53200"),
    (f"SELECT length(concat({', '.join(['x'] * 40)})) FROM (SELECT repeat('a', 20000000) AS x) q", "53200"),
    (f"SELECT length(concat_ws(x, {', '.join(['x'] * 40)})) FROM (SELECT repeat('a', 20000000) AS x) q", "53200"),
    ("SELECT length(string_agg(repeat('a', 1000000), '')) FROM generate_series(1, 5000)", "53200"),
    # A long text is in memory once, and what is made of it in each of many rows would be there as
    # often.
    ("SELECT text, text, text, text, text FROM long, generate_series(1, 2000)", "53200"),
    ("SELECT length(text || n) FROM long, generate_series(1, 2000) n", "53200"),
    ("SELECT text || n || text FROM long, generate_series(1, 2000) n", "53200"),
    ("SELECT count(DISTINCT reverse(text || n)) FROM long, generate_series(1, 2000) n", "53200"),
    ("SELECT ARRAY[text, text, text, text || n] FROM long, generate_series(1, 1000) n", "53200"),
    ("SELECT ROW(text, text, text, text || n) FROM long, generate_series(1, 1000) n", "53200"),
    ("SELECT json_build_object('a', text, 'b', text || n) FROM long, generate_series(1, 1000) n", "53200"),
    ("SELECT encode((text || n)::bytea, 'hex') FROM long, generate_series(1, 1000) n", "53200"),
    ("SELECT count(*) FROM long a, long b, generate_series(1, 2000) n WHERE a.text || n = b.text", "53200"),
    ("SELECT text || n FROM long, generate_series(1, 5000) n ORDER BY 1", "53200"),
    ("SELECT (SELECT text || n FROM long) FROM generate_series(1, 2000) n", "53200"),
    ("SELECT x FROM generate_series(1, 2000) n, LATERAL (SELECT text || n AS x FROM long) q", "53200"),
    ("INSERT INTO long SELECT text || n FROM long, generate_series(1, 5000) n", "53200"),
    ("CREATE TABLE longer AS SELECT text || n AS text FROM long, generate_series(1, 5000) n", "53200"),
    ("COPY (SELECT text, n, text, text FROM long, generate_series(1, 2000) n) TO STDOUT", "53200"),
    ("SELECT array_agg(n) OVER (ORDER BY n) FROM generate_series(1, 100000) n", "53200"),
    ("SELECT string_agg(text, ',') OVER (ORDER BY n) FROM long, generate_series(1, 2000) n", "53200"),
    ("SELECT x, x, x, x, x, x FROM pg_class, (SELECT repeat('a', 10000000) AS x) q", "53200"),
    ("SELECT length(relname || x) FROM pg_class, (SELECT repeat('a', 60000000) AS x) q", "53200"),
    ("SELECT relname, repeat('a', 1000000), repeat('b', 1000000) FROM pg_class", "53200"),
    ("SELECT ARRAY[x, x, x, x, x, x] FROM pg_class, (SELECT repeat('a', 1000000) AS x) q", "53200"),
    ("SELECT relname, repeat('x', 5000) FROM pg_class, generate_series(1, 10000)", "53200"),
    # A constant that is computed once, in all rows of a table.
    ("SELECT d || repeat('a', 1000000) FROM rows", "53200"),
    ("SELECT length(d || repeat('z', 1000000)) FROM rows WHERE length(d || repeat('z', 1000000)) > 0", "53200"),
    ("SELECT repeat('a', 1000000), repeat('b', 1000000), repeat('c', 1000000) FROM rows", "53200"),
    (f"SELECT d || '{'x' * 1000000}' FROM rows", "53200"),
    (f"SELECT {' || '.join(['x'] * 11)} FROM (SELECT repeat('a', 1000000) AS x FROM generate_series(1, 200)) q", "53200"),
    # Each step makes four times as much.
    (f"SELECT max(length({'replace(' * 12}d{REPLACED * 12})) FROM rows", "53200"),
    (f"WITH c0 AS (SELECT d FROM rows){STEPS} SELECT max(length(d)) FROM c10", "53200"),
    ("WITH RECURSIVE r(x, n) AS (SELECT 'a', 1 UNION ALL SELECT x || x, n + 1 FROM r WHERE n < 40) SELECT max(length(x)) FROM r", "53200"),
)  # fmt: skip
# What is legal has PostgreSQL's answer.
LEGAL = (
    "SELECT length(repeat('ab', 10000000)), length(lpad('x', 5000000)), length(format('%1000000s|%s', 'x', NULL))",
    "SELECT replace('aXbXc', 'X', repeat('y', 5)), replace('abc', '', 'x'), replace(NULL, 'a', 'b'), replace('aa', 'a', NULL)",
    "SELECT md5(replace(repeat('ab', 1000), 'a', repeat('c', 1000)))",
    "SELECT 'a' || 1 || 'b' || 2 || 'c' || 3 || 'd', 'a' || NULL || 'b' || 'c' || 'd' || 'e'",
    "SELECT ('a' || 'b') || ('c' || ('d' || ('e' || 'f')))",
    "SELECT a || b || a || b || a || b FROM (VALUES ('x', 'y'), ('z', NULL), (NULL, NULL)) v(a, b)",
    "SELECT concat(1, true, 'a', date '2020-01-01', 1.50, null, 'b'), concat_ws('-', 1, true, 'a', null, date '2020-01-01', 1.5, 'b')",
    "SELECT concat_ws(s, a, b, a, b, a, null, b, a) FROM (VALUES ('-', 'x', null), (null, 'y', 'z'), (',', null, null)) v(s, a, b)",
    "SELECT concat_ws(s, a, b, a, b, a), concat(a, b, a, b, a, b, a) FROM (VALUES ('ab', '', ''), ('', null, 'q')) v(s, a, b)",
    "SELECT length(text || n || text), n FROM long, generate_series(1, 9) n ORDER BY n",
    "SELECT relname || repeat('x', 3), format('%s|%5s', relname, relkind), ARRAY[relname] FROM pg_class WHERE relname = 'pg_type'",
    "SELECT upper(typname || x) FROM pg_type, (SELECT repeat('a', 20000) AS x) q WHERE typname IN ('int4', 'text') ORDER BY 1",
    "SELECT text || n AS x, text AS y FROM long, generate_series(1, 9) n ORDER BY n DESC LIMIT 3",
    "SELECT upper(d) || n, ARRAY[d, d || 'x'], ROW(d, n) FROM rows, generate_series(1, 2) n WHERE d || n LIKE '%w 11' ORDER BY d, n",
    "SELECT count(*) FROM rows a JOIN rows b ON a.d || 'x' = b.d || 'x' AND upper(a.d) = upper(b.d)",
    "SELECT a.d || coalesce(b.d, 'none') FROM rows a LEFT JOIN rows b ON a.d || '1' = b.d ORDER BY 1 DESC LIMIT 20",
    "SELECT d, n FROM rows, generate_series(1, 3) n ORDER BY d DESC, n LIMIT 20000",
    "SELECT replace(d, 'o', 'oooo'), replace(d, 'row', 'w'), replace(d, 'ow', 'ö') FROM rows ORDER BY d LIMIT 5",
    "SELECT length(x || x || x || x || x || x) FROM (SELECT repeat('ä', 100000) AS x) q",
    "SELECT a, g FROM (VALUES (2), (0), (NULL), (3)) v(a), generate_series(1, a) g ORDER BY 1, 2",
    "SELECT a, g FROM (VALUES (2), (5)) v(a), generate_series(10, 1, -a) g ORDER BY 1, 2 DESC",
    "SELECT g FROM generate_series(timestamp '2024-02-27', '2024-03-02', '1 day') g",
    "SELECT g FROM generate_series(timestamp '2024-02-27', '2024-02-26', '-7 hours') g",
    "SELECT g FROM generate_series(timestamptz '2024-02-27 00:00Z', '2024-02-27 01:00Z', '20 minutes') g",
    "SELECT g FROM generate_series(date '2024-01-31', date '2024-06-01', '1 month') g",
    "SELECT count(*) FROM generate_series(1, 3.5, 0.25)",
    "SELECT relname, g FROM pg_class, generate_series(3, 1, -1) g WHERE relname = 'pg_type' ORDER BY g",
    "SELECT relname, generate_series(1, 2) FROM pg_class WHERE relname = 'pg_type'",
    "SELECT count(*) FROM pg_type t, generate_series(1, t.typlen) g WHERE t.typname IN ('int4', 'text')",
    "SELECT string_to_array(repeat('a,', 3), ','), array_to_string(ARRAY['a', NULL, 'b'], ', ')",
)  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AntumbraServer]:
    """A server of its own, whose memory nobody else takes."""
    folder = tmp_path_factory.mktemp("memory") / "data"
    running = AntumbraServer(folder).start()
    with running.connect() as client:
        client.execute("CREATE TABLE few (a integer)")
        client.execute("INSERT INTO few SELECT * FROM generate_series(1, 10)")
        client.execute("CREATE TABLE long AS SELECT repeat('é', 1000000) AS text")
        client.execute("CREATE TABLE rows AS SELECT 'row ' || n AS d FROM generate_series(1, 20000) n")
        client.execute("CREATE TABLE repeat_of AS SELECT repeat('a', 100000) AS text")
    yield running
    running.kill()


def resident_bytes(server: AntumbraServer) -> int:
    """Return what the process has in memory."""
    lines = Path(f"/proc/{server.process_id}/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


@contextmanager
def growing_at_most(server: AntumbraServer, bytes_max: int) -> Iterator[None]:
    """Watch the process meanwhile, and kill it before it takes the machine's memory."""
    before, ended = resident_bytes(server), threading.Event()
    most = [0]

    def watch() -> None:
        while not ended.wait(LOOK_S):
            most[0] = max(most[0], resident_bytes(server) - before)
            if most[0] > bytes_max:
                server.kill()
                return

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield
    finally:
        ended.set()
        watching.join()
    assert most[0] <= bytes_max


@pytest.mark.turns(10)
@pytest.mark.parametrize(("text", "sqlstate"), GROWING)
def test_what_grows_is_stopped(server: AntumbraServer, text: str, sqlstate: str | None) -> None:
    with growing_at_most(server, GROWTH_BYTES_MAX), server.connect() as client:
        client.execute("SET statement_timeout = '60s'")
        if sqlstate is None:
            client.execute(text)
            return
        with pytest.raises(psycopg.Error) as caught:
            client.execute(text)
    assert caught.value.sqlstate == sqlstate
    detail = caught.value.diag.message_detail
    assert sqlstate == "54000" or (detail is not None and any(letter.isdigit() for letter in detail)), "with numbers"


@pytest.mark.turns(3)
@pytest.mark.parametrize("text", LEGAL)
def test_what_is_legal_has_the_answer_of_postgres(server: AntumbraServer, postgres: PostgresCluster, text: str) -> None:
    with server.connect() as ours, postgres.connect() as theirs:
        theirs.execute("CREATE TEMP TABLE long AS SELECT repeat('é', 1000000) AS text")
        theirs.execute("CREATE TEMP TABLE rows AS SELECT 'row ' || n AS d FROM generate_series(1, 20000) n")
        for one in (ours, theirs):
            one.execute("SET TimeZone = 'UTC'")
        assert ours.execute(text).fetchall() == theirs.execute(text).fetchall()


def test_a_client_that_does_not_read_costs_little_memory(server: AntumbraServer) -> None:
    with growing_at_most(server, UNREAD_BYTES_MAX):
        client = RawClient(server.port, "tester", "antumbra")
        client.send(query(UNREAD))
        time.sleep(LOOK_S)
        with server.connect() as other:
            until_sent(other)
        assert not list(server.folder.glob("answer-*")), "a file without a name is gone with its process"
    client.hang_up()


def until_sent(client: psycopg.Connection[tuple[object, ...]]) -> None:
    """Wait until the statement waits for its client."""
    text = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT repeat%' AND wait_event = 'ClientWrite'"
    for _ in range(6000):
        if client.execute(text).fetchone() == (1,):
            return
        time.sleep(LOOK_S)
    raise AssertionError("the statement is not done")


def test_an_answer_from_a_file_is_whole(server: AntumbraServer) -> None:
    with server.connect() as client:
        rows = client.execute("SELECT g, repeat('x', 500) FROM generate_series(1, 200000) g").fetchall()
        assert [row[0] for row in rows] == list(range(1, 200001)) and {row[1] for row in rows} == {"x" * 500}
        with client.cursor().copy(
            "COPY (SELECT g, repeat('x', 500) FROM generate_series(1, 200000) g) TO STDOUT"
        ) as copy:
            lines = b"".join(copy).split()
        assert [int(number) for number in lines[::2]] == list(range(1, 200001)) and set(lines[1::2]) == {b"x" * 500}
