"""Reads of a continuous view by key: some groups, as they are after the last commit.

Enters: the keys of groups, as a morsel. Leaves: the rows of the view. Nothing is cut, merged or
kept, so that commits and refreshes go on. Must not know sessions, nor wait for the commit lock
while another lock is held.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from ringbuffer.groups.hash_table import GroupTable
from ringbuffer.memory.arrow import morsel_from_arrow
from ringbuffer.memory.columns import Morsel
from sql.tree.expressions import Column
from sql.tree.relations import OutputColumn, Schema
from sql.types.datatypes import SqlType
from views.model.arrow_schema import stored_layout
from views.model.nodes import StreamPipeline
from views.model.plan import Plan
from views.upkeep.kernels import KernelTools
from views.upkeep.program import StreamProgram
from views.upkeep.view import ContinuousView

# Of the kernels' files.
NAME = "keys"
# How long a reader waits for a merge before it asks whether it was cancelled.
MERGE_WAIT_S = 0.05


@dataclass(frozen=True)
class KeyColumns:
    """The columns of a view that show the keys of its groups.

    Attributes:
        types: of all keys, in their order.
        places: the column of the view that shows each key.
    """

    types: tuple[SqlType, ...]
    places: tuple[int, ...]


def key_columns(view: ContinuousView) -> KeyColumns | None:
    """Return where a view shows its keys, None where its rows can't be told from single groups.

    That is so where a key is not shown, where something stands above the groups but row-wise work,
    and where that work depends on the time.
    """
    plan = view.plan
    if not is_row_wise(plan) or view.time_dependent or not plan.stream.keys:
        return None
    shown = {
        item.index: place for place, (_, item) in reversed([*enumerate(plan.finish.items)]) if isinstance(item, Column)
    }
    count = len(plan.stream.keys)
    if not shown.keys() >= set(range(count)):
        return None
    types = tuple(column.type for column in plan.finish.input[:count])
    return KeyColumns(types, tuple(shown[key] for key in range(count)))


def is_row_wise(plan: Plan) -> bool:
    """Tell whether a row of the view is made of one group."""
    return plan.upper is None and plan.tail is None and plan.kept is None


class KeyProgram:
    """A compiled pipeline that makes the words of keys, for all groupings with keys of its types.

    Attributes:
        schema: the columns of the rows of keys.
        layout: of these rows in a morsel, as a stream has them.
    """

    def __init__(self, types: tuple[SqlType, ...], kernels_dir: Path, tools: KernelTools) -> None:
        """Generate and compile the kernel. Raises as `StreamProgram`."""
        self.schema: Schema = tuple(OutputColumn(f"k{place}", kind) for place, kind in enumerate(types))
        self.layout = stored_layout(self.schema)
        keys = tuple((column.name, Column(place, column.name, column.type)) for place, column in enumerate(self.schema))
        self.program = StreamProgram(
            StreamPipeline("", self.schema, (), keys, (), self.schema), kernels_dir, tools=tools
        )

    def of_table(self, keys: pa.Table) -> GroupTable:
        """Return different keys of a table in the forms of arrow_schema(schema)."""
        return self.of_rows(morsel_from_arrow(keys, self.layout))

    def of_rows(self, keys: Morsel) -> GroupTable:
        """Return different keys as a table of groups."""
        table = self.program.new_table()
        self.program.fold(keys, table, 0)
        return table


def found_rows(
    view: ContinuousView,
    keys: GroupTable,
    now_us: int,
    commit_lock: threading.Lock,
    check_cancelled: Callable[[], None] | None,
) -> pa.Table | None:
    """Return the rows of the view whose groups have one of the keys, after the last commit.

    check_cancelled: of a reader that waits for a merge; None: the reader does not wait, and gets
    None. Raises SqlError for a group that can't be evaluated.
    """
    state = view.state
    while True:
        with commit_lock:
            found = state.groups.find(keys)
            view.upkeep.point_reads += found is not None
        if found is not None:
            return state.rows_of(found, now_us).rename_columns([column.name for column in view.schema])
        if check_cancelled is None:
            return None
        check_cancelled()
        if state.groups.refresh_lock.acquire(timeout=MERGE_WAIT_S):
            state.groups.refresh_lock.release()
