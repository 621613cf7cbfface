"""Clauses of queries that PostgreSQL does not have, written with those that it has: QUALIFY, LIMIT
BY, TOP, ROWNUM, APPLY, LATERAL VIEW, DUAL, TUMBLE, HOP, PREWHERE, PIVOT.

Enters: the tree of a statement as it was read. Leaves: the same with clauses of PostgreSQL's;
expressions are not rewritten yet.
"""

from __future__ import annotations

from sqlglot import exp

from sql.dialects.aliases import has_aggregate, within, without_names
from sql.dialects.calls import bare, integer_of
from sql.dialects.context import POSTGRES_LIKE, Context
from sql.dialects.stars import expand, star_of, without_changes, without_pivots

# Names that the subqueries get which replace clauses.
ROWS = "_rows"
ENDS = ("order", "limit", "offset")


def with_clauses(tree: exp.Expr, context: Context) -> exp.Expr:
    """Return a statement whose queries have PostgreSQL's clauses alone. Raises 0A000."""
    for query in reversed(list(tree.find_all(exp.Select))):
        new = of_select(query, context)
        if new is not query:
            if query.parent is None:
                tree = new
            else:
                query.replace(new)
    for fetch in list(tree.find_all(exp.Fetch)):
        options = fetch.args.get("limit_options")
        if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
            raise context.refusal("FETCH with PERCENT or WITH TIES", fetch)
        fetch.replace(exp.Limit(expression=fetch.args.get("count") or exp.Literal.number(1)))
    return tree


def of_select(select: exp.Select, context: Context) -> exp.Expr:
    """Return a SELECT with PostgreSQL's clauses."""
    limit = select.args.get("limit")
    options = limit.args.get("limit_options") if limit is not None else None
    if limit is not None and options is not None:
        if options.args.get("percent") or options.args.get("with_ties"):
            raise context.refusal("TOP with PERCENT or WITH TIES", select)
        limit.set("limit_options", None)
    prewhere = select.args.get("prewhere")
    if prewhere is not None:
        add_condition(select, prewhere.this)
        select.set("prewhere", None)
    if context.dialect in ("oracle", "mysql"):
        without_dual(select)
    if context.dialect == "oracle":
        without_row_number(select, context)
    without_applies(select, context)
    without_views(select, context)
    without_time_windows(select, context)
    without_pivots(select, context)
    rollup(select)
    without_changes(select, context)
    if limit is not None and limit.expressions:
        by_limit(select, limit, context)
    without_names(select, context)
    return select if select.args.get("qualify") is None else without_qualify(select, context)


def add_condition(select: exp.Select, condition: exp.Expr) -> None:
    """Add a condition to WHERE."""
    where = select.args.get("where")
    both = (
        condition if where is None else exp.And(this=exp.Paren(this=where.this), expression=exp.Paren(this=condition))
    )
    select.set("where", exp.Where(this=both))


def without_dual(select: exp.Select) -> None:
    """Take FROM DUAL away."""
    source = select.args.get("from_")
    table = None if source is None else source.this
    if isinstance(table, exp.Table) and table.name.lower() == "dual" and not table.db and not select.args.get("joins"):
        select.set("from_", None)


def without_row_number(select: exp.Select, context: Context) -> None:
    """Write WHERE ROWNUM <= n as LIMIT. Raises 0A000 for other uses of ROWNUM."""
    where = select.args.get("where")
    conditions = list(where.this.flatten()) if where is not None and isinstance(where.this, exp.And) else []
    if where is not None and not conditions:
        conditions = [where.this]
    for condition in conditions:
        kept = bare(condition)
        if not isinstance(kept, exp.LT | exp.LTE) or not is_row_number(kept.this):
            continue
        count = integer_of(kept.expression)
        shaped = any(select.args.get(key) for key in ("group", "having", "distinct", *ENDS))
        if count is None or shaped or any(has_aggregate(one) for one in select.expressions):
            break
        rest = [one for one in conditions if one is not condition]
        select.set("where", None)
        for one in rest:
            add_condition(select, one)
        select.set("limit", exp.Limit(expression=exp.Literal.number(count - isinstance(kept, exp.LT))))
        break
    for one in (node for key, value in select.args.items() if key != "from_" for node in nodes_of(value)):
        if is_row_number(one):
            raise context.refusal("ROWNUM", one, "Write FETCH FIRST n ROWS ONLY, or row_number().")


def nodes_of(value: object) -> list[exp.Expr]:
    """Return the nodes of one argument that are of this query."""
    items = value if isinstance(value, list) else [value]
    return [one for item in items if isinstance(item, exp.Expr) for one in within(item)]


def is_row_number(node: exp.Expr | None) -> bool:
    """Tell whether a node is ROWNUM."""
    if isinstance(node, exp.Column):
        return node.name.lower() == "rownum" and not node.args["this"].args.get("quoted")
    return isinstance(node, exp.Pseudocolumn) and node.name.lower() == "rownum"


