"""The merged groups of a state, in partitions that are merged, read, exported and imported one by
one.

Enters: tables that commits have written. Leaves: a table per partition. A small state has one
partition with all of its groups, a larger one has 64, and the hash of a group tells its partition.
A merge into a partition finds the partition's memory in the cache, and a table that grows is small.
Two threads work at once on the partitions of a large state. Must not know commits, nor files; the
owner makes sure that one thread at a time calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from ringbuffer.groups.found_groups import SoughtRows, merge_found
from ringbuffer.groups.hash_table import HEAP_USED, ROWS_COUNT, GroupTable, TableLayout, Words
from ringbuffer.groups.merge import add_counters, merge_partition, merge_tables
from ringbuffer.groups.partitions import PARTITIONS_COUNT, partition, partition_of, rows_by_partition
from ringbuffer.memory.mapped_zeros import mapped_zeros
from ringbuffer.memory.spilled_memory import SpilledMemory, leave
from ringbuffer.pages.pages import Page
from views.upkeep.state_pages import table_pages

# A state of more groups has partitions.
SPLIT_GROUPS = 1 << 16
# Less work is not shared with the second thread.
SHARED_GROUPS_MIN = 1 << 14

# Smaller partitions are read together: each reading is some fifty calls of libraries.
READ_GROUPS = 1 << 14

Result = TypeVar("Result")

_helper = ThreadPoolExecutor(1, thread_name_prefix="antumbra-partitions")


class JoinedRows(NamedTuple):
    """The rows of several tables, as they are in one, for reading alone; heap: that of none."""

    rows: Words
    groups_count: int
    heap: npt.NDArray[np.uint8]


# A partition gives up groups when one of so many has passed.
PASSED_SHARE = 4


class KeyPlace(NamedTuple):
    """The place of a key of one word in an entry: the word, and the bit of its NULL."""

    word: int
    null_bit: int


# What groups can be read of.
ReadTable: TypeAlias = GroupTable | JoinedRows


class Partitions:
    """The merged groups of a state.

    Attributes:
        tables: a table per partition, or one with all groups; its entries change while a merge
            runs, and what counters count is in any of them.
        exports: those that have not ended.
        memory: where partitions are put that are too large for memory, None: there is no limit.
        spilled: the partitions that are there.
    """

    def __init__(self, empty: GroupTable, program: Words, memory: SpilledMemory | None = None) -> None:
        self._program = program
        self.tables: list[GroupTable] = [empty]
        self.exports: list[Export] = []
        self.memory = memory
        self.spilled: set[int] = set()

    @property
    def groups_count(self) -> int:
        """How many groups there are."""
        return sum(table.groups_count for table in self.tables)

    @property
    def layout(self) -> TableLayout:
        """The layout of all tables."""
        return self.tables[0].layout

    def with_keys(self, keys: GroupTable) -> list[GroupTable]:
        """Return the tables that may have one of the groups of `keys`."""
        tables = self.tables
        return tables if len(tables) == 1 else [tables[number] for number in self._numbers(keys)]

    def _numbers(self, keys: GroupTable) -> list[int]:
        if len(self.tables) == 1:
            return [0]
        count, row_words = keys.control.item(ROWS_COUNT), keys.layout.row_words
        if count == 1:
            return [partition(keys.rows.item(0))]
        hashes = keys.rows[: count * row_words : row_words].tolist()
        return sorted(set(map(partition, hashes)))

    def found(self, keys: GroupTable) -> GroupTable:
        """Return a table of the groups with the keys of a table, as they are now."""
        found = GroupTable(self.layout)
        if len(self.tables) == 1:
            merge_found(found, keys, self.tables[0], self._program)
            self._leave(0)
            return found
        words = self.layout.row_words
        rows, starts = rows_by_partition(keys)
        some = SoughtRows(keys)
        for number, table in enumerate(self.tables):
            if starts[number] < starts[number + 1]:
                some.seek(rows[starts[number] : starts[number + 1]], (starts[number + 1] - starts[number]) // words)
                merge_found(found, some, table, self._program)
                self._leave(number)
        return found

    def in_files(self, keys: GroupTable) -> bool:
        """Tell whether one of the groups of `keys` may be in a file."""
        return bool(self.spilled) and not self.spilled.isdisjoint(self._numbers(keys))

    def merge(self, table: GroupTable) -> None:
        """Merge a table, which is left as it is; this never fails on data."""
        self._merge(table)
        self.spill()

    def _merge(self, table: GroupTable) -> None:
        if len(self.tables) == 1 and self.groups_count + table.groups_count > SPLIT_GROUPS:
            self._split()
        if len(self.tables) == 1:
            merge_tables(self._writable(self.tables, 0), table, self._program)
            self._leave(0)
            return
        self._merge_partitions(self.tables, table)

    def import_(self, stored: Iterable[GroupTable]) -> None:
        """Take the place of all groups by those of stored partitions, of which no two have a group
        together.

        One partition may have all groups.
        """
        tables = iter(stored)
        self.tables = [next(tables)]
        self.spilled.clear()
        self.spill()
        for table in tables:
            if len(self.tables) == 1:
                self._split()
            number = partition_of(table)
            if number is None or self.tables[number].groups_count:
                self._merge_partitions(self.tables, table)
            else:
                add_counters(table, self.tables[number])
                self.tables[number] = table
                self.spilled.discard(number)
            self.spill()

    def read(self, work: Callable[[ReadTable], Result]) -> list[Result]:
        """Return what `work` returns for the groups of some partitions after those of others.

        Raises what it raises for some.
        """
        tables = tuple(self.tables)
        runs = read_together(tables)
        found: dict[int, Result] = {}

        def read_run(place: int) -> None:
            found[place] = work(joined([tables[number] for number in runs[place]]))
            for number in runs[place]:
                self._leave(number)

        _share(read_run, len(runs), self.groups_count)
        return [found[place] for place in range(len(runs))]

    def forget(self, place: KeyPlace, oldest: int) -> bool:
        """Give up the groups whose key is NULL or smaller than `oldest`, where they are many; tell
        whether there were any.
        """
        row_words, any_passed = self.layout.row_words, False
        for number, table in enumerate(self.tables):
            rows = table.rows[: table.groups_count * row_words].reshape(-1, row_words)
            nulls = (rows[:, 1] >> place.null_bit) & 1 != 0
            passed = nulls | (rows[:, 1 + place.word] < oldest)
            count = int(np.count_nonzero(passed))
            if count * PASSED_SHARE > len(rows):
                fresh = GroupTable(self.layout, zeros=mapped_zeros)
                merge_partition(fresh, table, rows[~passed].reshape(-1), self._program)
                add_counters(fresh, table)
                self.tables[number] = fresh
                self.spilled.discard(number)
                any_passed = True
            self._leave(number)
        self.spill()
        return any_passed

    def spill(self) -> None:
        """Put partitions into files until the others fit into memory."""
        if self.memory is None:
            return
        kept = {number: table.used_bytes for number, table in enumerate(self.tables) if number not in self.spilled}
        excess = sum(kept.values()) - self.memory.kept_bytes
        for number, size in kept.items():
            if excess > 0 and size:
                self.tables[number] = self.tables[number].copy(self.memory.zeros)
                self.spilled.add(number)
                self._leave(number)
                excess -= size

    def export(self) -> Export:
        """Return the partitions as they are now, to be read while merges go on."""
        export = Export(self.tables)
        self.exports.append(export)
        return export

    def _split(self) -> None:
        (whole,) = self.tables
        tables = [GroupTable(self.layout, zeros=mapped_zeros) for _ in range(PARTITIONS_COUNT)]
        self._merge_partitions(tables, whole)
        self.tables = tables
        self.spilled.clear()

    def _merge_partitions(self, targets: list[GroupTable], table: GroupTable) -> None:
        rows, starts = rows_by_partition(table)

        def merge_one(number: int) -> None:
            chosen = rows[starts[number] : starts[number + 1]]
            if len(chosen):
                merge_partition(self._writable(targets, number), table, chosen, self._program)
                self._leave(number)

        _share(merge_one, PARTITIONS_COUNT, table.groups_count)
        add_counters(self._writable(targets, 0), table)

    def _writable(self, tables: list[GroupTable], number: int) -> GroupTable:
        """Return the table of a partition, a copy of it where an export has not come to it yet."""
        table = tables[number]
        # Exports end on other threads.
        if any(table in export.unread for export in tuple(self.exports)):
            table = tables[number] = table.copy()
        return table

    def _leave(self, number: int) -> None:
        """Take the memory of a partition that is in a file out of the process."""
        if number in self.spilled:
            table = self.tables[number]
            for array in (table.rows, table.slots, table.heap):
                leave(array)


class Export:
    """The partitions of a state at one position, which are read one by one while merges go on.

    Attributes:
        unread: the tables that no merge may change.
    """

    def __init__(self, tables: Iterable[GroupTable]) -> None:
        self._tables = list(tables)
        self.unread = set(self._tables)

    def pages(self) -> Iterator[Page]:
        """Yield the pages of all partitions that have something.

        The page of a partition is valid until that of the next one is asked for.
        """
        for table in self.tables():
            yield from table_pages(table)

    def tables(self) -> Iterator[GroupTable]:
        """Yield the partitions that have something, each valid until the next one is asked for."""
        for number, table in enumerate(self._tables):
            if number == 0 or table.groups_count:
                yield table
            self.unread.discard(table)


def read_together(tables: Sequence[GroupTable]) -> list[list[int]]:
    """Return the numbers of tables in runs of at most READ_GROUPS, if each has fewer; a table with
    texts in its heap is alone.
    """
    runs: list[list[int]] = []
    rows = READ_GROUPS + 1
    for number, table in enumerate(tables):
        count = READ_GROUPS + 1 if table.control[HEAP_USED] else table.groups_count
        if rows + count > READ_GROUPS:
            runs.append([])
            rows = 0
        runs[-1].append(number)
        rows += count
    return runs


def joined(tables: Sequence[GroupTable]) -> ReadTable:
    """Return the groups of tables of one layout, of which all have texts without a heap, or one."""
    if len(tables) == 1:
        return tables[0]
    words = tables[0].layout.row_words
    rows = np.concatenate([table.rows[: table.groups_count * words] for table in tables])
    return JoinedRows(rows, sum(table.groups_count for table in tables), tables[0].heap)


def _share(work: Callable[[int], None], count: int, groups_count: int) -> None:
    """Call `work` for the numbers below `count`, on two threads where there are many groups."""
    numbers = iter(range(count))
    if count == 1 or groups_count < SHARED_GROUPS_MIN:
        _work_off(work, numbers)
        return
    helping = _helper.submit(_work_off, work, numbers)
    try:
        _work_off(work, numbers)
    finally:
        # The helper may be busy with another state.
        if not helping.cancel():
            helping.result()


def _work_off(work: Callable[[int], None], numbers: Iterator[int]) -> None:
    for number in numbers:
        work(number)
