"""Finish steps: the work on rows between two pipeline breakers.

Enters: rows as a morsel or as Arrow. Leaves: Arrow in the forms of the step's output. A step that
only picks columns needs no kernel.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ringbuffer.compile.kernel_compiler import compile_kernel
from ringbuffer.compile.loader import Compile
from ringbuffer.groups.hash_table import GroupTable, TableLayout
from ringbuffer.memory.columns import Morsel, empty_column
from ringbuffer.memory.error_codes import RowError
from sql.errors import SqlError
from sql.tree.expressions import Column
from sql.tree.relations import Schema
from views.codegen.finish_kernel import generate_finish_kernel
from views.model.nodes import FinishStep
from views.upkeep.export.to_arrow import from_arrow, morsel_layout, morsel_places, to_arrow
from views.upkeep.kernels import CompiledKernel, needed_bytes, own_arrays

# A table used only for its control block and its heap.
ARENA = TableLayout(key_words=1, entry_words=1, row_words=1, text_mask=0)


def array_places(schema: Schema) -> list[tuple[int, ...]]:
    """Return the places of each column's arrays in a morsel: data, nulls (as ~index), varying
    scales.
    """
    places: list[tuple[int, ...]] = []
    for column, place in zip(schema, morsel_places(schema), strict=True):
        places.append((place, ~place, place + 1) if column.type.is_variable_numeric else (place, ~place))
    return places


class CompiledStep:
    """One finish step of a view."""

    def __init__(self, step: FinishStep, kernels_dir: Path, compile_text: Compile = compile_kernel) -> None:
        """Generate and compile what the step needs. Raises SqlError 0A000."""
        self.step = step
        self._kernel: CompiledKernel | None = None
        if step.predicates or not all(isinstance(item, Column) for _, item in step.items):
            module = generate_finish_kernel(step)
            self._kernel = CompiledKernel(module, array_places(step.input), kernels_dir, compile_text)

    @property
    def kernel(self) -> CompiledKernel | None:
        """The kernel of the step, None if the step needs none."""
        return self._kernel

    def run_table(self, table: pa.Table, now_us: int) -> pa.Table:
        """Return the step's output for Arrow rows of its input."""
        return self.run(from_arrow(table, self.step.input), now_us)

    def run(self, morsel: Morsel, now_us: int) -> pa.Table:
        """Return the step's output for the rows of a morsel. Raises SqlError."""
        return to_arrow(self.rows(morsel, now_us), self.step.output)

    def rows(self, morsel: Morsel, now_us: int) -> Morsel:
        """Return the step's output as `run` does, as a morsel."""
        return self._pick(morsel) if self._kernel is None else self._compute(self._kernel, own_arrays(morsel), now_us)

    def _pick(self, morsel: Morsel) -> Morsel:
        """Return the columns that the items of the step name."""
        places = array_places(self.step.input)
        kept: list[int] = []
        for _, item in self.step.items:
            assert isinstance(item, Column)
            kept += [place for place in places[item.index] if place >= 0]
        return Morsel(
            morsel.rows_count, tuple(morsel.data[k] for k in kept), tuple(morsel.nulls[k] for k in kept), morsel.heap
        )

    def _compute(self, kernel: CompiledKernel, morsel: Morsel, now_us: int) -> Morsel:
        """Run the kernel over all rows."""
        count = morsel.rows_count
        layout = morsel_layout(self.step.output)
        data: list[npt.NDArray[Any]] = [empty_column(column.physical, count) for column in layout]
        nulls = [np.zeros(count, dtype=np.uint8) for _ in layout]
        results: list[npt.NDArray[Any]] = []
        for places in array_places(self.step.output):
            results += [data[place] if place >= 0 else nulls[~place] for place in places]
        arena = GroupTable(ARENA, rows_max=1)
        start = 0
        while True:
            arguments = (*kernel.arrays(morsel), *results)
            start = kernel.function(start, count, now_us, kernel.constants, arena.control, *arguments)
            if start == count:
                break
            try:
                if kernel.can_go_on(arena.control, start):
                    arena.grow_heap(needed_bytes(arena.control))
            except RowError as error:
                context = f"expression {kernel.expression_text(error.expression)}"
                raise SqlError(error.sqlstate, error.message, context=context) from None
        kept = arena.groups_count
        return Morsel(kept, tuple(array[:kept] for array in data), tuple(array[:kept] for array in nulls), arena.heap)
