"""Queries to relations: SELECT, VALUES and set operations.

The operators of a SELECT are stacked as PostgreSQL evaluates them: Filter, Aggregate, Filter
(HAVING), Window, set-returning functions, Project, Distinct, Sort, Limit. Keys and arguments of an
Aggregate address the FROM clause's columns directly, because continuous views are split there. What
is bound inside of a query, and binds queries in turn, gets `QUERIES` by its context.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sql import interrupts
from sql.bind.expressions.binder import Binder, settle
from sql.bind.expressions.coerce import refuse_wide_numbers, unify
from sql.bind.expressions.context import BindContext, Operand, ParameterTypes, QueryBinders
from sql.bind.expressions.placeholder_columns import FIRST_WINDOW, PlaceholderColumns, add_sets
from sql.bind.expressions.scope import Output, Scope, noted_scope, table_scope
from sql.bind.expressions.source_positions import start_of
from sql.bind.expressions.windows import over
from sql.bind.queries import grouping
from sql.bind.queries.common_tables import common_tables
from sql.bind.queries.finishing import Counts, Finish, cut, finish, placed_keys, without_hidden
from sql.bind.queries.from_clause import bind_from
from sql.bind.queries.gap_filling import with_gaps_filled
from sql.bind.queries.grouping import Keys, bind_group_by
from sql.bind.queries.limits import bind_counts
from sql.bind.queries.locking import bind_locked, locked_reads
from sql.bind.queries.origins import told_schema
from sql.bind.queries.outputs import (
    bare_name,
    bind_order,
    bind_target,
    column_outputs,
    common_types,
    converted,
    ordinal_place,
    output_item,
)
from sql.bind.queries.view_versions import bind_version
from sql.bind.sharing import settled
from sql.catalog.catalog import Catalog, SessionSettings
from sql.errors import SqlError, not_supported
from sql.parse.syntax import Body, Constant, Query, SelectBody, SetOperation, SortItem, ValuesBody
from sql.tree.expressions import AggregateCall, Column, Expression, Literal, SortKey
from sql.tree.relations import (
    Aggregate,
    BoundQuery,
    Filter,
    Join,
    OutputColumn,
    Project,
    Relation,
    Scan,
    Sort,
    Values,
    Window,
)
from sql.tree.relations import SetOperation as SetRelation
from sql.tree.walks import calls, map_all, map_expression, map_parts, scans
from sql.types.datatypes import SqlType


def bind_query(
    query: Query,
    catalog: Catalog,
    settings: SessionSettings,
    parameter_types: Sequence[SqlType | None] | None = None,
    locks: bool = False,
    versions: bool = False,
    untyped: bool = False,
) -> BoundQuery:
    """Return the typed tree of a query.

    `parameter_types` are those that the client gave (an item None or unknown: to be found; None
    instead of all: the statement came by the simple protocol and can have no parameters). locks:
    the caller that runs it can lock rows; versions: and read versions of views. untyped: constants
    in its select list need no type yet.
    """
    parameters = ParameterTypes(parameter_types)
    context = BindContext(catalog, settings, parameters, QUERIES, versions=[] if versions else None)
    root = settled(refuse_wide_numbers(bind_operand(query, context, untyped).relation, context))
    locked, read = locked_reads(context, root), tuple(context.versions or ())
    if locked and not locks:
        raise not_supported(f"{locked[0].locks[0].strength} in this statement", query.position)
    below = [*(one.root for one in locked), *(part for one in read for part in (one.root, one.since) if part)]
    roots = [root, *below]
    names = frozenset(scan.name for one in roots for scan in scans(one))
    names -= {*(one.name for one in locked), *(one.name for one in read), *(one.name for one in context.states)}
    stable = context.stable or bool(locked or read or context.states)
    found, named = context.references, frozenset(context.named)
    return BoundQuery(
        root,
        parameters.finish(),
        names,
        stable,
        named,
        locked,
        frozenset(found.used),
        frozenset(found.below),
        frozenset(found.columns),
        found.objects,
        frozenset(name for one in roots for name in calls(one)),
        told_schema(root, named, catalog),
        read,
        tuple(context.states),
    )


def bind_relation(query: Query, context: BindContext) -> Relation:
    """Return the relation of a query inside a statement."""
    return bind_operand(query, context, untyped=False).relation


def bind_operand(query: Query, context: BindContext, untyped: bool) -> Operand:
    """Return a query; untyped: constants in its select list need no type yet."""
    interrupts.check()
    if query.locking and not isinstance(query.body, Query):
        return bind_locked(query, context, bind_operand)
    with common_tables(query.common_tables, context):
        match query.body:
            case SelectBody():
                return bind_select(query, query.body, context, untyped)
            case ValuesBody():
                return bind_values_query(query, query.body, context)
            case SetOperation():
                return bind_set_query(query, query.body, context)
            case Query():
                return bind_nested(query, query.body, context, untyped)


def bind_body(body: Body, context: BindContext) -> Operand:
    """Return one side of a set operation; its constants may be untyped."""
    if isinstance(body, SetOperation):
        return bind_set_operation(body, context)
    if isinstance(body, Query):
        if body.locking:
            raise SqlError("0A000", f"{body.locking[0].strength} is not allowed with UNION/INTERSECT/EXCEPT")
        return bind_operand(body, context, untyped=True)
    return bind_operand(Query((), body, (), None, None, body.position), context, untyped=True)


def bind_nested(query: Query, inner: Query, context: BindContext, untyped: bool) -> Operand:
    """Bind (query) ORDER BY ... LIMIT ...: the outer clauses may not be there twice."""
    if inner.order_by and query.order_by:
        raise SqlError("42601", "multiple ORDER BY clauses not allowed", query.order_by[0].position)
    if (inner.limit and query.limit) or (inner.offset and query.offset):
        raise SqlError("42601", "multiple LIMIT clauses not allowed", query.position)
    merged = replace(
        inner,
        order_by=query.order_by or inner.order_by,
        limit=query.limit or inner.limit,
        offset=query.offset or inner.offset,
        with_ties=query.with_ties or inner.with_ties,
        locking=(*inner.locking, *query.locking),
    )
    return bind_operand(merged, context, untyped)


# As in PostgreSQL.
OUTPUTS_MAX = 1664

__all__ = ["bind_select", "bind_target"]


def bind_select(query: Query, body: SelectBody, context: BindContext, untyped: bool = False) -> Operand:
    """Return a SELECT with the clauses of its query; untyped: constants in its select list need no
    type yet.
    """
    joined, scope = bind_from(body.from_items, context)
    relation: Relation = joined
    binder = Binder(
        scope, context, "SELECT", PlaceholderColumns(), aggregates_allowed=True, windows_allowed=True,
        sets_allowed=True, windows=dict(body.windows),
    )  # fmt: skip
    untyped = untyped and not body.distinct
    outputs = [output for target in body.targets for output in bind_target(target, binder, untyped)]
    constants: dict[int, Expression] = {}
    if query.order_by or body.distinct_on or body.group_by:
        constants = {at: one.expression for at, one in enumerate(outputs) if is_untyped(one.expression)}
        outputs = [replace(one, expression=settle(one.expression, context)) for one in outputs]
    if len(outputs) > OUTPUTS_MAX:
        raise SqlError("54011", f"target lists can have at most {OUTPUTS_MAX} entries")
    if body.where is not None:
        relation = Filter(joined, Binder(scope, context, "WHERE", binder.virtual).bind_boolean(body.where))
    having = None
    if body.having is not None:
        plain = replace(binder, clause="HAVING", windows_allowed=False, sets_allowed=False)
        having = plain.bind_boolean(body.having)
    order = [bind_order(item, outputs, replace(binder, clause="ORDER BY")) for item in query.order_by]
    keys = bind_group_by(body, outputs, replace(binder, clause="GROUP BY"))
    on = [output_item(item, item.position, outputs, replace(binder, clause="DISTINCT ON")) for item in body.distinct_on]
    counts = bind_counts(query, scope, context)
    for name, definition in body.windows:
        check_window(name, definition.base, body)
        over(binder, definition)
    expressions = [*(output.expression for output in outputs), *(key.expression for key in order), *on]
    relation, expressions = grouped(relation, joined, keys, having, expressions, binder)
    relation, expressions = with_gaps_filled(relation, expressions, binder)
    relation, expressions = add_windows(relation, binder, expressions)
    relation, expressions = add_sets(relation, binder, expressions)
    width = len(outputs)
    named = tuple((output.name, item) for output, item in zip(outputs, expressions[:width], strict=True))
    ordered = expressions[width : width + len(order)]
    wanted = Finish(
        [replace(key, expression=item) for key, item in zip(order, ordered, strict=True)],
        [item.position for item in query.order_by],
        body.distinct,
        expressions[width + len(order) :],
        [start_of(item) for item in body.distinct_on],
        counts,
    )
    finished = finish(relation, named, wanted)
    # What a clause names has the type text by now; all other constants may still take another one.
    settled_by_clause = {id(one) for one in (*(key for _, key in keys.items), *(key.expression for key in order), *on)}
    constants = {at: one for at, one in constants.items() if id(outputs[at].expression) not in settled_by_clause}
    if constants:
        columns = enumerate(finished.schema)
        finished = Project(
            finished, tuple((one.name, constants.get(at, Column(at, one.name, one.type))) for at, one in columns)
        )
    return Operand(finished, tuple(map(place_of, outputs)))


def is_untyped(expression: Expression) -> bool:
    """Tell whether an expression is a constant without a type of its own."""
    return isinstance(expression, Literal) and expression.type.family == "unknown"


def place_of(output: Output) -> int:
    """Return where an output column is written, for errors about its type."""
    return output.position if output.syntax is None else start_of(output.syntax)


def check_window(name: str, base: str | None, body: SelectBody) -> None:
    """Raise an error unless a named window refers only to those before it."""
    earlier = []
    for other, _ in body.windows:
        if other == name:
            break
        earlier.append(other)
    if base is not None and base not in earlier:
        raise SqlError("42704", f'window "{base}" does not exist')


def grouped(
    relation: Relation,
    joined: Relation,
    keys: Keys,
    having: Expression | None,
    expressions: list[Expression],
    binder: Binder,
) -> tuple[Relation, list[Expression]]:
    """Put Aggregate (and HAVING) on the relation if the query groups.

    Return the expressions over its output.
    """
    virtual = binder.virtual
    assert virtual is not None, "a SELECT collects its aggregates"
    if not keys.written and not virtual.aggregates and having is None:
        return relation, expressions
    if virtual.aggregates:
        check_recursive_term(joined, virtual.aggregates[0][1])
    over = [*expressions, *([] if having is None else [having])]
    keys = grouping.with_dependent(keys, over, virtual, binder.scope)
    regroup = grouping.Regrouping(keys, virtual, binder.scope)
    found = [regroup.item(item) for item in expressions]
    condition = None if having is None else regroup.expression(having)
    virtual.windows = [(name, map_parts(call, regroup.change)) for name, call in virtual.windows]
    virtual.sets = [
        (name, replace(call, arguments=map_all(call.arguments, regroup.change))) for name, call in virtual.sets
    ]
    relation = Aggregate(relation, keys.items, regroup.calls, keys.sets)
    return (relation if condition is None else Filter(relation, condition)), found


def check_recursive_term(relation: Relation, call: AggregateCall) -> None:
    """Raise 42P19 for an aggregate over the rows that a recursive query found last."""
    if isinstance(relation, Scan) and relation.kind == "recursive":
        message = "aggregate functions are not allowed in a recursive query's recursive term"
        raise SqlError("42P19", message, call.position)
    if isinstance(relation, Join):
        check_recursive_term(relation.left, call)
        check_recursive_term(relation.right, call)


def add_windows(relation: Relation, binder: Binder, expressions: list[Expression]) -> tuple[Relation, list[Expression]]:
    """Put Window on the relation; return the expressions over its output."""
    virtual = binder.virtual
    assert virtual is not None, "a SELECT collects its window calls"
    if not virtual.windows:
        return relation, expressions
    width = len(relation.schema)

    def placed_window(node: Expression) -> Expression | None:
        if isinstance(node, Column) and FIRST_WINDOW <= node.index < 2 * FIRST_WINDOW:
            return Column(width + node.index - FIRST_WINDOW, node.name, node.type, node.position)
        return None

    virtual.sets = [
        (name, replace(call, arguments=map_all(call.arguments, placed_window))) for name, call in virtual.sets
    ]
    windowed = Window(relation, tuple(virtual.windows))
    return windowed, [map_expression(item, placed_window) for item in expressions]


def bind_set_operation(body: SetOperation, context: BindContext) -> Operand:
    """Return the rows of a set operation."""
    left = bind_body(body.left, context)
    right = bind_body(body.right, context)
    kinds = common_types(body, left, right, context)
    named = zip(left.relation.schema, kinds, strict=True)
    schema = tuple(OutputColumn(column.name, kind) for column, kind in named)
    sides = (converted(side, kinds, context) for side in (left, right))
    return Operand(SetRelation(body.operator, body.all, next(sides), next(sides), schema), left.places)


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


def bind_values_query(query: Query, body: ValuesBody, context: BindContext) -> Operand:
    """Return VALUES with the ORDER BY and the limits of its query."""
    values, places = bind_values(body, context)
    scope = table_scope("*VALUES*", [(column.name, column.type) for column in values.schema])
    scope = noted_scope(scope, id(body), context.references.text_notes)
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


QUERIES = QueryBinders(bind_relation, bind_body, bind_version)
