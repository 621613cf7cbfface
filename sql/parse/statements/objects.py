"""ALTER VIEW, COMMENT ON, and the statements on indexes and types, as frozen dataclasses; see `sql.parse.statements.statement`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sql.parse.statements.statement import TableChange


@dataclass(frozen=True)
class AlterView:
    """ALTER VIEW [IF EXISTS] name RENAME ...: a change whose action is 'rename' or 'rename column'; or SET SCHEMA: 'set schema'."""

    text: str
    name: str
    name_position: int
    if_exists: bool
    change: TableChange


@dataclass(frozen=True)
class Comment:
    """COMMENT ON kind name IS comment, None: it is taken away.

    kind: as of DropRelation, or 'column' or 'constraint', then of the relation `name`, which has it as `part`.
    """

    text: str
    kind: str
    name: str
    name_position: int
    part: str | None
    comment: str | None


@dataclass(frozen=True)
class CreateIndex:
    """CREATE [UNIQUE] INDEX [CONCURRENTLY] [IF NOT EXISTS] [name] ON table (columns). columns: (name, position)."""

    text: str
    name: str | None
    table: str
    table_position: int
    columns: tuple[tuple[str, int], ...]
    unique: bool
    concurrently: bool
    if_not_exists: bool


@dataclass(frozen=True)
class DropIndex:
    """DROP INDEX [CONCURRENTLY] [IF EXISTS] names."""

    text: str
    names: tuple[tuple[str, int], ...]
    if_exists: bool
    concurrently: bool


@dataclass(frozen=True)
class RenameIndex:
    """ALTER INDEX [IF EXISTS] name RENAME TO new_name."""

    text: str
    name: str
    new_name: str
    if_exists: bool


@dataclass(frozen=True)
class CreateType:
    """CREATE TYPE name AS ENUM (labels)."""

    text: str
    name: str
    name_position: int
    labels: tuple[str, ...]


@dataclass(frozen=True)
class AlterType:
    """ALTER TYPE name action. action: 'add value', 'rename value', 'rename', 'set schema'.

    label: the value that it is about; new_name: of a renaming, or the new schema. neighbor: behind (is_after) or before which label a
    value is added; None: behind all.
    """

    text: str
    name: str
    action: str
    label: str = ""
    new_name: str = ""
    neighbor: str | None = None
    is_after: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropType:
    """DROP TYPE [IF EXISTS] names [CASCADE | RESTRICT]."""

    text: str
    names: tuple[str, ...]
    if_exists: bool
    cascade: bool


TypeStatement = CreateType | AlterType | DropType
IndexStatement = CreateIndex | DropIndex | RenameIndex
ObjectStatement = AlterView | Comment | IndexStatement | TypeStatement
