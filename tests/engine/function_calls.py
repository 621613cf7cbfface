"""A call of every signature in the table of functions, over a table with a column of every type,
and what PostgreSQL answers to it for each of the table's rows.

What stands for the arguments is what `bench.function_page` puts there: columns, and constants where
some engine takes no others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from bench.function_page import argument_texts, column_name
from sql.functions import sketches
from sql.functions.catalog import OF_CATALOG
from sql.functions.rows import IMMUTABLE
from sql.functions.signatures import Signature
from sql.functions.table import AGGREGATE_ROWS, AGGREGATES, BINARY_OPERATORS, FUNCTIONS, PREFIX_OPERATORS, ROWS
from sql.types.casts import cast_context
from sql.types.datatypes import LiteralValue, SqlType
from sql.types.datatypes import numeric as scaled_numeric
from sql.values.literals import input_value

TABLE = "t"
# A row of the table has one value of each type; the last row has none.
VALUES: Mapping[str, tuple[str, str, str, str]] = {
    "bool": ("t", "f", "t", "f"),
    "int2": ("3", "-7", "0", "12"),
    "int4": ("2", "-5", "0", "1000003"),
    "int8": ("4", "-6", "0", "12345678901"),
    "float4": ("0.5", "-2.5", "0", "Infinity"),
    "float8": ("0.25", "-1.5", "0", "NaN"),
    "numeric": ("1.25", "-2.50", "0", "1234567.89"),
    "text": ("abc", "é☃ b", "", "12"),
    "varchar": ("Abc", "x%y", "", "a,b"),
    "bpchar": ("ab", "c  ", "", "Z"),
    "name": ("abc", "x_y", "n", "select"),
    "char": ("a", "b", "c", "Z"),
    "date": ("2024-02-29", "1969-12-31", "2000-01-01", "0044-03-15 BC"),
    "time": ("04:05:06.789", "00:00", "23:59:59", "12:00"),
    "timetz": ("04:05:06+02", "00:00+00", "23:59:59-08", "12:00+01"),
    "timestamp": ("2024-02-29 12:34:56.789", "1969-12-31 23:59:59.5", "2000-01-01 00:00", "-infinity"),
    "timestamptz": ("2024-03-31 01:30+00", "1969-12-31 23:59:59+00", "2000-01-01 00:00+00", "1890-01-01 00:00+00"),
    "interval": ("1 mon 2 days 03:04:05.5", "-1 days", "0", "400 days"),
    "uuid": ("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "00000000-0000-0000-0000-000000000001") * 2,
    "bytea": (r"\x00ff10", r"\x616263", r"\x", r"\x31"),
    "json": ('{"b": 1, "a": [1, null]}', '[1, "x", {"k": 2}]', '"s"', "null"),
    "jsonb": ('{"b": 1, "a": [1, null]}', '[1, "x", {"k": 2}]', '"s"', "null"),
    "inet": ("10.1.2.3/8", "2001:db8::1/64", "0.0.0.0/0", "255.255.255.255"),
    "cidr": ("10.0.0.0/8", "2001:db8::/64", "0.0.0.0/0", "192.168.1.0/24"),
    "oid": ("1", "4294967295", "0", "16384"),
}
PLACES = range(1, 6)
# Arguments of several types.
ANY = frozenset({"any", "element", "array"})


@dataclass(frozen=True)
class Call:
    """A call of a signature.

    Attributes:
        rows: the places of the table's rows for which PostgreSQL has an answer, with its texts.
        errors: the places of the other rows, with the SQLSTATEs.
    """

    text: str
    rows: Mapping[int, str | None]
    errors: Mapping[int, str]

    @property
    def guard(self) -> str:
        """The condition of the rows with answers."""
        return "id IN (" + ", ".join(map(str, self.rows)) + ")"


def column_types() -> dict[str, str]:
    """Return the types of the table's columns."""
    kinds = {column_name(family): ("numeric(10,2)" if family == "numeric" else _sql_name(family)) for family in VALUES}
    arrays = {column_name(f"{family}[]"): f"{_sql_name(family)}[]" for family in VALUES if family != "char"}
    return {"id": "int4", **kinds, "n": "numeric", **arrays}


def _sql_name(family: str) -> str:
    return '"char"' if family == "char" else family


def table_rows() -> Iterator[str]:
    """Yield the table's rows, as VALUES has them."""
    for place in PLACES[:-1]:
        values = [_quoted(texts[place - 1]) for texts in VALUES.values()]
        # An array of the value of its row and of the next one's.
        arrays = [
            f"ARRAY[{_quoted(texts[place - 1])}, NULL, {_quoted(texts[place % 4])}]::{_sql_name(family)}[]"
            for family, texts in VALUES.items()
            if family != "char"
        ]
        yield f"({place}, {', '.join((*values, values[list(VALUES).index('numeric')], *arrays))})"
    yield f"({PLACES[-1]}{', NULL' * (len(column_types()) - 1)})"


def _quoted(text: str) -> str:
    return f"'{text}'"


def definition(head: str, tail: str = "", name: str = TABLE) -> str:
    """Return the statement that creates the table, or a stream of its columns."""
    columns = ", ".join(f"{column} {kind}" for column, kind in column_types().items())
    return f"{head} {name} ({columns}){tail}"


def sql_types() -> dict[str, SqlType]:
    """Return the types of the table's columns, as bind knows them."""
    known = {column_name(family): SqlType(family) for family in (*VALUES, *(f"{family}[]" for family in VALUES))}
    other = {"id": SqlType("int4"), "n": SqlType("numeric"), "c_numeric": scaled_numeric(10, 2)}
    return {name: other.get(name) or known[name] for name in column_types()}


