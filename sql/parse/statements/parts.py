"""The parts that several statements share, as frozen dataclasses: columns, constraints, changes,
options, roles.

Names are case-folded; positions are 1-based characters.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sql.parse import syntax
from sql.types.datatypes import SqlType
from sql.values.encodings import Encoding


@dataclass(frozen=True)
class SequenceOptions:
    """The options of CREATE SEQUENCE and of an identity column.

    An option that is not written is None.

    Attributes:
        restart: of ALTER ... RESTART [WITH n].
        no_minimum, no_maximum: NO MINVALUE and NO MAXVALUE, which for ALTER SEQUENCE mean the
            default again.
        not_owned: OWNED BY NONE.
        name: SEQUENCE NAME of an identity column, as written.
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
    name: str | None = None


@dataclass(frozen=True)
class Constraint:
    """A constraint of a table.

    Attributes:
        kind: 'primary key', 'unique', 'check' or 'foreign key'.
        name: as given, or None.
        columns: with their positions.
        text: of the expression of a check, for the catalog and its restore.
        reference: of a foreign key.
        parameters: of the index of a key, as texts name=value.
    """

    kind: str
    name: str | None
    columns: tuple[tuple[str, int], ...] = ()
    condition: syntax.Expression | None = None
    text: str = ""
    position: int | None = None
    reference: Reference | None = None
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableColumn:
    """A column of CREATE TABLE, CREATE FOREIGN TABLE or ADD COLUMN.

    Attributes:
        default: the expression or None.
        serial: the type was written smallserial, serial or bigserial (`type` is then the integer).
        identity: 'always' or 'by default'.
        identity_options: of the column's sequence.
        constraints: the constraints at the column, NOT NULL excepted.
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
    """The item LIKE name [INCLUDING | EXCLUDING part]... among the columns of CREATE TABLE.

    Attributes:
        before: the number of columns in front of the item.
        including: of 'comments', 'constraints', 'defaults', 'identity' and 'indexes'; relations
            here have nothing else that could be copied.
    """

    name: str
    position: int
    before: int
    including: frozenset[str]


@dataclass(frozen=True)
class OptionChange:
    """One item of ALTER ... OPTIONS.

    Attributes:
        action: 'add', 'set' or 'drop'.
        position: of the name.
    """

    action: str
    name: str
    value: str
    position: int


@dataclass(frozen=True)
class TableChange:
    """One action of ALTER TABLE or ALTER FOREIGN TABLE.

    Attributes:
        action: 'add column', 'drop column', 'rename column', 'rename', 'set schema', 'set type',
            'set default', 'drop default', 'set not null', 'drop not null', 'add identity', 'add
            constraint', 'alter constraint', 'drop constraint', 'rename constraint', 'validate
            constraint', 'options', or 'keep'.
        name: the column or constraint that is changed.
        new_name: of a renaming.
        if_exists: also ADD COLUMN IF NOT EXISTS.
        deferrable, deferred: of ALTER CONSTRAINT.
        kept: of 'keep', the property that is kept or looked up: 'clustered', 'replica identity',
            'parameters', 'statistics', 'storage', 'compression', 'triggers', 'trigger', 'rule', or
            the empty text; its value is `new_name`.
        parameters: texts name=value, or names after RESET.
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
    kept: str = ""
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True)
class Assignment:
    """The assignment SET column = value, or (columns) = [ROW] (values) | (query).

    Attributes:
        columns: with their positions.
        value: None for DEFAULT; for several columns a scalar `syntax.Subquery` of as many columns.
        row: the values of several columns, None for DEFAULT.
    """

    columns: tuple[tuple[str, int], ...]
    value: syntax.Expression | None
    row: tuple[syntax.Expression | None, ...] | None
    position: int


@dataclass(frozen=True)
class OnConflict:
    """The clause ON CONFLICT [(columns) [WHERE] | ON CONSTRAINT name] DO NOTHING | DO UPDATE SET
    ... [WHERE where].

    Attributes:
        columns: (name, position) of the columns of the target, None without a target.
        expressions: those of the target that are no names of columns.
        condition: WHERE of the target, as that of an index of a part of the rows.
        assignments: None for DO NOTHING.
    """

    columns: tuple[tuple[str, int], ...] | None
    expressions: tuple[syntax.Expression, ...]
    condition: syntax.Expression | None
    constraint: str | None
    assignments: tuple[Assignment, ...] | None
    where: syntax.Expression | None
    position: int


@dataclass(frozen=True)
class CopyOptions:
    """The options of COPY as PostgreSQL has them, with defaults resolved.

    Attributes:
        publish_ms: of WITH (publish '100ms'), None when absent.
        encoding: of the data, None for the client's encoding.
        freeze: says how PostgreSQL writes the rows, which are seen as all others here.
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
    encoding: Encoding | None = None
    freeze: bool = False


@dataclass(frozen=True)
class RoleSpec:
    """A role as a statement names it.

    Attributes:
        kind: 'name', or 'current', 'session' or 'public' for a word that stands for a role.
    """

    name: str
    kind: str
    position: int


@dataclass(frozen=True)
class RoleOptions:
    """The options of CREATE ROLE and ALTER ROLE.

    Attributes:
        attributes: (name, on), such as ('superuser', False).
        sets_password: PASSWORD was written, maybe with NULL.
        in_roles: of CREATE ROLE, the roles that the new role is a member of.
        members: of CREATE ROLE, the members of the new role.
        admins: of CREATE ROLE, the members that may let others in.
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
    """The clause REFERENCES table (columns).

    Attributes:
        columns: with their positions, none for the primary key.
        on_delete, on_update: the actions in PostgreSQL's words.
        deferrable, deferred: DEFERRABLE, INITIALLY DEFERRED.
    """

    table: str
    position: int
    columns: tuple[tuple[str, int], ...]
    on_delete: str = "no action"
    on_update: str = "no action"
    deferrable: bool = False
    deferred: bool = False
