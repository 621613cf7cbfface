"""The catalog as bind sees it: frozen descriptions of relations and one Protocol.

No storage, no locks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from sql.catalog.search_path import path_names, path_text
from sql.names.relation_keys import TEMPORARY, temporary_schema
from sql.times.input_styles import USUAL, InputStyles, input_styles
from sql.tree.expressions import Call, Case, Column, Expression, Literal
from sql.tree.relations import BoundQuery, Schema
from sql.types.datatypes import TIMESTAMPTZ, SqlType
from sql.types.enums import EnumType


@dataclass(frozen=True, slots=True)
class ColumnDescription:
    """A column of a relation.

    Attributes:
        default: a bound expression without columns, or None (NULL).
        number: the attnum, from 1, which no later column of the relation gets again.
        identity: 'always', 'by default' or None; the default of an identity column is nextval of
            its sequence.
    """

    name: str
    type: SqlType
    not_null: bool = False
    default: Expression | None = None
    number: int = 0
    identity: str | None = None


# The hidden column of every stream: the time of the row's commit, unless its statement gave the row
# a time of its own.
ARRIVAL = ColumnDescription("arrival_timestamp", TIMESTAMPTZ, not_null=True)


@dataclass(frozen=True, slots=True)
class KeyReference:
    """The table that a foreign key refers to, by its oid, with columns by their attnums.

    Attributes:
        on_delete, on_update: 'no action', 'restrict', 'cascade' or 'set null'.
        deferrable: SET CONSTRAINTS may put the key off to COMMIT.
        deferred: the key is put off unless SET CONSTRAINTS says otherwise.
    """

    oid: int
    columns: tuple[int, ...]
    on_delete: str = "no action"
    on_update: str = "no action"
    deferrable: bool = False
    deferred: bool = False


KEYS = frozenset({"primary key", "unique", "unique index"})


@dataclass(frozen=True, slots=True)
class ConstraintDescription:
    """A constraint of a table, or an index that is no constraint.

    Attributes:
        kind: 'primary key', 'unique', 'check', 'foreign key', 'unique index' or 'index'.
        columns: attnums; 0 stands for an expression of an index.
        condition: of a check, over the table's row; of an index a row of its expressions, then of
            its WHERE, if it has any of them.
        reference: of a foreign key.
        comment: of COMMENT ON CONSTRAINT, or on an index that is no constraint.
        index_comment: of COMMENT ON INDEX, of the index of a constraint.
        options: of an index, those of each column as pg_index has them; empty: all 0.
        method: of an index, the access method that CREATE INDEX named, which is shown.
        classes: of an index, the operator class of each column, which is shown; '' is the default.
        parameters: of an index, those of WITH, as texts name=value, which are shown.
        stored: of a key that computes a value, the number under which the table keeps each of its
            values: that of a column, or one that no column has.
        marks: of a key or an index, 'clustered' and 'replica identity', which are shown.
        included: of an index, the attnums of INCLUDE, which are shown.
        collations: of an index, those of each column, which are shown; '' is the column's own.
    """

    name: str
    kind: str
    columns: tuple[int, ...]
    condition: Expression | None = None
    text: str = ""
    reference: KeyReference | None = None
    comment: str = ""
    options: tuple[int, ...] = ()
    method: str = "btree"
    classes: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    stored: tuple[int, ...] = ()
    marks: frozenset[str] = frozenset()
    index_comment: str = ""
    included: tuple[int, ...] = ()
    collations: tuple[str, ...] = ()

    @property
    def is_key(self) -> bool:
        """True when no two rows may have the same values in the columns."""
        return self.kind in KEYS

    @property
    def is_plain_key(self) -> bool:
        """True for a key of columns alone, in all rows."""
        return self.is_key and self.condition is None

    @property
    def source_key(self) -> str:
        """Key of its text in its table: an index may have the name of a check."""
        return "\0" * self.is_index + self.name

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The expressions of an index, then the condition of one of a part of the rows."""
        return self.condition.arguments if self.is_index and isinstance(self.condition, Call) else ()

    @property
    def is_index(self) -> bool:
        """True for an index that is no constraint."""
        return self.kind.endswith("index")

    @property
    def where(self) -> Expression | None:
        """The condition of an index of a part of the rows."""
        found = self.expressions[self.columns.count(0) :]
        return found[0] if found else None

    def values(self, columns: Sequence[ColumnDescription]) -> tuple[Expression, ...]:
        """The values of an index over a row of these columns; those of a part of the rows are NULL
        in the others.
        """
        computed, where, found = iter(self.expressions), self.where, []
        places = {column.number: place for place, column in enumerate(columns)}
        for number in self.columns:
            if number:
                column = columns[places[number]]
                value: Expression = Column(places[number], column.name, column.type)
            else:
                value = next(computed)
            found.append(value if where is None else Case(((where, value),), Literal(None, value.type), value.type))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class RelationDescription:
    """A relation as a client sees it.

    Attributes:
        name: the key (`sql.names.relation_keys`).
        kind: 'stream', 'view' (continuous), 'table', 'sequence', 'statistics' (the server's own
            numbers), 'catalog' (of pg_catalog and information_schema), or 'query': an ordinary
            view, which stands for `query`.
        oid: at least 16384, stable over restarts.
        hidden: columns after the others that only their names reach, no star and no list that was
            left out.
        disabled: why the relation can't be read, '' where it can.
        key_now: the key of today where `name` is that of the time of a definition.
        row_keys: of a continuous view, the places of the columns by which its rows are told apart,
            None where none are known.
        group_keys: the keys of the groups that it keeps; of a state of a view, too.
        number: of a state in its view, from 0.
    """

    name: str
    kind: str
    oid: int
    columns: tuple[ColumnDescription, ...]
    schema_name: str = "public"
    constraints: tuple[ConstraintDescription, ...] = ()
    query: BoundQuery | None = None
    hidden: tuple[ColumnDescription, ...] = ()
    disabled: str = ""
    key_now: str = ""
    row_keys: tuple[int, ...] | None = None
    group_keys: Schema = ()
    number: int = 0

    @property
    def scanned(self) -> str:
        """The key by which the relation is read."""
        return self.key_now or self.name

    @property
    def row(self) -> tuple[ColumnDescription, ...]:
        """The columns of a row as a scan reads it: hidden ones, too."""
        return (*self.columns, *self.hidden)


