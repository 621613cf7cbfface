"""UNION, INTERSECT and EXCEPT: common types of the operands' columns; ORDER BY over what they yield together."""

from __future__ import annotations

from sql.bind import query as queries
from sql.bind.common_type import unify
from sql.bind.context import BindContext
from sql.bind.expressions import Binder
from sql.bind.finishing import Counts, cut
from sql.bind.limits import bind_counts
from sql.bind.operand import Operand, converted
from sql.bind.outputs import bare_name, ordinal_place
from sql.bind.scope import table_scope
from sql.errors import SqlError
from sql.parse.syntax import Constant, Query, SetOperation, SortItem
from sql.tree.expressions import Column, SortKey
from sql.tree.relations import OutputColumn, Relation, Sort
from sql.tree.relations import SetOperation as SetRelation
from sql.types.datatypes import SqlType


def bind_set_operation(body: SetOperation, context: BindContext) -> Operand:
    """Return the rows of a set operation."""
    left = queries.bind_body(body.left, context)
    right = queries.bind_body(body.right, context)
    kinds = common_types(body, left, right, context)
    named = zip(left.relation.schema, kinds, strict=True)
    schema = tuple(OutputColumn(column.name, kind) for column, kind in named)
    sides = (converted(side, kinds, context) for side in (left, right))
    return Operand(SetRelation(body.operator, body.all, next(sides), next(sides), schema), left.places)


def common_types(body: SetOperation, left: Operand, right: Operand, context: BindContext) -> list[SqlType]:
    """Return the type that each pair of columns has together, or raise 42601 or 42804."""
    word = body.operator.upper()
    if len(left.places) != len(right.places):
        message = f"each {word} query must have the same number of columns"
        raise SqlError("42601", message, min(right.places, default=None))
    kinds = []
    columns = zip(left.columns, right.columns, left.places, right.places, strict=True)
    for one, two, first_place, second_place in columns:
        kind, _ = unify([one, two], word, context, [first_place, second_place])
        if kind.family == "json" and not body.all:
            raise SqlError("42883", "could not identify an equality operator for type json", first_place)
        kinds.append(kind)
    return kinds


def bind_set_query(query: Query, body: SetOperation, context: BindContext) -> Operand:
    """Return a set operation with the ORDER BY and the limits of its query."""
    operand = bind_set_operation(body, context)
    relation = operand.relation
    keys = tuple(set_sort_key(item, relation, context) for item in query.order_by)
    scope = table_scope("", [(column.name, column.type) for column in relation.schema])
    scope.outer = context.outer
    counts = bind_counts(query, scope, context)
    return Operand(ordered(relation, keys, counts), operand.places)


def ordered(relation: Relation, keys: tuple[SortKey, ...], counts: Counts) -> Relation:
    """Return the relation in order and cut."""
    return cut(Sort(relation, keys) if keys else relation, keys, counts)


def set_sort_key(item: SortItem, relation: Relation, context: BindContext) -> SortKey:
    """Return a sort key of a set operation: an output column by name or number, nothing else."""
    node = item.expression
    nulls_first = item.descending if item.nulls_first is None else item.nulls_first
    wanted = bare_name(node)
    if wanted is not None:
        places = [index for index, column in enumerate(relation.schema) if column.name == wanted]
        if len(places) > 1:
            raise SqlError("42702", f'ORDER BY "{wanted}" is ambiguous', item.position)
        if places:
            return SortKey(output_column(places[0], relation), item.descending, nulls_first)
    if isinstance(node, Constant):
        place = ordinal_place(node, len(relation.schema), "ORDER BY")
        return SortKey(output_column(place, relation), item.descending, nulls_first)
    scope = table_scope("", [(column.name, column.type) for column in relation.schema])
    scope.tables = []
    scope.outer = context.outer
    found = Binder(scope, context, "ORDER BY").bind_value(node)
    if isinstance(found, Column):
        return SortKey(found, item.descending, nulls_first)
    message = "invalid UNION/INTERSECT/EXCEPT ORDER BY clause"
    detail = "Only result column names can be used, not expressions or functions."
    hint = "Add the expression/function to every SELECT, or move the UNION into a FROM clause."
    raise SqlError("0A000", message, item.position, detail=detail, hint=hint)


def output_column(index: int, relation: Relation) -> Column:
    column = relation.schema[index]
    return Column(index, column.name, column.type)
