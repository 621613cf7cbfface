"""Turns on tables: INSERT ... ON CONFLICT statements that are transactions of their own take turns.

Two of them that run side by side find in their snapshots that a key is new. The engine tells the
second one only at COMMIT, after which no code tries again. With a turn from snapshot to COMMIT the
second one sees what the first has done. A turn only spares conflicts, it guards nothing: a
statement that has waited too long goes on without one. For the one event loop; must not know
sessions or statements.
"""

from __future__ import annotations

import asyncio
from weakref import WeakValueDictionary


class Turns:
    """The turns on all tables, by name."""

    def __init__(self) -> None:
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def take(self, table: str, wait_s_max: float) -> asyncio.Lock | None:
        """Return the turn on a table, which the caller releases; None after `wait_s_max`
        seconds.
        """
        turn = self._turns.setdefault(table, asyncio.Lock())
        try:
            async with asyncio.timeout(wait_s_max):
                await turn.acquire()
        except TimeoutError:
            return None
        return turn
