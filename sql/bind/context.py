"""What the binding of one statement shares: catalog, session values, parameter types, and what it finds on the way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sql.bind.closures import Closure, Outer
from sql.bind.parameters import ParameterTypes
from sql.catalog.catalog import Catalog, SessionSettings
from sql.catalog.schemas import find_type
from sql.parse.syntax import CommonTable
from sql.tree.expressions import Expression
from sql.tree.relations import LockedRead, Relation, Schema
from sql.types.enums import EnumType


@dataclass
class KnownTable:
    """An item of WITH. visible: the items that it may itself use. outer: what surrounds the query that has the WITH.

    relation: once it is bound, if it takes nothing from outside. bound: what it is inside of a closure that it takes from, and the
    arguments of that closure then. rows: in the last step of a recursive item, what it was before.
    """

    common: CommonTable
    visible: CommonTables
    outer: Outer | None
    relation: Relation | None = None
    rows: tuple[str, Schema] | None = None
    bound: dict[Closure, tuple[Relation, tuple[Expression, ...]]] = field(default_factory=dict)


CommonTables = dict[str, KnownTable]


@dataclass
class BindContext:
    """relations: names of all scanned relations so far. named: those that the text itself names, and ordinary views among them.

    stable: now() or the like was used. wide_numbers: a numeric constant has more digits than a numeric can hold here, which is fine
    only where it becomes a float. common_tables: the WITH items in scope. outer: what surrounds the query that is being bound.
    later_tables: WITH items that may not be named yet. views: ordinary views that are named, by their keys. locked: reads with FOR UPDATE
    and the like. identified: where the tables are written whose rows can be told apart by a hidden column.
    """

    catalog: Catalog
    settings: SessionSettings
    parameters: ParameterTypes
    relations: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)
    stable: bool = False
    wide_numbers: bool = False
    common_tables: CommonTables = field(default_factory=dict)
    outer: Outer | None = None
    later_tables: frozenset[str] = frozenset()
    recursive_count: int = 0
    views: dict[str, Relation] = field(default_factory=dict)
    locked: list[LockedRead] = field(default_factory=list)
    identified: frozenset[int] = frozenset()

    def own_type(self, written: str) -> EnumType | None:
        """Return the type of the database that a name as written means, or None. Raises 3F000."""
        return find_type(written, self.catalog, self.settings)

    @contextmanager
    def inside(self, outer: Outer | None, common_tables: CommonTables | None = None) -> Iterator[None]:
        """Bind what follows inside of `outer`, with these WITH items if they are given."""
        saved = self.outer, self.common_tables
        self.outer = outer
        if common_tables is not None:
            self.common_tables = common_tables
        try:
            yield
        finally:
            self.outer, self.common_tables = saved

    def recursive_name(self, name: str) -> str:
        """Return a name for a recursive relation that no other in this statement has."""
        self.recursive_count += 1
        return f"{name} {self.recursive_count}"
