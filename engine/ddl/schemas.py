"""Schemas in the image: new ones, and those that are dropped with all objects in them.

Enters: names of schemas, the image or the work that has them. Leaves: the changed image, a notice
of the dropped objects. A schema is a name with an oid, and the beginning of the keys of its
relations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

from engine.catalog.image import CatalogImage, Entry, SequenceEntry, is_part
from engine.ddl.dependents import SEVERAL, Dependent, cascade_notice, dependents_of, refusal_of, shown
from engine.ddl.dropping import drop_with
from engine.ddl.table_work import TableWork
from engine.ddl.types import remove_types, types_of
from sql.names.relation_keys import schema_of


def with_schema(image: CatalogImage, name: str, owner: int) -> CatalogImage:
    """Return the image with a new schema."""
    schemas = MappingProxyType({**image.schemas, name: image.next_oid})
    privileges = image.privileges.with_owner(image.next_oid, owner)
    return replace(
        image, schemas=schemas, privileges=privileges, next_oid=image.next_oid + 1, version=image.version + 1
    )


def drop_schemas(names: Sequence[str], cascade: bool, work: TableWork) -> None:
    """Drop schemas with the objects in them. Raises 2BP01 without CASCADE if there are any."""
    inside = [entry for name in names for entry in _relations_of(name, work.image)]
    taken: list[Dependent] = []
    lines: list[tuple[str, str]] = []
    seen: set[int] = set()
    for entry in inside:
        oid = entry.description.oid
        if oid in seen:
            continue
        seen.add(oid)
        lines.append((shown(entry), f"schema {schema_of(entry.description.name)}"))
        for one in dependents_of(work.image, [entry]):
            place = one.entry.description.oid
            if one.is_whole and place in seen:
                continue
            if one.is_whole:
                seen.add(place)
            taken.append(one)
            lines.append((one.text, one.on))
    types = [enum for name in names for enum in types_of(name, work.image)]
    lines += [(f"type {enum.shown}", f"schema {schema_of(enum.name)}") for enum in types]
    if lines and not cascade:
        what = f"schema {names[0]}" if len(names) == 1 else SEVERAL
        raise refusal_of(what, (f"{text} depends on {on}" for text, on in lines))
    if lines:
        text, detail = cascade_notice([text for text, _ in lines])
        work.notice(text, detail=detail)
    leaving = {entry.description.oid for entry in inside}
    drop_with(inside, [one for one in taken if one.entry.description.oid not in leaving], work)
    remove_types(types, work)
    schemas = {name: oid for name, oid in work.image.schemas.items() if name not in names}
    work.image = replace(work.image, schemas=MappingProxyType(schemas)).without(())


def _relations_of(schema: str, image: CatalogImage) -> list[Entry]:
    """Return the relations of a schema, but for those that are dropped with another relation of the
    schema.
    """
    return [
        entry
        for key, entry in image.entries.items()
        if schema_of(key) == schema
        and not is_part(entry)
        and not (isinstance(entry, SequenceEntry) and entry.owner is not None)
    ]
