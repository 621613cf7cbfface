"""VALUES rows of plain literals: the values of an assignment, what is left to the parser, and where
a bad string stands.
"""

from __future__ import annotations

import random
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal

import pytest

from ringbuffer.decode import literals
from ringbuffer.decode.literals import LiteralDecoder
from ringbuffer.memory import error_codes as codes
from ringbuffer.memory.columns import ColumnLayout, Layout, PhysicalType
from ringbuffer.memory.error_codes import RowError
from tests.ringbuffer.plain_rows import Row, plain_rows

P = PhysicalType
LAYOUT: Layout = (
    ColumnLayout("a", P.INT32),
    ColumnLayout("b", P.TEXT, length_max=20),
    ColumnLayout("c", P.NUMERIC, 20, 2),
)


def decode(text: str, layout: Layout = LAYOUT) -> list[Row] | None:
    morsel = LiteralDecoder(layout).decode(text.encode(), 0)
    return None if morsel is None else plain_rows(morsel, layout)


def random_literal(rng: random.Random, column: ColumnLayout) -> tuple[str, object]:
    """Return a literal for the column and its value there."""
    if rng.random() < 0.1:
        return rng.choice(("NULL", "null", "Null")), None
    if column.physical == P.TEXT:
        if rng.random() < 0.2:
            printed = str(rng.randrange(-(10**6), 10**6))
            return printed, printed
        value = "".join(
            rng.choice(("a", "'", "(", "),", "é", "€", "\\", "\n", "$")) for _ in range(rng.randrange(0, 14))
        )
        if rng.random() < 0.3:
            escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace("'", rng.choice(("\\'", "''")))
            return f"{rng.choice('eE')}'{escaped}'", value
        mark = rng.choice(("$$", "$a_1$", "$Ab$"))
        if mark not in value + mark[:-1] and rng.random() < 0.3:
            return mark + value + mark, value
        return "'" + value.replace("'", "''") + "'", value
    number = Decimal(rng.randrange(-(10**8), 10**8)).scaleb(-rng.randrange(0, 5))
    scale = column.scale if column.physical == P.NUMERIC else 0
    text = f"{number:f}"
    if rng.random() < 0.3 and column.physical == P.NUMERIC:
        text = f"' {text} '"
    return text, int(number.scaleb(scale).to_integral_value(ROUND_HALF_UP))


@pytest.mark.parametrize("seed", range(5))
def test_against_the_model(seed: int) -> None:
    rng = random.Random(seed)
    for rows_count in (1, 1, 2, 10, 1000):
        rows, texts = [], []
        for _ in range(rows_count):
            literals = [random_literal(rng, column) for column in LAYOUT]
            space = rng.choice(("", " ", "\n\t"))
            texts.append("(" + space + f",{space}".join(text for text, _ in literals) + space + ")")
            rows.append(tuple(value for _, value in literals))
        text = ", ".join(texts) + rng.choice(("", ";", " ; \n", " "))
        assert decode(text) == rows


TIMES: Layout = (
    ColumnLayout("zoned", P.TIMESTAMP, zoned=True),
    ColumnLayout("local", P.TIMESTAMP),
    ColumnLayout("day", P.DATE),
    ColumnLayout("number", P.INT32),
)
NOW_US = 1_700_000_000_123_456
LOCAL_US = NOW_US - 80_000_000_000


def ask_time() -> tuple[int, int]:
    return NOW_US, LOCAL_US


@pytest.mark.parametrize("word", ["now()", "NOW()", "current_timestamp", "Current_Timestamp", "DEFAULT", "default"])
def test_the_time_of_the_transaction(word: str) -> None:
    takes = {0: literals.DEFAULT_NOW, 1: literals.DEFAULT_NOW, 2: literals.DEFAULT_NOW, 3: literals.DEFAULT_NULL}
    decoder = LiteralDecoder(TIMES, takes=takes)
    text = f"({word},{word} , {word},NULL),(NULL,NULL,'2024-02-29',DEFAULT)".encode()
    for _ in range(2):
        morsel = decoder.decode(text, 0, "UTC", ask_time)
        assert morsel is not None
        day = LOCAL_US // 86_400_000_000
        assert plain_rows(morsel, TIMES) == [(NOW_US, LOCAL_US, day, None), (None, None, 19782, None)]
        # It is told each time, and where nobody tells it the parser reads the text.
        assert decoder.decode(text, 0, "UTC") is None
    assert decoder.decode(f"(NULL,NULL,NULL,{word[:-2]})".encode(), 0, "UTC", ask_time) is None


