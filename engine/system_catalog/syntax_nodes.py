"""The walk over all nodes of a syntax tree, and parts of it without needless parentheses."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sql.parse import syntax


def nodes(value: Any) -> Iterator[Any]:
    """Yield a syntax tree's nodes."""
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack.extend(node)
        elif dataclasses.is_dataclass(node):
            yield node
            stack.extend(getattr(node, field.name) for field in dataclasses.fields(node))


def flat(query: syntax.Query) -> syntax.Query:
    """Return a query whose body is no query in parentheses."""
    inner = query.body
    if not isinstance(inner, syntax.Query):
        return query
    merged = replace(
        inner,
        common_tables=(*query.common_tables, *inner.common_tables),
        order_by=query.order_by or inner.order_by,
        limit=query.limit or inner.limit,
        offset=query.offset or inner.offset,
        with_ties=query.with_ties or inner.with_ties,
        locking=(*inner.locking, *query.locking),
    )
    return flat(merged)


def keys_of(group: syntax.GroupItem) -> tuple[syntax.GroupItem, ...]:
    """Return the items of GROUP BY that one stands for: those of a list are its own."""
    return group.items if isinstance(group, syntax.GroupingSets) and group.kind == "list" else (group,)
