"""The measurements of EXPLAIN ANALYZE on continuous views: the refresh of the query, by phase, and
stream pipelines' speed.

Enters: views before and after the query has run. Leaves: facts by pipeline. The time of a stream
pipeline is not taken while rows come, which would cost each of them: its kernel goes over the rows
in the ring once more, into a table of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from engine.catalog.image import CatalogImage, StateEntry, StreamEntry
from engine.streams.view_statistics import shared_with
from ringbuffer.memory.error_codes import RowError
from views.explain.drawing import FINISH, STREAM, TAIL, UPPER
from views.model.protocols import COLD
from views.upkeep.chain import Chain

REPEATED_TUPLES_MAX = 1 << 20
# The fact that names the views with the same stream pipeline.
SHARED = "Shared With"

Facts = dict[str, dict[str, object]]


def facts_now(view: Chain, image: CatalogImage) -> Facts:
    """Return the size of a view's state, the views that take the same rows, and the way in which
    the last upper pipeline for Spark was run.
    """
    counts, caps = view.state.groups.counts, view.definition.caps
    others = shared_with([view], image.together)
    return {
        STREAM: {
            "Groups": counts.groups,
            "Groups Waiting": counts.groups_waiting,
            "State Bytes": view.state.bytes_count,
            **({"Max Groups": caps.groups_max} if caps.groups_max else {}),
            **({"Max Bytes": caps.bytes_max} if caps.bytes_max else {}),
            **({} if others is None else {SHARED: others}),
        },
        UPPER: {
            **({} if view.upkeep.last_upper is None else {"Plan": view.upkeep.last_upper}),
            **({} if not view.upkeep.upper_reason else {"Reason": view.upkeep.upper_reason}),
        },
    }


def facts_measured(
    entry: StateEntry, image: CatalogImage, versions_before: int, now_us: int, check_cancelled: Callable[[], None]
) -> Facts:
    """Return the facts that are known once the query has run. Raises 57014.

    versions_before: the versions that the view had had.
    """
    view = entry.chain
    counts, refreshed = view.state.groups.counts, view.upkeep.refreshed
    facts = facts_now(view, image)
    facts[STREAM] |= {
        "Tuples In": counts.tuples_in,
        "Tuples Passed": counts.tuples_passed,
        "Tuples Skipped": counts.tuples_skipped,
        **ring_facts(entry, image, now_us, check_cancelled),
    }
    if view.upkeep.versions_count == versions_before or refreshed is None:
        facts[FINISH] = {"Refresh": "none, the stored version was read"}
        return facts
    _, phases = refreshed
    facts[STREAM] |= {"Swap Time": ms(phases.swap_s), "Merge Time": ms(phases.merge_s)}
    facts[FINISH] = {"Hand-over Time": ms(phases.hand_over_s)}
    facts[UPPER] |= {"Spark Time": ms(phases.spark_s), "Refreshes without Spark": view.upkeep.upper_runs[COLD]}
    facts[TAIL if view.plan.tail is not None else FINISH] = {
        **(facts[FINISH] if view.plan.tail is None else {}),
        "Store Time": ms(phases.store_s),
    }
    return facts


def ring_facts(
    entry: StateEntry, image: CatalogImage, now_us: int, check_cancelled: Callable[[], None]
) -> dict[str, object]:
    """Return how long the stream pipeline takes for the rows that are in the ring now."""
    stream = image.entries.get(entry.stream_name)
    assert isinstance(stream, StreamEntry)
    state, ring = entry.chain.state, stream.stream.ring
    table = state.program.new_table()
    count, passed_s = 0, 0.0
    for _, morsel in ring.tail(ring.tuples_count):
        check_cancelled()
        began_s = perf_counter()
        try:
            state.program.fold(morsel, table, now_us)
        except RowError:
            # A row was right when it came, and isn't now: a time has passed since.
            return {}
        passed_s += perf_counter() - began_s
        count += morsel.rows_count
        if count >= REPEATED_TUPLES_MAX:
            break
    if not count:
        return {}
    return {
        "Tuples Repeated": count,
        "Repetition Time": ms(passed_s),
        "Time per Tuple": f"{passed_s / count * 1e9:.0f} ns",
    }


def ms(seconds: float) -> str:
    """Return a number of seconds as people read it."""
    return f"{seconds * 1000:.3f} ms"
