"""The relational operators of a bound query: an immutable, hashable tree over
`sql.tree.expressions`.

Leaves are scans and VALUES. Each operator has `schema`, the columns that it yields, and addresses
the columns of its input by index (a join: left, then right). Must not know how anything is
executed, nor what a pipeline is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from sql.tree.expressions import AggregateCall, Column, Expression, SortKey, WindowCall
from sql.types.datatypes import INT8, SqlType


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """Name and type of one column that an operator yields.

    Attributes:
        origin: for drivers alone, OID and attnum of the relation's column in an answer, (0, 0) for
            any other column.
    """

    name: str
    type: SqlType
    origin: tuple[int, int] = field(default=(0, 0), compare=False)


Schema = tuple[OutputColumn, ...]


# The identity of a table's row while a statement runs; every scan of a table can yield it beside
# the table's columns.
ROW_ID = OutputColumn("?rowid?", INT8)
# A column of the constants that tell one window of a row from another, in microseconds.
WINDOW_SHIFT = OutputColumn("window shift", INT8)
# The columns of the window functions that tell when the session of a row begins, and when its last
# row is; rows of equal times and keys have equal ones.
SESSION_START, SESSION_END = "session start", "session end"


@dataclass(frozen=True)
class Scan:
    """All rows of a named relation.

    Attributes:
        kind: 'stream', 'view' (continuous), 'table' (durable), 'groups' (the output of a pipeline),
            'state' (in the plan of a view, the rows of the state whose id is the name), 'rows' (an
            Arrow table that a statement has made, such as the rows to insert), 'statistics' (the
            server's numbers), or 'recursive' (the rows that the last step of the `Recursive` of
            that name has found).
    """

    name: str
    kind: str
    schema: Schema


@dataclass(frozen=True)
class Values:
    """Rows of expressions without input columns.

    One row of no columns is the input of a SELECT without FROM.
    """

    rows: tuple[tuple[Expression, ...], ...]
    schema: Schema


@dataclass(frozen=True)
class Filter:
    """The rows for which `predicate` is true."""

    input: Relation
    predicate: Expression

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True)
class Project:
    """One output column per (name, expression)."""

    input: Relation
    items: tuple[tuple[str, Expression], ...]

    @cached_property
    def schema(self) -> Schema:
        return tuple(OutputColumn(name, item.type) for name, item in self.items)


@dataclass(frozen=True)
class Aggregate:
    """GROUP BY keys: the key columns, then the aggregates.

    Without keys there is exactly one row, even of empty input.

    Attributes:
        sets: GROUPING SETS, each as indexes into `keys`; the keys outside a set are NULL in its
            rows. None is one set of all keys. An aggregate 'grouping' with keys as arguments tells
            which keys are in the set.
    """

    input: Relation
    keys: tuple[tuple[str, Expression], ...]
    aggregates: tuple[tuple[str, AggregateCall], ...]
    sets: tuple[tuple[int, ...], ...] | None = None

    @cached_property
    def schema(self) -> Schema:
        return tuple(OutputColumn(name, item.type) for name, item in (*self.keys, *self.aggregates))


@dataclass(frozen=True)
class Window:
    """The input's columns, then one column per window call."""

    input: Relation
    calls: tuple[tuple[str, WindowCall], ...]

    @cached_property
    def schema(self) -> Schema:
        return (*self.input.schema, *(OutputColumn(name, call.type) for name, call in self.calls))


@dataclass(frozen=True)
class Distinct:
    """The input's rows without duplicates (NULLs are equal)."""

    input: Relation

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True)
class Sort:
    """The input's rows in order."""

    input: Relation
    keys: tuple[SortKey, ...]

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True)
class Limit:
    """The first `limit` rows after `offset` rows.

    Attributes:
        limit, offset: bigint expressions without columns; None as limit is all rows.
    """

    input: Relation
    limit: Expression | None
    offset: Expression | None

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True)
class Join:
    """A join of two relations.

    Attributes:
        kind: 'inner', 'left', 'right', 'full' or 'cross'.
        condition: sees the left columns, then the right ones.
        lateral: not None when the right side is made anew for each left row; its `OuterColumn`s are
            these expressions over the left columns.
    """

    left: Relation
    right: Relation
    kind: str
    condition: Expression | None
    lateral: tuple[Expression, ...] | None = None

    @cached_property
    def schema(self) -> Schema:
        return (*self.left.schema, *self.right.schema)


@dataclass(frozen=True)
class SetOperation:
    """The union, intersection or difference of two relations; NULLs are equal.

    Attributes:
        kind: 'union', 'intersect' or 'except'.
        schema: both inputs have its types.
    """

    kind: str
    all: bool
    left: Relation
    right: Relation
    schema: Schema


