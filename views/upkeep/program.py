"""The compiled stream pipeline of views: its kernel, and what the kernel takes besides rows.

Enters: morsels. Leaves: the groups of the rows, in a table of the caller's. A program keeps no
groups, and nothing in it changes but the join tables, where these follow their tables
(`Joins`): views whose pipelines are equal share one program, and any thread may run it. Must not
know views, commits or locks.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
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
from ringbuffer.groups.merge import make_room
from ringbuffer.memory.columns import Morsel
from ringbuffer.memory.error_codes import COMPUTED, RowError
from sql.catalog.catalog import ARRIVAL
from sql.tree.expressions import Literal
from views.codegen.grouping import Grouping, make_grouping
from views.codegen.state_size import text_copies
from views.codegen.stream_kernel import generate_stream_kernel
from views.model.nodes import StreamPipeline
from views.upkeep.computed import ComputedColumns
from views.upkeep.export.finish import array_places
from views.upkeep.join_tables import Joins, join_table
from views.upkeep.kernels import LAST, TOOLS, CompiledKernel, KernelTools, needed_bytes, own_arrays
from views.upkeep.state_pages import state_fingerprint

# Stands for the arrays of a table where rows are only checked.
NO_WORDS = np.zeros(1, dtype=np.int64)
NO_BYTES = np.zeros(0, dtype=np.uint8)


class StreamProgram:
    """A stream pipeline that can run.

    Attributes:
        pipeline: what it does.
        grouping: how its groups lie in tables.
        kernel: the compiled loop over rows.
        computed: what is computed before the kernel, or None.
        joins: a table for each probe.
        constants: the address of the constants of the kernel.
    """

    def __init__(
        self,
        pipeline: StreamPipeline,
        kernels_dir: Path,
        places: tuple[int, ...] | None = None,
        tools: KernelTools = TOOLS,
    ) -> None:
        """Generate, compile and warm up the kernel. Raises SqlError 0A000 where none can evaluate.

        places: the places of the columns of the stream in morsels; None: morsels have no others.
        The arrival comes last.
        """
        self.pipeline = pipeline
        self.grouping = make_grouping(pipeline)
        self.joins = Joins(())
        count = len(pipeline.input)
        arrays = array_places(pipeline.input)
        if places is not None:
            arrays = [(place, ~place) for place in places]
        if pipeline.input[-1].name == ARRIVAL.name:
            arrays[count - 1 :] = [(LAST, ~LAST)]
        module = generate_stream_kernel(pipeline, self.grouping)
        self.computed: ComputedColumns | None = None
        if module.computed:
            self.computed = ComputedColumns(
                module.computed, pipeline.input, arrays, tools.evaluator, pipeline.on_error == "skip"
            )
            arrays = self.computed.extended_places
        self.kernel = CompiledKernel(module, arrays, kernels_dir, tools.compile_text)
        # The array holds the constants where parameters are among them.
        self.constants, self._parameters = self.kernel.constants, NO_BYTES

    def joined_with(self, joins: Joins, parameters: Sequence[Literal] = ()) -> StreamProgram:
        """Return the program with other join tables, and with constants for its parameters."""
        assert len(joins.tables) == len(self.pipeline.probes)
        program = copy.copy(self)
        program.joins = joins
        if self.pipeline.parameters:
            assert len(parameters) == len(self.pipeline.parameters)
            program._parameters = self.kernel.constants_with(parameters)
            program.constants = int(program._parameters.ctypes.data)
        return program

    def join_with(self, probe: int, rows: pa.Table) -> None:
        """Exchange the rows that a probe joins with. Raises IndexError for an unknown probe."""
        sides, tables = list(self.joins.rows), list(self.joins.tables)
        sides[probe] = rows
        tables[probe] = join_table(self.pipeline.probes[probe], rows)
        self.joins.set(tables, sides)

    @property
    def join_tables(self) -> tuple[JoinTable, ...]:
        """The join tables that rows meet now, one for each probe."""
        return self.joins.tables

    @property
    def fingerprint(self) -> str:
        """The meaning of the words of groups: only equal ones may be exchanged."""
        return state_fingerprint(self.pipeline, self.grouping)

    @property
    def merge_steps(self) -> Words:
        """How tables are merged, int64[n, 3]."""
        return np.array(self.grouping.merge_steps, dtype=np.int64).reshape(-1, 3)

    def new_table(self) -> GroupTable:
        """Return an empty table for rows; without keys it has its one group."""
        return empty_table(self.grouping)

    @property
    def can_fail(self) -> bool:
        """True if `check` raises for some rows."""
        return self.kernel.can_fail

    def expression_text(self, index: int) -> str:
        """Return the SQL text of the expression with the index that a RowError carries."""
        return self.kernel.expression_text(index)

    def most_of_row(self, row: Morsel) -> StateSize | None:
        """Return the most that a row in its own memory can add; None where only folding tells."""
        copies = None if self.pipeline.probes or self.computed is not None else text_copies(self.grouping)
        return None if copies is None else StateSize(1, self.grouping.table.group_bytes + copies * row.heap.nbytes)

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
        """Fold rows into a table; return how many were skipped. Raises RowError.

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
                    make_room(table, needed_bytes(control), self.merge_steps)
                else:
                    table.grow_rows()
        control[ROWS_IN] += count
        return int(control[ROWS_SKIPPED]) - skipped_before

    def fold_of_row(self, row: Morsel) -> Callable[[GroupTable, int], None] | None:
        """Return a function that folds a checked row into a table, at now_us.

        The row lies in the same memory each time. None where `fold` has to be called.
        """
        kernel = self.kernel
        if kernel.uses_scratch:
            return None
        table, constants, arrays = self.new_table(), self.constants, kernel.arrays(row)
        words = (constants, table.control, table.slots, table.rows, *self.joins.arrays, *arrays)
        fold_row = kernel.function.entry_for(0, 1, True, 0, *words)
        joins = self.joins

        def fold(table: GroupTable, now_us: int) -> None:
            control, met = table.control, joins.arrays
            if fold_row(0, 1, True, now_us, constants, control, table.slots, table.rows, *met, *arrays) == 1:
                control[ROWS_IN] += 1
            else:
                # It needs room.
                self.fold(row, table, now_us)

        return fold

    def _can_go_on(self, control: Words, row: int, morsel: Morsel, now_us: int) -> bool:
        """Return what `CompiledKernel.can_go_on` returns. Raises RowError."""
        try:
            return self.kernel.can_go_on(control, row)
        except RowError as error:
            if self.computed is None or error.code != COMPUTED:
                raise
            raise self.computed.exact(error, self.expression_text(error.expression), morsel, now_us) from None

    def _call(
        self, morsel: Morsel, start: int, folding: bool, now_us: int, control: Words, slots: Words, rows: Words,
        arrays: tuple[Words, ...],
    ) -> int:  # fmt: skip
        """Run the kernel from row `start` on, and return the row at which it has stopped."""
        kernel = self.kernel
        table = (start, morsel.rows_count, folding, now_us, self.constants, control, slots, rows, *arrays)
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
