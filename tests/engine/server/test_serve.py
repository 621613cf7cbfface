"""A server's life as its operator sees it: ready line, clean ends, what survives a restart; and the
demo from start to end.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Timer

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

pytestmark = pytest.mark.slow

IN_THE_MIDDLE_S = 1.0


@pytest.mark.turns(2)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly_and_tells_the_clients(tmp_path: Path, number: signal.Signals) -> None:
    server = AntumbraServer(tmp_path / "data", "--set", "spark_preload=on", is_forked=False).start()
    assert re.fullmatch(
        rf"antumbra 0\.1\.0 ready on 127\.0\.0\.1:{server.port} \(data in {re.escape(str(tmp_path))}/data\)",
        server.ready_line,
    )
    client = server.connect()
    os.kill(server.process_id, number)
    assert server.stop() == 0
    with pytest.raises(psycopg.OperationalError):
        client.execute("SELECT 1")
    assert "Traceback" not in (tmp_path / "data.log").read_text()


def test_everything_survives_a_crash_and_the_folder_has_one_server(tmp_path: Path) -> None:
    server = AntumbraServer(tmp_path / "data").start()
    with server.connect() as client:
        client.execute("CREATE FOREIGN TABLE events (key integer) SERVER stream")
        client.execute("CREATE VIEW counted AS SELECT key, count(*) AS n FROM events GROUP BY key")
        client.execute("INSERT INTO events VALUES (1)")
    with pytest.raises(RuntimeError, match="in use by another server"):
        AntumbraServer(tmp_path / "data").start()
    server.kill()
    again = AntumbraServer(tmp_path / "data").start()
    notices: list[str] = []
    with again.connect() as client:
        client.add_notice_handler(lambda notice: notices.append(f"{notice.severity}: {notice.message_primary}"))
        assert client.execute("SELECT * FROM counted").fetchall() == [(1, 1)]
        client.execute("INSERT INTO events VALUES (2), (2)")
        assert client.execute("SELECT * FROM counted ORDER BY key").fetchall() == [(1, 1), (2, 2)]
    assert again.stop() == 0
    assert not notices


def test_what_a_client_alone_was_told_survives(tmp_path: Path) -> None:
    """One INSERT comes after the other, until the server is killed."""
    server = AntumbraServer(tmp_path / "data").start()
    acknowledged_count = 0
    with server.connect() as client:
        client.execute("CREATE FOREIGN TABLE events (number bigint) SERVER stream")
        client.execute("CREATE VIEW counted AS SELECT count(*) AS n, sum(number) AS total FROM events")
        killer = Timer(IN_THE_MIDDLE_S, server.kill)
        killer.start()
        with suppress(psycopg.OperationalError):
            while True:
                client.execute("INSERT INTO events VALUES (%s)", (acknowledged_count,), prepare=True)
                acknowledged_count += 1
        killer.join()
    assert acknowledged_count > 100
    again = AntumbraServer(tmp_path / "data").start()
    with again.connect() as client:
        ((count, total),) = client.execute("SELECT n, total::bigint FROM counted").fetchall()
    assert isinstance(count, int)
    # The last one may be there, whatever its client knows.
    assert count - acknowledged_count in (0, 1) and total == count * (count - 1) // 2
    assert again.stop() == 0


def jvms(process_id: int) -> list[int]:
    """Return the process ids of the JVMs of a server."""
    tasks = Path(f"/proc/{process_id}/task").glob("*/children")
    children = [int(number) for task in tasks for number in task.read_text().split()]
    return [number for number in children if Path(f"/proc/{number}/comm").read_text().strip() == "java"]


@pytest.mark.turns(3, 1)
def test_without_preload_spark_starts_with_the_first_statement_that_needs_it(tmp_path: Path) -> None:
    server = AntumbraServer(tmp_path / "data").start()
    with server.connect() as client:
        client.execute("CREATE FOREIGN TABLE events (key integer) SERVER stream")
        client.execute("CREATE VIEW counted AS SELECT key, count(*) AS n FROM events GROUP BY key")
        client.execute(
            "CREATE VIEW ranked AS SELECT *, rank() OVER (ORDER BY n DESC) AS place FROM (TABLE counted) AS c"
        )
        # What a join reads of a table as it is stored needs no Spark, either.
        client.execute("CREATE TABLE names (key integer PRIMARY KEY, name text)")
        client.execute("INSERT INTO names VALUES (1, 'one'), (3, 'three')")
        client.execute(
            "CREATE VIEW named AS SELECT name, count(*) AS n FROM events LEFT JOIN names USING (key) GROUP BY name"
        )
        client.execute("INSERT INTO events VALUES (1), (1), (2)")
        assert client.execute("SELECT * FROM ranked ORDER BY 1").fetchall() == [(1, 2, 1), (2, 1, 2)]
        assert client.execute("SELECT * FROM named ORDER BY 1").fetchall() == [("one", 2), (None, 1)]
        assert jvms(server.process_id) == []
        client.execute(
            "CREATE VIEW windowed AS SELECT k, rank() OVER (ORDER BY n) FROM (SELECT key AS k, count(*) AS n FROM events GROUP BY 1) AS g"
        )
        client.execute("INSERT INTO events VALUES (3)")
        assert jvms(server.process_id) == []
        assert client.execute("SELECT * FROM windowed").fetchall() == [(3, 1)]
        assert len(jvms(server.process_id)) == 1
    assert server.stop() == 0


NAMED = """
CREATE TABLE names (key integer PRIMARY KEY, name text);
INSERT INTO names VALUES (1, 'one'), (2, 'two');
CREATE FOREIGN TABLE events (key integer) SERVER stream;
CREATE VIEW named AS SELECT name, n, rank() OVER (ORDER BY n)
    FROM (SELECT key AS k, count(*) AS n FROM events GROUP BY 1) AS g JOIN names ON key = k;
