"""Constructs that need the columns of relations: * EXCEPT, EXCLUDE, REPLACE and RENAME become
columns by their names, PIVOT a grouping whose aggregates are filtered.

Enters: a SELECT whose subqueries are written with PostgreSQL's clauses. Leaves: the same without
these.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from sql.dialects.calls import number
from sql.dialects.context import Context

# Other names may be found in another way, or not at all.
FOLDED = re.compile(r"[a-z_][a-z0-9_]*")
CHANGES = ("except_", "replace", "rename")
HINT = "Name the columns: those of the relations in FROM are not known."
PIVOT_HINT = "Write GROUP BY with an aggregate FILTER (WHERE ...) for each value."


def without_changes(select: exp.Select, context: Context) -> None:
    """Write * with EXCEPT, REPLACE or RENAME as the columns that it means. Raises 0A000."""
    for item in list(select.expressions):
        star = star_of(item)
        if star is None or not any(star.args.get(key) for key in CHANGES):
            continue
        columns = columns_of_star(select, item, context)
        if columns is None:
            name = next(key for key in CHANGES if star.args.get(key)).strip("_").upper()
            raise context.refusal(f"* with {name}", item, HINT)
        place = select.expressions.index(item)
        select.expressions[place : place + 1] = changed(columns, star, context)
        select.set("expressions", select.expressions)


def expand(select: exp.Select, context: Context) -> bool:
    """Write every * as its columns, and tell whether all are known."""
    items: list[exp.Expr] = []
    for item in select.expressions:
        columns = columns_of_star(select, item, context) if star_of(item) is not None else [item]
        if columns is None:
            return False
        items += columns
    select.set("expressions", items)
    return True


def star_of(item: exp.Expr) -> exp.Star | None:
    """Return the star of * and t.*."""
    inner = item.this if isinstance(item, exp.Column) else item
    return inner if isinstance(inner, exp.Star) else None


def changed(columns: Sequence[exp.Column], star: exp.Star, context: Context) -> list[exp.Expr]:
    """Return the columns of a star as it changes them."""
    gone = {one.name.lower(): one for one in star.args.get("except_") or ()}
    replaced = {one.alias.lower(): one for one in star.args.get("replace") or ()}
    renamed = {one.this.name.lower(): one for one in star.args.get("rename") or ()}
    names = [column.name.lower() for column in columns]
    for one in (*gone, *replaced, *renamed):
        if names.count(one) != 1:
            raise context.refusal(f'"{one}" in a change of *, which has {names.count(one)} columns of this name', star)
    kept = [column for column in columns if column.name.lower() not in gone]
    items: list[exp.Expr] = []
    for column in kept:
        name = column.name.lower()
        value = replaced[name].this.copy() if name in replaced else column
        alias = renamed.get(name) or replaced.get(name)
        items.append(value if alias is None else exp.Alias(this=value, alias=alias.args["alias"].copy()))
    return items


def columns_of_star(select: exp.Select, item: exp.Expr, context: Context) -> list[exp.Column] | None:
    """Return the columns that * or t.* stands for, None where some are not known."""
    sources = sources_of(select)
    if sources is None:
        return None
    wanted = item.table.lower() if isinstance(item, exp.Column) else None
    chosen = [one for one in sources if wanted is None or one.alias_or_name.lower() == wanted]
    columns: list[exp.Column] = []
    for source in chosen:
        names = names_of(source, context)
        if names is None or (len(sources) > 1 and not source.alias_or_name):
            return None
        table = exp.to_identifier(source.alias_or_name) if len(sources) > 1 else None
        columns += [exp.Column(this=name.copy(), table=table and table.copy()) for name in names]
    return columns or None


def sources_of(select: exp.Select) -> list[exp.Expr] | None:
    """Return what FROM puts side by side; None where a join makes one column of two."""
    start = select.args.get("from_")
    joins = select.args.get("joins") or []
    if start is None or any(join.args.get("using") or join.args.get("method") for join in joins):
        return None
    if any(join.args.get("kind") in ("SEMI", "ANTI") for join in joins):
        return None
    return [start.this, *(join.this for join in joins)]


def names_of(source: exp.Expr, context: Context) -> list[exp.Identifier] | None:
    """Return the names of a relation's columns, None where they are not known."""
    alias = source.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        return list(alias.args["columns"])
    if source.args.get("pivots") or source.args.get("joins"):
        return None
    if isinstance(source, exp.Subquery):
        return outputs(source.this, context)
    if not isinstance(source, exp.Table) or not isinstance(source.this, exp.Identifier):
        return None
    common = None if source.db else common_of(source)
    if common is not None:
        columns = common.args["alias"].args.get("columns")
        return list(columns) if columns else outputs(common.this, context)
    schema = "" if context.dialect == "tsql" and source.db.lower() == "dbo" else source.db
    known = context.columns_of(tuple(part.lower() for part in (schema, source.name) if part))
    if not known or not all(map(FOLDED.fullmatch, known)):
        return None
    return [exp.to_identifier(name) for name in known]


