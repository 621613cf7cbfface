"""The protocol fuzzer: wrong messages of every type in every state. No crash, no hang, no memory
growth, other connections undisturbed.

A share of it runs always. With --write-evidence, 10,000 messages and more of each type in each
state: a million in all, counted in tests/evidence/fuzz.json.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from tests.fuzz.fuzzer import OPENINGS, STATES, Fuzzer, resident_bytes, seconds_since, wanted
from tests.fuzz.mutations import TYPES
from tests.oracle.antumbra import AntumbraServer
from tests.oracle.evidence import Evidence

pytestmark = pytest.mark.slow

PER_CELL = 20
LONG_PER_CELL = 13_000
# Side by side: each of them waits for the server most of the time.
CLIENTS = 4
MESSAGES_MIN = 1_000_000
# What caches, pools and kernels take from the first tenth on.
GROWTH_BYTES_MAX = 128 * 1024 * 1024
RULES = "hba=host all locked all scram-sha-256; host all all localhost trust"


def owner(server: AntumbraServer) -> psycopg.Connection[tuple[object, ...]]:
    """Return a connection of the superuser that there is with and without rules."""
    return psycopg.connect(f"host=127.0.0.1 port={server.port} user=antumbra dbname=antumbra", autocommit=True)


class Neighbour:
    """A client that goes on while others are fuzzed, and gets what it should. errors: what it got
    instead; slowest_s: its longest wait.
    """

    def __init__(self, server: AntumbraServer) -> None:
        self.errors: list[str] = []
        self.rounds_count = 0
        self.slowest_s = 0.0
        self._server = server
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._work)

    def __enter__(self) -> Neighbour:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()

    def _work(self) -> None:
        with owner(self._server) as connection:
            while not self._ends.wait(0.02):
                self.rounds_count += 1
                start = time.monotonic()
                try:
                    connection.execute("INSERT INTO fz_quiet VALUES (%s)", (self.rounds_count,))
                    found = connection.execute("SELECT n, total FROM fz_calm").fetchone()
                except psycopg.Error as error:
                    self.errors.append(str(error))
                    return
                self.slowest_s = max(self.slowest_s, seconds_since(start))
                if found != (self.rounds_count, self.rounds_count * (self.rounds_count + 1) // 2):
                    self.errors.append(f"{found} after {self.rounds_count}")


@pytest.fixture
def target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AntumbraServer]:
    """The server under test; the long run has one of its own, which asks the user 'locked' for a
    password.
    """
    if request.config.getoption("--write-evidence"):
        running = AntumbraServer(tmp_path_factory.mktemp("fuzz") / "data", "--set", RULES)
        running.start()
    else:
        running = request.getfixturevalue("server")
    with owner(running) as connection:
        if request.config.getoption("--write-evidence"):
            connection.execute("CREATE ROLE fuzz SUPERUSER LOGIN")
            connection.execute("CREATE ROLE locked LOGIN PASSWORD 'secret'")
        connection.execute("CREATE FOREIGN TABLE fz (k int, t text) SERVER stream")
        connection.execute("CREATE VIEW fz_view AS SELECT k, count(*) AS n FROM fz GROUP BY k")
        connection.execute("CREATE TABLE fz_table (k int PRIMARY KEY)")
        connection.execute("CREATE FOREIGN TABLE fz_quiet (k bigint) SERVER stream")
        connection.execute("CREATE VIEW fz_calm AS SELECT count(*) AS n, sum(k)::bigint AS total FROM fz_quiet")
    yield running
    assert not running.has_ended
    with owner(running) as connection:
        connection.execute("DROP FOREIGN TABLE fz, fz_quiet CASCADE")
        connection.execute("DROP TABLE fz_table")
    if request.config.getoption("--write-evidence"):
        assert running.stop() == 0


def test_wrong_messages_of_every_type_in_every_state(target: AntumbraServer, request: pytest.FixtureRequest) -> None:
    is_long = request.config.getoption("--write-evidence")
    seed = request.config.getoption("--seed")
    per_cell = LONG_PER_CELL if is_long else PER_CELL
    start = time.monotonic()
    logged = target.log_path.stat().st_size
    with Neighbour(target) as neighbour:
        Fuzzer(target.port, seed + 1).run(per_cell // 20, passwords=is_long)
        before = resident_bytes(target.process_id)
        fuzzers = [Fuzzer(target.port, seed + number) for number in range(2, 2 + CLIENTS)]
        with ThreadPoolExecutor(CLIENTS) as pool:
            list(pool.map(lambda fuzzer: fuzzer.run(per_cell // CLIENTS, passwords=is_long), fuzzers))
        growth = resident_bytes(target.process_id) - before
    counts = sum((fuzzer.counts for fuzzer in fuzzers), Counter[tuple[str, str]]())
    print(
        table_of(counts), f"grown by {growth:,} bytes; slowest neighbour {neighbour.slowest_s:.3f} s", file=sys.stderr
    )
    assert neighbour.errors == []
    assert neighbour.rounds_count > 10
    assert "a bug while" not in log_since(target.log_path, logged)
    assert growth < GROWTH_BYTES_MAX
    assert all(counts[state, kind] >= wanted(state, kind, per_cell) for state in STATES for kind in TYPES)
    assert all(counts["opening", kind] >= per_cell for kind in OPENINGS)
    assert counts["password", "p"] >= (per_cell if is_long else 0)
    assert 2 * sum(counts[state, kind] for state in STATES for kind in TYPES) >= counts.total()
    if is_long:
        assert counts.total() >= MESSAGES_MIN
        evidence = Evidence("fuzz", seed, counts.total(), seconds_since(start))
        evidence.histogram.update({f"{state}: {kind}": count for (state, kind), count in counts.items()})
        evidence.histogram["connections"] = sum(fuzzer.connections_count for fuzzer in fuzzers)
        evidence.histogram["bytes grown"] = growth
        evidence.histogram["rounds of the neighbour"] = neighbour.rounds_count
        evidence.write()


def table_of(counts: dict[tuple[str, str], int]) -> str:
    """Return the counts as lines, one per state."""
    states = {state: {kind: count for (one, kind), count in counts.items() if one == state} for state, _ in counts}
    lines = (
        f"{state:14} " + " ".join(f"{kind}:{count}" for kind, count in row.items()) for state, row in states.items()
    )
    return "\n" + "\n".join(lines) + "\n"


def log_since(path: Path, offset: int) -> str:
    """Return what the server has logged since it had logged so many bytes."""
    with path.open("rb") as file:
        file.seek(offset)
        return file.read().decode(errors="replace")
