"""ALTER VIEW ...

RENAME, of continuous and of ordinary views; truncate, activate and deactivate of continuous ones.

Enters: statements or names, an image. Leaves: an image with another entry in the view's place. A
renamed continuous view keeps what it has counted; an emptied one gets a state of its own, so that
log and checkpoints know the two apart. Must not commit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from engine.catalog.disabled_views import refusal_to_change
from engine.catalog.image import (
    WORDS,
    CatalogImage,
    DisabledViewEntry,
    Entry,
    StateEntry,
    StreamEntry,
    TableEntry,
    ViewEntry,
    in_states,
    states_of,
)
from engine.ddl.definitions import refuse_hidden_name, require_free, stream_description
from engine.ddl.dependents import dependents_of, names_built_in
from engine.ddl.query_views import carried_over
from engine.ddl.table_building import empty_table, stored_type, with_column
from engine.ddl.table_work import TableWork
from engine.streams.options import StreamOptions
from engine.streams.stream import make_stream
from sql.bind.queries.view_versions import output_schema
from sql.bind.readers import has_open_zone
from sql.catalog.catalog import ColumnDescription, RelationDescription
from sql.errors import SqlError, not_supported
from sql.functions.volatility import has_volatile
from sql.names.relation_keys import described, emitted_key, name_of, output_key, output_keys
from sql.parse.statements.parts import TableChange, TableColumn
from sql.tree.relations import Project, Schema
from views.model.definition import ViewDefinition, with_values, with_values_of
from views.upkeep.lifecycle import emptied_view, renamed_view


def require_view(entry: Entry) -> ViewEntry:
    """Return a relation that is to be altered as a view.

    Raises 42809 for another relation, and 55000 for a disabled view.
    """
    if isinstance(entry, DisabledViewEntry):
        raise refusal_to_change(entry)
    if not isinstance(entry, ViewEntry):
        raise SqlError("42809", f'"{entry.description.name}" is not a view')
    return entry


def rename_view(entry: ViewEntry, change: TableChange, image: CatalogImage) -> CatalogImage:
    """Return the image with a view or one of its columns renamed.

    Raises 42P07, 42703, 42701, and 0A000 when another view has built it in.
    """
    refuse_built_in(image, entry, "rename")
    before = entry.description.name
    if change.action == "rename":
        require_free(image, change.new_name)
        name, columns = change.new_name, [column.name for column in entry.description.columns]
    else:
        name, columns = before, renamed_columns(entry, change)
    changed = (renamed_continuous if entry.is_state else renamed_query)(entry, name, columns)
    after = carried_over(image, image.with_replaced(before, changed), [entry.description.oid])
    return with_output_called(after, changed.description)


def renamed(
    entry: ViewEntry, change: TableChange, image: CatalogImage, committed: CatalogImage
) -> tuple[CatalogImage, str | None]:
    """Return the image after RENAME, and the notice for the client.

    A view that takes the place of one that is alike is exchanged by `goes_on`.
    """
    exchanged = goes_on(entry, change, image, committed)
    if exchanged is None:
        return rename_view(entry, change, image), None
    name = name_of(change.new_name)
    return exchanged, f'view "{name}" goes on with what it has counted, since the new one has the same query'


def goes_on(entry: ViewEntry, change: TableChange, image: CatalogImage, committed: CatalogImage) -> CatalogImage | None:
    """Return the image in which the view that had a new name before this transaction has it again,
    None: the views differ.

    So tools replace a view: they make another one, rename the old one out of the way, give its name
    to the new one, and drop the old one. Where both have the same query, owner and options that
    can't be changed, they exchange their names instead, and what was counted stays under its name,
    as do the new view's other options. Readers of the old view
    are dropped with the view that has its name now, as tools expect: tools make these views anew as
    well.
    """
    before = committed.entries.get(change.new_name)
    if change.action != "rename" or before is None or committed.by_oid(entry.description.oid) is not None:
        return None
    aside = image.by_oid(before.description.oid)
    if not isinstance(aside, ViewEntry) or aside.description.name == change.new_name:
        return None
    owners = {image.privileges.owner(one.description.oid) for one in (entry, aside)}
    outputs = {output_key(one.description.oid) in image.entries for one in (entry, aside)}
    if len(owners) > 1 or len(outputs) > 1 or not are_alike(entry, aside):
        return None
    name = aside.description.name
    followers = frozenset(one.oid for one in dependents_of(image, [aside]) if one.is_whole and one.relation is not None)
    image = rename_view(with_options_of(aside, entry), change, image)
    made = image.by_oid(entry.description.oid)
    assert isinstance(made, ViewEntry)
    made = replace(with_options_of(made, aside), followers=followers)
    image = image.with_replaced(made.description.name, made)
    return rename_view(made, replace(change, new_name=name), image)


def are_alike(one: ViewEntry, other: ViewEntry) -> bool:
    """Tell whether two views over streams have the same plans, options and columns, so that both
    would count the same.
    """
    return bool(states_of(one) and states_of(other)) and _likeness(one) == _likeness(other)


def _likeness(view: ViewEntry) -> object:
    states = states_of(view)
    columns = [(column.name, column.type) for column in view.description.columns]
    choices = [(state.chain.definition.joins, state.active) for state in states]
    return columns, choices, view.plan


def renamed_columns(entry: ViewEntry, change: TableChange) -> list[str]:
    """Return the names of a view's columns after RENAME COLUMN. Raises 42703 and 42701."""
    names = [column.name for column in entry.description.columns]
    if change.name not in names:
        raise SqlError("42703", f'column "{change.name}" does not exist')
    if change.new_name in names:
        name = entry.description.name
        raise SqlError("42701", f'column "{change.new_name}" of relation "{name}" already exists')
    return [change.new_name if name == change.name else name for name in names]


