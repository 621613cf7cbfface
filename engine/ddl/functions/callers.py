"""The callers of a user's function: views, defaults, checks.

Enters: an image. Leaves: oids, and dependents in PostgreSQL's words. Must not change anything.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.catalog.image import (
    CatalogImage,
    DisabledViewEntry,
    Entry,
    QueryViewEntry,
    StreamEntry,
    TableEntry,
    ViewEntry,
)
from engine.ddl.dependents import Dependent, dependents_of
from sql.catalog.functions import FunctionDescription


def called_by(entry: Entry) -> frozenset[int]:
    """Return the oids of the functions in the texts of a relation."""
    match entry:
        case ViewEntry():
            return frozenset(oid for _, oid in entry.functions)
        case QueryViewEntry():
            return frozenset(oid for _, oid in entry.source.functions)
        case DisabledViewEntry():
            return frozenset(oid for _, oid in entry.plain.get("functions", ()))
        case StreamEntry():
            return frozenset(oid for one in entry.defaults.values() for _, oid in one.functions)
        case TableEntry():
            sources = (*entry.defaults.values(), *entry.checks.values())
            return frozenset(oid for one in sources for _, oid in one.functions)
    return frozenset()


def function_dependents(function: FunctionDescription, image: CatalogImage) -> Iterator[Dependent]:
    """Yield the objects that call a function, and what is dropped with them."""
    on = f"function {function.signature}"
    wholes: list[Entry] = []
    for entry in image.entries.values():
        if function.oid not in called_by(entry):
            continue
        match entry:
            case TableEntry() | StreamEntry():
                for number, source in entry.defaults.items():
                    if function.oid in {oid for _, oid in source.functions}:
                        yield Dependent(entry, on, column=number)
                checks = entry.checks if isinstance(entry, TableEntry) else {}
                for name, source in checks.items():
                    if function.oid in {oid for _, oid in source.functions}:
                        yield Dependent(entry, on, constraint=name)
            case _:
                wholes.append(entry)
                yield Dependent(wholes[-1], on)
    yield from dependents_of(image, wholes)
