"""Functions that make JSON of any values: to_json, json_build_object, json_agg and their relatives.

Canonical names: 'json_of_value' of (zone, value, whether items stand on lines of their own), 'json_of_values' of (zone, values ...),
'json_of_pairs' of (zone, name of the function, keys and values ...); 'json_of_elements' and 'json_of_members' of (zone, array): what
array_agg has collected. zone is the session's time zone. jsonb is a cast of the json.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sql.bind.coerce import coerce, require_usual_form
from sql.bind.operators import type_name
from sql.errors import SqlError, not_supported
from sql.parse.syntax import FunctionCall, Row
from sql.tree.expressions import Call, Cast, Expression, Literal
from sql.types.casts import needs_zone
from sql.types.datatypes import BOOL, JSON, JSONB, TEXT, SqlType

if TYPE_CHECKING:
    from sql.bind.expressions import Binder

# Times have one form in JSON, whatever the session asks for.
TIMES = frozenset({"date", "timestamp", "timestamptz"})
AGGREGATED = {"json_agg": 1, "jsonb_agg": 1, "json_object_agg": 2, "jsonb_object_agg": 2}
NONE_HINT = "No function matches the given name and argument types. You might need to add explicit type casts."


def json_call(binder: Binder, node: FunctionCall) -> Expression:
    """Bind a call of one of JSON_FUNCTIONS."""
    from sql.bind.calls import refuse_decorations

    if node.name in AGGREGATED:
        made = _aggregate(binder, node)
    else:
        refuse_decorations(node)
        operands = [binder.bind(argument) for argument in node.arguments]
        made = JSON_FUNCTIONS[node.name](binder, node, operands)
    return Cast(made, JSONB, position=node.position) if "jsonb" in node.name else made


def _made(binder: Binder, node: FunctionCall, canonical: str, arguments: Sequence[Expression]) -> Call:
    for argument in arguments:
        _require_forms(binder, argument.type, node.position)
    settings = binder.context.settings
    shows_times = any(needs_zone(argument.type.family, "text") for argument in arguments)
    zone = Literal(settings.clock_zone if shows_times else settings.time_zone, TEXT)
    return Call(canonical, (zone, *arguments), JSON, node.position, node.text)


def _require_forms(binder: Binder, kind: SqlType, position: int) -> None:
    """Raise 0A000 for values whose texts the session wants in another form."""
    if kind.record is not None:
        for field in kind.record.types:
            _require_forms(binder, field, position)
    elif kind.family not in TIMES and not (kind.is_array and kind.element.family in TIMES):
        require_usual_form(kind, binder.context.settings, position)


def _to_json(binder: Binder, node: FunctionCall, operands: list[Expression]) -> Expression:
    if len(operands) != 1:
        raise _no_function(node, operands)
    return _value(binder, node, operands[0], Literal(False, BOOL))


def _row_to_json(binder: Binder, node: FunctionCall, operands: list[Expression]) -> Expression:
    if not operands or not operands[0].type.is_record:
        raise _no_function(node, operands)
    return _in_lines(binder, node, operands)


def _array_to_json(binder: Binder, node: FunctionCall, operands: list[Expression]) -> Expression:
    if not operands or not (operands[0].type.is_array or operands[0].type.family == "unknown"):
        raise _no_function(node, operands)
    return _in_lines(binder, node, operands)


def _in_lines(binder: Binder, node: FunctionCall, operands: list[Expression]) -> Expression:
    if len(operands) == 1:
        operands.append(Literal(False, BOOL))
    value, lines = operands if len(operands) == 2 else (None, None)
    if value is None or lines is None or lines.type.family not in ("bool", "unknown"):
        raise _no_function(node, operands)
    lines = coerce(lines, BOOL, binder.context)
    if not isinstance(lines, Literal):
        raise not_supported(f"{node.name} whose second argument is not a constant", node.position)
    return Literal(None, JSON) if lines.value is None else _value(binder, node, value, lines)


def _value(binder: Binder, node: FunctionCall, value: Expression, lines: Literal) -> Expression:
    _require_type(value)
    return _made(binder, node, "json_of_value", (value, lines))


def _require_type(value: Expression) -> None:
    if value.type.family == "unknown":
        raise SqlError("42804", "could not determine polymorphic type because input has type unknown")


def _build_array(binder: Binder, node: FunctionCall, operands: list[Expression]) -> Expression:
    return _made(binder, node, "json_of_values", _typed(binder, operands))


def _build_object(binder: Binder, node: FunctionCall, operands: list[Expression]) -> Expression:
    if len(operands) % 2:
        hint = f"The arguments of {node.name}() must consist of alternating keys and values."
        raise SqlError("22023", "argument list must have even number of elements", hint=hint)
    members = _typed(binder, operands)
    for key in members[::2]:
        _require_scalar(key.type)
    return _made(binder, node, "json_of_pairs", (Literal(node.name, TEXT), *members))


def _typed(binder: Binder, operands: Sequence[Expression]) -> list[Expression]:
    return [coerce(one, TEXT, binder.context) if one.type.family == "unknown" else one for one in operands]


def _require_scalar(key: SqlType) -> None:
    if key.is_array or key.is_record or key.family in ("json", "jsonb"):
        raise SqlError("22023", "key value must be scalar, not array, composite, or json")


def _aggregate(binder: Binder, node: FunctionCall) -> Expression:
    """Bind an aggregate as what array_agg collects, written as JSON."""
    from sql.bind.calls import call

    if len(node.arguments) != AGGREGATED[node.name]:
        raise _no_function(node, [binder.bind(argument) for argument in node.arguments])
    if len(node.arguments) == 1:
        value = replace(binder, inside_aggregate=True).bind(node.arguments[0])
        _require_type(value)
        if value.type.is_array:
            raise not_supported(f"{node.name} of arrays", node.position)
        return _made(binder, node, "json_of_elements", [call(binder, replace(node, name="array_agg"))])
    if node.distinct:
        raise not_supported(f"{node.name} with DISTINCT", node.position)
    pair = Row(node.arguments, node.position, node.text)
    rows = call(binder, replace(node, name="array_agg", arguments=(pair,)))
    assert rows.type.record is not None, rows
    _require_scalar(rows.type.record.types[0])
    return _made(binder, node, "json_of_members", [rows])


def _no_function(node: FunctionCall, operands: Sequence[Expression]) -> SqlError:
    written = f"{node.name}({', '.join(type_name(operand) for operand in operands)})"
    return SqlError("42883", f"function {written} does not exist", node.position, hint=NONE_HINT)


JSON_FUNCTIONS: Mapping[str, Callable[[Binder, FunctionCall, list[Expression]], Expression]] = {
    "to_json": _to_json,
    "to_jsonb": _to_json,
    "row_to_json": _row_to_json,
    "array_to_json": _array_to_json,
    "json_build_array": _build_array,
    "jsonb_build_array": _build_array,
    "json_build_object": _build_object,
    "jsonb_build_object": _build_object,
}
JSON_NAMES = JSON_FUNCTIONS.keys() | AGGREGATED.keys()
