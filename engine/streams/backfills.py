"""Rows of pg_stat_progress_backfill: how far the backfills are that run.

Enters: the progress of each. Leaves: an Arrow table, made anew for each statement that reads it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from sql.catalog.catalog import ColumnDescription, RelationDescription
from sql.names.relation_keys import name_of
from sql.tree.relations import OutputColumn
from sql.types.datatypes import INT4, INT8, TEXT
from views.model.arrow_schema import arrow_schema

NAME = "pg_stat_progress_backfill"
# Below those of users' relations, above those of PostgreSQL's own.
OID = 16_002

COLUMNS = (
    ("pid", INT4),
    ("relname", TEXT),
    ("stream", TEXT),
    ("phase", TEXT),
    ("rows_done", INT8),
    ("rows_total", INT8),
)
DESCRIPTION = RelationDescription(
    NAME, "statistics", OID, tuple(ColumnDescription(name, kind) for name, kind in COLUMNS), "pg_catalog"
)


@dataclass
class Progress:
    """How far a backfill is.

    Attributes:
        pid: of the session.
        rows_total: None before the rows are read.
    """

    pid: int
    view: str
    stream: str
    phase: str = "reading rows"
    rows_done: int = 0
    rows_total: int | None = None


def progress_rows(running: Iterable[Progress]) -> pa.Table:
    """Return the rows of pg_stat_progress_backfill."""
    rows = [
        (one.pid, name_of(one.view), name_of(one.stream), one.phase, one.rows_done, one.rows_total)
        for one in list(running)
    ]
    schema = arrow_schema(tuple(OutputColumn(name, kind) for name, kind in COLUMNS))
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema)
