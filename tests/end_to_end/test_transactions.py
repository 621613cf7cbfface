"""Several clients at once: what they see of each other's transactions, waiting for DDL, hanging up,
cancelling.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from tests.end_to_end.raw_client import COPY_DONE, RawClient, cancel, copy_data, query
from tests.oracle.antumbra import AntumbraServer

pytestmark = pytest.mark.slow

WAIT_S_MAX = 20.0
# Long enough for a statement to begin to wait, where nothing outside tells that it does.
SETTLE_S = 0.2


@pytest.fixture
def stream(server: AntumbraServer) -> Iterator[str]:
    """A stream and the number of its rows; dropped at the end, with whatever else stands on it."""
    with server.connect() as connection:
        connection.execute("CREATE FOREIGN TABLE tr (k int, t text) SERVER stream")
        connection.execute("CREATE VIEW tr_count AS SELECT count(*) AS n FROM tr")
        yield "tr"
        connection.execute("DROP FOREIGN TABLE IF EXISTS tr CASCADE")


def raw(server: AntumbraServer) -> RawClient:
    return RawClient(server.port, "antumbra", "antumbra")


def one_value(server: AntumbraServer, text: str) -> object:
    with server.connect() as connection:
        row = connection.execute(text.encode()).fetchone()
        assert row is not None
        return row[0]


def wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + WAIT_S_MAX
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def test_definitions_and_rows_are_there_for_others_at_commit(server: AntumbraServer) -> None:
    with server.connect(autocommit=False) as maker, server.connect() as other:
        for ends, seen in ((maker.rollback, False), (maker.commit, True)):
            maker.execute("CREATE FOREIGN TABLE staged (k int) SERVER stream")
            maker.execute("CREATE VIEW staged_sum AS SELECT sum(k) AS total FROM staged")
            maker.execute("INSERT INTO staged VALUES (1), (2)")
            assert maker.execute("SELECT total FROM staged_sum").fetchone() == (None,)
            for text in ("SELECT total FROM staged_sum", "INSERT INTO staged VALUES (4)"):
                with pytest.raises(psycopg.errors.UndefinedTable):
                    other.execute(text.encode())
            ends()
            if seen:
                assert other.execute("SELECT total FROM staged_sum").fetchone() == (3,)
                other.execute("DROP FOREIGN TABLE staged CASCADE")


def test_a_second_ddl_waits_for_the_first_to_end(server: AntumbraServer, stream: str) -> None:
    first, second = raw(server), raw(server)
    first.ask(query("BEGIN"))
    first.ask(query("CREATE VIEW waited AS SELECT sum(k) AS s FROM tr"))
    second.send(query("CREATE VIEW waited AS SELECT max(k) AS m FROM tr"))
    time.sleep(SETTLE_S)
    assert first.ask(query("COMMIT")) == ["C COMMIT", "Z I"]
    assert second.read_until_ready()[0].startswith("E ERROR 42P07")
    first.ask(query("BEGIN; DROP VIEW waited"))
    second.send(query("CREATE VIEW waited AS SELECT max(k) AS m FROM tr"))
    time.sleep(SETTLE_S)
    first.ask(query("COMMIT"))
    assert second.read_until_ready() == ["C CREATE VIEW", "Z I"]


def test_an_error_lets_the_next_ddl_begin(server: AntumbraServer, stream: str) -> None:
    first, second = raw(server), raw(server)
    first.ask(query("BEGIN; CREATE VIEW gone AS SELECT sum(k) AS s FROM tr"))
    assert first.ask(query("SELECT 1/0"))[-1] == "Z E"
    assert second.ask(query("CREATE VIEW gone AS SELECT sum(k) AS s FROM tr")) == ["C CREATE VIEW", "Z I"]
    first.ask(query("ROLLBACK"))


def test_dropping_a_stream_fails_the_transaction_that_wrote_to_it(server: AntumbraServer, stream: str) -> None:
    with server.connect(autocommit=False) as writer, server.connect() as other:
        writer.execute("INSERT INTO tr VALUES (1)")
        other.execute("DROP FOREIGN TABLE tr CASCADE")
        other.execute("CREATE FOREIGN TABLE tr (k int, t text) SERVER stream")
        other.execute("CREATE VIEW tr_count AS SELECT count(*) AS n FROM tr")
        with pytest.raises(psycopg.errors.SerializationFailure):
            writer.commit()
        assert writer.execute("SELECT n FROM tr_count").fetchone() == (0,)
        writer.execute("INSERT INTO tr VALUES (2)")
        writer.commit()
        assert other.execute("SELECT n FROM tr_count").fetchone() == (1,)


def test_a_view_sees_what_commits_after_it_was_created(server: AntumbraServer, stream: str) -> None:
    with server.connect() as connection:
        writer = raw(server)
        writer.send(query("COPY tr FROM STDIN"), copy_data(b"5\ta\n" * 2000))
        writer.read_until("G")
        inserting = raw(server)
        inserting.ask(query("BEGIN; INSERT INTO tr VALUES (7, 'b')"))
        connection.execute("CREATE VIEW late AS SELECT k, count(*) AS n FROM tr GROUP BY k")
        assert writer.ask(COPY_DONE) == ["C COPY 2000", "Z I"]
        inserting.ask(query("COMMIT"))
        assert connection.execute("SELECT k, n FROM late ORDER BY k").fetchall() == [(5, 2000), (7, 1)]


def test_a_view_created_meanwhile_may_refuse_at_commit(server: AntumbraServer, stream: str) -> None:
    with server.connect() as connection:
        copying, inserting = raw(server), raw(server)
        copying.send(query("COPY tr FROM STDIN"), copy_data(b"1\ta\n0\tb\n"))
        copying.read_until("G")
        inserting.ask(query("BEGIN; INSERT INTO tr VALUES (0, 'b')"))
        connection.execute("CREATE VIEW inverse AS SELECT sum(1 / k) AS s FROM tr")
        for answer in (copying.ask(COPY_DONE), inserting.ask(query("COMMIT"))):
            assert answer == ["E ERROR 22012: division by zero", "Z I"]
        assert connection.execute("SELECT n, s FROM tr_count, inverse").fetchone() == (0, None)


def test_two_views_and_the_second_refuses(server: AntumbraServer, stream: str) -> None:
    with server.connect() as connection:
        connection.execute("CREATE VIEW inverse AS SELECT sum(1 / k) AS s FROM tr")
        for text in (
            "INSERT INTO tr VALUES (1), (0)",
            "BEGIN; INSERT INTO tr VALUES (1); INSERT INTO tr VALUES (0); COMMIT",
        ):
            answer = raw(server).ask(query(text))
            assert answer[-2] == "E ERROR 22012: division by zero"
        with pytest.raises(psycopg.errors.DivisionByZero), connection.cursor().copy("COPY tr FROM STDIN") as copy:
            copy.write(b"1\ta\n" * 5000 + b"0\tb\n")
        assert connection.execute("SELECT n, s FROM tr_count, inverse").fetchone() == (0, None)


def test_hanging_up_ends_the_transaction(server: AntumbraServer, stream: str) -> None:
    gone, waiting = raw(server), raw(server)
    gone.ask(query("BEGIN; INSERT INTO tr VALUES (1); CREATE VIEW held AS SELECT sum(k) AS s FROM tr"))
    waiting.send(query("CREATE VIEW held AS SELECT max(k) AS m FROM tr"))
    gone.hang_up()
    assert waiting.read_until_ready() == ["C CREATE VIEW", "Z I"]
    assert one_value(server, "SELECT n FROM tr_count") == 0


def test_hanging_up_while_waiting_for_ddl(server: AntumbraServer, stream: str) -> None:
    holder, gone, waiting = raw(server), raw(server), raw(server)
    holder.ask(query("BEGIN; CREATE VIEW held AS SELECT sum(k) AS s FROM tr"))
    gone.send(query("CREATE VIEW held AS SELECT max(k) AS m FROM tr"))
    time.sleep(SETTLE_S)
    gone.hang_up()
    waiting.send(query("CREATE VIEW held AS SELECT min(k) AS m FROM tr"))
    holder.ask(query("ROLLBACK"))
    assert waiting.read_until_ready() == ["C CREATE VIEW", "Z I"]


def test_hanging_up_in_a_copy_keeps_nothing(server: AntumbraServer, stream: str) -> None:
    gone = raw(server)
    gone.send(query("BEGIN"), query("COPY tr FROM STDIN"), copy_data(b"1\ta\n" * 400_000))
    gone.read_until("G")
    gone.hang_up()
    alone = raw(server)
    alone.send(query("COPY tr FROM STDIN"), copy_data(b"1\ta\n" * 10))
    alone.read_until("G")
    alone.hang_up()
    with server.connect() as connection:
        connection.execute("INSERT INTO tr VALUES (2)")
        assert connection.execute("SELECT n FROM tr_count").fetchone() == (1,)


def test_cancel_of_a_waiting_ddl(server: AntumbraServer, stream: str) -> None:
    holder, waiting = raw(server), raw(server)
    holder.ask(query("BEGIN; CREATE VIEW held AS SELECT sum(k) AS s FROM tr"))
    waiting.send(query("CREATE VIEW other AS SELECT max(k) AS m FROM tr"))
    time.sleep(SETTLE_S)
    cancel(server.port, waiting)
    assert waiting.read_until_ready() == ["E ERROR 57014: canceling statement due to user request", "Z I"]
    holder.ask(query("ROLLBACK"))
    assert waiting.ask(query("CREATE VIEW other AS SELECT max(k) AS m FROM tr")) == ["C CREATE VIEW", "Z I"]


def test_cancel_of_a_copy(server: AntumbraServer, stream: str) -> None:
    copying = raw(server)
    copying.send(query("COPY tr FROM STDIN"), copy_data(b"1\ta\n"))
    copying.read_until("G")
    cancel(server.port, copying)
    assert copying.ask(copy_data(b"2\tb\n"), COPY_DONE) == [
        "E ERROR 57014: canceling statement due to user request",
        "Z I",
    ]
    assert copying.ask(query("INSERT INTO tr VALUES (3)")) == ["C INSERT 0 1", "Z I"]
    assert one_value(server, "SELECT n FROM tr_count") == 1


@pytest.mark.parametrize("text", ["{}", "COPY ({}) TO STDOUT"])
def test_cancel_of_an_answer_that_is_on_its_way(server: AntumbraServer, text: str) -> None:
    """The answer is larger than what sockets hold, and is not read before the cancellation."""
    rows = "SELECT repeat('long', 1000) FROM generate_series(1, 20000)"
    reading = raw(server)
    reading.send(query(text.format(rows)))
    reading.read_until("TH")
    cancel(server.port, reading)
    assert reading.read_until_ready()[-2:] == ["E ERROR 57014: canceling statement due to user request", "Z I"]
    assert reading.ask(query("SELECT 1"))[-2:] == ["C SELECT 1", "Z I"]


def test_cancel_between_statements_does_nothing(server: AntumbraServer) -> None:
    client = raw(server)
    cancel(server.port, client)
    assert client.ask(query("SELECT 1"))[-2:] == ["C SELECT 1", "Z I"]


def test_statement_timeout(server: AntumbraServer, stream: str) -> None:
    with server.connect() as connection:
        connection.execute("CREATE VIEW keys AS SELECT k, count(*) AS n FROM tr GROUP BY k")
        with connection.cursor().copy("COPY tr (k) FROM STDIN") as copy:
            copy.write("".join(f"{key}\n" for key in range(20_000)))
        connection.execute("SET statement_timeout = '300ms'")
        with pytest.raises(psycopg.errors.QueryCanceled, match="statement timeout"):
            connection.execute("SELECT count(*) FROM keys a, keys b, keys c WHERE a.k <> b.k AND b.k <> c.k")
        assert connection.execute("SELECT sum(n) FROM keys").fetchone() == (20_000,)
    holder, waiting = raw(server), raw(server)
    holder.ask(query("BEGIN; CREATE VIEW held AS SELECT sum(k) AS s FROM tr"))
    waiting.ask(query("SET statement_timeout = 200"))
    assert waiting.ask(query("DROP VIEW keys")) == [
        "E ERROR 57014: canceling statement due to statement timeout",
        "Z I",
    ]
    waiting.send(query("COPY tr FROM STDIN"))
    waiting.read_until("G")
    time.sleep(0.4)
    assert waiting.ask(copy_data(b"1\ta\n"), COPY_DONE)[0].startswith(
        "E ERROR 57014: canceling statement due to statement"
    )
    holder.ask(query("ROLLBACK"))


def test_a_publishing_copy_needs_its_own_transaction(server: AntumbraServer, stream: str) -> None:
    client = raw(server)
    client.ask(query("BEGIN"))
    answer = client.ask(query("COPY tr FROM STDIN WITH (publish '10ms')"))
    assert answer[0].startswith("E ERROR 25001") and answer[1] == "Z E"
    client.ask(query("ROLLBACK"))
    client.ask(query("SET stream_publish_interval = '1ms'"))
    client.ask(query("BEGIN"))
    client.send(query("COPY tr FROM STDIN"), copy_data(b"1\ta\n"))
    time.sleep(0.05)
    client.send(copy_data(b"2\ta\n"), COPY_DONE)
    client.read_until_ready()
    client.ask(query("ROLLBACK"))
    assert one_value(server, "SELECT n FROM tr_count") == 0
    client.send(query("COPY tr FROM STDIN"), copy_data(b"1\ta\n"))
    client.read_until("G")
    wait_until(lambda: one_value(server, "SELECT n FROM tr_count") == 1, "an idle client's row is not published")
    client.hang_up()


def test_a_refused_publish_says_what_is_kept(server: AntumbraServer, stream: str) -> None:
    with server.connect() as connection:
        connection.execute("CREATE VIEW inverse AS SELECT sum(1 / k) AS s FROM tr")
        client = raw(server)
        client.send(query("COPY tr FROM STDIN WITH (publish '1ms')"), copy_data(b"1\ta\n"))
        client.read_until("G")
        wait_until(lambda: one_value(server, "SELECT n FROM tr_count") == 1, "the row is not published")
        client.send(copy_data(b"0\ta\n"))
        # The error comes by itself; what the client still sends is ignored.
        assert client.read_until_ready() == ["E ERROR 22012: division by zero", "Z I"]
        assert client.ask(copy_data(b"1\ta\n"), COPY_DONE, query("SELECT 1"))[-2:] == ["C SELECT 1", "Z I"]
        assert connection.execute("SELECT n, s FROM tr_count, inverse").fetchone() == (1, 1)


def test_kernels_go_with_their_views(server: AntumbraServer, stream: str) -> None:
    kernels = Path(server.folder) / "kernels"

    def files() -> set[str]:
        return {path.name.partition(".")[0] for path in kernels.glob("*.*")}

    before = files()
    client = raw(server)
    client.ask(query("BEGIN; CREATE VIEW brief AS SELECT k, sum(k) AS s FROM tr GROUP BY k HAVING sum(k) > 1"))
    assert files() > before
    client.ask(query("ROLLBACK"))
    assert files() == before
    client.ask(query("CREATE VIEW brief AS SELECT k, sum(k) AS s FROM tr GROUP BY k"))
    client.ask(query("DROP VIEW brief"))
    assert files() == before


def test_where_an_insert_goes_wrong(server: AntumbraServer, stream: str) -> None:
    with server.connect() as connection:
        connection.execute("CREATE VIEW inverse AS SELECT sum(1 / k) AS s FROM tr")
        with pytest.raises(psycopg.errors.DivisionByZero) as caught:
            connection.execute("INSERT INTO tr VALUES (%s)", (0,))
    context = caught.value.diag.context or ""
    assert 'view "inverse"' in context and "1 / k" in context


@pytest.fixture
def doctors(server: AntumbraServer) -> Iterator[None]:
    """Two doctors on call, and a stream of what was decided."""
    with server.connect() as connection:
        connection.execute("CREATE TABLE doctors (name text PRIMARY KEY, on_call bool)")
        connection.execute("INSERT INTO doctors VALUES ('a', true), ('b', true)")
        connection.execute("CREATE FOREIGN TABLE leaves (name text) SERVER stream")
        connection.execute("CREATE VIEW leaves_count AS SELECT count(*) AS n FROM leaves")
        yield
        connection.execute("DROP FOREIGN TABLE leaves CASCADE")
        connection.execute("DROP TABLE doctors")


@pytest.mark.parametrize(("level", "fails"), [("SERIALIZABLE", True), ("REPEATABLE READ", False)])
def test_write_skew(server: AntumbraServer, doctors: None, level: str, fails: bool) -> None:
    clients = [server.connect(autocommit=False) for _ in range(2)]
    for client in clients:
        client.isolation_level = psycopg.IsolationLevel[level.replace(" ", "_")]
        assert client.execute("SHOW transaction_isolation").fetchone() == (level.lower(),)
        assert client.execute("SELECT count(*) FROM doctors WHERE on_call").fetchone() == (2,)
    for client, name in zip(clients, "ab", strict=True):
        client.execute("UPDATE doctors SET on_call = false WHERE name = %s", [name])
    clients[0].commit()
    if fails:
        with pytest.raises(psycopg.errors.SerializationFailure, match="read/write dependencies"):
            clients[1].commit()
    else:
        clients[1].commit()
    assert one_value(server, "SELECT count(*) FROM doctors WHERE on_call") == (1 if fails else 0)
    for client in clients:
        client.close()


def test_write_skew_of_streams(server: AntumbraServer, doctors: None) -> None:
    clients = [server.connect(autocommit=False) for _ in range(2)]
    for client, name in zip(clients, "ab", strict=True):
        client.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
        assert client.execute("SELECT n FROM leaves_count").fetchone() == (0,)
        client.execute("INSERT INTO leaves VALUES (%s)", [name])
    clients[1].commit()
    with pytest.raises(psycopg.errors.SerializationFailure):
        clients[0].commit()
    # Nothing of it is there, and another try succeeds.
    assert clients[0].execute("SELECT n FROM leaves_count").fetchone() == (1,)
    clients[0].execute("INSERT INTO leaves VALUES ('again')")
    clients[0].commit()
    assert one_value(server, "SELECT n FROM leaves_count") == 2
    for client in clients:
        client.close()


def test_the_level_is_chosen_before_the_first_query(server: AntumbraServer, doctors: None) -> None:
    with server.connect(autocommit=False) as client:
        client.execute("SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED")
        assert client.execute("SHOW transaction_isolation").fetchone() == ("read uncommitted",)
        client.execute("SELECT 1 FROM doctors")
        with pytest.raises(psycopg.errors.ActiveSqlTransaction, match="must be called before any query"):
            client.execute("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
