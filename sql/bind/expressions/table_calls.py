"""Functions in FROM: those that return rows, side by side in ROWS FROM, and those of one value.

Enters: syntax, the binder of the arguments. Leaves: relations, with the names that they give.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sql.bind.expressions import user_functions, user_overloads
from sql.bind.expressions.calls import chosen, refuse_set_decorations, resolve_set, value_of_call
from sql.bind.expressions.placeholder_columns import SetCall
from sql.bind.expressions.scope import Scope, fields_of, table_scope
from sql.bind.expressions.user_overloads import OwnSignature
from sql.errors import SqlError, not_supported
from sql.functions.table import SET_NAMES
from sql.parse.syntax import FunctionCall, FunctionTable
from sql.tree.expressions import Call, Cast, Column, Expression, Literal, WindowCall
from sql.tree.relations import OutputColumn, Project, Relation, TableFunction, Values, Window
from sql.types.datatypes import INT8, array_of, scaled_numeric

if TYPE_CHECKING:
    from sql.bind.expressions.binder import Binder


def bind_function_table(item: FunctionTable, binder: Binder) -> tuple[Relation, Scope]:
    """Return the rows of a function in FROM, and their names.

    binder: for the arguments of the function.
    """
    calls = spread(item.calls)
    alias = item.alias or item.calls[0].label
    if len(calls) == 1 and user_overloads.candidates(binder.context.catalog, binder.context.settings, calls[0]):
        return user_function_table(item, alias, binder)
    names = [call.label for call in calls]
    first = SET_NAMES.get(calls[0].name)
    if len(calls) == 1:
        names = [(first and first.column) or alias]
    if len(calls) == 1 and first is None:
        relation = single_row(binder, calls[0], names[0], item.ordinality)
    else:
        relation = with_fields(function_rows(binder, calls, names, item.ordinality), calls)
    is_value = len(calls) == 1 and not item.ordinality and not (first and first.of_rows)
    return named_table(item, alias, relation, is_value)


def user_function_table(item: FunctionTable, alias: str, binder: Binder) -> tuple[Relation, Scope]:
    """Return the rows of a function that may be a user's, and their names."""
    (node,) = item.calls
    found, operands = chosen(binder, node)
    if isinstance(found, OwnSignature):
        relation = user_functions.rows_of_call(binder, node, found, operands, alias)
    else:
        value = value_of_call(binder, node, found, operands)
        relation = Project(Values(((),), ()), ((alias, value),))
    is_value = len(relation.schema) == 1 and not item.ordinality
    if item.ordinality:
        relation = Window(relation, (("ordinality", WindowCall("row_number", (), INT8)),))
    return named_table(item, alias, relation, is_value)


def named_table(item: FunctionTable, alias: str, relation: Relation, is_value: bool) -> tuple[Relation, Scope]:
    """Return the rows of functions, and their names as a FROM clause gives them."""
    schema = relation.schema
    if len(item.column_aliases) > len(schema):
        given = len(item.column_aliases)
        message = f'table "{alias}" has {len(schema)} columns available but {given} columns specified'
        raise SqlError("42P10", message)
    visible = [*item.column_aliases, *(column.name for column in schema[len(item.column_aliases) :])]
    named = zip(visible, schema, strict=True)
    return relation, table_scope(alias, [(name, column.type) for name, column in named], is_value=is_value)


def with_fields(relation: Relation, calls: tuple[FunctionCall, ...]) -> Relation:
    """Return the rows of functions with a column for each field of the rows that some return."""
    if not any(map(has_fields, calls)):
        return relation
    items: list[tuple[str, Expression]] = []
    for index, column in enumerate(relation.schema):
        value = Column(index, column.name, column.type)
        if index < len(calls) and has_fields(calls[index]):
            assert column.type.record is not None, column
            items += [(name, one) for (name, _), one in zip(column.type.record.fields, fields_of(value), strict=True)]
        else:
            items.append((column.name, value))
    return Project(relation, tuple(items))


def has_fields(call: FunctionCall) -> bool:
    """Tell whether the rows of a function are records, whose fields are the columns."""
    return call.name in SET_NAMES and SET_NAMES[call.name].of_rows


def spread(calls: tuple[FunctionCall, ...]) -> tuple[FunctionCall, ...]:
    """Return the calls with unnest of several arrays as one call for each array.

    Members of JSON objects are one call for names, one for values.
    """
    found: list[FunctionCall] = []
    for call in calls:
        columns = SET_NAMES[call.name].columns if call.name in SET_NAMES else ()
        if columns:
            found += [replace(call, name=column, label=column.split()[1]) for column in columns]
            continue
        takes_many = call.name in SET_NAMES and SET_NAMES[call.name].takes_many
        # A call that stays one is known by its id.
        is_one = not takes_many or len(call.arguments) < 2
        found += [call] if is_one else [replace(call, arguments=(argument,)) for argument in call.arguments]
    return tuple(found)


def single_row(binder: Binder, node: FunctionCall, name: str, ordinality: bool) -> Relation:
    """Return a function that yields one value as a relation of one row."""
    items: list[tuple[str, Expression]] = [(name, binder.bind_value(node))]
    if ordinality:
        items.append(("ordinality", Literal(1, INT8)))
    return Project(Values(((),), ()), tuple(items))


def function_rows(binder: Binder, calls: tuple[FunctionCall, ...], names: list[str], ordinality: bool) -> Relation:
    """Return the rows of set-returning functions side by side."""
    bound = []
    for call in calls:
        refuse_set_decorations(call)
        if call.name not in SET_NAMES:
            bound.append(beside_others(binder, call))
            continue
        if call.variadic:
            raise not_supported("VARIADIC", call.position)
        bound.append(resolve_set(binder, call))
    schema = [OutputColumn(name, call.type) for name, call in zip(names, bound, strict=True)]
    if ordinality:
        schema.append(OutputColumn("ordinality", INT8))
    return TableFunction(tuple((call.function, call.arguments) for call in bound), ordinality, tuple(schema))


def beside_others(binder: Binder, node: FunctionCall) -> SetCall:
    """Return the call of a function of a user's, or of one value, as that of the elements of an
    array.
    """
    found, operands = chosen(binder, node)
    if isinstance(found, OwnSignature) and user_functions.is_set(found):
        return user_functions.set_call(binder, node, found, operands)
    if isinstance(found, OwnSignature) and (found.function is None or found.function.returns_set):
        raise not_supported(f"the function {node.name} beside others in FROM", node.position)
    value = binder.bind_value(node)
    if value.type.is_array or value.type.record is not None:
        raise not_supported(f"the function {node.name} beside others in FROM", node.position)
    if value.type.family == "numeric":
        value = Cast(value, scaled_numeric(None))
    return SetCall("unnest", (Call("array", (value,), array_of(value.type)),), value.type, node.position)
