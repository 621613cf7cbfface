"""What commits write in front of a view's merged groups: tables of their own, which a refresh takes away whole.

Enters: rows by way of a kernel, tables of statements. Leaves: tables to merge. A `Feed` is the front of several views whose stream
pipelines are equal: a row is folded once, and what was folded is handed over to each of them, as a reference, when one of them is read.
So they may have begun at different times, and end one by one. Must not know views, nor merge into merged groups.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from ringbuffer.groups.hash_table import ROWS_IN, GroupTable, Words
from ringbuffer.groups.merge import merge_tables

# A statement's table of at most so many groups is merged at its commit; larger ones wait, and where so many do, who brings the next one
# merges them before.
MERGED_GROUPS_MAX = 4096
TABLES_WAITING_MAX = 16


def is_large(table: GroupTable) -> bool:
    """Tell whether a statement's table waits in the queue."""
    return table.groups_count > MERGED_GROUPS_MAX


class Front:
    """local: what rows are folded into; waiting: tables of statements, in the order of commits; `lock` guards both.

    drained: what waited before and was merged meanwhile, larger tables first; nobody changes them or those that wait.
    queue_max: so many may wait; coming: so many will in a moment; queued_most: so many did at once.
    new_table: makes an empty one. program: int64[n, 3], how to merge.
    is_ordered: it matters which row came first, so nothing is folded into a table that is older than one that waits.
    """

    def __init__(
        self,
        new_table: Callable[[], GroupTable],
        program: Words,
        queue_max: int = TABLES_WAITING_MAX,
        is_ordered: bool = False,
    ) -> None:
        self.lock = threading.Lock()
        self.new_table = new_table
        self.program = program
        self.is_ordered = is_ordered
        self.local = new_table()
        self.waiting: list[GroupTable] = []
        self.drained: list[GroupTable] = []
        self.queue_max = queue_max
        self.coming = 0
        self.queued_most = 0
        self._draining = threading.Lock()

    @property
    def tables(self) -> tuple[GroupTable, ...]:
        """All tables in the order of commits. The caller holds the lock."""
        return (*self.drained, *self.waiting, self.local)

    def absorb(self, table: GroupTable) -> None:
        """Take a statement's table; it never fails on data.

        A small one is merged at once. A large one waits for the next refresh, so that nobody holds the lock for longer than an append;
        whoever brings it makes room before.
        """
        with self.lock:
            if is_large(table):
                self._append((table,))
            else:
                merge_tables(self.local, table, self.program)

    def take(self, tables: Sequence[GroupTable]) -> None:
        """Take tables that others have as well, which nobody changes any more."""
        with self.lock:
            self._append(tables)

    def _append(self, tables: Sequence[GroupTable]) -> None:
        if self.is_ordered and self.local.control[ROWS_IN]:
            self.waiting.append(self.local)
            self.local = self.new_table()
        self.waiting += tables
        self.queued_most = max(self.queued_most, len(self.waiting))

    @property
    def is_full(self) -> bool:
        """True when no more tables should come before those that wait are merged."""
        return len(self.waiting) + self.coming >= self.queue_max

    def drain(self) -> None:
        """Merge what waits if the queue is full."""
        if self.is_full:
            with self._draining:
                if self.is_full:
                    self.merge_waiting()

    def make_room(self) -> None:
        """Be ready for one more table, until `leave_room`. The caller holds no lock that others need."""
        self.drain()
        with self.lock:
            self.coming += 1

    def leave_room(self) -> None:
        """Take back `make_room`: the table has come, or does not."""
        with self.lock:
            self.coming -= 1

    def merge_waiting(self) -> None:
        """Merge the tables that wait, and what was drained before unless that is much larger.

        The lock is held for the exchange alone, so nobody waits for the merge. What a refresh takes away meanwhile was merged in vain.
        """
        with self.lock:
            taken, kept = list(self.waiting), len(self.drained)
            size = sum(table.groups_count for table in taken)
            while kept and self.drained[kept - 1].groups_count <= 2 * size:
                kept -= 1
                size += self.drained[kept].groups_count
            older = self.drained[kept:]
        if not taken:
            return
        merged = self.new_table()
        for table in (*older, *taken):
            merge_tables(merged, table, self.program)
        with self.lock:
            if self.waiting[: len(taken)] == taken and self.drained[kept:] == older:
                del self.waiting[: len(taken)]
                self.drained[kept:] = [merged]

    def swap(self) -> tuple[GroupTable, ...]:
        """Return the tables, in the order of commits, and go on with an empty one."""
        fresh = self.new_table()
        with self.lock:
            tables = self.tables
            self.local, self.waiting, self.drained = fresh, [], []
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
        super().__init__(first.new_table, first.program, first.queue_max, first.is_ordered)
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
        tables = [table for table in self.swap() if table.control[ROWS_IN]]
        for groups in self.behind:
            groups.front.take(tables)

    @property
    def is_full(self) -> bool:
        """See Front. All that waits here is handed over to views, of which some have a queue of their own, since nobody reads them."""
        longest = max(len(groups.front.waiting) for groups in self.behind)
        return len(self.waiting) + self.coming + longest >= self.queue_max

    def merge_waiting(self) -> None:
        """See Front; in front of each of the views as well."""
        super().merge_waiting()
        for groups in self.behind:
            groups.front.merge_waiting()

    def end(self) -> None:
        """Have each of the views take rows by itself again. The caller holds the commit lock."""
        self.hand_over()
        for groups in self.behind:
            groups.feed = None
