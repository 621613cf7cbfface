"""The field parsers against Python's own int, Decimal and float, and PostgreSQL's rules for what is
refused.
"""

from __future__ import annotations

import random
import struct
from decimal import ROUND_HALF_UP, Decimal, localcontext

import numpy as np
import numpy.typing as npt
import pytest

from ringbuffer.memory import error_codes as codes
from ringbuffer.scalar.numbers.fields import parse_bool, parse_int64, parse_integer, parse_numeric, parse_numeric_column
from ringbuffer.scalar.numbers.parse_float import exact_float, parse_float32, parse_float64


def text_bytes(text: str) -> npt.NDArray[np.uint8]:
    return np.frombuffer(text.encode() + bytes(16), dtype=np.uint8).copy()


def wide(lo: int, hi: int) -> int:
    return (int(hi) << 64) | (int(lo) & (2**64 - 1))


@pytest.mark.parametrize(
    ("text", "value"),
    [(text, True) for text in ("t", "TRUE", "tru", " y ", "yes", "on", "1", "\tYe\n")]
    + [(text, False) for text in ("f", "False", "n", "no", "off", "of", "0", " fal")]
    + [(text, None) for text in ("", " ", "o", "tt", "2", "truee", "yess", "01", "offf", "t rue")],
)
def test_bool(text: str, value: bool | None) -> None:
    found, error = parse_bool(text_bytes(text), 0, len(text))
    assert (found, error) == ((0, codes.INVALID_TEXT) if value is None else (value, codes.OK))


@pytest.mark.parametrize("seed", range(3))
def test_integers(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(3000):
        bits = rng.choice((16, 32, 64))
        low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
        number = rng.choice(
            (low, high, low - 1, high + 1, rng.randrange(-(10**20), 10**20), rng.randrange(low, high), 0)
        )
        text = (
            rng.choice(("", " ", "\t "))
            + rng.choice(("", "+", "-", "-0", "00"))
            + str(abs(number))
            + rng.choice(("", " "))
        )
        value, error = parse_integer(text_bytes(text), 0, len(text), low, high, codes.BIGINT_RANGE)
        expected = int(text)
        if low <= expected <= high:
            assert (value, error) == (expected, codes.OK), text
        else:
            assert error == codes.BIGINT_RANGE, text


@pytest.mark.parametrize("text", ["", " ", "-", "+ 1", "1 2", "1.0", "0x10", "1e3", "--1", "1_000", "١"])
def test_bad_integers(text: str) -> None:
    assert parse_int64(text_bytes(text), 0, len(text.encode()))[1] == codes.INVALID_TEXT


def random_decimal(rng: random.Random) -> str:
    whole = "".join(rng.choice("0123456789") for _ in range(rng.choice((0, 1, 2, 5, 19, 20, 30, 38))))
    part = "".join(rng.choice("0459") for _ in range(rng.choice((0, 1, 2, 3, 19, 20, 40))))
    text = whole + ("." + part if part or rng.random() < 0.2 else "")
    if text in ("", "."):
        text = "0"
    exponent = rng.choice(("", "", "", f"e{rng.randrange(-40, 40)}", f"E+{rng.randrange(5)}"))
    return rng.choice(("", "-", "+", " ")) + text + exponent


@pytest.mark.parametrize("seed", range(4))
def test_numeric(seed: int) -> None:
    rng = random.Random(seed)
    with localcontext() as context:
        context.prec = 200
        context.rounding = ROUND_HALF_UP
        for _ in range(3000):
            text = random_decimal(rng)
            exact = Decimal(text.strip())
            precision = rng.randrange(1, 39)
            scale = rng.randrange(0, precision + 1)
            unscaled = int(exact.scaleb(scale).to_integral_value(ROUND_HALF_UP))
            lo, hi, error = parse_numeric_column(text_bytes(text), 0, len(text), precision, scale)
            if abs(unscaled) >= 10**precision:
                assert error == codes.NUMERIC_FIELD_OVERFLOW, (text, precision, scale)
            else:
                assert (wide(lo, hi), error) == (unscaled, codes.OK), (text, precision, scale)
            written_scale = max(0, -int(exact.as_tuple().exponent))
            digits = int(exact.scaleb(written_scale))
            lo, hi, found_scale, error = parse_numeric(text_bytes(text), 0, len(text))
            if written_scale > 38 or abs(digits) >= 10**38:
                assert error == codes.NUMERIC_DIGITS, text
            else:
                assert (wide(lo, hi), found_scale, error) == (digits, written_scale, codes.OK), text


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (text, codes.INVALID_TEXT)
        for text in ("", " ", ".", "-", "e5", "1e", "1e+", "1.2.3", "1 2", "0x1", "nana", "+-1")
    ]
    + [(text, codes.NUMERIC_SPECIAL) for text in ("NaN", " nan ", "Infinity", "-inf", "+INFINITY")]
    + [("1e200000", codes.NUMERIC_OVERFLOW), ("1e999999999999", codes.NUMERIC_OVERFLOW)],
)
def test_bad_numeric(text: str, error: int) -> None:
    infinite = error == codes.NUMERIC_SPECIAL and "inf" in text.lower()
    expected = codes.NUMERIC_FIELD_OVERFLOW if infinite else error
    assert parse_numeric_column(text_bytes(text), 0, len(text), 10, 2)[2] == expected
    assert parse_numeric(text_bytes(text), 0, len(text))[3] == error


