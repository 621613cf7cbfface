"""Long texts that are nearly a number, a size or a search_path are refused in linear time: patterns
give nothing back that they took.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest

from engine.streams.options import SIZE
from engine.system_catalog.functions.sizes import SIZE_TEXT
from sql.catalog.search_path import path_names
from sql.settings.values import HOURS
from sql.values.durations import KILOBYTES, MILLISECONDS, quantity
from sql.values.number_input import DECIMAL

LENGTH = 100_000
DIGITS, BLANKS = "1" * LENGTH, " " * LENGTH
TEXTS = [
    f"{DIGITS}!",
    f"1{BLANKS}!",
    f"{BLANKS}!",
    f"{DIGITS}{BLANKS}ms{BLANKS}!",
    f"{DIGITS}.{DIGITS}e{DIGITS}!",
    f'a{BLANKS}b{BLANKS}"',
    '"' * (LENGTH + 1),
    ", ".join(map("n{}".format, range(LENGTH))),
]
READERS: dict[str, Callable[[str], object]] = {
    "time": lambda text: quantity(text, MILLISECONDS),
    "memory": lambda text: quantity(text, KILOBYTES),
    "numeric": DECIMAL.fullmatch,
    "zone": HOURS.fullmatch,
    "pg_size_bytes": SIZE_TEXT.fullmatch,
    "stream option": SIZE.fullmatch,
    "search_path": lambda text: path_names(text, "somebody"),
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS.keys())
@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_long_text_is_read_in_linear_time(reader: Callable[[str], object], text: str) -> None:
    began_s = time.monotonic()
    reader(text)
    assert time.monotonic() - began_s < 3


def test_a_pattern_that_gives_back_what_it_took_would_fail() -> None:
    careless = re.compile(r"\s*([0-9]+)\s*(B|kB)?\s*")
    began_s = time.monotonic()
    careless.fullmatch(f"1{' ' * 5_000}!")
    assert time.monotonic() - began_s > 0.005


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("", ()),
        ('"$user", public', ("me", "public")),
        (' a b , "b ""c" ,public', ("a b", 'b "c', "public")),
        ('"a,b","a,b"', ("a,b",)),
        ('"A"', ("A",)),
    ],
)
def test_a_search_path(path: str, names: tuple[str, ...]) -> None:
    assert path_names(path, "me") == names
