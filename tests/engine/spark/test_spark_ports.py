"""The ports of Spark: none but py4j's, which does nothing without its token; while Spark starts, no
stranger's object is deserialised.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

import pytest

from engine.spark.runtime import SparkRuntime
from tests.oracle.antumbra import AntumbraServer

pytestmark = pytest.mark.slow

CLOSING_S_MAX = 120.0
ANSWER_S_MAX = 2.0
# In /proc/net/tcp.
LISTENING = "0A"
# Java's stream header, and an object of a class that is nowhere: who deserialises it says that
# there is no such class.
HOSTILE = bytes.fromhex("aced0005") + b"sr" + struct.pack("!H", 12) + b"NobodysClass" + bytes(8) + b"\x02\x00\x00xp"
DESERIALISED = (b"NobodysClass", b"ObjectInputStream", b"java.io.Stream", b"EOFException")


def test_only_py4j_listens_and_it_wants_its_token(spark: SparkRuntime) -> None:
    gateway = spark.session().sparkContext._gateway
    port = gateway.gateway_parameters.port
    assert listening_ports(spark.process_id) == {port}
    before = gateway.jvm.java.lang.System.getProperty("antumbra.stranger")
    for said in (
        b"c\nz:java.lang.System\nsetProperty\nsantumbra.stranger\nshere\ne\n",
        b"A\nwrong-token\ne\nc\nz:java.lang.System\nsetProperty\nsantumbra.stranger\nshere\ne\n",
        HOSTILE,
    ):
        assert not (answer(port, said) or b"").startswith(b"!y"), said
    assert before is None and gateway.jvm.java.lang.System.getProperty("antumbra.stranger") is None


@pytest.mark.turns(4, 2)
def test_the_server_listens_for_clients_alone(server: AntumbraServer) -> None:
    own = server.process_id
    with server.connect() as connection:
        connection.execute("CREATE FOREIGN TABLE ports (k int) SERVER stream")
        groups = "SELECT k, count(*) AS n FROM ports GROUP BY k"
        connection.execute(
            f"CREATE VIEW sizes WITH (upper_maintenance = spark) AS SELECT n, count(*) AS c FROM ({groups}) g GROUP BY n".encode()
        )
        # More groups than are read without Spark.
        connection.execute("INSERT INTO ports SELECT k FROM generate_series(1, 20000) AS g(k)")
        assert connection.execute("SELECT n, c FROM sizes").fetchall() == [(1, 20000)]
        connection.execute("DROP FOREIGN TABLE ports CASCADE")
    # PySpark's port for accumulators closes in a thread.
    deadline = time.monotonic() + CLOSING_S_MAX
    while not listens_for_clients_alone(server) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert listens_for_clients_alone(server), [listening_ports(one) for one in (own, *children(own))]


def listens_for_clients_alone(server: AntumbraServer) -> bool:
    own = server.process_id
    # Those of its processes that listen at all: Spark's.
    counts = [count for one in children(own) if (count := len(listening_ports(one)))]
    return listening_ports(own) == {server.port} and counts == [1]


def test_the_token_is_nowhere_to_be_read(spark: SparkRuntime) -> None:
    token = spark.session().sparkContext._gateway.gateway_parameters.auth_token
    assert len(token) >= 32
    folder = Path(f"/proc/{spark.process_id}")
    assert token.encode() not in (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()


def test_a_result_of_many_megabytes_needs_no_port(spark: SparkRuntime) -> None:
    rows = spark.pipelines().run("large", {}, lambda names: "SELECT id, repeat('x', 100) AS t FROM range(200000)").rows
    assert rows.num_rows == 200_000 and rows.nbytes > 2**24


@pytest.mark.turns(4, 3)
def test_while_spark_starts_nothing_is_deserialised(tmp_path: Path) -> None:
    process = get_context("spawn").Process(target=start_with_ports, args=(tmp_path / "spark",))
    process.start()
    process.join()
    assert process.exitcode == 0


def start_with_ports(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.spark.runtime.close_ports", lambda context, gateway: None)
        runtime = SparkRuntime(512, 1, folder)
        try:
            gateway = runtime.session().sparkContext._gateway
            ports = listening_ports(runtime.process_id) - {gateway.gateway_parameters.port}
            assert len(ports) == 2
            for port in ports:
                for said in (to_an_endpoint(port), to_the_blocks()):
                    reply = answer(port, said)
                    assert not any(sign in (reply or b"") for sign in DESERIALISED), reply
        finally:
            runtime.stop()


def to_an_endpoint(port: int) -> bytes:
    """Return a message to the endpoint that tells which endpoints there are."""
    receiver = b"\x01" + text("127.0.0.1") + struct.pack("!i", port) + text("endpoint-verifier")
    return request(b"\x00" + receiver + HOSTILE)


def to_the_blocks() -> bytes:
    """Return an upload of a block, whose description is an object."""
    names = b"".join(struct.pack("!i", len(name)) + name for name in (b"app", b"driver", b"test_block"))
    return request(b"\x01" + names + struct.pack("!i", len(HOSTILE)) + HOSTILE + struct.pack("!i", 1) + b"x")


def request(body: bytes) -> bytes:
    """Return Spark's frame around a request: its length, kind, number, and the length of the
    body.
    """
    head = b"\x03" + struct.pack("!qi", 7, len(body))
    return struct.pack("!q", 8 + len(head) + len(body)) + head + body


def listening_ports(process_id: int) -> set[int]:
    """Return the TCP ports on which a process listens."""
    own: set[str] = set()
    # Files are closed, and processes end.
    with suppress(FileNotFoundError):
        for name in Path(f"/proc/{process_id}/fd").iterdir():
            with suppress(FileNotFoundError):
                own.add(os.readlink(name))
    lines = [line.split() for table in ("tcp", "tcp6") for line in Path(f"/proc/net/{table}").read_text().splitlines()]
    return {
        int(line[1].rsplit(":", 1)[1], 16) for line in lines if line[3] == LISTENING and f"socket:[{line[9]}]" in own
    }


def children(process_id: int) -> list[int]:
    """Return the processes that a process has started."""
    lists = [path.read_text() for path in Path(f"/proc/{process_id}/task").glob("*/children")]
    return [int(number) for text in lists for number in text.split()]


def text(value: str) -> bytes:
    return struct.pack("!H", len(value)) + value.encode()


def answer(port: int, said: bytes) -> bytes | None:
    """Return what comes back within a while, None when the other side hangs up without a word."""
    with socket.create_connection(("127.0.0.1", port), ANSWER_S_MAX) as stranger:
        stranger.sendall(said)
        reply = b""
        try:
            while data := stranger.recv(65536):
                reply += data
        except TimeoutError:
            return reply
        except ConnectionError:
            pass
        return reply or None
