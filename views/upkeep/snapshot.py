"""The states of many views at one position between two commits, read while commits go on.

Enters: the commit lock, and a callback that says which views there are and notes what else belongs to the position. Leaves: each view with
the pages of its groups at that position. Under the commit lock local tables are swapped and nothing else; each view is then brought to its
cut without making a version, and later cuts wait until its pages have been taken. Must not know files, nor run Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager

import pyarrow as pa

from ringbuffer.pages.pages import Page
from views.upkeep.refresh import CANCEL_POLL_S, merge_cuts, new_cut
from views.upkeep.state import join_pages
from views.upkeep.view import ContinuousView, Cut


@contextmanager
def snapshot(
    commit_lock: AbstractContextManager[object],
    note: Callable[[], Sequence[ContinuousView]],
    check_cancelled: Callable[[], None] = lambda: None,
) -> Iterator[Snapshot]:
    """Take a cut of all views that `note` returns; it is called under the commit lock, at the very position of the cuts.

    check_cancelled: called now and then while a reader is waited for; what it raises ends the snapshot. However that ends, no row is lost.
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
    """Cuts of views whose states have not been read yet. positions: each view's committed statements at the cut."""

    def __init__(self, check_cancelled: Callable[[], None]) -> None:
        self._check_cancelled = check_cancelled
        self._held: dict[ContinuousView, Cut] = {}
        self._in_hand: ContinuousView | None = None
        self._positions: dict[ContinuousView, int] = {}
        # What rows of the stream met at the cut.
        self._joined: dict[ContinuousView, tuple[pa.Table, ...]] = {}

    @property
    def positions(self) -> Mapping[ContinuousView, int]:
        """Each view's committed statements at the cut."""
        return self._positions

    def take(self, view: ContinuousView) -> None:
        """Take the cut of one view. The caller holds the commit lock."""
        with view.changed:
            entry = new_cut(view, exact=False, now_us=None, table_versions={})
            entry.held, entry.waiting = True, 1
        self._held[view] = entry
        self._joined[view] = view.state.joins.rows
        self._positions[view] = entry.position

    def states(self) -> Iterator[tuple[ContinuousView, list[Page]]]:
        """Yield each view with its pages, which hold until the next view is asked for.

        Views that no reader is at come first, among them the small ones: the readers of all others wait meanwhile if something is new.
        """
        waiting = sorted(self._held, key=lambda view: view.state.bytes_count)
        while waiting:
            view = self._begin_one(waiting)
            waiting.remove(view)
            merge_up_to(view, self._held[view])
            yield view, [*view.state.pages(), *join_pages(self._joined[view])]
            self._end(view)

    def release(self) -> None:
        """Let readers go on, with all views that are not read yet as well."""
        if self._in_hand is not None:
            self._end(self._in_hand)
        for view, entry in self._held.items():
            with view.changed:
                entry.held = False
                view.changed.notify_all()
        while self._held:
            give_up(*self._held.popitem())

    def _begin_one(self, views: Sequence[ContinuousView]) -> ContinuousView:
        """Become the one who refreshes the first of the views that can be had, and return it; wait until one can."""
        while True:
            for view in views:
                with view.changed:
                    if not view.upkeep.refreshing and not is_awaited_before(view, self._held[view]):
                        view.upkeep.refreshing = True
                        self._in_hand = view
                        return view
            with views[0].changed:
                views[0].changed.wait(CANCEL_POLL_S)
            self._check_cancelled()

    def _end(self, view: ContinuousView) -> None:
        self._in_hand = None
        let_go(view, self._held.pop(view))


def is_awaited_before(view: ContinuousView, held: Cut) -> bool:
    """Tell whether a cut before `held` needs the groups as they were at its own position. The caller holds `view.changed`."""
    for entry in view.cuts:
        if entry is held:
            return False
        if entry.held or (entry.exact and entry.waiting > 0):
            return True
    raise AssertionError(f"{view} has lost a cut that was held")


def merge_up_to(view: ContinuousView, held: Cut) -> None:
    """Bring the global table to the cut. The caller is the one who refreshes the view.

    Readers of earlier cuts get the position of this one; they are content with any later position, else they would have been waited for.
    Those that are pinned keep their groups.
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
    """Let the readers refresh the view again. The cut stays in the queue for those who have joined it."""
    with view.changed:
        entry.held = False
        entry.waiting -= 1
        if entry.waiting == 0:
            view.cuts.remove(entry)
        view.upkeep.refreshing = False
        view.changed.notify_all()


def give_up(view: ContinuousView, entry: Cut) -> None:
    """Leave a cut that was not read: it is merged if nobody is in the way, so that the tables of given-up cuts do not pile up in memory."""
    with view.changed:
        if view.upkeep.refreshing or entry not in view.cuts or is_awaited_before(view, entry):
            entry.waiting -= 1
            return
        view.upkeep.refreshing = True
    try:
        merge_up_to(view, entry)
    finally:
        let_go(view, entry)
