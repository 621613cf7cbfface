"""The groups of an upper pipeline that is kept by change, beside the groups of the view that they
are made of.

Enters: the rows of the finish step, of groups as they were and as they are. Leaves: the rows of the
upper pipeline. Nothing here is logged: after a restart, and whenever something was not noted, the
groups are made anew of all groups below, by the same kernels. Must not know cuts nor versions.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path

import pyarrow as pa

from ringbuffer.groups.hash_table import GroupTable
from ringbuffer.groups.merge import merge_tables
from ringbuffer.memory.columns import Morsel
from ringbuffer.memory.error_codes import RowError
from sql.errors import SqlError
from views.delta.signs import negate, without_dead
from views.delta.upper import DeltaPlan
from views.model.protocols import BY_CHANGE, MADE_ANEW, TableExport, UpperExecutor, VersionExecutor
from views.upkeep.above.changed_groups import Change, ChangedGroups
from views.upkeep.export.finish import CompiledStep
from views.upkeep.export.groups import read_groups
from views.upkeep.group_state import GroupState
from views.upkeep.join_tables import run_static_pipelines
from views.upkeep.kernels import CompiledKernel, KernelTools
from views.upkeep.partitions import ReadTable
from views.upkeep.program import StreamProgram

# More rows above the groups are Spark's work.
EMBEDDED_ROWS_MAX = 1 << 16
# Why groups are made anew.
UNKNOWN = "it is the first version, or that of other rows of the tables"
LOST = "too many groups have changed, or all were replaced"
# Returns the rows of the finish step of groups. Raises SqlError.
ReadRows = Callable[[ReadTable], Morsel]


class UpperGroups:
    """The groups, and the kernels that keep them.

    The reader that refreshes the view is the only one who calls.

    Attributes:
        noted: the changes below that are not in the groups yet; None: the groups are unknown.
        reason: why the last update was made in its way, for people.
        joined: the versions of the tables that rows are joined with.
    """

    def __init__(self, delta: DeltaPlan, kernels_dir: Path, tools: KernelTools) -> None:
        """Generate, compile and warm up the kernels. Raises SqlError 0A000 where none can
        evaluate.
        """
        self.delta = delta
        plan = delta.plan
        self._program = StreamProgram(plan.maintained, kernels_dir, tools=tools)
        self._merge_steps = self._program.merge_steps
        self._finish = CompiledStep(plan.finish, kernels_dir, tools.compile_text)
        self._tail = None if plan.tail is None else CompiledStep(plan.tail, kernels_dir, tools.compile_text)
        self._table = self._program.new_table()
        self.noted: ChangedGroups | None = None
        self.reason = ""
        self.joined: Mapping[str, Hashable] | None = None if delta.tables else {}

    def emptied(self) -> UpperGroups:
        """Return the same for other groups."""
        other = copy.copy(self)
        other.forget()
        return other

    def forget(self) -> None:
        """Give up the groups, which are made anew when they are asked for."""
        self._table, self.noted = self._program.new_table(), None

    @property
    def kernels(self) -> tuple[CompiledKernel, ...]:
        """The kernels of stream pipeline, finish step and tail, as far as there are any."""
        steps = [step.kernel for step in (self._finish, self._tail) if step is not None]
        return (self._program.kernel, *(kernel for kernel in steps if kernel is not None))

    @property
    def bytes_count(self) -> int:
        """Bytes of the groups, of the tables that they are joined with, and of what is noted."""
        noted = self.noted
        joined = sum(table.bytes_count for table in self._program.join_tables)
        return self._table.bytes_count + joined + (0 if noted is None else noted.bytes_count)

    @property
    def groups_count(self) -> int:
        """How many groups there are."""
        return self._table.groups_count

    def join(self, name: str, exports: Mapping[str, TableExport], executor: UpperExecutor) -> None:
        """Join rows with other tables from now on. Raises SqlError for what fails on their rows."""
        self.forget()
        joins = run_static_pipelines(name, self.delta.plan.maintained, exports, executor)
        self._program = self._program.joined_with(joins)
        self.joined = {table: exports[table].version for table in self.delta.tables}

    def update(self, below: GroupState, read_rows: ReadRows) -> str:
        """Bring the groups to the state of those below; return how: BY_CHANGE or MADE_ANEW.

        Raises SqlError where some row can't be evaluated; the groups are given up then.
        """
        noted, self.noted = self.noted, None
        how = BY_CHANGE
        with below.refresh_lock:
            if noted is None or below.changed is not noted:
                self.reason = UNKNOWN if noted is None else LOST
                noted, how = self._make_anew(below, read_rows), MADE_ANEW
            else:
                self.reason = f"{noted.groups_count:,} of {below.merged.groups_count:,} groups have changed"
            changes = noted.take()
        for change in changes:
            self._apply(change, read_rows)
        self._table = without_dead(self._table, self._program.grouping, self._merge_steps)
        self.noted = noted
        return how

    def _make_anew(self, below: GroupState, read_rows: ReadRows) -> ChangedGroups:
        """Make the groups of all groups below; return what notes changes from now on.

        The caller holds the refresh lock.
        """
        self.forget()
        below.changed = None
        for rows in below.merged.read(read_rows):
            self._fold(rows, self._table)
        below.changed = noted = ChangedGroups()
        return noted

    def _apply(self, change: Change, read_rows: ReadRows) -> None:
        removed = self._program.new_table()
        self._fold(read_rows(change.before), removed)
        negate(removed, self._program.grouping)
        merge_tables(self._table, removed, self._merge_steps)
        self._fold(read_rows(change.after), self._table)

    def _fold(self, rows: Morsel, table: GroupTable) -> None:
        try:
            self._program.fold(rows, table, 0)
        except RowError as error:
            context = f"expression {self._program.expression_text(error.expression)}"
            raise SqlError(error.sqlstate, error.message, context=context) from None

    def rows(self, token: Hashable, exports: Mapping[str, TableExport], executor: VersionExecutor) -> pa.Table:
        """Return the rows of the upper pipeline and the tail. Raises SqlError."""
        rows = self._finish.run(read_groups(self._table, self._program.grouping), 0)
        upper = self.delta.plan.upper
        if upper is not None:
            run = executor.run_embedded if rows.num_rows < EMBEDDED_ROWS_MAX else executor.run
            rows = run(token, upper.relation, {upper.groups: rows}, exports)
        return rows if self._tail is None else self._tail.run_table(rows, 0)
