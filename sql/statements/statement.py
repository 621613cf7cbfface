"""What a client can say, as frozen dataclasses; `sql.parse` makes them. Names are case-folded; positions are 1-based characters.

`text` of a statement is the user's own text without the semicolon; `query` fields hold a `syntax.Query` that
`sql.bind` turns into a typed tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sql import syntax
from sql.datatypes import SqlType


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
class DropRelation:
    """DROP FOREIGN TABLE | VIEW [IF EXISTS] names [CASCADE | RESTRICT]. kind: 'stream' or 'view'."""

    text: str
    kind: str
    names: tuple[tuple[str, int], ...]
    if_exists: bool
    cascade: bool


@dataclass(frozen=True)
class CreateView:
    """CREATE [OR REPLACE] VIEW name [(columns)] [WITH (options)] AS query. query_text is the SELECT's own text."""

    text: str
    name: str
    column_names: tuple[str, ...]
    options: Mapping[str, str]
    query: syntax.Query
    query_text: str
    query_offset: int
    name_position: int
    or_replace: bool = False


@dataclass(frozen=True)
class Select:
    """A SELECT or VALUES statement."""

    text: str
    query: syntax.Query


@dataclass(frozen=True)
class Insert:
    """INSERT INTO relation [(columns)] VALUES ... | DEFAULT VALUES. A row's item is None for DEFAULT.

    query: for INSERT ... SELECT. returning: a RETURNING clause is there.
    """

    text: str
    name: str
    name_position: int
    columns: tuple[tuple[str, int], ...] | None
    rows: tuple[tuple[syntax.Expression | None, ...], ...]
    query: syntax.Query | None = None
    returning: bool = False


@dataclass(frozen=True)
class CopyOptions:
    """PostgreSQL's COPY options, defaults resolved; publish_ms: WITH (publish '100ms'), None when absent."""

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


@dataclass(frozen=True)
class CopyFrom:
    """COPY relation [(columns)] FROM STDIN."""

    text: str
    name: str
    name_position: int
    columns: tuple[tuple[str, int], ...] | None
    options: CopyOptions


@dataclass(frozen=True)
class CopyTo:
    """COPY (query) TO STDOUT, or COPY relation TO STDOUT (query None)."""

    text: str
    query: syntax.Query | None
    name: str
    name_position: int
    options: CopyOptions


@dataclass(frozen=True)
class Transaction:
    """action: 'begin', 'commit', 'rollback'; chain: AND CHAIN."""

    text: str
    action: str
    chain: bool = False
    modes: tuple[str, ...] = ()


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
class Cleanup:
    """CLOSE ALL or UNLISTEN, which connection pools send: nothing is open and nobody listens here. tag: its command tag."""

    text: str
    tag: str


@dataclass(frozen=True)
class Empty:
    """Nothing between two semicolons, or an empty message."""

    text: str = ""


Statement = (
    CreateStream
    | DropRelation
    | CreateView
    | Select
    | Insert
    | CopyFrom
    | CopyTo
    | Transaction
    | SetVariable
    | Show
    | Explain
    | Deallocate
    | Discard
    | Cleanup
    | Empty
)
