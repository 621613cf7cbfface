"""Inputs that a cursor keeps registered: as many as a statement has, then no more than a bound."""

from __future__ import annotations

import pyarrow as pa

from engine.embedded.query_engine import INPUTS_PER_CURSOR_MAX, QueryEngine
from sql.tree.relations import OutputColumn, Relation, Scan, SetOperation
from sql.types.datatypes import INT8

SCHEMA = (OutputColumn("n", INT8),)


def test_a_statement_may_read_more_views_than_are_kept() -> None:
    engine = QueryEngine(1 << 28)
    names = [f"view{number}" for number in range(INPUTS_PER_CURSOR_MAX + 6)]
    inputs = {name: pa.table({"n": pa.array([number], pa.int64())}) for number, name in enumerate(names)}
    root: Relation = Scan(names[0], "view", SCHEMA)
    for name in names[1:]:
        root = SetOperation("union", True, root, Scan(name, "view", SCHEMA), SCHEMA)
    for _ in range(2):
        assert sorted(engine.run(root, inputs).column(0).to_pylist()) == list(range(len(names)))
        (cursor,) = engine._idle
        assert len(cursor.inputs) == INPUTS_PER_CURSOR_MAX
