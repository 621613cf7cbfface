"""The rows of a query as clients get them: names in the place of the OIDs that stand for them,
types of the catalog alone as their text.

Enters: a table in the forms of `views.model.arrow_schema`. Leaves: the same where no column has
such a type. The types that a client is told are those of `sql.bind.queries.origins`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from sql.bind.queries.origins import told_type
from sql.tree.relations import Schema
from sql.types.datatypes import OIDS_OF_NAMES, VECTORS, SqlType

NAMED = pa.struct([("oid", pa.int64()), ("name", pa.string())])


def told(table: pa.Table, schema: Schema, context: Callable[[], Any]) -> pa.Table:
    """Return the rows as clients get them.

    context: returns the statement's `SessionContext`.
    """
    for place, (name, column) in enumerate(zip(table.column_names, schema, strict=True)):
        form = told_column(table.column(place), column.type, context)
        if form is not None:
            table = table.set_column(place, name, form)
    return table


def told_column(values: pa.ChunkedArray, kind: SqlType, context: Callable[[], Any]) -> pa.Array | None:
    """Return a column in the form that clients get, None where it has that already."""
    element = kind.element if kind.is_array else kind
    if element.family in OIDS_OF_NAMES:
        known: dict[int | None, str | None] = {}
        is_plain = told_type(element).family == "text"

        def shown(oid: int | None) -> Any:
            if oid is None:
                return None
            if oid not in known:
                known[oid] = context().shown_as(element.family, oid)
            return known[oid] if is_plain else {"oid": oid, "name": known[oid]}

        form = pa.string() if is_plain else NAMED
        if not kind.is_array:
            return pa.array([shown(oid) for oid in values.to_pylist()], form)
        lists = ([shown(oid) for oid in oids] if oids is not None else None for oids in values.to_pylist())
        return pa.array(list(lists), pa.list_(form))
    if kind.family in VECTORS:
        texts = (None if items is None else " ".join(map(str, items)) for items in values.to_pylist())
        return pa.array(list(texts), pa.string())
    return None
