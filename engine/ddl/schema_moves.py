"""ALTER ...

SET SCHEMA and ALTER SCHEMA ... RENAME TO: relations get other keys, and nothing else of them
changes.

Enters: an entry of the work's image, its new key. Leaves: the work's image, in which every object
that knew the relation by its key knows it by the new key. Raises 42P07 for a key that is taken, and
0A000 where a continuous view has the relation built in.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from engine.catalog.disabled_views import refusal_to_change
from engine.catalog.image import (
    DisabledViewEntry,
    Entry,
    QueryViewEntry,
    SequenceEntry,
    StreamEntry,
    TableEntry,
    ViewEntry,
    is_part,
)
from engine.ddl.dependents import owned_by
from engine.ddl.query_views import bound_again
from engine.ddl.table_alterations import refuse_in_use
from engine.ddl.table_names import relation_names
from engine.ddl.table_work import TableWork
from engine.ddl.types import rename_types
from engine.ddl.view_alterations import rename_view
from engine.tables.table_expressions import bound_description
from sql.errors import SqlError
from sql.names.relation_keys import name_of, relation_key, schema_of
from sql.parse.statements.parts import TableChange


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
    for one in moved:
        rekey(one, relation_key(schema, name_of(one.description.name)), work)
    settle(work)


def rekey(entry: Entry, key: str, work: TableWork) -> None:
    """Give a relation another key in the work's image; `settle` has to follow."""
    before = entry.description.name
    if isinstance(entry, DisabledViewEntry):
        raise refusal_to_change(entry)
    if isinstance(entry, TableEntry):
        refuse_in_use(work.image, entry)
    if isinstance(entry, ViewEntry | QueryViewEntry):
        work.image = rename_view(entry, TableChange("rename", new_name=key), work.image)
        return
    changed: Entry = replace(entry, description=replace(entry.description, name=key))
    if isinstance(changed, StreamEntry):
        changed = replace(changed, stream=replace(changed.stream, name=key))
    work.image = work.image.with_replaced(before, changed)
    if isinstance(entry, StreamEntry):
        for view in tuple(work.image.entries.values()):
            if isinstance(view, ViewEntry) and view.stream_name == before:
                work.image = work.image.with_replaced(view.description.name, replace(view, stream_name=key))


def rename_schema(name: str, new_name: str, work: TableWork) -> None:
    """Give a schema another name.

    Raises 0A000 where a continuous view has a relation in it built in.
    """
    schemas = {new_name if one == name else one: oid for one, oid in work.image.schemas.items()}
    work.image = replace(work.image, schemas=MappingProxyType(schemas))
    rename_types(name, new_name, work)
    for entry in tuple(work.image.entries.values()):
        today = work.image.by_oid(entry.description.oid)
        if today is not None and not is_part(today) and schema_of(today.description.name) == name:
            rekey(today, relation_key(new_name, name_of(today.description.name)), work)
    settle(work)


def settle(work: TableWork) -> None:
    """Bind again the objects that name relations: ordinary views and defaults."""
    for entry in tuple(work.image.entries.values()):
        if isinstance(entry, TableEntry):
            work.image = work.image.with_replaced(entry.description.name, bound_description(entry, work.image))
    work.image = bound_again(work.image, work.image.oids)
    work.tables.image = work.image
