"""Random columns and values: each column has a small domain of its own, with NULLs and extremes, so
that groups collide.

A value is its text in PostgreSQL's input form, or None for NULL; `literal` and `parameter` give its
other forms.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal
from random import Random

FAMILIES_DRAWN = (
    "bool",
    "int2",
    "int4",
    "int4",
    "int8",
    "float8",
    "float4",
    "numeric",
    "numeric",
    "text",
    "text",
    "varchar",
    "date",
    "timestamp",
    "timestamptz",
)
EXTREMES: dict[str, tuple[str, ...]] = {
    "int2": ("-32768", "32767"),
    "int4": ("-2147483648", "2147483647"),
    "int8": ("-9223372036854775808", "9223372036854775807"),
    "float8": ("1e15", "-0", "0.1", "-1e-7", "123456789.123", "NaN", "Infinity", "-Infinity", "1e308", "5e-324"),
    "float4": ("16777216", "0.5", "-0", "NaN", "-Infinity", "3.4e38", "1e-45"),
    "text": (
        "",
        " ",
        "a string that is longer than twelve bytes",
        "ünïcödé ☃",
        "it's",
        'quo"te',
        "tab\there",
        "back\\slash",
        "%_",
    ),
    "varchar": ("", "ab", "äöü"),
    "date": ("0001-01-01", "9999-12-31", "2000-02-29", "1969-12-31"),
    "timestamp": (
        "1969-12-31 23:59:59.999999",
        "2000-02-29 00:00:00",
        "9999-12-31 23:59:59.999999",
        "0001-01-01 00:00:00",
    ),
    "timestamptz": (
        "1970-01-01 00:00:00+00",
        "2024-03-31 01:30:00+00",
        "2024-10-27 00:30:00+00",
        "1999-12-31 23:59:59.999999+00",
    ),
}
BAD_TEXTS: dict[str, tuple[str, ...]] = {
    "bool": ("maybe", "2"),
    "int2": ("40000", "x", "1.5"),
    "int4": ("4000000000", "", "1x"),
    "int8": ("9223372036854775808", "--1"),
    "float8": ("1e400", "abc"),
    "float4": ("1e40", "1.2.3"),
    "numeric": ("1e30", "1,5", "x"),
    "varchar": ("much too long for it",),
    "date": ("2023-02-29", "yesterdayish", "2023-13-01"),
    "timestamp": ("2023-01-01 25:00:00", "nope"),
    "timestamptz": ("2023-01-01 00:00:00+99:00", "nope"),
}


@dataclass(frozen=True)
class Column:
    """A column of a random stream or table. values: its domain; risky extremes are among them only
    when `extreme`.

    fixed: equal values have one text, so that it can be a group's key.
    """

    name: str
    family: str
    sql_type: str
    values: tuple[str | None, ...]
    extreme: bool
    not_null: bool = False
    default: str | None = None
    scale: int = 0
    fixed: bool = True

    @property
    def definition(self) -> str:
        """The column's text in CREATE."""
        default = f" DEFAULT {self.default}" if self.default is not None else ""
        return f"{self.name} {self.sql_type}{default}{' NOT NULL' if self.not_null else ''}"


def random_column(random: Random, index: int) -> Column:
    """Return column number `index` of a random stream."""
    family = random.choice(FAMILIES_DRAWN)
    scale = random.choice([0, 1, 2, 4])
    precision = random.choice([6, 9, 12, 20, 38])
    sql_type = {
        "bool": "boolean",
        "int2": "smallint",
        "int4": random.choice(["integer", "int"]),
        "int8": "bigint",
        "float8": "double precision",
        "float4": "real",
        "numeric": f"numeric({precision},{scale})",
        "varchar": f"varchar({random.choice([3, 8])})",
        "timestamptz": "timestamp with time zone",
    }.get(family, family)
    not_null = random.random() < 0.1
    extreme = random.random() < 0.15
    values: list[str | None] = [random_value(random, family, sql_type, scale) for _ in range(random.randint(2, 9))]
    if extreme and family in EXTREMES:
        values += [value for value in EXTREMES[family] if family != "varchar" or len(value) <= 3]
    if extreme and family == "numeric" and precision >= 20:
        # Sums of some thousand of them still have 38 digits at most.
        largest = "9" * (precision - scale - 4) + ("." + "9" * scale if scale else "")
        values += [largest, "-" + largest]
    if not not_null:
        values += [None] * random.choice([1, 1, 3])
    default = None
    if random.random() < 0.2:
        default = literal(values[0], family)
    return Column(f"c{index}", family, sql_type, tuple(values), extreme, not_null, default, scale)


def random_value(random: Random, family: str, sql_type: str, scale: int = 0) -> str:
    """Return the text of a harmless value."""
    if family == "bool":
        return random.choice(["t", "f", "true", "false"])
    if family == "int2":
        return str(random.randint(-9, 60))
    if family in ("int4", "int8"):
        return str(random.choice([random.randint(-9, 9), random.randint(-1000, 5000)]))
    if family in ("float8", "float4"):
        return repr(random.randint(-400, 400) / 4)
    if family == "numeric":
        return f"{random.randint(-99999, 99999) / 10**scale:.{scale}f}"
    if family == "text":
        return random.choice(["a", "b", "abc", "B", "Zebra", "hello world, hello", "x%y", "é"])
    if family == "varchar":
        return random.choice(["a", "bb", "ccc", "Ä"])
    day = datetime.date(2020, 1, 1) + datetime.timedelta(days=random.randint(-400, 1500))
    if family == "date":
        return day.isoformat()
    time = f"{random.randint(0, 23):02}:{random.randint(0, 59):02}:{random.randint(0, 59):02}"
    fraction = random.choice(["", ".5", ".123456"])
    return f"{day.isoformat()} {time}{fraction}" + ("+00" if family == "timestamptz" else "")


def literal(value: str | None, family: str, bare: bool = False) -> str:
    """Return a SQL literal of a value; bare: numbers without quotes."""
    if value is None:
        return "NULL"
    if bare and family in ("int2", "int4", "int8", "numeric", "float8", "float4") and value[-1].isdigit():
        return value
    if bare and family == "bool":
        return "TRUE" if value in ("t", "true") else "FALSE"
    return "'" + value.replace("'", "''") + "'"


def parameter(value: str | None, family: str) -> object:
    """Return the Python object that a driver's user would pass."""
    if value is None:
        return None
    if family == "bool":
        return value in ("t", "true")
    if family in ("int2", "int4", "int8"):
        return int(value)
    if family in ("float8", "float4"):
        return float(value)
    if family == "numeric":
        return Decimal(value)
    if family == "date":
        return datetime.date.fromisoformat(value)
    if family == "timestamp":
        return datetime.datetime.fromisoformat(value)
    if family == "timestamptz":
        return datetime.datetime.fromisoformat(value)
    return value


def copy_text(value: str | None, null: str = "\\N", delimiter: str = "\t") -> str:
    """Return the field of a value in COPY's text format."""
    if value is None:
        return null
    escaped = value.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
    return escaped.replace(delimiter, "\\" + delimiter) if delimiter != "\t" else escaped


def copy_csv(value: str | None, random: Random, null: str = "", delimiter: str = ",", quote: str = '"') -> str:
    """Return the field of a value in CSV; a value that looks like NULL has to be quoted to differ
    from it.
    """
    if value is None:
        return null
    if value in ("", null) or any(character in value for character in f"{delimiter}{quote}\n\\"):
        return quote + value.replace(quote, quote * 2) + quote
    return quote + value + quote if random.random() < 0.2 else value
