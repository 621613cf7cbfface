"""Sums, differences, products and comparisons of decimals whose magnitudes are known, in one word
where they fit and without a check where they can't overflow.

A column numeric(15,2) of a stream has at most 15 digits. Enters: two values. Leaves: a value, or
None where the general kernels are needed. Must not know SQL's functions.
"""

from __future__ import annotations

from ringbuffer.memory.columns import NUMERIC_DIGITS_MAX
from views.codegen.values import WORD_MAX, Value, any_null, has_known_scale
from views.codegen.writer import KernelWriter

OPERATORS = {"add": "+", "subtract": "-"}
MOST = 10**NUMERIC_DIGITS_MAX - 1


def narrow_arithmetic(
    writer: KernelWriter, function: str, scale: int | None, values: tuple[Value, ...]
) -> Value | None:
    """Write a sum, a difference or a product at a scale, None where one may be too large."""
    if function not in ("multiply", *OPERATORS) or scale is None or not all(map(has_known_scale, values)):
        return None
    if function == "multiply":
        return _product(writer, scale, *values)
    words = aligned(*values)
    if words is None or scale != max(int(value.words[2]) for value in values):
        return None
    (left, left_most), (right, right_most) = words
    if left_most + right_most > WORD_MAX:
        return None
    name = writer.assign(f"{function}_result", f"{left} {OPERATORS[function]} {right}")
    return Value((name, f"({name} >> 63)", str(scale)), any_null(*values), left_most + right_most)


def _product(writer: KernelWriter, scale: int, left: Value, right: Value) -> Value | None:
    if left.most is None or right.most is None or max(left.most, right.most) > WORD_MAX:
        return None
    most = left.most * right.most
    if scale != int(left.words[2]) + int(right.words[2]) or most > MOST:
        return None
    words, null = f"{left.words[0]}, {right.words[0]}", any_null(left, right)
    if most <= WORD_MAX:
        name = writer.assign("multiply_result", words.replace(", ", " * "))
        return Value((name, f"({name} >> 63)", str(scale)), null, most)
    lo, hi = writer.name("multiply_result_lo"), writer.name("multiply_result_hi")
    writer.line(f"{lo}, {hi} = {writer.use('scalar.numbers.int128', 'int128_multiply_words')}({words})")
    return Value((lo, hi, str(scale)), null, most)


def aligned(left: Value, right: Value) -> tuple[tuple[str, int], tuple[str, int]] | None:
    """Return source text and magnitude of each value as one word at the larger scale, None where
    one may need more.
    """
    if not has_known_scale(left) or not has_known_scale(right):
        return None
    scale = max(int(left.words[2]), int(right.words[2]))
    found = [_scaled(value, scale) for value in (left, right)]
    return None if None in found else (found[0], found[1])  # type: ignore[return-value]  # neither is None


def _scaled(value: Value, scale: int) -> tuple[str, int] | None:
    factor = 10 ** (scale - int(value.words[2]))
    if value.most is None or value.most * factor > WORD_MAX:
        return None
    word = value.words[0]
    if factor != 1:
        word = str(int(word) * factor) if word.lstrip("-").isdigit() else f"{word} * {factor}"
    return word, value.most * factor