def test_defaults_that_no_kernel_knows() -> None:
    assert LiteralDecoder(TIMES).decode(b"(NULL,NULL,NULL,DEFAULT)", 0) is None
    not_null = (replace(TIMES[3], not_null=True),)
    assert LiteralDecoder(not_null, takes={0: literals.DEFAULT_NULL}).decode(b"(DEFAULT)", 0) is None


def test_escapes() -> None:
    assert decode(r"(1,E'\b\f\n\r\t\\\'',3)") == [(1, "\b\f\n\r\t\\'", 300)]
    assert decode("(1,E'',3)") == [(1, "", 300)]


@pytest.mark.parametrize(
    "text",
    ["", "(1,2)", "(1,2,3,4)", "(1,2,3) x", "(1,2,3);;", "(1,2,3),", "(1,2,DEFAULT)", "(1,now(),3)", "(1,2+1,3)", "(1,E 'x',3)",
     r"(1,E'\q',3)", r"(1,E'\x41',3)", r"(1,e'\101',3)", r"(1,E'\u0041',3)", r"(1,E'x\',3)", "(1,E'x", "(1,E'x\\", "(1,E'x'',3)",
     "(1,'x'::date,3)", "(1,'x' 'y',3)", "(1,TRUE,3)", "(1,2,3) -- x", "(1,/* */ 2,3)", "((1),2,3)", "(1,'x,3)", "(1,2,--3\n4)",
     "(1,$1,3)", "(1,$1$x$1$,3)", "(1,$$x$,3)", "(1,$a$x$$,3)", "(1,$$x$$::date,3)", "(1,current_timestamp,3)",
     "(1,1.50,3)", "(1,007,3)", "(1,-0,3)", "(1,+5,3)", "(99999999999,'x',3)", "(1,'x',1e30)", "(1_000,'x',3)",
     "(1,'123456789012345678901',3)", "(1,123456789012345678901,3)", "(1,'x',3) returning a", "(1,nullx,3)", "(1,x'41',3)"],
)  # fmt: skip
def test_left_to_the_parser(text: str) -> None:
    assert decode(text) is None


def test_numbers_into_other_types() -> None:
    layout = tuple(
        ColumnLayout(physical, physical, not_null=physical == P.BOOL)
        for physical in (P.FLOAT64, P.FLOAT32, P.INT16, P.BOOL)
    )
    assert decode("(-0.0, 0e5, 2.5, TRUE), (-0, 16777216, -2.5, false), ('-0', 0.1, '3', 'on')", layout) == [
        (0.0, 0.0, 3, True),
        (0.0, 16777216.0, -3, False),
        (-0.0, 0.10000000149011612, 3, True),
    ]
    signs = [str(row[0]) for row in decode("(-0.0,1,1,'t'), (-0,1,1,'t'), ('-0',1,1,'t')", layout) or []]
    assert signs == ["0.0", "0.0", "-0.0"]
    for text in (
        "(1,1,1,1)",
        "(1e400,1,1,TRUE)",
        "(1,1e40,1,TRUE)",
        "(1,16777217,1,TRUE)",
        "(1,1,32767.5,TRUE)",
        "(1,1,1,NULL)",
    ):
        assert decode(text, layout) is None


def test_bad_strings_have_a_place() -> None:
    text = "insert into t values (1,'a',2), ('x1','b',3)"
    with pytest.raises(RowError) as caught:
        LiteralDecoder(LAYOUT).decode(text.encode(), text.index("("))
    error = caught.value
    assert (error.code, error.row, error.column, error.field) == (codes.INVALID_TEXT, 1, 0, "x1")
    assert text[error.position :].startswith("x1")


def test_dates() -> None:
    layout = (ColumnLayout("d", P.DATE), ColumnLayout("t", P.TIMESTAMP, zoned=True))
    assert decode("('1970-01-02', '1970-01-01 00:00:01+00')", layout) == [(1, 1_000_000)]
    assert decode("('1970-01-02', '1970-01-01 00:00:01')", layout) is None
    assert decode("('yesterday', NULL)", layout) is None
    decoder = LiteralDecoder(layout, lambda column, text: 42)
    morsel = decoder.decode(b"('some day', '1970-01-01 01:00:01'), ('1970-01-03', 'some time')", 0, "Europe/Berlin")
    assert morsel is not None
    assert plain_rows(morsel, layout) == [(42, 1_000_000), (2, 42)]
