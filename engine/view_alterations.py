"""ALTER VIEW ... RENAME, of continuous and of ordinary views; truncate, activate and deactivate of continuous ones.

Enters: statements or names, an image. Leaves: an image with another entry in the view's place. What a continuous view has counted goes on
under its new name; one that is emptied gets a state of its own, so that log and checkpoints know the two apart. Must not commit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from engine.catalog import CatalogImage, DisabledViewEntry, Entry, QueryViewEntry, ViewEntry
from engine.definitions import require_free
from engine.dependents import WORDS, maker_of, parts_of
from engine.disabled_views import refusal_to_change
from engine.query_views import bound_again
from sql.errors import SqlError
from sql.names import did_you_mean
from sql.relations import Schema
from sql.statements.statement import TableChange
from views.lifecycle import emptied_view, renamed_view
from views.view import ContinuousView

View = ViewEntry | QueryViewEntry


def require_view(entry: Entry) -> View:
    """Return a relation that is to be altered as a view. Raises 42809 for another, and 55000 for a disabled one."""
    if isinstance(entry, DisabledViewEntry):
        raise refusal_to_change(entry)
    if not isinstance(entry, ViewEntry | QueryViewEntry):
        raise SqlError("42809", f'"{entry.description.name}" is not a view')
    return entry


def rename_view(entry: View, change: TableChange, image: CatalogImage) -> CatalogImage:
    """Return the image with a view or one of its columns renamed. Raises 42P07, 42703, 42701, 0A000 when another view has built it in."""
    refuse_built_in(image, entry, "rename")
    before = entry.description.name
    if change.action == "rename":
        require_free(image, change.new_name, None)
        name, columns = change.new_name, [column.name for column in entry.description.columns]
    else:
        name, columns = before, renamed_columns(entry, change)
    if isinstance(entry, ViewEntry):
        changed: Entry = renamed_continuous(entry, name, columns)
    else:
        described = zip(entry.description.columns, columns, strict=True)
        shown = tuple(replace(column, name=called) for column, called in described)
        changed = replace(entry, description=replace(entry.description, name=name, columns=shown))
        for part in parts_of(image, entry):
            assert isinstance(part, ViewEntry)
            definition = replace(part.view.definition, whole=name)
            told = with_view(part, renamed_view(part.view, definition, part.view.schema))
            image = image.with_replaced(part.description.name, told)
    return bound_again(image.with_replaced(before, changed))


def renamed_columns(entry: View, change: TableChange) -> list[str]:
    """Return the names of a view's columns after RENAME COLUMN. Raises 42703 and 42701."""
    names = [column.name for column in entry.description.columns]
    if change.name not in names:
        raise SqlError("42703", f'column "{change.name}" does not exist')
    if change.new_name in names:
        name = entry.description.name
        raise SqlError("42701", f'column "{change.new_name}" of relation "{name}" already exists')
    return [change.new_name if name == change.name else name for name in names]


def renamed_continuous(entry: ViewEntry, name: str, columns: list[str]) -> ViewEntry:
    """Return the entry under another name, or with other names of its columns."""
    view = entry.view
    definition = replace(view.definition, name=name, column_names=tuple(columns))
    schema: Schema = tuple(replace(column, name=called) for column, called in zip(view.schema, columns, strict=True))
    return with_view(entry, renamed_view(view, definition, schema))


def with_view(entry: ViewEntry, view: ContinuousView) -> ViewEntry:
    """Return the entry with another view behind it."""
    return replace(entry, view=view, description=view.description)


def refuse_built_in(image: CatalogImage, entry: View, action: str) -> None:
    """Raise 0A000 for a view whose query a continuous view has in its own pipelines: it knows it by its name."""
    name = entry.description.name
    for other in image.entries.values():
        if isinstance(other, ViewEntry) and name in other.named and entry.description.oid != other.description.oid:
            reader = maker_of(image.entries.values(), other).description.name
            raise SqlError(
                "0A000",
                f'cannot {action} view "{name}" because continuous view "{reader}" reads it',
                hint=f"DROP VIEW {reader} first, and create it again afterwards.",
            )


# Functions that a SELECT calls


def change_view(function: str, name: str, image: CatalogImage) -> CatalogImage:
    """Return the image after `function`, one of sql.functions.VIEW_CHANGES, of the view called `name`. Raises 42P01, 42809, 55000."""
    change = CHANGES[function]
    entry = image.entries.get(name)
    if entry is None:
        hint = did_you_mean(name, image.relation_names())
        raise SqlError("42P01", f'relation "{name}" does not exist', hint=hint)
    if isinstance(entry, DisabledViewEntry):
        raise refusal_to_change(entry)
    pieces = [entry] if isinstance(entry, ViewEntry) else parts_of(image, entry)
    if not pieces:
        detail = "A continuous view reads a stream." if isinstance(entry, QueryViewEntry) else None
        if not isinstance(entry, QueryViewEntry):
            detail = f"It is a {WORDS[entry.description.kind]}."
        raise SqlError("42809", f'"{name}" is not a continuous view', detail=detail)
    for piece in pieces:
        assert isinstance(piece, ViewEntry)
        image = image.with_replaced(piece.description.name, change(piece, image))
        image = replace(image, next_oid=image.next_oid + 1)
    return image


def emptied(entry: ViewEntry, image: CatalogImage) -> ViewEntry:
    """Return the entry of a view that begins anew."""
    definition = replace(entry.view.definition, state=image.next_oid)
    return with_view(entry, emptied_view(entry.view, definition))


def activated(entry: ViewEntry, _: CatalogImage) -> ViewEntry:
    """Return the entry of a view that takes the rows that come."""
    return replace(entry, active=True)


def deactivated(entry: ViewEntry, _: CatalogImage) -> ViewEntry:
    """Return the entry of a view that stays as it is."""
    return replace(entry, active=False)


CHANGES: dict[str, Callable[[ViewEntry, CatalogImage], ViewEntry]] = {
    "truncate_continuous_view": emptied,
    "activate": activated,
    "deactivate": deactivated,
}
