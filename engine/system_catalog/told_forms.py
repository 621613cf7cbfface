"""The rows of a query as clients get them: names beside the OIDs that stand for them.

Enters: a table in the forms of `views.model.arrow_schema`. Leaves: the same where no column has
such a type. The types that a client is told are those of `sql.bind.queries.origins`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from sql.tree.relations import Schema
from sql.types.datatypes import OIDS_OF_NAMES, SqlType

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
    if element.family not in OIDS_OF_NAMES:
        return None
    known: dict[int | None, str | None] = {}

    def shown(oid: int | None) -> dict[str, object] | None:
        if oid is None:
            return None
        if oid not in known:
            known[oid] = context().shown_as(element.family, oid)
        return {"oid": oid, "name": known[oid]}

    if not kind.is_array:
        return pa.array([shown(oid) for oid in values.to_pylist()], NAMED)
    lists = ([shown(oid) for oid in oids] if oids is not None else None for oids in values.to_pylist())
    return pa.array(list(lists), pa.list_(NAMED))