def without_applies(select: exp.Select, context: Context) -> None:
    """Write CROSS APPLY and OUTER APPLY as lateral joins."""
    for join in select.args.get("joins") or ():
        lateral = join.this
        if not isinstance(lateral, exp.Lateral) or lateral.args.get("cross_apply") is None:
            continue
        is_cross = lateral.args["cross_apply"]
        lateral.set("cross_apply", None)
        if not isinstance(lateral.this, exp.Subquery):
            raise context.refusal("APPLY with a function", lateral)
        if is_cross:
            join.set("kind", "CROSS")
        else:
            join.set("side", "LEFT")
            join.set("on", exp.Boolean(this=True))


def without_views(select: exp.Select, context: Context) -> None:
    """Write LATERAL VIEW explode(array) as a lateral join."""
    laterals = select.args.get("laterals") or []
    for lateral in laterals:
        call = lateral.this
        name = str(call.name).lower() if isinstance(call, exp.Anonymous) else ""
        alias = lateral.args.get("alias")
        if (
            name != "explode"
            or len(call.expressions) != 1
            or alias is None
            or len(alias.args.get("columns") or ()) != 1
        ):
            raise context.refusal("LATERAL VIEW but with explode() of an array and one column", lateral)
        unnest = exp.Unnest(expressions=[call.expressions[0].copy()], alias=alias.copy())
        join = exp.Join(this=unnest, kind="CROSS")
        if lateral.args.get("outer"):
            join = exp.Join(this=unnest, side="LEFT", on=exp.Boolean(this=True))
        select.append("joins", join)
    if laterals:
        select.set("laterals", None)


def without_time_windows(select: exp.Select, context: Context) -> None:
    """Write FROM TUMBLE(t, ts, size) as a subquery with window_start and window_end, and HOP(t, ts,
    slide, size) as Antumbra's.
    """
    for table in [one for one in select.find_all(exp.Table) if isinstance(one.this, exp.Anonymous)]:
        call = table.this
        name = str(call.name).lower()
        if name == "hop" and context.dialect in POSTGRES_LIKE and table.find_ancestor(exp.Select) is select:
            hop(table, context)
            continue
        if name != "tumble" or table.find_ancestor(exp.Select) is not select:
            continue
        if len(call.expressions) != 3:
            raise context.refusal("TUMBLE with an offset", call)
        source, time, size = call.expressions
        if not isinstance(source, exp.Column) or not isinstance(time, exp.Column) or not isinstance(size, exp.Interval):
            raise context.refusal("TUMBLE of what is not a relation, a column and an interval", call)
        relation = exp.Table(this=source.this.copy(), db=source.args.get("table") and source.args["table"].copy())
        begin = exp.Anonymous(this="DATE_BIN", expressions=[size.copy(), time.copy(), exp.Literal.string("1970-01-01")])
        end = exp.Add(this=begin.copy(), expression=size.copy())
        inner = exp.Select(
            expressions=[exp.Star(), exp.alias_(begin, "window_start"), exp.alias_(end, "window_end")],
            from_=exp.From(this=relation),
        )
        alias = table.args.get("alias") or exp.TableAlias(this=source.this.copy())
        subquery = exp.Subquery(this=inner, alias=alias.copy())
        for key in ("joins",):
            subquery.set(key, table.args.get(key))
        table.replace(subquery)


def hop(table: exp.Table, context: Context) -> None:
    """Write the relation of HOP as TABLE name. Raises 0A000 but for a column and intervals."""
    call = table.this
    places = [type(one) for one in call.expressions]
    if places[:2] != [exp.Column] * 2 or places[2:] not in ([exp.Interval] * 2, [exp.Interval] * 3):
        raise context.refusal("HOP of what is not a relation, a column and intervals", call)
    source = call.expressions[0]
    source.replace(exp.Var(this=f"TABLE {source.sql('postgres')}"))
    if table.args.get("alias") is None:
        table.set("alias", exp.TableAlias(this=source.this.copy()))


def rollup(select: exp.Select) -> None:
    """Write GROUP BY a, b WITH ROLLUP as GROUP BY ROLLUP (a, b)."""
    group = select.args.get("group")
    if group is None:
        return
    for key, kind in (("rollup", exp.Rollup), ("cube", exp.Cube)):
        found = group.args.get(key)
        if found and not found[0].expressions and group.expressions:
            group.set(key, [kind(expressions=group.expressions)])
            group.set("expressions", [])


def by_limit(select: exp.Select, limit: exp.Expr, context: Context) -> None:
    """Write LIMIT n BY columns as QUALIFY."""
    if select.args.get("distinct") or select.args.get("offset"):
        raise context.refusal("LIMIT BY beside DISTINCT or OFFSET", limit)
    order = select.args.get("order")
    window = exp.Window(
        this=exp.Anonymous(this="row_number"),
        partition_by=[one.copy() for one in limit.expressions],
        order=None if order is None else order.copy(),
        over="OVER",
    )
    select.set("qualify", exp.Qualify(this=exp.LTE(this=window, expression=limit.expression.copy())))
    select.set("limit", None)


