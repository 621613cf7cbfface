"""The relations of the catalog as the binder knows relations; they are the same for every
database.
"""

from __future__ import annotations

from functools import lru_cache

from engine.streams import statistics as stream_statistics
from engine.system_catalog.static_rows import HIDDEN, column_type, relations
from sql.catalog.catalog import ColumnDescription, RelationDescription
from sql.names.relation_keys import relation_key


@lru_cache(maxsize=1024)
def description(schema: str, name: str) -> RelationDescription | None:
    """Return the description of a relation of the catalog."""
    known = relations().get((schema, name))
    if known is None or name == stream_statistics.NAME:
        return None
    columns, hidden = (
        tuple(
            ColumnDescription(one.name, column_type(one), one.not_null, number=number)
            for number, one in enumerate(part, 1)
        )
        for part in (known.columns, HIDDEN)
    )
    return RelationDescription(relation_key(schema, name), "catalog", known.oid, columns, schema, hidden=hidden)
