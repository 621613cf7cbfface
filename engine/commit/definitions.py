"""The right to define, and the lives of the continuous views that definitions make and drop.

Enters: the ends of transactions that may have defined. Leaves: views attached or dropped, caches
without what the catalog no longer has, and the lock for the next transaction that defines.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from engine.catalog.image import CatalogImage, ViewEntry
from engine.catalog.published import PublishedCatalog
from engine.commit.transaction import Transaction
from engine.storage.kernel_files import KernelFiles
from ringbuffer.memory.spilled_memory import SpilledMemory
from views.upkeep.chain import Chain, ViewMove


class Definitions:
    """The definitions of one server: one transaction at a time makes them.

    Attributes:
        lock: held by the transaction that defines, from its first definition to its end.
        attached: the continuous views of the committed catalog.

    Arguments:
        queue_max: the largest number of statements that may wait for a view's next refresh.
        memory: where groups are put that are too large for memory.
        followers: called with each new catalog: caches forget what it does not have, schedules take
            up what it has.
    """

    def __init__(
        self,
        catalog: PublishedCatalog,
        kernels: KernelFiles,
        queue_max: int,
        memory: SpilledMemory | None,
        followers: Sequence[Callable[[CatalogImage], None]],
    ) -> None:
        self.lock = asyncio.Lock()
        self.attached: frozenset[Chain] = frozenset()
        self._catalog = catalog
        self._kernels = kernels
        self._queue_max = queue_max
        self._memory = memory
        self._followers = followers

    def end(self, transaction: Transaction) -> None:
        """Let the next transaction define; what this one has built and not committed is given
        up.
        """
        if transaction.holds_ddl_lock:
            transaction.holds_ddl_lock = False
            self.follow(transaction.built)
            self.lock.release()
            transaction.built.clear()

    def equip(self, chains: Iterable[Chain]) -> None:
        """Tell the states of views how much may wait, and how much they may keep in memory."""
        for chain in chains:
            chain.state.groups.queue_max = self._queue_max
            chain.state.groups.spill_into(self._memory)

    def follow(self, built: Sequence[Chain] = ()) -> None:
        """Move views on in their lives after a change of the catalog, and delete the kernels that
        no view needs.
        """
        image = self._catalog.image
        chains = frozenset(image.chains)
        for chain in chains - self.attached:
            chain.lifecycle.move(ViewMove.ATTACH)
            chain.state.inherits = chain.state.completes = None
        self.equip(chains)
        for chain in (self.attached | frozenset(built)) - chains:
            chain.lifecycle.move(ViewMove.DROP)
        self.attached = chains
        for follower in self._followers:
            follower(image)
        views = (one for one in image.entries.values() if isinstance(one, ViewEntry) and one.output is not None)
        transforms = [path for view in views if view.output is not None for path in view.output.kernels]
        self._kernels.remove_unused([*transforms, *(path for chain in chains for path in chain.state.kernel_paths)])
