"""The relational operators of a bound query: an immutable, hashable tree over `sql.expressions`.

Leaves are scans and VALUES; each operator has `schema`, the columns that it yields, and addresses its input's columns by index (a
join's: left, then right). Must not know how anything is executed, nor what a pipeline is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sql.datatypes import SqlType
from sql.expressions import AggregateCall, Expression, SortKey, WindowCall


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """Name and type of one column that an operator yields."""

    name: str
    type: SqlType


Schema = tuple[OutputColumn, ...]


@dataclass(frozen=True)
class Scan:
    """All rows of a named relation; kind is 'stream', 'view' (continuous), 'table', or 'groups' (the output of a pipeline)."""

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
    """GROUP BY keys: the key columns, then the aggregates. Without keys there is exactly one row, even of empty input."""

    input: Relation
    keys: tuple[tuple[str, Expression], ...]
    aggregates: tuple[tuple[str, AggregateCall], ...]

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
    """kind: 'inner', 'left', 'right', 'full', 'cross'. The condition sees the left columns, then the right ones."""

    left: Relation
    right: Relation
    kind: str
    condition: Expression | None

    @cached_property
    def schema(self) -> Schema:
        return (*self.left.schema, *self.right.schema)


Relation = Scan | Values | Filter | Project | Aggregate | Window | Distinct | Sort | Limit | Join


@dataclass(frozen=True)
class BoundQuery:
    """A bound SELECT: its tree, the types of its parameters, and what its answer depends on besides the data.

    relations: names of every scanned relation. stable: uses now() and the like, so an answer can't be reused.
    """

    root: Relation
    parameters: tuple[SqlType, ...]
    relations: frozenset[str]
    stable: bool
