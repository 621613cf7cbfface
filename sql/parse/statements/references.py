"""What a foreign key refers to, as written."""

from __future__ import annotations

from dataclasses import dataclass


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
