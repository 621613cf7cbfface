"""The account of a long random run: what is counted when it is cut off, and where the next one goes
on.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

import tests.oracle.evidence
from tests.oracle.evidence import Evidence
from tests.randomized.progress import FAILURES_MAX, PROGRESS_CASES, Progress

ONE = Counter({"case": 1})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tests.oracle.evidence, "FOLDER", tmp_path)
    monkeypatch.setattr(tests.oracle.evidence, "tree_digest", lambda: "t1")
    return tmp_path


def progress(cases_max: int = 1000, seed: int = 7) -> Progress:
    evidence = Evidence("random", seed)
    evidence.go_on()
    return Progress(evidence, cases_max, 60, writes=True)


def test_a_run_that_is_cut_off_goes_on_behind_the_last_case_that_has_none_unfinished_before_it() -> None:
    run = progress()
    seeds = [run.take() for _ in range(PROGRESS_CASES + 3)]
    assert seeds == list(range(7, 110))
    slow = PROGRESS_CASES + 7
    for seed in (one for one in seeds if one is not None and one != slow):
        run.finish(seed, ONE, None)
    assert (run.evidence.cases, run.evidence.histogram) == (PROGRESS_CASES, Counter(case=PROGRESS_CASES))
    again = progress()
    assert (again.evidence.cases, again.take()) == (PROGRESS_CASES, slow)
    run.finish(slow, ONE, None)
    assert run.evidence.cases == PROGRESS_CASES + 3


@pytest.mark.parametrize("change", [{"tree": "t0"}, {"seed": 8}, {"failures": ["it differs"]}])
def test_another_run_begins_at_its_start(folder: Path, change: dict[str, object]) -> None:
    known = {"tree": "t1", "seed": 7, "cases": 5, "seconds": 1.5, "histogram": {}, "failures": []}
    (folder / "random.json").write_text(json.dumps(known | change))
    assert progress().take() == 7


def test_it_ends_after_all_cases_or_many_failures_or_a_broken_share() -> None:
    run = progress(cases_max=2)
    assert [run.take() for _ in range(3)] == [7, 8, None]
    failing = progress()
    for _ in range(FAILURES_MAX):
        failing.finish(failing.take() or 0, ONE, "it differs")
    assert failing.take() is None and len(failing.evidence.failures) == FAILURES_MAX
    broken = progress()
    broken.stop()
    assert broken.take() is None
