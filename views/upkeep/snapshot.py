"""The states of many views at one position between two commits, read while commits go on.

Enters: the commit lock, and a callback that returns the views and notes what else belongs to the
position. Leaves: each view with the pages of its groups at that position. Under the commit lock
local tables are swapped and nothing else. Each view is then brought to its cut without a version,
for which later cuts wait; they do not wait until its pages are read. Must not know files, nor run
Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import chain

import pyarrow as pa

from ringbuffer.pages.pages import Page
from views.upkeep.cuts import Cut
from views.upkeep.join_tables import join_pages
from views.upkeep.refresh import CANCEL_POLL_S, merge_cuts, new_cut
from views.upkeep.view import ContinuousView


@contextmanager
def snapshot(
    commit_lock: AbstractContextManager[object],
    note: Callable[[], Sequence[ContinuousView]],
    check_cancelled: Callable[[], None] = lambda: None,
) -> Iterator[Snapshot]:
    """Take a cut of all views that `note` returns, which is called under the lock at that position.

    check_cancelled: called now and then while a reader is waited for; what it raises ends the
    snapshot. No row is lost, however the snapshot ends.
    """
    taken = Snapshot(check_cancelled)
    try:
        with commit_lock:
            for view in note():
                taken.take(view)
        yield taken
    finally:
        taken.release()


class Snapshot:
    """Cuts of views whose states have not been read yet."""

    def __init__(self, check_cancelled: Callable[[], None]) -> None:
        self._check_cancelled = check_cancelled
        self._held: dict[ContinuousView, Cut] = {}
        self._reading = ExitStack()
        self._positions: dict[ContinuousView, int] = {}
        # What rows of the stream met at the cut.
        self._joined: dict[ContinuousView, tuple[pa.Table, ...]] = {}

    @property
    def positions(self) -> Mapping[ContinuousView, int]:
        """The number of committed statements of each view at its cut."""
        return self._positions

    def take(self, view: ContinuousView) -> None:
        """Take the cut of one view. The caller holds the commit lock."""
        with view.changed:
            entry = new_cut(view, exact=False, now_us=None, table_versions={})
            entry.held, entry.waiting = True, 1
        self._held[view] = entry
        self._joined[view] = view.state.program.joins.rows
        self._positions[view] = entry.position

    def states(self) -> Iterator[tuple[ContinuousView, Iterator[Page]]]:
        """Yield each view with its pages, which are valid until the next view is asked for, each of
        them until the next page is.

        Views that no reader is working on come first, and among these the small ones: if rows have
        come, the readers of all other views wait until their views are at the position.
        """
        waiting = sorted(self._held, key=lambda view: view.state.bytes_count)
        while waiting:
            view = self._begin_one(waiting)
            waiting.remove(view)
            try:
                merge_up_to(view, self._held[view])
                pages = self._reading.enter_context(view.state.groups.pages())
            finally:
                let_go(view, self._held.pop(view))
            yield view, chain(pages, join_pages(self._joined[view]))
            self._reading.close()

    def release(self) -> None:
        """Let readers go on, also with the views that have not been read."""
        self._reading.close()
        for view, entry in self._held.items():
            with view.changed:
                entry.held = False
                view.changed.notify_all()
        while self._held:
            give_up(*self._held.popitem())

    def _begin_one(self, views: Sequence[ContinuousView]) -> ContinuousView:
        """Wait until one of the views can be refreshed, become its refresher, and return the
        view.
        """
        while True:
            for view in views:
                with view.changed:
                    if not view.upkeep.refreshing and not is_awaited_before(view, self._held[view]):
                        view.upkeep.refreshing = True
                        return view
            with views[0].changed:
                views[0].changed.wait(CANCEL_POLL_S)
            self._check_cancelled()


def is_awaited_before(view: ContinuousView, held: Cut) -> bool:
    """Tell whether a cut before `held` needs the groups at its own position.

    The caller holds `view.changed`.
    """
    for entry in view.cuts:
        if entry is held:
            return False
        if entry.held or (entry.exact and entry.waiting > 0):
            return True
    raise AssertionError(f"{view} has lost a cut that was held")


def merge_up_to(view: ContinuousView, held: Cut) -> None:
    """Bring the global table to the cut `held`. The caller is the reader that refreshes the view.

    Readers of earlier cuts get the position of this cut; they accept any later position, since the
    snapshot has waited for all others. Pinned cuts keep a copy of their groups.
    """
    entries: list[Cut] = []
    with view.changed:
        for entry in view.cuts:
            entries.append(entry)
            if entry is held:
                break
    merge_cuts(view, entries, held)
    with view.changed:
        for entry in entries:
            if entry in view.cuts:
                entry.position = held.position
                if entry.waiting == 0 and entry.pins == 0:
                    view.cuts.remove(entry)


def let_go(view: ContinuousView, entry: Cut) -> None:
    """Let readers refresh the view again.

    The cut stays in the queue for the readers that have joined it.
    """
    with view.changed:
        entry.held = False
        entry.waiting -= 1
        if entry.waiting == 0:
            view.cuts.remove(entry)
        view.upkeep.refreshing = False
        view.changed.notify_all()


def give_up(view: ContinuousView, entry: Cut) -> None:
    """Give up a cut that was not read.

    The cut is merged if no other thread refreshes the view, so that the tables of such cuts do not
    pile up in memory.
    """
    with view.changed:
        if view.upkeep.refreshing or entry not in view.cuts or is_awaited_before(view, entry):
            entry.waiting -= 1
            return
        view.upkeep.refreshing = True
    try:
        merge_up_to(view, entry)
    finally:
        let_go(view, entry)
