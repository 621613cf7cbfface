"""Text input, binary input and text output of every type: against PostgreSQL, and as inverses of
each other.
"""

from __future__ import annotations

import random
import struct
from decimal import Decimal
from pathlib import Path

import psycopg
import pytest
from psycopg import sql as composed

from sql.errors import SqlError
from sql.types.datatypes import DATE, FLOAT4, FLOAT8, INT4, NUMERIC, TEXT, TIMESTAMP, TIMESTAMPTZ, SqlType, numeric
from sql.values.literal_output import output_text
from sql.values.literals import apply_modifier, binary_value, input_value
from tests.oracle.postgres import PostgresCluster

DATA = Path(__file__).parents[1] / "data" / "literals.txt"
ZONE = "America/New_York"
SEED = 20_261_120
TYPES = {
    "boolean": SqlType("bool"), "smallint": SqlType("int2"), "integer": INT4, "bigint": SqlType("int8"), "real": FLOAT4,
    "double precision": FLOAT8, "numeric": NUMERIC, "date": DATE, "timestamp": TIMESTAMP, "timestamptz": TIMESTAMPTZ,
    "numeric(5,2)": numeric(5, 2),
}  # fmt: skip


SENDERS = {name: f"{name}_send" for name in ("date", "numeric", "timestamp", "timestamptz")}


def ours(text: str, kind: SqlType) -> object:
    try:
        return output_text(input_value(text, kind, ZONE), kind, ZONE)
    except SqlError as error:
        return (error.sqlstate, error.message, error.hint, error.detail)


def theirs(connection: psycopg.Connection[tuple[object, ...]], text: str, type_name: str) -> object:
    """Return what PostgreSQL prints for the text read as the type; a boolean as its output function
    prints it.
    """
    # || would cast a boolean to 'true'; format() uses the output function as results do.
    query = composed.SQL("SELECT format('%s', {}::text::{})").format(composed.Literal(text), composed.SQL(type_name))
    try:
        row = connection.execute(query).fetchone()
    except psycopg.Error as error:
        return (error.sqlstate, error.diag.message_primary, error.diag.message_hint, error.diag.message_detail)
    assert row is not None
    return row[0]


def compare(connection: psycopg.Connection[tuple[object, ...]], cases: list[tuple[str, str]]) -> None:
    connection.execute(f"SET timezone = '{ZONE}'")
    wrong = []
    for type_name, text in cases:
        mine, expected = ours(text, TYPES[type_name]), theirs(connection, text, type_name)
        if mine != expected:
            wrong.append(f"{type_name} {text!r}: ours {mine}, PostgreSQL's {expected}")
    assert not wrong, "\n".join(wrong)


def test_texts_of_the_list(postgres: PostgresCluster) -> None:
    """data/literals.txt has a type and a text per line."""
    cases = [(kind, text) for kind, _, text in (line.partition("|") for line in DATA.read_text().splitlines())]
    with postgres.connect() as connection:
        compare(connection, cases)


def random_case(random_numbers: random.Random) -> tuple[str, str]:
    """Return a type and a text that is often, but not always, one of its values."""
    draw = random_numbers.randint
    kind = random_numbers.choice(list(TYPES))
    digits = "".join(random_numbers.choice("0123456789") for _ in range(draw(1, 12)))
    number = (
        random_numbers.choice(["", "-", "+"])
        + digits
        + random_numbers.choice(["", ".", f".{draw(0, 99999)}", f"e{draw(-30, 30)}"])
    )
    if kind.startswith(("date", "timestamp")):
        year, month, day = draw(1, 2400), draw(0, 13), draw(0, 32)
        form = random_numbers.choice(
            ["{y:04d}-{m:02d}-{d:02d}", "{m:02d}/{d:02d}/{y:04d}", "{y:04d}{m:02d}{d:02d}", "{y:04d}-{m}-{d}"]
        )
        clock = f" {draw(0, 24):02d}:{draw(0, 60):02d}:{draw(0, 61):02d}" + random_numbers.choice(
            ["", f".{draw(0, 9999999)}"]
        )
        zone = random_numbers.choice(["", "", "Z", "+02", "-05:30", " PST", " Europe/Berlin", " allballs"])
        if random_numbers.random() < 0.1:
            words = "infinity|-infinity|- Infinity|+infinity|epoch|allballs|2020-01-02 infinity|inf"
            return kind, random_numbers.choice(words.split("|"))
        text = form.format(y=year, m=month, d=day) + (clock + zone if random_numbers.random() < 0.7 else "")
    elif kind == "boolean":
        text = random_numbers.choice(
            ["t", "T", "true", "fal", "on", "of", "off", "o", "1", "0", "yes", "n", " no ", "2", ""]
        )
    else:
        text = number
    return kind, random_numbers.choice(["", "", "", " "]) + text + random_numbers.choice(["", "", "", " ", "x"])


def test_random_texts(postgres: PostgresCluster) -> None:
    random_numbers = random.Random(SEED)
    with postgres.connect() as connection:
        compare(connection, [random_case(random_numbers) for _ in range(1500)])


def test_output_is_read_back() -> None:
    random_numbers = random.Random(SEED)
    for _ in range(2000):
        days = random_numbers.randint(-2_440_588, 1_000_000)
        assert input_value(output_text(days, DATE) or "", DATE) == days
        instant = random_numbers.randint(-60_000_000_000_000_000, 200_000_000_000_000_000)
        assert input_value(output_text(instant, TIMESTAMP) or "", TIMESTAMP) == instant
        assert input_value(output_text(instant, TIMESTAMPTZ, ZONE) or "", TIMESTAMPTZ, ZONE) == instant
        value = struct.unpack("<d", random_numbers.randbytes(8))[0]
        if value == value and abs(value) != float("inf"):
            assert input_value(output_text(value, FLOAT8) or "", FLOAT8) == value


