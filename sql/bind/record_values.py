"""Rows as values: ROW(...) and whole rows of tables, their fields, what their comparisons ask for.

Canonical names: 'row' of its items, and 'field' of (record, the place of the field as an int4). A row that is compared with another one
as it is written is no value: `sql.bind.rows` takes it apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sql.errors import SqlError, not_supported
from sql.names.relation_keys import shown_key
from sql.parse.syntax import FieldSelection, Name, Row, Star
from sql.tree.expressions import Call, Expression, Literal
from sql.types.casts import plain_name
from sql.types.datatypes import INT4, record_type
from sql.types.records import RecordType, field_type

if TYPE_CHECKING:
    from sql.bind.expressions import Binder


def row_value(binder: Binder, node: Row) -> Expression:
    """Bind ROW(...) where it is a value; a star stands for its columns."""
    from sql.bind.outputs import expand_star

    items: list[Expression] = []
    for item in node.items:
        if isinstance(item, Star):
            items += [output.expression for output in expand_star(item, binder.scope)]
        else:
            items.append(binder.bind(item))
    names = [f"f{number}" for number in range(1, len(items) + 1)]
    return record_value(items, names, node.position, node.text)


def record_value(
    items: Sequence[Expression], names: Sequence[str], position: int, text: str, relation: tuple[int, str] | None = None
) -> Expression:
    """Return items as one value with fields of these names. relation: oid and key of the relation whose row it is, if it is one."""
    fields = tuple((name, field_type(item.type)) for name, item in zip(names, items, strict=True))
    record = RecordType(fields) if relation is None else RecordType(fields, relation[0], shown_key(relation[1]))
    return Call("row", tuple(items), record_type(record), position, text)


def fields_of(operand: Expression) -> list[Expression]:
    """Return the fields of a record as expressions."""
    record = operand.type.record
    assert record is not None, operand
    if isinstance(operand, Call) and operand.function == "row":
        return list(operand.arguments)
    return [
        Call("field", (operand, Literal(place, INT4)), kind, operand.position if isinstance(operand, Call) else None)
        for place, kind in enumerate(record.types)
    ]


def field_selection(binder: Binder, node: FieldSelection) -> Expression:
    """Bind (record).name."""
    operand = binder.bind(node.operand)
    if isinstance(node.operand, Name) and isinstance(operand, Call) and operand.function == "row":
        column = replace(node.operand, parts=(*node.operand.parts, node.name), position=node.position)
        return binder.scope.qualified_column(column)
    record = operand.type.record
    if record is None or not operand.type.is_record:
        if operand.type.family == "unknown":
            raise not_supported("selection of a field of an untyped value", node.position)
        name = plain_name(operand.type)
        message = f"column notation .{node.name} applied to type {name}, which is not a composite type"
        raise SqlError("42809", message, node.position)
    for (name, _), field in zip(record.fields, fields_of(operand), strict=True):
        if name == node.name:
            return field
    if record.relation:
        raise SqlError("42703", f'column "{node.name}" not found in data type {record.name}', node.position)
    raise SqlError("42703", f'could not identify column "{node.name}" in record data type', node.position)


def check_alike(left: Expression, right: Expression) -> None:
    """Raise 42804 for records that can't be compared: PostgreSQL finds it out when it compares two rows."""
    one, two = left.type.record, right.type.record
    if one is None or two is None:
        return
    if len(one.fields) != len(two.fields):
        raise SqlError("42804", "cannot compare record types with different numbers of columns")
    for number, (first, second) in enumerate(zip(one.types, two.types, strict=True), 1):
        if first.family != second.family:
            names = f"{plain_name(first)} and {plain_name(second)}"
            raise SqlError("42804", f"cannot compare dissimilar column types {names} at record column {number}")
