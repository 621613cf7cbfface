"""The relational operators of a bound query: an immutable, hashable tree over `sql.tree.expressions`.

Leaves are scans and VALUES; each operator has `schema`, the columns that it yields, and addresses its input's columns by index (a
join's: left, then right). Must not know how anything is executed, nor what a pipeline is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from sql.tree.expressions import AggregateCall, Column, Expression, SortKey, WindowCall
from sql.types.datatypes import INT8, SqlType


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """Name and type of one column that an operator yields.

    origin: of an answer's column, OID and attnum of the relation's column that it is, (0, 0) for any other; for drivers alone.
    """

    name: str
    type: SqlType
    origin: tuple[int, int] = field(default=(0, 0), compare=False)


Schema = tuple[OutputColumn, ...]


# What tells the rows of a table apart while a statement runs; every scan of a table can yield it beside the table's columns.
ROW_ID = OutputColumn("?rowid?", INT8)


@dataclass(frozen=True)
class Scan:
    """All rows of a named relation.

    kind: 'stream', 'view' (continuous), 'table' (durable), 'groups' (the output of a pipeline), 'rows' (an Arrow table that a statement
    has made, such as the rows to insert), 'statistics' (the server's numbers), or 'recursive' (what the last step of the `Recursive` of
    that name has found).
    """

    name: str
    kind: str
    schema: Schema


@dataclass(frozen=True)
class Values:
    """Rows of expressions without input columns. One row of no columns is the input of a SELECT without FROM."""

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
    """GROUP BY keys: the key columns, then the aggregates. Without keys there is exactly one row, even of empty input.

    sets: GROUPING SETS, each as indexes into `keys`; the keys outside a set are NULL in its rows. An aggregate 'grouping' with keys as
    arguments tells which they are. None: one set of all keys.
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
    """The first `limit` rows (None: all) after `offset` rows; both bigint expressions without columns."""

    input: Relation
    limit: Expression | None
    offset: Expression | None

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True)
class Join:
    """kind: 'inner', 'left', 'right', 'full', 'cross'. The condition sees the left columns, then the right ones.

    lateral: not None when the right side is made anew for each left row; its `OuterColumn`s are these expressions over the left columns.
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
    """kind: 'union', 'intersect', 'except'. Both inputs have the types of `schema`; NULLs are equal."""

    kind: str
    all: bool
    left: Relation
    right: Relation
    schema: Schema


@dataclass(frozen=True)
class TableFunction:
    """Rows of set-returning functions side by side, the shorter ones filled with NULL; `ordinality` adds a bigint that counts from 1.

    calls: (canonical name, arguments): 'generate_series' of (start, stop) or (start, stop, step), of timestamptz always with the step and
    the session's zone as a fourth argument; 'unnest' of one array.
    """

    calls: tuple[tuple[str, tuple[Expression, ...]], ...]
    ordinality: bool
    schema: Schema


@dataclass(frozen=True)
class Recursive:
    """WITH RECURSIVE: the rows of `start`, then of `step` over what was found last, until none come.

    `step` reads what was found last through a Scan of kind 'recursive' called `name`.

    all: UNION ALL; otherwise rows that were found before are dropped. `name` is unique in the statement.
    """

    name: str
    start: Relation
    step: Relation
    all: bool
    schema: Schema


@dataclass(frozen=True)
class Shared:
    """The rows of `input`, computed once for all places of the statement that have a `Shared` of this name; nothing in it is outside.

    Bind makes one of each item of WITH and of each ordinary view; `sql.tree.sharing` leaves those that are read more than once and can't be
    written out at each place.
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
    """A table whose rows are locked. column: where a row of the read has the table's identity. wait: 'wait', 'nowait' or 'skip'."""

    table: str
    column: int
    strength: str
    wait: str


@dataclass(frozen=True, slots=True)
class LockedRead:
    """A read that locks. name: of the scan that stands for it. root: its columns, then identities; the first `width` are shown."""

    name: str
    root: Relation
    width: int
    locks: tuple[RowLock, ...]


@dataclass(frozen=True)
class BoundQuery:
    """A bound SELECT: its tree, the types of its parameters, and what its answer depends on besides the data.

    relations: names of every scanned relation, also inside of subqueries and below views. stable: uses now() and the like, so an answer
    can't be reused. named: the relations that the text itself names, ordinary views among them. locked: reads
    that lock rows before it runs.
    """

    root: Relation
    parameters: tuple[SqlType, ...]
    relations: frozenset[str]
    stable: bool
    named: frozenset[str] = frozenset()
    locked: tuple[LockedRead, ...] = ()


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
