"""The relations of the database as one immutable image: what is named, what it is, and what runs behind the name.

Enters: entries made by DDL. Leaves: images (a new one per change) that bind reads, and the plain form that the catalog file holds.
A transaction with DDL works on an image of its own; committing it is one assignment in `engine.database`. Must not lock or write.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

from engine.stream import Stream
from sql.catalog import RelationDescription
from views.view import ContinuousView

FIRST_OID = 16384  # PostgreSQL's FirstNormalObjectId


@dataclass(frozen=True)
class StreamEntry:
    """A stream: its description, the statement that made it, and its ring."""

    description: RelationDescription
    text: str
    time_zone: str
    stream: Stream


@dataclass(frozen=True)
class ViewEntry:
    """A continuous view and the stream under it. restored: its definition survived a restart, its contents did not."""

    description: RelationDescription
    stream_name: str
    view: ContinuousView
    restored: bool = False


Entry = StreamEntry | ViewEntry


@dataclass(frozen=True)
class CatalogImage:
    """All relations at one moment. version rises with every change, so that plans bound to an older image can be told."""

    entries: Mapping[str, Entry] = field(default_factory=lambda: MappingProxyType({}))
    version: int = 0
    next_oid: int = FIRST_OID

    def relation(self, name: str) -> RelationDescription | None:
        """Return the description of `name`, or None (the Protocol `sql.catalog.Catalog`)."""
        entry = self.entries.get(name)
        return None if entry is None else entry.description

    def relation_names(self) -> Iterable[str]:
        """Return all names, for 'did you mean'."""
        return self.entries.keys()

    def views_of(self, stream_name: str) -> tuple[ContinuousView, ...]:
        """Return the continuous views attached to a stream, in order of creation."""
        return self._attached.get(stream_name, ())

    @cached_property
    def _attached(self) -> dict[str, tuple[ContinuousView, ...]]:
        attached: dict[str, tuple[ContinuousView, ...]] = {}
        for entry in self.entries.values():
            if isinstance(entry, ViewEntry):
                attached[entry.stream_name] = (*attached.get(entry.stream_name, ()), entry.view)
        return attached

    def with_entry(self, entry: Entry) -> CatalogImage:
        """Return an image that also holds `entry`; its oid was taken from `next_oid`."""
        entries = {**self.entries, entry.description.name: entry}
        next_oid = max(self.next_oid, entry.description.oid + 1)
        return replace(self, entries=MappingProxyType(entries), version=self.version + 1, next_oid=next_oid)

    def without(self, names: Iterable[str]) -> CatalogImage:
        """Return an image without the relations called `names`."""
        gone = frozenset(names)
        entries = {name: entry for name, entry in self.entries.items() if name not in gone}
        return replace(self, entries=MappingProxyType(entries), version=self.version + 1)


def plain_form(image: CatalogImage) -> dict[str, object]:
    """Return what the catalog file holds: format version, next oid, and per relation its defining text in order of creation."""
    relations: list[dict[str, object]] = []
    for name, entry in image.entries.items():
        if isinstance(entry, StreamEntry):
            relations.append(
                {
                    "kind": "stream",
                    "name": name,
                    "oid": entry.description.oid,
                    "text": entry.text,
                    "time_zone": entry.time_zone,
                }
            )
        else:
            relations.append({"kind": "view", "definition": entry.view.definition.to_dict()})
    return {"format": 1, "next_oid": image.next_oid, "relations": relations}
