"""The plan of a continuous view: a graph of pipelines, with the states at its edges.

A pipeline reads states, and relations that it scans itself, and leaves one state. All is frozen and
hashable; a plan knows nothing of the memory in which its states are kept. `views.plan.split` makes
plans.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sql.tree.relations import Relation, Scan, Schema
from sql.tree.walks import relation_names, rewrite_everywhere, scans
from views.model.nodes import FinishStep, Probe, QueryAbove, StreamPipeline, UpperPipeline

# In the order in which rows go through them. No pipeline of kind delta is made yet: it is for the
# changes of one state that another state is kept by.
KINDS = ("static", "stream", "delta", "finish", "upper", "tail")

# What a pipeline does with rows; a static pipeline makes the build side of a probe.
Work = Probe | StreamPipeline | FinishStep | UpperPipeline | QueryAbove


@dataclass(frozen=True)
class State:
    """The rows that one pipeline of a plan leaves for others.

    Attributes:
        id: its number in the plan, which says nothing outside of it: the groups of a view have an
            oid in its definition.
        kind: 'joined', the rows that a probe meets; 'groups', which commits change; 'rows', which a
            refresh makes.
    """

    id: int
    kind: str
    schema: Schema


@dataclass(frozen=True)
class Pipeline:
    """A path on which no row is kept.

    Attributes:
        kind: one of KINDS.
        inputs: the ids of the states that it reads.
        output: the id of the state that it leaves.
        read_as: of a stream pipeline, the pipeline as whose groups the state is read: CREATE OR
            REPLACE VIEW lets the pipeline that a view had go on in the place of one that it covers
            (`views.share.reuse`). None: as its own.
    """

    kind: str
    work: Work
    inputs: tuple[int, ...]
    output: int
    read_as: StreamPipeline | None = None

    @cached_property
    def sources(self) -> frozenset[str]:
        """The names of the relations that it scans itself: a stream, or tables."""
        match self.work:
            case Probe():
                return relation_names(self.work.build)
            case StreamPipeline():
                return frozenset((self.work.stream,))
            case UpperPipeline():
                return self.work.tables
            case QueryAbove():
                return frozenset(scan.name for scan in scans(self.work.relation) if scan.kind != "state")
        return frozenset()


@dataclass(frozen=True)
class Plan:
    """The pipelines of a view and their states.

    Attributes:
        pipelines: each after those whose states it reads.
        states: by id.
    """

    pipelines: tuple[Pipeline, ...]
    states: tuple[State, ...]

    def __post_init__(self) -> None:
        assert [state.id for state in self.states] == list(range(len(self.states))), self.states
        left: set[int] = set()
        for pipeline in self.pipelines:
            assert pipeline.kind in KINDS and left.issuperset(pipeline.inputs), pipeline
            left.add(pipeline.output)
        assert len(left) == len(self.pipelines) == len(self.states), "a state is left by one pipeline"

    def of_kind(self, kind: str) -> list[Pipeline]:
        """Return the pipelines of a kind."""
        return [pipeline for pipeline in self.pipelines if pipeline.kind == kind]

    @cached_property
    def yielded(self) -> tuple[int, ...]:
        """The ids of the states with the rows above each stream pipeline, in their order."""
        last = self.pipelines[-1]
        return last.inputs if isinstance(last.work, QueryAbove) else (last.output,)

    def below(self, state: int) -> tuple[Pipeline, ...]:
        """Return the pipeline that leaves a state, and then those whose states it reads."""
        (own,) = (pipeline for pipeline in self.pipelines if pipeline.output == state)
        return (own, *(pipeline for read in own.inputs for pipeline in self.below(read)))

    def query(self, names: Sequence[str]) -> Relation | None:
        """Return the query above the rows of all stream pipelines, None: there is none.

        names: of the views that the query scans in the places of these rows.
        """
        work = self.pipelines[-1].work
        if not isinstance(work, QueryAbove):
            return None
        called = {str(state): name for state, name in zip(self.yielded, names, strict=True)}

        def scanned(node: Relation) -> Relation:
            is_state = isinstance(node, Scan) and node.kind == "state"
            return replace(node, name=called[node.name], kind="view") if isinstance(node, Scan) and is_state else node

        return rewrite_everywhere(work.relation, scanned)

    # What follows is for a plan with one stream pipeline, which is a chain. A plan with several is
    # made of such chains (`over`).

    @cached_property
    def _stream(self) -> Pipeline:
        (pipeline,) = self.of_kind("stream")
        return pipeline

    @cached_property
    def maintained(self) -> StreamPipeline:
        """The stream pipeline that runs per insert."""
        work = self._stream.work
        assert isinstance(work, StreamPipeline)
        return work

    @property
    def stream(self) -> StreamPipeline:
        """The stream pipeline whose groups are read."""
        return self._stream.read_as or self.maintained

    @property
    def kept(self) -> StreamPipeline | None:
        """The pipeline that goes on in the place of `stream`, None: no other one does."""
        return None if self._stream.read_as is None else self.maintained

    @cached_property
    def finish(self) -> FinishStep:
        """The step that runs while groups are exported."""
        (step,) = self._steps("finish")
        return step

    @cached_property
    def tail(self) -> FinishStep | None:
        """The step on the rows that Spark returns, if any: exact division of decimals is in our
        kernels alone.
        """
        return next(iter(self._steps("tail")), None)

    @cached_property
    def upper(self) -> UpperPipeline | None:
        """The pipeline that Spark runs, if any."""
        return next((one.work for one in self.pipelines if isinstance(one.work, UpperPipeline)), None)

    def _steps(self, kind: str) -> list[FinishStep]:
        return [one.work for one in self.of_kind(kind) if isinstance(one.work, FinishStep)]

    @cached_property
    def stream_tables(self) -> frozenset[str]:
        """The tables below the first grouping, which are read once, at CREATE VIEW."""
        return frozenset().union(*(pipeline.sources for pipeline in self.of_kind("static")))

    @cached_property
    def upper_tables(self) -> frozenset[str]:
        """The tables above the first grouping, which are read at each refresh."""
        return frozenset().union(*(pipeline.sources for pipeline in self.of_kind("upper")))


def chain(
    stream: StreamPipeline,
    finish: FinishStep,
    upper: UpperPipeline | None = None,
    tail: FinishStep | None = None,
    kept: StreamPipeline | None = None,
) -> Plan:
    """Return the plan static... -> stream -> finish -> (upper -> tail)?.

    kept: goes on in the place of `stream`.
    """
    maintained = stream if kept is None else kept
    made = _Making()
    joined = tuple(made.add("static", probe, (), "joined", probe.build.schema) for probe in maintained.probes)
    groups = made.add("stream", maintained, joined, "groups", maintained.groups)
    if kept is not None:
        made.pipelines[-1] = replace(made.pipelines[-1], read_as=stream)
    last = made.add("finish", finish, (groups,), "rows", finish.output)
    if upper is not None:
        last = made.add("upper", upper, (last,), "rows", upper.relation.schema)
    if tail is not None:
        made.add("tail", tail, (last,), "rows", tail.output)
    return made.plan()


def over(chains: Sequence[Plan], names: Sequence[str], root: Relation) -> Plan:
    """Return one plan of several chains and a query that scans the rows of each of them.

    names: of these scans of views, in the order of the chains.
    """
    made = _Making()
    yielded: list[int] = []
    for plan in chains:
        start = len(made.states)
        made.states += [replace(state, id=start + state.id) for state in plan.states]
        made.pipelines += [
            replace(one, inputs=tuple(start + read for read in one.inputs), output=start + one.output)
            for one in plan.pipelines
        ]
        yielded.append(made.pipelines[-1].output)
    states = dict(zip(names, yielded, strict=True))

    def scanned(node: Relation) -> Relation:
        is_state = isinstance(node, Scan) and node.kind == "view" and node.name in states
        return replace(node, name=str(states[node.name]), kind="state") if isinstance(node, Scan) and is_state else node

    made.add("upper", QueryAbove(rewrite_everywhere(root, scanned)), yielded, "rows", root.schema)
    return made.plan()


class _Making:
    def __init__(self) -> None:
        self.pipelines: list[Pipeline] = []
        self.states: list[State] = []

    def add(self, kind: str, work: Work, inputs: Sequence[int], left: str, schema: Schema) -> int:
        """Add a pipeline and return the id of the state that it leaves."""
        state = State(len(self.states), left, schema)
        self.states.append(state)
        self.pipelines.append(Pipeline(kind, work, tuple(inputs), state.id))
        return state.id

    def plan(self) -> Plan:
        return Plan(tuple(self.pipelines), tuple(self.states))
