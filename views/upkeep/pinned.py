"""The chains that a transaction block may read, all of them at one position between two commits.

Enters: the commit lock, the chains, the transaction's now(). Leaves: a `Version` of each chain that
the block does read, which are few. Pinning swaps local tables, as a cut does, and costs nothing
more until a reader or a checkpoint wants a later position: then the groups are copied first. Must
not know sessions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from views.model.protocols import Source
from views.upkeep.chain import Chain
from views.upkeep.cuts import Cut, CutPhase, Version
from views.upkeep.refresh import Engines, Reader, new_cut, obtain, reusable
from views.upkeep.snapshot import give_up

# So many cuts that nobody wants any more may wait, each with its rows, until a refresh merges them.
CUTS_LEFT_MAX = 16


class PinnedViews:
    """The pinned cuts of one transaction, until `release`.

    Attributes:
        run: calls slow functions on another thread.
    """

    def __init__(self, cuts: dict[Chain, Cut], run: Callable[[Callable[[], None]], object]) -> None:
        self._cuts = cuts
        self._run = run

    def __contains__(self, chain: Chain) -> bool:
        return chain in self._cuts

    def stored(self, chain: Chain) -> Version | None:
        """Return the version of the chain at its position, None if no version has been made yet."""
        entry = self._cuts.get(chain)
        return None if entry is None else entry.version

    def version(self, chain: Chain, engines: Engines, reader: Reader) -> Version:
        """Return the version of the chain at its position; blocks while the version is made.

        Raises as `views.upkeep.refresh.cut`.
        """
        entry = self._cuts[chain]
        with chain.changed:
            entry.waiting += 1
            entry.exact = True
        try:
            return obtain(chain, entry, engines, reader)
        finally:
            with chain.changed:
                entry.waiting -= 1

    def release(self) -> None:
        """Give up all positions."""
        crowded: list[tuple[Chain, Cut]] = []
        for chain, entry in self._cuts.items():
            if not entry.pins:
                continue
            with chain.changed:
                entry.pins -= 1
                if not entry.pins:
                    if entry.phase is CutPhase.KEPT:
                        entry.forget()
                    if len(chain.cuts) > CUTS_LEFT_MAX and entry in chain.cuts:
                        entry.waiting += 1
                        crowded.append((chain, entry))
        self._cuts = {}
        if crowded:
            self._run(lambda: merge_all(crowded))


def pin(
    chains: Callable[[], Iterable[Chain]],
    commit_lock: threading.Lock,
    now_us: int,
    tables: Source,
    run: Callable[[Callable[[], None]], object],
) -> PinnedViews:
    """Return the positions of all chains now, between two commits. chains: called under the commit
    lock.
    """
    with commit_lock:
        return PinnedViews({chain: _pinned(chain, now_us, tables) for chain in chains()}, run)


def _pinned(chain: Chain, now_us: int, tables: Source) -> Cut:
    """Return a cut of `chain` at the last commit, which blocks with a cut there share.

    The caller holds the commit lock.
    """
    stored = reusable(chain, tables)
    if stored is not None:
        return Cut(chain, stored.position, None, exact=True, now_us=None, version=stored)
    table_versions = tables.versions(chain.upper_tables) if chain.upper_tables else {}
    with chain.changed:
        last = chain.cuts[-1] if chain.cuts and not chain.time_dependent else None
        is_same = last is not None and last.chain is chain and last.position == chain.committed
        if last is None or not is_same or not last.pins or last.table_versions != table_versions:
            last = new_cut(chain, False, now_us if chain.time_dependent else None, table_versions)
        last.pins += 1
        return last


def merge_all(left: Iterable[tuple[Chain, Cut]]) -> None:
    """Merge cuts that no block wants any more."""
    for chain, entry in left:
        give_up(chain, entry)
