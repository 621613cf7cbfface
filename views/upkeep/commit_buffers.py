"""The group tables that commits write before a refresh merges them into a view's merged groups.

Enters: rows by way of a kernel, tables of statements. Leaves: tables to merge; a refresh takes all
of them at once. Must not know views, nor merge into merged groups.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from ringbuffer.groups.aggregates import State
from ringbuffer.groups.hash_table import HEAP_USED, ROWS_IN, ROWS_LATE, GroupTable, Words
from ringbuffer.groups.merge import add_counters, merge_partition, merge_tables
from sql.times.civil import DATE_INFINITY, TIMESTAMP_INFINITY
from sql.tree.expressions import AggregateCall
from views.codegen.grouping import Grouping
from views.model.nodes import Closing
from views.model.trees import meaning
from views.share.passing import UNITS_US
from views.upkeep.partitions import JoinedRows, KeyPlace, ReadTable

# A statement's table of at most so many groups, and bytes of texts and lists, is merged at its
# commit; larger ones wait.
MERGED_GROUPS_MAX = 4096
MERGED_BYTES_MAX = 1 << 20
# Before the commit of a table that would be one more than these, the tables that wait are merged.
TABLES_WAITING_MAX = 16


# The latest time among no rows.
NEVER = -(1 << 63)
# No time is so late: these are 'infinity' as a time stamp, and as a date.
ENDLESS = {"timestamp": TIMESTAMP_INFINITY, "timestamptz": TIMESTAMP_INFINITY, "date": DATE_INFINITY}


class Watermark:
    """The latest time of a state's rows, which closes the windows of its groups.

    A statement moves it for the statements after it, so that rows of one statement do not make each
    other late. It follows from the groups that are kept, and from the order of statements.

    Attributes:
        closing: of the pipeline.
        newest_us: the latest time among the rows of all statements, NEVER without any; written
            under the commit lock, as the next one.
        coming_us: that among the rows of the statement that is committed now.
        merged_us: that among merged groups; guarded by the lock of refreshes.
    """

    def __init__(self, closing: Closing, grouping: Grouping) -> None:
        self.closing = closing
        self.newest_us = self.coming_us = self.merged_us = NEVER
        self._words = grouping.table.row_words
        self._key = next(slot for slot in grouping.keys if meaning(slot.expression) == closing.key)
        calls = {
            slot.call.function: grouping.inputs[slot.input]
            for slot in grouping.aggregates
            if _tells(slot.call, closing)
        }
        self._time_word = calls["max"].states[State.MAX_INTEGER]
        self._times_word, self._rows_word = calls["max"].count_word, calls["count_star"].count_word
        self._key_unit_us = UNITS_US[self._key.type.family]
        self._time_unit_us = UNITS_US[closing.time.type.family]
        self._endless = ENDLESS[closing.time.type.family]

    def newest_of(self, table: GroupTable) -> int:
        """Return the latest time among the rows of a table, in microseconds."""
        rows = self._rows(table)
        times = rows[(rows[:, self._times_word] > 0) & (rows[:, self._time_word] < self._endless), self._time_word]
        return int(times.max()) * self._time_unit_us if len(times) else NEVER

    def admitted(self, table: GroupTable, program: Words) -> GroupTable:
        """Return the table of a statement without the groups whose windows are closed, or with all,
        and count their rows.

        The caller holds the commit lock, and calls `advance` after the statement.
        """
        if table.groups_count == 1 and self._is_in_time(table.rows.item):
            return table
        self.coming_us = max(self.coming_us, self.newest_of(table))
        rows, late = self._rows(table), self._closed(table, self.newest_us)
        count = int(rows[late, self._rows_word].sum())
        if count and self.closing.drops:
            fresh = GroupTable(table.layout)
            merge_partition(fresh, table, rows[~late].reshape(-1), program)
            add_counters(fresh, table)
            table = fresh
        table.control[ROWS_LATE] += count
        return table

    def _is_in_time(self, word: Callable[[int], int]) -> bool:
        """Note the time of the only group of a table, whose words are given by number, if the group
        is not late. Most statements have one row.
        """
        key, is_null = word(1 + self._key.word), word(1) >> self._key.null_bit & 1
        if self.newest_us != NEVER and not is_null and key <= self._bound(self.newest_us):
            return False
        time = word(self._time_word)
        if word(self._times_word) > 0 and time < self._endless:
            self.coming_us = max(self.coming_us, time * self._time_unit_us)
        return True

    def _bound(self, newest_us: int) -> int:
        """Return the latest key of closed windows."""
        return (newest_us - self.closing.lateness_us - self.closing.ends_after_us) // self._key_unit_us

    def advance(self) -> None:
        """Note that a statement is committed. The caller holds the commit lock."""
        self.newest_us = max(self.newest_us, self.coming_us)

    def restart(self, tables: Iterable[GroupTable]) -> None:
        """Go on with other groups."""
        self.merged_us = max((self.newest_of(table) for table in tables), default=NEVER)
        self.newest_us = self.coming_us = self.merged_us

    def shown(self, table: ReadTable) -> ReadTable:
        """Return the groups of merged tables that are shown."""
        if not self.closing.on_close:
            return table
        rows = self._rows(table)[self._closed(table, self.merged_us)]
        return JoinedRows(rows.reshape(-1), len(rows), table.heap)

    def oldest_kept(self, tables: Iterable[GroupTable], place: KeyPlace) -> int:
        """Return the key of the group with the latest time, which has to stay: it tells how far
        times have come. NEVER: none may go.
        """
        found = NEVER
        for table in tables:
            rows = self._rows(table)
            for row in rows[
                (rows[:, self._times_word] > 0) & (rows[:, self._time_word] * self._time_unit_us == self.merged_us)
            ]:
                found = max(found, NEVER if (int(row[1]) >> place.null_bit) & 1 else int(row[1 + place.word]))
        return found

    def _closed(self, table: ReadTable, newest_us: int) -> npt.NDArray[np.bool_]:
        """Return which groups are of windows that are closed."""
        rows = self._rows(table)
        if newest_us == NEVER:
            return np.zeros(len(rows), dtype=np.bool_)
        is_null = (rows[:, 1] >> self._key.null_bit) & 1 != 0
        found: npt.NDArray[np.bool_] = ~is_null & (rows[:, 1 + self._key.word] <= self._bound(newest_us))
        return found

    def _rows(self, table: ReadTable) -> Words:
        """Return the rows of a table, int64[groups, words]."""
        return table.rows[: table.groups_count * self._words].reshape(-1, self._words)


def _tells(call: AggregateCall, closing: Closing) -> bool:
    """Tell whether an aggregate is one of those by which windows close."""
    if call.filter is not None:
        return False
    return call.function == "count_star" or (call.function == "max" and meaning(call.arguments[0]) == closing.time)


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
