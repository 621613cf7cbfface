"""The refreshes of views that have `refresh_every`, and who is told of them.

Enters: the catalog, the engines. Leaves: versions of these views that are no older than they say,
and a call for each view whose version is another one than the last time. Must not know sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

import pyarrow as pa

from engine.catalog.image import CatalogImage
from engine.scans.engines import QueryEngines
from engine.scheduler.periodic import Periodic
from sql.names.relation_keys import PUBLIC, name_of, schema_of
from views.upkeep.refresh import Engines, Reader, cut
from views.upkeep.view import SCHEDULE, ContinuousView

SECOND_US = 1_000_000
# Keys of the work, and names of channels.
Tell = Callable[[str], object]


class ScheduledRefreshes:
    """The refreshes of one server by schedule.

    Attributes:
        tell: is called, from any thread, with the channel of each view that has changed.
    """

    def __init__(self, engines: QueryEngines) -> None:
        self.tell: Tell = lambda _: None
        self._engines = engines
        self._seen: dict[Hashable, tuple[pa.Table, ...]] = {}
        self.periodic = Periodic(self._refresh)

    def follow(self, image: CatalogImage) -> None:
        """Take up the views and intervals of a new catalog."""
        wanted: dict[Hashable, float] = {
            channel_of(view): view.definition.refresh_us / SECOND_US for view in scheduled_views(image)
        }
        for key in self._seen.keys() - wanted.keys():
            self._seen.pop(key, None)
        self.periodic.follow(wanted)

    def _refresh(self, key: Hashable, check_cancelled: Callable[[], None], deadline_s: float) -> None:
        """Make a version of a view, of all its states at one moment. Raises SqlError."""
        views = [one for one in scheduled_views(self._engines.catalog.image) if channel_of(one) == key]
        if not views:
            return
        engines = Engines(self._engines.upper, self._engines.clock, self._engines.committed_tables)
        now_us = self._engines.clock.now_us()
        reader = Reader(now_us, check_cancelled, ("schedule", key), reason=SCHEDULE, deadline_s=deadline_s)
        versions = cut(views, self._engines.catalog.lock, engines, reader)
        tables = tuple(versions[view.definition.name].table for view in views)
        seen, self._seen[key] = self._seen.get(key), tables
        if seen is not None and not same(seen, tables):
            self.tell(str(key))


def scheduled_views(image: CatalogImage) -> list[ContinuousView]:
    """Return the states of the views that have an interval."""
    return [state.view for state in image.states if state.view.definition.refresh_us]


def channel_of(view: ContinuousView) -> str:
    """Return the channel on which changes of a view are told: its name, with the schema unless that
    is public.
    """
    key = view.definition.whole or view.definition.name
    schema = schema_of(key)
    return name_of(key) if schema == PUBLIC else f"{schema}.{name_of(key)}"


def same(before: tuple[pa.Table, ...], after: tuple[pa.Table, ...]) -> bool:
    """Tell whether a view has the same rows as the last time."""
    if len(before) != len(after):
        return False
    return all(old is new or old.equals(new) for old, new in zip(before, after, strict=True))
