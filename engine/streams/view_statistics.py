"""Rows of pg_stat_continuous_views: the rows and memory of each continuous view, and its refreshes.

Enters: views with their states. Leaves: an Arrow table with a row for each view, made anew for each
statement that reads it. Must not refresh a view.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

import pyarrow as pa

from sql.catalog.catalog import ColumnDescription, RelationDescription
from sql.names.relation_keys import name_of
from sql.tree.relations import OutputColumn
from sql.types.datatypes import BOOL, FLOAT8, INT8, JSON, TEXT, TIMESTAMPTZ
from views.codegen.state_size import bytes_per_group
from views.model.arrow_schema import arrow_schema
from views.model.protocols import BY_CHANGE, COLD, MADE_ANEW, PREPARED
from views.model.text import aggregate_text
from views.share.reuse import ALL_ROWS
from views.upkeep.chain import Chain
from views.upkeep.commit_buffers import NEVER
from views.upkeep.cuts import READER, SCHEDULE
from views.upkeep.group_state import StateCounts
from views.upkeep.twins import together

NAME = "pg_stat_continuous_views"
# Below those of users' relations, above those of PostgreSQL's own.
OID = 16_001

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
    ("group_bytes", INT8),
    ("max_groups", INT8),
    ("max_bytes", INT8),
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
    ("computed_ms", FLOAT8),
    ("version_rows", INT8),
    ("version_age_ms", FLOAT8),
    ("shares_with", TEXT),
    ("refresh_every_ms", FLOAT8),
    ("last_reason", TEXT),
    ("refreshes_by_reader", INT8),
    ("refreshes_by_schedule", INT8),
    ("refreshes_without_spark", INT8),
    ("point_reads", INT8),
    ("refreshes_prepared", INT8),
    ("upper_plan", TEXT),
    ("since", JSON),
    ("tuples_late", INT8),
    ("watermark", TIMESTAMPTZ),
    ("refreshes_by_change", INT8),
    ("refreshes_made_anew", INT8),
)
DESCRIPTION = RelationDescription(
    NAME, "statistics", OID, tuple(ColumnDescription(name, kind) for name, kind in COLUMNS), "pg_catalog"
)


# A view's name, and its states: the stream, the view of its groups, whether it takes rows.
Kept = tuple[str, Sequence[tuple[str, Chain, bool]]]
# A transform's name and stream, how many rows it has read, made and left out, and how long it has
# computed.
Transformed = tuple[str, str, int, int, int, float | None]


def view_statistics(views: Iterable[Kept], transforms: Iterable[Transformed], now_us: int) -> pa.Table:
    """Return the rows of pg_stat_continuous_views.

    Columns that only a refresh fills are NULL before the first one. A view over several streams has
    one row: the sums of what its states have, the larger ones of limits, the newest refresh.
    shares_with: the other views for which rows are folded at the same time, NULL without any.
    upper_plan: in which way the last upper pipeline was run (COLD, PLANNED, COPIED or PREPARED in
    Spark, BY_CHANGE or MADE_ANEW in kernels), NULL before the first one. since: what counts only
    from some time on, with that time; NULL where all counts from the creation on. tuples_late,
    watermark: of views whose windows close. A transform has the columns on its rows alone.
    """
    known = list(views)
    sets = together(view for _, states in known for _, view, active in states if active)
    rows = [_row(name, states, sets, now_us) for name, states in known]
    schema = arrow_schema(tuple(OutputColumn(name, kind) for name, kind in COLUMNS))
    found = [dict(zip(schema.names, row, strict=True)) for row in rows]
    for name, stream, tuples_in, tuples_out, skipped, seconds in transforms:
        ms = None if seconds is None else round(seconds * 1000, 3)
        counts = {"tuples_in": tuples_in, "tuples_passed": tuples_out, "tuples_skipped": skipped, "computed_ms": ms}
        found.append({"relname": name_of(name), "stream": name_of(stream), "active": True, **counts})
    return pa.Table.from_pylist(found, schema)


def shared_with(views: Sequence[Chain], sets: Iterable[Sequence[Chain]]) -> str | None:
    """Return the names of the other views in the sets of some views; None without any."""
    others = (other for known in sets if not set(known).isdisjoint(views) for other in known)
    return ", ".join(dict.fromkeys(other.label for other in others if other not in views)) or None


def _reasons(views: Sequence[Chain]) -> tuple[object, ...]:
    """Return the interval of a view's schedule, NULL without one, why its last version was made,
    and how many were made for each reason.
    """
    every_us = max(view.definition.refresh_us for view in views)
    last = max((view.upkeep for view in views), key=lambda upkeep: upkeep.refreshed[0] if upkeep.refreshed else 0)
    counts = (sum(view.upkeep.reasons[reason] for view in views) for reason in (READER, SCHEDULE))
    return every_us / 1000 if every_us else None, last.last_reason, *counts


def _row(
    name: str,
    states: Sequence[tuple[str, Chain, bool]],
    sets: Iterable[Sequence[Chain]],
    now_us: int,
) -> tuple[object, ...]:
    views = [view for _, view, _ in states]
    counts = [view.state.groups.counts for view in views]
    caps = views[0].definition.caps
    refreshed = [view.upkeep.refreshed for view in views if view.upkeep.refreshed is not None]
    refreshed_us = max((time_us for time_us, _ in refreshed), default=None)
    times = [(one.swap_s, one.merge_s, one.hand_over_s, one.spark_s, one.store_s) for _, one in refreshed]
    times_ms: list[float | None] = [round(sum(part) * 1000, 3) for part in zip(*times, strict=True)] or [None] * 5
    # States that take rows together have their columns computed once.
    computed = {view.state.program.computed for view in views if view.state.program.computed is not None}
    versions = [view.latest.table.num_rows for view in views if view.latest is not None]
    return (
        name_of(name),
        ", ".join(dict.fromkeys(name_of(stream) for stream, _, _ in states)),
        any(active for _, _, active in states),
        sum(one.tuples_in for one in counts),
        sum(one.tuples_passed for one in counts),
        sum(one.tuples_skipped for one in counts),
        sum(one.groups for one in counts),
        sum(one.groups_waiting for one in counts),
        sum(view.state.bytes_count for view in views),
        max(bytes_per_group(view.plan.maintained) for view in views),
        caps.groups_max or None,
        caps.bytes_max or None,
        sum(one.queue for one in counts),
        max(one.queue_most for one in counts),
        max(view.state.groups.queue_max for view in views),
        sum(view.upkeep.versions_count for view in views),
        refreshed_us,
        *times_ms,
        round(sum(one.seconds for one in computed) * 1000, 3) if computed else None,
        sum(versions) if versions else None,
        None if refreshed_us is None else max(0, now_us - refreshed_us) / 1000,
        shared_with(views, sets),
        *_reasons(views),
        sum(view.upkeep.upper_runs[COLD] for view in views),
        sum(view.upkeep.point_reads for view in views),
        sum(view.upkeep.upper_runs[PREPARED] for view in views),
        ", ".join(dict.fromkeys(how for view in views if (how := view.upkeep.last_upper) is not None)) or None,
        _since(views),
        *_closing(views, counts),
        *(sum(view.upkeep.upper_runs[how] for view in views) for how in (BY_CHANGE, MADE_ANEW)),
    )


def _closing(views: Sequence[Chain], counts: Sequence[StateCounts]) -> tuple[int | None, int | None]:
    """Return how many rows came after their window had closed, and the time up to which windows
    have closed; NULL where none close, or no row has come.
    """
    marks = [view.state.groups.watermark for view in views]
    known = [(one.newest_us - one.closing.lateness_us, one.newest_us) for one in marks if one is not None]
    reached = [time_us for time_us, newest_us in known if newest_us != NEVER]
    return sum(one.tuples_late for one in counts) if known else None, min(reached, default=None)


def _since(views: Sequence[Chain]) -> str | None:
    told: dict[str, str] = {}
    for view in views:
        plan, since = view.plan, view.identity.since
        kept, asked = ({aggregate_text(call) for _, call in one.aggregates} for one in (plan.maintained, plan.stream))
        conditions = [text for text, _ in since if text == ALL_ROWS or text.startswith("WHERE ")]
        # Aggregates that were replaced are kept but not shown; conditions hold until the next.
        hidden = kept - asked | set(conditions[:-1])
        told |= {text: shown_time(time_us) for text, time_us in since if text not in hidden}
    return json.dumps(told, ensure_ascii=False) if told else None


def shown_time(time_us: int) -> str:
    """Return a time as JSON has it, in UTC."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time_us)).isoformat()
