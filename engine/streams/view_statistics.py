"""Rows of pg_stat_continuous_views: the rows and memory of each continuous view, and its refreshes.

Enters: views. Leaves: an Arrow table with a row for each, made anew for each statement that reads
it. Must not refresh a view.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from sql.catalog.catalog import ColumnDescription, RelationDescription
from sql.tree.relations import OutputColumn
from sql.types.datatypes import BOOL, FLOAT8, INT8, TEXT, TIMESTAMPTZ
from views.model.arrow_schema import arrow_schema
from views.upkeep.twins import together
from views.upkeep.view import ContinuousView

NAME = "pg_stat_continuous_views"
# Below those of users' relations.
OID = 12_001

COLUMNS = (
    ("relname", TEXT),
    ("stream", TEXT),
    ("active", BOOL),
    ("tuples_in", INT8),
    ("tuples_passed", INT8),
    ("tuples_skipped", INT8),
    ("groups", INT8),
    ("groups_waiting", INT8),
    ("state_bytes", INT8),
    ("queue", INT8),
    ("queue_most", INT8),
    ("queue_max", INT8),
    ("refreshes", INT8),
    ("last_refresh", TIMESTAMPTZ),
    ("swap_ms", FLOAT8),
    ("merge_ms", FLOAT8),
    ("hand_over_ms", FLOAT8),
    ("spark_ms", FLOAT8),
    ("store_ms", FLOAT8),
    ("version_rows", INT8),
    ("version_age_ms", FLOAT8),
    ("shares_with", TEXT),
)
DESCRIPTION = RelationDescription(
    NAME, "statistics", OID, tuple(ColumnDescription(name, kind) for name, kind in COLUMNS), "pg_catalog"
)


def view_statistics(views: Iterable[tuple[str, ContinuousView, bool]], now_us: int) -> pa.Table:
    """Return the rows of pg_stat_continuous_views.

    views: (name of the stream, view, whether it takes rows). Columns that only a refresh fills are
    NULL before the first one. A part of a view has a row under the name of the view. shares_with:
    the other views for which rows are folded at the same time, NULL without any.
    """
    known = list(views)
    sets = together(view for _, view, active in known if active)
    rows = [(*_row(stream, view, active, now_us), shared_with(view, sets)) for stream, view, active in known]
    schema = arrow_schema(tuple(OutputColumn(name, kind) for name, kind in COLUMNS))
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema)


def shared_with(view: ContinuousView, sets: Iterable[Sequence[ContinuousView]]) -> str | None:
    """Return the names of the other views in the set of a view; None without any.

    A part of a view has the name of the view.
    """
    for views in sets:
        if view in views:
            return ", ".join(other.definition.label for other in views if other is not view) or None
    return None


def _row(stream: str, view: ContinuousView, active: bool, now_us: int) -> tuple[object, ...]:
    state, latest = view.state, view.latest
    taken = view.counts
    refreshed_us, phases = view.upkeep.refreshed or (None, None)
    times_ms: list[float | None] = [None] * 5
    if phases is not None:
        seconds = (phases.swap_s, phases.merge_s, phases.hand_over_s, phases.spark_s, phases.store_s)
        times_ms = [round(second * 1000, 3) for second in seconds]
    age_ms = None if refreshed_us is None else max(0, now_us - refreshed_us) / 1000
    return (
        view.definition.shown, stream, active, taken.tuples_in, taken.tuples_passed, taken.tuples_skipped, taken.groups,
        taken.groups_waiting, state.bytes_count, taken.queue, taken.queue_most, state.queue_max, view.upkeep.versions_count,
        refreshed_us, *times_ms, None if latest is None else latest.table.num_rows, age_ms,
    )  # fmt: skip
