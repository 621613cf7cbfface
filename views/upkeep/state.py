"""The state of a continuous view: its local table, which commits write, and its global table.

Enters: morsels of the view's stream. Leaves: the groups as Arrow. `check` and `fold` touch nothing
shared and run on any thread; `apply`, `absorb` and `swap` take the short lock; `merge`, `export`
and `pages` take the refresh lock; `load` and `reset` take both. Refreshes read the global table.
Must not know transactions, streams or Spark.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from ringbuffer.groups.hash_table import (
    CONTROL_WORDS,
    ENTRY,
    ROWS_IN,
    ROWS_SKIPPED,
    GroupTable,
    Words,
    find_group,
)
from ringbuffer.groups.join_table import JoinTable
from ringbuffer.groups.known_groups import StateSize
from ringbuffer.memory.columns import Morsel
from ringbuffer.memory.error_codes import COMPUTED, RowError
from ringbuffer.pages.pages import Page
from sql.catalog.catalog import ARRIVAL
from sql.tree.expressions import Literal
from views.codegen.grouping import Grouping, make_grouping
from views.codegen.state_size import keeps_texts, text_copies
from views.codegen.stream_kernel import generate_stream_kernel
from views.model.nodes import FinishStep
from views.model.plan import Plan
from views.plan.deferred import unmade_schema
from views.share.reuse import covered_grouping
from views.upkeep.commit_buffers import TABLES_WAITING_MAX, CommitBuffer
from views.upkeep.computed import ComputedColumns
from views.upkeep.export.finish import CompiledStep
from views.upkeep.export.groups import read_groups, read_made_groups
from views.upkeep.export.to_arrow import to_arrow
from views.upkeep.group_state import GroupState
from views.upkeep.join_tables import Joins, join_table, joined, rows_from_bytes, without_joins
from views.upkeep.kernels import LAST, TOOLS, CompiledKernel, KernelTools, needed_bytes, own_arrays
from views.upkeep.state_pages import load_table, state_fingerprint, table_pages

# Stands for the arrays of a table where rows are only checked.
NO_WORDS = np.zeros(1, dtype=np.int64)
NO_BYTES = np.zeros(0, dtype=np.uint8)


class ViewState:
    """The compiled pipelines of one view, and its groups."""

    def __init__(
        self,
        name: str,
        plan: Plan,
        kernels_dir: Path,
        joins: Joins | None = None,
        places: tuple[int, ...] | None = None,
        heir_of: ViewState | None = None,
        twin_of: ViewState | None = None,
        tools: KernelTools = TOOLS,
    ) -> None:
        """Generate, compile and warm up the kernels. Raises SqlError 0A000 where none can evaluate.

        Arguments:
            joins: a table for each probe; None: only states that `joined_with` makes may take rows.
            places: the places of the columns of the plan's stream in morsels; None: morsels have no
                others. The arrival comes last.
            heir_of: the state whose groups, join tables and stream kernel this state goes on with;
                the pipeline of that state is `plan.maintained`.
            twin_of: a state with an equal pipeline, whose join tables and stream kernel this state
                shares.
        """
        self.name = name
        self.plan = plan
        self.joins = joins or Joins(())
        self._grouping = make_grouping(plan.maintained)
        self._shown = self._grouping if plan.kept is None else covered_grouping(self._grouping, plan.stream)
        self._finish = CompiledStep(plan.finish, kernels_dir, tools.compile_text)
        self._tail = None if plan.tail is None else CompiledStep(plan.tail, kernels_dir, tools.compile_text)
        self._program = np.array(self._grouping.merge_steps, dtype=np.int64).reshape(-1, 3)
        known = heir_of or twin_of
        if known is None:
            self._kernel, self.computed = self._stream_kernel(kernels_dir, places, tools)
        else:
            assert known.fingerprint == self.fingerprint
            self._kernel, self.computed, self.joins = known._kernel, known.computed, known.joins
        # The address of the constants; the array holds them where parameters are among them.
        self._constants, self._parameters = self._kernel.constants, NO_BYTES
        self.groups: GroupState = self._no_groups(TABLES_WAITING_MAX) if heir_of is None else heir_of.groups

    def _stream_kernel(
        self, kernels_dir: Path, places: tuple[int, ...] | None, tools: KernelTools
    ) -> tuple[CompiledKernel, ComputedColumns | None]:
        pipeline = self.plan.maintained
        count = len(pipeline.input)
        arrays: list[tuple[int, ...]] = [(place, ~place) for place in (range(count) if places is None else places)]
        if pipeline.input[-1].name == ARRIVAL.name:
            arrays[count - 1 :] = [(LAST, ~LAST)]
        module = generate_stream_kernel(pipeline, self._grouping)
        computed = None
        if module.computed:
            computed = ComputedColumns(module.computed, pipeline.input, arrays, tools.evaluator)
            arrays = computed.extended_places
        return CompiledKernel(module, arrays, kernels_dir, tools.compile_text), computed

    def emptied(self) -> ViewState:
        """Return a state with the same kernels and join tables, and no rows."""
        state = copy.copy(self)
        state.groups = self._no_groups(self.queue_max)
        return state

    def _no_groups(self, queue_max: int) -> GroupState:
        is_ordered = self._grouping.first is not None
        buffer = CommitBuffer(partial(empty_table, self._grouping), self._program, queue_max, is_ordered)
        return GroupState(buffer, keys_only=not keeps_texts(self._grouping))

    def takes_rows_of(self, other: ViewState) -> bool:
        """Tell whether this state would fold rows in the same way as the other state."""
        return self._kernel is other._kernel and self.joins is other.joins

    def joined_with(self, join_tables: tuple[JoinTable, ...], parameters: Sequence[Literal] = ()) -> ViewState:
        """Return a state with the same kernels, but with these join tables and constants.

        It is for tables of its own (`new_table`, `fold`, `rows_of`).
        """
        assert len(join_tables) == len(self.plan.stream.probes) and len(parameters) == len(self.plan.stream.parameters)
        state = copy.copy(self)
        state.joins = Joins(join_tables)
        state._parameters = self._kernel.constants_with(parameters)
        state._constants = int(state._parameters.ctypes.data)
        return state

    @property
    def join_tables(self) -> tuple[JoinTable, ...]:
        """The join tables that rows meet now, one for each probe."""
        return self.joins.tables

    def join_with(self, probe: int, rows: pa.Table) -> None:
        """Exchange the rows that a probe joins with. Raises IndexError for an unknown probe."""
        sides, tables = list(self.joins.rows), list(self.joins.tables)
        sides[probe] = rows
        tables[probe] = join_table(self.plan.maintained.probes[probe], rows)
        self.joins.set(tables, sides)

    @property
    def kernel_paths(self) -> tuple[Path, ...]:
        """The generated files: of the stream kernel, then of finish step and tail if they have
        one.
        """
        return tuple(kernel.path for kernel in self.kernels)

    @property
    def kernels(self) -> tuple[CompiledKernel, ...]:
        """The kernels of `kernel_paths`."""
        steps = [step.kernel for step in (self._finish, self._tail) if step is not None]
        return (self._kernel, *(kernel for kernel in steps if kernel is not None))

    @property
    def fingerprint(self) -> str:
        """The meaning of `pages`: only a state with the same fingerprint may load them."""
        return state_fingerprint(self.plan.maintained, self._grouping)

    @property
    def groups_count(self) -> int:
        """How many groups are merged."""
        return self.groups.merged.groups_count

    @property
    def bytes_count(self) -> int:
        """Bytes of the groups, merged or not, and of the join tables."""
        return self.groups.bytes_count + sum(table.bytes_count for table in self.join_tables)

    @property
    def queue_max(self) -> int:
        """How many large tables of statements may wait for a refresh."""
        return self.groups.buffer.queue_max

    @queue_max.setter
    def queue_max(self, count: int) -> None:
        for buffer in self.groups.buffers:
            buffer.queue_max = count

    def most_of_row(self, row: Morsel) -> StateSize | None:
        """Return the most that a row in its own memory can add; None where only folding tells."""
        copies = None if self.plan.maintained.probes or self.computed is not None else text_copies(self._grouping)
        return None if copies is None else StateSize(1, self._grouping.table.group_bytes + copies * row.heap.nbytes)

    def expression_text(self, index: int) -> str:
        """Return the SQL text of the expression with the index that a RowError carries."""
        return self._kernel.expression_text(index)

    def new_table(self) -> GroupTable:
        """Return an empty table for one statement's rows; without keys it has its one group."""
        return empty_table(self._grouping)

    @property
    def can_fail(self) -> bool:
        """True if `check` raises for some rows."""
        return self._kernel.can_fail

    def extended(self, morsel: Morsel, now_us: int) -> Morsel:
        """Return the rows with the columns that are computed before the kernel, which may take
        milliseconds.

        All methods that take rows take the rows as they came, too.
        """
        return morsel if self.computed is None else self.computed.extended(morsel, now_us)

    def check(self, morsel: Morsel, now_us: int) -> None:
        """Evaluate all expressions of the rows and change nothing. Raises RowError."""
        if not self.can_fail:
            return
        morsel = self.extended(morsel, now_us)
        control = np.zeros(CONTROL_WORDS, dtype=np.int64)
        arrays = self.joins.arrays
        start, count = 0, morsel.rows_count
        while start < count:
            start = self._call(morsel, start, False, now_us, control, NO_WORDS, NO_WORDS, arrays)
            if start < count:
                self._can_go_on(control, start, morsel, now_us)

    def fold(self, morsel: Morsel, table: GroupTable, now_us: int) -> int:
        """Fold rows into the table of a statement; return how many were skipped. Raises RowError.

        Rows are skipped with on_error = skip.
        """
        control = table.control
        skipped_before = int(control[ROWS_SKIPPED])
        morsel = self.extended(morsel, now_us)
        # All rows of a morsel meet the same tables: control words may tell the match to go on at.
        arrays = self.joins.arrays
        start, count = 0, morsel.rows_count
        while start < count:
            start = self._call(morsel, start, True, now_us, control, table.slots, table.rows, arrays)
            if start < count and self._can_go_on(control, start, morsel, now_us):
                if needed_bytes(control):
                    table.grow_heap(needed_bytes(control))
                else:
                    table.grow_rows()
        control[ROWS_IN] += count
        return int(control[ROWS_SKIPPED]) - skipped_before

    def apply(self, morsel: Morsel, now_us: int) -> None:
        """Fold the rows of a checked morsel into the local table.

        Where columns are computed, the caller has had them computed by `extended` if it holds a
        lock.
        """
        morsel = self.extended(morsel, now_us)
        shared = self.groups.shared
        if shared is None:
            buffer = self.groups.buffer
        else:
            buffer, shared.is_new = shared, True
        with buffer.lock:
            self.fold(morsel, buffer.local, now_us)

    def row_fold(self, row: Morsel) -> Callable[[int], None]:
        """Return a function of now_us that folds a checked row as `apply` does.

        The row lies in the same memory each time.
        """
        kernel = self._kernel
        if kernel.uses_scratch:
            return partial(self.apply, row)
        groups, constants, arrays = self.groups, self._constants, kernel.arrays(row)
        table = groups.buffer.local
        words = (constants, table.control, table.slots, table.rows, *self.joins.arrays, *arrays)
        fold_row = kernel.function.entry_for(0, 1, True, 0, *words)

        def fold(now_us: int) -> None:
            shared = groups.shared
            if shared is None:
                buffer = groups.buffer
            else:
                buffer, shared.is_new = shared, True
            with buffer.lock:
                table = buffer.local
                control = table.control
                joined = self.joins.arrays
                if fold_row(0, 1, True, now_us, constants, control, table.slots, table.rows, *joined, *arrays) == 1:
                    control[ROWS_IN] += 1
                else:
                    # It needs room.
                    self.fold(row, table, now_us)

        return fold

    def absorb(self, table: GroupTable) -> None:
        """Take the table of a statement; this never fails on data."""
        shared = self.groups.shared
        if shared is None:
            self.groups.buffer.absorb(table)
        else:
            shared.is_new = True
            shared.absorb(table)

    def make_room(self) -> CommitBuffer:
        """Announce the table of a statement; return the buffer that has made room for it."""
        buffer = self.groups.shared or self.groups.buffer
        buffer.make_room()
        return buffer

    def drain(self) -> None:
        """Merge the tables that wait if they are too many.

        The caller holds no lock that other commits need.
        """
        (self.groups.shared or self.groups.buffer).drain()

    def swap(self) -> tuple[GroupTable, ...]:
        """Return the local tables and go on with an empty table.

        The caller holds the commit lock.
        """
        return self.groups.swap()

    def merge(self, tables: tuple[GroupTable, ...]) -> None:
        """Merge swapped tables into the global table; this never fails on data."""
        self.groups.merge(tables)

    def export(self, now_us: int) -> pa.Table:
        """Return the rows of the finish step in arrow_schema(finish.output), and change nothing.

        Raises SqlError, for instance 22003 of a sum.
        """
        with self.groups.refresh_lock:
            groups = read_groups(self.groups.merged, self._shown)
            return self._finish.run(groups, now_us)

    def export_groups(self) -> tuple[pa.Table, list[int]]:
        """Return the groups, where `export` fails, and the columns of aggregates that are out of
        range.

        The table is in arrow_schema(unmade_schema(finish.input, these columns)). Raises SqlError
        where almost all groups have such an aggregate.
        """
        with self.groups.refresh_lock:
            groups, unmade = read_made_groups(self.groups.merged, self._shown)
            return to_arrow(groups, unmade_schema(self.plan.finish.input, unmade)), unmade

    def rows_of(self, table: GroupTable, now_us: int) -> pa.Table:
        """Return the finish step's rows of a statement's table, in arrow_schema(finish.output).

        Raises SqlError, for instance 22003 of a sum.
        """
        return self._finish.run(read_groups(table, self._shown), now_us)

    def finish_tail(self, table: pa.Table, step: FinishStep) -> pa.Table:
        """Run the tail step on the rows that the upper executor has returned. Raises SqlError."""
        assert self._tail is not None and step == self.plan.tail
        return self._tail.run_table(table, 0)

    def pages(self) -> list[Page]:
        """Return the merged groups as pages, which are valid until the next merge.

        The caller makes sure that there is no merge meanwhile.
        """
        with self.groups.refresh_lock:
            return table_pages(self.groups.merged)

    def load(self, pages: Iterable[Page]) -> None:
        """Replace all groups by those of the pages of a state with the same fingerprint.

        Raises ValueError, and changes nothing then.
        """
        kept: dict[int, bytes] = {}
        table = load_table(self._grouping.table, without_joins(pages, kept))
        if len(kept) == len(self.plan.maintained.probes) > 0:
            rows = [rows_from_bytes(kept[number]) for number in range(len(kept))]
            self.joins.set(joined(self.plan.maintained, rows), rows)
        self.groups.replace(table)

    def reset(self) -> None:
        """Forget all rows."""
        self.groups.replace(self.new_table())

    def _can_go_on(self, control: Words, row: int, morsel: Morsel, now_us: int) -> bool:
        """Return what `CompiledKernel.can_go_on` returns. Raises RowError."""
        try:
            return self._kernel.can_go_on(control, row)
        except RowError as error:
            if self.computed is None or error.code != COMPUTED:
                raise
            raise self.computed.exact(error, self.expression_text(error.expression), morsel, now_us) from None

    def _call(
        self, morsel: Morsel, start: int, folding: bool, now_us: int, control: Words, slots: Words, rows: Words,
        arrays: tuple[Words, ...],
    ) -> int:  # fmt: skip
        """Run the stream kernel from row `start` on, and return the row at which it has stopped."""
        kernel = self._kernel
        table = (start, morsel.rows_count, folding, now_us, self._constants, control, slots, rows, *arrays)
        try:
            return kernel.function(*table, *kernel.arrays(morsel))
        except TypeError:
            # Arrays that share memory with Arrow are read-only.
            return kernel.function(*table, *kernel.arrays(own_arrays(morsel)))


def empty_table(grouping: Grouping) -> GroupTable:
    """Return a table without rows; without keys the table has its one group."""
    layout = grouping.table
    table = GroupTable(layout)
    if not grouping.keys:
        sizes = (layout.key_words, layout.entry_words, layout.row_words, layout.text_mask)
        find_group(table.control, table.slots, table.rows, table.control, ENTRY, 0, *sizes)
    return table