def has_star(select: exp.Select) -> bool:
    """Tell whether * is in the select list."""
    return any(star_of(one) is not None for one in select.expressions)


def without_qualify(select: exp.Select, context: Context) -> exp.Expr:
    """Write QUALIFY as a condition above a subquery, or as DISTINCT ON beside *."""
    condition = select.args["qualify"].this
    select.set("qualify", None)
    ends = {key: select.args.get(key) for key in ENDS}
    for key in ENDS:
        select.set(key, None)
    if has_star(select) and (is_first_row(select, condition) or not expand(select, context)):
        return first_of_each(select, condition, ends, context)
    distinct = select.args.get("distinct")
    select.set("distinct", None)
    names = named_outputs(select, context)

    def outside(node: exp.Expr) -> exp.Expr:
        """Return the column by which the outer query has an expression of the inner one."""
        if isinstance(node, exp.Column) and not node.table and node.name.lower() in names:
            return exp.Column(this=names[node.name.lower()].copy())
        for place, item in enumerate(select.expressions):
            if isinstance(item, exp.Alias) and item.this == node:
                return exp.Column(this=select.expressions[place].args["alias"].copy())
        name = exp.to_identifier(f"_hidden_{len(select.expressions)}")
        select.append("expressions", exp.Alias(this=node.copy(), alias=name))
        return exp.Column(this=name.copy())

    outputs = [exp.Column(this=name.copy()) for name in names.values()]
    new_condition = lifted(condition.copy(), outside)
    order = ends["order"]
    for one in order.expressions if order is not None else ():
        if integer_of(one.this) is None:
            one.set("this", outside(one.this))
    return exp.Select(
        expressions=outputs,
        distinct=distinct,
        from_=exp.From(this=exp.Subquery(this=select.copy(), alias=exp.TableAlias(this=exp.to_identifier(ROWS)))),
        where=exp.Where(this=new_condition),
        **{key: value for key, value in ends.items() if value is not None},
    )


def named_outputs(select: exp.Select, context: Context) -> dict[str, exp.Expr]:
    """Give each output column a name; return the names as they are written."""
    names: dict[str, exp.Expr] = {}
    for place, item in enumerate(list(select.expressions)):
        if isinstance(item, exp.Alias):
            name = item.args["alias"]
        elif isinstance(item, exp.Column):
            name = item.this
        else:
            name = exp.to_identifier(f"_column_{place + 1}")
            item.replace(exp.Alias(this=item.copy(), alias=name))
        if name.name.lower() in names:
            raise context.refusal(f'QUALIFY beside two columns "{name.name}"', item)
        names[name.name.lower()] = name
    return names


def lifted(node: exp.Expr, outside: object) -> exp.Expr:
    """Return a condition over the outer query's columns."""
    assert callable(outside)
    if isinstance(node, exp.Window | exp.Column) or (has_aggregate(node) and isinstance(node, exp.Anonymous)):
        found: exp.Expr = outside(node)
        return found
    for child in list(node.iter_expressions()):
        if not isinstance(child, exp.Query | exp.Subquery):
            new = lifted(child, outside)
            if new is not child:
                child.replace(new)
    return node


def is_first_row(select: exp.Select, condition: exp.Expr) -> bool:
    """Tell whether a condition of QUALIFY keeps the first row of each group."""
    compared = bare(condition)
    window = compared.this if isinstance(compared, exp.EQ | exp.LTE) else None
    return (
        isinstance(window, exp.Window)
        and str(window.this.name).lower() == "row_number"
        and integer_of(compared.expression if compared is not None else None) == 1
        and not select.args.get("distinct")
        and not select.args.get("group")
    )


def first_of_each(
    select: exp.Select, condition: exp.Expr, ends: dict[str, exp.Expr | None], context: Context
) -> exp.Expr:
    """Write the QUALIFY of the first row of each group beside * as DISTINCT ON."""
    compared = bare(condition)
    if compared is None or not is_first_row(select, condition):
        raise context.refusal(
            "QUALIFY beside * but of row_number() = 1", condition, "Name the columns of the select list."
        )
    window = compared.this
    keys = [one.copy() for one in window.args.get("partition_by") or ()]
    order = window.args.get("order")
    sorted_by = [exp.Ordered(this=one.copy(), nulls_first=False) for one in keys]
    sorted_by += [one.copy() for one in (order.expressions if order is not None else ())]
    if keys:
        select.set("distinct", exp.Distinct(on=exp.Tuple(expressions=keys)))
    else:
        select.set("limit", exp.Limit(expression=exp.Literal.number(1)))
    if sorted_by:
        select.set("order", exp.Order(expressions=sorted_by))
    if not any(ends.values()):
        return select
    return exp.Select(
        expressions=[exp.Star()],
        from_=exp.From(this=exp.Subquery(this=select.copy(), alias=exp.TableAlias(this=exp.to_identifier(ROWS)))),
        **{key: value for key, value in ends.items() if value is not None},
    )
