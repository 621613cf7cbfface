"""Kernels that are compiled past numba do what Python does with their text."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ringbuffer.compile.direct_compiler import compile_directly
from ringbuffer.compile.kernel_code import KernelCode, signature
from ringbuffer.compile.kernel_compiler import compile_kernel
from ringbuffer.compile.kernel_text import kernel_tree
from ringbuffer.compile.kernel_values import NotCoveredError
from ringbuffer.compile.loader import Kernel, load_code

pytestmark = pytest.mark.compiles

TYPES = ("int64", "int64", "boolean", "int64[::1]", "uint8[::1]", "int64[:,::1]", "float64[::1]", "int32[::1]")
HEAD = """
import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import element
from ringbuffer.scalar.numbers.arithmetic import add_int64


@kernel
def part(value, other):
    if value > other:
        return value, True
    return other - 1, value == other


@kernel
def run(start, end, flag, words, nulls, pairs, floats, days):
    for row in range(start, end):
        w = element(words, row)
        n = element(nulls, row) != 0
        f = element(floats, row)
        d = element(days, row)
        p = pairs[row, 1]
"""
WORDS = ("w", "d", "p", "5", "-3", "row", "x")
ROWS = 24
PROGRAMS = 20


def of_python(text: str) -> Callable[..., int]:
    """Return the function as Python runs it."""
    body = text[text.index("@kernel") :].replace("@kernel\n", "")
    names: dict[str, Any] = {
        "np": np,
        "element": lambda array, place: array.reshape(-1)[place].item(),
        "add_int64": lambda one, other: (one + other, 0),
    }
    exec(body, names)  # noqa: S102  # the text is this file's
    function: Callable[..., int] = names["run"]
    return function


def directly(text: str) -> Kernel:
    code = KernelCode(*compile_directly(kernel_tree(text), "a_module", "run", signature(TYPES)[0]))
    return load_code(code, "run", TYPES)


def arrays(seed: int) -> list[Any]:
    chance = np.random.default_rng(seed)
    words, floats = chance.integers(-9, 9, ROWS), chance.integers(-9, 9, ROWS) / 4
    pairs = chance.integers(-9, 9, (ROWS, 2))
    return [words, chance.integers(0, 2, ROWS, np.uint8), pairs, floats, chance.integers(-9, 9, ROWS, np.int32)]


class Programs:
    """Random statements, of numbers that stay small."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def word(self, depth: int) -> str:
        if depth == 0 or self.chance.random() < 0.2:
            return self.chance.choice(WORDS)
        left, right = self.word(depth - 1), self.word(depth - 1)
        return self.chance.choice(
            [
                f"({left} + {right})",
                f"({left} - {right})",
                f"({left} & {right})",
                f"({left} ^ {right})",
                f"({left} >> 1)",
                f"({left} | {right})",
                f"(-{left})",
                f"(~{left})",
                f"min({left}, {right})",
                f"max({left}, {right})",
                f"(1 * ({self.condition(depth - 1)}) + {left} * 2 & 1023)",
                f"({left} if {self.condition(depth - 1)} else {right})",
            ]
        )

    def condition(self, depth: int) -> str:
        if depth <= 0:
            return self.chance.choice(["n", "flag", "True", "w > 0", "f <= 0.5", "q"])
        one, other = self.condition(depth - 1), self.condition(depth - 1)
        return self.chance.choice(
            [
                f"({one} and {other})",
                f"({one} or {other})",
                f"(not {one})",
                f"(({one}) | ({other}))",
                f"(({one}) == ({other}))",
                f"({self.word(depth - 1)} {self.chance.choice(['<', '<=', '==', '!=', '>', '>='])} {self.word(1)})",
                f"(f * 2.0 {self.chance.choice(['<', '==', '!=', '>='])} np.float64({self.word(1)}))",
            ]
        )

    def block(self, depth: int, indentation: str) -> list[str]:
        lines = []
        for _ in range(self.chance.randint(1, 4)):
            lines += [indentation + line for line in self.statement(depth)]
        return lines

    def statement(self, depth: int) -> list[str]:
        simple = [
            f"x = {self.word(2)} & 1023",
            f"q = {self.condition(2)}",
            f"x, q = part({self.word(1)} & 1023, {self.word(1)} & 1023)",
            f"x, error = add_int64({self.word(1)} & 1023, {self.word(1)} & 1023)",
            f"pairs[row, 0] = {self.word(2)} & 1023",
            f"words[row] += {self.word(1)} & 7",
            f"f = np.floor(f) + 0.25 if {self.condition(1)} else abs(f)",
            "floats[row] = f",
            f"days[row] = {self.word(1)} & 1023",
        ]
        if depth == 0:
            return [self.chance.choice(simple)]
        kind = self.chance.randint(0, 5)
        if kind == 0:
            return [f"if {self.condition(2)}:", *self.block(depth - 1, "    "), "else:", *self.block(depth - 1, "    ")]
        if kind == 1:
            return [f"for i{depth} in range(0, row & 3):", *self.block(depth - 1, "    "), f"    x += i{depth}"]
        if kind == 2:
            return [f"if {self.condition(2)}:", *self.block(depth - 1, "    "), "    continue"]
        return [self.chance.choice(simple)]

    def text(self) -> str:
        lines = ["        x = 0", "        q = False", *self.block(2, "        "), "        pairs[row, 1] = x"]
        return HEAD + "\n".join([*lines, "        if q and x == 3:", "            return row", "    return end", ""])


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_random_kernels_do_what_python_does(seed: int) -> None:
    text = Programs(seed).text()
    ours, theirs = arrays(seed), arrays(seed)
    for flag in (True, False):
        assert directly(text)(0, ROWS, flag, *ours) == of_python(text)(0, ROWS, flag, *theirs), text
        for one, other in zip(ours, theirs, strict=True):
            assert one.tolist() == other.tolist(), text


def test_what_is_not_covered_is_left_to_numba() -> None:
    text = HEAD + "        words[row] = w % 5\n    return end\n"
    with pytest.raises(NotCoveredError):
        directly(text)
    ours, theirs = arrays(1), arrays(1)
    kernel = load_code(compile_kernel("a_module", text, "run", TYPES), "run", TYPES)
    assert kernel(0, ROWS, True, *ours) == of_python(text)(0, ROWS, True, *theirs) == ROWS
    assert ours[0].tolist() == theirs[0].tolist()


def test_an_entry_refuses_what_is_no_argument() -> None:
    kernel = directly(HEAD + "        words[row] = w\n    return end\n")
    with pytest.raises(SystemError):
        kernel.entry(0, ROWS)
    with pytest.raises(OverflowError):
        kernel.entry(1 << 64, ROWS, True, *arrays(1))
