"""EXPLAIN: the pipelines of a continuous view, or how a SELECT over views and tables is answered.

Runs nothing and changes nothing.

Enters: a parsed EXPLAIN and the catalog, what EXPLAIN ANALYZE has measured. Leaves: lines of text,
JSON, or a drawing as DOT.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.catalog.image import CatalogImage, ViewEntry
from engine.ddl.definitions import Drafts, ViewDraft, creating_settings, drafted
from engine.ddl.query_views import reads_stream
from engine.ddl.view_replacing import replaced_view, replacing_lines
from engine.ingest.transform_views import defined_transform, transform_lines
from engine.scans.engines import QueryEngines
from engine.scans.point_reads import PointReads, point_read
from engine.scans.query_view_cache import over_groups, with_whole_views
from engine.scans.scans import ScanSettings, is_folded, streams_among
from engine.scans.table_rows import TableKey
from engine.scans.upper import is_for_spark, is_work
from engine.statements.backfill import bound_rows, filled_stream
from engine.statements.explain_analyze import SHARED, Facts, facts_now, ms
from engine.streams.stream import Stream
from engine.tables.sequence_functions import SequenceSession, in_session, uses_sequences
from sql.bind.queries.origins import RELATIONS
from sql.bind.queries.query import bind_query
from sql.bind.readers import with_zone
from sql.bind.substitute import substitute_now, substitute_parameters
from sql.catalog.catalog import SessionSettings
from sql.names.relation_keys import name_of, quoted
from sql.parse.statements.create_view import CreateView
from sql.parse.statements.explain import Explain
from sql.tree.expressions import Literal
from sql.tree.needed_columns import needed_columns
from sql.tree.relations import BoundQuery, Relation, Scan, VersionRead
from sql.tree.walks import rewrite_everywhere, scans
from sql.values.booleans import parse_bool
from views.codegen.state_size import bytes_per_group, kernel_file_name
from views.explain.drawing import STREAM, Above, Shown, dot_lines, fact_lines, json_form, shown_plan, shown_query
from views.explain.pipelines import (
    EMBEDDED,
    Strand,
    engine_of,
    explain_select,
    plan_lines,
    relation_lines,
    sql_lines,
    stream_lines,
    title,
)
from views.model.plan import Plan, over
from views.model.text import identifier
from views.plan.stream_grouping import StreamGrouping, cut_groupings
from views.upkeep.chain import Chain

if TYPE_CHECKING:
    from engine.execution.identity import Identity

RETROACTIVE = "Tables are joined with the groups, so that a change counts for all rows (stream_join = retroactive)"


@dataclass(frozen=True)
class Explaining:
    """The engines that an EXPLAIN asks, and the reader's settings.

    Attributes:
        shows_sql: the engines' SQL is shown too, as VERBOSE wants.
    """

    engines: QueryEngines
    scanning: ScanSettings
    shows_sql: bool


@dataclass(frozen=True)
class Measured:
    """The measurements of EXPLAIN ANALYZE.

    Attributes:
        facts: of each view's pipelines.
    """

    rows_count: int
    passed_s: float
    facts: Mapping[str, Facts]

    @property
    def summary(self) -> dict[str, object]:
        """The facts about the whole query, for people."""
        return {"Actual Rows": self.rows_count, "Execution Time": ms(self.passed_s)}

    @property
    def counted(self) -> dict[str, object]:
        """The facts about the whole query for programs, with PostgreSQL's names and units:
        milliseconds.
        """
        return {"Actual Total Time": round(self.passed_s * 1000, 3), "Actual Rows": self.rows_count, "Actual Loops": 1}


@dataclass(frozen=True)
class Given:
    """The part of an EXPLAIN that comes from its session.

    Attributes:
        identity: checks what may be read.
        parameters: the values of the SELECT's parameters.
        measured: of the same SELECT, which has run.
    """

    identity: Identity
    parameters: tuple[Literal, ...] = ()
    measured: Measured | None = None


def is_on(statement: Explain, name: str) -> bool:
    """Tell whether an option of EXPLAIN is given and not off."""
    return parse_bool(statement.options.get(name, "off")) is True


def explain(
    statement: Explain,
    engines: QueryEngines,
    image: CatalogImage,
    settings: SessionSettings,
    scanning: ScanSettings,
    given: Given,
) -> list[str]:
    """Return the plan of a SELECT or a CREATE VIEW, one string per line. Raises its errors.

    The form JSON is a single string, in which a line break is one.
    """
    explained, identity, measured, own = statement.explained, given.identity, given.measured, settings
    if isinstance(explained, CreateView):
        settings = creating_settings(explained, settings.shared())
    bound = bind_query(explained.query, image, settings, [one.type for one in given.parameters] or None, versions=True)
    if given.parameters:
        bound = replace(bound, root=substitute_parameters(bound.root, given.parameters))
    if not isinstance(explained, CreateView) or reads_stream(bound, image):
        identity.require(image, bound)
    told = replacing_lines(explained, bound, image, settings) if isinstance(explained, CreateView) else []
    made = explained_transform(explained, bound, image, settings)
    if made is not None:
        return [*transform_lines(made, image), *("  " + line for line in relation_lines(bound.root))]
    form = statement.options.get("format", "text")
    verbose = is_on(statement, "verbose")
    how = Explaining(engines, scanning, verbose)
    if isinstance(explained, CreateView) and reads_stream(bound, image):
        drafts = drafted(explained, bound, image, settings)
        plan, strands = planned_drafts(drafts, how)
        if form != "text":
            return in_form(form, shown_plan(plan, strands, engines.upper, above_in(how, {})), None)
        told += backfill_lines(explained, bound, image, own, identity, bool(told))
        told += above_lines(plan, strands, drafts.notices, how)
        return [*told, *plan_lines(plan, strands, engines.upper)]
    if uses_sequences(bound.root):
        bound = replace(bound, root=in_session(bound.root, SequenceSession(image, settings=lambda: settings)))
    entries = [entry for name in sorted(bound.relations) if (entry := image.state(name)) is not None]
    facts = {entry.chain: facts_now(entry.chain, image) for entry in entries}
    if measured is not None:
        facts |= {entry.chain: measured.facts[entry.chain.name] for entry in entries}
    over, wholes = with_whole_views(with_now(bound, scanning), bound.relations, image)
    over = labelled(over, image, bound.versions)
    bound = replace(bound, root=labelled(bound.root, image, bound.versions))
    by_key = {} if measured is not None else point_facts(bound, image, engines.points)
    if form != "text":
        facts_of_all = only_relation(bound.root) | by_key | ({} if measured is None else measured.counted)
        left = dict(facts)
        views = [shown_whole(whole, left, how) for whole in wholes]
        views += [shown_running(view, how, known) for view, known in left.items()]
        return in_form(form, shown_query(over, engines.tables.explain(over), views, facts_of_all), measured)
    lines = [f"{name}: {value}" for name, value in by_key.items()]
    lines += select_lines(bound, over, list(facts), streams_among(bound.relations, image), how)
    lines += [groups_line(view, known) for view, known in facts.items()]
    lines += [
        f'{title(entry.chain.identity)}: groups by the time zone "{entry.zone}" of its creator'
        for entry in entries
        if entry.zone
    ]
    lines += [line for whole in wholes for line in whole_lines(whole, how)]
    lines += version_lines(bound)
    if measured is not None or verbose:
        for view, known in facts.items():
            lines += plan_lines(view.plan, [running(view, known, verbose)], engines.upper)
            head = "Now:" if measured is None else "Measured:"
            lines += [head, *fact_lines(shown_running(view, how, known))]
    if measured is not None:
        lines += [f"{name}: {value}" for name, value in measured.summary.items()]
    return lines


def backfill_lines(
    statement: CreateView,
    bound: BoundQuery,
    image: CatalogImage,
    settings: SessionSettings,
    identity: Identity,
    goes_on: bool,
) -> list[str]:
    """Return the line about a backfill, whose rows a new view counts first.

    goes_on: the view goes on with what it has counted. Raises the errors of the backfill's query.
    """
    if statement.backfill is None:
        return []
    if statement.file is None:
        bound_rows(statement.backfill, filled_stream(bound, image), image, settings, identity)
    if goes_on and not statement.reset:
        return []
    return [f"Counts first, as if they were inserted into the stream, the rows of: {statement.backfill}"]


def point_facts(bound: BoundQuery, image: CatalogImage, points: PointReads) -> dict[str, object]:
    """Return what is said of a read by key, whose other lines say how a transaction block does
    it.
    """
    read = point_read(bound, image)
    if read is None:
        return {}
    source = read.source
    if isinstance(source, TableKey):
        columns = [column.name for column in source.entry.description.columns]
        way = points.tables.way(source)
        what = f"rows of table {identifier(name_of(source.entry.description.name))}"
    else:
        columns = [column.name for column in source.schema]
        way = "by a kernel, without a refresh"
        what = f"groups of view {identifier(source.label)}"
    names = ", ".join(identifier(columns[place]) for place in read.places)
    found = f"the {what} with the given {names} are found {way}"
    return {"Point Read": f"{found}; a transaction block reads as below"} if way else {}


def with_now(bound: BoundQuery, scanning: ScanSettings) -> Relation:
    """Return a query with the time of the statement: the engines know no now()."""
    return substitute_now(bound.root, scanning.now_us) if bound.stable else bound.root


def explained_transform(
    explained: object, bound: BoundQuery, image: CatalogImage, settings: SessionSettings
) -> ViewEntry | None:
    """Return the transform that a statement would make, None for any other statement."""
    if not isinstance(explained, CreateView):
        return None
    return defined_transform(explained, bound, image, settings, replaced_view(explained, image))


def version_lines(bound: BoundQuery) -> list[str]:
    """Return the reads of versions that come before a query."""
    found: list[str] = []
    for one in bound.versions:
        found += [f"Read before, {version_label(one)}:", *("  " + line for line in relation_lines(one.root))]
    return found


def version_label(read: VersionRead) -> str:
    """Return a read of a version of a view as people read it."""
    what = "version of" if read.since is None else "changes of"
    return f"{what} view {quoted(name_of(read.view))}"


def labelled(root: Relation, image: CatalogImage, versions: Iterable[VersionRead] = ()) -> Relation:
    """Return a query with the names of states, and of reads of versions, as people read them."""
    read = {one.name: version_label(one) for one in versions}

    def named(node: Relation) -> Relation:
        state = image.state(node.name) if isinstance(node, Scan) else None
        if isinstance(node, Scan) and state is not None and state.chain.identity.number is not None:
            return replace(node, name=state.chain.label)
        if isinstance(node, Scan) and node.name in read:
            return replace(node, name=read[node.name])
        return node

    return rewrite_everywhere(root, named)


def upper_sql(root: Relation, how: Explaining) -> Mapping[str, str]:
    """Return the texts for the work above the states of a view, by their titles."""
    root = substitute_now(root, how.scanning.now_us)
    seen = over_groups(root)
    if how.scanning.spark_groups_min >= 0 and is_for_spark(seen):
        return how.engines.upper.explain(seen)
    return {"DuckDB SQL": how.engines.tables.explain(root)}


def upper_lines(root: Relation, how: Explaining) -> list[str]:
    """Return the lines on the work above the states of a view, and its engine."""
    return [
        "  " + line for line in [*relation_lines(root), *(sql_lines(upper_sql(root, how)) if how.shows_sql else [])]
    ]


def whole_lines(whole: ViewEntry, how: Explaining) -> list[str]:
    """Return the lines on the work above the states of a view."""
    root = whole.plan.query([state.chain.label for state in whole.states])
    assert root is not None, whole.description.name
    name = identifier(whole.description.name)
    made = how.engines.wholes.made(whole)
    return [
        f"Upper pipeline of view {name}: for each version of its states and tables, kept, and shared by its readers",
        *upper_lines(root, how),
        *([] if made is None else [f"  {count_text(made, whole.states[0].chain.upkeep.last_upper)}"]),
    ]


def count_text(made: tuple[int, float], plan: str | None) -> str:
    """Return the size of the last version, the time that it took, and the way of Spark's plan."""
    rows_count, passed_s = made
    told = f"The last version has {rows_count} row{'' if rows_count == 1 else 's'}, and was made in {ms(passed_s)}"
    return told if plan is None else f"{told}, plan {plan}"


