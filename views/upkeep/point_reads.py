"""Reads of a continuous view by key: some groups, as they are after the last commit.

Enters: the keys of groups, as a morsel. Leaves: the rows of the view. Nothing is cut, merged or
kept, so that commits and refreshes go on. Must not know sessions, nor wait for the commit lock
while another lock is held.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ringbuffer.compile.jit import entry_of
from ringbuffer.encode.output_forms import Forms
from ringbuffer.groups.hash_table import ERROR, HEAP_NEEDED, HEAP_USED, ROWS_COUNT, GroupTable, TableLayout
from ringbuffer.groups.key_rows import DATA, KEY_WORDS, NULLS, KeyKind, fold_keys, fold_one
from ringbuffer.memory.arrow import morsel_from_arrow
from ringbuffer.memory.columns import DTYPES, INLINE_BYTES_MAX, Morsel, PhysicalType, empty_column
from ringbuffer.memory.error_codes import OK, SCRATCH_FULL, RowError
from ringbuffer.scalar.texts.text_functions import ScratchHeap
from sql.tree.expressions import Column
from sql.tree.relations import OutputColumn, Schema
from sql.types.datatypes import SqlType
from views.codegen.grouping import HASH_WORDS, KeySlot, place_keys
from views.codegen.values import INTEGERS, TEXTS, compared_form, is_keyed, is_string
from views.model.arrow_schema import stored_layout
from views.model.plan import Plan
from views.upkeep.chain import Chain
from views.upkeep.export.one_group import HeldUpError, OneGroup, UnreadableError, entries

KEYED_KINDS = {"bpchar": KeyKind.BLANK_PADDED, "interval": KeyKind.INTERVAL}
NUMBER_KINDS = {
    "uint8": KeyKind.BYTE,
    "int16": KeyKind.INT16,
    "int32": KeyKind.INT32,
    "int64": KeyKind.INT64,
    "float32": KeyKind.FLOAT32,
    "float64": KeyKind.FLOAT64,
}
PROGRAMS_KEPT_MAX = 256
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
    if not is_row_wise(plan) or chain.time_dependent or not plan.stream.keys or plan.maintained.closing is not None:
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
    """How the words of keys of some types are made, for all groupings with such keys.

    Attributes:
        schema: the columns of the rows of keys.
        layout: of these rows in a morsel, as a stream has them.
        sizes: int64[4], of a table of keys, as kernels take them.
    """

    def __init__(self, types: tuple[SqlType, ...]) -> None:
        """Raises SqlError 0A000 for types that no grouping has as keys."""
        self.schema: Schema = tuple(OutputColumn(f"k{place}", kind) for place, kind in enumerate(types))
        self.layout = stored_layout(self.schema)
        slots, key_words, entry_words, text_mask = place_keys(
            tuple(Column(place, column.name, column.type) for place, column in enumerate(self.schema))
        )
        self._table = TableLayout(key_words, entry_words, HASH_WORDS + entry_words, text_mask)
        self._keys = np.array([key_words_of(slot) for slot in slots], dtype=np.int64)
        self.sizes = np.array(self._table, dtype=np.int64)

    def new_table(self) -> GroupTable:
        """Return an empty table for keys."""
        return GroupTable(self._table)

    def of_table(self, keys: pa.Table) -> GroupTable:
        """Return different keys of a table in the forms of arrow_schema(schema)."""
        return self.of_rows(morsel_from_arrow(keys, self.layout))

    def of_rows(self, keys: Morsel) -> GroupTable:
        """Return different keys as a table of groups. Raises RowError."""
        table = self.new_table()
        self.folding(keys)(table)
        return table

    def key_words(self, rows: Morsel) -> npt.NDArray[np.int64]:
        """Return what tells kernels where the keys of rows are, as long as these are there."""
        assert all(array.flags.c_contiguous for array in (*rows.data, *rows.nulls, rows.heap))
        keys: npt.NDArray[np.int64] = self._keys.copy()
        keys[:, DATA] = [array.ctypes.data for array in rows.data]
        keys[:, NULLS] = [array.ctypes.data for array in rows.nulls]
        return keys

    def folding(self, rows: Morsel) -> Callable[[GroupTable], None]:
        """Return a function that adds the keys of rows to a table; they may change in their
        place.
        """
        keys, scratch, heap = self.key_words(rows), ScratchHeap(), rows.heap.ctypes.data
        entry, sizes = fold_keys_entry(), self.sizes

        def fold(table: GroupTable) -> None:
            # It holds the rows, of whose arrays `keys` has the addresses.
            start, end, control = 0, rows.rows_count, table.control
            while True:
                start = entry(start, end, control, table.slots, table.rows, keys, heap, scratch.words, sizes)
                if start == end:
                    return
                error = int(control[ERROR])
                control[ERROR] = OK
                if error == SCRATCH_FULL:
                    scratch.grow()
                elif error != OK:
                    raise RowError(error, start)
                elif control[HEAP_NEEDED]:
                    table.grow_heap(int(control[HEAP_NEEDED]))
                else:
                    table.grow_rows()

        return fold


@lru_cache(PROGRAMS_KEPT_MAX)
def key_program(types: tuple[SqlType, ...]) -> KeyProgram:
    """Return how the words of keys of some types are made. Raises as `KeyProgram`."""
    return KeyProgram(types)


def key_words_of(key: KeySlot) -> list[int]:
    """Return the row that tells `fold_keys` of a key, without addresses."""
    kind, form = key_kind(key.type), compared_form(key.type)
    texts = is_string(key.type) * (1 if key.shown_word is None else 2)
    return [int(kind), 0, 0, texts, key.word, key.shown_word or 0, form or 0]


def key_kind(kind: SqlType) -> KeyKind:
    """Return what the words of a key of a type are made of."""
    if is_keyed(kind):
        return KEYED_KINDS.get(kind.family, KeyKind.STORED)
    if is_string(kind):
        return KeyKind.BYTES
    if kind.family == "numeric":
        return KeyKind.STORED_NUMERIC if kind.display_scale is None else KeyKind.TWO_WORDS
    return NUMBER_KINDS[DTYPES[PhysicalType(kind.row.kernel)]]


@cache
def fold_keys_entry() -> Callable[..., int]:
    """Return the machine code of `fold_keys`: to find out its types takes as long as its work."""
    words, keys = np.zeros(1, dtype=np.int64), np.zeros((1, KEY_WORDS), dtype=np.int64)
    return entry_of(fold_keys, 0, 0, words, words, words, keys, 0, words, words)


@cache
def fold_one_entry() -> Callable[..., bool]:
    """Return the machine code of `fold_one`."""
    words, keys = np.zeros(1, dtype=np.int64), np.zeros((1, KEY_WORDS), dtype=np.int64)
    return entry_of(fold_one, words, words, words, keys, 0, words, words)


def warm_up_point_reads() -> None:
    """Compile or load the kernels, since the event loop reads by key."""
    fold_keys_entry()
    fold_one_entry()
    entries()


class OneKey:
    """The words of one key after the other, on one thread, without Arrow."""

    def __init__(self, program: KeyProgram) -> None:
        """Raises UnreadableError for keys that need the general way."""
        if not all(is_quick(column.type) for column in program.schema):
            raise UnreadableError
        data = tuple(empty_column(column.physical, 1) for column in program.layout)
        nulls = tuple(np.zeros(1, dtype=np.uint8) for _ in data)
        self._key = Morsel(1, data, nulls, np.zeros(KEY_BYTES_MAX, dtype=np.uint8))
        self._keys = table = program.new_table()
        # Texts of the key have room.
        table.grow_heap(2 * KEY_BYTES_MAX)
        place = program.key_words(self._key), self._key.heap.ctypes.data, ScratchHeap().words, program.sizes
        self._fold, self._arguments = fold_one_entry(), (table.control, table.slots, table.rows, *place)

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
        if not self._fold(*self._arguments):
            raise UnreadableError
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
        shown = [item.index for item in (plan.finish.items[place][1] for place in items) if isinstance(item, Column)]
        if len(shown) < len(items):
            raise UnreadableError
        self._chain = chain
        self._row = OneGroup(chain.state.program.grouping, shown, formats, forms.zone)
        self._key = OneKey(program)
        self._found = GroupTable(chain.state.groups.merged.layout)
        self._commit_lock = commit_lock

    def data_row(self, key: Sequence[int | bytes]) -> bytes | None:
        """Return the DataRow of the group with a key, after the last commit; None: there is none.

        Raises HeldUpError while others merge or export, and where the group is in a file,
        UnreadableError where it can't be read so.
        """
        keys = self._key.table(key)
        chain, found = self._chain, self._found
        # The slots of the group before.
        found.control[ROWS_COUNT] = found.control[HEAP_USED] = 0
        found.slots.fill(0)
        found.rows[: found.layout.row_words] = 0
        with self._commit_lock:
            is_read = chain.state.groups.find(keys, found)
            chain.upkeep.point_reads += is_read
        if not is_read:
            raise HeldUpError
        return self._row.data_row(found) if found.control.item(ROWS_COUNT) else None


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
