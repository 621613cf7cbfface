"""Turns on tables: INSERT ... ON CONFLICT statements that are transactions of their own go one after the other.

Two of them that run side by side find in their snapshots that a key is new, and the engine tells the second one only at COMMIT, when
nobody tries again. With a turn from snapshot to COMMIT the second one sees what the first has done. A turn only spares conflicts, it
guards nothing: who has waited too long goes on without one. For the one event loop; must not know sessions or statements.
"""

from __future__ import annotations

import asyncio
from weakref import WeakValueDictionary


class Turns:
    """The turns on all tables, by name."""

    def __init__(self) -> None:
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def take(self, table: str, wait_s_max: float) -> asyncio.Lock | None:
        """Return the turn on a table, to be released by the caller; None when others have held it for longer than `wait_s_max`."""
        turn = self._turns.setdefault(table, asyncio.Lock())
        try:
            async with asyncio.timeout(wait_s_max):
                await turn.acquire()
        except TimeoutError:
            return None
        return turn
