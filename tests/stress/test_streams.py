"""Writers and readers of one small ring at once: no reader gets a wrong row, and a view counts
every row once.
"""

from __future__ import annotations

import sys
from pathlib import Path

import psycopg
import pytest

from engine.demo.child import child_server
from tests.oracle.antumbra import AntumbraServer
from tests.oracle.evidence import Evidence
from tests.stress.load import CREATE, CREATE_VIEW, Load

pytestmark = pytest.mark.slow

WORK_S = 5.0
LONG_WORK_S = 60.0
LENGTHS = (0, 5, 12, 13, 60, 300, 1000)
# Those that lie in their slots: a wrong offset into a string buffer could end the process.
SHORT_LENGTHS = (0, 3, 12)


@pytest.mark.turns(3, 1)
def test_no_reader_gets_a_wrong_row(server: AntumbraServer, request: pytest.FixtureRequest) -> None:
    writes_evidence = request.config.getoption("--write-evidence")
    seed = request.config.getoption("--seed")
    load = Load(server.dsn, LONG_WORK_S if writes_evidence else WORK_S, LENGTHS, seed)
    with server.connect() as connection:
        connection.execute(CREATE.encode())
        connection.execute(CREATE_VIEW.encode())
        load.run()
        counted = connection.execute("SELECT writer, n, numbers FROM stress_counts ORDER BY writer").fetchall()
        connection.execute("DROP FOREIGN TABLE stress CASCADE")
    print(f"{sum(load.acknowledged.values())} rows written; {dict(load.counts)}", file=sys.stderr)
    assert load.counts["rows wrong"] == 0
    assert load.counts["rows read"] > 10_000 and load.counts["scans overtaken"] > 0
    assert counted == [(writer, n, n * (n - 1) // 2) for writer, n in sorted(load.acknowledged.items())]
    if writes_evidence:
        evidence = Evidence("stress", seed)
        evidence.cases, evidence.seconds = load.counts["scans"], LONG_WORK_S
        evidence.histogram.update(load.counts)
        evidence.histogram["rows written"] = sum(load.acknowledged.values())
        evidence.write()


@pytest.mark.turns(3, 2)
def test_without_the_check_for_overwriting_readers_get_wrong_rows(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    options = ("--set", "spark_preload=off")
    with child_server(tmp_path / "data", options=options, module="tests.stress.unchecked_server") as child:
        load = Load(child.dsn, 3.0, SHORT_LENGTHS, request.config.getoption("--seed"))
        with psycopg.connect(child.dsn, autocommit=True) as connection:
            connection.execute(CREATE.encode())
            load.run()
    assert load.counts["rows wrong"] > 0
