"""SIGTERM while clients and threads are at everything that could hold it up: the server ends in
time, its JVM too, and nothing is lost.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from engine.server.shutdown import END_WAIT_S_MAX
from tests.engine.server.test_serve import jvms
from tests.oracle.antumbra import AntumbraServer
from tests.sql.wire.frames import query, startup

pytestmark = pytest.mark.slow

WAIT_S = 2.0
# For a busy machine; without an end in time, a test's server would be there for ever.
SLACK_S = 15.0
OPTIONS = ("--set", f"shutdown_wait_s_max={WAIT_S}")
AT_WORK_S = 1.0


def ended(server: AntumbraServer) -> int:
    """Send SIGTERM; return the exit status, having seen that it came in time."""
    began = time.monotonic()
    status = server.stop()
    assert time.monotonic() - began < WAIT_S + END_WAIT_S_MAX + SLACK_S
    return status


def is_running(process_id: int) -> bool:
    """Tell whether a process is there, and not only its exit status."""
    try:
        return Path(f"/proc/{process_id}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def at_work(pool: ThreadPoolExecutor, work: Callable[[], object]) -> None:
    """Do something in a thread that the server's end ends."""

    def work_until_the_end() -> None:
        with suppress(psycopg.Error):
            work()

    pool.submit(work_until_the_end)


def test_clients_hold_up_nothing(tmp_path: Path) -> None:
    server = AntumbraServer(tmp_path / "data", *OPTIONS).start()
    with server.connect() as client:
        client.execute("CREATE FOREIGN TABLE s (k int) SERVER stream")
        client.execute("CREATE TABLE t (k int)")
    with ThreadPoolExecutor(8) as pool:
        computing, sleeping, copying = (server.connect() for _ in range(3))
        computes = (
            "SELECT count(*) FROM generate_series(1, 20000000) a(i), generate_series(1, 2000) b(j) WHERE i * j % 7 = 3"
        )
        at_work(pool, lambda: computing.execute(computes))
        at_work(pool, lambda: sleeping.execute("SELECT pg_sleep(1000)"))
        # A COPY whose client has stopped, a client that does not read, one that has not said who it
        # is.
        copying.pgconn.exec_(b"COPY s FROM STDIN")
        copying.pgconn.put_copy_data(b"1\n2\n")
        deaf = socket.create_connection(("127.0.0.1", server.port))
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.sendall(startup(version=0x30000, user="deaf", database="antumbra"))
        deaf.sendall(query("SELECT repeat('x', 1000) FROM generate_series(1, 300000)"))
        stranger = socket.create_connection(("127.0.0.1", server.port))
        stranger.sendall(b"\0\0")
        # A transaction that is open, and who waits for its end.
        holder, waiting = (server.connect(autocommit=False) for _ in range(2))
        holder.execute("LOCK TABLE t")
        at_work(pool, lambda: waiting.execute("LOCK TABLE t"))
        time.sleep(AT_WORK_S)
        assert ended(server) == 0
    for one in (deaf, stranger):
        one.close()


def test_neither_spark_nor_a_compilation_holds_it_up_and_nothing_is_lost(tmp_path: Path) -> None:
    server = AntumbraServer(tmp_path / "data", *OPTIONS).start()
    client, reader, definer = (server.connect() for _ in range(3))
    client.execute("CREATE FOREIGN TABLE s (k int) SERVER stream")
    client.execute("CREATE VIEW n AS SELECT count(*) AS n FROM s")
    client.execute(
        "CREATE VIEW ranked AS SELECT rank() OVER (ORDER BY n) FROM (SELECT k, count(*) AS n FROM s GROUP BY k) g"
    )
    client.execute("INSERT INTO s SELECT generate_series(1, 1000)")
    assert len(client.execute("SELECT * FROM ranked").fetchall()) == 1000
    client.execute("INSERT INTO s VALUES (1)")
    (jvm,) = jvms(server.process_id)
    os.kill(jvm, signal.SIGSTOP)
    aggregates = ", ".join(f"sum(k * {at}) FILTER (WHERE k % {at + 2} = 1) AS a{at}" for at in range(200))
    with ThreadPoolExecutor(2) as pool:
        at_work(pool, lambda: reader.execute("SELECT * FROM ranked"))
        at_work(pool, lambda: definer.execute(f"CREATE VIEW wide AS SELECT {aggregates} FROM s GROUP BY k".encode()))
        time.sleep(AT_WORK_S)
        ended(server)
    # A process that is killed still needs a processor to end.
    deadline = time.monotonic() + 30
    while is_running(jvm) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(jvm)
    again = AntumbraServer(tmp_path / "data", *OPTIONS).start()
    with again.connect() as connection:
        assert connection.execute("SELECT n FROM n").fetchall() == [(1001,)]
    assert ended(again) == 0
