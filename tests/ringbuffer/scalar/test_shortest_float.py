"""Shortest digits: a reference in exact fractions, and PostgreSQL's output of the same bits."""

from __future__ import annotations

import random
import struct
from fractions import Fraction

import numpy as np
import pytest

from ringbuffer.scalar.numbers.shortest_float import FLOAT_BYTES_MAX, render_float4, render_float8
from tests.oracle.postgres import PostgresCluster

FORMS = {"float8": ("<d", "<q", 64, 17, 15), "float4": ("<f", "<i", 32, 9, 6)}
CASES = 1500


def rendered(family: str, bits: list[int]) -> list[str]:
    """Return the kernel's text of numbers given by their bits."""
    out = np.zeros(FLOAT_BYTES_MAX * len(bits), dtype=np.uint8)
    ends = np.zeros(len(bits) + 1, dtype=np.int64)
    valid = np.empty(0, dtype=np.uint8)
    if family == "float8":
        doubles = np.array(bits, dtype=np.int64)
        doubles.flags.writeable = False
        render_float8(doubles, valid, out, ends)
    else:
        singles = np.array(bits, dtype=np.int32)
        singles.flags.writeable = False
        render_float4(singles, valid, out, ends)
    whole = out.tobytes()
    return [whole[ends[row] : ends[row + 1]].decode() for row in range(len(bits))]


def sample_bits(family: str) -> list[int]:
    """Return random bits, powers of two and of ten with their neighbours, and short decimals."""
    number_form, bits_form, width, _, _ = FORMS[family]
    source = random.Random(family)
    bits = [source.getrandbits(width) - 2 ** (width - 1) for _ in range(CASES)]
    numbers = [2.0**power for power in range(-1074, 1024, 7)] + [float(f"1e{power}") for power in range(-323, 309, 3)]
    numbers += [source.randrange(10**6) / source.choice([1, 10, 1000, 7]) for _ in range(CASES)] + [
        0.0,
        -0.0,
        1e23,
        9007199254740993.0,
    ]
    limit = 1.7976931348623157e308 if family == "float8" else 3.4028234663852886e38
    for number in numbers:
        if abs(number) <= limit:
            [exact] = struct.unpack(bits_form, struct.pack(number_form, number))
            bits += [exact, exact + 1, max(exact - 1, -(2 ** (width - 1)))]
    return bits


def plain_text(family: str, bits: int) -> str:
    """Return the shortest decimal strictly between the borders to the neighbours, the closest one
    among equals, in PostgreSQL's layout.
    """
    number_form, bits_form, width, digits_max, fixed_digits = FORMS[family]
    [number] = struct.unpack(number_form, struct.pack(bits_form, bits))
    if number != number:
        return "NaN"
    sign = "-" if bits < 0 else ""
    if number in (float("inf"), float("-inf")):
        return sign + "Infinity"
    magnitude = bits & (2 ** (width - 1) - 1)
    if magnitude == 0:
        return sign + "0"

    def exact(pattern: int) -> Fraction:
        # The neighbour above the greatest number is where the next power of two would be.
        [value] = struct.unpack(number_form, struct.pack(bits_form, pattern))
        return Fraction(2) ** (1024 if family == "float8" else 128) if value == float("inf") else Fraction(value)

    value = exact(magnitude)
    lower, upper = (value + exact(magnitude - 1)) / 2, (value + exact(magnitude + 1)) / 2
    exponent = len(str(int(value))) - 1 if value >= 1 else -len(str(int(1 / value)))
    if Fraction(10) ** exponent > value:
        exponent -= 1
    elif Fraction(10) ** (exponent + 1) <= value:
        exponent += 1
    for count in range(1, digits_max + 1):
        unit = Fraction(10) ** (exponent - count + 1)
        below = value // unit
        inside = [digits for digits in (below, below + 1) if lower < digits * unit < upper]
        if inside:
            best = min(inside, key=lambda digits: (abs(digits * unit - value), digits % 2))
            return sign + layout(best, exponent - count + 1, fixed_digits)
    raise AssertionError(bits)


def layout(digits: int, power: int, fixed_digits: int) -> str:
    """Return digits * 10^power as PostgreSQL writes it."""
    text = str(digits)
    stripped = text.rstrip("0")
    power += len(text) - len(stripped)
    exponent = power + len(stripped) - 1
    if not -4 <= exponent < fixed_digits:
        mantissa = stripped[0] + ("." + stripped[1:] if len(stripped) > 1 else "")
        return f"{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02}"
    if power >= 0:
        return stripped + "0" * power
    padded = stripped.rjust(1 - power, "0")
    return padded[:power] + "." + padded[power:]


@pytest.mark.parametrize("family", list(FORMS))
def test_agrees_with_exact_fractions(family: str) -> None:
    bits = sample_bits(family)
    for pattern, text in zip(bits, rendered(family, bits), strict=True):
        assert text == plain_text(family, pattern), pattern


@pytest.mark.slow
@pytest.mark.parametrize("family", list(FORMS))
def test_agrees_with_postgres(postgres: PostgresCluster, family: str) -> None:
    bits = sample_bits(family)
    width = FORMS[family][2] // 8
    rows = [
        struct.pack("!hiii", 2, 4, index, width) + pattern.to_bytes(width, "big", signed=True)
        for index, pattern in enumerate(bits)
    ]
    with postgres.connect() as connection:
        connection.execute(f"CREATE TEMPORARY TABLE sent (id int, value {family})")
        with connection.cursor().copy("COPY sent FROM STDIN (FORMAT binary)") as copy:
            copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8) + b"".join(rows) + b"\xff\xff")
        printed = connection.cursor().execute("SELECT value::text FROM sent ORDER BY id").fetchall()
    assert rendered(family, bits) == [row[0] for row in printed]
