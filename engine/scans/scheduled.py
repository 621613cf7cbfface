"""The refreshes of views that have `refresh_every`.

Enters: the catalog, the engines. Leaves: versions of these views that are no older than they say.
Must not know sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from engine.catalog.image import CatalogImage, ViewEntry
from engine.scans.engines import QueryEngines
from engine.scans.view_changes import channel_of
from engine.scheduler.periodic import Periodic
from sql.errors import SqlError
from sql.names.relation_keys import output_key
from views.upkeep.chain import Chain
from views.upkeep.cuts import SCHEDULE
from views.upkeep.refresh import Reader, cut

SECOND_US = 1_000_000


# Makes a version of a view that has an output, and tells what it changes.
Emit = Callable[[ViewEntry, CatalogImage, Reader], None]


class ScheduledRefreshes:
    """The refreshes of one server by schedule."""

    def __init__(self, engines: QueryEngines, emit: Emit) -> None:
        self._engines = engines
        self._emit = emit
        self.periodic = Periodic(self._refresh, self._end)

    def follow(self, image: CatalogImage) -> None:
        """Take up the views and intervals of a new catalog."""
        self.periodic.follow(
            {channel_of(view): view.definition.refresh_us / SECOND_US for view in scheduled_views(image)}
        )

    def _refresh(self, key: Hashable, check_cancelled: Callable[[], None], deadline_s: float) -> None:
        """Make a version of a view, of all its states at one moment. Raises SqlError."""
        image = self._engines.catalog.image
        views = [one for one in scheduled_views(image) if channel_of(one) == key]
        if not views:
            return
        now_us = self._engines.clock.now_us()
        reader = Reader(now_us, check_cancelled, token_of(key), reason=SCHEDULE, deadline_s=deadline_s)
        entry = image.entries[views[0].definition.name]
        try:
            if isinstance(entry, ViewEntry) and output_key(entry.description.oid) in image.entries:
                self._emit(entry, image, reader)
            else:
                cut(views, self._engines.catalog.lock, self._engines.of_views, reader)
        except SqlError:
            # Why Spark has ended it.
            reader.check()
            raise

    def _end(self, key: Hashable) -> None:
        """End what Spark computes for a view."""
        self._engines.upper.cancel(token_of(key))


def token_of(key: Hashable) -> Hashable:
    """Return the name under which Spark knows a view's refresh by schedule."""
    return "schedule", key


def scheduled_views(image: CatalogImage) -> list[Chain]:
    """Return the states of the views that have an interval."""
    return [state.chain for state in image.states.values() if state.chain.definition.refresh_us]
