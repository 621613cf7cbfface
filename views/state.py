"""The state of a continuous view: its local table, which commits write, and its global table, which refreshes read.

Enters: morsels of the view's stream. Leaves: the groups as Arrow. `check` and `fold` touch nothing shared and run on any thread; `apply`,
`absorb` and `swap` take the short lock; `merge`, `export`, `pages` the refresh lock; `load` and `reset` both. Must not know transactions,
streams or Spark.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from ringbuffer.columns import Morsel
from ringbuffer.hash_table import (
    CONTROL_WORDS,
    ENTRY,
    ROWS_IN,
    ROWS_PASSED,
    ROWS_SKIPPED,
    GroupTable,
    Words,
    find_group,
)
from ringbuffer.join_table import JoinTable
from ringbuffer.merge import merge_tables
from ringbuffer.pages import Page
from sql.catalog import ARRIVAL
from views.codegen.grouping import make_grouping
from views.codegen.stream_kernel import generate_stream_kernel
from views.finish import CompiledStep, array_places
from views.groups import read_groups
from views.join_tables import Joins, join_table, joined, rows_from_bytes, rows_to_bytes
from views.kernels import LAST, CompiledKernel, needed_bytes, own_arrays
from views.plan.cover import covered_grouping
from views.plan.nodes import FinishStep, ViewPlan
from views.state_pages import load_table, state_fingerprint, table_pages

JOINED = "joined/"  # of pages with the rows of a probe's build side

# Stands for the arrays of a table where rows are only checked.
NO_WORDS = np.zeros(1, dtype=np.int64)

# A statement's table of at most so many groups is merged at its commit; of larger ones at most so many wait for a refresh.
MERGED_GROUPS_MAX = 4096
TABLES_WAITING_MAX = 16


@dataclass(frozen=True)
class StateCounts:
    """Rows that came, that the filters let through (with joins: matches), that were left out; groups that are merged, and in tables that
    are not; tables of statements that wait, and how many did at most.
    """

    tuples_in: int
    tuples_passed: int
    tuples_skipped: int
    groups: int
    groups_waiting: int
    queue: int
    queue_most: int


class Groups:
    """The tables of a view. local, waiting: guarded by `lock`, what commits write; merged: by `refresh_lock`, what refreshes read.

    queue_max: so many tables of statements may wait; queued_most: so many did at once.
    """

    def __init__(self, empty: GroupTable, merged: GroupTable, queue_max: int) -> None:
        self.lock = threading.Lock()
        self.refresh_lock = threading.Lock()
        self.local = empty
        self.waiting: list[GroupTable] = []
        self.merged = merged
        self.queue_max = queue_max
        self.queued_most = 0


class ViewState:
    """The compiled pipelines of one view, and its groups."""

    def __init__(
        self,
        name: str,
        plan: ViewPlan,
        kernels_dir: Path,
        joins: Joins | None = None,
        places: tuple[int, ...] | None = None,
        heir_of: ViewState | None = None,
    ) -> None:
        """Generate, compile and warm up the kernels. Raises SqlError 0A000 for what a kernel can't evaluate yet.

        joins: a table for each probe, or None, and then only states that `joined_with` makes may take rows.
        places: where the columns of the plan's stream are in the morsels that come; None: these have no others. The arrival comes last.
        heir_of: the state whose groups, join tables and stream kernel this one goes on with; its pipeline is `plan.maintained`.
        """
        self.name = name
        self.plan = plan
        self.joins = joins or Joins(())
        self._grouping = make_grouping(plan.maintained)
        self._shown = self._grouping if plan.kept is None else covered_grouping(self._grouping, plan.stream)
        self._finish = CompiledStep(name, "groups", plan.finish, kernels_dir)
        self._tail = None if plan.tail is None else CompiledStep(name, "tail", plan.tail, kernels_dir)
        self._program = np.array(self._grouping.merge_steps, dtype=np.int64).reshape(-1, 3)
        if heir_of is None:
            self._kernel = self._stream_kernel(kernels_dir, places)
            self._groups = Groups(self.new_table(), self.new_table(), TABLES_WAITING_MAX)
        else:
            assert heir_of.fingerprint == self.fingerprint
            self._kernel, self._groups = heir_of._kernel, heir_of._groups
            self.joins = heir_of.joins

    def _stream_kernel(self, kernels_dir: Path, places: tuple[int, ...] | None) -> CompiledKernel:
        pipeline = self.plan.maintained
        arrays = array_places(pipeline.input)
        if places is not None:
            arrays = [(place, ~place) for place in places]
        if pipeline.input[-1].name == ARRIVAL.name:
            arrays[len(pipeline.input) - 1 :] = [(LAST, ~LAST)]
        module = generate_stream_kernel(self.name, pipeline, self._grouping)
        return CompiledKernel(self.name, module, arrays, kernels_dir)

    def emptied(self) -> ViewState:
        """Return a state with the same kernels and join tables, and no rows."""
        state = copy.copy(self)
        state._groups = Groups(self.new_table(), self.new_table(), self._groups.queue_max)
        return state

    def joined_with(self, join_tables: tuple[JoinTable, ...]) -> ViewState:
        """Return a state with the same kernels and these join tables, for tables of its own (`new_table`, `fold`, `rows_of`)."""
        assert len(join_tables) == len(self.plan.stream.probes)
        state = copy.copy(self)
        state.joins = Joins(join_tables)
        return state

    @property
    def join_tables(self) -> tuple[JoinTable, ...]:
        """The tables that its rows meet now, one for each probe."""
        return self.joins.tables

    def join_with(self, probe: int, rows: pa.Table) -> None:
        """Have rows meet these in one of the probes from now on. Raises IndexError for a probe that there is not."""
        sides, tables = list(self.joins.rows), list(self.joins.tables)
        sides[probe] = rows
        tables[probe] = join_table(self.plan.maintained.probes[probe], rows)
        self.joins.set(tables, sides)

    @property
    def kernel_paths(self) -> tuple[Path, ...]:
        """The generated files: the stream pipeline's first, then those of the finish step and the tail that need one."""
        return tuple(kernel.path for kernel in self.kernels)

    @property
    def kernels(self) -> tuple[CompiledKernel, ...]:
        """The kernels of `kernel_paths`."""
        steps = [step.kernel for step in (self._finish, self._tail) if step is not None]
        return (self._kernel, *(kernel for kernel in steps if kernel is not None))

    @property
    def fingerprint(self) -> str:
        """What `pages` mean: only a state with the same fingerprint may load them."""
        return state_fingerprint(self.plan.maintained, self._grouping)

    @property
    def groups_count(self) -> int:
        """Groups that are merged."""
        return self._groups.merged.groups_count

    @property
    def bytes_count(self) -> int:
        """Bytes of memory in both tables, and in the join tables."""
        with self._groups.lock:
            local = sum(table.bytes_count for table in (self._groups.local, *self._groups.waiting))
        return self._groups.merged.bytes_count + local + sum(table.bytes_count for table in self.join_tables)

    @property
    def queue_max(self) -> int:
        """How many large tables of statements may wait for a refresh."""
        return self._groups.queue_max

    @queue_max.setter
    def queue_max(self, count: int) -> None:
        self._groups.queue_max = count

    @property
    def counts(self) -> StateCounts:
        """What has come in so far, merged or not; what a refresh is just merging is missing."""
        groups = self._groups
        with groups.lock:
            waiting = (groups.local, *groups.waiting)
            tables = (groups.merged, *waiting)
            came, passed, skipped = (
                sum(int(table.control[word]) for table in tables) for word in (ROWS_IN, ROWS_PASSED, ROWS_SKIPPED)
            )
            return StateCounts(
                came,
                passed,
                skipped,
                groups.merged.groups_count,
                sum(table.groups_count for table in waiting),
                len(groups.waiting),
                groups.queued_most,
            )

    @property
    def rows_in_count(self) -> int:
        """Rows that reached the pipeline, up to the last merge."""
        return int(self._groups.merged.control[ROWS_IN])

    @property
    def rows_passed_count(self) -> int:
        """Rows among them that the filters let through; with joins, matches."""
        return int(self._groups.merged.control[ROWS_PASSED])

    @property
    def rows_skipped_count(self) -> int:
        """Rows that could not be evaluated and were left out (on_error = skip), merged or not; a running merge has some on its way."""
        return self.counts.tuples_skipped

    def release(self, needed: Collection[CompiledKernel] = ()) -> None:
        """Let go of the machine code, of what is not `needed` by others: the view is gone. What still reads or writes it goes on."""
        for kernel in self.kernels:
            if kernel not in needed and not kernel.is_released:
                kernel.release()

    def expression_text(self, index: int) -> str:
        """Return the SQL text of the expression with the index that a RowError carries."""
        return self._kernel.expression_text(index)

    def new_table(self) -> GroupTable:
        """Return an empty table for one statement's rows; without keys it has its one group already."""
        layout = self._grouping.table
        table = GroupTable(layout)
        if not self._grouping.keys:
            sizes = (layout.key_words, layout.entry_words, layout.row_words, layout.text_mask)
            find_group(table.control, table.slots, table.rows, table.control, ENTRY, 0, *sizes)
        return table

    def check(self, morsel: Morsel, now_us: int) -> None:
        """Evaluate all row expressions and touch nothing. Raises RowError."""
        if not self._kernel.can_fail:
            return
        control = np.zeros(CONTROL_WORDS, dtype=np.int64)
        arrays = self.joins.arrays
        start, count = 0, morsel.rows_count
        while start < count:
            start = self._call(morsel, start, False, now_us, control, NO_WORDS, NO_WORDS, arrays)
            if start < count:
                self._kernel.can_go_on(control, start)

    def fold(self, morsel: Morsel, table: GroupTable, now_us: int) -> int:
        """Fold the rows into a statement's own table; return the rows skipped (on_error = skip). Raises RowError."""
        control = table.control
        skipped_before = int(control[ROWS_SKIPPED])
        # All of a morsel's rows meet the same tables: the control words may say at which match to go on.
        arrays = self.joins.arrays
        start, count = 0, morsel.rows_count
        while start < count:
            start = self._call(morsel, start, True, now_us, control, table.slots, table.rows, arrays)
            if start < count and self._kernel.can_go_on(control, start):
                if needed_bytes(control):
                    table.grow_heap(needed_bytes(control))
                else:
                    table.grow_rows()
        control[ROWS_IN] += count
        return int(control[ROWS_SKIPPED]) - skipped_before

    def apply(self, morsel: Morsel, now_us: int) -> None:
        """Fold the rows of a checked morsel into the local table."""
        with self._groups.lock:
            if self._grouping.first is not None:
                self._merge_waiting()
            self.fold(morsel, self._groups.local, now_us)

    def absorb(self, table: GroupTable) -> None:
        """Take a statement's table; it never fails on data.

        A small one is merged at once. A large one waits for the next refresh, so that the committing statement holds the lock for no
        longer than an append; when `queue_max` wait already, the statement merges them itself.
        """
        with self._groups.lock:
            self._groups.waiting.append(table)
            if table.groups_count <= MERGED_GROUPS_MAX or len(self._groups.waiting) > self._groups.queue_max:
                self._merge_waiting()
            self._groups.queued_most = max(self._groups.queued_most, len(self._groups.waiting))

    def _merge_waiting(self) -> None:
        """Merge what waits into the local table, in the order of commits. The caller holds the lock."""
        for waiting in self._groups.waiting:
            merge_tables(self._groups.local, waiting, self._program)
        self._groups.waiting.clear()

    def swap(self) -> tuple[GroupTable, ...]:
        """Return the local tables and go on with an empty one."""
        fresh = self.new_table()
        with self._groups.lock:
            tables = (self._groups.local, *self._groups.waiting)
            self._groups.local = fresh
            self._groups.waiting = []
        return tables

    def merge(self, tables: tuple[GroupTable, ...]) -> None:
        """Merge swapped tables into the global table; it never fails on data."""
        with self._groups.refresh_lock:
            for table in tables:
                merge_tables(self._groups.merged, table, self._program)

    def export(self, now_us: int) -> pa.Table:
        """Return the rows of the finish step in arrow_schema(finish.output). Raises SqlError (22003 of a sum) and changes nothing."""
        with self._groups.refresh_lock:
            groups = read_groups(self._groups.merged, self._shown)
            return self._finish.run(groups, now_us)

    def rows_of(self, table: GroupTable, now_us: int) -> pa.Table:
        """Return the finish step's rows of a statement's own table, in arrow_schema(finish.output). Raises SqlError (22003 of a sum)."""
        return self._finish.run(read_groups(table, self._shown), now_us)

    def finish_tail(self, table: pa.Table, step: FinishStep) -> pa.Table:
        """Run the tail step on what the upper executor returned. Raises SqlError."""
        assert self._tail is not None and step == self.plan.tail
        return self._tail.run_table(table, 0)

    def pages(self) -> list[Page]:
        """Return the merged groups as pages that hold until the next merge; the caller sees to it that there is none meanwhile."""
        with self._groups.refresh_lock:
            return table_pages(self._groups.merged)

    def load(self, pages: Iterable[Page]) -> None:
        """Replace all groups by those of `pages` of a state with the same fingerprint. Raises ValueError, and then changes nothing."""
        kept: dict[int, bytes] = {}
        table = load_table(self._grouping.table, without_joins(pages, kept))
        if len(kept) == len(self.plan.maintained.probes) > 0:
            rows = [rows_from_bytes(kept[number]) for number in range(len(kept))]
            self.joins.set(joined(self.plan.maintained, rows), rows)
        fresh = self.new_table()
        with self._groups.lock, self._groups.refresh_lock:
            self._groups.local, self._groups.waiting, self._groups.merged = fresh, [], table

    def reset(self) -> None:
        """Forget all rows."""
        with self._groups.lock, self._groups.refresh_lock:
            self._groups.local, self._groups.waiting, self._groups.merged = self.new_table(), [], self.new_table()

    def _call(
        self, morsel: Morsel, start: int, folding: bool, now_us: int, control: Words, slots: Words, rows: Words,
        arrays: tuple[Words, ...],
    ) -> int:  # fmt: skip
        """Run the stream kernel from row `start` on and return the row at which it stopped."""
        kernel = self._kernel
        table = (start, morsel.rows_count, folding, now_us, kernel.constants, control, slots, rows, *arrays)
        try:
            return kernel.function(*table, *kernel.arrays(morsel))
        except TypeError:
            # Arrays that share memory with Arrow are read-only.
            return kernel.function(*table, *kernel.arrays(own_arrays(morsel)))


def join_pages(rows: Iterable[pa.Table]) -> list[Page]:
    """Return the build sides of a state's probes as pages, for `ViewState.load`."""
    return [
        Page(f"{JOINED}{number}", np.frombuffer(rows_to_bytes(side), dtype=np.uint8))
        for number, side in enumerate(rows)
    ]


def without_joins(pages: Iterable[Page], kept: dict[int, bytes]) -> Iterator[Page]:
    """Yield the pages of a state's groups; the others, the last ones, go into `kept` by their probes' numbers."""
    for page in pages:
        if page.name.startswith(JOINED):
            kept[int(page.name.removeprefix(JOINED))] = page.array.tobytes()
        else:
            yield page