def with_options(entry: ViewEntry, options: Mapping[str, str | None], image: CatalogImage) -> CatalogImage:
    """Return the image in which a view has other values of options; None: the default again.

    Raises 22023, also for a view that reads no stream.
    """
    if not states_of(entry):
        (name, *_) = options
        raise SqlError("22023", f'unrecognized parameter "{name}"', hint="The view reads no stream.")
    changed = redefined(entry, lambda definition: with_values(definition, options))
    return image.with_replaced(entry.description.name, changed)


def with_options_of(entry: ViewEntry, other: ViewEntry) -> ViewEntry:
    """Return a view over streams with those options of another one that ALTER VIEW changes."""
    options = states_of(other)[0].chain.definition
    return redefined(entry, lambda definition: with_values_of(definition, options))


def redefined(entry: ViewEntry, change: Callable[[ViewDefinition], ViewDefinition]) -> ViewEntry:
    """Return a view with other options in the definitions of all its states."""
    views = [(state, state.chain) for state in states_of(entry)]
    states = [replace(state, chain=renamed_view(view, change(view.definition), view.schema)) for state, view in views]
    return in_states(entry, tuple(states))


def renamed_continuous(entry: ViewEntry, name: str, columns: list[str]) -> Entry:
    """Return the entry under another name, or with other names of its columns."""
    view = entry.states[0].chain
    definition = replace(view.definition, name=name, column_names=tuple(columns))
    schema: Schema = tuple(replace(column, name=called) for column, called in zip(view.schema, columns, strict=True))
    return in_states(entry, (replace(entry.states[0], chain=renamed_view(view, definition, schema)),))


def renamed_query(entry: ViewEntry, name: str, columns: list[str]) -> ViewEntry:
    """Return the entry of an ordinary view under another name, or with other names of its
    columns.
    """
    description, query = entry.description, entry.description.query
    assert query is not None and isinstance(query.root, Project), description
    items = tuple((called, item) for called, (_, item) in zip(columns, query.root.items, strict=True))
    described = zip(description.columns, columns, strict=True)
    shown = tuple(replace(column, name=called) for column, called in described)
    query = replace(query, root=replace(query.root, items=items))
    description = replace(description, name=name, columns=shown, query=query)
    return replace(entry, description=description, states=tuple(_told(state, name) for state in entry.states))


def _told(state: StateEntry, name: str) -> StateEntry:
    """Return a state of a view that is called `name` now."""
    definition = replace(state.chain.definition, name=name)
    return replace(state, chain=renamed_view(state.chain, definition, state.chain.schema))


def with_stream_called(image: CatalogImage, before: str, after: str) -> CatalogImage:
    """Return an image in which what is kept of a stream knows the stream's new name."""
    for name, entry in image.entries.items():
        states = states_of(entry)
        if isinstance(entry, ViewEntry) and any(state.stream_name == before for state in states):
            told = (replace(one, stream_name=after) if one.stream_name == before else one for one in states)
            image = image.with_replaced(name, in_states(entry, tuple(told)))
    return image


def refuse_built_in(image: CatalogImage, entry: ViewEntry, action: str) -> None:
    """Raise 0A000 for a view whose query a continuous view has in its own pipelines: that view
    knows it by its name.
    """
    name = entry.description.name
    for other in image.entries.values():
        if name in names_built_in(other) and entry.description.oid != other.description.oid:
            reader = other.description.name
            raise SqlError(
                "0A000",
                f'cannot {action} view "{name}" because continuous view "{reader}" reads it',
                hint=f"DROP VIEW {reader} first, and create it again afterwards.",
            )


# Outputs


