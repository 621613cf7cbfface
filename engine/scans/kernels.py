"""The kernels of groupings over streams in statements, and the tables into which scans fold rows.

Enters: plans of groupings, join tables, morsels of a stream. Leaves: groups as Arrow. A kernel
takes about a second to compile, so it is kept for the next statement with the same grouping,
whatever constants and tables that has. Must not scan.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from engine.storage.errors import disk_error
from engine.storage.kernel_files import KernelFiles
from ringbuffer.compile.loader import KernelFileError
from ringbuffer.groups.hash_table import GroupTable
from ringbuffer.groups.join_table import JoinTable
from ringbuffer.memory.columns import Morsel
from ringbuffer.memory.error_codes import RowError
from sql.errors import SqlError
from views.model.plan import Plan
from views.plan.stream_grouping import StreamGrouping
from views.upkeep.join_tables import Joins
from views.upkeep.kernels import KernelTools
from views.upkeep.program import StreamProgram
from views.upkeep.state import ViewState

KERNELS_KEPT_MAX = 64


class StreamKernels:
    """The compiled plans. files: in a folder of their own. Any thread may call."""

    def __init__(self, files: KernelFiles) -> None:
        self._files = files
        self._lock = threading.Lock()
        self._states: OrderedDict[Plan, ViewState] = OrderedDict()

    def clear(self) -> None:
        """Delete the files that an earlier server has left, before the first statement."""
        self._files.remove_unused(())

    def state(self, plan: Plan, check_cancelled: Callable[[], None]) -> ViewState:
        """Return the kernels of a plan, as a state whose tables are not used.

        Raises SqlError 53100, 58030, those of a compilation that is too large, and what
        `check_cancelled` raises.
        """
        found = self._kept(plan)
        if found is not None:
            return found
        files = self._files.checked_by(check_cancelled)
        try:
            # Two that ask for the same at the same time compile it twice: who waited for the
            # other's would wait for its cancellation, too.
            state = ViewState(plan, files.folder, tools=KernelTools(files.compile_text))
        except KernelFileError as error:
            raise disk_error(error.error, "write a kernel") from error
        with self._lock:
            self._states[plan] = state
            if len(self._states) > KERNELS_KEPT_MAX:
                self._states.popitem(last=False)
                self._files.remove_unused(path for kept in self._states.values() for path in kept.kernel_paths)
        return state

    def _kept(self, plan: Plan) -> ViewState | None:
        with self._lock:
            state = self._states.get(plan)
            if state is not None:
                self._states.move_to_end(plan)
            return state


@dataclass
class GroupingTable:
    """A grouping of one statement during its scan: the kernels, and the groups so far."""

    grouping: StreamGrouping
    state: ViewState
    program: StreamProgram
    table: GroupTable

    @property
    def stream_name(self) -> str:
        """The stream whose rows the grouping takes."""
        return self.grouping.plan.stream.stream

    def fold(self, morsel: Morsel, now_us: int) -> None:
        """Fold rows of the stream, with all its columns.

        Raises SqlError for a row that can't be evaluated.
        """
        try:
            self.program.fold(morsel, self.table, now_us)
        except RowError as error:
            raise SqlError(error.sqlstate, error.message) from None

    def rows(self, now_us: int) -> pa.Table:
        """Return the groups. Raises SqlError for a sum that is out of range."""
        return self.state.rows_of(self.table, now_us)


def new_tables(
    groupings: list[StreamGrouping],
    join_tables: Mapping[str, tuple[JoinTable, ...]],
    kernels: StreamKernels,
    check_cancelled: Callable[[], None],
) -> list[GroupingTable]:
    """Return an empty table for each grouping, with compiled kernels.

    Raises as `StreamKernels.state`.

    join_tables: those of each grouping, by its name.
    """
    tables = []
    for grouping in groupings:
        plan, parameters = grouping.for_kernels()
        state = kernels.state(plan, check_cancelled)
        program = state.program.joined_with(Joins(join_tables[grouping.name]), parameters)
        tables.append(GroupingTable(grouping, state, program, program.new_table()))
    return tables
