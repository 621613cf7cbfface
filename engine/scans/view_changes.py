"""Listeners on the name of a view, and the versions of the view that they hear of.

Enters: each new version, made for a reader or by a schedule. Leaves: a call for each version whose
rows are others than those of the version before, while somebody listens. Must not know sessions.
"""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

import pyarrow as pa

from sql.names.relation_keys import PUBLIC, name_of, schema_of
from views.upkeep.chain import Chain
from views.upkeep.cuts import Cut, Moment, Version


class ViewChanges:
    """The changes of one server's views.

    Attributes:
        tell: is called, from any thread, with the channel of a view that has changed.
        is_heard: tells, in any thread, whether anybody listens to a channel.
    """

    def __init__(self) -> None:
        self.tell: Callable[[str], object] = lambda _: None
        self.is_heard: Callable[[str], bool] = lambda _: False
        # No version of a view that asks for the time is stored.
        self._seen: WeakKeyDictionary[Chain, pa.Table] = WeakKeyDictionary()
        self._told_at: dict[str, Moment | None] = {}

    def made(self, target: Cut, before: Version | None, version: Version) -> None:
        """Tell of a new version, in the thread that has made it; once for all states of a view that
        are read at one moment.
        """
        view = target.chain
        channel = channel_of(view)
        if not self.is_heard(channel):
            self._seen.pop(view, None)
            self._told_at.pop(channel, None)
            return
        known = self._seen.get(view) if before is None else before.table
        if view.time_dependent:
            self._seen[view] = version.table
        is_told = target.moment is not None and self._told_at.get(channel) is target.moment
        if known is None or known is version.table or is_told or known.equals(version.table):
            return
        self._told_at[channel] = target.moment
        self.tell(channel)


def channel_of(view: Chain) -> str:
    """Return the channel on which changes of a view are told: its name, with the schema unless that
    is public.
    """
    key = view.definition.name
    schema = schema_of(key)
    return name_of(key) if schema == PUBLIC else f"{schema}.{name_of(key)}"
