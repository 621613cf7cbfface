"""The quick way of ->> against the readers that take a json apart by hand: random documents, valid
and broken.
"""

from __future__ import annotations

import random

import pytest

from engine.embedded.functions.json import as_text, field, read_field_text
from sql.errors import SqlError
from sql.values.json_text import json_check

SEED = 20261126
PIECES = (
    *("{", "}", "[", "]", ":", ",", " ", "\n", '"x"', '"x": ', '"y"', '"y":', "1", "-0.50", "1e5", "01", "+1", ".5"),
    *("true", "false", "null", "NaN", "Infinity", '"\\u00e4"', '"\\ud800"', '"\\u0000"', '"\\n"', '"\t"', "nul", '"'),
    *('{"x": 1}', '{"x": "deep"}', "[1, 2]", '{"x": null, "x": "last"}', '"☃"'),
)


def outcome(text: str, is_quick: bool) -> object:
    try:
        if is_quick:
            return read_field_text(text, "x")
        json_check(text)
        return as_text(field(text, "x"))
    except SqlError as error:
        return error.sqlstate, error.message, error.detail


@pytest.mark.parametrize("seed", range(SEED, SEED + 4))
def test_the_quick_way_is_the_other_one(seed: int) -> None:
    chance = random.Random(seed)
    values = 0
    for _ in range(4000):
        inner = "".join(chance.choice(PIECES) for _ in range(chance.randrange(0, 5)))
        text = chance.choice(("{}", '{{"x": {}}}', '{{"y": 1, "x":{}, "z": {}}}', "[{}]")).replace("{}", inner)
        text = text.replace("{{", "{").replace("}}", "}")
        quick = outcome(text, is_quick=True)
        assert quick == outcome(text, is_quick=False), (seed, text)
        values += isinstance(quick, str)
    assert values > 100
