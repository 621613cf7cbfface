"""A compiled kernel with its surroundings: constants, a scratch heap per thread, the SQL of its
expressions.

Enters: a generated module. Leaves: a callable that picks the arrays of a morsel and goes on after
every stop that only asked for room.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.kernel_compiler import compile_kernel
from ringbuffer.compile.loader import Compile, load_kernel
from ringbuffer.groups.hash_table import ERROR, EXPRESSION, HEAP_NEEDED, Words
from ringbuffer.memory.columns import Morsel
from ringbuffer.memory.error_codes import OK, SCRATCH_FULL, RowError
from ringbuffer.scalar.texts.text_functions import ScratchHeap
from sql.tree.expressions import Literal as Constant
from views.codegen.modules import GeneratedModule
from views.codegen.parameters import block_of
from views.model.protocols import NO_EVALUATOR, RowEvaluator

Array = npt.NDArray[Any]
WRITABLE: tuple[Literal["C", "W", "A"], ...] = ("C", "W", "A")
# The place of the last column of a morsel, whatever comes before it; LAST - 1 is that of the column
# before.
LAST = 1 << 30
FIRST_FROM_END = LAST >> 1


@dataclass(frozen=True)
class KernelTools:
    """The tools that kernels are made with.

    Attributes:
        compile_text: compiles kernels that are not in their folder yet.
        evaluator: computes, before a kernel, what no kernel evaluates.
    """

    compile_text: Compile = compile_kernel
    evaluator: RowEvaluator = NO_EVALUATOR


TOOLS = KernelTools()


class CompiledKernel:
    """A kernel whose last arguments are columns.

    Attributes:
        places: the places in a morsel of the arrays of each column.
        can_fail: true if an expression of the kernel may fail for some row.
    """

    def __init__(
        self, module: GeneratedModule, places: list[tuple[int, ...]], folder: Path, compile_text: Compile
    ) -> None:
        self._module = module
        used = [place for column in module.columns for place in places[column]]
        self._places = tuple((place < 0, index_of(~place if place < 0 else place)) for place in used)
        self._long_texts = np.frombuffer(module.long_texts + b"\0", dtype=np.uint8)
        self.constants = int(self._long_texts.ctypes.data)
        self.can_fail = bool(module.expressions)
        self._thread = threading.local()
        self.function, self.path = load_kernel(
            folder, module.name, module.text, module.function, module.types, compile_text
        )

    def expression_text(self, index: int) -> str:
        """Return the SQL of the expression whose number the kernel has reported."""
        return self._module.expressions[index]

    def constants_with(self, parameters: Sequence[Constant]) -> npt.NDArray[np.uint8]:
        """Return a block like `constants` with the values of the parameters.

        The kernel's caller keeps it.
        """
        return np.frombuffer(block_of(self._module.long_texts, parameters) + b"\0", dtype=np.uint8)

    @property
    def uses_scratch(self) -> bool:
        """Tell whether the kernel has a scratch heap, which is another one in each thread and after
        it grows.
        """
        return self._module.uses_scratch

    def arrays(self, morsel: Morsel) -> list[Array]:
        """Return the last arguments of the kernel except the results.

        These are the scratch heap, the heap and the columns, as far as the kernel uses them.
        """
        found: list[Array] = []
        if self._module.uses_scratch:
            found.append(self._scratch().words)
        if self._module.uses_heap:
            found.append(morsel.heap)
        data, nulls = morsel.data, morsel.nulls
        for is_null, index in self._places:
            found.append(nulls[index] if is_null else data[index])
        return found

    def can_go_on(self, control: Words, row: int) -> bool:
        """Return whether a kernel that has stopped at `row` only needs more room in its output.

        Makes room in the scratch heap. Raises RowError when the row can't be evaluated.
        """
        error = int(control[ERROR])
        if error == OK:
            return True
        control[ERROR] = OK
        if error != SCRATCH_FULL:
            raise RowError(error, row, expression=int(control[EXPRESSION]))
        self._scratch().grow()
        return False

    def _scratch(self) -> ScratchHeap:
        heap: ScratchHeap | None = getattr(self._thread, "heap", None)
        if heap is None:
            heap = self._thread.heap = ScratchHeap()
        return heap


def index_of(place: int) -> int:
    """Return the index of a place in the columns of a morsel; it is negative from the end."""
    return place - LAST - 1 if place > FIRST_FROM_END else place


def needed_bytes(control: Words) -> int:
    """Return the heap bytes needed by the row at which a kernel has stopped; 0: more rows are
    needed.
    """
    return int(control[HEAP_NEEDED])


def own_arrays(morsel: Morsel) -> Morsel:
    """Return a morsel whose arrays are contiguous and writable, which is the only form that kernels
    are compiled for.
    """
    return Morsel(
        morsel.rows_count,
        tuple(np.require(array, requirements=WRITABLE) for array in morsel.data),
        tuple(np.require(array, requirements=WRITABLE) for array in morsel.nulls),
        np.require(morsel.heap, requirements=WRITABLE),
    )
