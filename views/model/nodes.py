"""The work of a continuous view's pipelines (`views.model.plan`), for codegen, state and Spark.

All are frozen and hashable. Expressions address the columns of the schema named beside them by
index.
"""

from __future__ import annotations

from dataclasses import dataclass

from sql.tree.expressions import AggregateCall, Column, Expression
from sql.tree.relations import Project, Relation, Scan, Schema
from sql.tree.walks import scans
from sql.types.datatypes import SqlType

# The value of its argument in the first row in its order, of which a DISTINCT ON is made, too, and
# in the last one.
FIRST, LAST = "first", "last"
# The list of the values of its first argument in so many first rows as the second one says.
FIRST_ROWS = "first_rows"
OF_FIRST_ROWS = frozenset({FIRST, LAST, FIRST_ROWS})
# The function that makes of a value, or of NULL, the bytes that a list has for it.
ELEMENT = "list_element"
# The function that makes two floats one value, NULL if one of them is.
PAIR = "float_pair"


def is_of_distinct_on(call: AggregateCall) -> bool:
    """Tell whether an aggregate is part of a DISTINCT ON, or of several first rows, and written by
    nobody.
    """
    return call.function in (FIRST, FIRST_ROWS) and not call.text


def kept_name(call: AggregateCall) -> str:
    """Return what people call an aggregate of which they have written a query, or not itself."""
    if call.function == FIRST_ROWS:
        return "the first rows of each group"
    return "DISTINCT ON" if is_of_distinct_on(call) else call.function


@dataclass(frozen=True)
class Probe:
    """A join in a stream pipeline: a row meets the rows of a build side that have equal keys.

    The columns of the build side follow the row's own.

    Attributes:
        name: of the tables, for people.
        build: the static pipeline, which runs once.
        kept: how many of the first columns of `build` a match yields; the others are keys only.
        kind: 'inner', or 'left', which keeps a row without a match, with NULLs.
        keys: pairs of an expression over the row so far and a column of `build`; without any, all
            rows match.
        guards: conditions of a left join on the row so far, without which nothing matches.
        filters: conditions on the longer rows.
    """

    name: str
    build: Relation
    kept: int
    kind: str
    keys: tuple[tuple[Expression, int], ...]
    guards: tuple[Expression, ...]
    filters: tuple[Expression, ...]

    @property
    def stored(self) -> tuple[str, tuple[int, ...]] | None:
        """The table that the build side reads as it is stored, and the places of its columns, or
        None.

        None: there is something to compute.
        """
        build = self.build
        if isinstance(build, Scan):
            return (build.name, tuple(range(len(build.schema)))) if build.kind == "table" else None
        if not isinstance(build, Project) or not isinstance(build.input, Scan) or build.input.kind != "table":
            return None
        places = tuple(item.index for _, item in build.items if isinstance(item, Column))
        return (build.input.name, places) if len(places) == len(build.items) else None


@dataclass(frozen=True)
class Closing:
    """The windows of a grouping, which close when rows of later times have come.

    The watermark is the latest time among the rows of all statements before, less the lateness. A
    window closes when the watermark has come to its end.

    Attributes:
        key: of the pipeline, in `meaning` as the next one.
        time: of a row, by which windows are told; its maximum and `count(*)` are among the
            aggregates of the pipeline.
        ends_after_us: the end of a window less its key, at most.
        lateness_us: how much later than the end of a window the latest time is when it closes.
        drops: rows that come later are left out; False: they count.
        on_close: a window is not shown before it closes.
    """

    key: Expression
    time: Expression
    ends_after_us: int
    lateness_us: int
    drops: bool
    on_close: bool


@dataclass(frozen=True)
class StreamPipeline:
    """The pipeline that runs per morsel: scan -> filters -> probes -> grouping.

    Attributes:
        filters: address `input`, which is all columns of the stream.
        keys, aggregates: address `row`, in which the columns of the probes follow those of `input`.
        on_error: 'reject' fails the inserting statement on a row that can't be evaluated, 'skip'
            leaves the row out and counts it.
        parameters: types of the constants that come with each statement (`views.model.parameters`);
            a view has none.
        added: places in `aggregates`, from each of which on they were added together while groups
            were kept already: they count rows from then on.
        closing: None: all rows count, and all groups are shown.
    """

    stream: str
    input: Schema
    filters: tuple[Expression, ...]
    keys: tuple[tuple[str, Expression], ...]
    aggregates: tuple[tuple[str, AggregateCall], ...]
    groups: Schema
    on_error: str = "reject"
    probes: tuple[Probe, ...] = ()
    parameters: tuple[SqlType, ...] = ()
    added: tuple[int, ...] = ()
    closing: Closing | None = None

    @property
    def row(self) -> Schema:
        """The columns of a row after all probes."""
        return (*self.input, *(column for probe in self.probes for column in probe.build.schema))


@dataclass(frozen=True)
class FinishStep:
    """The breaker-free work on rows while they are exported: filter by `predicates`, yield `items`.

    Expressions address `input`; `output` is the schema of the items.
    """

    input: Schema
    predicates: tuple[Expression, ...]
    items: tuple[tuple[str, Expression], ...]
    output: Schema


@dataclass(frozen=True)
class QueryAbove:
    """The work above several states, done for each version of these and of tables.

    Attributes:
        relation: a query, in which a scan of kind 'state' reads the rows of a state, by its id.
    """

    relation: Relation


@dataclass(frozen=True)
class UpperPipeline:
    """The pipeline that Spark runs.

    Attributes:
        relation: a tree with one leaf Scan(name, 'groups', schema = output of the finish step); its
            other leaves are tables.
    """

    relation: Relation

    @property
    def groups(self) -> str:
        """The name under which the relation reads the groups, which is not the name of one of its
        tables.
        """
        (name,) = (scan.name for scan in scans(self.relation) if scan.kind == "groups")
        return name

    @property
    def tables(self) -> frozenset[str]:
        """The names of the tables that the relation reads."""
        return frozenset(scan.name for scan in scans(self.relation) if scan.kind == "table")
