"""A server is killed again and again while eight clients write: what it acknowledged is counted
once, and nothing is there by half.

An eighth of --seconds bounds it, a seventh of --cases are its kills: 30 s and 2 if nothing is
said. Where there are 200, each kind of moment must have been met twenty times.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.oracle.evidence import Evidence
from tests.soak.ledger import BrokenPromiseError
from tests.soak.soak import KINDS, Soak
from tests.soak.victim import Victim

SECONDS_SHARE = 8
PROGRESS_KILLS = 10


@pytest.mark.slow
@pytest.mark.timeout(0)  # --seconds is its bound
def test_a_killed_server_keeps_its_word(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    seed: int = pytestconfig.getoption("--seed")
    kills_max = pytestconfig.getoption("--cases") // 7
    seconds_max = pytestconfig.getoption("--seconds") / SECONDS_SHARE
    each_min = kills_max // 10
    evidence = Evidence("soak", seed)
    counts = evidence.histogram
    victim = Victim(tmp_path / "data")
    soak = Soak(victim, seed, counts)
    print(f"seed {seed}")
    soak.set_up()
    started_s = time.monotonic()
    told = 0
    try:
        while evidence.seconds < seconds_max and (
            soak.kills < kills_max or any(counts[kind] < each_min for kind in KINDS)
        ):
            soak.live()
            evidence.seconds, evidence.cases = time.monotonic() - started_s, soak.kills
            if soak.kills >= told + PROGRESS_KILLS:
                told = soak.kills
                print(f"{told} kills in {evidence.seconds:.0f} s: {dict(sorted(counts.items()))}", flush=True)
        soak.finish()
    except BrokenPromiseError as broken:
        evidence.failures.append(f"after {soak.kills} kills: {broken}")
    finally:
        victim.kill()
    print(f"{soak.kills} kills in {evidence.seconds:.0f} s: {dict(sorted(counts.items()))}")
    if pytestconfig.getoption("--write-evidence"):
        evidence.write()
    assert not evidence.failures, f"{evidence.failures[0]}\nthe data folder: {victim.folder}"
    assert counts["transaction acknowledged"] and soak.kills
    if evidence.seconds < seconds_max:
        assert all(counts[kind] >= each_min for kind in KINDS), counts
