"""SELECT with FOR UPDATE and the like: a read that a statement makes before it runs.

The rows of the read take its place.

Enters: a query with locking clauses. Leaves: a scan of kind 'rows', and in the context a
`LockedRead` that yields them, each with the identities of the rows of tables that are to be locked.
PostgreSQL's errors for queries that can't be locked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import replace

from sql.bind.expressions.context import BindContext, Operand
from sql.catalog.catalog import RelationDescription
from sql.catalog.schemas import find_relation
from sql.errors import SqlError, not_supported
from sql.parse.grammar.cursor import relation_of
from sql.parse.syntax import (
    Derived,
    FromItem,
    FunctionTable,
    JoinClause,
    Locking,
    Name,
    Query,
    SelectBody,
    Table,
    Target,
    ValuesBody,
    WindowedTable,
)
from sql.tree.relations import (
    ROW_ID,
    Aggregate,
    Filter,
    Limit,
    LockedRead,
    Project,
    Relation,
    RowLock,
    Scan,
    Sort,
    Window,
)
from sql.tree.walks import open_columns, scans

STRENGTHS = ("FOR KEY SHARE", "FOR SHARE", "FOR NO KEY UPDATE", "FOR UPDATE")
KINDS = {
    "stream": "foreign table",
    "view": "view",
    "sequence": "sequence",
    "statistics": "view",
    "catalog": "system catalog",
}
STREAM_HINT = "What is in a stream stays as it is."


def bind_locked(query: Query, context: BindContext, bind_operand: Callable[..., Operand]) -> Operand:
    """Return the scan that stands for a query with locking clauses. bind_operand: binds the query
    without them.
    """
    first = query.locking[0]
    check_body(query, first)
    if context.settings.is_shared:
        raise not_supported(f"{first.strength} in a definition", first.position)
    body = query.body
    assert isinstance(body, SelectBody), "checked"
    tables = locked_tables(query, body, context)
    saved, context.identified = context.identified, context.identified | {table.position for table, _ in tables}
    hidden = tuple(
        Target(Name((alias_of(table), ROW_ID.name), table.position), None, table.position) for table, _ in tables
    )
    try:
        found = bind_operand(
            replace(query, body=replace(body, targets=(*body.targets, *hidden)), locking=()), context, False
        )
    except SqlError as error:
        if error.sqlstate == "42803":
            # An identity beside an aggregate; the query by itself gives the error.
            check_tree(bind_operand(replace(query, locking=()), context, False).relation, first)
        raise
    finally:
        context.identified = saved
    check_tree(found.relation, first)
    if not tables:
        return found
    if any(True for _ in open_columns(found.relation)):
        raise not_supported(f"{first.strength} in a subquery that uses columns from outside", first.position)
    root, width = found.relation, len(found.relation.schema) - len(hidden)
    locks = tuple(
        RowLock(relation.name, width + index, clause.strength, clause.wait)
        for index, (table, clause) in enumerate(tables)
        if (relation := described(table, context)) is not None
    )
    name = f"?locked{len(context.locked)}?"
    context.locked.append(LockedRead(name, root, width, locks))
    return Operand(Scan(name, "rows", root.schema[:width]), found.places[:width])


def check_body(query: Query, first: Locking) -> None:
    """Raise 0A000 for a query whose rows are not rows of tables, one by one."""
    body = query.body
    if isinstance(body, ValuesBody):
        raise SqlError("0A000", f"{first.strength} cannot be applied to VALUES")
    refused = None
    if not isinstance(body, SelectBody):
        refused = "UNION/INTERSECT/EXCEPT"
    elif body.distinct or body.distinct_on:
        refused = "DISTINCT clause"
    elif body.group_by:
        refused = "GROUP BY clause"
    elif body.having is not None:
        refused = "HAVING clause"
    if refused is not None:
        raise SqlError("0A000", f"{first.strength} is not allowed with {refused}")
    if query.with_ties and any(one.wait == "skip" for one in query.locking):
        raise SqlError("42601", "SKIP LOCKED and WITH TIES options cannot be used together")


def check_tree(relation: Relation, first: Locking) -> None:
    """Raise 0A000 for aggregates and windows."""
    while isinstance(relation, Project | Limit | Sort | Filter):
        relation = relation.input
    if isinstance(relation, Aggregate | Window):
        what = "aggregate functions" if isinstance(relation, Aggregate) else "window functions"
        raise SqlError("0A000", f"{first.strength} is not allowed with {what}")


def locked_tables(query: Query, body: SelectBody, context: BindContext) -> list[tuple[Table, Locking]]:
    """Return the tables that the clauses mean.

    A table that several clauses mean is locked as the strongest says, and waits as the last.
    """
    items = [found for item in body.from_items for found in named_items(item, False)]
    known_items = {common.name for common in query.common_tables} | context.common_tables.keys()
    chosen: dict[int, tuple[Table, Locking]] = {}
    for clause in query.locking:
        for item, nullable in meant_items(clause, items):
            table = lockable(item, clause, known_items, context)
            if table is None:
                continue
            if nullable:
                raise SqlError("0A000", f"{clause.strength} cannot be applied to the nullable side of an outer join")
            known = chosen.get(table.position)
            strength = clause.strength
            if known is not None:
                strength = max(strength, known[1].strength, key=STRENGTHS.index)
            chosen[table.position] = (table, replace(clause, strength=strength))
    return list(chosen.values())


def meant_items(clause: Locking, items: list[tuple[FromItem, bool]]) -> Iterator[tuple[FromItem, bool]]:
    """Yield the items that a clause names, or all."""
    if not clause.tables:
        yield from items
    for name, position in clause.tables:
        found = [(item, nullable) for item, nullable in items if alias_of(item) == name]
        if not found:
            raise SqlError("42P01", f'relation "{name}" in {clause.strength} clause not found in FROM clause', position)
        yield found[0]


def named_items(item: FromItem, nullable: bool) -> Iterator[tuple[FromItem, bool]]:
    """Yield the items of a FROM clause that are no joins, and whether an outer join may have none
    of their rows.
    """
    if not isinstance(item, JoinClause):
        yield item, nullable
        return
    yield from named_items(item.left, nullable or item.kind in ("right", "full"))
    yield from named_items(item.right, nullable or item.kind in ("left", "full"))


def alias_of(item: FromItem) -> str:
    """Return the name of an item in its query."""
    if isinstance(item, Table):
        return item.alias or item.name[-1]
    assert not isinstance(item, JoinClause)
    if isinstance(item, FunctionTable):
        return item.alias or item.calls[0].name
    return item.alias or ""


def lockable(item: FromItem, clause: Locking, common: Set[str], context: BindContext) -> Table | None:
    """Return the table that an item is; None for what an unspecific clause passes over.

    Raises 0A000 and 42809.
    """
    what = None
    if isinstance(item, Derived):
        if not isinstance(item.query.body, ValuesBody):
            raise not_supported(f"{clause.strength} of a subquery in FROM", clause.position)
        what = "VALUES"
    elif isinstance(item, FunctionTable | WindowedTable):
        what = "a function"
    elif isinstance(item, Table) and item.bare_name in common:
        what = "a WITH query"
    if what is not None:
        if clause.tables:
            position = next(place for name, place in clause.tables if name == alias_of(item))
            raise SqlError("0A000", f"{clause.strength} cannot be applied to {what}", position)
        return None
    assert isinstance(item, Table), "joins are taken apart"
    found = described(item, context)
    if found is not None and found.kind == "query":
        raise not_supported(f"{clause.strength} of a view", clause.position, f"Name the tables below {found.name}.")
    if found is not None and found.kind != "table":
        hint = STREAM_HINT if found.kind == "stream" else None
        raise SqlError("42809", f'cannot lock rows in {KINDS[found.kind]} "{found.name}"', hint=hint)
    return item


def described(item: Table, context: BindContext) -> RelationDescription | None:
    """Return the relation that an item names, if it is there."""
    return find_relation(relation_of(item.name, item.position), context.catalog, context.settings, item.position)


def locked_reads(context: BindContext, *roots: Relation | None) -> tuple[LockedRead, ...]:
    """Return the locked reads that the trees of a statement need, in the order in which they can
    run.
    """
    needed = [root for root in roots if root is not None]
    found: list[LockedRead] = []
    for one in reversed(context.locked):
        if any(scan.name == one.name and scan.kind == "rows" for root in needed for scan in scans(root)):
            found.append(one)
            needed.append(one.root)
    return tuple(reversed(found))
