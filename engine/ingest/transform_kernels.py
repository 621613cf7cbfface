"""The kernel of a transform: the rows that pass its conditions, and those of their values that
kernels compute, as a finish step does both.

Enters: conditions and values over the rows of a stream. Leaves: the part of them that is one
kernel; None where kernels evaluate no condition, or nothing at all. Must not know streams' names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.storage.kernel_files import KernelFiles
from ringbuffer.memory.columns import Morsel, PhysicalType
from ringbuffer.memory.strings import shift_strings
from sql.errors import SqlError
from sql.tree.expressions import Column, Expression
from sql.tree.relations import OutputColumn, Schema
from sql.types.datatypes import INT8
from views.codegen.finish_kernel import generate_finish_kernel
from views.model.nodes import FinishStep
from views.model.steps import make_step
from views.model.trees import columns_of, rewrite
from views.upkeep.export.finish import CompiledStep

ROW = OutputColumn("row", INT8)


@dataclass(frozen=True)
class KernelPart:
    """The part of a transform that a kernel does.

    Attributes:
        step: over some columns of the stream and the numbers of its rows, which it yields first.
        read: the indexes of these columns.
        items: the numbers of the values that it yields.
    """

    step: FinishStep
    read: tuple[int, ...]
    items: tuple[int, ...]


def kernel_part(
    conditions: Sequence[Expression], items: Sequence[tuple[int, Expression]], rows: Schema
) -> KernelPart | None:
    """Return what a kernel does of conditions and values. rows: what they address."""
    if step_of(conditions, (), rows) is None:
        return None
    chosen = [(number, item) for number, item in items if step_of((), (item,), rows) is not None]
    if not conditions and not chosen:
        return None
    found = step_of(conditions, [item for _, item in chosen], rows)
    return None if found is None else KernelPart(*found, tuple(number for number, _ in chosen))


def step_of(
    conditions: Sequence[Expression], items: Sequence[Expression], rows: Schema
) -> tuple[FinishStep, tuple[int, ...]] | None:
    """Return the step with the columns that it reads, None where no kernel evaluates it."""
    every = (*conditions, *items)
    read = tuple(sorted({index for part in every for index in columns_of(part)}))
    kinds = (*(rows[index].type for index in read), *(item.type for item in items))
    # Streams keep these as texts.
    if any(kind.is_variable_numeric for kind in kinds):
        return None

    def moved(part: Expression) -> Expression | None:
        return replace(part, index=read.index(part.index)) if isinstance(part, Column) else None

    here = [rewrite(part, moved) for part in every]
    values = [(f"c{number}", part) for number, part in enumerate(here[len(conditions) :])]
    schema = (*(OutputColumn(f"i{place}", rows[index].type) for place, index in enumerate(read)), ROW)
    step = make_step(schema, here[: len(conditions)], [(ROW.name, Column(len(read), ROW.name, INT8)), *values])
    try:
        generate_finish_kernel(step)
    except SqlError as error:
        if error.sqlstate not in ("0A000", "54001"):
            raise
        return None
    return step, read


class TransformKernel:
    """A compiled `KernelPart`.

    Arguments:
        places: of the stream's columns in a morsel.
    """

    def __init__(self, part: KernelPart, places: Sequence[int], files: KernelFiles) -> None:
        """Raises what `files` raises."""
        self.part = part
        self._places = [places[index] for index in part.read]
        self._step = CompiledStep(part.step, files.folder, files.compile_text)

    @property
    def paths(self) -> list[Path]:
        """The file of the kernel."""
        return [] if self._step.kernel is None else [self._step.kernel.path]

    def run(self, morsel: Morsel, now_us: int) -> tuple[npt.NDArray[np.int64], Morsel]:
        """Return the numbers of the rows that pass, and values of these rows. Raises SqlError."""
        numbers, none = np.arange(morsel.rows_count), np.zeros(morsel.rows_count, dtype=np.uint8)
        data = (*(morsel.data[place] for place in self._places), numbers)
        nulls = (*(morsel.nulls[place] for place in self._places), none)
        made = self._step.rows(Morsel(morsel.rows_count, data, nulls, morsel.heap), now_us)
        return made.data[0].astype(np.int64, copy=False), replace(made, data=made.data[1:], nulls=made.nulls[1:])


def beside(rows: Morsel, made: Morsel, kinds: Sequence[PhysicalType]) -> Morsel:
    """Return rows with more columns of the same rows at their end. kinds: of these columns."""
    if not any(kind == PhysicalType.TEXT for kind in kinds) or not len(made.heap):
        return Morsel(rows.rows_count, (*rows.data, *made.data), (*rows.nulls, *made.nulls), rows.heap)
    for kind, words in zip(kinds, made.data, strict=True):
        if kind == PhysicalType.TEXT:
            shift_strings(words, len(rows.heap))
    heap = np.concatenate([rows.heap, made.heap])
    return Morsel(rows.rows_count, (*rows.data, *made.data), (*rows.nulls, *made.nulls), heap)


def taken(morsel: Morsel, kept: npt.NDArray[np.int64]) -> Morsel:
    """Return some rows of a morsel."""
    if len(kept) == morsel.rows_count:
        return morsel
    data, nulls = tuple(array[kept] for array in morsel.data), tuple(array[kept] for array in morsel.nulls)
    return Morsel(len(kept), data, nulls, morsel.heap)