INSERT INTO events VALUES (1), (2), (2)
"""


@pytest.mark.turns(4, 2)
def test_a_jvm_that_dies_is_replaced(tmp_path: Path) -> None:
    server = AntumbraServer(tmp_path / "data").start()
    with server.connect() as client, server.connect() as reader, ThreadPoolExecutor(1) as pool:
        for text in NAMED.split(";"):
            client.execute(text.encode())
        assert client.execute("SELECT * FROM named ORDER BY 1").fetchall() == [("one", 1, 1), ("two", 2, 2)]
        (first,) = jvms(server.process_id)
        # In the middle of an answer.
        os.kill(first, signal.SIGSTOP)
        client.execute("INSERT INTO events VALUES (2), (2)")
        answer = pool.submit(lambda: reader.execute("SELECT * FROM named ORDER BY 1").fetchall())
        with pytest.raises(TimeoutError):
            answer.result(IN_THE_MIDDLE_S)
        os.kill(first, signal.SIGKILL)
        assert answer.result() == [("one", 1, 1), ("two", 4, 2)]
        assert len(jvms(server.process_id)) == 1
    assert server.stop() == 0
    assert server.log_path.read_text().count("Spark's JVM has ended with status -9, and is started again") == 1


@pytest.mark.long
def test_jvms_that_die_between_answers_and_of_their_heaps_are_replaced(tmp_path: Path) -> None:
    server = AntumbraServer(tmp_path / "data", "--set", "spark_memory_mb=512").start()
    with server.connect() as client:
        for text in NAMED.split(";"):
            client.execute(text.encode())
        assert client.execute("SELECT * FROM named ORDER BY 1").fetchall() == [("one", 1, 1), ("two", 2, 2)]
        (first,) = jvms(server.process_id)
        os.kill(first, signal.SIGKILL)
        client.execute("INSERT INTO events VALUES (1), (1)")
        assert client.execute("SELECT * FROM named ORDER BY 1").fetchall() == [("one", 3, 2), ("two", 2, 1)]
        # What its heap has no room for fails alone.
        client.execute("CREATE TABLE texts AS SELECT repeat('x', 100000) AS t FROM generate_series(1, 100)")
        client.execute(
            "CREATE VIEW wide AS SELECT t, rank() OVER (ORDER BY k) FROM "
            "(SELECT key AS k, count(*) FROM events GROUP BY 1) AS g, texts"
        )
        client.execute("INSERT INTO events SELECT i FROM generate_series(1, 100) AS i")
        with pytest.raises(psycopg.errors.OutOfMemory) as failure:
            client.execute("SELECT count(*) FROM wide")
        assert failure.value.diag.message_hint == "Raise spark_memory_mb, which is 512, or group more coarsely below."
        assert client.execute("SELECT * FROM named ORDER BY 1").fetchall() == [("one", 4, 2), ("two", 3, 1)]
    assert server.stop() == 0
    log = server.log_path.read_text()
    assert log.count("Spark's JVM has ended with status -9, and is started again") == 1
    assert log.count("Spark's JVM has ended with status 3, and is started again") == 2


def test_a_damaged_log_stops_the_start_with_one_line(tmp_path: Path) -> None:
    server = AntumbraServer(tmp_path / "data").start()
    assert server.stop() == 0
    (segment,) = (tmp_path / "data" / "log").glob("*.log")
    content = bytearray(segment.read_bytes())
    content[20] ^= 1
    segment.write_bytes(content)
    with pytest.raises(RuntimeError) as caught:
        server.start()
    *_, line = server.log_path.read_text().splitlines()
    assert line.startswith(f"antumbra: the log is corrupt in {segment} at offset 0: ")
    assert f"antumbra recover --data-dir {tmp_path / 'data'} --skip-segment {segment.name}" in line
    assert "Traceback" not in str(caught.value)


@pytest.mark.turns(2, 1)
def test_the_demo_from_start_to_end() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "engine", "demo", "--rate", "0"],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "The 3 views equal the same SQL recomputed over the whole file by SQLite" in result.stdout
    assert "Traceback" not in result.stderr
