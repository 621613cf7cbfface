"""ALTER VIEW and COMMENT ON, as frozen dataclasses; see `sql.statements.statement`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sql.statements.statement import TableChange


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
    """COMMENT ON kind name IS comment, None: it is taken away. kind: as of DropRelation, or 'column', then of the relation `name`."""

    text: str
    kind: str
    name: str
    name_position: int
    column: str | None
    comment: str | None


ObjectStatement = AlterView | Comment
