"""The group tables that commits write before a refresh merges them into a view's merged groups.

Enters: rows by way of a kernel, tables of statements. Leaves: tables to merge; a refresh takes all
of them at once. Must not know views, nor merge into merged groups.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from ringbuffer.groups.hash_table import HEAP_USED, ROWS_IN, GroupTable, Words
from ringbuffer.groups.merge import merge_tables

# A statement's table of at most so many groups, and bytes of texts and lists, is merged at its
# commit; larger ones wait.
MERGED_GROUPS_MAX = 4096
MERGED_BYTES_MAX = 1 << 20
# Before the commit of a table that would be one more than these, the tables that wait are merged.
TABLES_WAITING_MAX = 16


def is_large(table: GroupTable) -> bool:
    """Tell whether the table of a statement waits in the queue for a refresh."""
    return table.groups_count > MERGED_GROUPS_MAX or int(table.control[HEAP_USED]) > MERGED_BYTES_MAX


class CommitBuffer:
    """The tables in which the groups of committed rows wait for a refresh.

    Attributes:
        lock: guards `local` and `waiting`.
        local: the table into which rows are folded.
        waiting: large tables of statements, in the order of commits; no thread changes them.
        drained: tables merged from those that waited, larger ones first; no thread changes them.
        queue_max: how many tables may wait.
        coming: how many more tables are announced by `make_room`.
        queued_most: how many tables have waited at most.
        new_table: makes an empty table.
        program: int64[n, 3], how tables are merged.
        is_ordered: true where it matters which row came first: then no row is folded into a table
            that is older than a table that waits.
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

    def seen(self) -> tuple[GroupTable, ...]:
        """Return all tables in the order of commits."""
        with self.lock:
            return self.tables

    def set_apart(self) -> tuple[GroupTable, ...]:
        """Return all tables in the order of commits, and fold no more rows into one of them."""
        with self.lock:
            self._end_local()
            return (*self.drained, *self.waiting)

    def absorb(self, table: GroupTable) -> None:
        """Take the table of a statement; this never fails on data.

        A small table is merged at once. A large table waits for the next refresh, so that no commit
        holds the lock for longer than an append. The statement has called `make_room` before.
        """
        with self.lock:
            if is_large(table):
                self._append((table,))
            else:
                merge_tables(self.local, table, self.program)

    def take(self, tables: Sequence[GroupTable]) -> None:
        """Take tables that other buffers have as well, and that no thread changes any more."""
        with self.lock:
            self._append(tables)

    def _append(self, tables: Sequence[GroupTable]) -> None:
        if self.is_ordered:
            self._end_local()
        self.waiting += tables
        self.queued_most = max(self.queued_most, len(self.waiting))

    def _end_local(self) -> None:
        if self.local.control[ROWS_IN]:
            self.waiting.append(self.local)
            self.local = self.new_table()

    @property
    def is_full(self) -> bool:
        """True when the tables that wait should be merged before more tables come."""
        return len(self.waiting) + self.coming >= self.queue_max

    def drain(self) -> None:
        """Merge the tables that wait if the queue is full."""
        if self.is_full:
            with self._draining:
                if self.is_full:
                    self.merge_waiting()

    def compact(self) -> None:
        """Merge the tables that wait into one."""
        if len(self.waiting) > 1:
            with self._draining:
                self.merge_waiting()

    def make_room(self) -> None:
        """Announce one more table, until `leave_room`.

        The caller holds no lock that other commits need.
        """
        self.drain()
        with self.lock:
            self.coming += 1

    def leave_room(self) -> None:
        """Take back `make_room`, after the table has come or has been given up."""
        with self.lock:
            self.coming -= 1

    def merge_waiting(self) -> None:
        """Merge the tables that wait, and those drained tables that are not much larger.

        The lock is held for the exchange of the tables alone, so that no commit waits for the
        merge. If a refresh takes the tables away meanwhile, the merged table is dropped.
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
        """Return the tables, in the order of commits, and go on with an empty table."""
        fresh = self.new_table()
        with self.lock:
            tables = self.tables
            self.local, self.waiting, self.drained = fresh, [], []
        return tables
