"""Texts that a kernel prints as jsonb are those that the reader in Python prints, whose errors are
PostgreSQL's; what is no JSON is never printed.
"""

from __future__ import annotations

import random
import re

import pyarrow as pa
import pytest

from ringbuffer.decode import json_texts
from ringbuffer.decode.json_texts import LEVELS_MAX, MEMBERS_MAX, NUMBER_BYTES_MAX, jsonb_texts
from sql.errors import SqlError
from sql.values.jsonb_text import jsonb_value

PRINTED = {
    '{"type": "buy", "x": 1}': '{"x": 1, "type": "buy"}',
    ' { "b" : 1 ,\n"aa":[ ] , "a":{ } }\t': '{"a": {}, "b": 1, "aa": []}',
    '{"a":1,"b":2,"a":{"c":3,"c":[4]}}': '{"a": {"c": [4]}, "b": 2}',
    '{"é":1,"zz":2,"z":3,"":4}': '{"": 4, "z": 3, "zz": 2, "é": 1}',
    "[-0, -0.00, 0.50, -1.0, 12345678901234567890.1]": "[0, 0.00, 0.50, -1.0, 12345678901234567890.1]",
    r'["\"\\\b\f\n\r\t", "𝄞", "/"]': r'["\"\\\b\f\n\r\t", "𝄞", "/"]',
    "[true,false,null]": "[true, false, null]",
    " null ": "null",
    '""': '""',
    "[" * LEVELS_MAX + "]" * LEVELS_MAX: "[" * LEVELS_MAX + "]" * LEVELS_MAX,
    "9" * NUMBER_BYTES_MAX: "9" * NUMBER_BYTES_MAX,
}
# Values that only the caller reads.
UNUSUAL = (
    "1e5",
    "[1E-2]",
    r'"\u0041"',
    r'"\/"',
    r'{"\n": 1}',
    "9" * (NUMBER_BYTES_MAX + 1),
    "[" * (LEVELS_MAX + 1) + "]" * (LEVELS_MAX + 1),
    "{" + ", ".join(f'"{number}": {number}' for number in range(MEMBERS_MAX + 1)) + "}",
)
BROKEN = (
    "",
    " ",
    *('{"a": 1', '{"a": 1,}', '{"a"}', '{"a" 1}', "{a: 1}", "{1: 2}", "{,}", "{]", '{"a": 1]', '{"a":}', '{"a"::1}'),
    *("[", "]", "[1", "[1,]", "[,1]", "[1 2]", "[1}", "[}", "[]]", "[],", "1 2", "1,", '"a" "b"', "{}{}"),
    *("01", "-", "-01", "1.", ".5", "+1", "1.e", "-a", "0x1", "1a", "--1", "NaN", "Infinity", "-Infinity"),
    *("tru", "truex", "True", "nul", "nulll", "fals", "falsee", "f", "n", "falsy", "'a'"),
    *('"', '"a', '"\\', '"\\"', '"\\x"', '"\n"', '"\x00"', '"\x1f"', "\ufeff1", "\x0b1", "\xa01", "1\x00"),
)
WORDS = ("0", "-0", "-0.0", "1.50", "-12", "1e2", "007", "1.", "true", "false", "null", "nul", '""')
PARTS = (
    "a",
    "b",
    "zz",
    "é",
    "𝄞",
    " ",
    "\\n",
    '\\"',
    "\\\\",
    "/",
    "\\/",
    "\\u00e9",
    "\\ud834\\udd1e",
    "\t",
    ":",
    "}",
    ",",
)
SPACES = ("", "", "", " ", "\n\t ", "\r")
BREAKS = ("", ",", ":", '"', "{", "}", "[", "]", "\\", "0", "-", ".", "e", "x", " ", "\x00", "é", "true")


def printed(texts: list[str | None]) -> list[str | None]:
    """Return what the kernel prints, "left" for what it leaves."""
    found, left = jsonb_texts(pa.array(texts, pa.string()))
    found.validate(full=True)
    return ["left" if is_left else text for text, is_left in zip(found.to_pylist(), left.tolist(), strict=True)]


