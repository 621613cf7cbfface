"""The origins of an answer's columns: the relation and the column that RowDescription tells
drivers.

Enters: a bound query and the catalog. Leaves: its schema with origins. A computed column has none,
nor has a column of a set operation, or of a query that reads an ordinary view, whose own columns
are not in the tree any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sql.catalog.catalog import Catalog, RelationDescription
from sql.tree.expressions import Column, Expression
from sql.tree.relations import (
    Aggregate,
    Distinct,
    Filter,
    Join,
    Limit,
    Project,
    Relation,
    Scan,
    Schema,
    Sort,
    Window,
)
from sql.types.datatypes import OF_CATALOG, OIDS_OF_NAMES, TEXT, VECTORS, SqlType, array_of

# What clients know under their own OIDs; the rows of a statement are those of the table that it
# writes to.
RELATIONS = frozenset({"table", "stream", "view"})
# Types of the catalog whose values clients get as texts, and texts of which they are told.
AS_TEXTS = OF_CATALOG - {*OIDS_OF_NAMES, *VECTORS, "xid", "cid", "xid8", "pg_node_tree", "refcursor"}
# A relation's name, and the place of one of its columns; None for what is computed.
Place = tuple[str, int] | None


def told_schema(root: Relation, names: frozenset[str], catalog: Catalog) -> Schema:
    """Return the columns of a query's answer with the relations that they are of, and the types
    that clients are told.

    names: the relations that its text names.
    """
    schema = root.schema
    named = [catalog.relation(name) for name in names]
    if not any(found is not None and found.kind == "query" for found in named):
        schema = schema_of(root, catalog)
    return tuple(replace(column, type=told_type(column.type)) for column in schema)


def told_type(kind: SqlType) -> SqlType:
    """Return the type that a client is told: a text for one that has no binary form here."""
    if (kind.element if kind.is_array else kind).family not in AS_TEXTS:
        return kind
    return array_of(TEXT) if kind.is_array else TEXT


def schema_of(root: Relation, catalog: Catalog) -> Schema:
    """Return the columns of a relation with the relations that they are of."""
    found = []
    for column, place in zip(root.schema, places(root), strict=True):
        relation = None if place is None else catalog.relation(place[0])
        origin = (0, 0) if place is None or relation is None else _origin(relation, place[1])
        found.append(replace(column, origin=origin))
    return tuple(found)


def returned(root: Relation, target: RelationDescription) -> Schema:
    """Return the columns of RETURNING, which reads rows of `target` alone."""
    return tuple(
        replace(column, type=told_type(column.type), origin=(0, 0) if place is None else _origin(target, place[1]))
        for column, place in zip(root.schema, places(root, rows=target.name), strict=True)
    )


def places(root: Relation, rows: str = "") -> Sequence[Place]:
    """Return the origin of each column.

    rows: the relation that rows of a statement are of.
    """
    match root:
        case Scan(name, kind, schema):
            if kind == "rows" and rows:
                name = rows
            elif kind not in RELATIONS:
                return [None] * len(schema)
            return [(name, index) for index in range(len(schema))]
        case Filter() | Distinct() | Sort() | Limit():
            return places(root.input, rows)
        case Project():
            return _taken([item for _, item in root.items], places(root.input, rows))
        case Aggregate():
            keys = _taken([key for _, key in root.keys], places(root.input, rows))
            return [*keys, *(None for _ in root.aggregates)]
        case Window():
            return [*places(root.input, rows), *(None for _ in root.calls)]
        case Join():
            return [*places(root.left, rows), *places(root.right, rows)]
        case _:
            return [None] * len(root.schema)


def _taken(items: Sequence[Expression], below: Sequence[Place]) -> list[Place]:
    return [below[item.index] if isinstance(item, Column) else None for item in items]


def _origin(relation: RelationDescription, index: int) -> tuple[int, int]:
    """Return OID and attnum of a column; a column after the relation's own has none."""
    if index >= len(relation.columns):
        return 0, 0
    # Columns of views are not counted.
    return relation.oid, relation.columns[index].number or index + 1
