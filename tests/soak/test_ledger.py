"""The soak's ledger finds what it is there for: what is lost, doubled, there by half, or there
although it failed.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.soak.ledger import (
    BrokenPromiseError,
    Death,
    Ledger,
    Life,
    State,
    Tally,
    Unit,
    fold,
    require_newest_lost,
    settle,
)

DEATH = Death(at_s=100.0, window_s=0.4)


def unit(number: int, state: State = State.ACKNOWLEDGED, answered_s: float = 50.0, is_mixed: bool = False) -> Unit:
    """Return a transaction of two tuples in one stream and one in another."""
    made = Unit(f"block {number}", is_mixed, state, sent_s=answered_s - 0.01, answered_s=answered_s)
    made.add("shared", Tally(2, 1000 + number * number, 2 * number, 2 * number + 1, f"note {number}", f"note {number}"))
    made.add("own", Tally(1, number, 2 * number, 2 * number))
    return made


def life(units: Sequence[Unit], waits_for_log: bool = True) -> Life:
    return Life(3, 7, waits_for_log, list(units))


def test_what_is_there_is_found() -> None:
    units = [unit(1), unit(2, State.FAILED), unit(3), unit(4, State.OPEN), unit(5, State.SENT), unit(6, State.SENT)]
    for there in ((0, 2), (0, 2, 4), (0, 2, 4, 5)):
        settlement = settle(life(units), fold(units[index] for index in there), DEATH)
        assert [units.index(one) for one in settlement.kept] == list(there)
        assert not settlement.lost and len(settlement.in_flight) == 2


@pytest.mark.parametrize(
    ("there", "finding"),
    [
        ((0,), "without number 1 (block 2)"),
        ((1, 2), "without number 0 (block 1)"),
        ((0, 1, 1), "number 1 (block 2) twice"),
        ((0, 1, 3), "client 3, life 7"),
        ((0, 1, 4), "as if one that never committed were there (block 5, failed)"),
    ],
)
def test_what_should_not_be_is_found_and_named(there: tuple[int, ...], finding: str) -> None:
    units = [unit(1), unit(2), unit(3, State.SENT), unit(4, State.SENT), unit(5, State.FAILED)]
    with pytest.raises(BrokenPromiseError) as raised:
        settle(life(units), fold(units[index] for index in there), DEATH)
    assert finding in str(raised.value)


def test_half_of_one_is_found() -> None:
    units = [unit(1), unit(2, State.SENT)]
    with pytest.raises(BrokenPromiseError):
        settle(life(units), {**fold(units), "own": fold(units[:1])["own"]}, DEATH)


def test_only_the_window_may_be_lost_with_synchronous_commit_off() -> None:
    units = [unit(1, answered_s=99.5), unit(2, answered_s=99.7), unit(3, answered_s=99.9), unit(4, State.SENT)]
    for count in (1, 2, 3, 4):
        settlement = settle(life(units, waits_for_log=False), fold(units[:count]), DEATH)
        assert (len(settlement.kept), len(settlement.lost)) == (count, max(3 - count, 0))
    with pytest.raises(BrokenPromiseError):
        settle(life(units, waits_for_log=False), {}, DEATH)
    with pytest.raises(BrokenPromiseError):
        settle(life(units), fold(units[:2]), DEATH)
    # Who asked the server to stop loses nothing.
    with pytest.raises(BrokenPromiseError):
        settle(life(units, waits_for_log=False), fold(units[:2]), Death(100.0, 0.0))


def test_a_machine_that_is_late_makes_the_window_longer() -> None:
    units = [unit(1, answered_s=99.3), unit(2, answered_s=99.5), unit(3, answered_s=99.9)]
    late = Death(100.0, 0.4, late_s=0.2)
    settlement = settle(life(units, waits_for_log=False), fold(units[:1]), late)
    assert [late.is_beyond(one) for one in settlement.lost] == [True, False]
    with pytest.raises(BrokenPromiseError, match=r"0\.700 0\.500 0\.100"):
        settle(life(units, waits_for_log=False), {}, late)
    with pytest.raises(BrokenPromiseError):
        settle(life(units, waits_for_log=False), fold(units[:2]), Death(100.0, 0.0, late_s=0.2))


def test_a_transaction_on_tables_is_never_lost() -> None:
    units = [unit(1, answered_s=99.8), unit(2, answered_s=99.9, is_mixed=True), unit(3, answered_s=99.95)]
    assert len(settle(life(units, waits_for_log=False), fold(units[:2]), DEATH).lost) == 1
    with pytest.raises(BrokenPromiseError):
        settle(life(units, waits_for_log=False), fold(units[:1]), DEATH)


def test_what_is_lost_is_the_newest() -> None:
    early, late = unit(1, answered_s=99.8), unit(2, answered_s=99.9)
    lost = settle(life([early], waits_for_log=False), {}, DEATH)
    kept = settle(life([late], waits_for_log=False), fold([late]), DEATH)
    with pytest.raises(BrokenPromiseError, match=r"0\.09"):
        require_newest_lost([lost, kept])
    late.sent_s = 99.7
    require_newest_lost([lost, kept])


def test_settled_lives_stay_as_they_are() -> None:
    ledger = Ledger()
    units = [unit(1), unit(2)]
    ledger.check([life(units)], {(3, 7): fold(units)}, DEATH)
    assert ledger.rows("shared").rows == 4
    ledger.check([Life(3, 8, True)], {(3, 7): fold(units)}, DEATH)
    for changed in ({}, {(3, 7): fold(units[:1])}, {(3, 7): fold([*units, units[0]])}):
        with pytest.raises(BrokenPromiseError, match="life 7 was settled"):
            ledger.check([], changed, DEATH)
    with pytest.raises(BrokenPromiseError):
        ledger.check([], {(3, 7): fold(units), (9, 9): fold(units)}, DEATH)
