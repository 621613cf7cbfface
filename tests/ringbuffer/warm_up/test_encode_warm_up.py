"""After the warm-up no result makes a client wait for the compiler."""

from __future__ import annotations

import random
from types import ModuleType

import pyarrow as pa

from engine.tables.arrow_values import column_array
from ringbuffer.encode import arrays as encode_arrays
from ringbuffer.encode import binary as encode_binary
from ringbuffer.encode import copy as encode_copy
from ringbuffer.encode import fields as encode_fields
from ringbuffer.encode import records as encode_records
from ringbuffer.encode import rows as encode_rows
from ringbuffer.encode import text as encode_text
from ringbuffer.encode import types as encode_types
from ringbuffer.encode.copy import CopyFormat, encode_copy_rows
from ringbuffer.encode.output_forms import Forms
from ringbuffer.encode.rows import encode_data_rows
from ringbuffer.scalar.numbers import shortest_float
from ringbuffer.warm_up.encoders import warm_up_encoders
from sql.types.datatypes import SqlType
from tests.ringbuffer.samples import FAMILIES, arrow_form, random_column, variable_numeric
from tests.types import random_value

MODULES: tuple[ModuleType, ...] = (
    encode_text,
    encode_binary,
    encode_types,
    encode_arrays,
    encode_rows,
    encode_fields,
    encode_records,
    encode_copy,
    shortest_float,
)
NEW_FAMILIES = (
    "time",
    "interval",
    "uuid",
    "bytea",
    "json",
    "jsonb",
    "bpchar",
    "int4[]",
    "text[]",
    "interval[]",
    "numeric[]",
    "bool[]",
)


def compiled_counts() -> dict[str, int]:
    """Return how many variants of each kernel are compiled."""
    return {
        f"{module.__name__}.{name}": len(value.signatures)
        for module in MODULES
        for name, value in vars(module).items()
        if hasattr(value, "signatures")
    }


def test_warm_up_compiles_all_that_results_need() -> None:
    warm_up_encoders()
    before = compiled_counts()
    assert before["ringbuffer.encode.fields.put_fields"] == 1
    source = random.Random(1)
    columns = [random_column(source, family, 20) for family in FAMILIES] + [variable_numeric(source, 20)]
    columns += [pa.array([None] * 20, arrow_form(family)) for family in FAMILIES]
    columns += [
        column_array([random_value(SqlType(family), source) for _ in range(20)], SqlType(family))
        for family in NEW_FAMILIES
    ]
    columns.append(pa.array([{"f1": number, "f2": "a b"} for number in range(20)]))
    record = encode_records.record_family(2249, [("int8", 20), ("text", 25)], is_array=False)
    families = [*FAMILIES, "numeric", *FAMILIES, *NEW_FAMILIES, record]
    for rows_count in (20, 1, 0):
        some = [column.slice(0, rows_count) for column in columns]
        for code in (0, 1):
            encode_data_rows(some, families, [code] * len(families), Forms("Europe/Berlin"), rows_count)
        for form in (CopyFormat(header=True), CopyFormat("csv", ",", "", header=True, force_quote=None)):
            encode_copy_rows(
                some,
                [str(index) for index in range(len(families))],
                families,
                form,
                Forms("UTC"),
                header=True,
                rows_count=rows_count,
            )
    assert compiled_counts() == before
