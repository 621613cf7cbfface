"""Users' functions as bind sees them: frozen descriptions, and the Protocol of a catalog that has
some.

A function's body is kept as text: it is parsed and bound at each call, with the search_path of that
call, as PostgreSQL does it; the body of RETURN and BEGIN ATOMIC with that of its definition.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from sql.catalog.catalog import Catalog, SessionSettings, UsedRelation
from sql.catalog.schemas import keys_of
from sql.functions.polymorphic import GROUPS
from sql.names.relation_keys import PUBLIC, described
from sql.tree.relations import Relation
from sql.types.datatypes import SqlType

INPUTS, OUTPUTS = "ibv", "obt"


@dataclass(frozen=True, slots=True)
class FunctionArgument:
    """An argument of a function, or a column of its rows.

    Attributes:
        name: '' where it has none.
        mode: 'i' IN, 'o' OUT, 'b' INOUT, 'v' VARIADIC, 't' a column of RETURNS TABLE, as in
            pg_proc.
        default: the text of its default, '' where it has none.
    """

    name: str
    mode: str
    type: SqlType
    default: str = ""


@dataclass(frozen=True, slots=True)
class FunctionDescription:
    """A function of a user.

    Attributes:
        name: the key (`sql.names.relation_keys`).
        arguments: in order, columns of rows among them.
        result: the type of a value; None where the function returns several columns.
        form: 'string' (AS '...'), 'return' (RETURN expression) or 'atomic' (BEGIN ATOMIC ... END).
        body: of a string the string; else the expression, or the one statement.
        volatility: 'i', 's' or 'v', as in pg_proc; 'parallel': 's', 'r' or 'u'.
        time_zone, search_path: of the definition.
        needs: (oid, attnum) of what the body of RETURN and BEGIN ATOMIC, and defaults, name; an
            attnum of 0 is an object as a whole.
        used, objects: the relations, and the functions, types and names in constants, that they
            name, as they were then; None: not known.
    """

    name: str
    oid: int
    arguments: tuple[FunctionArgument, ...]
    result: SqlType | None
    returns_set: bool
    form: str
    body: str
    volatility: str = "v"
    strict: bool = False
    leakproof: bool = False
    parallel: str = "u"
    cost: float = 100
    rows: float = 0
    time_zone: str = "UTC"
    search_path: str = PUBLIC
    needs: tuple[tuple[int, int], ...] = ()
    used: tuple[UsedRelation, ...] = ()
    objects: tuple[tuple[str, int], ...] | None = None

    @property
    def inputs(self) -> tuple[FunctionArgument, ...]:
        """The arguments of a call."""
        return tuple(one for one in self.arguments if one.mode in INPUTS)

    @property
    def outputs(self) -> tuple[FunctionArgument, ...]:
        """The columns that the definition names: OUT, INOUT, and those of RETURNS TABLE."""
        return tuple(one for one in self.arguments if one.mode in OUTPUTS)

    @property
    def is_variadic(self) -> bool:
        """True where a call may have any number of last arguments."""
        return any(one.mode == "v" for one in self.arguments)

    @property
    def is_polymorphic(self) -> bool:
        """True where the arguments of a call decide types of the function."""
        return any(one.type.family in GROUPS for one in self.inputs)

    @property
    def families(self) -> tuple[str, ...]:
        """The families of the arguments of a call, by which functions of one name are told
        apart.
        """
        return tuple(one.type.family for one in self.inputs)

    @property
    def signature(self) -> str:
        """The function as messages call it: name(type,type)."""
        return f"{described(self.name)}({','.join(described_type(one.type) for one in self.inputs)})"


def described_type(kind: SqlType) -> str:
    """Return a type as messages call it, without its modifier."""
    if kind.enum is None:
        return kind.row.sql_name
    return described(kind.enum.name) + ("[]" if kind.is_array else "")


@runtime_checkable
class KnowsFunctions(Protocol):
    """A catalog that has functions of users."""

    def functions_called(self, key: str) -> tuple[FunctionDescription, ...]:
        """Return the functions with a key."""

    def body_catalog(self, function: FunctionDescription, in_default: bool = False) -> Catalog:
        """Return the catalog by which a body, or a default of its arguments, is bound."""


@runtime_checkable
class KnowsThen(Catalog, Protocol):
    """A catalog that shows relations by the names of a definition's time."""

    def of_today(self, root: Relation) -> Relation:
        """Return a tree that was bound to this catalog over the columns that relations have now."""


def visible_functions(written: str, catalog: object, settings: SessionSettings) -> Iterator[FunctionDescription]:
    """Yield the functions that a name as written means, in the order of the search_path.

    One that another with the same arguments hides is not among them. Raises 42501.
    """
    if not isinstance(catalog, KnowsFunctions):
        return
    known: set[tuple[str, ...]] = set()
    for key in keys_of(written, settings):
        for function in catalog.functions_called(key):
            if function.families not in known:
                known.add(function.families)
                yield function
