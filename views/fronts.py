"""What commits write in front of a view's merged groups: tables of their own, which a refresh takes away whole.

Enters: rows by way of a kernel, tables of statements. Leaves: tables to merge. A `Feed` is the front of several views whose stream
pipelines are equal: a row is folded once, and what was folded is handed over to each of them, as a reference, when one of them is read.
So they may have begun at different times, and end one by one. Must not know views, nor merge into merged groups.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from ringbuffer.hash_table import ROWS_IN, GroupTable, Words
from ringbuffer.merge import merge_tables

# A statement's table of at most so many groups is merged at its commit; of larger ones at most so many wait for a refresh.
MERGED_GROUPS_MAX = 4096
TABLES_WAITING_MAX = 16


class Front:
    """local: what rows are folded into; waiting: tables of statements, in the order of commits; `lock` guards both.

    queue_max: so many may wait; queued_most: so many did at once. new_table: makes an empty one. program: int64[n, 3], how to merge.
    """

    def __init__(
        self, new_table: Callable[[], GroupTable], program: Words, queue_max: int = TABLES_WAITING_MAX
    ) -> None:
        self.lock = threading.Lock()
        self.new_table = new_table
        self.program = program
        self.local = new_table()
        self.waiting: list[GroupTable] = []
        self.queue_max = queue_max
        self.queued_most = 0

    def absorb(self, table: GroupTable) -> None:
        """Take a statement's table; it never fails on data.

        A small one is merged at once. A large one waits for the next refresh, so that the committing statement holds the lock for no
        longer than an append; when `queue_max` wait already, the statement merges them itself.
        """
        with self.lock:
            self.waiting.append(table)
            if table.groups_count <= MERGED_GROUPS_MAX or len(self.waiting) > self.queue_max:
                self.merge_waiting()
            self.queued_most = max(self.queued_most, len(self.waiting))

    def take(self, tables: Sequence[GroupTable]) -> None:
        """Take tables that others have as well, which nobody changes any more."""
        with self.lock:
            self.waiting += tables
            if len(self.waiting) > self.queue_max:
                self.merge_waiting()
            self.queued_most = max(self.queued_most, len(self.waiting))

    def merge_waiting(self) -> None:
        """Merge what waits into the local table, in the order of commits. The caller holds the lock."""
        for waiting in self.waiting:
            merge_tables(self.local, waiting, self.program)
        self.waiting.clear()

    def swap(self) -> tuple[GroupTable, ...]:
        """Return the tables and go on with an empty one."""
        fresh = self.new_table()
        with self.lock:
            tables = (self.local, *self.waiting)
            self.local, self.waiting = fresh, []
        return tables


class Groups:
    """The tables of a view. front: what commits write; merged: what refreshes read, guarded by `refresh_lock`.

    feed: where rows go instead as long as other views take the same ones; written under the commit lock.
    """

    def __init__(self, front: Front, merged: GroupTable) -> None:
        self.front = front
        self.feed: Feed | None = None
        self.refresh_lock = threading.Lock()
        self.merged = merged


class Feed(Front):
    """The front of several views. behind: their own tables, which get what it has before anyone reads one of them.

    is_new: something has come since. All but what `lock` guards is guarded by the commit lock.
    """

    def __init__(self, behind: Sequence[Groups]) -> None:
        first = behind[0].front
        super().__init__(first.new_table, first.program, first.queue_max)
        self.behind = tuple(behind)
        self.is_new = False
        for groups in behind:
            assert groups.feed is None, "what takes rows by two ways counts them twice"
            groups.feed = self

    def hand_over(self) -> None:
        """Give all that has come to the views. The caller holds the commit lock."""
        if not self.is_new:
            return
        self.is_new = False
        fresh = self.new_table()
        with self.lock:
            tables = [table for table in (self.local, *self.waiting) if table.control[ROWS_IN]]
            self.local, self.waiting = fresh, []
            for groups in self.behind:
                groups.front.take(tables)

    def end(self) -> None:
        """Have each of the views take rows by itself again. The caller holds the commit lock."""
        self.hand_over()
        for groups in self.behind:
            groups.feed = None
