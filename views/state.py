"""The state of a continuous view: its local table, which commits write, and its global table, which refreshes read.

Enters: morsels of the view's stream. Leaves: the groups as Arrow. `check` and `fold` touch nothing shared and run on any thread; `apply`,
`absorb` and `swap` take the short lock; `merge`, `export` and `reset` the refresh lock. Must not know transactions, streams or Spark.
"""

from __future__ import annotations

import threading
from pathlib import Path

import pyarrow as pa

from ringbuffer.columns import Morsel
from ringbuffer.hash_table import GroupTable, TableLayout
from views.plan.nodes import FinishStep, ViewPlan


class ViewState:
    """The compiled pipelines of one view, and its groups."""

    def __init__(self, name: str, plan: ViewPlan, kernels_dir: Path) -> None:
        """Generate, compile and warm up the kernels. Raises SqlError 0A000 for what a kernel can't evaluate yet."""
        self.name = name
        self.plan = plan
        self.kernel_path = kernels_dir / name
        self._layout = TableLayout(1, 1, 2, 0)
        self._lock = threading.Lock()
        self._refresh_lock = threading.Lock()
        self._local = self.new_table()
        self._global = self.new_table()
        self.rows_in_count = 0
        self.rows_passed_count = 0
        self.rows_skipped_count = 0

    @property
    def groups_count(self) -> int:
        """Groups that are merged."""
        return self._global.groups_count

    @property
    def bytes_count(self) -> int:
        """Bytes of memory in both tables."""
        return self._global.bytes_count + self._local.bytes_count

    def new_table(self) -> GroupTable:
        """Return an empty table for one statement's rows."""
        return GroupTable(self._layout)

    def check(self, morsel: Morsel, now_us: int) -> None:
        """Evaluate all row expressions and touch nothing. Raises RowError."""
        raise NotImplementedError

    def fold(self, morsel: Morsel, table: GroupTable, now_us: int) -> int:
        """Fold the rows into a statement's own table; return the rows skipped (on_error = skip). Raises RowError."""
        raise NotImplementedError

    def apply(self, morsel: Morsel, now_us: int) -> None:
        """Fold the rows of a checked morsel into the local table."""
        raise NotImplementedError

    def absorb(self, table: GroupTable) -> None:
        """Merge a statement's table into the local table; it never fails on data."""
        raise NotImplementedError

    def swap(self) -> GroupTable:
        """Return the local table and go on with an empty one."""
        raise NotImplementedError

    def merge(self, table: GroupTable) -> None:
        """Merge a swapped table into the global table; it never fails on data."""
        raise NotImplementedError

    def export(self, now_us: int) -> pa.Table:
        """Return the rows of the finish step in arrow_schema(finish.output). Raises SqlError (22003 of a sum) and changes nothing."""
        raise NotImplementedError

    def finish_tail(self, table: pa.Table, step: FinishStep) -> pa.Table:
        """Run the tail step on what the upper executor returned. Raises SqlError."""
        raise NotImplementedError

    def reset(self) -> None:
        """Forget all rows."""
        raise NotImplementedError

    def expression_text(self, index: int) -> str:
        """Return the SQL text of the expression with the index that a RowError carries."""
        raise NotImplementedError
