"""COPY TO lines: golden ones, and PostgreSQL's output of the same rows with the same options."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pyarrow as pa
import pytest

from ringbuffer.encode.copy import CopyFormat, encode_copy_rows
from ringbuffer.encode.output_forms import Forms
from tests.oracle.postgres import PostgresCluster
from tests.ringbuffer.rows import messages
from tests.ringbuffer.samples import WORDS, random_column

CSV = CopyFormat("csv", ",", "")


def lines(columns: list[pa.Array], form: CopyFormat, header: bool = True) -> list[str]:
    names = [f"c{index}" for index in range(len(columns))]
    families = ["text" if pa.types.is_string(column.type) else "int8" for column in columns]
    data = encode_copy_rows(columns, names, families, form, Forms("UTC"), header, len(columns[0]))
    return [body.decode() for body in messages(data, b"d")]


@pytest.mark.parametrize(
    ("value", "text", "csv"),
    [
        ("plain", "plain", "plain"),
        ("", "", '""'),
        (None, "\\N", ""),
        ("\\N", "\\\\N", "\\N"),
        ("a\tb", "a\\tb", "a\tb"),
        ("a\nb\r", "a\\nb\\r", '"a\nb\r"'),
        ("\b\f\v\x01", "\\b\\f\\v\x01", "\b\f\v\x01"),
        ('say "hi"', 'say "hi"', '"say ""hi"""'),
        ("a,b", "a,b", '"a,b"'),
        ("back\\slash", "back\\\\slash", "back\\slash"),
        ("\\.", "\\\\.", '"\\."'),
    ],
)
def test_one_value(value: str | None, text: str, csv: str) -> None:
    column = pa.array([value], pa.string())
    assert lines([column], CopyFormat()) == [text + "\n"]
    assert lines([column], CSV) == [csv + "\n"]


def test_header_comes_once() -> None:
    columns = [pa.array([1]), pa.array(["x"])]
    assert lines(columns, replace(CSV, header=True)) == ["c0,c1\n", "1,x\n"]
    assert lines(columns, replace(CSV, header=True), header=False) == ["1,x\n"]
    assert lines([column.slice(0, 0) for column in columns], CopyFormat(header=True)) == ["c0\tc1\n"]


def test_forced_quotes_leave_null_alone() -> None:
    columns = [pa.array([1, None]), pa.array(["x", None])]
    assert lines(columns, replace(CSV, force_quote=("c0",))) == ['"1",x\n', ",\n"]
    assert lines(columns, replace(CSV, force_quote=None)) == ['"1","x"\n', ",\n"]


def sql_string(text: str) -> str:
    return "E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def options(form: CopyFormat) -> str:
    parts = [
        f"FORMAT {form.format}",
        f"DELIMITER {sql_string(form.delimiter)}",
        f"NULL {sql_string(form.null)}",
        f"HEADER {form.header}",
    ]
    if form.format == "csv":
        parts += [f"QUOTE {sql_string(form.quote)}", f"ESCAPE {sql_string(form.escape)}"]
        if form.force_quote is None:
            parts.append("FORCE_QUOTE *")
        elif form.force_quote:
            parts.append(f"FORCE_QUOTE ({', '.join(form.force_quote)})")
    return f"({', '.join(parts)})"


@pytest.mark.slow
def test_agrees_with_postgres(postgres: PostgresCluster) -> None:
    source = random.Random(20_261_120)
    columns = [
        pa.array([*WORDS, None]),
        random_column(source, "int8", len(WORDS) + 1),
        random_column(source, "text", len(WORDS) + 1),
    ]
    forms = [
        CopyFormat("text", delimiter, null, header)
        for delimiter, null, header in itertools.product(["\t", ",", "|"], ["\\N", "", "NULL"], [False, True])
    ]
    forms += [
        CopyFormat("csv", delimiter, null, header, quote, escape, force)
        for delimiter, null, header, (quote, escape), force in itertools.product(
            [",", "\t"],
            ["", "NULL", "c0"],
            [False, True],
            [('"', '"'), ("'", "\\"), ('"', "x")],
            [(), ("c0",), None],
        )
    ]
    with postgres.connect() as connection:
        connection.execute("CREATE TEMPORARY TABLE sent (id serial, c0 text, c1 bigint, c2 text)")
        rows = zip(*(column.to_pylist() for column in columns), strict=True)
        connection.cursor().executemany("INSERT INTO sent (c0, c1, c2) VALUES (%s, %s, %s)", list(rows))
        for form, used in itertools.product(forms, [columns, columns[:1]]):
            names = ", ".join(f"c{index}" for index in range(len(used)))
            with connection.cursor().copy(
                f"COPY (SELECT {names} FROM sent ORDER BY id) TO STDOUT {options(form)}"
            ) as copy:
                expected = [bytes(piece).decode() for piece in copy]
            assert lines(used, form) == expected, (form, names)


@pytest.mark.parametrize("form", [CopyFormat(), CSV])
def test_rows_without_columns_are_empty_lines(form: CopyFormat) -> None:
    data = encode_copy_rows([], [], [], form, Forms("UTC"), False, 2)
    assert messages(data, b"d") == [b"\n", b"\n"]
