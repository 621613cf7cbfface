"""Functions that make strings against Python's, on inline and long strings and with a scratch heap
that runs full.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from ringbuffer.memory.error_codes import NEGATIVE_LENGTH, OK, SCRATCH_FULL, TEXT_TOO_LONG, VALUE_TOO_LONG
from ringbuffer.scalar.texts import text_functions
from ringbuffer.scalar.texts.text_functions import ScratchHeap
from ringbuffer.scalar.texts.text_values import text_equal
from tests.ringbuffer.kernel_values import Texts
from tests.ringbuffer.kernel_values import text as text_of

SEED = 20_261_120
CASES = 3_000
ALPHABET = ["a", "b", "c", "A", "Z", "ä", "Ä", "€", "😀", " "]


def texts(chooser: random.Random, most: int = 30) -> str:
    length = chooser.choice([0, 1, 4, 11, 12, 13, chooser.randint(0, most)])
    return "".join(chooser.choice(ALPHABET) for _ in range(min(length, most)))


def ascii_case(text: str, change: Callable[[str], str]) -> str:
    return "".join(change(c) if c.isascii() else c for c in text)


def substring(text: str, start: int, count: int) -> str:
    return text[max(start - 1, 0) : max(start - 1 + count, 0)]


def left(text: str, count: int) -> str:
    return text[:count] if count != 0 else ""


def right(text: str, count: int) -> str:
    if count < 0:
        return text[-count:]
    return text[-count:] if count else ""


def padding(text: str, count: int, fill: str) -> str:
    return (fill * max(count, 0))[: max(count - len(text), 0)]


# kernel, reference, what follows the string: other strings ("s") and integers ("i"), whether it
# takes the scratch heap.
FUNCTIONS: list[tuple[Any, Callable[..., str], str, bool]] = [
    (text_functions.text_concat, lambda a, b: a + b, "s", True),
    (text_functions.text_lower, lambda a: ascii_case(a, str.lower), "", True),
    (text_functions.text_upper, lambda a: ascii_case(a, str.upper), "", True),
    (text_functions.text_reverse, lambda a: a[::-1], "", True),
    (text_functions.text_repeat, lambda a, n: a * n, "i", True),
    (text_functions.text_lpad, lambda a, n, b: padding(a, n, b) + a[: max(n, 0)], "is", True),
    (text_functions.text_rpad, lambda a, n, b: a[: max(n, 0)] + padding(a, n, b), "is", True),
    (text_functions.text_replace, lambda a, b, c: a.replace(b, c) if b else a, "ss", True),
    (text_functions.text_left, left, "i", False),
    (text_functions.text_right, right, "i", False),
    (text_functions.text_substring, substring, "in", False),
]


@pytest.mark.parametrize(("kernel", "reference", "more", "takes_scratch"), FUNCTIONS)
def test_functions(kernel: Any, reference: Callable[..., str], more: str, takes_scratch: bool) -> None:
    chooser, maker, scratch = random.Random(SEED), Texts(), ScratchHeap(16)
    for _ in range(CASES):
        string = texts(chooser)
        arguments: list[Any] = []
        for kind in more:
            number = chooser.randint(-5, 20)
            arguments.append(texts(chooser, 3) if kind == "s" else max(number, 0) if kind == "n" else number)
        words = [*maker.words(string)]
        for argument in arguments:
            words += maker.words(argument) if isinstance(argument, str) else [argument]
        result = run(kernel, words, scratch if takes_scratch else None)
        assert text_of(*result[:3]) == reference(string, *arguments), (string, arguments)
        assert result[3] == OK
        # The result's words must be good for every other function.
        assert text_equal(*result[:3], *maker.words(reference(string, *arguments)))


def run(kernel: Any, words: list[int], scratch: ScratchHeap | None) -> tuple[int, int, int, int]:
    """Call a kernel as a pipeline does: again with a larger heap while it is full."""
    if scratch is None:
        result: tuple[int, int, int, int] = kernel(*words)
        return result
    scratch.clear()
    result = kernel(*words, scratch.words)
    while result[3] == SCRATCH_FULL:
        scratch.grow()
        result = kernel(*words, scratch.words)
    return result


def test_trim_takes_characters_not_bytes() -> None:
    chooser, maker = random.Random(SEED), Texts()
    for _ in range(CASES):
        string, characters = texts(chooser), texts(chooser, 4)
        for left_end, right_end, reference in (
            (True, False, str.lstrip),
            (False, True, str.rstrip),
            (True, True, str.strip),
        ):
            result = text_functions.text_trim(*maker.words(string), *maker.words(characters), left_end, right_end)
            assert text_of(*result[:3]) == (reference(string, characters) if characters else string)


def test_varchar_loses_spaces_only() -> None:
    maker = Texts()
    assert text_of(*text_functions.text_limit(*maker.words("äbc   "), 3)[:3]) == "äbc"
    assert text_functions.text_limit(*maker.words("äbc  d"), 3)[3] == VALUE_TOO_LONG
    long_text = "x" * 30
    assert text_functions.text_limit(*maker.words(long_text), 30)[3] == OK
    assert text_functions.text_limit(*maker.words(long_text), 29)[3] == VALUE_TOO_LONG


def test_failures() -> None:
    maker, scratch = Texts(), ScratchHeap()
    assert text_functions.text_substring(*maker.words("abc"), 1, -1)[3] == NEGATIVE_LENGTH
    assert text_functions.text_repeat(*maker.words("abc"), 1 << 30, scratch.words)[3] == TEXT_TOO_LONG
    assert text_functions.text_lpad(*maker.words("a"), 1 << 30, *maker.words("ä"), scratch.words)[3] == TEXT_TOO_LONG
    # PostgreSQL allows it; the other engines do not, either.
    assert text_functions.text_repeat(*maker.words("x" * 1000), 70_000, scratch.words)[3] == TEXT_TOO_LONG
    assert text_functions.text_repeat(*maker.words("x" * 1000), 60_000, scratch.words)[3] == SCRATCH_FULL


def test_short_results_give_scratch_back() -> None:
    maker, scratch = Texts(), ScratchHeap()
    text_functions.text_upper(*maker.words("short"), scratch.words)
    assert scratch.words[text_functions.USED] == 0
    text_functions.text_upper(*maker.words("longer than twelve"), scratch.words)
    assert scratch.words[text_functions.USED] == len("longer than twelve")
