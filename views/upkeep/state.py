"""The state of a continuous view: its program, its group tables, and what is read of them.

Enters: rows that are committed. Leaves: the groups as Arrow. `apply` takes the short lock of a
buffer; exports take the refresh lock; `load` takes both. Must not know transactions, streams or
Spark.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow as pa

from ringbuffer.groups.hash_table import GroupTable
from ringbuffer.memory.columns import Morsel
from ringbuffer.pages.pages import Page
from sql.tree.relations import OutputColumn
from views.codegen.state_size import keeps_texts
from views.model.nodes import FinishStep
from views.model.plan import Plan
from views.plan.deferred import unmade_schema
from views.share.passing import Passing
from views.share.reuse import covered_grouping
from views.upkeep.above.upper_groups import UpperGroups
from views.upkeep.commit_buffers import TABLES_WAITING_MAX, CommitBuffer, Watermark
from views.upkeep.export.finish import CompiledStep
from views.upkeep.export.groups import read_groups, read_made_groups
from views.upkeep.export.state_values import states_of_table
from views.upkeep.export.to_arrow import to_arrow
from views.upkeep.group_state import GroupState
from views.upkeep.join_tables import joined, rows_from_bytes, without_joins
from views.upkeep.kernels import TOOLS, CompiledKernel, KernelTools
from views.upkeep.older_states import StoredForm, stored_form
from views.upkeep.partitions import KeyPlace, ReadTable
from views.upkeep.program import StreamProgram
from views.upkeep.state_pages import load_tables

# Groups are kept so much longer, for transactions that have begun before.
GRACE_US = 60_000_000


class ViewState:
    """The compiled pipelines of one view, and its groups.

    Attributes:
        program: the stream pipeline, which equal ones share.
        upper: the groups of the upper pipeline, where it is kept by change.
        groups: the group tables, which the states that go on with them have as well.
        inherits: the state whose groups this one begins with, at its commit.
        is_filled: it begins with groups.
        completes: called at the commit with which it begins, while no other one goes on.
        added: groups of which it begins with besides.
    """

    def __init__(
        self,
        plan: Plan,
        kernels_dir: Path,
        program: StreamProgram | None = None,
        groups: GroupState | None = None,
        tools: KernelTools = TOOLS,
    ) -> None:
        """Generate, compile and warm up the kernels. Raises SqlError 0A000 where none can evaluate.

        Arguments:
            program: of `plan.maintained`; None: a new one, whose join tables the caller adds.
            groups: that this state goes on with; None: no row has come.
        """
        self.plan = plan
        self.program = program or StreamProgram(plan.maintained, kernels_dir, tools=tools)
        grouping = self.program.grouping
        self._shown = grouping if plan.kept is None else covered_grouping(grouping, plan.stream)
        self._finish = CompiledStep(plan.finish, kernels_dir, tools.compile_text)
        self._tail = None if plan.tail is None else CompiledStep(plan.tail, kernels_dir, tools.compile_text)
        self.upper: UpperGroups | None = None
        self.groups = groups or self._no_groups(TABLES_WAITING_MAX)
        self.inherits: ViewState | None = None
        self.is_filled = False
        self.completes: Callable[[], None] | None = None
        self.added: tuple[GroupTable, ...] = ()

    def emptied(self) -> ViewState:
        """Return a state with the same program, and no rows."""
        state = copy.copy(self)
        state.groups = self._no_groups(self.groups.queue_max)
        state.inherits, state.is_filled, state.completes, state.added = None, False, None, ()
        state.upper = None if self.upper is None else self.upper.emptied()
        return state

    def enriched(self, table: GroupTable) -> ViewState:
        """Return a state with the same program, which begins with the groups of this one and of a
        table.
        """
        state = self.emptied()
        state.inherits, state.added = self, (table,)
        return state

    def _no_groups(self, queue_max: int) -> GroupState:
        """Return the group tables of a view that has seen no row."""
        program, closing = self.program, self.plan.maintained.closing
        buffer = CommitBuffer(program.new_table, program.merge_steps, queue_max, program.grouping.is_ordered)
        groups = GroupState(buffer, keys_only=not keeps_texts(program.grouping))
        groups.watermark = None if closing is None else Watermark(closing, program.grouping)
        return groups

    def inherit(self, commit_lock: AbstractContextManager[object]) -> None:
        """Take the groups as they are now of the state that this one takes the place of, with
        nothing in what it has not counted.

        No rows are committed meanwhile, or they are of no account.
        """
        if self.inherits is None:
            return
        self.inherits.inherit(commit_lock)
        form = StoredForm(self.inherits.program.grouping, self.program.grouping)
        partitions = self.groups.new_partitions()
        with self.inherits.groups.contents(commit_lock) as (merged, unmerged):
            partitions.import_(form.converted(table, copies=True) for table in merged)
            for table in unmerged:
                partitions.merge(form.converted(table))
        for table in self.added:
            partitions.merge(table)
        self.groups.replace(partitions)
        self.groups.passed_us = self.inherits.groups.passed_us
        self.is_filled = True

    @property
    def kernel_paths(self) -> tuple[Path, ...]:
        """The generated files: of the stream kernel, then of finish step and tail if they have
        one, and of an upper pipeline that is kept by change.
        """
        return tuple(kernel.path for kernel in self.kernels)

    @property
    def kernels(self) -> tuple[CompiledKernel, ...]:
        """The kernels of `kernel_paths`."""
        steps = [step.kernel for step in (self._finish, self._tail) if step is not None]
        above = () if self.upper is None else self.upper.kernels
        return (self.program.kernel, *(kernel for kernel in steps if kernel is not None), *above)

    @property
    def bytes_count(self) -> int:
        """Bytes of the groups, merged or not, of the join tables, and of the groups above."""
        above = 0 if self.upper is None else self.upper.bytes_count
        return self.groups.bytes_count + sum(table.bytes_count for table in self.program.join_tables) + above

    def apply(self, morsel: Morsel, now_us: int) -> None:
        """Fold the rows of a checked morsel into the local table.

        Where columns are computed, the caller has had them computed by `extended` if it holds a
        lock.
        """
        morsel = self.program.extended(morsel, now_us)
        if self.groups.watermark is not None:
            table = self.program.new_table()
            self.program.fold(morsel, table, now_us)
            self.groups.absorb(table)
            return
        buffer = self.groups.taking()
        with buffer.lock:
            self.program.fold(morsel, buffer.local, now_us)

    def row_fold(self, row: Morsel) -> Callable[[int], None]:
        """Return a function of now_us that folds a checked row as `apply` does.

        The row lies in the same memory each time.
        """
        fold_row = self.program.fold_of_row(row)
        if fold_row is None or self.groups.watermark is not None:
            return partial(self.apply, row)
        groups = self.groups

        def fold(now_us: int) -> None:
            # As `taking`, for each row.
            shared = groups.shared
            if shared is None:
                buffer = groups.buffer
            else:
                buffer, shared.is_new = shared, True
            with buffer.lock:
                fold_row(buffer.local, now_us)

        return fold

    def export(self, now_us: int) -> pa.Table:
        """Return the rows of the finish step in arrow_schema(finish.output), and change nothing.

        Raises SqlError, for instance 22003 of a sum.
        """
        with self.groups.refresh_lock:
            return pa.concat_tables(self.groups.merged.read(lambda table: self.rows_of(table, now_us)))

    def keys_and_states(self, commit_lock: AbstractContextManager[object]) -> pa.Table:
        """Return the keys of all groups and the state of each, as they are now: arrow_schema of
        the keys, then `binary`.
        """
        merged = self.groups.new_partitions()
        with self.groups.contents(commit_lock) as (tables, unmerged):
            merged.import_(table.copy() for table in tables)
            for table in unmerged:
                merged.merge(table)
        grouping = replace(self.program.grouping, aggregates=())
        keys = tuple(OutputColumn(f"key{number}", key.type) for number, key in enumerate(grouping.keys))
        found = []
        for table in merged.tables:
            states = states_of_table(table, self.program)
            shown = to_arrow(read_groups(table, grouping), keys).columns if keys else []
            names = [*(key.name for key in keys), "state"]
            found.append(pa.Table.from_arrays([*shown, states], names=names))
        return pa.concat_tables(found)

    def export_groups(self) -> tuple[pa.Table, list[int]]:
        """Return the groups, where `export` fails, and the columns of aggregates that are out of
        range.

        The table is in arrow_schema(unmade_schema(finish.input, these columns)). Raises SqlError
        where almost all groups have such an aggregate.
        """
        with self.groups.refresh_lock:
            tables = [self._shown_of(table) for table in self.groups.merged.tables]
            morsels, unmade = read_made_groups(tables, self._shown)
            schema = unmade_schema(self.plan.finish.input, unmade)
            return pa.concat_tables([to_arrow(morsel, schema) for morsel in morsels]), unmade

    def rows_of(self, table: ReadTable, now_us: int) -> pa.Table:
        """Return the finish step's rows of a table, in arrow_schema(finish.output).

        Raises SqlError, for instance 22003 of a sum.
        """
        return self._finish.run(read_groups(self._shown_of(table), self._shown), now_us)

    def _shown_of(self, table: ReadTable) -> ReadTable:
        """Return the groups of merged tables that are shown."""
        watermark = self.groups.watermark
        return table if watermark is None else watermark.shown(table)

    def finished(self, table: ReadTable) -> Morsel:
        """Return the finish step's rows of a table, where the step does not use now().

        Raises SqlError.
        """
        return self._finish.rows(read_groups(table, self._shown), 0)

    def forget_passed(self, passing: Passing, now_us: int) -> None:
        """Give up the groups that have passed, if that is due."""
        slot = self._shown.keys[passing.key]
        place = KeyPlace(slot.word, slot.null_bit)
        self.groups.forget_passed(place, passing.oldest(now_us - GRACE_US), now_us - GRACE_US)

    def finish_tail(self, table: pa.Table, step: FinishStep) -> pa.Table:
        """Run the tail step on the rows that the upper executor has returned. Raises SqlError."""
        assert self._tail is not None and step == self.plan.tail
        return self._tail.run_table(table, 0)

    def stored_form(self, fingerprint: str) -> StoredForm | None:
        """Return the form of pages with a fingerprint, None: they are of another state."""
        return stored_form(self.program.pipeline, self.program.grouping, fingerprint)

    def load(self, pages: Iterable[Page], form: StoredForm) -> None:
        """Replace all groups by those of the pages of a state.

        form: of the pages, see `stored_form`. Raises ValueError, and changes nothing then.
        """
        program = self.program
        kept: dict[int, bytes] = {}
        stored = load_tables(form.grouping.table, without_joins(pages, kept))
        partitions = self.groups.new_partitions()
        partitions.import_(form.converted(table) for table in stored)
        probes = program.pipeline.probes
        if len(kept) == len(probes) > 0:
            rows = [rows_from_bytes(kept[number], probe) for number, probe in enumerate(probes)]
            program.joins.set(joined(program.pipeline, rows), rows)
        self.groups.replace(partitions)
