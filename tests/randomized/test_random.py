"""The random test of the main job: streams, views, tables, transactions and queries, compared with
PostgreSQL through real sockets.

Two servers share the cases, because compiling kernels is most of a case's time and one process
compiles on one core. Every case is made from its own seed, so it does not matter which server runs
it: `--seed N --cases 1` runs one again. With --write-evidence a run that was cut off goes on, if
the commit is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.oracle.evidence import Evidence
from tests.oracle.postgres import PostgresCluster
from tests.randomized.answers import MismatchError
from tests.randomized.progress import Progress
from tests.randomized.refusals import SHARE_MAX, unknown_refusals
from tests.randomized.sharing import Share, make_any_case

# Of the time that is given: all cases of a CI run take three minutes of both cores when nothing
# else runs, and more beside other tests.
SECONDS_SHARE = 3
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
    option = request.config.getoption
    writes = option("--write-evidence")
    evidence = Evidence("random", option("--seed"))
    if writes:
        evidence.go_on()
    seconds_max = option("--seconds") * SECONDS_SHARE
    progress = Progress(evidence, option("--cases"), seconds_max, writes)

    def run_share(antumbra_server: AntumbraServer) -> None:
        share = Share(antumbra_server, postgres)
        while (seed := progress.take()) is not None:
            case = make_any_case(seed)
            failure = None
            try:
                share.run(case)
            except MismatchError as mismatch:
                failure = str(mismatch)
            progress.finish(seed, case.counts, failure)
            share.restart_if_large()
        share.close()

    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(run_share, one) for one in (server, second_server)]
        for done in as_completed(running):
            if done.exception() is not None:
                progress.stop()
    for share in running:
        share.result()
    if writes:
        evidence.write()
    print(f"{evidence.cases} cases from seed {evidence.seed} in {evidence.seconds:.0f} s")
    assert not evidence.failures, f"{len(evidence.failures)} of {evidence.cases} cases differ:\n\n" + "\n\n".join(
        evidence.failures
    )
    assert evidence.cases == option("--cases") or progress.seconds > seconds_max
    statements, refused = (evidence.histogram[name] for name in ("statements", "statements refused"))
    assert not unknown_refusals(evidence.histogram)
    assert refused <= SHARE_MAX * max(statements, STATEMENTS_MIN), f"{refused} of {statements} statements are refused"
