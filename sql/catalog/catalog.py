"""What bind asks of a catalog: frozen descriptions of relations and one Protocol. No storage, no locks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from sql.catalog.search_path import path_names, path_text
from sql.names.relation_keys import TEMPORARY, temporary_schema
from sql.times.input_styles import USUAL, InputStyles, input_styles
from sql.tree.expressions import Expression
from sql.tree.relations import BoundQuery
from sql.types.datatypes import TIMESTAMPTZ, SqlType
from sql.types.enums import EnumType


@dataclass(frozen=True, slots=True)
class ColumnDescription:
    """A column of a relation. default: a bound expression without columns, or None (NULL).

    number: its attnum, from 1, which no later column of the relation gets again. identity: 'always', 'by default' or None;
    its default is then nextval of its sequence.
    """

    name: str
    type: SqlType
    not_null: bool = False
    default: Expression | None = None
    number: int = 0
    identity: str | None = None


# The hidden column of every stream: when the row was committed, unless its statement gave it a time of its own.
ARRIVAL = ColumnDescription("arrival_timestamp", TIMESTAMPTZ, not_null=True)


@dataclass(frozen=True, slots=True)
class KeyReference:
    """What a foreign key refers to: a table by its oid, columns by their attnums.

    on_delete, on_update: 'no action', 'restrict', 'cascade' or 'set null'. deferrable: SET CONSTRAINTS may put it off to COMMIT; deferred:
    it is put off unless that says otherwise.
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
    """A constraint of a table, or an index that is made by itself. columns: attnums. condition: of a check, over the table's row.

    kind: 'primary key', 'unique', 'check', 'foreign key', 'unique index', 'index'. reference: of a foreign key. comment: of COMMENT ON
    CONSTRAINT.
    """

    name: str
    kind: str
    columns: tuple[int, ...]
    condition: Expression | None = None
    text: str = ""
    reference: KeyReference | None = None
    comment: str = ""

    @property
    def is_key(self) -> bool:
        """True when no two rows may have the same values in its columns."""
        return self.kind in KEYS

    @property
    def is_index(self) -> bool:
        """True when it is no constraint."""
        return self.kind.endswith("index")


@dataclass(frozen=True, slots=True)
class RelationDescription:
    """A relation as a client sees it. name: its key (`sql.names.relation_keys`). oid >= 16384, stable over restarts.

    kind: 'stream', 'view' (continuous), 'table', 'sequence', 'statistics' (the server's own numbers), or 'query': an ordinary view, which
    stands for `query`. hidden: columns behind the others that only their names reach, no star and no list that was left out. disabled: why
    nobody can read it, '': everybody can.
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

    @property
    def row(self) -> tuple[ColumnDescription, ...]:
        """The columns of a row as it is scanned: all of them."""
        return (*self.columns, *self.hidden)


class Catalog(Protocol):
    """The relations that a statement can name."""

    def relation(self, name: str) -> RelationDescription | None:
        """Return the relation with the key `name`, or None."""

    def relation_names(self) -> Iterable[str]:
        """Return all names, for 'did you mean'."""


@runtime_checkable
class KnowsSchemas(Protocol):
    """A catalog that knows which schemas there are."""

    def has_schema(self, name: str) -> bool:
        """Tell whether there is such a schema."""


@runtime_checkable
class KnowsTypes(Protocol):
    """A catalog that has types of its own."""

    def type(self, key: str) -> EnumType | None:
        """Return the type with this key, or None."""


# Stands in the trees of definitions for the zone of whoever reads or writes by them; no client can write it.
OPEN_ZONE = "\0zone"


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """The session values that bind captures into a tree. variables: (name in lower case, value as SHOW prints it).

    user is current_user. is_shared: other sessions will use the tree, so that it can't have the user's name or a setting in it (0A000).
    has_temporary: the session has made temporary relations; these come before all others. unusable: the schemas that the user may not
    use: the search_path goes past them, and names in them are refused.
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

    @property
    def clock_zone(self) -> str:
        """The zone in which times are shown and taken apart: in a definition, that of whoever reads or writes by it."""
        return OPEN_ZONE if self.is_shared else self.time_zone

    @property
    def input_styles(self) -> InputStyles:
        """How constants are read: the order in DateStyle, and IntervalStyle."""
        if not self.variables:
            return USUAL
        known = dict(self.variables)
        return input_styles(known.get("datestyle", "ISO, MDY"), known.get("intervalstyle", "postgres"))

    @property
    def named_path(self) -> tuple[str, ...]:
        """The schemas that search_path names, and the user may use."""
        names = path_names(self.search_path, self.user)
        return tuple(name for name in names if name not in self.unusable) if self.unusable else names

    @property
    def path(self) -> tuple[str, ...]:
        """The schemas in which a bare name is looked for, whether there are such schemas or not."""
        named = self.named_path
        return (TEMPORARY, *named) if self.has_temporary and TEMPORARY not in named else named

    def shared(self, is_temporary: bool = False) -> SessionSettings:
        """Return the values for a definition, which other sessions will use. is_temporary: the definition ends with this session."""
        own = temporary_schema(self.process_id)
        names = (own if name == TEMPORARY else name for name in self.path if is_temporary or name != TEMPORARY)
        return replace(self, is_shared=True, search_path=path_text(names), has_temporary=False, unusable=frozenset())
