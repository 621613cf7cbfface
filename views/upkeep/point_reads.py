"""Reads of a continuous view by key: some groups, as they are after the last commit.

Enters: the keys of groups, as a morsel. Leaves: the rows of the view. Nothing is cut, merged or
kept, so that commits and refreshes go on. Must not know sessions, nor wait for the commit lock
while another lock is held.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from ringbuffer.encode.output_forms import Forms
from ringbuffer.groups.hash_table import HEAP_USED, ROWS_COUNT, GroupTable
from ringbuffer.memory.arrow import morsel_from_arrow
from ringbuffer.memory.columns import INLINE_BYTES_MAX, Morsel, empty_column
from sql.tree.expressions import Column
from sql.tree.relations import OutputColumn, Schema
from sql.types.datatypes import SqlType
from views.codegen.values import INTEGERS, TEXTS
from views.model.arrow_schema import stored_layout
from views.model.nodes import StreamPipeline
from views.model.plan import Plan
from views.upkeep.chain import Chain
from views.upkeep.export.one_group import Field, HeldUpError, UnreadableError, field, warm_up_averages
from views.upkeep.kernels import KernelTools
from views.upkeep.program import StreamProgram

# Of the kernels' files.
NAME = "keys"
# How long a reader waits for a merge before it asks whether it was cancelled.
MERGE_WAIT_S = 0.05
# The long texts of a key that is set without Arrow.
KEY_BYTES_MAX = 1024
# The texts and lists of groups that a reader copies who does not wait.
FOUND_BYTES_MAX = 1 << 18


@dataclass(frozen=True)
class KeyColumns:
    """The columns of a view that show the keys of its groups.

    Attributes:
        types: of all keys, in their order.
        places: the column of the view that shows each key.
    """

    types: tuple[SqlType, ...]
    places: tuple[int, ...]


def key_columns(chain: Chain) -> KeyColumns | None:
    """Return where a view shows its keys, None where its rows can't be told from single groups.

    That is so where a key is not shown, where something stands above the groups but row-wise work,
    and where that work depends on the time.
    """
    plan = chain.plan
    if not is_row_wise(plan) or chain.time_dependent or not plan.stream.keys:
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
        """Generate and compile the kernel, and load what `QuickRead` needs. Raises as
        `StreamProgram`.
        """
        self.schema: Schema = tuple(OutputColumn(f"k{place}", kind) for place, kind in enumerate(types))
        self.layout = stored_layout(self.schema)
        keys = tuple((column.name, Column(place, column.name, column.type)) for place, column in enumerate(self.schema))
        self.program = StreamProgram(
            StreamPipeline("", self.schema, (), keys, (), self.schema), kernels_dir, tools=tools
        )
        warm_up_averages()

    def of_table(self, keys: pa.Table) -> GroupTable:
        """Return different keys of a table in the forms of arrow_schema(schema)."""
        return self.of_rows(morsel_from_arrow(keys, self.layout))

    def of_rows(self, keys: Morsel) -> GroupTable:
        """Return different keys as a table of groups."""
        table = self.program.new_table()
        self.program.fold(keys, table, 0)
        return table


class OneKey:
    """The words of one key after the other, on one thread, without Arrow."""

    def __init__(self, program: KeyProgram) -> None:
        """Raises UnreadableError for keys that need the general way."""
        if not all(is_quick(column.type) for column in program.schema):
            raise UnreadableError
        data = tuple(empty_column(column.physical, 1) for column in program.layout)
        nulls = tuple(np.zeros(1, dtype=np.uint8) for _ in data)
        self._key = Morsel(1, data, nulls, np.zeros(KEY_BYTES_MAX, dtype=np.uint8))
        self._keys = program.program.new_table()
        fold = program.program.fold_of_row(self._key)
        if fold is None:
            raise UnreadableError
        self._fold = fold

    def table(self, key: Sequence[int | bytes]) -> GroupTable:
        """Return a table that has the key as its only group, until the next one is made.

        Raises UnreadableError for longer texts than there is room for.
        """
        used = 0
        for value, words in zip(key, self._key.data, strict=True):
            if isinstance(value, int):
                words[0] = value
                continue
            length = len(value)
            if length <= INLINE_BYTES_MAX:
                words[0] = np.frombuffer(length.to_bytes(4, "little") + value.ljust(INLINE_BYTES_MAX, b"\0"), np.int64)
                continue
            if used + length > KEY_BYTES_MAX:
                raise UnreadableError
            words[0] = length | int.from_bytes(value[:4], "little", signed=True) << 32, used
            self._key.heap[used : used + length] = np.frombuffer(value, np.uint8)
            used += length
        empty(self._keys)
        self._fold(self._keys, 0)
        return self._keys


class QuickRead:
    """A read of one group after the other, on one thread, without Arrow.

    Arguments:
        items: the columns of the view that are read.
        formats: of their fields, 0 text, 1 binary.
    """

    def __init__(
        self,
        chain: Chain,
        program: KeyProgram,
        items: Sequence[int],
        formats: Sequence[int],
        forms: Forms,
        commit_lock: threading.Lock,
    ) -> None:
        """Raises UnreadableError where keys or results need the general way."""
        plan = chain.plan
        # To find a group copies its lists, also where other columns are read.
        if plan.finish.predicates or chain.state.groups.with_lists or forms != Forms(forms.zone):
            raise UnreadableError
        self._chain = chain
        self._fields: list[Field] = []
        for place, format_code in zip(items, formats, strict=True):
            _, item = plan.finish.items[place]
            if not isinstance(item, Column):
                raise UnreadableError
            made = field(chain.state.program.grouping, item.index, format_code, forms.zone)
            if made is None:
                raise UnreadableError
            self._fields.append(made)
        self._key = OneKey(program)
        self._found = GroupTable(chain.state.groups.merged.layout)
        self._commit_lock = commit_lock

    def fields(self, key: Sequence[int | bytes]) -> list[bytes | None] | None:
        """Return the fields of the group with a key, after the last commit; None: there is none.

        Raises HeldUpError while others merge or export, and where the group is in a file,
        UnreadableError where it can't be read so.
        """
        keys = self._key.table(key)
        chain, found = self._chain, self._found
        words_count = found.layout.row_words
        empty(found)
        found.rows[:words_count] = 0
        with self._commit_lock:
            is_read = chain.state.groups.find(keys, found)
            chain.upkeep.point_reads += is_read
        if not is_read:
            raise HeldUpError
        if not found.control[ROWS_COUNT]:
            return None
        words = found.rows[:words_count].tolist()
        return [made(words, found) for made in self._fields]


def empty(table: GroupTable) -> None:
    """Forget the groups of a table whose rows are written anew as a whole."""
    table.control[ROWS_COUNT] = table.control[HEAP_USED] = 0
    table.slots.fill(0)


def is_quick(kind: SqlType) -> bool:
    """Tell whether keys of a type are set without Arrow."""
    return kind.family in INTEGERS or kind.family in TEXTS


def found_rows(
    chain: Chain,
    keys: GroupTable,
    now_us: int,
    commit_lock: threading.Lock,
    check_cancelled: Callable[[], None] | None,
) -> pa.Table | None:
    """Return the rows of the view whose groups have one of the keys, after the last commit.

    check_cancelled: of a reader that waits for a merge, and for files; None: the reader does not
    wait, and gets None, also for more than FOUND_BYTES_MAX. Raises SqlError for a group that can't
    be evaluated.
    """
    state, is_brought = chain.state, False
    heap_max = FOUND_BYTES_MAX if check_cancelled is None else None
    while True:
        found = GroupTable(state.groups.merged.layout)
        with commit_lock:
            is_read = state.groups.find(keys, found, is_brought, heap_max)
            chain.upkeep.point_reads += is_read
        if is_read:
            return state.rows_of(found, now_us).rename_columns([column.name for column in chain.schema])
        if check_cancelled is None:
            return None
        check_cancelled()
        is_brought = state.groups.bring(keys, MERGE_WAIT_S)
