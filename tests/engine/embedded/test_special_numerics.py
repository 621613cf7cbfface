"""NaN and the infinities among the embedded engine's numerics, against PostgreSQL's answers that
hold the kernels as well.
"""

from __future__ import annotations

import json

import pytest

from engine.embedded import decimals
from engine.embedded.functions import special_numerics
from engine.embedded.functions.special_numerics import SPECIAL_FUNCTIONS, SPECIAL_MARKS, is_special
from ringbuffer.scalar.numbers.numeric import NAN_RANK, SPECIAL_SCALE
from sql.errors import SqlError
from sql.values import special_numbers
from tests.ringbuffer.make_golden import GOLDEN

NAMES = ("add", "subtract", "multiply", "divide", "modulo", "negate", "abs", "round", "trunc", "ceil", "floor", "sign")
SPECIALS = ("NaN", "Infinity", "-Infinity")


def shown(value: decimals.Numeric) -> str:
    return special_numerics.to_text(value) if is_special(value) else decimals.to_text(value)


@pytest.mark.parametrize("name", NAMES)
def test_functions(name: str) -> None:
    golden = json.loads(GOLDEN.read_text())[f"any_{name}"]
    function = SPECIAL_FUNCTIONS[f"numeric_{name}"]
    checked = 0
    for texts, expected in golden:
        operands = [
            int(text) if index and name in ("round", "trunc") else decimals.from_text(text)
            for index, text in enumerate(texts)
        ]
        if not any(text in SPECIALS for text in texts):
            continue
        checked += 1
        try:
            found = shown(function(*operands))
        except SqlError as error:
            found = f"!{error.sqlstate}"
        assert found == expected, (name, texts)
    assert checked


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
    assert shown(special_numerics.total_of(plus | 1 << 38)) == "Infinity"
    assert shown(special_numerics.total_of(minus)) == "-Infinity"
    assert shown(special_numerics.total_of(minus | plus)) == "NaN"
    assert shown(special_numerics.total_of(nan | plus)) == "NaN"


def test_all_rooms_have_one_form() -> None:
    assert (special_numbers.SPECIAL_SCALE, special_numbers.NAN_RANK) == (SPECIAL_SCALE, NAN_RANK)
