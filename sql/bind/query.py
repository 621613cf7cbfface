"""Queries to relations: the public `bind_query`, and the dispatch on what a query's body is: SELECT, VALUES, a set operation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from sql import interrupts
from sql.bind.context import BindContext
from sql.bind.locking import bind_locked, locked_reads
from sql.bind.operand import Operand
from sql.bind.parameters import ParameterTypes
from sql.bind.wide_numbers import refuse_wide_numbers
from sql.catalog.catalog import Catalog, SessionSettings
from sql.errors import SqlError, not_supported
from sql.parse.syntax import Body, Query, SelectBody, SetOperation, ValuesBody
from sql.tree.relations import BoundQuery, Relation
from sql.tree.sharing import settled
from sql.tree.walks import scans
from sql.types.datatypes import SqlType


def bind_query(
    query: Query,
    catalog: Catalog,
    settings: SessionSettings,
    parameter_types: Sequence[SqlType | None] | None = None,
    locks: bool = False,
) -> BoundQuery:
    """Return the typed tree of a query; `parameter_types` are those that the client gave (an item None or unknown: to be
    found; None instead of all: the statement came by the simple protocol and can have no parameters). locks: whoever runs it can lock rows.
    """
    parameters = ParameterTypes(parameter_types)
    context = BindContext(catalog, settings, parameters)
    root = settled(refuse_wide_numbers(bind_relation(query, context), context))
    locked = locked_reads(context, root)
    if locked and not locks:
        raise not_supported(f"{locked[0].locks[0].strength} in this statement", query.position)
    names = frozenset(scan.name for one in (root, *(read.root for read in locked)) for scan in scans(one))
    names -= {read.name for read in locked}
    stable = context.stable or bool(locked)
    return BoundQuery(root, parameters.finish(), names, stable, frozenset(context.named), locked)


def bind_relation(query: Query, context: BindContext) -> Relation:
    """Return the relation of a query inside a statement."""
    return bind_operand(query, context, untyped=False).relation


def bind_operand(query: Query, context: BindContext, untyped: bool) -> Operand:
    """Return a query; untyped: constants in its select list need no type yet."""
    from sql.bind.select import bind_select
    from sql.bind.set_operations import bind_set_query
    from sql.bind.values import bind_values_query

    interrupts.check()
    if query.locking and not isinstance(query.body, Query):
        return bind_locked(query, context)
    with clauses_of(query, context):
        match query.body:
            case SelectBody():
                return bind_select(query, query.body, context, untyped)
            case ValuesBody():
                return bind_values_query(query, query.body, context)
            case SetOperation():
                return bind_set_query(query, query.body, context)
            case Query():
                return bind_nested(query, query.body, context, untyped)


@contextmanager
def clauses_of(query: Query, context: BindContext) -> Iterator[None]:
    """Let what is bound inside name the items of the query's WITH."""
    from sql.bind.common_tables import common_tables

    with common_tables(query.common_tables, context):
        yield


def bind_body(body: Body, context: BindContext) -> Operand:
    """Return one side of a set operation; its constants may be untyped."""
    from sql.bind.set_operations import bind_set_operation

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
