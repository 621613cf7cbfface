"""Conversion between columns of kernels and Arrow tables, in the forms of
`views.model.arrow_schema`.

In a morsel a decimal of variable scale is two columns, the unscaled value and its scale; in Arrow
it is a struct of both. Must not know groups or plans.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ringbuffer.memory.arrow import morsel_from_arrow, morsel_to_arrow, slice_morsel
from ringbuffer.memory.columns import ColumnLayout, Layout, Morsel, PhysicalType
from sql.tree.relations import Schema
from views.model.arrow_schema import VARIABLE_NUMERIC, arrow_schema, value_form


def morsel_layout(schema: Schema) -> Layout:
    """Return the layout of the morsel that holds rows of `schema`: a decimal of variable scale is
    followed by its scale.
    """
    columns: list[ColumnLayout] = []
    for column in schema:
        kind = column.type
        physical = PhysicalType(kind.row.kernel)
        zoned = kind.family == "timestamptz"
        form = value_form(kind) if physical == PhysicalType.TEXT else None
        columns.append(ColumnLayout(column.name, physical, scale=kind.display_scale or 0, zoned=zoned, value_form=form))
        if kind.is_variable_numeric:
            columns.append(ColumnLayout(column.name, PhysicalType.INT16))
    return tuple(columns)


def morsel_places(schema: Schema) -> list[int]:
    """Return the place of each column of `schema` in the morsel.

    The scale of a decimal of variable scale comes right after the decimal.
    """
    places = []
    place = 0
    for column in schema:
        places.append(place)
        place += 2 if column.type.is_variable_numeric else 1
    return places


def to_arrow(morsel: Morsel, schema: Schema) -> pa.Table:
    """Return the rows of a morsel in arrow_schema(schema).

    Chunks have as many rows as Arrow can count the bytes of.
    """
    try:
        table = morsel_to_arrow(morsel, morsel_layout(schema))
    except OverflowError:
        middle = morsel.rows_count // 2
        halves = (
            slice_morsel(morsel, start, count) for start, count in ((0, middle), (middle, morsel.rows_count - middle))
        )
        return pa.concat_tables([to_arrow(half, schema) for half in halves])
    columns = []
    for column, place in zip(schema, morsel_places(schema), strict=True):
        array = _one_array(table.column(place))
        if column.type.is_variable_numeric:
            mask = pa.array(morsel.nulls[place] != 0)
            fields = [VARIABLE_NUMERIC.field(0), VARIABLE_NUMERIC.field(1)]
            scales = pa.array(morsel.data[place + 1], pa.int16())
            array = pa.StructArray.from_arrays([array, scales], fields=fields, mask=mask)
        columns.append(array)
    result = pa.Table.from_arrays(columns, schema=arrow_schema(schema))
    assert result.num_rows == morsel.rows_count, (result.num_rows, morsel.rows_count)
    return result


def from_arrow(table: pa.Table, schema: Schema) -> Morsel:
    """Return the rows of a table whose columns have the forms of arrow_schema(schema)."""
    columns: list[pa.Array | pa.ChunkedArray] = []
    for column, values in zip(schema, table.columns, strict=True):
        if not column.type.is_variable_numeric:
            columns.append(values)
            continue
        array = _one_array(values)
        # A NULL struct hides whatever its fields hold.
        columns.append(pc.struct_field(array, 0))
        columns.append(pc.fill_null(pc.struct_field(array, 1), np.int16(0)))
    layout = morsel_layout(schema)
    names = [column.name for column in layout]
    return morsel_from_arrow(pa.Table.from_arrays(columns, names=names), layout)


def _one_array(values: pa.ChunkedArray) -> pa.Array:
    if values.num_chunks == 1:
        return values.chunk(0)
    return pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)