def common_of(table: exp.Table) -> exp.CTE | None:
    """Return the item of the nearest WITH that a relation's name means."""
    node: exp.Expr | None = table.parent
    while node is not None:
        for common in node.args["with_"].expressions if node.args.get("with_") else ():
            if common.alias.lower() == table.name.lower() and table.find_ancestor(exp.CTE) is not common:
                assert isinstance(common, exp.CTE)
                return common
        node = node.parent
    return None


def outputs(query: exp.Expr, context: Context) -> list[exp.Identifier] | None:
    """Return the names of a query's columns, None where they are not known."""
    while isinstance(query, exp.SetOperation | exp.Subquery):
        query = query.this
    if not isinstance(query, exp.Select):
        return None
    found: list[exp.Identifier] = []
    for item in query.expressions:
        if star_of(item) is not None:
            columns = columns_of_star(query, item, context)
            if columns is None:
                return None
            found += [column.this for column in columns]
        elif isinstance(item, exp.Alias | exp.Column):
            found.append(item.args["alias"] if isinstance(item, exp.Alias) else item.this)
        else:
            return None
    return found


def without_pivots(select: exp.Select, context: Context) -> None:
    """Write PIVOT of a relation in FROM as a grouping. Raises 0A000."""
    start = select.args.get("from_")
    source = None if start is None else start.this
    pivots = [] if source is None else source.args.get("pivots") or []
    if source is None or not pivots:
        return
    pivot = pivots[0]
    if len(pivots) > 1 or pivot.args.get("unpivot") or len(pivot.args.get("fields") or ()) != 1:
        raise context.refusal("UNPIVOT, or PIVOT of several columns,", pivot, PIVOT_HINT)
    source.set("pivots", None)
    column, values = pivot.args["fields"][0].this, pivot.args["fields"][0].expressions
    names, outputs = names_of(source, context), pivot.args.get("columns") or []
    aggregates = pivot.expressions
    if names is None:
        raise context.refusal("PIVOT of a relation whose columns are not known", pivot, PIVOT_HINT)
    if not isinstance(column, exp.Column) or len(outputs) != len(values) * len(aggregates) or not values:
        raise context.refusal("PIVOT with these values", pivot, PIVOT_HINT)
    used = {one.name.lower() for part in (column, *aggregates) for one in part.find_all(exp.Column)}
    keys = [exp.Column(this=name.copy()) for name in names if name.name.lower() not in used]
    if not keys:
        raise context.refusal("PIVOT of all columns", pivot, PIVOT_HINT)
    items: list[exp.Expr] = [*keys]
    for value in values:
        for aggregate in aggregates:
            items.append(one_value(aggregate, column, value, outputs[len(items) - len(keys)], context))
    grouped = exp.Select(
        expressions=items, from_=exp.From(this=source.copy()), group=exp.Group(expressions=[one.copy() for one in keys])
    )
    alias = pivot.args.get("alias") or source.args.get("alias") or exp.TableAlias(this=exp.to_identifier("_pivot"))
    source.replace(exp.Subquery(this=grouped, alias=alias.copy()))


def one_value(aggregate: exp.Expr, column: exp.Column, value: exp.Expr, name: exp.Expr, context: Context) -> exp.Expr:
    """Return the aggregate of the rows with one value. Raises 0A000 for what is no constant."""
    call = aggregate.this if isinstance(aggregate, exp.Alias) else aggregate
    constant = value.this if isinstance(value, exp.PivotAlias | exp.Alias) else value
    if isinstance(constant, exp.Column) and context.dialect == "tsql":
        kind = context.columns.get(column.name.lower())
        text = constant.name
        constant = number(int(text)) if kind == "integer" and text.isdigit() else exp.Literal.string(text)
    if not isinstance(call, exp.Anonymous) or not isinstance(constant, exp.Literal):
        raise context.refusal("PIVOT with these values", value, PIVOT_HINT)
    condition = exp.EQ(this=column.copy(), expression=constant.copy())
    filtered = exp.Filter(this=call.copy(), expression=exp.Where(this=condition))
    return exp.Alias(this=filtered, alias=exp.to_identifier(name.name, quoted=name.args.get("quoted")))
