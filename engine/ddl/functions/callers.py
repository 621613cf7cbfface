"""The definitions that name a user's function or type: views, defaults, checks.

Enters: an image. Leaves: oids, and dependents in PostgreSQL's words. Must not change anything.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.catalog.image import (
    CatalogImage,
    DisabledViewEntry,
    Entry,
    QueryViewEntry,
    StreamEntry,
    TableEntry,
    ViewEntry,
)
from engine.ddl.dependents import Dependent, with_dependents


def objects_named(entry: Entry) -> frozenset[int]:
    """Return the oids of the functions and types in the texts of a relation."""
    match entry:
        case ViewEntry():
            return _oids(entry.objects)
        case QueryViewEntry():
            return _oids(entry.source.objects)
        case DisabledViewEntry():
            return _oids(entry.plain.get("objects", entry.plain.get("functions", ())))
        case StreamEntry():
            return frozenset().union(*(_oids(one.objects) for one in entry.defaults.values()))
        case TableEntry():
            sources = (*entry.defaults.values(), *entry.checks.values())
            return frozenset().union(*(_oids(one.objects) for one in sources))
    return frozenset()


def _oids(objects: Iterable[tuple[str, int]]) -> frozenset[int]:
    return frozenset(oid for _, oid in objects)


def users_of(oid: int, on: str, image: CatalogImage) -> list[Dependent]:
    """Return the definitions that name a function or type, and what is dropped with them.

    on: the function or type, as messages call it.
    """
    found: list[Dependent] = []
    for entry in image.entries.values():
        if oid not in objects_named(entry):
            continue
        match entry:
            case TableEntry() | StreamEntry():
                for number, source in entry.defaults.items():
                    if oid in _oids(source.objects):
                        found.append(Dependent(entry, on, column=number))
                checks = entry.checks if isinstance(entry, TableEntry) else {}
                for name, source in checks.items():
                    if oid in _oids(source.objects):
                        found.append(Dependent(entry, on, constraint=name))
            case _:
                found.append(Dependent(entry, on))
    return with_dependents(image, found)
