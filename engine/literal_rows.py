"""Rows of constants as an Arrow table, without the engine: the VALUES of an INSERT once its parameters are known.

Enters: the source of a bound INSERT. Leaves: whole rows of the table, or None where something has to be computed.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from engine.arrow_values import column_array
from sql.catalog import RelationDescription
from sql.expressions import Cast, Column, Expression, Literal, LiteralValue
from sql.relations import Project, Relation, Values


def literal_rows(source: Relation, relation: RelationDescription) -> pa.Table | None:
    """Return the rows, if they are all constants: VALUES of literals, with literals as defaults around them."""
    columns = relation.columns
    items: Sequence[Expression]
    if isinstance(source, Values):
        values, items = source, [Column(index, "", column.type) for index, column in enumerate(source.schema)]
    elif isinstance(source, Project) and isinstance(source.input, Values):
        values, items = source.input, [item for _, item in source.items]
    else:
        return None
    if any(not isinstance(item, Literal) for row in values.rows for item in row):
        return None
    arrays = []
    for item, column in zip(items, columns, strict=True):
        found = column_values(item, values)
        if found is None:
            return None
        arrays.append(column_array(found, column.type))
    return pa.Table.from_arrays(arrays, names=[column.name for column in columns])


def column_values(item: Expression, values: Values) -> list[LiteralValue] | None:
    """Return the constants of one column; None if they are to be computed."""
    if isinstance(item, Cast) and item.type.is_variable_numeric and item.operand.type.family == "numeric":
        # Only the physical form changes, which `column_array` gives.
        item = item.operand
    if isinstance(item, Literal):
        return [item.value] * len(values.rows)
    if not isinstance(item, Column):
        return None
    return [literal.value for row in values.rows if isinstance(literal := row[item.index], Literal)]
