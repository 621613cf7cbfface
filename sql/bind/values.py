"""VALUES: rows of expressions with one type per column; the columns are called column1, column2, ..."""

from __future__ import annotations

from sql.bind.common_type import unify
from sql.bind.context import BindContext
from sql.bind.expressions import Binder
from sql.bind.finishing import cut, placed_keys, without_hidden
from sql.bind.limits import bind_counts
from sql.bind.operand import Operand
from sql.bind.outputs import bind_order, column_outputs
from sql.bind.places import start_of
from sql.bind.scope import Scope, table_scope
from sql.errors import SqlError
from sql.parse.syntax import Query, ValuesBody
from sql.tree.expressions import Expression
from sql.tree.relations import OutputColumn, Project, Sort, Values


def bind_values_query(query: Query, body: ValuesBody, context: BindContext) -> Operand:
    """Return VALUES with the ORDER BY and the limits of its query."""
    values, places = bind_values(body, context)
    scope = table_scope("*VALUES*", [(column.name, column.type) for column in values.schema])
    scope.outer = context.outer
    binder = Binder(scope, context, "ORDER BY")
    outputs = column_outputs(scope)
    order = [bind_order(item, outputs, binder) for item in query.order_by]
    counts = bind_counts(query, scope, context)
    named = tuple((output.name, output.expression) for output in outputs)
    keys, hidden = placed_keys(order, named)
    below = Project(values, (*named, *hidden)) if hidden else values
    relation = cut(Sort(below, keys) if keys else below, keys, counts)
    return Operand(without_hidden(relation, len(named)), places)


def bind_values(body: ValuesBody, context: BindContext) -> tuple[Values, tuple[int, ...]]:
    """Return VALUES, and where the first row's items are written."""
    binder = Binder(Scope(outer=context.outer), context, "VALUES")
    columns: list[list[Expression]] = [[] for _ in body.rows[0]]
    for row in body.rows:
        if len(row) != len(columns):
            raise SqlError("42601", "VALUES lists must all be the same length", row_place(row, body))
        for column, item in zip(columns, row, strict=True):
            if item is None:
                raise SqlError("42601", "DEFAULT is not allowed in this context", body.position)
            column.append(binder.bind(item))
    schema = []
    converted = []
    for index, column in enumerate(columns):
        places = [start_of(item) for row in body.rows if (item := row[index]) is not None]
        kind, values = unify(column, "VALUES", context, places)
        schema.append(OutputColumn(f"column{index + 1}", kind))
        converted.append(values)
    first = tuple(start_of(item) for item in body.rows[0] if item is not None)
    return Values(tuple(zip(*converted, strict=True)), tuple(schema)), first


def row_place(row: tuple[object, ...], body: ValuesBody) -> int:
    """Return where a row of VALUES begins, as well as it is known."""
    return getattr(row[0], "position", body.position) if row else body.position
