"""Writes golden/scalars.json: what PostgreSQL 15 answers for the scalar functions that kernels do.

Run as `python -m tests.ringbuffer.make_golden`. Each entry is a function's name and its cases: the
arguments as text, and the answer as text, null, or '!' and the SQLSTATE. The random arguments are
seeded, so a second run writes the same file. test_golden.py holds the kernels to it.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

import psycopg

from tests.oracle.postgres import PostgresCluster

GOLDEN = Path(__file__).parent / "golden" / "scalars.json"
SEED = 20_261_120
ZONES = (
    "America/New_York",
    "Europe/Berlin",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
    "Africa/Casablanca",
)

Arguments = tuple[str, ...]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        cluster = PostgresCluster(Path(folder, "cluster"))
        cluster.start()
        try:
            golden = ask(cluster)
        finally:
            cluster.stop()
    GOLDEN.parent.mkdir(exist_ok=True)
    lines = [
        f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]" for name, cases in golden.items()
    ]
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{sum(map(len, golden.values()))} answers in {GOLDEN.name}")


def ask(cluster: PostgresCluster) -> dict[str, list[tuple[Arguments, str | None]]]:
    """Return the answers to all questions."""
    chooser = random.Random(SEED)
    with psycopg.connect(cluster.dsn, autocommit=True, cursor_factory=psycopg.ClientCursor) as connection:
        connection.execute("SET TimeZone TO 'UTC'")
        return {
            name: [(arguments, answer(connection, name, template, arguments)) for arguments in dict.fromkeys(cases)]
            for name, template, cases in questions(chooser)
        }


def answer(connection: psycopg.Connection, name: str, template: str, arguments: Arguments) -> str | None:
    """Return the text of an expression's value, or '!' and the SQLSTATE; the last argument of a
    zoned function is the TimeZone.
    """
    if name.startswith("zoned_"):
        connection.execute("SELECT set_config('TimeZone', %s, false)", arguments[-1:])
        arguments = arguments[:-1]
    try:
        row = connection.execute(f"SELECT ({template})::text", arguments).fetchone()
    except psycopg.Error as error:
        return f"!{error.sqlstate}"
    assert row is not None
    value: str | None = row[0]
    return value


Question = tuple[str, str, Iterable[Arguments]]


def questions(chooser: random.Random) -> Iterator[Question]:
    """Yield (name, SQL with placeholders, arguments)."""
    yield from numeric_questions(chooser)
    yield from integer_questions()
    yield from float_questions(chooser)
    yield from time_questions(chooser)
    yield from zone_questions(chooser)
    yield from text_questions()


def numeric_questions(chooser: random.Random) -> Iterator[Question]:
    special = [
        "0",
        "0.00",
        "1",
        "-1",
        "1.0",
        "3",
        "-3",
        "7",
        "0.5",
        "-0.5",
        "2.5",
        "-2.5",
        "9999",
        "10000",
        "9999.9999",
        "0.0001",
    ]
    special += ["0.00000001", "12345678.9", "1e18", "99999999999999999999", "-123456789012345678901234567890.12345678"]
    numbers = special + [random_numeric(chooser) for _ in range(60)]
    pairs = list(product(special, special)) + [(chooser.choice(numbers), chooser.choice(numbers)) for _ in range(300)]
    for name, operator in {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "modulo": "%%"}.items():
        yield f"numeric_{name}", f"%s::numeric {operator} %s::numeric", pairs
    yield "numeric_compare", "numeric_cmp(%s::numeric, %s::numeric)", pairs
    digits = [str(n) for n in (-20, -3, -1, 0, 1, 2, 5, 8, 20)]
    for name in ("round", "trunc"):
        yield f"numeric_{name}", f"{name}(%s::numeric, %s::int)", list(product(numbers, digits))
    one = [(number,) for number in numbers]
    for name in ("ceil", "floor", "sign", "abs"):
        yield f"numeric_{name}", f"{name}(%s::numeric)", one
    edges = [
        "32767.5",
        "-32768.5",
        "2147483647.5",
        "-2147483648.5",
        "9223372036854775807.5",
        "-9223372036854775808.5",
        "0.4999",
    ]
    for kind in ("int2", "int4", "int8", "float4", "float8"):
        yield f"numeric_to_{kind}", f"%s::numeric::{kind}", one + [(edge,) for edge in edges]
    yield from any_numeric_questions()


def any_numeric_questions() -> Iterator[Question]:
    """Write what NaN and the infinities do, beside finite numbers and each other."""
    values = ["NaN", "Infinity", "-Infinity", "0", "0.00", "1", "1.50", "-2.5", "123456789012345678901234567890"]
    pairs = list(product(values, values))
    for name, operator in {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "modulo": "%%"}.items():
        yield f"any_{name}", f"%s::numeric {operator} %s::numeric", pairs
    yield "any_compare", "numeric_cmp(%s::numeric, %s::numeric)", pairs
    for name in ("round", "trunc"):
        yield f"any_{name}", f"{name}(%s::numeric, %s::int)", list(product(values, ("-1", "0", "3")))
    one = [(value,) for value in values]
    for name in ("ceil", "floor", "sign", "abs"):
        yield f"any_{name}", f"{name}(%s::numeric)", one
    yield "any_negate", "-(%s::numeric)", one
    for kind in ("int2", "int4", "int8", "float4", "float8"):
        yield f"any_to_{kind}", f"%s::numeric::{kind}", one


def random_numeric(chooser: random.Random) -> str:
    digits = "".join(chooser.choice("0123456789") for _ in range(chooser.randint(1, 24)))
    scale = chooser.choice([0, 1, 2, 4, chooser.randint(0, 18)])
    digits = digits.rjust(scale + 1, "0")
    sign = chooser.choice(["", "-"])
    return sign + (f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits)


def integer_questions() -> Iterator[Question]:
    for kind, bits in {"int2": 16, "int4": 32, "int8": 64}.items():
        most = 2 ** (bits - 1)
        values = [str(v) for v in (0, 1, -1, 2, -2, 7, -7, 100, most - 1, 1 - most, -most, most // 2)]
        for name, operator in {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "modulo": "%%"}.items():
            yield f"{name}_{kind}", f"%s::{kind} {operator} %s::{kind}", list(product(values, values))
        yield f"negate_{kind}", f"-(%s::{kind})", [(v,) for v in values]
        yield f"absolute_{kind}", f"abs(%s::{kind})", [(v,) for v in values]


def float_questions(chooser: random.Random) -> Iterator[Question]:
    special = [
        "0",
        "-0",
        "1",
        "-1",
        "0.1",
        "1.5",
        "2.5",
        "-2.5",
        "NaN",
        "Infinity",
        "-Infinity",
        "1e-5",
        "123456789",
        "1e15",
        "3",
    ]
    wide = [*special, "1e308", "-1e308", "1e-308", "5e-324", "9007199254740993", "0.30000000000000004", "1e23"]
    narrow = [*special, "3e38", "-3e38", "1e-38", "1e-45", "16777217", "0.3"]
    wide += [repr(chooser.uniform(-1, 1) * 10.0 ** chooser.randint(-30, 30)) for _ in range(40)]
    operators = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
    for kind, values in {"float8": wide[: len(special) + 8], "float4": narrow}.items():
        for name, operator in operators.items():
            yield f"{name}_{kind}", f"%s::{kind} {operator} %s::{kind}", list(product(values, values))
        yield f"compare_{kind}", f"btfloat8cmp(%s::{kind}, %s::{kind})", list(product(values, values))
    edges = [
        "32767.5",
        "-32768.5",
        "2147483647.5",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854774784",
        "0.5",
        "3.5",
    ]
    one = [(v,) for v in [*wide, *edges]]
    for kind in ("int2", "int4", "int8", "float4", "numeric"):
        yield f"float8_to_{kind}", f"%s::float8::{kind}", one
    yield "float4_to_numeric", "%s::float4::numeric", [(v,) for v in narrow]
    for name in ("sign", "round", "trunc", "sqrt"):
        yield f"{name}_float8", f"{name}(%s::float8)", one
    errors = [("-1",), ("0",), ("-Infinity",), ("NaN",), ("1e10",), ("-1e10",), ("1",)]
    for name in ("ln", "exp"):
        yield f"{name}_float8", f"{name}(%s::float8)", errors
    bases = ["0", "-0", "1", "-2", "2", "0.5", "NaN", "Infinity", "-Infinity", "1e200", "1e-200"]
    yield "power_float8", "power(%s::float8, %s::float8)", list(product(bases, bases))


def random_timestamp(chooser: random.Random, year_min: int, year_max: int) -> str:
    """Return a timestamp with up to six digits of a second; years below 1 are before Christ."""
    year = chooser.randint(year_min, year_max)
    era = " BC" if year <= 0 else ""
    year = 1 - year if year <= 0 else year
    fraction = chooser.choice(["", f".{chooser.randint(1, 999999):06}".rstrip("0")])
    clock = f"{chooser.randint(0, 23):02}:{chooser.randint(0, 59):02}:{chooser.randint(0, 59):02}{fraction}"
    return f"{year:04}-{chooser.randint(1, 12):02}-{chooser.randint(1, 28):02} {clock}{era}"


UNITS = "microseconds milliseconds second minute hour day week month quarter year decade century millennium".split()
FIELDS = [*UNITS, "dow", "isodow", "doy", "isoyear", "epoch", "julian"]
DATE_FIELDS = FIELDS[5:]


def time_questions(chooser: random.Random) -> Iterator[Question]:
    stamps = [
        "1970-01-01 00:00:00",
        "2000-02-29 23:59:59.999999",
        "2001-01-01 00:00:00",
        "2000-12-31 12:00:00",
        "0001-01-01 00:00:00",
    ]
    stamps += [
        "0001-12-31 23:59:59.5 BC",
        "0011-03-01 01:00:00 BC",
        "0100-01-01 00:00:00 BC",
        "1001-06-06 06:06:06.000006 BC",
    ]
    stamps += [
        "4714-11-24 00:00:00 BC",
        "4713-01-01 00:00:00 BC",
        "9999-12-31 23:59:59.999999",
        "294246-12-31 23:59:59.999999",
    ]
    stamps += ["2015-12-31 00:00:00", "2016-01-03 00:00:00", "2016-01-04 00:00:00", "1969-12-31 23:59:59.999999"]
    stamps += [
        random_timestamp(chooser, *years)
        for years in ((-4700, 0), (1, 1600), (1600, 2400), (2400, 290000))
        for _ in range(12)
    ]
    yield "date_trunc", "date_trunc(%s, %s::timestamp)", list(product(UNITS, stamps))
    for field in FIELDS:
        yield f"extract_{field}", f"extract({field} from %s::timestamp)", [(stamp,) for stamp in stamps]
    yield "date_part", "date_part(%s, %s::timestamp)", list(product(FIELDS, stamps))
    dates = [stamp.split()[0] + (" BC" if stamp.endswith("BC") else "") for stamp in stamps] + [
        "5874897-12-31",
        "4714-11-24 BC",
    ]
    for field in DATE_FIELDS:
        yield f"extract_date_{field}", f"extract({field} from %s::date)", [(date,) for date in dates]
    intervals = [
        (str(m), str(d), str(u)) for m, d, u in ((0, 0, 0), (1, 0, 0), (-1, 0, 0), (12, -1, 1), (1, 1, -86400000001))
    ]
    intervals += [("0", "-400", "0"), ("-49", "31", "5"), ("2147483647", "0", "0"), ("0", "2147483647", "0")]
    interval = "make_interval(months => %s::int, days => %s::int) + %s::int8 * interval '1 microsecond'"
    yield "add_interval", f"%s::timestamp + ({interval})", [(s, *i) for s in stamps for i in intervals]
    counts = ["0", "1", "-1", "100000", "2147483647", "-2147483648"]
    yield "date_add_days", "%s::date + %s::int", list(product(dates, counts))
    yield "date_to_timestamp", "%s::date::timestamp", [(date,) for date in dates]
    yield "timestamp_to_date", "%s::timestamp::date", [(stamp,) for stamp in stamps]


def zone_questions(chooser: random.Random) -> Iterator[Question]:
    stamps = [
        random_timestamp(chooser, *years)
        for years in ((1700, 1950), (1960, 2037), (1960, 2037), (2038, 9000))
        for _ in range(25)
    ]
    # Around the changes of 2024 in New York and Berlin, of Lord Howe by half an hour, of Sao Paulo
    # at midnight, and Berlin's of 1945.
    for day in (
        "2024-03-10",
        "2024-11-03",
        "2024-03-31",
        "2024-10-27",
        "2024-04-07",
        "2024-10-06",
        "2018-11-04",
        "2018-02-18",
    ):
        stamps += [
            f"{day} {hour:02}:{minute}"
            for hour in (0, 1, 2, 3, 4)
            for minute in ("00:00", "29:59.5", "30:00", "59:59.999999")
        ]
    stamps += [
        "1945-05-24 02:30:00",
        "1945-09-24 02:00:00",
        "1945-11-18 02:30:00",
        "294246-12-31 23:00:00",
        "4714-11-24 00:00:00 BC",
    ]
    all_pairs = list(product(ZONES, stamps))
    swapped = [(stamp, zone) for zone, stamp in all_pairs]
    yield "local_to_utc", "%s::timestamp AT TIME ZONE %s AT TIME ZONE 'UTC'", swapped
    yield "utc_to_local", "(%s::timestamp AT TIME ZONE 'UTC') AT TIME ZONE %s", swapped
    some = [pair for pair in all_pairs if chooser.random() < 0.25]
    truncations = [(chooser.choice(UNITS), stamp, zone) for zone, stamp in some]
    yield "date_trunc_zoned", "date_trunc(%s, %s::timestamp AT TIME ZONE 'UTC', %s) AT TIME ZONE 'UTC'", truncations
    moment = "(%s::timestamp::text || '+00')::timestamptz"
    for field in ("timezone", "timezone_hour", "timezone_minute", "hour", "doy", "epoch", "second"):
        yield (
            f"zoned_extract_{field}",
            f"extract({field} from {moment})",
            [(s, z) for z, s in some if not s.endswith("BC")][::4],
        )
    interval = "make_interval(months => %s::int, days => %s::int) + %s::int8 * interval '1 microsecond'"
    intervals = [("1", "0", "0"), ("0", "1", "0"), ("0", "0", "3600000000"), ("-1", "1", "-1")]
    yield (
        "zoned_add_interval",
        f"({moment} + ({interval})) AT TIME ZONE 'UTC'",
        [(s, *chooser.choice(intervals), z) for z, s in some if not s.endswith("BC")],
    )
    yield "zoned_text", moment, [(s, z) for z, s in some if not s.endswith("BC")]
    fixed = ("UTC", "-05:30", "+3", "<+0530>-05:30", "EST5", "europe/berlin")
    yield "zone_posix", "timestamp '2020-01-01' AT TIME ZONE %s AT TIME ZONE 'UTC'", [(zone,) for zone in fixed]


TEXTS = [
    "",
    "a",
    "abc",
    "ABC",
    "hällo wörld",
    "Ä",
    "日本語テキスト",
    "abcabcabcabc",
    "abcabcabcabca",
    "  spaced  ",
    "a%b_c\\d",
    "ß€😀x",
    "aab" * 9,
]
PATTERNS = [
    "",
    "%",
    "_",
    "a%",
    "%c",
    "%b%",
    "a_c",
    "___",
    "%\\%%",
    "a\\%b\\_c\\\\d",
    "h_llo%",
    "%a%b%c",
    "%_%",
    "_%_",
    "abc\\",
    "%\\",
    "aab%aab",
    "A%",
    "%ö%d",
]


def text_questions() -> Iterator[Question]:
    texts = TEXTS
    one = [(text,) for text in texts]
    for name in ("lower", "upper", "length", "octet_length", "reverse"):
        yield name, f"{name}(%s::text)", one
    counts = ["-3", "-1", "0", "1", "2", "5", "12", "2147483647"]
    for name in ("left", "right", "repeat"):
        yield (
            name,
            f'"{name}"(%s::text, %s::int)',
            [p for p in product(texts, counts) if name != "repeat" or len(p[1]) < 3],
        )
    yield "substring_from", "substring(%s::text, %s::int)", list(product(texts, counts))
    yield "substring", "substring(%s::text, %s::int, %s::int)", list(product(texts, counts, counts))
    sets = ["", " ", "a", "cab", "äß€ ", "日トx"]
    for name in ("btrim", "ltrim", "rtrim"):
        yield name, f"{name}(%s::text, %s::text)", list(product(texts, sets))
    parts = ["", "a", "b", "ab", "bca", "ö", "語", "abcabcabcabc", "zz"]
    for name in ("strpos", "starts_with"):
        yield name, f"{name}(%s::text, %s::text)", list(product(texts, parts))
    yield (
        "replace",
        "replace(%s::text, %s::text, %s::text)",
        list(product(texts, parts, ["", "X", "äö", "long replacement"])),
    )
    yield "concat", "%s::text || %s::text", list(product(texts, texts))
    yield "text_compare", "sign(bttextcmp(%s::text, %s::text))", list(product(texts, texts))
    patterns = PATTERNS
    for name in ("like", "ilike"):
        yield name, f"%s::text {name} %s", list(product(texts, patterns))
    escaped = [
        (text, pattern, escape)
        for text, pattern in product(texts, ["a#%b#_c\\d", "%#%", "a%b_c\\d", "##"])
        for escape in ("#", "", "\\")
    ]
    yield "like_escape", "%s::text LIKE %s ESCAPE %s", escaped
    yield from input_questions()
    yield (
        "float8_to_text",
        "%s::float8",
        [(v,) for v in ("0", "-0", "1e15", "1e-5", "123456.789", "1e23", "5e-324", "NaN", "-Infinity")],
    )
    yield "float4_to_text", "%s::float4", [(v,) for v in ("0", "1e6", "1e-5", "0.1", "16777216", "3.4e38", "NaN")]
    stamps = ["1970-01-01 00:00:00.1", "0044-03-15 12:00:00 BC", "12345-06-07 08:09:10.000001", "2024-07-01 00:00:00"]
    yield "timestamp_to_text", "%s::timestamp", [(s,) for s in stamps]


def input_questions() -> Iterator[Question]:
    """Yield casts from text, spelled well and badly."""
    spellings = [
        "",
        " 1 ",
        "x",
        "+7",
        "-0",
        "1.5",
        "-1.50",
        ".5",
        "5.",
        "1e3",
        "1.2e-3",
        "12x",
        "- 1",
        "1 2",
        "32768",
        "2147483648",
    ]
    spellings += [
        "9223372036854775808",
        "-9223372036854775808",
        "1e400",
        "1e-400",
        "3.5e38",
        "1e-46",
        "NaN",
        "inf",
        "0.1",
        "1e",
    ]
    spellings += [
        "0.1000000000000000055511151231257827021181583404541015625",
        "9007199254740992.99999999999999999999",
        "16777217.0000001",
    ]
    for kind in ("int2", "int4", "int8", "numeric", "float4", "float8"):
        yield f"text_to_{kind}", f"%s::text::{kind}", [(spelling,) for spelling in spellings]
    words = ["t", "TRUE", " yes ", "of", "o", "off", "0", "1", "2", "", "n", "tru", "truex"]
    yield "text_to_bool", "%s::text::bool", [(word,) for word in words]
    days = ["2020-02-29", " 2020-01-01 ", "2020-02-30", "2020-13-01", "0001-01-01", "9999-12-31", "", "x", "-"]
    yield "text_to_date", "%s::text::date", [(day,) for day in days]
    clocks = [
        "",
        " 12:34:56",
        "T01:02:03.5",
        " 23:59:59.999999",
        " 25:00:00",
        " 12:60:00",
        " 12:34",
        " 10:00+02",
        " 10:00:00-03:30",
    ]
    moments = [(day.strip() + clock,) for day in days[:4] for clock in clocks]
    yield "text_to_timestamp", "%s::text::timestamp", moments
    zoned = [(*moment, zone) for moment in moments for zone in ("UTC", "Europe/Berlin")]
    yield "zoned_text_to_timestamptz", "(%s::text::timestamptz) AT TIME ZONE 'UTC'", zoned


if __name__ == "__main__":
    main()
