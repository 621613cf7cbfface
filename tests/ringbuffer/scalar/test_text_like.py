"""LIKE against regular expressions made from the patterns."""

from __future__ import annotations

import random
import re
import time

from ringbuffer.memory.error_codes import INVALID_ESCAPE, OK
from ringbuffer.scalar.texts.text_like import text_ilike, text_like
from tests.ringbuffer.kernel_values import Texts

SEED = 20_261_120
CASES = 20_000
LETTERS = ["a", "b", "B", "ä", "😀", "%", "_", "\\"]


def regular_expression(pattern: str) -> str | None:
    """Return the same in Python's terms, or None for a pattern that ends with its escape."""
    parts, i = [], 0
    while i < len(pattern):
        character = pattern[i]
        if character == "\\":
            i += 1
            if i == len(pattern):
                return None
            parts.append(re.escape(pattern[i]))
        else:
            parts.append({"%": ".*", "_": "."}.get(character, re.escape(character)))
        i += 1
    return "".join(parts)


def test_patterns() -> None:
    chooser, maker = random.Random(SEED), Texts()
    matches = 0
    for _ in range(CASES):
        text = "".join(chooser.choice(LETTERS) for _ in range(chooser.randint(0, 14)))
        pattern = "".join(chooser.choice([*LETTERS, "%", "_"]) for _ in range(chooser.randint(0, 7)))
        if chooser.random() < 0.4:
            # A pattern that fits: some of the text's characters become wildcards.
            pattern = "".join(chooser.choice(["%", "_", "\\" + c, "\\" + c]) for c in text)
        expression = regular_expression(pattern)
        words = (*maker.words(text), *maker.words(pattern))
        for kernel, flags in ((text_like, re.DOTALL), (text_ilike, re.DOTALL | re.IGNORECASE | re.ASCII)):
            matched, error = kernel(*words)
            if expression is None:
                assert error in {OK, INVALID_ESCAPE}
                assert not matched
            else:
                expected = re.fullmatch(expression, text, flags) is not None
                assert (matched, error) == (int(expected), OK), (text, pattern)
                matches += matched
    assert matches > CASES // 4


def test_a_long_run_of_wildcards_takes_no_long_time() -> None:
    maker = Texts()
    assert text_like(*maker.words("a" * 20_000), *maker.words("%a" * 200 + "%b")) == (0, OK)


def test_the_worst_patterns_take_a_few_hundredths_of_a_second_on_ten_kilobytes() -> None:
    # A part is compared at each place: 25 million steps, of which a kernel takes a thousand million
    # in a second.
    maker = Texts()
    text = maker.words("a" * 10_000)
    for pattern in (
        "%" + "a" * 5_000 + "b%",
        "%" + "a_" * 2_500 + "b%",
        "%" + "\\a" * 5_000 + "b%",
        "%a" * 5_000 + "%b%",
    ):
        words = (*text, *maker.words(pattern))
        for kernel in (text_like, text_ilike):
            began_s = time.perf_counter()
            assert kernel(*words) == (0, OK)
            # 20 to 31 ms as measured; on a machine that is busy it may be more.
            assert time.perf_counter() - began_s < 0.5, pattern[:10]