@dataclass(frozen=True)
class TableFunction:
    """The rows of set-returning functions side by side, the shorter ones filled with NULL.

    Attributes:
        calls: (canonical name, arguments): 'generate_series' of (start, stop) or (start, stop,
            step), of timestamptz always with the step and the session's zone as a fourth argument;
            'unnest' of one array.
        ordinality: adds a bigint that counts from 1.
    """

    calls: tuple[tuple[str, tuple[Expression, ...]], ...]
    ordinality: bool
    schema: Schema


@dataclass(frozen=True)
class Recursive:
    """WITH RECURSIVE: the rows of `start`, then of `step` over the rows that were found last, until
    no more come.

    Attributes:
        name: unique in the statement.
        step: reads the rows that were found last through a Scan of kind 'recursive' called `name`.
        all: UNION ALL; otherwise rows that were found before are dropped.
    """

    name: str
    start: Relation
    step: Relation
    all: bool
    schema: Schema


@dataclass(frozen=True)
class Shared:
    """The rows of `input`, computed once for all places of the statement that have a `Shared` of
    this name.

    No expression in `input` is a closure over a row outside. Bind makes a `Shared` of each item of
    WITH and of each ordinary view. `sql.bind.sharing` leaves those that are read more than once and
    can't be written out at each place.
    """

    name: str
    input: Relation

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def schema(self) -> Schema:
        return self.input.schema


Relation = (
    Scan | Values | Filter | Project | Aggregate | Window | Distinct | Sort | Limit | Join | SetOperation | TableFunction
    | Recursive | Shared
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RowLock:
    """A table whose rows are locked.

    Attributes:
        column: the column of the read that has the identity of the table's row.
        wait: 'wait', 'nowait' or 'skip'.
    """

    table: str
    column: int
    strength: str
    wait: str


@dataclass(frozen=True, slots=True)
class LockedRead:
    """A read that locks.

    Attributes:
        name: of the scan that stands for the read.
        root: the columns of the read, then identities; the first `width` columns are shown.
    """

    name: str
    root: Relation
    width: int
    locks: tuple[RowLock, ...]


@dataclass(frozen=True, slots=True)
class VersionRead:
    """A read of a view's rows for the number of their version, or for their changes since another
    version.

    Attributes:
        name: of the scan that stands for the read.
        view, oid: of the view.
        root: the rows of the view.
        since: a query of one value, the number of the other version; None: the number is wanted.
        keys: the places of the columns by which rows are matched, None: by all.
        is_own: the rows depend on who reads them.
    """

    name: str
    view: str
    oid: int
    root: Relation
    since: Relation | None
    keys: tuple[int, ...] | None
    is_own: bool


@dataclass(frozen=True)
class StateRead:
    """A read of what a continuous view keeps of each group.

    Attributes:
        name: of the scan that stands for the read.
        view: the key of the view.
        state: the name of the state.
    """

    name: str
    view: str
    state: str


@dataclass(frozen=True)
class BoundQuery:
    """A bound SELECT: its tree, the types of its parameters, and what its answer depends on besides
    the data.

    Attributes:
        relations: names of every scanned relation, also inside of subqueries and below views.
        stable: the query uses now() and the like, so an answer can't be reused.
        named: the relations that the text itself names, ordinary views among them.
        locked: reads that lock rows before the query runs.
        functions, functions_below: users' functions that the text calls, and that views below it
            call, by key and oid.
        columns: (oid of the relation, attnum) of all columns that the text names, attnum 0 for a
            whole row as a value.
        objects: the users' functions and types that the text names, by key and oid.
        calls: the functions that the tree calls.
        told: the columns of the answer as clients are told of them.
        versions: reads of views as versions before the query runs.
        states: reads of what views keep.
    """

    root: Relation
    parameters: tuple[SqlType, ...]
    relations: frozenset[str]
    stable: bool
    named: frozenset[str] = frozenset()
    locked: tuple[LockedRead, ...] = ()
    functions: frozenset[tuple[str, int]] = frozenset()
    functions_below: frozenset[tuple[str, int]] = frozenset()
    columns: frozenset[tuple[int, int]] = frozenset()
    objects: frozenset[tuple[str, int]] = frozenset()
    calls: frozenset[str] = frozenset()
    told: Schema = ()
    versions: tuple[VersionRead, ...] = ()
    states: tuple[StateRead, ...] = ()


def project(relation: Relation, items: tuple[tuple[str, Expression], ...]) -> Relation:
    """Return the projection, which is the relation itself when it changes nothing."""
    same = tuple(OutputColumn(name, item.type) for name, item in items) == relation.schema
    if (
        same
        and all(isinstance(item, Column) and item.index == index for index, (_, item) in enumerate(items))
        and items
    ):
        return relation
    return Project(relation, items)
