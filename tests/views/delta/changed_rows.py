"""Rows whose groups are kept by change: a stream of text, integer and decimal, and a model of its
groups in Python.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa

from ringbuffer.groups.hash_table import GroupTable
from sql.tree.expressions import AggregateCall, Column
from sql.tree.relations import OutputColumn
from sql.types.datatypes import INT8, TEXT, numeric, scaled_numeric
from views.model.arrow_schema import arrow_schema
from views.model.nodes import StreamPipeline
from views.upkeep.export.groups import read_groups
from views.upkeep.export.to_arrow import from_arrow, to_arrow
from views.upkeep.program import StreamProgram

INPUT = (OutputColumn("t", TEXT), OutputColumn("x", INT8), OutputColumn("p", numeric(8, 2)))
T, X, P = (Column(place, column.name, column.type) for place, column in enumerate(INPUT))
CALLS = (
    ("n", AggregateCall("count_star", (), INT8)),
    ("c", AggregateCall("count", (X,), INT8)),
    ("s", AggregateCall("sum", (X,), scaled_numeric(0))),
    ("q", AggregateCall("sum", (P,), scaled_numeric(2))),
)
GROUPS = (OutputColumn("t", TEXT), *(OutputColumn(name, call.type) for name, call in CALLS))
PIPELINE = StreamPipeline("changes", INPUT, (), (("t", T),), CALLS, GROUPS, "reject")
# The largest ones make sums of two words wrap.
VALUES = (None, 0, 1, -1, 5, 2**63 - 1, -(2**63))
TEXTS = (None, "", "a", "a text of more than twelve bytes")
Row = tuple[str | None, int | None, int | None]


def folded(program: StreamProgram, rows: list[Row]) -> GroupTable:
    """Return the groups of rows; p is in cents."""
    columns: list[Any] = [[row[0] for row in rows], [row[1] for row in rows]]
    cents = pa.array([row[2] for row in rows], pa.int64()).cast(pa.decimal128(38, 0))
    schema = arrow_schema(INPUT)
    prices = pa.Array.from_buffers(schema.types[2], len(rows), cents.cast(pa.decimal128(38, 0)).buffers())
    arrays = [pa.array(columns[0], schema.types[0]), pa.array(columns[1], schema.types[1]), prices]
    table = program.new_table()
    program.fold(from_arrow(pa.Table.from_arrays(arrays, schema=schema), INPUT), table, 0)
    return table


def answer(program: StreamProgram, table: GroupTable) -> dict[object, tuple[object, ...]]:
    """Return the groups that have rows."""
    rows = to_arrow(read_groups(table, program.grouping), GROUPS).to_pylist()
    found: dict[object, tuple[object, ...]] = {}
    for row in rows:
        total, price = row["s"], row["q"]
        if row["n"]:
            found[row["t"]] = (
                row["n"],
                row["c"],
                None if total is None else int(total),
                None if price is None else int(price.scaleb(2)),
            )
    return found


def model(rows: Counter[Row]) -> dict[object, tuple[object, ...]]:
    """Return the groups of a multiset."""
    found: dict[object, tuple[object, ...]] = {}
    for key in {row[0] for row in rows}:
        own = [row for row in rows.elements() if row[0] == key]
        xs = [x for _, x, _ in own if x is not None]
        ps = [p for *_, p in own if p is not None]
        found[key] = len(own), len(xs), sum(xs) if xs else None, sum(ps) if ps else None
    return found
