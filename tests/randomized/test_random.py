"""The random test of the main job: streams, views, writes and reads, compared with PostgreSQL through real sockets."""

from __future__ import annotations

import time

import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.oracle.evidence import Evidence
from tests.oracle.postgres import PostgresCluster
from tests.randomized.cases import make_case
from tests.randomized.runner import MismatchError, run_case

FAILURES_MAX = 10


def test_random_cases_equal_postgres(
    server: AntumbraServer, postgres: PostgresCluster, request: pytest.FixtureRequest
) -> None:
    first_seed = request.config.getoption("--seed")
    cases_max = request.config.getoption("--cases")
    seconds_max = request.config.getoption("--seconds")
    evidence = Evidence("random", first_seed)
    started_s = time.monotonic()
    with server.connect() as antumbra, postgres.connect() as oracle:
        for seed in range(first_seed, first_seed + cases_max):
            case = make_case(seed)
            evidence.cases += 1
            evidence.histogram += case.counts
            try:
                run_case(case, antumbra, oracle)
            except MismatchError as mismatch:
                evidence.failures.append(str(mismatch))
            evidence.seconds = time.monotonic() - started_s
            if len(evidence.failures) >= FAILURES_MAX or evidence.seconds > seconds_max:
                break
    if request.config.getoption("--write-evidence"):
        evidence.write()
    print(f"{evidence.cases} cases from seed {first_seed} in {evidence.seconds:.0f} s")
    assert not evidence.failures, f"{len(evidence.failures)} of {evidence.cases} cases differ:\n\n" + "\n\n".join(
        evidence.failures
    )