def test_random_floats_print_as_in_postgres(postgres: PostgresCluster) -> None:
    random_numbers = random.Random(SEED)
    doubles = [struct.unpack("<d", random_numbers.randbytes(8))[0] for _ in range(500)]
    doubles += [random_numbers.randint(-(10**18), 10**18) / 10 ** random_numbers.randint(0, 25) for _ in range(500)]
    singles = [struct.unpack("<f", random_numbers.randbytes(4))[0] for _ in range(500)]
    with postgres.connect() as connection:
        for kind, type_name, values in ((FLOAT8, "float8", doubles), (FLOAT4, "float4", singles)):
            row = connection.execute(f"SELECT array_agg(x::text) FROM unnest(%s::{type_name}[]) x", [values]).fetchone()
            assert row is not None
            assert [output_text(value, kind) for value in values] == row[0]


def test_binary_values_are_those_of_text(postgres: PostgresCluster) -> None:
    """PostgreSQL itself sends the binary form."""
    cases = {
        "bool": ["t", "f"], "int2": ["-32768"], "int4": ["7"], "int8": ["-9223372036854775808"], "float4": ["0.1", "NaN"],
        "float8": ["1e300", "-0"], "text": ["", "é'x"], "varchar": ["abc"],
        "date": ["2020-02-29", "0001-01-01", "1999-12-31", "infinity", "-infinity"],
        "numeric": ["0", "0.00", "-1.50", "12345678901234567890.123456", "1e20", "0.00001", "100000", "-99999999.99990000", "-" + "9" * 38,
            "NaN", "Infinity", "-Infinity"],
        "timestamp": ["2020-01-02 03:04:05.123456", "1900-01-01", "infinity"],
        "timestamptz": ["2020-07-01 12:00+02", "-infinity"],
    }  # fmt: skip
    with postgres.connect() as connection:
        for family, texts in cases.items():
            kind = SqlType(family)
            for text in texts:
                query = f"SELECT {SENDERS.get(family, family + 'send')}(%s::text::{family})"
                row = connection.cursor(binary=True).execute(query, [text]).fetchone()
                assert row is not None
                assert isinstance(row[0], bytes)
                found = binary_value(row[0], kind)
                expected = input_value(text, kind, "UTC")
                assert output_text(found, kind) == output_text(expected, kind), (family, text)


@pytest.mark.parametrize(
    ("kind", "data", "sqlstate"),
    [
        (INT4, b"\0\0", "08P01"),
        (FLOAT8, b"12345", "08P01"),
        (FLOAT8, b"123456789", "22P03"),
        (NUMERIC, b"\0\1", "08P01"),
        (NUMERIC, struct.pack(">hhHhH", 1, 0, 0x4001, 0, 1), "22P03"),
        (NUMERIC, struct.pack(">hhHhH", 1, 0, 0, 0, 10_000), "22P03"),
        (NUMERIC, struct.pack(">hhHh", 0, 0, 0xE000, 0), "22P03"),
        (NUMERIC, struct.pack(">hhHhH", 1, 20, 0, 0, 1), "22003"),
        (NUMERIC, struct.pack(">HhHh25000H", 25_000, 24_999, 0, 0, *[1111] * 25_000), "22003"),
        (TEXT, b"\xff", "22021"),
        (TEXT, b"a\0b", "22021"),
        (TIMESTAMP, struct.pack(">q", 2**63 - 2), "22008"),
    ],
)
def test_bad_binary_values(kind: SqlType, data: bytes, sqlstate: str) -> None:
    with pytest.raises(SqlError) as raised:
        binary_value(data, kind)
    assert raised.value.sqlstate == sqlstate


@pytest.mark.parametrize(
    ("text", "kind", "sqlstate"),
    [
        ("NaN", numeric(5, 2), "0A000"),
        ("-Infinity", numeric(5, 2), "22003"),
        ("+NaN", NUMERIC, "22P02"),
        ("now", TIMESTAMPTZ, "0A000"),
        ("1e39", NUMERIC, "22003"),
        ("0." + "1" * 39, NUMERIC, "22003"),
    ],
)
def test_refusals(text: str, kind: SqlType, sqlstate: str) -> None:
    with pytest.raises(SqlError) as raised:
        input_value(text, kind)
    assert raised.value.sqlstate == sqlstate


def test_modifiers() -> None:
    five = SqlType("varchar", length=5)
    assert apply_modifier("abcdefg", five, explicit=True) == "abcde"
    assert apply_modifier("abcde   ", five) == "abcde"
    with pytest.raises(SqlError) as raised:
        apply_modifier("abcdef", five)
    assert (raised.value.sqlstate, raised.value.message) == ("22001", "value too long for type character varying(5)")
    assert input_value("-0.005", numeric(5, 2)) == Decimal("-0.01")
    with pytest.raises(SqlError) as overflow:
        input_value("999.995", numeric(5, 2))
    assert overflow.value.detail == "A field with precision 5, scale 2 must round to an absolute value less than 10^3."


@pytest.mark.parametrize("family", ["date", "time", "timetz", "timestamp", "timestamptz", "interval"])
@pytest.mark.parametrize("piece", ["1", "1:", "x ", "1 day ", "P1D", "-", "2024-"])
def test_times_longer_than_postgres_has_room_for(family: str, piece: str) -> None:
    with pytest.raises(SqlError) as raised:
        input_value(piece * 100_000, SqlType(family))
    assert raised.value.sqlstate == "22007"
