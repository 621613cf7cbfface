"""EXPLAIN: the pipelines of a continuous view, or how a SELECT over views and tables is answered. Runs nothing and changes nothing.

Enters: a parsed EXPLAIN and the catalog, what EXPLAIN ANALYZE has measured. Leaves: lines of text, JSON, or a drawing as DOT.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.catalog import CatalogImage, ViewEntry
from engine.definitions import part_definitions
from engine.query_views import reads_stream
from engine.sessions.explain_analyze import Facts, facts_now, ms
from engine.stream import Stream
from engine.stream_scans import FOLDED_BYTES_MIN, streams_among
from engine.tables.sequence_functions import SequenceSession, in_session, uses_sequences
from sql.bind.query import bind_query
from sql.catalog import SessionSettings
from sql.needed_columns import needed_columns
from sql.relations import BoundQuery, Relation
from sql.setting_values import parse_bool
from sql.statements.statement import CreateView, Explain
from views.definition import ViewDefinition, define_view
from views.plan.explain import explain_plan, explain_select, stream_lines
from views.plan.kept import kernel_file_name
from views.plan.parts import without_parts
from views.plan.planner import PlannedView, plan_view
from views.plan.prepare import prepared_parts
from views.plan.shown import Shown, dot_lines, fact_lines, json_form, shown_query, shown_view
from views.plan.text import identifier
from views.stream_grouping import cut_groupings
from views.view import ContinuousView

if TYPE_CHECKING:
    from engine.database import Database


@dataclass(frozen=True)
class Measured:
    """What EXPLAIN ANALYZE has found. facts: of each view's pipelines."""

    rows_count: int
    passed_s: float
    facts: Mapping[str, Facts]

    @property
    def summary(self) -> dict[str, object]:
        """What is known of the whole query."""
        return {"Actual Rows": self.rows_count, "Execution Time": ms(self.passed_s)}


def is_on(statement: Explain, name: str) -> bool:
    """Tell whether an option of EXPLAIN is given and not off."""
    return parse_bool(statement.options.get(name, "off")) is True


def explain(
    statement: Explain,
    database: Database,
    image: CatalogImage,
    settings: SessionSettings,
    measured: Measured | None = None,
) -> list[str]:
    """Return the plan of a SELECT or a CREATE VIEW, one string per line. Raises what the statement itself would raise.

    measured: of the same SELECT, which has run. The form JSON is a single string, in which a line break is one.
    """
    explained = statement.statement
    if isinstance(explained, CreateView):
        settings = settings.shared()
    bound = bind_query(explained.query, image, settings)
    form = statement.options.get("format", "text")
    if isinstance(explained, CreateView) and reads_stream(bound, image):
        parts = part_definitions(explained, image, settings)
        whole = not parts
        if whole:
            parts = [(define_view(explained, image.next_oid, settings), bound)]
        if form != "text":
            shown = [shown_definition(definition, part, database) for definition, part in parts]
            if not whole:
                rest, _ = rest_of(bound, parts)
                shown = [shown_query(rest, database.tables.explain(rest), shown, {})]
            return in_form(form, shown[0])
        return plan_lines(*parts[0], database) if whole else split_lines(explained, bound, parts, database)
    if uses_sequences(bound.root):
        bound = replace(bound, root=in_session(bound.root, SequenceSession(image)))
    entries = [entry for name in sorted(bound.relations) if isinstance(entry := image.entries.get(name), ViewEntry)]
    facts = {entry.view: facts_now(entry.view) for entry in entries}
    if measured is not None:
        facts |= {entry.view: measured.facts[entry.description.name] for entry in entries}
    if form != "text":
        summary = {} if measured is None else measured.summary
        views = [shown_running(view, database, known) for view, known in facts.items()]
        return in_form(form, shown_query(bound.root, database.tables.explain(bound.root), views, summary))
    needed = needed_columns(bound.root)
    streams = [stream_line(stream, needed[stream.name]) for stream in streams_among(bound.relations, image)]
    lines = [*explain_select(bound, list(facts), database.tables), *streams, *grouping_lines(bound, image)]
    if measured is not None or is_on(statement, "verbose"):
        for view, known in facts.items():
            planned = PlannedView(view.plan, view.schema, view.time_dependent, ())
            lines += explain_plan(planned, view.definition, database.kernels.folder, database.upper)
            head = "Now:" if measured is None else "Measured:"
            lines += [head, *fact_lines(shown_running(view, database, known))]
    if measured is not None:
        lines += [f"{name}: {value}" for name, value in measured.summary.items()]
    return lines


def in_form(form: str, shown: Shown) -> list[str]:
    """Return pipelines in the form DOT or JSON."""
    return dot_lines(shown) if form == "dot" else [json.dumps([{"Plan": json_form(shown)}], indent=2)]


def shown_running(view: ContinuousView, database: Database, facts: Facts) -> Shown:
    """Return the pipelines of a view that is there."""
    kernel = f"{database.kernels.folder.name}/{view.state.kernel_paths[0].name}"
    return shown_view(view.definition.label, view.plan, kernel, database.upper, facts)


def shown_definition(definition: ViewDefinition, bound: BoundQuery, database: Database) -> Shown:
    """Return the pipelines of a view that is not made."""
    plan = plan_view(definition, bound).plan
    kernel = f"{database.kernels.folder.name}/{kernel_file_name(definition.shown, plan.stream)}"
    return shown_view(definition.label, plan, kernel, database.upper, {})


def plan_lines(definition: ViewDefinition, bound: BoundQuery, database: Database) -> list[str]:
    """Return the plan of a view of one stream."""
    return explain_plan(plan_view(definition, bound), definition, database.kernels.folder, database.upper)


def rest_of(bound: BoundQuery, parts: list[tuple[ViewDefinition, BoundQuery]]) -> tuple[Relation, Sequence[str]]:
    """Return what reads the groupings of a view over several, and what eager grouping has done."""
    names = [definition.label for definition, _ in parts]
    found = prepared_parts(bound.root, parts[0][0].joins)
    return without_parts(found.root, found.parts, names), found.eager


def split_lines(
    statement: CreateView, bound: BoundQuery, parts: list[tuple[ViewDefinition, BoundQuery]], database: Database
) -> list[str]:
    """Return the plan of a view over several groupings of streams: what reads them, and the continuous view of each."""
    rest, eager = rest_of(bound, parts)
    count = "a grouping" if len(parts) == 1 else f"{len(parts)} groupings"
    lines = [
        f"View {identifier(statement.name)} over {count} of streams, kept for it as parts; each read runs",
        *(group.replace("eager", "Eager", 1) for group in eager),
        *explain_select(replace(bound, root=rest), (), database.tables),
    ]
    for definition, part in parts:
        lines += plan_lines(definition, part, database)
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
