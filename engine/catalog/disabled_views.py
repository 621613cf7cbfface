"""Views that could not be built at the start: they are in the catalog, and their readers get an
error.

The contents of such a view lie in the newest checkpoint and in the log after it, and stay there: no
checkpoint is made, no row comes into its stream, and the relations that its text names stay as they
are, until the view is dropped or a start succeeds. So the view loses nothing, and never answers
wrongly.

Enters: the stored form of a view, and a function that builds the view. Leaves: its entry, or that
of a disabled view. Must not know kernels.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any

from engine.catalog.image import (
    CatalogImage,
    DisabledViewEntry,
    Entry,
    StreamEntry,
    TableEntry,
    ViewEntry,
)
from sql.catalog.catalog import RelationDescription
from sql.errors import SqlError
from sql.names.relation_keys import described
from sql.names.relation_keys import shown as name_shown

log = logging.getLogger(__name__)

DISABLED = "55000"


def restored_or_disabled(build: Callable[[], ViewEntry], relation: dict[str, Any], image: CatalogImage) -> Entry:
    """Return the entry of a stored view, a disabled view if it can't be built."""
    try:
        return build()
    except SqlError as error:
        return _disabled(relation, image, error.message)
    except Exception as error:
        # Whatever is wrong with one view, the server starts.
        log.exception("a bug in what restores a view")
        return _disabled(relation, image, f"{type(error).__name__}: {error}")


def _disabled(relation: dict[str, Any], image: CatalogImage, reason: str) -> DisabledViewEntry:
    needed: set[int] = set()
    for one in (relation, *relation.get("states", ())):
        if "used" in one:
            needed |= {used["oid"] for used in one["used"]}
        else:
            # As it was stored before streams could be altered: it may read any of them.
            needed |= {entry.description.oid for entry in image.entries.values() if isinstance(entry, StreamEntry)}
        needed |= {one["output"]["oid"]} if one.get("output") else set()
        named = (image.entries.get(name) for name in one.get("named", ()))
        needed |= {entry.description.oid for entry in named if entry is not None}
    description = RelationDescription(relation["name"], relation["kind"], relation["oid"], (), disabled=reason)
    entry = DisabledViewEntry(description, relation, frozenset(needed))
    log.warning(
        "view %s is disabled, its readers get an error, and no rows come into the streams that it reads: %s",
        name_shown(shown(entry)),
        reason,
    )
    return entry


def shown(entry: DisabledViewEntry) -> str:
    """Return the name of the view that clients know."""
    return described(entry.description.name)


def refuse_rows(image: CatalogImage, stream: str) -> None:
    """Raise 55000 for rows of a stream that a disabled view would miss."""
    entry = image.held_up.get(stream)
    if entry is not None:
        raise _refusal(
            entry, f'cannot insert into stream "{described(stream)}"', "Its rows would be missing in the view."
        )


def refuse_checkpoint(image: CatalogImage) -> None:
    """Raise 55000 if a checkpoint would lose the contents of a continuous view."""
    for entry in image.disabled:
        if entry.is_continuous:
            raise _refusal(entry, "cannot make a checkpoint", "It would have nothing of what the view keeps.")


def refuse_table(name: str, entries: Iterable[Entry]) -> None:
    """Raise 55000 for changes of a table that a disabled view may have built in."""
    known = list(entries)
    if any(isinstance(entry, DisabledViewEntry) for entry in known):
        by_oid = {entry.description.oid: entry for entry in known}
        for entry in known:
            if isinstance(entry, DisabledViewEntry) and name in {one.description.name for one in _below(entry, by_oid)}:
                raise _refusal(entry, f'cannot change table "{described(name)}"', "The view may have built it in.")


def refuse_definitions(before: CatalogImage, after: CatalogImage) -> None:
    """Raise 55000 if a relation that a disabled view reads is another one in `after` than in
    `before`.
    """
    for entry in after.disabled:
        by_oid = {one.description.oid: one for one in before.entries.values()}
        for one in _below(entry, by_oid):
            if after.by_oid(one.description.oid) is not one:
                name = described(one.description.name)
                raise _refusal(entry, f'cannot change "{name}"', "The view is restored from its text.")


def refusal_to_change(entry: DisabledViewEntry) -> SqlError:
    """Return the 55000 for an ALTER of a disabled view."""
    return _refusal(entry, "cannot alter it", "It is restored from what is stored of it.")


def _below(entry: DisabledViewEntry, by_oid: dict[int, Entry]) -> list[StreamEntry | TableEntry]:
    """Return the streams and tables that a view reads, directly or through other views."""
    found: dict[int, Entry] = {}
    waiting = [*entry.needed]
    while waiting:
        one = by_oid.get(waiting.pop())
        if one is None or one.description.oid in found:
            continue
        found[one.description.oid] = one
        if isinstance(one, ViewEntry) and not one.is_state:
            waiting += [used.oid for used in one.used]
        elif isinstance(one, DisabledViewEntry):
            waiting += one.needed
    return [one for one in found.values() if isinstance(one, StreamEntry | TableEntry)]


def _refusal(entry: DisabledViewEntry, what: str, why: str) -> SqlError:
    name = shown(entry)
    return SqlError(
        DISABLED,
        f'{what} because view "{name}" is disabled',
        detail=f"{why} It could not be built when the server started: {entry.description.disabled}.",
        hint=f"Restart the server when the cause is gone, or DROP VIEW {name} and make it again from the rows that come then.",
    )