def shown_whole(
    whole: ViewEntry,
    left: dict[Chain, Facts],
    how: Explaining,
) -> Shown:
    """Return the pipelines of a view over several states.

    left: the views that are not shown yet.
    """
    made = how.engines.wholes.made(whole)
    known: dict[str, object] = {} if made is None else {"Rows": made[0], "Upper Time": ms(made[1])}
    if (plan := whole.states[0].chain.upkeep.last_upper) is not None:
        known["Plan"] = plan
    strands = [running(state.chain, left.pop(state.chain)) for state in whole.states]
    return shown_plan(whole.plan, strands, how.engines.upper, above_in(how, known))


def above_in(how: Explaining, facts: Mapping[str, object]) -> Above:
    """Return what tells the engine of a query above states, with these facts."""

    def above(root: Relation) -> tuple[str, dict[str, object]]:
        texts = upper_sql(root, how)
        return engine_of(texts), {**texts, **facts}

    return above


def groups_line(view: Chain, facts: Facts) -> str:
    """Return how many groups a view keeps now."""
    stream = facts[STREAM]
    size = bytes_per_group(view.plan.maintained)
    return f"{title(view.identity)}: {stream['Groups']} groups are kept, {stream['Groups Waiting']} wait, {size} bytes each"


def only_relation(root: Relation) -> dict[str, object]:
    """Return the relation that a query reads if it reads no other one, as programs look for it."""
    names = {scan.name for scan in scans(root) if scan.kind in (*RELATIONS, "catalog")}
    return {"Relation Name": name_of(names.pop())} if len(names) == 1 else {}


