"""The COPY decoders against a plain-Python model, with the input cut anywhere; and every way to be
refused, with line and column.
"""

from __future__ import annotations

import random

import pytest

from ringbuffer.decode.copy_formats import CsvDecoder, CsvFormat, TextDecoder, TextFormat
from ringbuffer.memory import error_codes as codes
from ringbuffer.memory.columns import ColumnLayout, Layout, Morsel, PhysicalType
from ringbuffer.memory.error_codes import RowError
from tests.ringbuffer.copy_reference import read_csv, read_text
from tests.ringbuffer.plain_rows import Row, plain_rows

P = PhysicalType
TEXTS: Layout = tuple(ColumnLayout(name, P.TEXT) for name in "abc")
MIXED: Layout = (
    ColumnLayout("a", P.INT32, not_null=True),
    ColumnLayout("b", P.TEXT, length_max=3),
    ColumnLayout("c", P.FLOAT64),
)
Decoder = TextDecoder | CsvDecoder


def decode_all(decoder: Decoder, data: bytes, layout: Layout, rng: random.Random | None = None) -> list[Row]:
    morsels: list[Morsel] = []
    at = 0
    while at < len(data):
        size = len(data) if rng is None else rng.choice((1, 2, 3, 7, 50, 1000))
        cut = at + (size // 2 if rng is None else rng.randint(0, size))
        morsels += decoder.feed(data[at:cut], memoryview(data)[cut : at + size])
        at += size
    morsels += decoder.finish()
    rows = [row for morsel in morsels for row in plain_rows(morsel, layout)]
    assert decoder.rows_count == len(rows)
    return rows


@pytest.mark.parametrize("seed", range(12))
def test_text_against_the_model(seed: int) -> None:
    rng = random.Random(seed)
    delimiter = rng.choice(("\t", ",", "|"))
    null = rng.choice(("\\N", "", "nil"))
    pieces = (
        "a",
        "bc",
        "é",
        "€😀",
        " ",
        "\\\\",
        "\\n",
        "\\t",
        "\\x41",
        "\\x7",
        "\\101",
        "\\7",
        "\\q",
        "\\N",
        "nil",
        "\\303\\251",
        "\\" + delimiter,
        "\\\n",
        "x" * 30,
    )
    data = ""
    for _ in range(150):
        fields = [
            null if rng.random() < 0.1 else "".join(rng.choices(pieces, k=rng.choice((0, 1, 2, 6)))) for _ in TEXTS
        ]
        data += delimiter.join(fields) + "\n"
    if rng.random() < 0.3:
        data += "\\.\nthis is not read"
    expected = [tuple(row) for row in read_text(data, delimiter, null)]
    options = TextFormat(delimiter, null)
    assert decode_all(TextDecoder(TEXTS, options), data.encode(), TEXTS) == expected
    assert decode_all(TextDecoder(TEXTS, options), data.encode(), TEXTS, rng) == expected


@pytest.mark.parametrize("seed", range(12))
def test_csv_against_the_model(seed: int) -> None:
    rng = random.Random(seed)
    delimiter = rng.choice((",", ";", "\t"))
    quote, escape = rng.choice((('"', '"'), ('"', "\\"), ("'", "'"), ("'", "!")))
    null = rng.choice(("", "NULL"))
    # Among them are neighbours of special bytes.
    plain = ("a", "bc", "é", "€😀", " ", "\\n", "NULL", "x" * 30, "\\.", "-", "#&", ":", "\x08", "\x1f", "\x7f")
    quoted = (*plain, delimiter, "\n", escape + quote, escape + escape, "")
    data = ""
    for _ in range(150):
        fields = []
        for _ in TEXTS:
            if rng.random() < 0.4:
                fields.append(quote + "".join(rng.choices(quoted, k=rng.choice((0, 1, 2, 6)))) + quote)
            else:
                fields.append(null if rng.random() < 0.2 else "".join(rng.choices(plain, k=rng.choice((0, 1, 2, 6)))))
        data += delimiter.join(fields) + "\n"
    if rng.random() < 0.3:
        data += "\\.\nthis is not read"
    expected = [tuple(row) for row in read_csv(data, delimiter, null, quote, escape)]
    options = CsvFormat(delimiter, null, quote=quote, escape=escape)
    assert decode_all(CsvDecoder(TEXTS, options), data.encode(), TEXTS) == expected
    assert decode_all(CsvDecoder(TEXTS, options), data.encode(), TEXTS, rng) == expected


def test_line_ends_and_last_line() -> None:
    for end in ("\n", "\r\n", "\r"):
        data = f"1\tab\t2{end}3\tcd\t4".encode()
        for rng in (None, random.Random(0)):
            assert decode_all(TextDecoder(MIXED), data, MIXED, rng) == [(1, "ab", 2.0), (3, "cd", 4.0)]
            csv = data.replace(b"\t", b",")
            assert decode_all(CsvDecoder(MIXED), csv, MIXED, rng) == [(1, "ab", 2.0), (3, "cd", 4.0)]


def test_header_and_forced_nulls() -> None:
    data = b'"x\ny",b,c\n1,"",2\n3,,"4"\n'
    assert decode_all(CsvDecoder(MIXED, CsvFormat(header=True)), data, MIXED, random.Random(1)) == [
        (1, "", 2.0),
        (3, None, 4.0),
    ]
    options = CsvFormat(header=True, force_null=frozenset("b"))
    assert decode_all(CsvDecoder(MIXED, options), data, MIXED) == [(1, None, 2.0), (3, None, 4.0)]
    options = CsvFormat(header=True, force_not_null=frozenset("b"))
    assert decode_all(CsvDecoder(MIXED, options), data, MIXED) == [(1, "", 2.0), (3, "", 4.0)]
    assert decode_all(TextDecoder(MIXED, TextFormat(header=True)), b"no number\n1\ta\t2\n", MIXED) == [(1, "a", 2.0)]


def test_many_rows_in_full_morsels() -> None:
    data = b"".join(b"%d\t%d\t%d\n" % (n, n % 1000, n) for n in range(150_000))
    decoder = TextDecoder(MIXED)
    morsels = decoder.feed(data) + decoder.finish()
    assert max(morsel.rows_count for morsel in morsels) <= 65_536
    assert sum(int(morsel.data[0].sum()) for morsel in morsels) == sum(range(150_000))


def test_long_rows_are_not_scanned_again_and_again() -> None:
    layout = (ColumnLayout("a", P.TEXT),)
    decoder = TextDecoder(layout)
    assert all(decoder.feed(b"x" * 10_000) == [] for _ in range(200))
    rows = [row for morsel in decoder.feed(b"\n") + decoder.finish() for row in plain_rows(morsel, layout)]
    assert rows == [("x" * 2_000_000,)]


BAD_TEXT = [
    (b"1\ta\t2\nx\ta\t2\n", codes.INVALID_TEXT, 1, 0, "x", 2),
    (b"1\ta\t2\n\n", codes.INVALID_TEXT, 1, 0, "", 2),
    (b"1\ta\t2\n9999999999\ta\t2\n", codes.INTEGER_RANGE, 1, 0, "9999999999", 2),
    (b"1\ta\t2\n1\tab cd\t2\n", codes.VALUE_TOO_LONG, 1, 1, "ab cd", 2),
    (b"1\ta\t2\n1\ta\t1e999\n", codes.FLOAT_OVERFLOW, 1, 2, "1e999", 2),
    (b"1\ta\t2\n\\N\ta\tx\n", codes.INVALID_TEXT, 1, 2, "x", 2),
    (b"1\ta\t2\n\\N\ta\t1\n", codes.NULL_VIOLATION, 1, 0, "\\N\ta\t1", 2),
    (b"1\ta\t2\n1\ta\n", codes.MISSING_COLUMN, 1, 2, "1\ta", 2),
    (b"1\ta\t2\nx\ta\n", codes.INVALID_TEXT, 1, 0, "x", 2),
    (b"1\ta\t2\nx\ta\t2\t3\n", codes.EXTRA_COLUMN, 1, -1, "x\ta\t2\t3", 2),
    (b"1\ta\t2\n1\t\xff\t2\n", codes.INVALID_ENCODING, 1, -1, "1\t\udcff\t2", 2),
    (b"1\ta\t2\n1\t\xed\xa0\x80\t2\n", codes.INVALID_ENCODING, 1, -1, "1\t\udced\udca0\udc80\t2", 2),
    (b"1\ta\t2\n1\ta\0\t2\n", codes.NUL_CHARACTER, 1, -1, "1\ta\0\t2", 2),
    (b"1\ta\t2\n1\ta\\xff\t2\n", codes.INVALID_ENCODING, 1, -1, "1\ta\\xff\t2", 2),
    (b"1\ta\t2\nx\t\\0\t2\n", codes.NUL_CHARACTER, 1, -1, "x\t\\0\t2", 2),
    (b"1\ta\t2\n1\ta\t2\r\n", codes.CARRIAGE_RETURN, 1, -1, "1\ta\t2", 2),
    (b"1\ta\t2\r\n1\ta\t2\n", codes.LITERAL_NEWLINE, 1, -1, "1\ta\t2", 2),
    (b"1\ta\t2\n\\.x\n", codes.END_MARKER_CORRUPT, 1, -1, "", 2),
    (b"1\ta\t2\n\\.", codes.END_MARKER_CORRUPT, 1, -1, "", 2),
    (b"1\ta\t2\n\\.\r\n", codes.END_MARKER_STYLE, 1, -1, "", 2),
]
BAD_CSV = [
    (b'1,a,2\n1,"a\nb,2\n', codes.UNTERMINATED_QUOTE, 1, -1, '1,"a\nb,2\n', 4),
    (b'1,a,2\n1,"\n\n",2\nx,"a",2\n', codes.INVALID_TEXT, 2, 0, "x", 5),
    # PostgreSQL does not count a quoted line end in the first record, because it does not know yet
    # how lines end.
    (b'1,"\n\n",2\nx,"a",2\n', codes.INVALID_TEXT, 1, 0, "x", 2),
    (b'1,a,2\n"x""y",a,2\n', codes.INVALID_TEXT, 1, 0, 'x"y', 2),
    (b"1,a,2\n1,a,2\r\n", codes.UNQUOTED_CARRIAGE_RETURN, 1, -1, "1,a,2", 2),
    (b"1,a,2\r\n1,a,2\n", codes.UNQUOTED_NEWLINE, 1, -1, "1,a,2", 2),
    (b"1,a,2\n1,a,2,\n", codes.EXTRA_COLUMN, 1, -1, "1,a,2,", 2),
    (b"1,a,2\n1\n", codes.MISSING_COLUMN, 1, 1, "1", 2),
    (b"1,a,2\n,a,2\n", codes.NULL_VIOLATION, 1, 0, ",a,2", 2),
    (b"1,a,2\n\\.\r\n", codes.END_MARKER_STYLE, 1, -1, "", 2),
]


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize(("data", "code", "row", "column", "field", "line"), BAD_TEXT + BAD_CSV)
def test_bad_rows(data: bytes, code: int, row: int, column: int, field: str, line: int, cut: bool) -> None:
    decoder: Decoder = TextDecoder(MIXED) if (data, code, row, column, field, line) in BAD_TEXT else CsvDecoder(MIXED)
    with pytest.raises(RowError) as caught:
        decode_all(decoder, data, MIXED, random.Random(1) if cut else None)
    error = caught.value
    assert (error.code, error.row, error.column, error.field, error.line) == (code, row, column, field, line)
    assert decoder.feed(b"1\t2\t3\n") == []


def test_varchar_is_cut_at_spaces() -> None:
    assert decode_all(TextDecoder(MIXED), "1\téé   \t2\n".encode(), MIXED) == [(1, "éé ", 2.0)]


def test_slow_fields() -> None:
    layout = (ColumnLayout("d", P.DATE), ColumnLayout("n", P.INT32), ColumnLayout("f", P.FLOAT64))
    asked: list[tuple[int, str]] = []

    def fallback(column: int, text: str) -> int:
        asked.append((column, text))
        if text == "never":
            raise RowError(codes.DATETIME_OVERFLOW, 0)
        return 7

    data = b"2020-01-01\t1\t0x1p4\nJan 1, 1970\t2\t1\n\\x4aan 8\t3\t1\n"
    assert decode_all(TextDecoder(layout, fallback=fallback), data, layout) == [
        (18262, 1, 16.0),
        (7, 2, 1.0),
        (7, 3, 1.0),
    ]
    assert asked == [(0, "Jan 1, 1970"), (0, "Jan 8")]
    with pytest.raises(RowError) as caught:
        decode_all(TextDecoder(layout, fallback=fallback), b"never\t1\t1\n2020-01-01\tx\t1\n", layout)
    error = caught.value
    assert (error.code, error.row, error.column, error.field, error.line) == (codes.DATETIME_OVERFLOW, 0, 0, "never", 1)
    many = b"x\t1\t1\n" * 5000
    assert decode_all(TextDecoder(layout, fallback=fallback), many, layout) == [(7, 1, 1.0)] * 5000
