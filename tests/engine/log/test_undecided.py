"""The log is kept for undecided transactions, but not for ever for an idle client."""

from __future__ import annotations

from engine.log.commits import Place
from engine.log.undecided import HELD_SHARE, Undecided


def test_a_commit_keeps_the_log_until_its_end() -> None:
    undecided = Undecided()
    undecided.begin(7, Place(100, 3), ahead=False)
    for position in (200, 10**9, 10**9):
        undecided.forget_idle(position)
        assert list(undecided.places()) == [Place(100, 3)] and undecided.oldest(9) == 7
    undecided.end(7)
    assert list(undecided.places()) == [] and undecided.oldest(9) == 9


def test_a_statement_that_appends_keeps_it_and_an_idle_one_does_not() -> None:
    undecided = Undecided()
    for number in (1, 2, 3):
        undecided.begin(number, Place(0, number), ahead=True)
        undecided.note(number, 1000)
    undecided.forget_idle(3000)
    assert undecided.claim(2) and undecided.is_known(2)
    undecided.note(3, 1000)
    undecided.forget_idle(4000)
    assert not undecided.is_known(1) and not undecided.claim(1)
    assert undecided.is_known(3) and undecided.oldest(9) == 2


def test_a_slow_statement_does_not_keep_what_others_write() -> None:
    undecided = Undecided()
    undecided.begin(1, Place(0, 1), ahead=True)
    for _ in range(3):
        undecided.note(1, 100)
        undecided.forget_idle(HELD_SHARE * 100)
        assert undecided.is_known(1)
    undecided.note(1, 1)
    undecided.forget_idle(HELD_SHARE * 301 + 1)
    assert not undecided.claim(1)
    undecided.end(1)
