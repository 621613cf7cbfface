"""Composite values inside catalog queries: whole rows of FROM, rows that functions return, their
fields, and JSON of them.

A type of rows is 'record' with its fields after it (`record_type`); the embedded engine has such
values as structs.
"""

from __future__ import annotations

import json

from engine.system_catalog.printed import VECTORS, Printed, element_of, fields_of, quoted, record_type, string
from engine.system_catalog.queries import calls, casts, expressions, ordinary
from engine.system_catalog.queries.printing import Printing
from engine.system_catalog.queries.scopes import Scope
from sql.errors import SqlError, not_supported
from sql.parse.syntax import Expression, FieldSelection, FunctionCall


def print_field(printing: Printing, node: FieldSelection, scope: Scope) -> Printed:
    """Return a field of a composite value. Raises 42809 for a value without fields, 42703."""
    if isinstance(node.operand, FunctionCall) and calls.returns_rows(node.operand):
        operand = calls.unnested(printing, node.operand, scope)
    else:
        operand = expressions.print_expression(printing, node.operand, scope)
    fields = fields_of(operand.type)
    if fields is None:
        message = f"column notation .{node.name} applied to type {operand.type}, which is not a composite type"
        raise SqlError("42809", message, node.position)
    kind = next((kind for name, kind in fields if name == node.name), None)
    if kind is None:
        raise SqlError("42703", f'column "{node.name}" not found in data type record', node.position)
    return Printed(field_text(operand, node.name), kind)


def field_text(operand: Printed, name: str) -> str:
    """Return the text that reads a field."""
    return f"struct_extract({operand.text}, {string(name)})"


def row_value(columns: list[tuple[str, Printed]], position: int) -> Printed:
    """Return a row as a value. Raises 0A000 where two columns have one name.

    columns: names and values.
    """
    names = [name for name, _ in columns]
    if len({name.lower() for name in names}) < len(names):
        raise not_supported("a row with two columns of one name as a value in a query on the catalog", position)
    items = ", ".join(f"{quoted(name)} := {value.text}" for name, value in columns)
    return Printed(f"struct_pack({items})", record_type([(name, value.type) for name, value in columns]))


def row_to_json(printing: Printing, value: Printed, position: int) -> Printed:
    """Return row_to_json of a row."""
    fields = fields_of(value.type)
    if fields is None:
        raise not_supported("row_to_json of this value in a query on the catalog", position)
    names, texts = [], []
    for name, kind in fields:
        field = for_json(printing, Printed(field_text(value, name), kind), position)
        names.append(string(json.dumps(name, ensure_ascii=False)))
        texts.append(_json(printing, field, position))
    lists = ", ".join(f"CAST([{', '.join(items)}] AS VARCHAR[])" for items in (names, texts))
    return Printed(f"{calls.FUNCTION_PREFIX}json_of_row({printing.key}, {lists})", "json")


def for_json(printing: Printing, value: Printed, position: int) -> Printed:
    """Return a value as one of an ordinary type that looks the same in JSON. Raises 0A000."""
    if value.type in VECTORS:
        raise not_supported(f"JSON of {value.type} in a query on the catalog", position)
    if element_of(value.type) is not None and not ordinary.is_ordinary(value.type):
        return Printed(casts.print_list_as_texts(printing, value), "text[]")
    return casts.plain(printing, value, position)


def _json(printing: Printing, value: Printed, position: int) -> str:
    """Return a value as JSON."""

    def build(node: Expression) -> FunctionCall:
        return FunctionCall("to_json", (node,), position, "", "to_json")

    return ordinary.ordinary(printing, (value,), build, position).text