def column_values(name: str) -> list[LiteralValue]:
    """Return the values of a column."""
    kind = sql_types()[name]
    if name == "id":
        return list(PLACES)
    texts = VALUES[(kind.element if kind.is_array else kind).family]
    if not kind.is_array:
        return [*(input_value(text, kind) for text in texts), None]
    values = [input_value(text, kind.element) for text in texts]
    return [*((value, None, values[(place + 1) % 4]) for place, value in enumerate(values)), None]


def call_texts() -> Iterator[str]:
    """Yield calls of the signatures of functions and operators."""
    for name, signatures in FUNCTIONS.items():
        for signature in filter(_is_told, signatures):
            for operands in _operands(name, signature):
                yield f'"{name}"({", ".join(operands)})'
    for symbol, signatures in (*BINARY_OPERATORS.items(), *PREFIX_OPERATORS.items()):
        for signature in filter(_is_told, signatures):
            for operands in _operands(symbol, signature):
                yield f" {symbol} ".join(operands) if len(operands) == 2 else f"{symbol} {operands[0]}"


def _is_told(signature: Signature) -> bool:
    """Tell whether a function is PostgreSQL's, and its answer depends on nothing but arguments."""
    row = ROWS.get(signature.canonical)
    known = {*VALUES, *(f"{family}[]" for family in VALUES), "any", "element", "array", "record"}
    return (
        row is not None
        and row.volatility == IMMUTABLE
        and row.canonical not in OF_CATALOG
        and row not in sketches.FUNCTIONS
        and known.issuperset(signature.arguments)
    )


def _operands(name: str, signature: Signature) -> list[list[str]]:
    """Return the arguments, those of numerics with and without a scale of the column."""
    operands = argument_texts(name, signature)
    plain = ["n" if text == "c_numeric" else text for text in operands]
    return [operands] if plain == operands else [operands, plain]


def aggregate_texts() -> Iterator[str]:
    """Yield calls of the signatures of aggregates."""
    for name, signature in _aggregates():
        for operands in _operands(name, signature):
            yield _aggregate_text(name, signature, operands)


def stream_aggregates() -> Iterator[str]:
    """Yield calls of the signatures of aggregates as they may stand over a stream: also with
    DISTINCT, FILTER and ORDER BY, and of columns of every type.
    """
    for name, signature in _aggregates():
        places = [place for place, kind in enumerate(signature.arguments) if kind in ANY]
        for operands in _operands(name, signature):
            plain = _aggregate_text(name, signature, operands)
            yield from (plain, f"{plain} FILTER (WHERE id <> 3)")
            if operands and not AGGREGATE_ROWS[signature.canonical].within_group:
                yield _aggregate_text(name, signature, operands, "DISTINCT ")
                yield _aggregate_text(name, signature, operands, tail=" ORDER BY id % 3 DESC, id")
            for column in column_types() if places else ():
                yield _aggregate_text(name, signature, [*operands[: places[-1]], column, *operands[places[-1] + 1 :]])


def _aggregates() -> Iterator[tuple[str, Signature]]:
    for name, signatures in AGGREGATES.items():
        for signature in signatures:
            if signature.canonical in AGGREGATE_ROWS and {*VALUES, *ANY}.issuperset(signature.arguments):
                yield name, signature


def _aggregate_text(name: str, signature: Signature, operands: Sequence[str], word: str = "", tail: str = "") -> str:
    row = AGGREGATE_ROWS[signature.canonical]
    inside = ", ".join(operands[:-1] if row.within_group else operands)
    text = f"{name}({word}{inside if inside or row.within_group else '*'}{tail})"
    return text + (f" WITHIN GROUP (ORDER BY {operands[-1]})" if row.within_group else "")


def cast_texts() -> Iterator[str]:
    """Yield the casts between two of the types."""
    for source in VALUES:
        for target in VALUES:
            if source != target and cast_context(source, target) is not None:
                yield f"CAST({column_name(source)} AS {_sql_name(target)})"


def postgres_calls(connection: psycopg.Connection[Any]) -> list[Call]:
    """Return all calls and casts with PostgreSQL's answers."""
    create_postgres_table(connection)
    found = []
    for text in dict.fromkeys((*call_texts(), *cast_texts())):
        said = {place: answer(connection, f"SELECT ({text})::text FROM {TABLE} WHERE id = {place}") for place in PLACES}
        rows = {place: texts[0] for place, texts in said.items() if isinstance(texts, list)}
        errors = {place: state for place, state in said.items() if isinstance(state, str)}
        found.append(Call(text, rows, errors))
    return found


def create_postgres_table(connection: psycopg.Connection[Any]) -> None:
    """Fill PostgreSQL's table, for this session."""
    connection.execute(definition("CREATE TEMPORARY TABLE").encode())
    connection.execute(f"INSERT INTO {TABLE} VALUES {', '.join(table_rows())}; SET TimeZone = 'UTC'".encode())


def answer(connection: psycopg.Connection[Any], query: str) -> list[str | None] | str:
    """Return the first column of PostgreSQL's answer, or the SQLSTATE."""
    result = connection.pgconn.exec_(query.encode())
    state = result.error_field(psycopg.pq.DiagnosticField.SQLSTATE)
    if state is not None:
        return state.decode()
    values = [result.get_value(row, 0) for row in range(result.ntuples)]
    return [None if value is None else value.decode() for value in values]
