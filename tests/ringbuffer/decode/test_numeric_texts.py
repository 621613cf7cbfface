"""Numerics that a kernel reads from a column of texts are those of Python's decimals."""

from __future__ import annotations

import random
from decimal import Context, Decimal

import pyarrow as pa

from ringbuffer.decode.numeric_texts import numeric_texts

EXACT = Context(prec=60)
LEFT = ("NaN", "Infinity", "-inf", "x", "", "1" * 39, "1e-39", "1 2", "0x1f")


def test_texts() -> None:
    rng = random.Random(1)
    texts: list[str | None] = [
        None,
        "0",
        "-0.00",
        " 1.50 ",
        "1e3",
        "+.5",
        "5.",
        "1E-5",
        "9" * 38,
        f"-{'9' * 38}",
        *LEFT,
    ]
    texts += [f"{rng.randrange(-(10**12), 10**12)}.{rng.randrange(10**6):06}" for _ in range(200)]
    for start in (0, 3):
        column = pa.array(["skipped"] * start + texts, pa.string()).slice(start)
        unscaled, scales, left = numeric_texts(column)
        for text, (lo, hi), scale, is_left in zip(
            texts, unscaled.tolist(), scales.tolist(), left.tolist(), strict=True
        ):
            assert is_left == (text in LEFT), text
            if text is None or is_left:
                assert (lo, hi, scale) == (0, 0, 0)
                continue
            value = Decimal(text)
            exponent = value.as_tuple().exponent
            assert isinstance(exponent, int)
            assert scale == max(-exponent, 0), text
            assert Decimal((hi << 64) + (lo & (2**64 - 1))) == value.scaleb(scale, EXACT), text


def test_no_texts() -> None:
    assert [len(part) for part in numeric_texts(pa.array([], pa.string()))] == [0, 0, 0]
    assert numeric_texts(pa.array([None, None], pa.string()))[2].tolist() == [False, False]