@dataclass(frozen=True)
class UsedRelation:
    """A relation as it was when a definition over it was made.

    The oid finds the relation of today.

    Attributes:
        columns: (name, number) of each.
    """

    name: str
    oid: int
    columns: tuple[tuple[str, int], ...]


def used_relation(name: str, description: RelationDescription) -> UsedRelation:
    """Return a relation as a definition that is made now will remember it."""
    columns = tuple((column.name, column.number) for column in description.columns)
    return UsedRelation(name, description.oid, columns)


class Catalog(Protocol):
    """The relations that a statement can name."""

    def relation(self, name: str) -> RelationDescription | None:
        """Return the relation with the key `name`, or None."""

    def relation_names(self) -> Iterable[str]:
        """Return all names, for 'did you mean'."""


@runtime_checkable
class KnowsSchemas(Protocol):
    """A catalog that knows its schemas."""

    def has_schema(self, name: str) -> bool:
        """Tell whether a schema exists."""


@runtime_checkable
class KnowsTypes(Protocol):
    """A catalog that has types of its own."""

    def type(self, key: str) -> EnumType | None:
        """Return the type with a key, or None."""


@runtime_checkable
class KnowsSystem(Catalog, Protocol):
    """A catalog that has the relations of pg_catalog and information_schema, and oids for names."""

    def system_relation(self, schema: str, name: str) -> RelationDescription | None:
        """Return a relation of kind 'catalog', or None."""

    def system_view(self, key: str, settings: SessionSettings) -> BoundQuery | None:
        """Return the query of a view of the catalog, None for a relation with rows of its own."""

    def object_oid(self, kind: str, text: str, settings: SessionSettings, position: int | None) -> int:
        """Return the oid of what `text` names as a value of type `kind` (regclass ...).

        Raises the error of a name of nothing.
        """

    def object_name(self, kind: str, oid: int, settings: SessionSettings) -> str:
        """Return an oid as a value of type `kind` is shown."""


def name_in_text(kind: str, text: str) -> str:
    """Return what stands among the objects of a definition for a name in a constant of regclass and
    the like.
    """
    return f"{kind} {text}"


# Stands in the trees of definitions for the zone of the session that reads or writes by them; no
# client can write it.
OPEN_ZONE = "\0zone"


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """The session values that bind captures into a tree.

    Attributes:
        variables: (name in lower case, value as SHOW prints it).
        user: current_user.
        is_shared: other sessions will use the tree, so that it can't have the user's name or a
            setting in it (0A000).
        has_temporary: the session has made temporary relations; these come before all others.
        unusable: the schemas that the user may not use: the search_path passes over them, and names
            in them are refused.
        constants: the zone and the styles in which constants are read, where the statement was
            prepared under others than those of now.
    """

    time_zone: str = "UTC"
    search_path: str = '"$user", public'
    user: str = "antumbra"
    database: str = "antumbra"
    process_id: int = 0
    variables: tuple[tuple[str, str], ...] = ()
    is_shared: bool = False
    session_user: str = "antumbra"
    has_temporary: bool = False
    unusable: frozenset[str] = frozenset()
    constants: tuple[str, InputStyles] | None = None

    @property
    def reads_constants(self) -> tuple[str, InputStyles]:
        """The zone and the styles in which constants are read."""
        return self.constants or (self.time_zone, self.input_styles)

    @property
    def clock_zone(self) -> str:
        """The zone in which times are shown and taken apart.

        In a definition that of the session that reads or writes by it.
        """
        return OPEN_ZONE if self.is_shared else self.time_zone

    @property
    def input_styles(self) -> InputStyles:
        """The styles in which constants are read: the order in DateStyle, and IntervalStyle."""
        if not self.variables:
            return USUAL
        known = dict(self.variables)
        return input_styles(known.get("datestyle", "ISO, MDY"), known.get("intervalstyle", "postgres"))

    @property
    def named_path(self) -> tuple[str, ...]:
        """The schemas of search_path that the user may use."""
        names = path_names(self.search_path, self.user)
        return tuple(name for name in names if name not in self.unusable) if self.unusable else names

    @property
    def path(self) -> tuple[str, ...]:
        """The schemas in which a bare name is looked for, whether these schemas exist or not."""
        named = self.named_path
        return (TEMPORARY, *named) if self.has_temporary and TEMPORARY not in named else named

    def shared(self, is_temporary: bool = False) -> SessionSettings:
        """Return the values for a definition, which other sessions will use.

        is_temporary: the definition ends with this session.
        """
        own = temporary_schema(self.process_id)
        names = (own if name == TEMPORARY else name for name in self.path if is_temporary or name != TEMPORARY)
        return replace(self, is_shared=True, search_path=path_text(names), has_temporary=False, unusable=frozenset())
