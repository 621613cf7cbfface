"""A plan is a graph: every pipeline reads states that earlier pipelines have left."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sql.tree.expressions import AggregateCall, Column
from sql.tree.relations import Join, OutputColumn, Scan
from sql.types.datatypes import INT8
from views.model.nodes import FinishStep, Probe, QueryAbove, StreamPipeline, UpperPipeline
from views.model.plan import Pipeline, Plan, State, chain, over

NUMBERS = (OutputColumn("n", INT8),)
N = Column(0, "n", INT8)
GROUPS = (OutputColumn("n", INT8), OutputColumn("count", INT8))
COUNT = (("count", AggregateCall("count_star", (), INT8)),)
PROBE = Probe("t", Scan("t", "table", NUMBERS), 1, "inner", ((N, 0),), (), ())
STREAM = StreamPipeline("s", NUMBERS, (), (("n", N),), COUNT, GROUPS, probes=(PROBE, replace(PROBE, name="u")))
FINISH = FinishStep(GROUPS, (), (("n", N),), NUMBERS)
UPPER = UpperPipeline(Scan("groups", "groups", NUMBERS))


def test_rows_go_from_static_pipelines_to_the_tail() -> None:
    plan = chain(STREAM, FINISH, UPPER, FINISH)
    assert [pipeline.kind for pipeline in plan.pipelines] == ["static", "static", "stream", "finish", "upper", "tail"]
    assert [pipeline.inputs for pipeline in plan.pipelines] == [(), (), (0, 1), (2,), (3,), (4,)]
    assert [state.kind for state in plan.states] == ["joined", "joined", "groups", "rows", "rows", "rows"]
    assert plan.states[2].schema == GROUPS
    assert [sorted(pipeline.sources) for pipeline in plan.pipelines] == [["t"], ["t"], ["s"], [], [], []]
    assert (plan.stream, plan.finish, plan.upper, plan.tail) == (STREAM, FINISH, UPPER, FINISH)
    assert plan.stream_tables == {"t"} and plan.upper_tables == frozenset()


def test_a_pipeline_that_goes_on_is_read_as_another() -> None:
    wider = replace(STREAM, aggregates=(*COUNT, *COUNT))
    plan = chain(STREAM, FINISH, kept=wider)
    assert (plan.stream, plan.kept, plan.maintained) == (STREAM, wider, wider)
    assert chain(STREAM, FINISH).kept is None
    assert chain(STREAM, FINISH) == chain(replace(STREAM), replace(FINISH)) != plan


def test_a_query_above_several_states_ends_one_plan() -> None:
    plan = chain(STREAM, FINISH, UPPER)
    x, y = (Scan(name, "view", NUMBERS) for name in ("x", "y"))
    query = Join(x, y, "inner", None)
    both = over([plan, plan], ["x", "y"], Join(Scan("x", "table", NUMBERS), query, "inner", None))
    assert [one.inputs for one in both.pipelines[-4:]] == [(5, 6), (7,), (8,), (4, 9)]
    assert len(both.of_kind("stream")) == 2 and len(both.states) == 11
    assert both.pipelines[-1].sources == {"x"}, "the table of that name stays"
    assert both.yielded == (4, 9) and plan.yielded == (4,) and plan.query(["x"]) is None
    assert [one.kind for one in both.below(9)] == ["upper", "finish", "stream", "static", "static"]
    assert both.below(4) == tuple(reversed(plan.pipelines[2:])) + plan.pipelines[:2]
    again = over([plan, plan], ["y", "x"], Join(y, x, "inner", None))
    one, two = (Scan(name, "state", NUMBERS) for name in ("4", "9"))
    assert again.pipelines[-1].work == QueryAbove(Join(one, two, "inner", None))
    assert again == over([plan, plan], ["x", "y"], Join(x, y, "inner", None)), "names are no part of a plan"
    assert again.query(["y", "x"]) == Join(y, x, "inner", None)


def test_a_state_is_left_before_it_is_read() -> None:
    states = (State(0, "groups", GROUPS), State(1, "rows", NUMBERS))
    stream, finish = Pipeline("stream", STREAM, (), 0), Pipeline("finish", FINISH, (0,), 1)
    assert Plan((stream, finish), states).states == states
    for wrong in (
        (finish, stream),
        (stream, replace(finish, output=0)),
        (stream,),
        (stream, replace(finish, kind="x")),
    ):
        with pytest.raises(AssertionError):
            Plan(wrong, states)
