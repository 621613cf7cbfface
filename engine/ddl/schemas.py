"""Schemas in the image: new ones, those that are dropped with all objects in them, and relations
that move between them.

Enters: names of schemas, entries with their new keys, the image or the work that has them. Leaves:
the changed image, in which every object that knew a relation by its key knows it by the new key; a
notice of the dropped objects. A schema is a name with an oid, and the beginning of the keys of its
relations. Raises 42P07 for a key that is taken, and 0A000 where a continuous view has the relation
built in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

from engine.catalog.disabled_views import refusal_to_change
from engine.catalog.image import (
    CatalogImage,
    DisabledViewEntry,
    Entry,
    SequenceEntry,
    StreamEntry,
    TableEntry,
    ViewEntry,
)
from engine.ddl.dependents import SEVERAL, Dependent, owned_by, refuse_in_use, with_dependents
from engine.ddl.dropping import drop_with, tell_dropped
from engine.ddl.functions.dropping import functions_of, rename_functions
from engine.ddl.query_views import carried_over
from engine.ddl.table_names import relation_names
from engine.ddl.table_work import TableWork
from engine.ddl.types import rename_types, types_of
from engine.ddl.view_alterations import rename_view, with_stream_called
from engine.tables.table_expressions import called_anew, with_each_column
from sql.catalog.catalog import ColumnDescription
from sql.errors import SqlError
from sql.names.relation_keys import name_of, quoted_key, relation_key, schema_of
from sql.parse.statements.parts import TableChange


def with_schema(image: CatalogImage, name: str, owner: int) -> CatalogImage:
    """Return the image with a new schema."""
    schemas = MappingProxyType({**image.schemas, name: image.next_oid})
    privileges = image.privileges.with_owner(image.next_oid, owner)
    return replace(
        image, schemas=schemas, privileges=privileges, next_oid=image.next_oid + 1, version=image.version + 1
    )


def drop_schemas(names: Sequence[str], cascade: bool, work: TableWork) -> None:
    """Drop schemas with the objects in them. Raises 2BP01 without CASCADE if there are any."""
    image = work.image
    direct = [
        Dependent(one, f"schema {name}")
        for name in names
        for one in (*_relations_of(name, image), *functions_of(name, image), *types_of(name, image))
    ]
    found = with_dependents(image, direct)
    if found:
        tell_dropped(f"schema {names[0]}" if len(names) == 1 else SEVERAL, found, cascade, work)
    drop_with([], found, work)
    schemas = {name: oid for name, oid in work.image.schemas.items() if name not in names}
    work.image = replace(work.image, schemas=MappingProxyType(schemas)).without(())


def _relations_of(schema: str, image: CatalogImage) -> list[Entry]:
    """Return the relations of a schema, but for those that are dropped with another relation of the
    schema.
    """
    return [
        entry
        for key, entry in image.entries.items()
        if schema_of(key) == schema and not (isinstance(entry, SequenceEntry) and entry.owner is not None)
    ]


# Moves


def move(entry: Entry, schema: str, work: TableWork) -> None:
    """Move a relation with its indexes and the sequences of its columns into another schema."""
    before = entry.description.name
    if schema_of(before) == schema:
        return
    if isinstance(entry, SequenceEntry) and entry.owner is not None:
        table = work.image.by_oid(entry.owner[0])
        assert table is not None, "a sequence goes with its table"
        detail = f'Sequence "{before}" is linked to table "{table.description.name}".'
        raise SqlError("0A000", "cannot move an owned sequence into another schema", detail=detail)
    owned = owned_by(work.image, entry.description.oid)
    moved = [entry, *owned]
    names = {name_of(one.description.name) for one in moved}
    if isinstance(entry, TableEntry):
        names |= {one.name for one in entry.description.constraints if one.is_key or one.is_index}
    taken = relation_names(work.image)
    for name in sorted(names, key=lambda one: one != name_of(before)):
        if relation_key(schema, name) in taken:
            raise SqlError("42P07", f'relation "{name}" already exists in schema "{schema}"')
    then = work.image
    for one in moved:
        rekey(one, relation_key(schema, name_of(one.description.name)), work)
    settle(then, work)


def rekey(entry: Entry, key: str, work: TableWork) -> None:
    """Give a relation another key in the work's image; `settle` has to follow."""
    before = entry.description.name
    if isinstance(entry, DisabledViewEntry):
        raise refusal_to_change(entry)
    if isinstance(entry, TableEntry):
        refuse_in_use(work.image, entry)
    if isinstance(entry, ViewEntry):
        work.image = rename_view(entry, TableChange("rename", new_name=key), work.image)
        return
    changed: Entry = replace(entry, description=replace(entry.description, name=key))
    if isinstance(changed, StreamEntry):
        changed = replace(changed, stream=replace(changed.stream, name=key))
    work.put(changed, before)
    if isinstance(entry, StreamEntry):
        work.image = with_stream_called(work.image, before, key)


def rename_sequence(entry: SequenceEntry, key: str, work: TableWork) -> None:
    """Give a sequence another name, by which defaults know it, too. Raises 42P07."""
    if key in relation_names(work.image):
        raise SqlError("42P07", f'relation "{name_of(key)}" already exists')
    before = work.image
    rekey(entry, key, work)
    settle(before, work)


def rename_schema(name: str, new_name: str, work: TableWork) -> None:
    """Give a schema another name.

    Raises 0A000 where a continuous view has a relation in it built in.
    """
    before = work.image
    schemas = {new_name if one == name else one: oid for one, oid in work.image.schemas.items()}
    work.image = replace(work.image, schemas=MappingProxyType(schemas))
    rename_types(name, new_name, work)
    rename_functions(name, new_name, work)
    for entry in tuple(work.image.entries.values()):
        today = work.image.by_oid(entry.description.oid)
        if today is not None and schema_of(today.description.name) == name:
            rekey(today, relation_key(new_name, name_of(today.description.name)), work)
    settle(before, work)


def settle(before: CatalogImage, work: TableWork) -> None:
    """Let defaults and ordinary views know relations by their present keys.

    before: the image in which they know them.
    """
    names = {}
    for entry in before.entries.values():
        today = work.image.by_oid(entry.description.oid)
        if isinstance(entry, SequenceEntry) and today is not None:
            names[quoted_key(entry.description.name)] = quoted_key(today.description.name)

    def called(column: ColumnDescription) -> ColumnDescription:
        return column if column.default is None else replace(column, default=called_anew(column.default, names))

    for entry in tuple(work.image.entries.values()) if names else ():
        if isinstance(entry, TableEntry | StreamEntry):
            work.put(with_each_column(entry, called))
    work.image = carried_over(before, work.image, work.image.oids)
