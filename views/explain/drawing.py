"""The pipelines of a view as a tree, for the forms of EXPLAIN that programs and drawings are made
from.

Enters: a plan, what is known of the running view. Leaves: nested `Shown` pipelines, the last to run
first; JSON values and DOT text of them. Static, stream and upper pipelines are told apart by
colour. Runs nothing and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sql.tree.relations import Relation
from views.codegen.state_size import bytes_per_group, kept_columns
from views.explain.pipelines import Strand, computed_texts, engine_of, relation_lines, step_lines, stream_lines
from views.model.nodes import FinishStep, Probe, QueryAbove, StreamPipeline, UpperPipeline
from views.model.plan import Plan
from views.model.protocols import UpperExecutor
from views.model.text import identifier

COLOURS = {"static": "#b3cde3", "stream": "#ccebc5", "upper": "#fbb4ae", "query": "#ffffff"}
STREAM, FINISH, UPPER, TAIL = "Stream pipeline", "Finish step", "Upper pipeline", "Tail pipeline"
TITLES = {"stream": STREAM, "finish": FINISH, "upper": UPPER, "tail": TAIL}


@dataclass(frozen=True)
class Shown:
    """A pipeline.

    Attributes:
        kind: 'static', 'stream', 'upper' or 'query'.
        operators: a tree, one line each, inputs indented below.
    """

    kind: str
    title: str
    runs: str
    engine: str
    operators: Sequence[str]
    facts: Mapping[str, object] = field(default_factory=dict)
    inputs: Sequence[Shown] = ()


# Returns the engine of a query above states, and facts about it.
Above = Callable[[Relation], tuple[str, Mapping[str, object]]]


def shown_plan(plan: Plan, strands: Sequence[Strand], executor: UpperExecutor, above: Above) -> Shown:
    """Return the pipelines of a plan. strands: what is known of each of its stream pipelines."""
    by_output = {pipeline.output: pipeline for pipeline in plan.pipelines}

    def shown(state: int, strand: Strand) -> Shown:
        work, inputs = by_output[state].work, [shown(read, strand) for read in by_output[state].inputs]
        if isinstance(work, Probe):
            return shown_static(work, executor, strand.stream_join)
        assert not isinstance(work, QueryAbove), "a query is above the rows of states"
        return shown_work(by_output[state].kind, work, strand, executor, inputs)

    found = [shown(state, strand) for state, strand in zip(plan.yielded, strands, strict=True)]
    query = plan.query([strand.identity.label for strand in strands])
    if query is None:
        return found[0]
    engine, known = above(query)
    facts = {"View": strands[0].identity.view.name, **known}
    return Shown("upper", UPPER, "for each version of its states", engine, relation_lines(query), facts, found)


def shown_work(
    kind: str,
    work: StreamPipeline | FinishStep | UpperPipeline,
    strand: Strand,
    executor: UpperExecutor,
    inputs: Sequence[Shown],
) -> Shown:
    """Return a pipeline of one stream."""
    title, runs = TITLES[kind], "on each refresh"
    facts: dict[str, object] = {"View": strand.identity.label}
    engine, shown_kind = "kernel", "upper"
    match work:
        case StreamPipeline():
            computed = computed_texts(work)
            facts |= {
                "Breaker": "first grouping",
                **({"Computed before the Kernel": computed} if computed else {}),
                "State Columns": [{"Column": text, "Bytes": size} for text, size in kept_columns(work)],
                "Bytes per Group": bytes_per_group(work),
                "Kernel": strand.file,
            }
            lines, shown_kind, runs = stream_lines(work), "stream", "on each insert"
        case FinishStep():
            lines = step_lines(work)
        case UpperPipeline():
            texts = executor.explain(work.relation)
            facts |= texts
            engine, lines = engine_of(texts), relation_lines(work.relation)
    return Shown(shown_kind, title, runs, engine, lines, {**facts, **strand.actual.get(title, {})}, inputs)


def shown_static(probe: Probe, executor: UpperExecutor, stream_join: str) -> Shown:
    """Return the pipeline of a build side."""
    facts = {"Breaker": "join table", "Stream Join": stream_join}
    if probe.stored is None:
        facts |= executor.explain(probe.build)
    title = f"Static pipeline {identifier(probe.name)}"
    return Shown("static", title, "once, at CREATE VIEW", "DuckDB", relation_lines(probe.build), facts)


def shown_query(root: Relation, sql: str, views: Sequence[Shown], facts: Mapping[str, object]) -> Shown:
    """Return a query over views and tables."""
    return Shown("query", "Query", "on each read", "DuckDB", relation_lines(root), {"DuckDB SQL": sql, **facts}, views)


def json_form(shown: Shown) -> dict[str, Any]:
    """Return a pipeline as JSON values, with the key names that readers of PostgreSQL's form look
    for.
    """
    form: dict[str, Any] = {
        "Node Type": shown.title,
        "Class": shown.kind,
        "Runs": shown.runs,
        "Engine": shown.engine,
        "Operators": list(shown.operators),
        **shown.facts,
    }
    if shown.inputs:
        form["Plans"] = [json_form(part) for part in shown.inputs]
    return form


def dot_lines(shown: Shown) -> list[str]:
    """Return a drawing in the language of Graphviz: data goes up, a box is a pipeline."""
    lines = ["digraph plan {", "  rankdir=BT;", '  node [shape=box, style=filled, fontname="monospace", fontsize=10];']
    numbers = iter(range(1 << 30))

    def draw(part: Shown) -> str:
        node = f"p{next(numbers)}"
        facts = (f"{name}: {value}" for name, value in part.facts.items() if isinstance(value, int | float | str))
        short = [fact for fact in facts if "\n" not in fact and "SQL" not in fact]
        text = "".join(escaped(line) + "\\l" for line in (f"{part.title}, {part.runs}", *part.operators, *short))
        lines.append(f'  {node} [label="{text}", fillcolor="{COLOURS[part.kind]}"];')
        for below in part.inputs:
            lines.append(f"  {draw(below)} -> {node};")
        return node

    draw(shown)
    return [*lines, "}"]


def escaped(text: str) -> str:
    """Return text for a label."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def fact_lines(shown: Shown) -> list[str]:
    """Return what was measured, or is so now, of a pipeline and those below it, one line each."""
    hidden = {
        "View",
        "Breaker",
        "Computed before the Kernel",
        "Stream Join",
        "State Columns",
        "Bytes per Group",
        "Kernel",
    }
    told = {name: value for name, value in shown.facts.items() if name not in hidden and " SQL" not in name}
    facts = [f"{name.lower()} {value}" for name, value in told.items()]
    lines = [f"  {shown.title}: {', '.join(facts)}"] if facts else []
    return lines + [line for part in shown.inputs for line in fact_lines(part)]
