"""The states of many chains at one position between two commits, read while commits go on.

Enters: the commit lock, and a callback that returns the chains and notes what else belongs to the
position. Leaves: each chain with the pages of its groups at that position. Under the commit lock
local tables are swapped and nothing else. Each chain is then brought to its cut without a version,
for which later cuts wait; they do not wait until its pages are read. Must not know files, nor run
Spark.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager

import pyarrow as pa

from ringbuffer.pages.pages import Page
from views.model.protocols import Clock
from views.upkeep.chain import Chain
from views.upkeep.cuts import Cut
from views.upkeep.join_tables import join_pages
from views.upkeep.refresh import CANCEL_POLL_S, merge_cuts, new_cut


@contextmanager
def snapshot(
    commit_lock: AbstractContextManager[object],
    note: Callable[[], Sequence[Chain]],
    check_cancelled: Callable[[], None] = lambda: None,
    clock: Clock | None = None,
) -> Iterator[Snapshot]:
    """Take a cut of all chains that `note` returns; it is called under the lock at that position.

    check_cancelled: called now and then while a reader is waited for; what it raises ends the
    snapshot. clock: tells which groups have passed, None: all are taken. No row is lost, however
    the snapshot ends.
    """
    taken = Snapshot(check_cancelled, clock)
    try:
        with commit_lock:
            for chain in note():
                taken.take(chain)
        yield taken
    finally:
        taken.release()


class Snapshot:
    """Cuts of chains whose states have not been read yet."""

    def __init__(self, check_cancelled: Callable[[], None], clock: Clock | None) -> None:
        self._check_cancelled = check_cancelled
        self._clock = clock
        self._held: dict[Chain, Cut] = {}
        self._reading = ExitStack()
        self._positions: dict[Chain, int] = {}
        # What rows of the stream met at the cut.
        self._joined: dict[Chain, tuple[pa.Table, ...]] = {}

    @property
    def positions(self) -> Mapping[Chain, int]:
        """The number of committed statements of each chain at its cut."""
        return self._positions

    def take(self, chain: Chain) -> None:
        """Take the cut of one view. The caller holds the commit lock."""
        with chain.changed:
            entry = new_cut(chain, exact=False, now_us=None, table_versions={})
            entry.held, entry.waiting = True, 1
        self._held[chain] = entry
        self._joined[chain] = chain.state.program.joins.rows
        self._positions[chain] = entry.position

    def states(self) -> Iterator[tuple[Chain, Iterator[Page]]]:
        """Yield each chain with its pages, which are valid until the next chain is asked for, each
        of them until the next page is.

        Chains that no reader is working on come first, and among these the small ones: if rows have
        come, the readers of all other chains wait until their chains are at the position.
        """
        waiting = sorted(self._held, key=lambda chain: chain.state.bytes_count)
        while waiting:
            chain = self._begin_one(waiting)
            waiting.remove(chain)
            try:
                merge_up_to(chain, self._held[chain])
                if self._clock is not None:
                    chain.forget_passed(self._clock.now_us())
                pages = self._reading.enter_context(chain.state.groups.pages())
            finally:
                let_go(chain, self._held.pop(chain))
            yield chain, itertools.chain(pages, join_pages(self._joined[chain]))
            self._reading.close()

    def release(self) -> None:
        """Let readers go on, also with the chains that have not been read."""
        self._reading.close()
        for chain, entry in self._held.items():
            with chain.changed:
                entry.held = False
                chain.changed.notify_all()
        while self._held:
            give_up(*self._held.popitem())

    def _begin_one(self, chains: Sequence[Chain]) -> Chain:
        """Wait until one of the chains can be refreshed, become its refresher, and return the
        view.
        """
        while True:
            for chain in chains:
                with chain.changed:
                    if not chain.upkeep.refreshing and not is_awaited_before(chain, self._held[chain]):
                        chain.upkeep.refreshing = True
                        return chain
            with chains[0].changed:
                chains[0].changed.wait(CANCEL_POLL_S)
            self._check_cancelled()


def is_awaited_before(chain: Chain, held: Cut) -> bool:
    """Tell whether a cut before `held` needs the groups at its own position.

    The caller holds `chain.changed`.
    """
    for entry in chain.cuts:
        if entry is held:
            return False
        if entry.held or (entry.exact and entry.waiting > 0):
            return True
    raise AssertionError(f"{chain} has lost a cut that was held")


def merge_up_to(chain: Chain, held: Cut) -> None:
    """Bring the global table to the cut `held`. The caller is the reader that refreshes the view.

    Readers of earlier cuts get the position of this cut; they accept any later position, since the
    snapshot has waited for all others. Pinned cuts keep a copy of their groups.
    """
    entries: list[Cut] = []
    with chain.changed:
        for entry in chain.cuts:
            entries.append(entry)
            if entry is held:
                break
    merge_cuts(chain, entries, held)
    with chain.changed:
        for entry in entries:
            if entry in chain.cuts:
                entry.position = held.position
                if entry.waiting == 0 and entry.pins == 0:
                    chain.cuts.remove(entry)


def let_go(chain: Chain, entry: Cut) -> None:
    """Let readers refresh the chain again.

    The cut stays in the queue for the readers that have joined it.
    """
    with chain.changed:
        entry.held = False
        entry.waiting -= 1
        if entry.waiting == 0:
            chain.cuts.remove(entry)
        chain.upkeep.refreshing = False
        chain.changed.notify_all()


def give_up(chain: Chain, entry: Cut) -> None:
    """Give up a cut that was not read.

    The cut is merged if no other thread refreshes the chain, so that the tables of such cuts do not
    pile up in memory.
    """
    with chain.changed:
        if chain.upkeep.refreshing or entry not in chain.cuts or is_awaited_before(chain, entry):
            entry.waiting -= 1
            return
        chain.upkeep.refreshing = True
    try:
        merge_up_to(chain, entry)
    finally:
        let_go(chain, entry)
