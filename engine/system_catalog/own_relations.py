"""The relations of pg_catalog that PostgreSQL does not have: pg_stat_streams."""

from __future__ import annotations

from engine.streams import statistics as stream_statistics

# Like a row of static/relations.json: oid, schema, name, kind, OID of the row type, (name, type,
# NOT NULL) of each column.
OWN_RELATIONS = (
    (
        stream_statistics.OID,
        "pg_catalog",
        stream_statistics.NAME,
        "v",
        0,
        tuple((name, kind.oid, False) for name, kind in stream_statistics.COLUMNS),
    ),
)
