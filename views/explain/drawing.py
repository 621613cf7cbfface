"""The pipelines of a view as a tree, for the forms of EXPLAIN that programs and drawings are made
from.

Enters: a plan, what is known of the running view. Leaves: nested `Shown` pipelines, the last to run
first; JSON values and DOT text of them. Static, stream and upper pipelines are told apart by
colour. Runs nothing and changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sql.tree.relations import Relation
from views.codegen.state_size import bytes_per_group, kept_columns
from views.explain.pipelines import relation_lines, step_lines, stream_lines
from views.model.nodes import Probe, ViewPlan
from views.model.protocols import UpperExecutor
from views.model.text import identifier

COLOURS = {"static": "#b3cde3", "stream": "#ccebc5", "upper": "#fbb4ae", "query": "#ffffff"}
# What is measured: facts by the title of a pipeline.
Actual = Mapping[str, Mapping[str, object]]

STREAM, FINISH, UPPER, TAIL = "Stream pipeline", "Finish step", "Upper pipeline", "Tail pipeline"


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


def shown_view(
    name: str, plan: ViewPlan, kernel: str, executor: UpperExecutor, stream_join: str, actual: Actual
) -> Shown:
    """Return the pipelines of a continuous view. kernel: the file of its stream pipeline.
    stream_join: as chosen.
    """

    def shown(
        kind: str,
        title: str,
        runs: str,
        engine: str,
        operators: list[str],
        inputs: Sequence[Shown],
        facts: dict[str, object],
    ) -> Shown:
        known = {"View": name, **facts, **actual.get(title, {})}
        return Shown(kind, title, runs, engine, operators, known, inputs)

    kept = plan.maintained
    columns = [{"Column": text, "Bytes": size} for text, size in kept_columns(kept)]
    static = [shown_static(probe, executor, stream_join) for probe in kept.probes]
    facts = {
        "Breaker": "first grouping",
        "State Columns": columns,
        "Bytes per Group": bytes_per_group(kept),
        "Kernel": kernel,
    }
    found = shown("stream", STREAM, "on each insert", "kernel", stream_lines(kept), static, facts)
    found = shown("upper", FINISH, "on each refresh", "kernel", step_lines(plan.finish), [found], {})
    if plan.upper is not None:
        sql: dict[str, object] = {"Spark SQL": executor.explain(plan.upper.relation)}
        lines = relation_lines(plan.upper.relation)
        found = shown("upper", UPPER, "on each refresh", "Spark", lines, [found], sql)
    if plan.tail is not None:
        found = shown("upper", TAIL, "on each refresh", "kernel", step_lines(plan.tail), [found], {})
    return found


def shown_static(probe: Probe, executor: UpperExecutor, stream_join: str) -> Shown:
    """Return the pipeline of a build side."""
    facts = {"Breaker": "join table", "Stream Join": stream_join}
    engine = "DuckDB"
    if probe.stored is None:
        engine = "Spark"
        facts["Spark SQL"] = executor.explain(probe.build)
    title = f"Static pipeline {identifier(probe.name)}"
    return Shown("static", title, "once, at CREATE VIEW", engine, relation_lines(probe.build), facts)


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
    hidden = ("View", "Breaker", "Stream Join", "State Columns", "Bytes per Group", "Kernel", "Spark SQL", "DuckDB SQL")
    facts = [f"{name.lower()} {value}" for name, value in shown.facts.items() if name not in hidden]
    lines = [f"  {shown.title}: {', '.join(facts)}"] if facts else []
    return lines + [line for part in shown.inputs for line in fact_lines(part)]