def test_usual_texts() -> None:
    assert printed(list(PRINTED)) == list(PRINTED.values())
    assert printed(list(PRINTED.values())) == list(PRINTED.values())
    for text, expected in PRINTED.items():
        assert jsonb_value(text) == expected


def test_what_is_left() -> None:
    assert printed([*UNUSUAL, *BROKEN]) == ["left"] * len(UNUSUAL + BROKEN)


def test_members_fill_their_room() -> None:
    for count in (2, 3, 100, MEMBERS_MAX):
        names = [f"{number:x}" for number in range(count)]
        for rng in map(random.Random, range(3)):
            rng.shuffle(names)
            text = "{" + ",".join(f'"{name}":"{name}"' for name in names) + "}"
            assert printed([text]) == [jsonb_value(text)]


def test_slices_and_nulls() -> None:
    texts = [None, "[1,2]", None, "x", '{"b":1,"a":2}', "", None]
    column = pa.array(["[0,0]", None, *texts, "[9,9]"], pa.string()).slice(2, len(texts))
    found, left = jsonb_texts(column)
    assert found.to_pylist() == [None, "[1, 2]", None, "", '{"a": 2, "b": 1}', "", None]
    assert left.tolist() == [False, False, False, True, False, True, False]
    for empty in (pa.array([], pa.string()), pa.array([None, None], pa.string())):
        found, left = jsonb_texts(empty)
        assert found.equals(empty) and not left.any()


def test_a_column_of_too_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_texts, "OFFSETS_MAX", 3)
    found, left = jsonb_texts(pa.array(["1", None, "2"], pa.string()))
    assert found.to_pylist() == ["", None, ""] and left.tolist() == [True, False, True]
    assert printed(["1", None]) == ["1", None]


def value(rng: random.Random, depth: int) -> str:
    """Return a random text that mostly is a value."""

    def space() -> str:
        return rng.choice(SPACES)

    kind = rng.randrange(5 if depth else 3)
    if kind == 0:
        return rng.choice(WORDS)
    if kind == 1:
        return str(rng.randrange(-(10**6), 10**6)) + rng.choice(("", "", f".{rng.randrange(1000):03}"))
    if kind == 2:
        return string(rng)
    count = rng.choice((0, 1, 2, 3, 6))
    if kind == 3:
        return "[" + ",".join(space() + value(rng, depth - 1) + space() for _ in range(count)) + "]"
    members = [f"{space()}{string(rng)}{space()}:{space()}{value(rng, depth - 1)}{space()}" for _ in range(count)]
    return "{" + ",".join(members) + "}"


def string(rng: random.Random) -> str:
    """Return a random string, of few parts, so that keys are often equal."""
    size = rng.choice((0, 1, 1, 2, 9))
    parts = PARTS if rng.random() < 0.1 else PARTS[:5]
    return '"' + "".join(rng.choice(parts) for _ in range(size)) + '"'


def test_random_texts() -> None:
    rng = random.Random(30)
    texts = []
    for _ in range(6_000):
        text = rng.choice(SPACES) + value(rng, 4) + rng.choice(SPACES)
        if rng.random() < 0.4:
            place = rng.randrange(len(text) + 1)
            text = text[:place] + rng.choice(BREAKS) + text[place + rng.randrange(3) :]
        texts.append(text)
    counts = {"printed": 0, "read by the caller": 0, "errors": 0}
    for text, found in zip(texts, printed(list(texts)), strict=True):
        try:
            expected = jsonb_value(text)
        except SqlError:
            assert found == "left", text
            counts["errors"] += 1
            continue
        if found == "left":
            counts["read by the caller"] += 1
            assert re.search(r"\\|\de", text), text
        else:
            counts["printed"] += 1
            assert found == expected, text
    assert min(counts.values()) > 200, counts
