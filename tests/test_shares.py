"""Shares of tests: every case has its turn, and a run takes nearly the same number in each turn."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from tests.shares import PLACES, mark_what_has_no_turn


class Case:
    """A test, as far as a share looks at it."""

    path = Path("tests/test_some.py")

    def __init__(self, name: str, *turns: int, file: str = "tests/test_some.py") -> None:
        self.name, self.nodeid = name, f"{file}::{name}"
        self.originalname = name.partition("[")[0]
        self.is_long = False
        self.marks = [pytest.mark.turns(*turns).mark] if turns else []

    def iter_markers(self, name: str) -> list[pytest.Mark]:
        return self.marks if name == "turns" else []

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        assert mark == pytest.mark.long
        self.is_long = True


def taken(turn: int, *cases: Case) -> list[str]:
    """Return the names of the cases that are taken in a turn."""
    for case in cases:
        case.is_long = False
    mark_what_has_no_turn(cast("list[pytest.Item]", cases), turn)
    return [case.name for case in cases if not case.is_long]


def test_every_case_has_its_turn() -> None:
    cases = [Case(f"test_a[{number}]", 3) for number in range(10)]
    turns = [taken(turn, *cases) for turn in range(3)]
    assert sorted(name for turn in turns for name in turn) == [case.name for case in cases]
    assert {len(turn) for turn in turns} == {3, 4}
    assert taken(3, *cases) == turns[0]


def test_of_few_cases_one_is_taken_and_what_has_no_mark_always() -> None:
    few, other = [Case("test_a[0]", 9), Case("test_a[1]", 9)], Case("test_b")
    for turn in range(4):
        name, always = taken(turn, *few, other)
        assert name.startswith("test_a") and always == "test_b"


def test_a_test_alone_has_the_turns_of_its_place() -> None:
    assert [turn for turn in range(7) if taken(turn, Case("test_a", 3, 1))] == [1, 4]


def test_a_case_has_its_own_turns_among_others() -> None:
    own, other = Case("test_a[0]", 1), Case("test_a[1]", 1)
    own.marks.append(pytest.mark.turns(3, 2).mark)
    assert [len(taken(turn, own, other)) for turn in range(6)] == [1, 1, 2, 1, 1, 2]


def test_one_file_of_a_pair_runs_in_each_turn() -> None:
    files = list(PLACES)
    for turn in (0, 1):
        assert taken(turn, *(Case(name, file=name) for name in files)) == [n for n in files if PLACES[n] == turn]
    assert len(files) == len({*files}) and all((Path(__file__).parents[1] / name).is_file() for name in files)
    assert taken(1, Case("test_a", 1, file=files[0])) == ["test_a"]
