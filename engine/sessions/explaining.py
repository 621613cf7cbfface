"""EXPLAIN: the pipelines of a continuous view, or how a SELECT over views and tables is answered. Runs nothing and changes nothing.

Enters: a parsed EXPLAIN and the catalog. Leaves: lines of text.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.catalog import CatalogImage, ViewEntry
from engine.definitions import part_definitions
from engine.query_views import reads_stream
from engine.stream import Stream
from engine.stream_scans import FOLDED_BYTES_MIN, streams_among
from engine.tables.sequence_functions import SequenceSession, in_session, uses_sequences
from sql.bind.query import bind_query
from sql.catalog import SessionSettings
from sql.errors import not_supported
from sql.needed_columns import needed_columns
from sql.relations import BoundQuery
from sql.statements.statement import CreateView, Explain
from views.definition import ViewDefinition, define_view
from views.plan.explain import explain_plan, explain_select, stream_lines
from views.plan.parts import without_parts
from views.plan.planner import plan_view
from views.plan.prepare import prepared_parts
from views.plan.text import identifier
from views.stream_grouping import cut_groupings

if TYPE_CHECKING:
    from engine.database import Database


def explain(statement: Explain, database: Database, image: CatalogImage, settings: SessionSettings) -> list[str]:
    """Return the plan of a SELECT or a CREATE VIEW, one string per line. Raises what the statement itself would raise."""
    for name, value in statement.options.items():
        if name == "analyze" and value not in ("off", "false", "0"):
            raise not_supported("EXPLAIN ANALYZE")
        if name == "format" and value != "text":
            raise not_supported(f"EXPLAIN (FORMAT {value.upper()})")
    explained = statement.statement
    if isinstance(explained, CreateView):
        settings = settings.shared()
    bound = bind_query(explained.query, image, settings)
    if isinstance(explained, CreateView) and reads_stream(bound, image):
        parts = part_definitions(explained, image, settings)
        if parts:
            return split_lines(explained, bound, parts, database)
        definition = define_view(explained, image.next_oid, settings)
        return explain_plan(plan_view(definition, bound), definition, database.kernels.folder, database.upper)
    views = [entry.view for name in sorted(bound.relations) if isinstance(entry := image.entries.get(name), ViewEntry)]
    if uses_sequences(bound.root):
        bound = replace(bound, root=in_session(bound.root, SequenceSession(image)))
    needed = needed_columns(bound.root)
    streams = [stream_line(stream, needed[stream.name]) for stream in streams_among(bound.relations, image)]
    return [*explain_select(bound, views, database.tables), *streams, *grouping_lines(bound, image)]


def split_lines(
    statement: CreateView, bound: BoundQuery, parts: list[tuple[ViewDefinition, BoundQuery]], database: Database
) -> list[str]:
    """Return the plan of a view over several groupings of streams: what reads them, and the continuous view of each."""
    names = [definition.name for definition, _ in parts]
    found = prepared_parts(bound.root, parts[0][0].joins)
    rest = without_parts(found.root, found.parts, names)
    lines = [
        f"View {identifier(statement.name)} over {len(parts)} continuous views that are made with it",
        *(group.replace("eager", "Eager", 1) for group in found.eager),
        *explain_select(replace(bound, root=rest), (), database.tables),
    ]
    for definition, part in parts:
        lines += explain_plan(plan_view(definition, part), definition, database.kernels.folder, database.upper)
    return lines


def grouping_lines(bound: BoundQuery, image: CatalogImage) -> list[str]:
    """Return which groupings over streams a scan folds its rows into, instead of keeping them."""
    names = frozenset(stream.name for stream in streams_among(bound.relations, image))
    _, groupings = cut_groupings([bound.root], names)
    if not groupings:
        return []
    head = f"Folded in kernels when stream_timeout is set, or the ring has more than {FOLDED_BYTES_MIN >> 20} MB:"
    return [head, *("  " + line for grouping in groupings for line in stream_lines(grouping.plan.stream))]


def stream_line(stream: Stream, needed: frozenset[int]) -> str:
    """Return what a scan of a stream copies, and from where."""
    ring = stream.ring
    names = ", ".join(identifier(stream.row[index].name) for index in sorted(needed)) or "none"
    return f"Stream {identifier(stream.name)}: tuples {ring.oldest_tid} to {ring.newest_tid} are in the ring; columns copied: {names}"
