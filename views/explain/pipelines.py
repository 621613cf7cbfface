"""EXPLAIN: the pipelines of a continuous view, or how a SELECT over continuous views is answered,
as lines of text.

Enters: plans, views, and what prints the engines' SQL. Leaves: lines for the one column QUERY PLAN.
Runs nothing and changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from sql.times.interval_values import interval_text
from sql.tree.expressions import Expression
from sql.tree.relations import (
    Aggregate,
    BoundQuery,
    Distinct,
    Filter,
    Join,
    Limit,
    Project,
    Recursive,
    Relation,
    Scan,
    SetOperation,
    Shared,
    Sort,
    TableFunction,
    Values,
    Window,
)
from sql.tree.walks import is_known, relation_names, scans
from views.codegen.expressions import text_of
from views.codegen.state_size import kept_lines
from views.codegen.support import computed_columns
from views.delta.upper import NoDeltaError, delta_plan
from views.model.definition import StateDefinition
from views.model.nodes import Closing, FinishStep, Probe, QueryAbove, StreamPipeline, UpperPipeline
from views.model.plan import Pipeline, Plan
from views.model.protocols import UpperExecutor
from views.model.text import aggregate_text, expression_text, identifier, key_text, window_text
from views.model.trees import inputs
from views.upkeep.chain import Chain

INDENT = "  "
# What is measured: facts by the title of a pipeline.
Actual = Mapping[str, Mapping[str, object]]

EMBEDDED = "the embedded engine (DuckDB)"


class QueryPrinter(Protocol):
    """Prints the SQL that the embedded engine runs for a relation."""

    def explain(self, root: Relation) -> str:
        """Return the SQL text of `root`."""


@dataclass(frozen=True)
class Strand:
    """Facts about a stream pipeline of a plan and those above it, up to their rows.

    Attributes:
        identity: of the state.
        kernel: the file of the stream pipeline.
        is_time_dependent: no version of the rows can be used again.
        actual: what is measured.
        notes: for people, below all pipelines.
        shows_sql: the engines' SQL is among the lines of the pipelines.
    """

    identity: StateDefinition
    kernel: Path
    is_time_dependent: bool
    actual: Actual = field(default_factory=dict)
    notes: Sequence[str] = ()
    shows_sql: bool = True

    @property
    def stream_join(self) -> str:
        """The state of tables that rows of the stream meet, as chosen."""
        return self.identity.view.joins.stream_join

    @property
    def file(self) -> str:
        """The kernel as people read it."""
        return f"{self.kernel.parent.name}/{self.kernel.name}"


def plan_lines(plan: Plan, strands: Sequence[Strand], executor: UpperExecutor) -> list[str]:
    """Return the pipelines of a plan up to the rows above each stream pipeline, the last to run
    first.
    """
    pairs = zip(plan.yielded, strands, strict=True)
    changes = [] if plan.upper is None else change_lines(plan, strands[0].identity.view.upper_maintenance)
    return [line for state, strand in pairs for line in strand_lines(plan.below(state), strand, executor, changes)]


def change_lines(plan: Plan, choice: str) -> list[str]:
    """Return how the upper pipeline of a plan is kept by change, or why it is run whole."""
    told = f"(upper_maintenance = {choice})"
    if choice == "spark":
        return [f"{INDENT}Run whole at each refresh {told}"]
    try:
        delta = delta_plan(plan).plan
    except NoDeltaError as reason:
        return [f"{INDENT}Run whole at each refresh: {reason} {told}"]
    lines = [*step_lines(delta.finish), *_indented(stream_lines(delta.maintained))]
    if delta.upper is not None:
        lines = [*relation_lines(delta.upper.relation), *_indented(lines)]
    if delta.tail is not None:
        lines = [*step_lines(delta.tail), *_indented(lines)]
    return [f"{INDENT}Kept by change where groups have changed, in kernels {told}", *_indented(_indented(lines))]


def title(identity: StateDefinition, word: str = "View") -> str:
    """Return what begins a line about a state; word: where the state is the whole view."""
    name, number = identifier(identity.view.shown), identity.number
    return f"{word} {name}" if number is None else f"State {number + 1} of view {name}"


def strand_lines(
    pipelines: Sequence[Pipeline], strand: Strand, executor: UpperExecutor, changes: Sequence[str] = ()
) -> list[str]:
    """Return the pipelines up to the rows of a state, the last to run first, below a head.

    changes: how the upper pipeline is kept by change.
    """
    (stream,) = (one for pipeline in pipelines if pipeline.kind == "stream" for one in pipeline.sources)
    lines = [f"{title(strand.identity, 'Continuous view')} over stream {identifier(stream)}"]
    for pipeline in pipelines:
        lines += pipeline_lines(pipeline, strand, executor)
        lines += changes if pipeline.kind == "upper" else ()
    tables = sorted({name for pipeline in pipelines if pipeline.kind == "upper" for name in pipeline.sources})
    if tables:
        names = ", ".join(map(identifier, tables))
        lines.append(f"A read refreshes when a statement has changed table {names}, too")
    if strand.is_time_dependent:
        lines.append("Every read refreshes: something above the stream pipeline uses now()")
    return [*lines, *strand.notes]


# What the title of a pipeline says, by its kind; the others say more.
TITLES = {
    "tail": "Tail pipeline: on each refresh, in kernels, on the rows that Spark returns",
    "finish": "Finish step: on each refresh, in kernels, while groups are exported",
}


def pipeline_lines(pipeline: Pipeline, strand: Strand, executor: UpperExecutor) -> list[str]:
    """Return a pipeline below the rows of a state, without those whose states it reads."""
    work = pipeline.work
    match work:
        case FinishStep():
            return [TITLES[pipeline.kind], *_indented(step_lines(work))]
        case UpperPipeline():
            texts = executor.explain(work.relation)
            lines = [*relation_lines(work.relation), *(sql_lines(texts) if strand.shows_sql else [])]
            return [f"Upper pipeline: on each refresh, in {engine_of(texts)}", *_indented(lines)]
        case StreamPipeline():
            computed = (f"Computed before the kernel: {text}" for text in computed_texts(work))
            lines = [*stream_lines(work), *computed, *kept_lines(work), f"Kernel: {strand.file}"]
            return ["Stream pipeline: on each insert, in kernels", *_indented(lines)]
        case Probe():
            return static_lines(work, executor, strand)
        case QueryAbove():
            raise AssertionError("a query is above the rows of states")


def engine_of(texts: Mapping[str, str]) -> str:
    """Return the engine of a pipeline from the titles of its SQL texts, the last one first."""
    *_, title = texts
    return title.split()[0]


def sql_lines(texts: Mapping[str, str]) -> list[str]:
    """Return the SQL texts of a pipeline, each below its title."""
    return [line for title, text in texts.items() for line in (f"{title}:", *_indented(text.splitlines()))]


def explain_select(
    bound: BoundQuery, views: Sequence[Chain], printer: QueryPrinter, engine: str = EMBEDDED, shows_sql: bool = True
) -> list[str]:
    """Return how a SELECT is answered: the engine, and the embedded engine's SQL if that is wanted,
    then which version of which view.
    """
    kinds = {scan.kind for scan in scans(bound.root)}
    names = {"stream": "streams", "rows": "groups of streams"}
    read = " and ".join([*(name for kind, name in names.items() if kind in kinds), "stored versions"])
    lines = [f"Query on {read}, in {engine}", *_indented(relation_lines(bound.root))]
    if shows_sql:
        lines += [INDENT + "DuckDB SQL:", *_indented(_indented(printer.explain(bound.root).splitlines()))]
    if len(views) > 1:
        lines.append("All views are cut at one position per stream, between two commits")
    return lines + [line for view in views for line in _version_lines(view)]


def relation_lines(relation: Relation, known: set[str] | None = None) -> list[str]:
    """Return a tree of operators, the root first, each input indented below; known: names of what
    is shared, and was shown.
    """
    known = set() if known is None else known
    lines = [_operator_text(relation)]
    if is_known(relation, known):
        return lines
    for part in inputs(relation):
        lines += _indented(relation_lines(part, known))
    return lines


def step_lines(step: FinishStep) -> list[str]:
    """Return what a breaker-free step keeps and yields."""
    lines = [f"Rows where: {_joined(step.predicates)}"] if step.predicates else []
    return [*lines, f"Yields: {_items(step.items)}"]


def stream_lines(stream: StreamPipeline) -> list[str]:
    """Return the operators of a stream pipeline, the breaker first."""
    lines = [
        _grouping_text(Aggregate(Scan(stream.stream, "stream", stream.input), stream.keys, stream.aggregates))
        + " (pipeline breaker)"
    ]
    if stream.closing is not None:
        lines.append(INDENT + _closing_text(stream.closing))
    below = [line for probe in reversed(stream.probes) for line in _probe_lines(probe)]
    if stream.filters:
        below.append(f"Filter: {_joined(stream.filters)}")
    scan = f"Scan stream {identifier(stream.stream)}"
    if stream.on_error == "skip":
        scan += ", leaving out rows that fail (on_error = skip)"
    return lines + [INDENT * (depth + 1) + line for depth, line in enumerate([*below, scan])]


def _closing_text(closing: Closing) -> str:
    """Return when windows close, and what that means."""
    after = interval_text((0, 0, closing.lateness_us))
    late = "left out" if closing.drops else "taken"
    shown = "on_close" if closing.on_close else "on_update"
    return f"Windows close {after} after their end, later rows are {late} (emit = {shown})"


def computed_texts(stream: StreamPipeline) -> list[str]:
    """Return the expressions that the embedded engine computes before the kernel of a pipeline."""
    return [text_of(part) for part in computed_columns(stream)]


# What the choice of stream_join says of the tables below the first grouping.
MET = {
    "frozen": "at CREATE VIEW, and they can't change",
    "arrival": "when the rows are committed",
    "retroactive": "in the version that is read",
}


def static_lines(probe: Probe, executor: UpperExecutor, strand: Strand) -> list[str]:
    """Return the pipeline of a build side, what rows of the stream meet of it, and what is kept of
    it.
    """
    schema, stream_join = probe.build.schema, strand.stream_join
    again = ", and again when its tables change" if stream_join == "arrival" else ""
    how = "in DuckDB" if probe.stored is None else "as stored"
    lines = [f"Static pipeline {identifier(probe.name)}: once, at CREATE VIEW, {how}{again}"]
    if any(True for _ in relation_names(probe.build)):
        lines.append(f"{INDENT}Rows meet its tables as they are {MET[stream_join]} (stream_join = {stream_join})")
    lines += _indented(relation_lines(probe.build))
    if probe.stored is None and strand.shows_sql:
        lines += _indented(sql_lines(executor.explain(probe.build)))
    keys = ", ".join(identifier(schema[place].name) for _, place in probe.keys) or "none, every row matches"
    kept = ", ".join(identifier(column.name) for column in schema[: probe.kept]) or "only how many rows match"
    return [*lines, f"{INDENT}Join table: keys {keys}; yields {kept}"]


def _probe_lines(probe: Probe) -> list[str]:
    """Return the operators of a join in a stream pipeline, the last to run first."""
    schema = probe.build.schema
    keys = [f"{expression_text(key)} = {identifier(schema[place].name)}" for key, place in probe.keys]
    conditions = " AND ".join([*keys, *(expression_text(guard) for guard in probe.guards)]) or "every row"
    kept = ", keeping rows without a match" if probe.kind == "left" else ""
    lines = [f"Probe {identifier(probe.name)} on {conditions}{kept}"]
    return [f"Filter: {_joined(probe.filters)}", *lines] if probe.filters else lines


def _version_lines(view: Chain) -> list[str]:
    """Return which version a read would give, how many rows were left out, and how large the view's
    join tables are.
    """
    lines = [_version_line(view)]
    if view.plan.stream.on_error == "skip":
        lines.append(
            f"{INDENT}{_counted(view.state.groups.counts.tuples_skipped, 'row')} left out so far (on_error = skip)"
        )
    for probe, table in zip(view.plan.stream.probes, view.state.program.join_tables, strict=True):
        form = "addresses" if table.is_dense else "hashed"
        keys = f"{_counted(table.keys_count, 'key')} ({form})" if probe.keys else "no keys"
        lines.append(
            f"{INDENT}Join table {identifier(probe.name)}: {_counted(table.rows_count, 'row')}, {keys}, {table.bytes_count} bytes"
        )
    return lines


def _version_line(view: Chain) -> str:
    head, latest = title(view.identity), view.latest
    if view.time_dependent:
        return f"{head}: refreshed at every read, since it uses now()"
    if latest is None:
        return f"{head}: no version yet, the first read makes version 1"
    if latest.position == view.committed:
        rows = _counted(latest.table.num_rows, "row")
        return f"{head}: version {latest.number} is used again, {rows}, nothing was committed since"
    since = _counted(view.committed - latest.position, "statement")
    return f"{head}: version {latest.number} is {since} old, a read makes version {view.upkeep.versions_count + 1}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _operator_text(relation: Relation) -> str:
    match relation:
        case Scan():
            return (
                f"Scan {relation.kind} {identifier(relation.name)}"
                if relation.kind != "groups"
                else "Scan groups of the finish step"
            )
        case Values():
            return f"Values: {_counted(len(relation.rows), 'row')}"
        case Filter():
            return f"Filter: {expression_text(relation.predicate)}"
        case Project():
            return f"Project: {_items(relation.items)}"
        case Aggregate():
            return _grouping_text(relation)
        case Window():
            return "Window: " + ", ".join(f"{window_text(call)} AS {identifier(name)}" for name, call in relation.calls)
        case Distinct():
            return "Distinct"
        case Sort():
            return "Sort: " + ", ".join(key_text(key) for key in relation.keys)
        case Limit():
            bounds = [("LIMIT", relation.limit), ("OFFSET", relation.offset)]
            return "Limit: " + " ".join(
                f"{word} {expression_text(bound)}" for word, bound in bounds if bound is not None
            )
        case Join():
            condition = "" if relation.condition is None else f" on {expression_text(relation.condition)}"
            return f"Join: {relation.kind}{' lateral' if relation.lateral is not None else ''}{condition}"
        case SetOperation():
            return f"{relation.kind.capitalize()}{' all' if relation.all else ''}"
        case TableFunction():
            calls = (
                f"{name}({', '.join(expression_text(part) for part in arguments)})"
                for name, arguments in relation.calls
            )
            return f"Rows of {', '.join(calls)}{' with ordinality' if relation.ordinality else ''}"
        case Shared():
            return f"Shared: {identifier(relation.name.rpartition(' ')[0])}"
        case Recursive():
            return f"Recursive{' all' if relation.all else ''}: {identifier(relation.name)}"


def _grouping_text(grouping: Aggregate) -> str:
    keys = f" by {_items(grouping.keys)}" if grouping.keys else ""
    if grouping.sets is not None:
        sets = ("(" + ", ".join(expression_text(grouping.keys[key][1]) for key in part) + ")" for part in grouping.sets)
        keys = f" by grouping sets {', '.join(sets)}"
    calls = ", ".join(f"{aggregate_text(call)} AS {identifier(name)}" for name, call in grouping.aggregates)
    return f"Group{keys}" + (f": {calls}" if calls else "")


def _items(items: Sequence[tuple[str, Expression]]) -> str:
    shown = []
    for name, item in items:
        text = expression_text(item)
        shown.append(text if text == identifier(name) else f"{text} AS {identifier(name)}")
    return ", ".join(shown)


def _joined(predicates: Sequence[Expression]) -> str:
    return " AND ".join(
        f"({expression_text(part)})" if len(predicates) > 1 else expression_text(part) for part in predicates
    )


def _indented(lines: Sequence[str]) -> list[str]:
    return [INDENT + line for line in lines]