def random_float(rng: random.Random) -> str:
    kind = rng.randrange(6)
    if kind == 0:
        return repr(struct.unpack("<d", rng.getrandbits(64).to_bytes(8, "little"))[0])
    if kind == 1:
        return f"{rng.randrange(10 ** rng.randrange(1, 26))}e{rng.randrange(-345, 310)}"
    if kind == 2:
        return f"{rng.random():.{rng.randrange(1, 30)}f}"
    if kind == 3:
        return repr(struct.unpack("<d", rng.getrandbits(53).to_bytes(8, "little"))[0])
    if kind == 4:
        middle = struct.unpack("<f", rng.getrandbits(31).to_bytes(4, "little"))[0]
        return (
            f"{Decimal(middle) + Decimal(float(np.spacing(np.float32(middle)))) / 2:f}"[:60]
            if middle == middle
            else "1"
        )
    return f"{rng.uniform(-1e6, 1e6):.4f}"


@pytest.mark.parametrize("seed", range(3))
def test_float64(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(5000):
        text = random_float(rng)
        value, error = parse_float64(text_bytes(text), 0, len(text))
        if error == codes.NEEDS_FALLBACK:
            value, error = exact_float(text, False)
        expected = float(text)
        if expected in (float("inf"), float("-inf")) and "inf" not in text:
            assert error == codes.FLOAT_OVERFLOW, text
        elif expected == 0.0 and any(digit in text.lower().split("e")[0] for digit in "123456789"):
            assert error == codes.FLOAT_UNDERFLOW, text
        else:
            assert error == codes.OK, text
            assert struct.pack("<d", value) == struct.pack("<d", expected) or (
                value != value and expected != expected
            ), text


@pytest.mark.parametrize("seed", range(3))
def test_float32(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(3000):
        text = random_float(rng)
        if "inf" in text or "nan" in text:
            continue
        value, error = parse_float32(text_bytes(text), 0, len(text))
        if error == codes.NEEDS_FALLBACK:
            value, error = exact_float(text, True)
        if error == codes.OK:
            exact = Decimal(text)
            nearest = np.float32(value)
            with localcontext() as context:
                context.prec = 1200
                distance = abs(Decimal(float(nearest)) - exact)
                for neighbour in (
                    np.nextafter(nearest, np.float32(-np.inf)),
                    np.nextafter(nearest, np.float32(np.inf)),
                ):
                    if np.isfinite(neighbour):
                        other = abs(Decimal(float(neighbour)) - exact)
                        assert distance <= other, text
                        assert distance < other or int(nearest.view(np.uint32)) % 2 == 0, text
        else:
            assert error == codes.REAL_RANGE, text
            assert abs(float(text)) > 3.40282346e38 or abs(float(text)) <= 7.1e-46, text


def test_float_words() -> None:
    for text, value in (("inf", np.inf), ("-Infinity", -np.inf), (" +INF ", np.inf), ("-0", 0.0)):
        assert parse_float64(text_bytes(text), 0, len(text)) == (value, codes.OK)
    assert np.isnan(parse_float64(text_bytes("NaN"), 0, 3)[0])
    for text in ("", "abc", "1x", "infin", "1e", ".", "- 1"):
        assert parse_float64(text_bytes(text), 0, len(text))[1] == codes.INVALID_TEXT
    assert exact_float("0x1.8p1", False) == (3.0, codes.OK)
