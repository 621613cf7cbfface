"""A long JSON text is read in pieces, and what is read is what Python's own reader finds, or
refuses.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any, NoReturn

import pytest

from sql.values import json_pieces
from sql.values.json_pieces import WINDOW, PieceReader

WORDS = ["1", "-2.5", "1e5", "0", "1.5E+10", "true", "false", "null", "12345678901234567890"]
CHARACTERS = ["a", "é", "\\n", '\\"', "\\u00e9", "\\ud83d\\ude00", ",", "]", "}", "\\\\", ":", "\\ud800"]
BREAKS = ["", ",", "]", "}", "{", '"', "\x01", "x", "\\", "[[", "1", " ", ":", "e", "."]


def refused(word: str) -> NoReturn:
    raise ValueError(word)


def decoder() -> json.JSONDecoder:
    return json.JSONDecoder(parse_int=str, parse_float=str, object_pairs_hook=list, parse_constant=refused)


def made(chance: Random, depth: int) -> str:
    """Return a random JSON value."""

    def space() -> str:
        return chance.choice(["", "", " ", "\n  "])

    kind = chance.randint(0, 6 if depth else 3)
    if kind == 0:
        return chance.choice(WORDS)
    if kind < 4:
        return '"' + "".join(chance.choices(CHARACTERS, k=chance.randint(0, chance.choice([3, 40])))) + '"'
    if kind < 6:
        items = [space() + made(chance, depth - 1) + space() for _ in range(chance.randint(0, 8))]
        return f"[{','.join(items) or space()}]"
    members = [
        f'{space()}"k{chance.randint(0, 9)}"{space()}:{space()}{made(chance, depth - 1)}{space()}'
        for _ in range(chance.randint(0, 6))
    ]
    return f"{{{','.join(members) or space()}}}"


def answer(work: Any) -> str:
    try:
        return repr(work())
    except ValueError:
        return "refused"


@pytest.mark.parametrize("window", [1, 2, 5, 17, 60])
def test_random_texts(window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_pieces, "WINDOW", window)
    chance = Random(window)
    refusals = 0
    for _ in range(500):
        text = made(chance, 4)
        if chance.random() < 0.5:
            place = chance.randrange(len(text))
            text = text[:place] + chance.choice(BREAKS) + text[place + chance.randint(0, 2) :]
        expected = answer(lambda text=text: decoder().decode(text))
        refusals += expected == "refused"
        assert answer(lambda text=text: PieceReader(text, decoder(), list, True).whole()) == expected, text
        only_checked = answer(lambda text=text: PieceReader(text, decoder(), list, False).whole())
        assert (only_checked == "refused") == (expected == "refused"), text
    assert refusals > 50


@pytest.mark.parametrize(
    "text",
    [
        "[" + "1," * 200_000 + "1]",
        "[" + '"x",' * 100_000 + "1]",
        "{" + ",".join(f'"k{index}":{index}' for index in range(30_000)) + "}",
        '"' + "x" * 300_000 + '"',
        '"' + "\\n" * 150_000 + '"',
        '[{"a": [' + "[1, 2, 3], " * 30_000 + "1]}]",
        " " * 300_000 + "1",
    ],
    ids=lambda text: text[:8],
)
def test_no_call_reads_more_than_a_window(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    longest = 0
    raw_decode = json.JSONDecoder.raw_decode

    def noted(self: json.JSONDecoder, piece: str, idx: int = 0) -> tuple[Any, int]:
        nonlocal longest
        longest = max(longest, len(piece))
        return raw_decode(self, piece, idx)

    monkeypatch.setattr(json.JSONDecoder, "raw_decode", noted)
    found = PieceReader(text, decoder(), list, True).whole()
    assert longest <= WINDOW + 2
    assert found == json.loads(text, parse_int=str, parse_float=str, object_pairs_hook=list)
