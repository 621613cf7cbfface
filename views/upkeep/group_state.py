"""The group tables of a view: those that commits write, those on their way, and the merged groups.

Enters: tables of statements and of rows. Leaves: tables to merge, counts and sizes. A table moves
from the buffer that commits write to `taken` (a cut has it) and from there into `merged`, and is
seen at each moment in at least one of the three. A `SharedBuffer` is the buffer of several views
whose stream pipelines are equal: a row is folded once, and the tables are handed over by reference
to each of the views when one of them is read. So the views may have begun at different times, and
end one by one. Must not know views, nor plans.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from ringbuffer.groups.aggregates import LIST_GROWTH
from ringbuffer.groups.found_groups import merge_found
from ringbuffer.groups.hash_table import ROWS_IN, ROWS_LATE, ROWS_PASSED, ROWS_SKIPPED, GroupTable
from ringbuffer.groups.known_groups import StateSize, size_of, size_of_new
from ringbuffer.groups.merge import has_lists
from ringbuffer.memory.spilled_memory import SpilledMemory
from ringbuffer.pages.pages import Page
from views.upkeep.above.changed_groups import ChangedGroups
from views.upkeep.commit_buffers import CommitBuffer, Watermark
from views.upkeep.cuts import Upkeep
from views.upkeep.partitions import KeyPlace, Partitions


@dataclass(frozen=True)
class StateCounts:
    """How many rows, groups and tables a state has taken and has.

    Attributes:
        tuples_in: rows that came.
        tuples_passed: rows that the filters let through; with joins, matches.
        tuples_skipped: rows that were left out (on_error = skip).
        tuples_late: rows that came after their window had closed.
        groups: groups that are merged.
        groups_waiting: groups in tables that are not merged.
        queue: tables of statements that wait.
        queue_most: tables of statements that have waited at most.
    """

    tuples_in: int
    tuples_passed: int
    tuples_skipped: int
    tuples_late: int
    groups: int
    groups_waiting: int
    queue: int
    queue_most: int


class GroupState:
    """The group tables of a view.

    Attributes:
        buffer: the tables that commits write.
        shared: the buffer that takes the rows instead, while other views take the same rows;
            written under the commit lock.
        taken: tables that have left the buffers and are not merged; added under the commit lock,
            removed under `refresh_lock`.
        refresh_lock: guards `merged`.
        merged: the groups that refreshes read.
        keys_only: true where all long texts of a table are those of keys.
        with_lists: true where groups keep lists.
        memory: where groups are put that are too large for memory.
        is_capped: true while some cap asks for the size (`views.upkeep.caps`); written under the
            commit lock.
        committed: how many statements have been committed; written under the commit lock.
        swapped: how many of them have left the buffers; written under the commit lock.
        upkeep: the cuts that readers take.
        watermark: what closes the windows of groups, None: nothing does.
        changed: what merges have changed, for an upper pipeline that is kept by change; None:
            nobody knows. Guarded by `refresh_lock`.
        passed_us: groups were given up that no reader with this now(), or a later one, asks for; 0:
            none were. Written by the reader that refreshes the view.
    """

    def __init__(self, buffer: CommitBuffer, keys_only: bool) -> None:
        self.buffer = buffer
        self.shared: SharedBuffer | None = None
        self.taken: list[GroupTable] = []
        self.refresh_lock = threading.Lock()
        self.memory: SpilledMemory | None = None
        self.merged = self.new_partitions()
        self.keys_only = keys_only
        self.with_lists = has_lists(buffer.program)
        self.is_capped = False
        self.committed = self.swapped = 0
        self.upkeep = Upkeep()
        self.changed: ChangedGroups | None = None
        self.passed_us = self._looked_at = 0
        self.watermark: Watermark | None = None

    @property
    def together(self) -> tuple[GroupState, ...]:
        """The states that take the rows of this one, with this one."""
        return (self,) if self.shared is None else self.shared.members

    @property
    def buffers(self) -> tuple[CommitBuffer, ...]:
        """The buffers whose tables this state will get, in the order in which they are locked."""
        return (self.buffer,) if self.shared is None else (self.shared, self.buffer)

    @property
    def queue_max(self) -> int:
        """How many large tables of statements may wait for a refresh."""
        return self.buffer.queue_max

    @queue_max.setter
    def queue_max(self, count: int) -> None:
        for buffer in self.buffers:
            buffer.queue_max = count

    def spill_into(self, memory: SpilledMemory | None) -> None:
        """Keep groups in files, from the next merge on, where they are too large for memory."""
        self.memory = self.merged.memory = memory

    def taking(self) -> CommitBuffer:
        """Return the buffer that takes rows now. The caller holds the commit lock."""
        shared = self.shared
        if shared is None:
            return self.buffer
        shared.is_new = True
        return shared

    def absorb(self, table: GroupTable) -> None:
        """Take the table of a statement; this never fails on data.

        The caller holds the commit lock.
        """
        watermark = self.watermark
        self.taking().absorb(table if watermark is None else watermark.admitted(table, self.buffer.program))

    def note_commit(self) -> None:
        """Count one more statement whose rows are in the buffers, for all states that take them.

        The caller holds the commit lock.
        """
        shared = self.shared
        if shared is None:
            self.committed += 1
            if self.watermark is not None:
                self.watermark.advance()
            return
        for groups in shared.members:
            groups.committed += 1

    def make_room(self) -> CommitBuffer:
        """Announce the table of a statement; return the buffer that has made room for it."""
        buffer = self.shared or self.buffer
        buffer.make_room()
        return buffer

    def drain(self) -> None:
        """Merge the tables that wait if they are too many.

        The caller holds no lock that other commits need.
        """
        (self.shared or self.buffer).drain()

    def swap(self) -> tuple[GroupTable, ...]:
        """Return the tables of the buffers, in the order of commits, and go on with empty ones.

        The caller holds the commit lock.
        """
        if self.shared is not None:
            self.shared.hand_over()
        tables = self.buffer.swap()
        self.taken += tables
        return tables

    def merge(self, tables: Sequence[GroupTable]) -> None:
        """Merge swapped tables into the merged groups; this never fails on data."""
        if not tables:
            return
        with self.refresh_lock:
            changed, self.changed = self.changed, None
            coming = None if changed is None else changed.coming(self.merged, tables, self.buffer.program)
            for table in tables:
                self.merged.merge(table)
                self.taken.remove(table)
                if self.watermark is not None:
                    self.watermark.merged_us = max(self.watermark.merged_us, self.watermark.newest_of(table))
            if changed is not None and coming is not None and changed.note(coming, self.merged):
                self.changed = changed

    def add(self, tables: Iterable[GroupTable]) -> None:
        """Merge tables that were never committed into the merged groups."""
        with self.refresh_lock:
            self.changed = None
            for table in tables:
                self.merged.merge(table)

    def forget_passed(self, place: KeyPlace, oldest: int, now_us: int) -> None:
        """Give up the merged groups whose key is smaller than `oldest`, or NULL, if they are many.

        now_us: no reader with this now(), or a later one, asks for them. The caller is the reader
        that refreshes the view. Nothing is done while a transaction block may read an earlier
        position.
        """
        with self.upkeep.changed:
            if oldest <= self._looked_at or any(cut.pins for cut in self.upkeep.cuts):
                return
        with self.refresh_lock:
            if self.watermark is not None:
                oldest = min(oldest, self.watermark.oldest_kept(self.merged.tables, place))
            if self.merged.forget(place, oldest):
                self.passed_us, self.changed = now_us, None
        self._looked_at = oldest

    def find(self, keys: GroupTable, found: GroupTable, from_files: bool = False, heap_max: int | None = None) -> bool:
        """Add the groups with the keys of a table to `found`, as they are now; False: others merge
        or export.

        from_files: the caller has brought the groups in; else False is returned where one may be in
        a file. heap_max: False is returned where their texts and lists take more bytes. The caller
        holds the commit lock.
        """
        if not self.refresh_lock.acquire(blocking=False):
            return False
        try:
            if self.merged.spilled and not from_files and self.merged.in_files(keys):
                return False
            waiting = [one for buffer in self.buffers[::-1] for one in buffer.seen()]
            for table in (*self.merged.with_keys(keys), *self.taken, *waiting):
                if not merge_found(found, keys, table, self.buffer.program, heap_max):
                    return False
            return True
        finally:
            self.refresh_lock.release()

    def bring(self, keys: GroupTable, wait_s: float) -> bool:
        """Read the groups with some keys from files if they are there, so that `find` need not do
        it under the commit lock.

        wait_s: for others that merge or export; False: they go on.
        """
        if not self.refresh_lock.acquire(timeout=wait_s):
            return False
        try:
            if self.merged.in_files(keys):
                found = GroupTable(self.merged.layout)
                for table in self.merged.with_keys(keys):
                    merge_found(found, keys, table, self.buffer.program)
            return True
        finally:
            self.refresh_lock.release()

    @contextmanager
    def pages(self) -> Iterator[Iterator[Page]]:
        """Yield the pages of the merged groups as they are now, whatever is merged meanwhile.

        Partitions that are merged before they are read are copied first.
        """
        with self.refresh_lock:
            merged = self.merged
            export = merged.export()
        try:
            yield export.pages()
        finally:
            merged.exports.remove(export)

    @contextmanager
    def contents(
        self, commit_lock: AbstractContextManager[object]
    ) -> Iterator[tuple[Iterator[GroupTable], list[GroupTable]]]:
        """Yield all groups as they are now, in tables that no thread changes: those that are
        merged, and those that are not, in the order of commits.
        """
        while True:
            with commit_lock:
                # A merge is waited for without the lock.
                if self.refresh_lock.acquire(blocking=False):
                    merged, unmerged = self.merged, self.set_apart()
                    export = merged.export()
                    self.refresh_lock.release()
                    break
            with self.refresh_lock:
                pass
        try:
            yield export.tables(), unmerged
        finally:
            merged.exports.remove(export)

    def reset(self) -> None:
        """Forget all rows, and that there were any."""
        self.replace(self.new_partitions())
        self.committed = self.swapped = self.upkeep.versions_count = 0

    def new_partitions(self) -> Partitions:
        """Return the merged groups of a state that has seen no row."""
        return Partitions(self.buffer.new_table(), self.buffer.program, self.memory)

    def replace(self, merged: Partitions) -> None:
        """Go on with other groups, and forget all that was there."""
        with self.refresh_lock:
            self.buffer.swap()
            self.taken.clear()
            self.merged, self.changed = merged, None
            if self.watermark is not None:
                self.watermark.restart(merged.tables)

    @property
    def counts(self) -> StateCounts:
        """The counts of all tables."""
        merged, buffers = tuple(self.merged.tables), self.buffers
        waiting = [*self.taken, *(table for buffer in buffers for table in buffer.seen())]
        came, passed, skipped, late = (
            sum(int(table.control[word]) for table in (*merged, *waiting))
            for word in (ROWS_IN, ROWS_PASSED, ROWS_SKIPPED, ROWS_LATE)
        )
        return StateCounts(
            came,
            passed,
            skipped,
            late,
            sum(table.groups_count for table in merged),
            sum(table.groups_count for table in waiting),
            sum(len(buffer.waiting) for buffer in buffers),
            max(buffer.queued_most for buffer in buffers),
        )

    @property
    def bytes_count(self) -> int:
        """Bytes of the groups in all tables."""
        tables = [*self.merged.tables, *self.taken, *(table for buffer in self.buffers for table in buffer.seen())]
        return size_of(tables).bytes

    def set_apart(self) -> list[GroupTable]:
        """Return all tables that are not merged. No thread changes them from now on.

        The caller holds the commit lock.
        """
        return [*self.taken, *(table for buffer in self.buffers for table in buffer.set_apart())]

    def sizes(self, unmerged: Sequence[GroupTable], coming: Sequence[GroupTable]) -> tuple[StateSize, StateSize]:
        """Return the size of the groups, and by how much the tables `coming` would make it larger.

        unmerged: what `set_apart` has returned. A merge is waited for.
        """
        with self.refresh_lock:
            merged = self.merged.tables
            how = self.keys_only, self.with_lists
            now = size_of(merged).plus(size_of_new(unmerged, merged, (), *how))
            return now, size_of_new(coming, merged, unmerged, *how)

    def most_of(self, tables: Sequence[GroupTable]) -> StateSize:
        """Return the most that tables make the groups larger, in a row of many like them."""
        size = size_of(tables)
        return StateSize(size.groups, size.bytes * LIST_GROWTH) if self.with_lists else size


class SharedBuffer(CommitBuffer):
    """The common buffer of several views, whose own buffers get its tables before one of the views
    is read.

    All attributes but those that `lock` guards are guarded by the commit lock.

    Attributes:
        members: the groups of the views.
        is_new: true when rows have come since tables were handed over.
    """

    def __init__(self, members: Sequence[GroupState]) -> None:
        first = members[0].buffer
        super().__init__(first.new_table, first.program, first.queue_max, first.is_ordered)
        self.members = tuple(members)
        self.is_new = False
        for groups in members:
            assert groups.shared is None, "what takes rows by two ways counts them twice"
            groups.shared = self

    def hand_over(self) -> None:
        """Hand all tables over to the views. The caller holds the commit lock."""
        if not self.is_new:
            return
        self.is_new = False
        tables = [table for table in self.swap() if table.control[ROWS_IN]]
        for groups in self.members:
            groups.buffer.take(tables)

    @property
    def is_full(self) -> bool:
        """True when the tables that wait should be merged before more tables come.

        The queues of the views count as well: all tables are handed over to views, and a view that
        no client reads keeps a queue of its own.
        """
        longest = max(len(groups.buffer.waiting) for groups in self.members)
        return len(self.waiting) + self.coming + longest >= self.queue_max

    def merge_waiting(self) -> None:
        """Merge the tables that wait here, and those that wait in the buffer of each view."""
        super().merge_waiting()
        for groups in self.members:
            groups.buffer.merge_waiting()

    def end(self) -> None:
        """Let each view take rows by itself again. The caller holds the commit lock."""
        self.hand_over()
        for groups in self.members:
            groups.shared = None