def settle_output(name: str, options: StreamOptions, work: TableWork) -> None:
    """Let a view have an output if its options say so, else none.

    options: of its stream. Raises 22023 for a view that no schedule refreshes, 0A000 for one whose
    rows depend on their reader or whose columns have changed, 42701 for columns of one name, 2BP01
    for views over an output that is to end.
    """
    entry = require_view(work.image.entries[name])
    view, image = entry.description, work.image
    stream = image.entries.get(output_key(view.oid))
    definitions = [state.chain.definition for state in states_of(entry)]
    wanted = any(one.emits for one in definitions)
    if wanted and not all(one.refresh_us for one in definitions):
        hint = "For example: output = on, refresh_every = '1 s'."
        raise SqlError("22023", "output = on needs refresh_every, which makes the versions that it tells of", hint=hint)
    if stream is None:
        if wanted:
            begin_output(entry, options, work)
    elif not wanted:
        end_output(entry, stream, work)
    elif [(one.name, one.type) for one in output_schema(view, image)] != [
        (one.name, one.type) for one in stream.description.columns
    ]:
        hint = f"ALTER VIEW {name_of(name)} RESET (output) ends it; a new one begins with all rows of the view."
        raise not_supported("another output of the same view", hint=hint)


def begin_output(entry: ViewEntry, options: StreamOptions, work: TableWork) -> None:
    """Make the stream of a view's changes, and the table of the rows that it has told of."""
    view = entry.description
    if view.query is not None and (has_volatile(view.query.root) or has_open_zone(view.query.root)):
        raise not_supported("the output of a view whose rows depend on who reads it")
    columns: list[ColumnDescription] = []
    for one in output_schema(view, work.image):
        if any(one.name == known.name for known in columns):
            hint = "Give the columns of the view other names."
            raise SqlError("42701", f'column "{one.name}" of the output specified more than once', hint=hint)
        refuse_hidden_name(one.name, None)
        columns.append(ColumnDescription(one.name, stored_type(one.type)))
    table = empty_table(emitted_key(view.oid), work)
    for number, column in enumerate(view.columns, 1):
        table = with_column(table, TableColumn(f"c{number}", stored_type(column.type)), work)
    made = make_stream(
        output_key(view.oid), work.take_oid(), columns, options.capacity, options.timeout_ms, options.string_capacity
    )
    work.image = work.image.with_entry(table).with_entry(StreamEntry(stream_description(made), made))
    work.create(table)


def end_output(entry: ViewEntry, stream: Entry, work: TableWork) -> None:
    """Drop what belongs to a view's output. Raises 2BP01."""
    found = dependents_of(work.image, [stream])
    name = described(entry.description.name)
    if found:
        detail = "\n".join(f"{one.text} depends on output_of('{name}')" for one in found)
        message = f"cannot end the output of view {name} because other objects depend on it"
        raise SqlError("2BP01", message, detail=detail, hint="Drop these objects first.")
    table = work.image.entries[emitted_key(entry.description.oid)]
    assert isinstance(table, TableEntry), table
    work.drop(table)
    work.image = work.image.without(output_keys(entry.description.oid))


def with_output_called(image: CatalogImage, view: RelationDescription) -> CatalogImage:
    """Return the image in which the output of a view, if there is one, has the names of its
    columns.
    """
    key = output_key(view.oid)
    before = image.entries.get(key)
    if not isinstance(before, StreamEntry):
        return image
    names = [one.name for one in output_schema(view, image)]
    stored = zip(before.stream.stored, names, strict=True)
    stream = replace(before.stream, stored=tuple(replace(column, name=name) for column, name in stored))
    after = image.with_replaced(key, replace(before, stream=stream, description=stream_description(stream)))
    return carried_over(image, after, [stream.oid])


# Functions that a SELECT calls


def change_view(function: str, name: str, image: CatalogImage) -> CatalogImage:
    """Return the image after `function`, one of `VIEW_CHANGES`, of the view called `name`.

    Raises 42P01, 42809, 55000.
    """
    change, entry = CHANGES[function], image.existing(name)
    if isinstance(entry, DisabledViewEntry):
        raise refusal_to_change(entry)
    states = states_of(entry)
    if not isinstance(entry, ViewEntry) or not states:
        is_view, word = isinstance(entry, ViewEntry), WORDS[entry.description.kind]
        detail = "A continuous view reads a stream." if is_view else f"It is a {word}."
        raise SqlError("42809", f'"{name}" is not a continuous view', detail=detail)
    changed = tuple(change(state, image.next_oid + number) for number, state in enumerate(states))
    image = replace(image, next_oid=image.next_oid + len(states))
    return image.with_replaced(name, in_states(entry, changed))


def emptied(entry: StateEntry, oid: int) -> StateEntry:
    """Return the entry of a view that begins anew, with the oid of its new state."""
    return replace(entry, chain=emptied_view(entry.chain, oid))


def activated(entry: StateEntry, _: int) -> StateEntry:
    """Return the entry of a view that takes new rows."""
    return replace(entry, active=True)


def deactivated(entry: StateEntry, _: int) -> StateEntry:
    """Return the entry of a view that stays as it is."""
    return replace(entry, active=False)


CHANGES: dict[str, Callable[[StateEntry, int], StateEntry]] = {
    "truncate_continuous_view": emptied,
    "activate": activated,
    "deactivate": deactivated,
}
