"""NaN and the infinities among the embedded engine's numerics, against PostgreSQL's answers that
hold the kernels as well.
"""

from __future__ import annotations

import json

from engine.embedded import decimals
from engine.embedded.functions import special_numerics
from engine.embedded.functions.special_numerics import SPECIAL_MARKS, is_special
from ringbuffer.scalar.numbers.numeric import NAN_RANK, SPECIAL_SCALE
from sql.values import special_numbers
from tests.ringbuffer.make_golden import GOLDEN


def test_keys_are_in_order() -> None:
    """A number has a key between those of the infinities, however large it is."""
    values = ["-Infinity", "-" + "9" * 38, "-0.5", "0", "1.50", "9" * 38, "Infinity", "NaN"]
    numerics = map(decimals.from_text, values)
    keys = [special_numerics.key(value) if is_special(value) else decimals.key(value) for value in numerics]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)


def test_comparison_is_that_of_postgresql() -> None:
    golden = json.loads(GOLDEN.read_text())["any_compare"]
    for texts, expected in golden:
        left, right = map(decimals.from_text, texts)
        compare = special_numerics.compare if is_special(left) or is_special(right) else decimals.compare
        assert str(compare(left, right)) == expected, texts


def test_marks_of_sums() -> None:
    minus, plus, nan = SPECIAL_MARKS.values()
    assert special_numerics.to_text(special_numerics.total_of(plus | 1 << 38)) == "Infinity"
    assert special_numerics.to_text(special_numerics.total_of(minus)) == "-Infinity"
    assert special_numerics.to_text(special_numerics.total_of(minus | plus)) == "NaN"
    assert special_numerics.to_text(special_numerics.total_of(nan | plus)) == "NaN"


def test_all_rooms_have_one_form() -> None:
    assert (special_numbers.SPECIAL_SCALE, special_numbers.NAN_RANK) == (SPECIAL_SCALE, NAN_RANK)
