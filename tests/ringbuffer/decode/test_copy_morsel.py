"""Plain lines, many at a time, against the way that takes every line by itself: the same rows, and
the same first error.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date
from decimal import Decimal

import numpy as np
import pytest

from ringbuffer.compile.jit import kernel
from ringbuffer.decode.copy_decoder import CopyDecoder
from ringbuffer.decode.copy_formats import CsvDecoder, CsvFormat, TextDecoder, TextFormat
from ringbuffer.decode.quick_values import quick_date, quick_decimal, quick_integer
from ringbuffer.memory.columns import ColumnLayout, Layout, PhysicalType
from ringbuffer.memory.error_codes import INVALID_DATETIME, RowError
from ringbuffer.scalar.numbers.fields import Bytes
from tests.ringbuffer.plain_rows import Row, plain_rows

P = PhysicalType
LAYOUT: Layout = (
    ColumnLayout("b", P.BOOL),
    ColumnLayout("i2", P.INT16),
    ColumnLayout("i4", P.INT32, not_null=True),
    ColumnLayout("i8", P.INT64),
    ColumnLayout("f4", P.FLOAT32),
    ColumnLayout("f8", P.FLOAT64),
    ColumnLayout("d", P.DATE),
    ColumnLayout("t", P.TIMESTAMP),
    ColumnLayout("z", P.TIMESTAMP, zoned=True),
    ColumnLayout("n", P.NUMERIC, precision=9, scale=2),
    ColumnLayout("w", P.NUMERIC, precision=38, scale=20),
    ColumnLayout("v", P.TEXT, length_max=6),
    ColumnLayout("s", P.TEXT),
    ColumnLayout("l", P.TEXT, not_null=True),
)
LETTERS = ("a", "b ", "word", " ", "ü", "€", "'", "-", "long enough to go to the heap ")
SPECIAL = (
    b"\n",
    b"\r",
    b"\0",
    b"\\",
    b'"',
    b",",
    b"\t",
    b" ",
    b"-",
    b".",
    b"9",
    b"x",
    b"\xff",
    b"\xc3",
    b"\\N",
    b"\r\n",
    b'""',
    b"\\.\n",
)
FORMATS: dict[str, CsvFormat | TextFormat] = {
    "csv": CsvFormat(),
    "csv, NULL": CsvFormat(null="NULL"),
    "csv, escape": CsvFormat(delimiter=";", quote="'", escape="\\"),
    "csv, forced": CsvFormat(force_null=frozenset({"s"})),
    "text": TextFormat(),
    "text, empty": TextFormat(delimiter="|", null=""),
    "text, odd null": TextFormat(null="\\\\N"),
    "text, long null": TextFormat(null="nothing at all"),
}


def digits(rng: random.Random, count: int) -> str:
    return "".join(rng.choices("0123456789", k=rng.randint(1, count)))


def value(rng: random.Random, column: ColumnLayout) -> str:
    sign = rng.choice(("", "", "-"))
    match column.physical:
        case P.BOOL:
            return rng.choice(("t", "f", "true", "off", "1"))
        case P.INT16:
            return sign + digits(rng, 4)
        case P.INT32:
            return sign + digits(rng, 9)
        case P.INT64:
            return sign + digits(rng, 18)
        case P.FLOAT32 | P.FLOAT64:
            return f"{sign}{digits(rng, 5)}.{digits(rng, 6)}"
        case P.DATE:
            return f"{rng.randint(1, 2999):04}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
        case P.TIMESTAMP:
            return f"{rng.randint(1990, 2030):04}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02} 0{rng.randint(0, 9)}:30:15.25"
        case P.NUMERIC:
            whole = sign + digits(rng, 7 if column.precision < 18 else 18)
            return rng.choice((whole, f"{whole}.{digits(rng, 2)}", f"{whole}.{digits(rng, 1)}"))
        case _:
            limit = 6 if column.length_max else 99
            return "".join(rng.choices(LETTERS, k=rng.randint(0, 6)))[:limit].strip() or "x"


def plain_lines(rng: random.Random, form: CsvFormat | TextFormat, count: int) -> list[bytes]:
    """Return lines that are right, most of them plain."""
    lines = []
    for _ in range(count):
        fields = []
        for column in LAYOUT:
            text = value(rng, column)
            if not column.not_null and rng.random() < 0.05:
                text = form.null
            elif isinstance(form, CsvFormat) and rng.random() < 0.2:
                text = f"{form.quote}{text.replace(form.quote, '')}{form.quote}"
            elif isinstance(form, CsvFormat):
                text = text.replace(form.quote, "") or "x"
            fields.append(text)
        lines.append(form.delimiter.join(fields).encode() + b"\n")
    return lines


def outcome(decoder: CopyDecoder, data: bytes, pieces: int) -> tuple[list[Row], tuple[object, ...] | None, int]:
    """Return the rows, the error that ends them, and the lines that were read."""
    rows: list[Row] = []
    size = max(1, len(data) // pieces)
    try:
        for start in range(0, len(data), size):
            for morsel in decoder.feed(data[start : start + size]):
                rows += plain_rows(morsel, LAYOUT)
        for morsel in decoder.finish():
            rows += plain_rows(morsel, LAYOUT)
    except RowError as error:
        return rows, (error.code, error.row, error.column, error.field, error.line), decoder.lines_count
    return rows, None, decoder.lines_count


def fallback(column: int, text: str) -> int:
    if text.strip() == "epoch":
        return 0
    raise RowError(INVALID_DATETIME, 0, column, text)


def decoders(form: CsvFormat | TextFormat) -> tuple[CopyDecoder, CopyDecoder]:
    """Return two decoders of the format, of which the second takes every line by itself."""
    make: Callable[[], CopyDecoder] = (
        (lambda: CsvDecoder(LAYOUT, form, fallback)) if isinstance(form, CsvFormat)
        else (lambda: TextDecoder(LAYOUT, form, fallback))
    )  # fmt: skip
    found = make(), make()
    found[1]._ends = np.zeros(0, dtype=np.int32)
    return found


@pytest.mark.turns(6)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("seed", range(2))
def test_plain_lines_as_one_by_one(name: str, seed: int) -> None:
    rng = random.Random(f"{name} {seed}")
    for _ in range(8):
        data = b"".join(plain_lines(rng, FORMATS[name], rng.choice((3, 40, 700))))
        pieces = rng.choice((1, 3))
        many, single = (outcome(decoder, data, pieces) for decoder in decoders(FORMATS[name]))
        assert many == single
        assert many[1] is None and many[2] == data.count(b"\n")


@pytest.mark.turns(6)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("seed", range(2))
def test_changed_bytes_as_one_by_one(name: str, seed: int) -> None:
    rng = random.Random(f"{name} {seed} changed")
    errors = 0
    for _ in range(40):
        data = bytearray(b"".join(plain_lines(rng, FORMATS[name], rng.choice((2, 40, 300)))))
        for _ in range(rng.choice((1, 1, 2, 5))):
            at = rng.randrange(len(data))
            data[at : at + rng.choice((0, 1, 1, 2))] = rng.choice(SPECIAL)
        pieces = rng.choice((1, 1, 2, 5))
        many, single = (outcome(decoder, bytes(data), pieces) for decoder in decoders(FORMATS[name]))
        assert many == single, bytes(data)
        errors += many[1] is not None
    assert errors > 5


def test_words_of_dates_between_plain_lines() -> None:
    lines = plain_lines(random.Random(0), CsvFormat(), 2000)
    for index in range(0, 2000, 7):
        fields = lines[index].split(b",")
        fields[6] = b"epoch"
        lines[index] = b",".join(fields)
    many, single = (outcome(decoder, b"".join(lines), 3) for decoder in decoders(CsvFormat()))
    assert many == single and len(many[0]) == 2000


@kernel
def quick_values(text: Bytes, scale: int) -> tuple[int, bool, int, bool, int, bool]:
    address, length = text.ctypes.data, len(text) - 64
    integer, is_integer = quick_integer(address, length)
    decimal, is_decimal = quick_decimal(address, length, scale)
    days, is_date = quick_date(address, length)
    return integer, is_integer, decimal, is_decimal, days, is_date


@pytest.mark.parametrize("seed", range(3))
def test_quick_values(seed: int) -> None:
    """Kernels find what Python finds, and what looks usual is found."""
    rng = random.Random(seed)
    found = [0, 0, 0]
    for _ in range(5000):
        scale = rng.randint(0, 8)
        text = rng.choice(
            (
                "".join(rng.choices("0123456789.-", k=rng.randint(0, 18))),
                rng.choice(("", "-")) + digits(rng, 12) + "." + digits(rng, 5),
                rng.choice(("", "-")) + digits(rng, 17),
                f"{rng.randint(0, 9999):04}-{rng.randint(0, 13):02}-{rng.randint(0, 32):02}",
                f"{rng.randint(1, 9999):04}{rng.choice('-/:')}02-29",
            )
        )
        data = np.frombuffer(text.encode() + rng.choice((b"\n", b"9", b"-", b".")) * 64, dtype=np.uint8).copy()
        integer, is_integer, decimal, is_decimal, days, is_date = quick_values(data, scale)
        bare = text.removeprefix("-")
        usual = bare.isdigit() and len(bare) <= 16
        assert (is_integer, integer if is_integer else 0) == (usual, int(text) if usual else 0), text
        whole, _, places = bare.partition(".")
        usual = len(bare) <= 16 and len(whole) + scale <= 18 and whole.isdigit()
        usual = usual and (bare == whole or (places.isdigit() and len(places) <= scale))
        assert is_decimal == usual, text
        assert not usual or decimal == int(Decimal(text).scaleb(scale)), text
        try:
            is_form = len(text) == 10 and text[4] == text[7] == "-"
            ordinal = (date.fromisoformat(text) - date(1970, 1, 1)).days if is_form else None
        except ValueError:
            ordinal = None
        assert (days if is_date else None) == ordinal, text
        found = [count + yes for count, yes in zip(found, (is_integer, is_decimal, is_date), strict=True)]
    assert min(found) > 100
