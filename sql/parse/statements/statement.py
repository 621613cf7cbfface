"""What a client can say, as frozen dataclasses; `sql.parse.parse` makes them. Names are case-folded; positions are 1-based characters.

`text` of a statement is the user's own text without the semicolon; `query` fields hold what `sql.bind` turns into a typed tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sql.parse import syntax
from sql.parse.statements.access import AccessStatement
from sql.parse.statements.objects import ObjectStatement
from sql.parse.statements.references import Reference
from sql.parse.statements.session_statement import CloseCursor, Declare, Execute, Fetch, Prepare, SharedStatement
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
class CreateStream:
    """CREATE FOREIGN TABLE [IF NOT EXISTS] name (...) SERVER stream [OPTIONS (...)]."""

    text: str
    name: str
    columns: tuple[ColumnDefinition, ...]
    options: Mapping[str, str]
    if_not_exists: bool
    name_position: int


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
class CreateTable:
    """CREATE TABLE [IF NOT EXISTS] name (columns, likes and constraints), or ... [(column names)] AS query [WITH [NO] DATA].

    A temporary one has a name in the schema pg_temp. on_commit: 'drop', 'delete' or 'preserve' (its rows), or nothing.
    """

    text: str
    name: str
    name_position: int
    columns: tuple[TableColumn, ...]
    constraints: tuple[Constraint, ...]
    if_not_exists: bool
    query: syntax.Query | None = None
    column_names: tuple[str, ...] = ()
    with_data: bool = True
    on_commit: str = ""
    likes: tuple[LikeRelation, ...] = ()


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
class AlterTable:
    """ALTER [FOREIGN] TABLE [IF EXISTS] name actions. foreign: it says FOREIGN, so that it must be a stream."""

    text: str
    name: str
    name_position: int
    if_exists: bool
    changes: tuple[TableChange, ...]
    foreign: bool = False


@dataclass(frozen=True)
class Maintenance:
    """VACUUM and ANALYZE. tables: (name, position), none for all."""

    text: str
    tag: str
    tables: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class CreateSequence:
    """CREATE SEQUENCE [IF NOT EXISTS] name [options]."""

    text: str
    name: str
    name_position: int
    if_not_exists: bool
    options: SequenceOptions


@dataclass(frozen=True)
class AlterSequence:
    """ALTER SEQUENCE [IF EXISTS] name options, or SET SCHEMA schema."""

    text: str
    name: str
    name_position: int
    if_exists: bool
    options: SequenceOptions
    schema: str | None = None


@dataclass(frozen=True)
class Truncate:
    """TRUNCATE [TABLE] names [RESTART IDENTITY | CONTINUE IDENTITY] [CASCADE | RESTRICT]."""

    text: str
    names: tuple[tuple[str, int], ...]
    restart_identity: bool
    cascade: bool


@dataclass(frozen=True)
class DropRelation:
    """DROP FOREIGN TABLE | VIEW | TABLE | SEQUENCE [IF EXISTS] names [CASCADE | RESTRICT]. kind: 'stream', 'view', 'table', 'sequence'."""

    text: str
    kind: str
    names: tuple[tuple[str, int], ...]
    if_exists: bool
    cascade: bool


@dataclass(frozen=True)
class CreateView:
    """CREATE [OR REPLACE] VIEW name [(columns)] [WITH (options)] AS query. query_text is the SELECT's own text.

    reset: what a replaced view has counted may go. It is not in the options.
    """

    text: str
    name: str
    column_names: tuple[str, ...]
    options: Mapping[str, str]
    query: syntax.Query
    query_text: str
    query_offset: int
    name_position: int
    or_replace: bool = False
    reset: bool = False


@dataclass(frozen=True)
class Select:
    """A SELECT or VALUES statement."""

    text: str
    query: syntax.Query


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
class Insert:
    """[WITH ...] INSERT INTO relation [AS alias] [(columns)] VALUES ... | DEFAULT VALUES | query. A row's item is None for DEFAULT.

    query: of INSERT ... SELECT; rows is then empty. overriding: '', 'system', 'user'. returning: the target list, empty without one.
    """

    text: str
    name: str
    name_position: int
    columns: tuple[tuple[str, int], ...] | None
    rows: tuple[tuple[syntax.Expression | None, ...], ...]
    query: syntax.Query | None = None
    returning: tuple[syntax.Target, ...] = ()
    alias: str | None = None
    on_conflict: OnConflict | None = None
    overriding: str = ""
    common_tables: tuple[syntax.CommonTable, ...] = ()


@dataclass(frozen=True)
class Update:
    """[WITH ...] UPDATE relation [AS alias] SET ... [FROM items] [WHERE where] [RETURNING targets]."""

    text: str
    name: str
    name_position: int
    alias: str | None
    assignments: tuple[Assignment, ...]
    from_items: tuple[syntax.FromItem, ...]
    where: syntax.Expression | None
    returning: tuple[syntax.Target, ...] = ()
    common_tables: tuple[syntax.CommonTable, ...] = ()


@dataclass(frozen=True)
class Delete:
    """[WITH ...] DELETE FROM relation [AS alias] [USING items] [WHERE where] [RETURNING targets]."""

    text: str
    name: str
    name_position: int
    alias: str | None
    using: tuple[syntax.FromItem, ...]
    where: syntax.Expression | None
    returning: tuple[syntax.Target, ...] = ()
    common_tables: tuple[syntax.CommonTable, ...] = ()


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
class CopyFrom:
    """COPY relation [(columns)] FROM STDIN, or FROM 'file' on the server (file not None). where: the rows that are kept."""

    text: str
    name: str
    name_position: int
    columns: tuple[tuple[str, int], ...] | None
    options: CopyOptions
    file: str | None = None
    where: syntax.Expression | None = None


@dataclass(frozen=True)
class CopyTo:
    """COPY (query) TO STDOUT, or COPY relation [(columns)] TO STDOUT (query None), or TO 'file' on the server (file not None)."""

    text: str
    query: syntax.Query | None
    name: str
    name_position: int
    options: CopyOptions
    columns: tuple[tuple[str, int], ...] | None = None
    file: str | None = None


@dataclass(frozen=True)
class Transaction:
    """action: 'begin', 'commit', 'rollback'; 'savepoint', 'release', 'rollback to' (name: the savepoint's); chain: AND CHAIN.

    Of two-phase commit 'prepare', 'commit prepared', 'rollback prepared' (name: the transaction's).
    """

    text: str
    action: str
    chain: bool = False
    modes: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True)
class SetVariable:
    """SET [SESSION | LOCAL] name = value; value None is DEFAULT (also RESET name); name 'all' with None is RESET ALL.

    SET TRANSACTION modes has the name 'transaction' and the modes as value; SESSION CHARACTERISTICS: 'session characteristics'.
    """

    text: str
    name: str
    value: str | None
    local: bool = False


@dataclass(frozen=True)
class Show:
    """SHOW name | ALL."""

    text: str
    name: str


@dataclass(frozen=True)
class Explain:
    """EXPLAIN [(options)] statement: a Select or a CreateView."""

    text: str
    statement: Select | CreateView
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Deallocate:
    """DEALLOCATE name | ALL (name None)."""

    text: str
    name: str | None


@dataclass(frozen=True)
class Discard:
    """DISCARD ALL | PLANS | SEQUENCES | TEMP."""

    text: str
    what: str


@dataclass(frozen=True)
class Checkpoint:
    """CHECKPOINT, also in a transaction, which it takes no part in."""

    text: str


@dataclass(frozen=True)
class Empty:
    """Nothing between two semicolons, or an empty message."""

    text: str = ""


Statement = (
    CreateStream
    | CreateTable
    | AlterTable
    | Maintenance
    | ObjectStatement
    | CreateSequence
    | AlterSequence
    | Truncate
    | DropRelation
    | CreateView
    | Select
    | Insert
    | Update
    | Delete
    | CopyFrom
    | CopyTo
    | Transaction
    | SetVariable
    | Show
    | Explain
    | Deallocate
    | Discard
    | Prepare
    | Execute
    | Declare
    | Fetch
    | CloseCursor
    | SharedStatement
    | Checkpoint
    | AccessStatement
    | Empty
)
