"""Names of output columns where PostgreSQL knows none: in WHERE and HAVING, in expressions of GROUP
BY and ORDER BY, and beside themselves in the select list; and GROUP BY ALL.

Enters: a SELECT as it was read. Leaves: the same with the expressions in place of their names.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sql.dialects.calls import operand
from sql.dialects.context import POSTGRES_LIKE, Context
from sql.errors import SqlError

IN_WHERE = frozenset({"clickhouse", "duckdb", "snowflake"})
IN_LIST = frozenset({"clickhouse", "databricks", "duckdb", "snowflake", "spark"})
NOT_IN_HAVING = frozenset({"oracle", "trino", "tsql", *POSTGRES_LIKE})
# Where an output column's name hides that of a column.
FIRST_IN_GROUPS = frozenset({"bigquery", "clickhouse"})
# Names of names of names double the expression each time.
NODES_MAX = 50_000
AGGREGATES = frozenset(
    """
    count sum avg min max stddev stddev_samp stddev_pop variance var_samp var_pop corr covar_pop covar_samp count_if
    countif count_big any_value median approx_count_distinct approx_distinct array_agg max_by min_by arg_max arg_min
    argmax argmin bool_or bool_and boolor_agg booland_agg logical_or logical_and every stdev stdevp var varp
    percentile_cont percentile_disc quantile_cont quantile_disc mean std uniq uniqexact sumif avgif minif maxif any
    arbitrary hll collect_list regr_slope regr_intercept regr_r2 regr_count grouparray quantile stddevpop percentile
    """.split()
)
AGGREGATE_NODES = (exp.GroupConcat, exp.WithinGroup, exp.CombinedAggFunc, exp.ParameterizedAgg, exp.AnonymousAggFunc)


def is_aggregate(node: exp.Expr) -> bool:
    """Tell whether a node is a call of an aggregate."""
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower() in AGGREGATES
    return isinstance(node, AGGREGATE_NODES)


def has_aggregate(node: exp.Expr) -> bool:
    """Tell whether an aggregate of this query is in an expression."""
    return any(is_aggregate(one) and not isinstance(one.parent, exp.Window) for one in within(node))


def within(node: exp.Expr) -> list[exp.Expr]:
    """Return the nodes of an expression that are not of a query inside."""
    return list(node.walk(prune=lambda one: isinstance(one, exp.Query)))


def without_names(select: exp.Select, context: Context) -> None:
    """Put expressions in place of names of output columns, as the dialect reads them."""
    dialect = context.dialect
    group = select.args.get("group")
    if group is not None and group.args.get("all"):
        by_all(select, group, context)
    names: dict[str, exp.Expr] = {}
    if dialect in IN_LIST:
        for item in select.expressions:
            if isinstance(item, exp.Alias):
                replaced(item, "this", names, context, "the select list")
                names[item.alias.lower()] = item.this
            elif not isinstance(item, exp.Column):
                replaced_below(item, names, context, "the select list")
    names = {one.alias.lower(): one.this for one in select.expressions if isinstance(one, exp.Alias)}
    if dialect in IN_WHERE and select.args.get("where") is not None:
        replaced(select.args["where"], "this", names, context, "WHERE")
    if dialect not in NOT_IN_HAVING and select.args.get("having") is not None:
        keys = {
            one.name.lower() for one in (group.expressions if group is not None else ()) if isinstance(one, exp.Column)
        }
        replaced(select.args["having"], "this", names, context, "HAVING", keys)
    qualify = select.args.get("qualify")
    for window in within(qualify) if qualify is not None else ():
        if isinstance(window, exp.Window):
            replaced_below(window, names, context, "QUALIFY")
    for one in group.expressions if group is not None else ():
        if not isinstance(one, exp.Column):
            replaced_below(one, names, context, "GROUP BY")
        elif dialect in FIRST_IN_GROUPS and not one.table and one.name.lower() in names:
            found = names[one.name.lower()]
            if not isinstance(found, exp.Literal):
                one.replace(operand(found))
    order = select.args.get("order")
    for one in order.expressions if order is not None else ():
        if not isinstance(one.this, exp.Column):
            replaced_below(one.this, names, context, "ORDER BY")


def replaced(
    parent: exp.Expr,
    key: str,
    names: Mapping[str, exp.Expr],
    context: Context,
    where: str,
    keys: set[str] | None = None,
) -> None:
    """Replace names in one argument of a node, which may be a name itself."""
    node = parent.args[key]
    if isinstance(node, exp.Column):
        found = known(node, names, context, keys)
        if found is not None:
            parent.set(key, told(node, found, where, context))
        return
    replaced_below(node, names, context, where, keys)


def replaced_below(
    node: exp.Expr, names: Mapping[str, exp.Expr], context: Context, where: str, keys: set[str] | None = None
) -> None:
    """Replace names below a node, but in queries, and in HAVING in arguments of aggregates."""
    if not names:
        return
    for column in [one for one in within(node) if isinstance(one, exp.Column)]:
        if keys is not None and in_aggregate(column, node):
            continue
        found = known(column, names, context, keys)
        if found is not None and column.parent is not None:
            column.replace(told(column, found, where, context))


def in_aggregate(column: exp.Expr, end: exp.Expr) -> bool:
    """Tell whether a column is an argument of an aggregate, up to a node."""
    node = column.parent
    while node is not None and node is not end.parent:
        if is_aggregate(node):
            return True
        node = node.parent
    return False


def known(
    column: exp.Column, names: Mapping[str, exp.Expr], context: Context, keys: set[str] | None
) -> exp.Expr | None:
    """Return the expression of an output column that a name stands for, None for other columns."""
    name = column.name.lower()
    found = names.get(name)
    if found is None or column.args.get("table") is not None or column.parent is None:
        return None
    if isinstance(column.parent, exp.Anonymous) and isinstance(found, exp.Star):
        return None
    if keys is not None:
        # Not a key, and no argument of an aggregate: in HAVING no column of a table can stand here.
        return None if name in keys and not has_aggregate(found) else found
    if context.dialect == "clickhouse":
        # A name in its own expression is the column.
        return None if column is found or any(one is column for one in found.walk()) else found
    is_column = name in context.columns or any(
        isinstance(one, exp.Column) and one.name.lower() == name for one in found.walk()
    )
    return None if is_column else found


def told(column: exp.Expr, found: exp.Expr, where: str, context: Context) -> exp.Expr:
    """Return the expression that stands for a name, and warn of it.

    Raises 54001 where the statement becomes too long.
    """
    context.copied_count += sum(1 for _ in found.walk())
    if context.copied_count > NODES_MAX:
        raise SqlError("54001", "statement too complex", hint="Name fewer output columns in other ones.")
    context.note(f'"{column.name.lower()}" in {where} is taken for the output column of this name')
    return operand(found)


def by_all(select: exp.Select, group: exp.Expr, context: Context) -> None:
    """Write GROUP BY ALL out. Raises 0A000 where the keys are not columns of the select list."""
    keys = []
    for item in select.expressions:
        value = item.this if isinstance(item, exp.Alias) else item
        if isinstance(value, exp.Star) or (isinstance(value, exp.Column) and isinstance(value.this, exp.Star)):
            raise context.refusal("GROUP BY ALL beside *", item)
        inner = within(value)
        if any(isinstance(one, exp.Window) for one in inner):
            raise context.refusal("GROUP BY ALL beside functions of windows", item)
        if not has_aggregate(value):
            if any(isinstance(one, exp.Column) for one in inner):
                keys.append(value.copy())
            continue
        for one in inner:
            if isinstance(one, exp.Column) and not in_aggregate(one, value):
                raise context.refusal("GROUP BY ALL with columns beside aggregates in one expression", item)
    group.set("all", None)
    group.set("expressions", keys)
    if not keys:
        select.set("group", None)
