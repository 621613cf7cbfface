"""A function in the place of another one, wherever it is called.

Ordinary views, defaults and checks are bound to its new body. A continuous view has the body built
in: a replacement that changes what it means is refused. Enters: descriptions, a `TableWork`.
Leaves: the work's image.
"""

from __future__ import annotations

from dataclasses import replace

from engine.catalog.as_then import StreamsAsThen
from engine.catalog.functions import with_functions
from engine.catalog.image import (
    CatalogImage,
    Entry,
    SourceText,
    StateEntry,
    StreamEntry,
    TableEntry,
    ViewEntry,
    states_of,
)
from engine.ddl.dependents import objects_named, shown
from engine.ddl.query_views import bound_again, bound_anew, statement_of
from engine.ddl.table_work import TableWork
from engine.tables.table_expressions import bound_defaults, bound_description
from sql.bind.queries.query import bind_query
from sql.catalog.functions import FunctionDescription
from sql.errors import SqlError
from sql.tree.relations import Relation


def put(work: TableWork, functions: list[FunctionDescription]) -> None:
    """Put these functions into the work's image."""
    work.image = with_functions(work.image, functions)


def give_way(known: FunctionDescription, function: FunctionDescription, work: TableWork) -> None:
    """Put a function in the place of another, wherever it is called. Raises 0A000."""
    before = work.image
    put(work, [function if one.oid == known.oid else one for one in before.functions.values()])
    for entry in tuple(work.image.entries.values()):
        if function.oid not in objects_named(entry):
            continue
        known_then, entry = entry, knowing_today(entry, work.image)
        try:
            if any(
                root_of(known_then, one, before) != root_of(known_then, one, work.image) for one in states_of(entry)
            ):
                raise another_meaning(entry, function)
            if isinstance(entry, TableEntry):
                work.put(bound_description(entry, work.image))
            elif isinstance(entry, StreamEntry):
                work.put(with_defaults(entry, work.image))
            elif isinstance(entry, ViewEntry) and not entry.is_state:
                columns = entry.description.columns
                again = replace(bound_anew(entry, work.image), followers=entry.followers)
                if [one.type.sql_name for one in columns] != [one.type.sql_name for one in again.description.columns]:
                    raise another_meaning(entry, function)
                work.put(again)
                work.image = bound_again(work.image, [entry.description.oid])
        except SqlError as error:
            if error.sqlstate == "0A000":
                raise
            raise another_meaning(entry, function) from error


def knowing_today(entry: Entry, image: CatalogImage) -> Entry:
    """Return a definition that may name all functions and types of today: a new body may have names
    that its text does not have.
    """
    today = [(one.name, one.oid) for one in image.functions.values()]
    today += [(one.name, one.oid) for one in image.types.values()]

    def knowing(source: SourceText) -> SourceText:
        known = {key for key, _ in source.objects}
        return replace(source, objects=(*source.objects, *(one for one in today if one[0] not in known)))

    if isinstance(entry, ViewEntry):
        return replace(entry, source=knowing(entry.source))
    if isinstance(entry, TableEntry | StreamEntry):
        entry = replace(entry, defaults={number: knowing(source) for number, source in entry.defaults.items()})
    if isinstance(entry, TableEntry):
        entry = replace(entry, checks={name: knowing(source) for name, source in entry.checks.items()})
    return entry


def with_defaults(entry: StreamEntry, image: CatalogImage) -> StreamEntry:
    """Return a stream with its defaults bound again."""
    stored, defaults = bound_defaults(entry.stream.stored, entry.defaults, image)
    stream = replace(entry.stream, stored=stored)
    described = replace(entry.description, columns=stream.columns)
    return replace(entry, stream=stream, description=described, defaults=defaults)


def another_meaning(entry: Entry, function: FunctionDescription) -> SqlError:
    """Return the refusal of a new body that an object would not go on with."""
    hint = "Drop what calls it, or give the new function another name."
    if states_of(entry):
        hint = "A continuous view has counted with the old body. Give the new function another name, and make a view with it."
    message = f"cannot replace function {function.signature} because {shown(entry)} has its old body built in"
    return SqlError("0A000", message, hint=hint)


def root_of(entry: Entry, state: StateEntry, image: CatalogImage) -> Relation:
    """Return the query of a view over streams as it is bound to an image for one of its states."""
    assert isinstance(entry, ViewEntry), entry
    definition = state.chain.definition
    then = StreamsAsThen(image, entry.source.objects, state.used, entry.named)
    return bind_query(statement_of(definition.text).query, then, definition.settings).root