def in_form(form: str, shown: Shown, measured: Measured | None) -> list[str]:
    """Return pipelines in the form DOT or JSON."""
    if form == "dot":
        return dot_lines(shown)
    plan: dict[str, object] = {"Plan": json_form(shown)}
    if measured is not None:
        plan["Execution Time"] = round(measured.passed_s * 1000, 3)
    return [json.dumps([plan], indent=2)]


def running(view: Chain, facts: Facts, shows_sql: bool = False) -> Strand:
    """Return what is known of an existing state."""
    return Strand(view.identity, view.state.kernel_paths[0], view.time_dependent, facts, shows_sql=shows_sql)


def shown_running(view: Chain, how: Explaining, facts: Facts) -> Shown:
    """Return the pipelines of an existing view of one stream."""
    return shown_plan(view.plan, [running(view, facts)], how.engines.upper, above_in(how, {}))


def planned_draft(draft: ViewDraft, how: Explaining) -> tuple[Plan, Strand]:
    """Return the plan of a state that is not made, with its kernel, and the views with which it
    would share its stream pipeline.
    """
    planned, twin = draft.plan()
    kernel, notes = how.engines.kernels.folder / kernel_file_name(planned.plan.stream), draft.zone_notices
    facts: Facts = {}
    if twin is not None:
        kernel, active = twin.state.kernel_paths[0], [one.chain for one in draft.image.states.values() if one.active]
        names = ", ".join(view.label for view in active if view.state.program is twin.state.program)
        if names:
            facts = {STREAM: {SHARED: names}}
            notes += (f"Its stream pipeline is that of view {names}: a row is folded once for all of them",)
    return planned.plan, Strand(draft.identity, kernel, planned.time_dependent, facts, notes, how.shows_sql)


