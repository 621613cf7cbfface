"""The shared context of binding one statement: catalog, session values, types of parameters, and
what is found on the way.

The type of a parameter is given by the client, or found where the parameter is first used as a
type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from sql.bind.expressions.correlation import Closure, Outer
from sql.bind.notes import Notes
from sql.catalog.catalog import Catalog, SessionSettings
from sql.catalog.schemas import find_type
from sql.errors import SqlError
from sql.parse.syntax import Body, CommonTable, FunctionCall, Query
from sql.tree.expressions import Column, Expression, Parameter
from sql.tree.relations import Limit, LockedRead, Project, Relation, Schema, StateRead, VersionRead
from sql.types.datatypes import UNKNOWN, SqlType
from sql.types.enums import EnumType


@dataclass
class KnownTable:
    """An item of WITH.

    Attributes:
        visible: the items that it may use itself.
        outer: the surroundings of the query that has the WITH.
        relation: the item once it is bound, if it takes nothing from outside.
        rows: in the last step of a recursive item, the rows of the step before.
        bound: the item inside of a closure that it takes from, and the arguments of that closure
            then.
    """

    common: CommonTable
    visible: CommonTables
    outer: Outer | None
    relation: Relation | None = None
    rows: tuple[str, Schema] | None = None
    bound: dict[Closure, tuple[Relation, tuple[Expression, ...]]] = field(default_factory=dict)


CommonTables = dict[str, KnownTable]

# The clause of a column's or a parameter's DEFAULT.
DEFAULTS = "DEFAULT expressions"


class QueryBinders(NamedTuple):
    """The functions of `sql.bind.queries.query` that bind a whole query, one side of a set
    operation, and version_of.

    Nodes that are bound inside of queries, and bind queries in turn, get them.
    """

    relation: Callable[[Query, BindContext], Relation]
    body: Callable[[Body, BindContext], Operand]
    version: Callable[[FunctionCall, BindContext], Expression]


@dataclass
class References:
    """The objects of the catalog that the text of one statement names.

    Attributes:
        columns: (oid of the relation, attnum), also where an engine will not read the column; an
            attnum of 0 is the whole row as a value.
        types: (key, oid) of the database's own types.
        texts: (type and name, oid) of the names in constants of regclass and the like; not those
            in functions' bodies.
        running: the oids of the functions whose bodies are being bound, outermost first.
        used: (key, oid) of all users' functions that are called, in bodies too.
        below: the same of the ordinary views that are read.
        nodes_count: operators and expressions that their bodies have become.
        in_body: the text is a function's body that is defined: what other functions' bodies name is
            not noted.
        notes: what the text's names and expressions mean, None where nobody asks.
    """

    columns: set[tuple[int, int]] = field(default_factory=set)
    types: set[tuple[str, int]] = field(default_factory=set)
    texts: set[tuple[str, int]] = field(default_factory=set)
    running: list[int] = field(default_factory=list)
    used: set[tuple[str, int]] = field(default_factory=set)
    below: set[tuple[str, int]] = field(default_factory=set)
    nodes_count: int = 0
    in_body: bool = False
    notes: Notes | None = None

    @property
    def is_text(self) -> bool:
        """True while the text itself is being bound, and no body of a function that it calls."""
        return len(self.running) == self.in_body

    @property
    def text_notes(self) -> Notes | None:
        """The notes of what the text itself names, None inside of the body of a function that it
        calls.
        """
        return self.notes if self.is_text else None

    @property
    def every(self) -> frozenset[tuple[str, int]]:
        """All functions that the statement calls."""
        return frozenset(self.used | self.below)

    @property
    def objects(self) -> frozenset[tuple[str, int]]:
        """All functions, types and other objects that the text names."""
        return frozenset(self.used | self.types | self.texts)


@dataclass
class BindContext:
    """The context in which one statement is bound.

    Attributes:
        queries: bind a query inside an expression or a FROM clause.
        relations: names of all scanned relations so far.
        named: the relations that the text itself names, and ordinary views among them.
        stable: now() or the like was used.
        wide_numbers: a numeric constant has more digits than a numeric can hold here, which is fine
            only where it becomes a float.
        common_tables: the WITH items in scope.
        outer: the surroundings of the query that is being bound.
        later_tables: WITH items that may not be named yet.
        views: ordinary views that are named, by their keys.
        locked: reads with FOR UPDATE and the like.
        versions: reads of views as versions, None where the statement can do none.
        identified: the places of tables whose rows can be told apart by a hidden column.
        references: what the text names.
    """

    catalog: Catalog
    settings: SessionSettings
    parameters: ParameterTypes
    queries: QueryBinders
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
    versions: list[VersionRead] | None = None
    states: list[StateRead] = field(default_factory=list)
    identified: frozenset[int] = frozenset()
    references: References = field(default_factory=References)

    def own_type(self, written: str) -> EnumType | None:
        """Return the type of the database that a name as written means, or None. Raises 3F000."""
        references = self.references
        noted = references.types if references.is_text or not references.in_body else None
        return find_type(written, self.catalog, self.settings, noted)

    @contextmanager
    def inside(self, outer: Outer | None, common_tables: CommonTables | None = None) -> Iterator[None]:
        """Bind the nodes inside of `outer`, with these WITH items if they are given."""
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


class ParameterTypes:
    """The parameters of one statement, from 1.

    Attributes:
        given: the types that the client declared; None: the statement can have no parameters.
    """

    def __init__(self, given: Sequence[SqlType | None] | None = None) -> None:
        self.types: dict[int, SqlType] = {}
        self.used: set[int] = set()
        self.allowed = given is not None
        for index, kind in enumerate(given or ()):
            if kind is not None and kind.family != "unknown":
                self.types[index + 1] = kind
        self.given_count = len(given or ())

    def use(self, number: int, position: int) -> Parameter:
        """Return the parameter with the type known so far."""
        if not self.allowed:
            raise SqlError("42P02", f"there is no parameter ${number}", position)
        self.used.add(number)
        return Parameter(number, self.types.get(number, UNKNOWN), position)

    def decide(self, parameter: Parameter, kind: SqlType) -> Parameter:
        """Give an untyped parameter the type that its place asks for."""
        plain = kind.without_modifier()
        if plain.family == "numeric":
            plain = SqlType("numeric")
        known = self.types.setdefault(parameter.number, plain)
        if known.family != plain.family:
            message = f"inconsistent types deduced for parameter ${parameter.number}"
            detail = f"{known.sql_name} versus {plain.sql_name}"
            raise SqlError("42P08", message, parameter.position, detail=detail)
        return Parameter(parameter.number, known, parameter.position)

    def finish(self) -> tuple[SqlType, ...]:
        """Return the types of all parameters; a parameter without a type is 42P18."""
        count = max([self.given_count, *self.used, *self.types], default=0)
        found = []
        for number in range(1, count + 1):
            kind = self.types.get(number)
            if kind is None:
                raise SqlError("42P18", f"could not determine data type of parameter ${number}")
            found.append(kind)
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Operand:
    """A bound query.

    Attributes:
        places: the place of each of its columns, for errors about its type.
    """

    relation: Relation
    places: tuple[int, ...]

    @property
    def columns(self) -> tuple[Expression, ...]:
        """The output columns; for an untyped constant the constant itself."""
        items = untyped_items(self.relation)
        return tuple(
            items.get(index, Column(index, column.name, column.type))
            for index, column in enumerate(self.relation.schema)
        )


def untyped_items(relation: Relation) -> dict[int, Expression]:
    """Return the constants and parameters of unknown type among the columns of a relation."""
    if isinstance(relation, Limit):
        return untyped_items(relation.input)
    if not isinstance(relation, Project):
        return {}
    return {index: item for index, (_, item) in enumerate(relation.items) if item.type.family == "unknown"}
