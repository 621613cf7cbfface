"""Statements that act on sessions: pg_sleep, pg_cancel_backend, pg_terminate_backend."""

from __future__ import annotations

import threading
import time

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

pytestmark = pytest.mark.slow

LONG_S = 30.0
SETTLE_S = 0.3
CLIENTS = 12


def test_a_sleep_lasts_and_is_void(server: AntumbraServer) -> None:
    with server.connect() as connection:
        began = time.monotonic()
        cursor = connection.execute("SELECT pg_sleep(0.2), pg_sleep(NULL)")
        assert time.monotonic() - began >= 0.2
        assert cursor.description is not None and cursor.description[0].type_code == 2278
        assert cursor.fetchall() == [("", None)]
        assert connection.execute("SELECT pg_sleep(0)", binary=True).fetchall() == [(b"",)]


def test_sleepers_hold_nobody_up(server: AntumbraServer) -> None:
    connections = [server.connect() for _ in range(CLIENTS)]
    errors: list[str] = []

    def sleep(connection: psycopg.Connection[tuple[object, ...]]) -> None:
        try:
            connection.execute(f"SELECT pg_sleep({LONG_S})")
        except psycopg.errors.QueryCanceled as error:
            errors.append(str(error))

    threads = [threading.Thread(target=sleep, args=(connection,)) for connection in connections]
    for thread in threads:
        thread.start()
    time.sleep(SETTLE_S)
    with server.connect() as other:
        began = time.monotonic()
        assert other.execute("SELECT count(*) FROM generate_series(1, 1000)").fetchone() == (1000,)
        assert time.monotonic() - began < LONG_S / 3
        for connection in connections:
            cancelled = other.execute(f"SELECT pg_cancel_backend({connection.info.backend_pid})").fetchone()
            assert cancelled == (True,)
    for thread in threads:
        thread.join(LONG_S / 3)
    assert errors == ["canceling statement due to user request"] * CLIENTS
    for connection in connections:
        assert connection.execute("SELECT 1").fetchone() == (1,)
        connection.close()


def test_statement_timeout_ends_a_sleep(server: AntumbraServer) -> None:
    with server.connect() as connection:
        connection.execute("SET statement_timeout = 100")
        with pytest.raises(psycopg.errors.QueryCanceled, match="statement timeout"):
            connection.execute(f"SELECT pg_sleep({LONG_S})")


@pytest.mark.parametrize("busy", [False, True])
def test_a_session_is_ended_by_another(server: AntumbraServer, busy: bool) -> None:
    with server.connect(autocommit=False) as connection, server.connect() as other:
        connection.execute("CREATE TABLE be_gone (k int)")
        if busy:
            killer = threading.Timer(SETTLE_S, terminate, (other, connection.info.backend_pid))
            killer.start()
            with pytest.raises(
                psycopg.errors.AdminShutdown, match="terminating connection due to administrator command"
            ):
                connection.execute(f"SELECT pg_sleep({LONG_S})")
            killer.join()
        else:
            terminate(other, connection.info.backend_pid)
            time.sleep(SETTLE_S)
            with pytest.raises(psycopg.OperationalError, match="terminating connection due to administrator command"):
                connection.execute("SELECT 1")
        assert connection.closed
        with pytest.raises(psycopg.errors.UndefinedTable):
            other.execute("SELECT * FROM be_gone")


def test_a_session_ends_itself(server: AntumbraServer) -> None:
    with server.connect() as connection:
        own = connection.info.backend_pid
        with pytest.raises(psycopg.errors.AdminShutdown):
            connection.execute(f"SELECT pg_terminate_backend({own}), pg_sleep({LONG_S})")


def test_sessions_are_seen(server: AntumbraServer) -> None:
    with server.connect(autocommit=False) as connection, server.connect() as other:
        connection.execute("SET application_name = 'watched'")
        query = "SELECT pid, state FROM pg_stat_activity WHERE application_name = 'watched'"
        assert other.execute(query).fetchall() == [(connection.info.backend_pid, "idle in transaction")]
        connection.rollback()
        connection.execute("SET application_name = 'watched'")
        connection.commit()
        assert other.execute(query).fetchall() == [(connection.info.backend_pid, "idle")]
        own = other.execute("SELECT state, usename FROM pg_stat_activity WHERE pid = pg_backend_pid()").fetchall()
        assert own == [("active", "antumbra")]


def test_nobody_there(server: AntumbraServer) -> None:
    with server.connect() as connection:
        notices: list[str | None] = []
        connection.add_notice_handler(lambda notice: notices.append(notice.message_primary))
        assert connection.execute("SELECT pg_cancel_backend(999999), pg_terminate_backend(NULL)").fetchone() == (
            False,
            None,
        )
        assert notices == ["PID 999999 is not an Antumbra server process"]


def terminate(connection: psycopg.Connection[tuple[object, ...]], process_id: int) -> None:
    """End a session."""
    assert connection.execute(f"SELECT pg_terminate_backend({process_id})").fetchone() == (True,)
