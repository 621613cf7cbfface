"""Functions that return rows: in FROM, and in a select list, where they are a lateral join with all of them in lockstep.

Enters: calls. Leaves: `TableFunction`s with PostgreSQL's column names; in a select list columns that stand for a call's values
(`sql.bind.virtual`) until the join is made. A plain function in FROM is a projection of one row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sql.bind.closures import Closure
from sql.bind.operators import type_name
from sql.bind.polymorphic import converted, result_type
from sql.bind.scope import Scope, table_scope
from sql.bind.virtual import SETS, SetCall
from sql.errors import SqlError, not_supported
from sql.functions.overloads import AmbiguousError, choose
from sql.functions.scalars import JSON_MEMBERS, TABLE_FUNCTIONS
from sql.parse.syntax import FunctionCall, FunctionTable
from sql.tree.expressions import Column, Expression, Literal
from sql.tree.relations import Join, OutputColumn, Project, Relation, TableFunction, Values
from sql.tree.walks import map_expression
from sql.types.datatypes import INT8, TEXT, scaled_numeric

if TYPE_CHECKING:
    from sql.bind.context import BindContext
    from sql.bind.expressions import Binder

SET_FUNCTIONS = TABLE_FUNCTIONS | {
    name: column for columns in JSON_MEMBERS.values() for name, column in columns.items()
}
# Functions whose one column has a name of its own.
NAMED_VALUE = frozenset(f"{family}_array_elements{form}" for family in ("json", "jsonb") for form in ("", "_text"))
VALUE = "value"
MOVE_HINT = "You might be able to move the set-returning function into a LATERAL FROM item."


def bind_function_table(item: FunctionTable, scope: Scope, context: BindContext) -> tuple[Relation, Scope]:
    """Return the rows of a function in FROM, and their names. scope: what its arguments may use."""
    from sql.bind.expressions import Binder

    binder = Binder(scope, context, "functions in FROM", in_from=True)
    calls = spread(item.calls)
    alias = item.alias or item.calls[0].label
    names = [call.label for call in calls]
    if len(calls) == 1:
        names = [VALUE if calls[0].name in NAMED_VALUE else alias]
    if len(calls) == 1 and calls[0].name not in SET_FUNCTIONS:
        relation = single_row(binder, calls[0], names[0], item.ordinality)
    else:
        relation = function_rows(binder, calls, names, item.ordinality)
    schema = relation.schema
    if len(item.column_aliases) > len(schema):
        given = len(item.column_aliases)
        message = f'table "{alias}" has {len(schema)} columns available but {given} columns specified'
        raise SqlError("42P10", message)
    visible = [*item.column_aliases, *(column.name for column in schema[len(item.column_aliases) :])]
    named = zip(visible, schema, strict=True)
    is_value = len(calls) == 1 and not item.ordinality
    return relation, table_scope(alias, [(name, column.type) for name, column in named], is_value=is_value)


def spread(calls: tuple[FunctionCall, ...]) -> tuple[FunctionCall, ...]:
    """Return the calls with unnest of several arrays as one call for each, and members of JSON objects as one for names, one for values."""
    found: list[FunctionCall] = []
    for call in calls:
        if call.name in JSON_MEMBERS:
            columns = tuple(JSON_MEMBERS[call.name])
            found += [replace(call, name=column, label=column.split()[1]) for column in columns]
            continue
        if call.name == "unnest" and len(call.arguments) > 1:
            found += [replace(call, arguments=(argument,)) for argument in call.arguments]
        else:
            found.append(call)
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
        if call.name not in SET_FUNCTIONS:
            raise not_supported(f"the function {call.name} beside others in FROM", call.position)
        refuse_decorations(call)
        bound.append(resolve(binder, call))
    schema = [OutputColumn(name, call.type) for name, call in zip(names, bound, strict=True)]
    if ordinality:
        schema.append(OutputColumn("ordinality", INT8))
    return TableFunction(tuple((call.function, call.arguments) for call in bound), ordinality, tuple(schema))


def refuse_decorations(node: FunctionCall) -> None:
    """Raise what PostgreSQL says about DISTINCT, FILTER and OVER on a function that is no aggregate."""
    from sql.bind import calls

    if node.over is not None:
        message = f"OVER specified, but {node.name} is not a window function nor an aggregate function"
        raise SqlError("42809", message, node.position)
    calls.refuse_decorations(node)


def resolve(binder: Binder, node: FunctionCall) -> SetCall:
    """Return the canonical call and the type of its values."""
    from sql.bind.calls import MANY_HINT, NONE_HINT

    operands = [binder.bind(argument) for argument in node.arguments]
    families = [operand.type.family for operand in operands]
    written = f"{node.name.split()[0]}({', '.join(type_name(operand) for operand in operands)})"
    if families == ["unknown"] and node.name == "unnest":
        raise SqlError("42725", f"function {written} is not unique", node.position, hint=MANY_HINT)
    try:
        found = choose(SET_FUNCTIONS[node.name], families)
    except AmbiguousError:
        raise SqlError("42725", f"function {written} is not unique", node.position, hint=MANY_HINT) from None
    if found is None:
        raise SqlError("42883", f"function {written} does not exist", node.position, hint=NONE_HINT)
    if not found.canonical:
        raise not_supported(f"the function {written}", node.position)
    arguments = converted(found, operands, binder.context)
    kind = result_type(found, arguments, node.position)
    if found.result == "timestamptz":
        arguments.append(Literal(binder.context.settings.clock_zone, TEXT))
    if kind.family == "numeric":
        kind = scaled_numeric(None)
    return SetCall(found.canonical, tuple(arguments), kind, node.position)


def in_expression(binder: Binder, node: FunctionCall) -> Expression:
    """Return the column that stands for the values of a set-returning function in a select list."""
    refuse_decorations(node)
    if binder.in_from:
        raise SqlError("0A000", "set-returning functions must appear at top level of FROM", node.position)
    virtual = binder.virtual
    known = 0 if virtual is None else len(virtual.sets)
    call = resolve(binder, node)
    for inside, what in ((binder.inside_aggregate, "aggregate"), (binder.inside_window, "window")):
        if inside:
            message = f"{what} function calls cannot contain set-returning function calls"
            raise SqlError("0A000", message, node.position, hint=MOVE_HINT)
    if binder.clause == "window definitions":
        raise not_supported("a set-returning function in a window definition", node.position)
    if not binder.sets_allowed or virtual is None:
        raise SqlError("0A000", f"set-returning functions are not allowed in {binder.clause}", node.position)
    if len(virtual.sets) > known:
        raise not_supported("a set-returning function inside another one", node.position)
    return virtual.set_function(node.label, call)


def refuse_sets(binder: Binder, known: int, what: str) -> None:
    """Raise when a set-returning function was bound since there were `known` ones: CASE and COALESCE may have none."""
    if binder.virtual is not None and len(binder.virtual.sets) > known:
        position = binder.virtual.sets[-1][1].position
        raise SqlError("0A000", f"set-returning functions are not allowed in {what}", position, hint=MOVE_HINT)


def add_sets(relation: Relation, binder: Binder, expressions: list[Expression]) -> tuple[Relation, list[Expression]]:
    """Join the relation with its set-returning functions; return the expressions over the joined row."""
    virtual = binder.virtual
    if virtual is None or not virtual.sets:
        return relation, expressions
    width = len(relation.schema)
    # What the functions are given is evaluated over the row to their left.
    closure = Closure(binder)

    def handed(argument: Expression) -> Expression:
        return argument if isinstance(argument, Literal) else closure.take(argument, "", None)

    calls = tuple((call.function, tuple(handed(item) for item in call.arguments)) for _, call in virtual.sets)
    schema = tuple(OutputColumn(name, call.type) for name, call in virtual.sets)
    rows = TableFunction(calls, False, schema)
    joined = Join(relation, rows, "cross", None, tuple(closure.arguments) or None)

    def value(node: Expression) -> Expression | None:
        if isinstance(node, Column) and node.index >= SETS:
            return Column(width + node.index - SETS, node.name, node.type, node.position)
        return None

    return joined, [map_expression(item, value) for item in expressions]
