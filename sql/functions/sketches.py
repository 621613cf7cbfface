"""Aggregates that estimate, in a state of one size: the number of different values.

Kernels make cells of values and read the result (`ringbuffer.scalar.texts.sketches`), over
streams and over tables, so that both give the same number.
"""

from __future__ import annotations

from sql.functions.aggregate_rows import Aggregate, AggregateText
from sql.functions.rows import Function, Kernel

WORD_CELL = Kernel("texts.sketches.word_cell")
NUMERIC_CELL = Kernel("texts.sketches.numeric_cell")
# The types whose values have cells; bind makes them of other types.
CELLS = ("int8", "date", "time", "timestamp", "timestamptz", "float8", "numeric", "text", "bytea")


def _registers(aggregate: AggregateText) -> str:
    """Return the registers of the different cells, of which there are few."""
    text = aggregate.texts[0]
    return f"registers_of({aggregate.wrap(f'list(DISTINCT {text}) FILTER (WHERE {text} IS NOT NULL)')})"


FUNCTIONS = (
    Function(
        "value_cell", "", "; ".join(f"{family} > int8" for family in CELLS), can_fail=False,
        kernel={
            "int8 date time timestamp timestamptz": WORD_CELL,
            "float8": Kernel("texts.sketches.float_cell"),
            "numeric": NUMERIC_CELL, "variable": NUMERIC_CELL,
            "text bytea": Kernel("texts.sketches.text_cell"),
        },
    ),
    Function(
        "distinct_estimate", "", "bytea > int8", can_fail=False,
        kernel={"bytea": Kernel("texts.sketches.distinct_estimate")},
    ),
)  # fmt: skip
AGGREGATES = (
    Aggregate(
        "approx_count_distinct", "approx_count_distinct", "any > int8",
        ("approx_count_distinct(x) FROM (VALUES ('a'), ('b'), ('a'), (NULL)) t(x)", "2"),
        is_made=True, is_own=True, states={"any": "REGISTERS"},
    ),
    Aggregate(
        "distinct_registers", "", "int8 > bytea", duckdb=_registers, states={"int8": "REGISTERS"}, can_fail=False,
        is_own=True,
    ),
)  # fmt: skip
