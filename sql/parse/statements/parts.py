"""What several statements are made of, as frozen dataclasses: columns, constraints, changes, options, roles.

Names are case-folded; positions are 1-based characters.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sql.parse import syntax
from sql.types.datatypes import SqlType
from sql.values.client_encodings import ClientEncoding


@dataclass(frozen=True)
class ColumnDefinition:
    """A column of CREATE FOREIGN TABLE. default: its expression or None."""

    name: str
    type: SqlType
    not_null: bool = False
    default: syntax.Expression | None = None
    default_text: str = ""
    position: int | None = None


@dataclass(frozen=True)
class SequenceOptions:
    """What CREATE SEQUENCE and an identity column may say; None: not said. restart: of ALTER ... RESTART [WITH n].

    no_minimum, no_maximum: NO MINVALUE and NO MAXVALUE, which for ALTER SEQUENCE mean the default again. not_owned: OWNED BY NONE.
    """

    type: SqlType | None = None
    start: int | None = None
    increment: int | None = None
    minimum: int | None = None
    maximum: int | None = None
    cache: int | None = None
    cycle: bool | None = None
    owned_by: tuple[str, str] | None = None
    restart: int | bool | None = None
    no_minimum: bool = False
    no_maximum: bool = False
    not_owned: bool = False


@dataclass(frozen=True)
class Constraint:
    """A constraint of a table. kind: 'primary key', 'unique', 'check', 'foreign key'. name: as given, or None.

    columns: with their positions. text: of a check's expression, for the catalog and its restore. reference: of a foreign key.
    """

    kind: str
    name: str | None
    columns: tuple[tuple[str, int], ...] = ()
    condition: syntax.Expression | None = None
    text: str = ""
    position: int | None = None
    reference: Reference | None = None


@dataclass(frozen=True)
class TableColumn:
    """A column of CREATE TABLE or ADD COLUMN. serial: its type was smallserial, serial or bigserial (type is then the integer).

    identity: 'always' or 'by default', with its sequence's options; constraints: those written at the column, NOT NULL excepted.
    """

    name: str
    type: SqlType
    not_null: bool = False
    default: syntax.Expression | None = None
    default_text: str = ""
    serial: bool = False
    identity: str | None = None
    identity_options: SequenceOptions = SequenceOptions()
    constraints: tuple[Constraint, ...] = ()
    position: int | None = None


@dataclass(frozen=True)
class LikeRelation:
    """LIKE name [INCLUDING | EXCLUDING part]... among the columns of CREATE TABLE. before: how many columns stand in front of it.

    including: of 'comments', 'constraints', 'defaults', 'identity' and 'indexes'; our relations have nothing else that could be copied.
    """

    name: str
    position: int
    before: int
    including: frozenset[str]


@dataclass(frozen=True)
class OptionChange:
    """One item of ALTER ... OPTIONS. action: 'add', 'set' or 'drop'. position: of the name."""

    action: str
    name: str
    value: str
    position: int


@dataclass(frozen=True)
class TableChange:
    """One action of ALTER TABLE or ALTER FOREIGN TABLE.

    action: 'add column', 'drop column', 'rename column', 'rename', 'set schema', 'set type', 'set default', 'drop default', 'set not null',
    'drop not null', 'add constraint', 'alter constraint', 'drop constraint', 'rename constraint', 'options'. name: the column or
    constraint that it is about; new_name: of a renaming. if_exists: also ADD COLUMN IF NOT EXISTS. deferrable, deferred: of ALTER
    CONSTRAINT.
    """

    action: str
    name: str = ""
    new_name: str = ""
    column: TableColumn | None = None
    constraint: Constraint | None = None
    type: SqlType | None = None
    using: syntax.Expression | None = None
    default: syntax.Expression | None = None
    default_text: str = ""
    if_exists: bool = False
    cascade: bool = False
    position: int | None = None
    options: tuple[OptionChange, ...] = ()
    deferrable: bool = False
    deferred: bool = False


@dataclass(frozen=True)
class Assignment:
    """SET column = value, or (columns) = [ROW] (values) | (query). value None: DEFAULT. columns: with their positions.

    row: the values of several columns, None for DEFAULT; a scalar `syntax.Subquery` of several columns is in `value` instead.
    """

    columns: tuple[tuple[str, int], ...]
    value: syntax.Expression | None
    row: tuple[syntax.Expression | None, ...] | None
    position: int


@dataclass(frozen=True)
class OnConflict:
    """ON CONFLICT [(columns) [WHERE] | ON CONSTRAINT name] DO NOTHING (assignments None) | DO UPDATE SET ... [WHERE where]."""

    columns: tuple[tuple[str, int], ...] | None
    constraint: str | None
    assignments: tuple[Assignment, ...] | None
    where: syntax.Expression | None
    position: int


@dataclass(frozen=True)
class CopyOptions:
    """PostgreSQL's COPY options, defaults resolved; publish_ms: WITH (publish '100ms'), None when absent.

    encoding: of the data, None for the client's.
    """

    format: str = "text"
    delimiter: str = "\t"
    null: str = "\\N"
    header: bool = False
    header_match: bool = False
    quote: str = '"'
    escape: str = '"'
    force_quote: tuple[str, ...] | None = ()
    force_not_null: tuple[str, ...] = ()
    force_null: tuple[str, ...] = ()
    publish_ms: int | None = None
    encoding: ClientEncoding | None = None


@dataclass(frozen=True)
class RoleSpec:
    """A role as it is named. kind: 'name', or 'current', 'session', 'public' for what stands for one."""

    name: str
    kind: str
    position: int


@dataclass(frozen=True)
class RoleOptions:
    """What CREATE and ALTER ROLE say. attributes: (name, on), such as ('superuser', False). sets_password: PASSWORD was there, maybe NULL.

    in_roles, members, admins: of CREATE ROLE, the roles that it is in, those in it, and those that may let others in.
    """

    attributes: tuple[tuple[str, bool], ...] = ()
    sets_password: bool = False
    password: str | None = field(default=None, repr=False)
    connection_limit: int | None = None
    valid_until: str | None = None
    in_roles: tuple[RoleSpec, ...] = ()
    members: tuple[RoleSpec, ...] = ()
    admins: tuple[RoleSpec, ...] = ()


@dataclass(frozen=True)
class Reference:
    """REFERENCES table (columns). columns: with their positions, none for the primary key; actions: in PostgreSQL's words.

    deferrable, deferred: DEFERRABLE, INITIALLY DEFERRED.
    """

    table: str
    position: int
    columns: tuple[tuple[str, int], ...]
    on_delete: str = "no action"
    on_update: str = "no action"
    deferrable: bool = False
    deferred: bool = False