def planned_drafts(drafts: Drafts, how: Explaining) -> tuple[Plan, list[Strand]]:
    """Return the plan of a view that is not made."""
    planned = [planned_draft(draft, how) for draft in drafts.states]
    strands, plans = [strand for _, strand in planned], [plan for plan, _ in planned]
    if drafts.over is None:
        return plans[0], strands
    labels = [strand.identity.label for strand in strands]
    # As this session would read it.
    zone = drafts.states[0].definition.settings.time_zone
    return over(plans, labels, with_zone(drafts.over.above(labels), zone)), strands


def above_lines(plan: Plan, strands: Sequence[Strand], notices: Sequence[str], how: Explaining) -> list[str]:
    """Return the lines on the query above the states of a plan, none for a plan without one."""
    root, view = plan.query([strand.identity.label for strand in strands]), strands[0].identity.view
    if root is None:
        return []
    count = "a grouping" if len(strands) == 1 else f"{len(strands)} groupings"
    return [
        f"View {identifier(view.name)} over {count} of streams, kept for it as states; for each version of these runs",
        *([RETROACTIVE] if view.joins.stream_join == "retroactive" else []),
        *(notice[:1].upper() + notice[1:] for notice in notices),
        *upper_lines(root, how),
    ]


def select_lines(
    bound: BoundQuery,
    over: Relation,
    views: list[Chain],
    streams: Sequence[Stream],
    how: Explaining,
) -> list[str]:
    """Return how a SELECT is answered, and what happens to the rows of its streams.

    over: the query over whole versions.
    """
    folded = frozenset(stream.name for stream in streams if is_folded(stream, how.scanning))
    (rest,), groupings = cut_groupings([over], folded) if folded else ([over], [])
    _, collected = cut_groupings([rest], frozenset(stream.name for stream in streams))
    engine = EMBEDDED
    if groupings and how.scanning.spark_groups_min >= 0 and how.engines.upper.is_ready and is_work(rest):
        engine = f"Spark from {how.scanning.spark_groups_min} groups on (min_spark_groups), else in {EMBEDDED}"
    needed = needed_columns(bound.root)
    return [
        *explain_select(replace(bound, root=rest), views, how.engines.tables, engine, how.shows_sql),
        *(stream_line(stream, needed[stream.name]) for stream in streams),
        *grouping_lines("Folded in kernels:", groupings),
        *grouping_lines("Collected; folded in kernels when the ring holds min_stream_kernel_size:", collected),
    ]


def grouping_lines(head: str, groupings: Sequence[StreamGrouping]) -> list[str]:
    """Return groupings over streams below a line that says what happens to their rows."""
    lines = ["  " + line for grouping in groupings for line in stream_lines(grouping.plan.stream)]
    return [head, *lines] if lines else []


def stream_line(stream: Stream, needed: frozenset[int]) -> str:
    """Return the columns that a scan of a stream copies, and the begin of the scan."""
    first, end = stream.ring.kept
    names = ", ".join(identifier(stream.row[index].name) for index in sorted(needed)) or "none"
    return f"Stream {identifier(stream.name)}: tuples {first} to {end - 1} are in the ring; columns copied: {names}"
