"""The random test of the main job: streams, views, tables, transactions and queries, compared with PostgreSQL through real sockets.

Two servers share the cases, because compiling kernels is most of a case's time and one process compiles on one core. Every case is
made from its own seed, so it does not matter which server runs it: `--seed N --cases 1` runs one again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.oracle.evidence import Evidence
from tests.oracle.postgres import PostgresCluster
from tests.randomized.answers import MismatchError
from tests.randomized.refusals import SHARE_MAX, unknown_refusals
from tests.randomized.sharing import Share, make_any_case

FAILURES_MAX = 10
PROGRESS_CASES = 100
# Of fewer statements the share that is refused says nothing.
STATEMENTS_MIN = 1000


@pytest.fixture
def second_server(tmp_path: Path) -> Iterator[AntumbraServer]:
    running = AntumbraServer(tmp_path / "data").start()
    yield running
    assert running.stop() == 0


@pytest.mark.slow
@pytest.mark.timeout(0)  # --seconds is its bound
def test_random_cases_equal_postgres(
    server: AntumbraServer, second_server: AntumbraServer, postgres: PostgresCluster, request: pytest.FixtureRequest
) -> None:
    first_seed = request.config.getoption("--seed")
    cases_max = request.config.getoption("--cases")
    seconds_max = request.config.getoption("--seconds")
    writes_evidence = request.config.getoption("--write-evidence")
    evidence = Evidence("random", first_seed)
    seeds = iter(range(first_seed, first_seed + cases_max))
    started_s = time.monotonic()
    taking = threading.Lock()

    def run_share(antumbra_server: AntumbraServer) -> None:
        share = Share(antumbra_server, postgres)
        while True:
            with taking:
                evidence.seconds = time.monotonic() - started_s
                seed = next(seeds, None)
                if seed is None or len(evidence.failures) >= FAILURES_MAX or evidence.seconds > seconds_max:
                    break
                evidence.cases += 1
                if evidence.cases % PROGRESS_CASES == 0:
                    print(f"{evidence.cases} cases in {evidence.seconds:.0f} s", flush=True)
                    if writes_evidence:
                        # A run that is cut off has shown something too.
                        evidence.write()
            case = make_any_case(seed)
            try:
                share.run(case)
            except MismatchError as mismatch:
                with taking:
                    evidence.failures.append(str(mismatch))
                    print(f"\n{mismatch}\n", flush=True)
            with taking:
                evidence.histogram += case.counts
            share.restart_if_large()
        share.close()

    with ThreadPoolExecutor(2) as pool:
        for running in [pool.submit(run_share, one) for one in (server, second_server)]:
            running.result()
    evidence.seconds = time.monotonic() - started_s
    if writes_evidence:
        evidence.write()
    print(f"{evidence.cases} cases from seed {first_seed} in {evidence.seconds:.0f} s")
    assert evidence.cases == cases_max or evidence.seconds > seconds_max
    statements, refused = (evidence.histogram[name] for name in ("statements", "statements refused"))
    assert not unknown_refusals(evidence.histogram)
    assert refused <= SHARE_MAX * max(statements, STATEMENTS_MIN), f"{refused} of {statements} statements are refused"
    assert not evidence.failures, f"{len(evidence.failures)} of {evidence.cases} cases differ:\n\n" + "\n\n".join(
        evidence.failures
    )
