"""Kernels' columns and Arrow into each other: every type, NULLs, decimals of variable scale, slices
and no rows.
"""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from sql.tree.relations import OutputColumn
from sql.types.datatypes import scaled_numeric
from tests.views.random_expressions import SCHEMA, arrow_rows, random_rows
from views.model.arrow_schema import arrow_schema
from views.upkeep.export.to_arrow import from_arrow, morsel_layout, morsel_places, to_arrow


@pytest.mark.parametrize("count", [0, 1, 200])
def test_there_and_back(count: int) -> None:
    table = arrow_rows(random_rows(random.Random(count), count))
    again = to_arrow(from_arrow(table, SCHEMA), SCHEMA)
    assert again.schema == arrow_schema(SCHEMA)
    # Compared as text, because NaN is not equal to itself.
    assert str(again.to_pydict()) == str(table.to_pydict())


def test_slices_and_pieces() -> None:
    table = arrow_rows(random_rows(random.Random(7), 90))
    pieces = pa.concat_tables([table.slice(10, 20), table.slice(50, 1), table.slice(70)])
    again = to_arrow(from_arrow(pieces, SCHEMA), SCHEMA)
    assert str(again.to_pydict()) == str(pieces.to_pydict())


def test_a_scale_follows_its_decimal() -> None:
    schema = (
        OutputColumn("a", scaled_numeric(None)),
        OutputColumn("b", scaled_numeric(3)),
        OutputColumn("c", scaled_numeric(None)),
    )
    assert morsel_places(schema) == [0, 2, 3]
    assert [column.scale for column in morsel_layout(schema)] == [0, 0, 3, 0, 0]
