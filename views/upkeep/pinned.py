"""The views that a transaction block may read, all of them at one position between two commits.

Enters: the commit lock, the views, the transaction's now(). Leaves: a `Version` of each view that
the block does read, which are few. Pinning swaps local tables, as a cut does, and costs nothing
more until a reader or a checkpoint wants a later position: then the groups are copied first. Must
not know sessions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from views.model.protocols import Source
from views.upkeep.cuts import Cut, CutPhase, Version
from views.upkeep.refresh import Engines, Reader, new_cut, obtain, reusable
from views.upkeep.snapshot import give_up
from views.upkeep.view import ContinuousView

# So many cuts that nobody wants any more may wait, each with its rows, until a refresh merges them.
CUTS_LEFT_MAX = 16


class PinnedViews:
    """The pinned cuts of one transaction, until `release`.

    Attributes:
        run: calls slow functions on another thread.
    """

    def __init__(self, cuts: dict[ContinuousView, Cut], run: Callable[[Callable[[], None]], object]) -> None:
        self._cuts = cuts
        self._run = run

    def __contains__(self, view: ContinuousView) -> bool:
        return view in self._cuts

    def stored(self, view: ContinuousView) -> Version | None:
        """Return the version of the view at its position, None if no version has been made yet."""
        entry = self._cuts.get(view)
        return None if entry is None else entry.version

    def version(self, view: ContinuousView, engines: Engines, reader: Reader) -> Version:
        """Return the version of the view at its position; blocks while the version is made.

        Raises as `views.upkeep.refresh.cut`.
        """
        entry = self._cuts[view]
        with view.changed:
            entry.waiting += 1
            entry.exact = True
        try:
            return obtain(view, entry, engines, reader)
        finally:
            with view.changed:
                entry.waiting -= 1

    def release(self) -> None:
        """Give up all positions."""
        crowded: list[tuple[ContinuousView, Cut]] = []
        for view, entry in self._cuts.items():
            if not entry.pins:
                continue
            with view.changed:
                entry.pins -= 1
                if not entry.pins:
                    if entry.phase is CutPhase.KEPT:
                        entry.forget()
                    if len(view.cuts) > CUTS_LEFT_MAX and entry in view.cuts:
                        entry.waiting += 1
                        crowded.append((view, entry))
        self._cuts = {}
        if crowded:
            self._run(lambda: merge_all(crowded))


def pin(
    views: Callable[[], Iterable[ContinuousView]],
    commit_lock: threading.Lock,
    now_us: int,
    tables: Source,
    run: Callable[[Callable[[], None]], object],
) -> PinnedViews:
    """Return the positions of all views now, between two commits. views: called under the commit
    lock.
    """
    with commit_lock:
        return PinnedViews({view: _pinned(view, now_us, tables) for view in views()}, run)


def _pinned(view: ContinuousView, now_us: int, tables: Source) -> Cut:
    """Return a cut of `view` at the last commit, which blocks with a cut there share.

    The caller holds the commit lock.
    """
    stored = reusable(view, tables)
    if stored is not None:
        return Cut(view, stored.position, None, exact=True, now_us=None, version=stored)
    table_versions = tables.versions(view.upper_tables) if view.upper_tables else {}
    with view.changed:
        last = view.cuts[-1] if view.cuts and not view.time_dependent else None
        is_same = last is not None and last.view is view and last.position == view.committed
        if last is None or not is_same or not last.pins or last.table_versions != table_versions:
            last = new_cut(view, False, now_us if view.time_dependent else None, table_versions)
        last.pins += 1
        return last


def merge_all(left: Iterable[tuple[ContinuousView, Cut]]) -> None:
    """Merge cuts that no block wants any more."""
    for view, entry in left:
        give_up(view, entry)
