"""Meanings of the names and expressions of a text, noted while the text is bound, for those that
print it again.

Nodes of the syntax are known by their ids, so that who reads notes must hold the syntax; names and
stars by their positions in the text. Bodies of functions that the text calls are not noted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from sql.functions.signatures import Signature
from sql.types.datatypes import SqlType

# A column: the id of its item of FROM and its place there, None for the whole row. A column that
# JOIN USING makes of two is one of the join.
Key = tuple[int, int | None]


class NotedColumn(NamedTuple):
    """A column of an item of FROM, as the text calls it.

    Attributes:
        hidden: no star stands for it.
    """

    name: str
    type: SqlType
    hidden: bool = False


class NotedItem(NamedTuple):
    """An item of FROM that is no join.

    Attributes:
        relation: the key of a relation of the catalog, '' for any other item.
        oid: its oid, likewise.
    """

    columns: tuple[NotedColumn, ...]
    relation: str = ""
    oid: int = 0


class NotedPair(NamedTuple):
    """A column of JOIN USING: its name, those of both sides, and the one that the name means."""

    name: str
    left: Key
    right: Key
    meant: Key


@dataclass(eq=False)
class Notes:
    """The meanings of the names and expressions of one text.

    Attributes:
        types: by expression its type, 'unknown' for an untyped constant.
        names: by position the columns that a name or a star means.
        items: by item of FROM, and by VALUES, what it has.
        using: by join the columns of USING or NATURAL.
        columns: by set operation the types of its columns.
        calls: by call the user's function that it means (`user_functions.OwnSignature`).
    """

    types: dict[int, SqlType] = field(default_factory=dict)
    names: dict[int, dict[Key, NotedColumn]] = field(default_factory=dict)
    items: dict[int, NotedItem] = field(default_factory=dict)
    using: dict[int, tuple[NotedPair, ...]] = field(default_factory=dict)
    columns: dict[int, list[SqlType]] = field(default_factory=dict)
    calls: dict[int, Signature] = field(default_factory=dict)


class NotedPlace(NamedTuple):
    """Where a column of a scope is, or a whole row, for the notes."""

    notes: Notes
    key: Key

    def note(self, column: NotedColumn, position: int) -> None:
        """Note that the text names what is there."""
        self.notes.names.setdefault(position, {})[self.key] = column
