"""Rows of constants as an Arrow table, without the engine: the VALUES of an INSERT with its
parameters.

Enters: the source of a bound INSERT. Leaves: whole rows of the table, or None where something has
to be computed. The conversions that assignment puts around a constant are done here where they only
apply a length or (p,s), widen an integer, or are those of drivers: an integer or a float8 for
another number.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pyarrow as pa

from engine.embedded.columnless import rows_alone
from engine.tables.arrow_values import column_array
from sql.catalog.catalog import RelationDescription
from sql.tree.expressions import Cast, Column, Expression, Literal
from sql.tree.relations import Project, Relation, Values
from sql.types.datatypes import LiteralValue
from sql.values.literals import apply_modifier

STRINGS = frozenset({"text", "varchar"})
INTEGER_BITS = {"int2": 15, "int4": 31, "int8": 63}


class NotConstantError(Exception):
    """An item of VALUES that the engine has to compute."""


def plain_float(value: float) -> bool:
    """Tell whether a float8 is a numeric of a few digits; the engine does the others."""
    return value == 0 or 1e-9 <= abs(value) < 1e15


def literal_rows(source: Relation, relation: RelationDescription) -> pa.Table | None:
    """Return the rows of VALUES, if they and the defaults are all literals."""
    columns = relation.columns
    if not columns:
        return rows_alone(len(source.rows)) if isinstance(source, Values) else None
    items: Sequence[Expression]
    if isinstance(source, Values):
        values, items = source, [Column(index, "", column.type) for index, column in enumerate(source.schema)]
    elif isinstance(source, Project) and isinstance(source.input, Values):
        values, items = source.input, [item for _, item in source.items]
    else:
        return None
    try:
        arrays = [
            column_array(column_values(item, values), column.type) for item, column in zip(items, columns, strict=True)
        ]
    except NotConstantError:
        return None
    return pa.Table.from_arrays(arrays, names=[column.name for column in columns])


def column_values(item: Expression, values: Values) -> list[LiteralValue]:
    """Return the constants of one column."""
    if isinstance(item, Cast) and item.type.is_variable_numeric and item.operand.type.family == "numeric":
        # Only the physical form changes, which `column_array` gives.
        item = item.operand
    if isinstance(item, Column):
        return [constant(row[item.index]) for row in values.rows]
    return [constant(item)] * len(values.rows)


def constant(item: Expression) -> LiteralValue:
    """Return the value of a literal, or of a literal in a simple conversion.

    Raises 22001 and 22003 as the conversion does.
    """
    if isinstance(item, Literal):
        return item.value
    if not isinstance(item, Cast) or not isinstance(item.operand, Literal):
        raise NotConstantError
    value, source, target = item.operand.value, item.operand.type.family, item.type.family
    if value is None:
        return None
    if (source == target == "numeric") or (source in STRINGS and target in STRINGS):
        return apply_modifier(value, item.type, None, item.explicit)
    if source in INTEGER_BITS and target in INTEGER_BITS and isinstance(value, int):
        limit = 1 << INTEGER_BITS[target]
        if -limit <= value < limit:
            return value
    if source in INTEGER_BITS and target == "float8" and isinstance(value, int):
        return float(value)
    if source == "float8" and target == "numeric" and isinstance(value, float) and plain_float(value):
        return apply_modifier(Decimal(f"{value + 0.0:.15g}"), item.type, None, item.explicit)
    raise NotConstantError
