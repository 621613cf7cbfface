"""The groups of a view as pages and back, and the fingerprint of their meaning.

Enters: group tables, one per partition, or pages. Leaves: pages that share the memory of the
tables, or tables whose slots are built anew; the pages of a table begin with "counters". The
fingerprint covers the words of a row and the meaning of each: keys, aggregates, filters, joins and
types, but no names, since names may change. Must not know locks, versions or files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from ringbuffer.groups.hash_table import (
    HEAP_USED,
    ROWS_COUNT,
    ROWS_FIRST,
    ROWS_IN,
    ROWS_LATE,
    ROWS_PASSED,
    ROWS_SKIPPED,
    GroupTable,
    TableLayout,
    fill_slots,
)
from ringbuffer.memory.mapped_zeros import mapped_zeros
from ringbuffer.pages.pages import Page
from sql.tree.expressions import AggregateCall, Call, Case, Cast, Column, Expression, Literal
from sql.tree.relations import Schema
from sql.types.datatypes import TEXT, SqlType
from views.codegen.grouping import Grouping
from views.model.nodes import Probe, StreamPipeline

# Raise it when an aggregate's words get another meaning or keys another hash: test_state_pages has
# a golden table that fails then.
STATE_FORM = 1
FINGERPRINT_CHARACTERS = 32
# How many operands a function has before a zone: states are stored with an empty zone where a time
# has none.
BEFORE_ZONE = {"add_interval": 4, "age": 2}

# The words of the page "counters".
COUNTERS = (ROWS_COUNT, HEAP_USED, ROWS_IN, ROWS_PASSED, ROWS_SKIPPED, ROWS_LATE)
# Earlier versions wrote so many of them.
COUNTERS_FIRST = 5
# Rows and heap are cut into pages of at most this size, so that reading them needs no second copy
# of the whole.
PAGE_BYTES_MAX = 16 << 20


def table_pages(table: GroupTable) -> list[Page]:
    """Return the pages "counters" int64[6], "rows" int64[words used] and "heap" uint8[bytes used].

    The pages share the memory of the table, so they are valid until the table changes.
    """
    rows = table.rows[: table.groups_count * table.layout.row_words]
    heap = table.heap[: int(table.control[HEAP_USED])]
    pages = [Page("counters", table.control[list(COUNTERS)])]
    pages += [Page("rows", piece) for piece in _pieces(rows)]
    pages += [Page("heap", piece) for piece in _pieces(heap)]
    return pages


def _pieces(array: npt.NDArray[np.generic]) -> Iterator[npt.NDArray[np.generic]]:
    size = PAGE_BYTES_MAX // array.itemsize
    for start in range(0, len(array), size):
        yield array[start : start + size]


def load_tables(layout: TableLayout, pages: Iterable[Page]) -> Iterator[GroupTable]:
    """Yield the tables that `table_pages` was given, at least one.

    Raises ValueError for pages of another layout.
    """
    loading: _Loading | None = None
    for page in pages:
        if page.name == "counters" or loading is None:
            if loading is not None:
                yield loading.end()
            loading = _Loading(layout, page)
        else:
            loading.add(page)
    if loading is None:
        raise ValueError("the state of a view begins with its counters")
    yield loading.end()


class _Loading:
    """A table whose pages are read one by one."""

    def __init__(self, layout: TableLayout, first: Page) -> None:
        if first.name != "counters" or first.array.shape not in ((len(COUNTERS),), (COUNTERS_FIRST,)):
            raise ValueError("the state of a view begins with its counters")
        counters = [int(value) for value in first.array]
        counters += [0] * (len(COUNTERS) - len(counters))
        rows_count, heap_used = counters[COUNTERS.index(ROWS_COUNT)], counters[COUNTERS.index(HEAP_USED)]
        if min(counters) < 0:
            raise ValueError(f"the state of a view has the counters {counters}")
        table = GroupTable(layout, max(ROWS_FIRST, 1 << (rows_count - 1).bit_length()), mapped_zeros)
        table.grow_heap(heap_used)
        table.control[list(COUNTERS)] = counters
        self._table = table
        self._parts: dict[str, npt.NDArray[np.generic]] = {
            "rows": table.rows[: rows_count * layout.row_words],
            "heap": table.heap[:heap_used],
        }
        self._filled = dict.fromkeys(self._parts, 0)

    def add(self, page: Page) -> None:
        """Take one more page. Raises ValueError."""
        target, filled = self._parts.get(page.name), self._filled
        if target is None or page.array.dtype != target.dtype or page.array.ndim != 1:
            raise ValueError(f'the state of a view has no page "{page.name}" of {page.array.dtype}')
        end = filled[page.name] + len(page.array)
        if end > len(target):
            raise ValueError(f'the state of a view has more in "{page.name}" than its counters say')
        target[filled[page.name] : end] = page.array
        filled[page.name] = end

    def end(self) -> GroupTable:
        """Return the table after its last page. Raises ValueError where pages are missing."""
        table = self._table
        if any(self._filled[name] != len(part) for name, part in self._parts.items()):
            counters = table.control[list(COUNTERS)].tolist()
            raise ValueError(f"the state of a view has {self._filled} words and bytes, its counters say {counters}")
        fill_slots(table.slots, table.rows, table.groups_count, table.layout.row_words)
        return table


def state_fingerprint(pipeline: StreamPipeline, grouping: Grouping) -> str:
    """Return a text that is equal only for states whose rows have the same words with the same
    meaning.
    """
    layout = grouping.table
    lines = [
        f"form {STATE_FORM}",
        f"row {layout.key_words} {layout.entry_words} {layout.row_words} {layout.text_mask}",
        f"steps {grouping.merge_steps}",
        f"input {_types(pipeline.input)}",
        f"filters {_texts(pipeline.filters)} on error {pipeline.on_error}",
        *(_probe_text(probe) for probe in pipeline.probes),
        *(f"key {key.null_bit} {key.word} {key.shown_word} {_text(key.expression)}" for key in grouping.keys),
        *(f"aggregate {slot.input} {slot.state.name} {_call_text(slot.call)}" for slot in grouping.aggregates),
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:FINGERPRINT_CHARACTERS]


def _probe_text(probe: Probe) -> str:
    keys = ", ".join(f"{_text(key)} = {place}" for key, place in probe.keys)
    sides = f"{_types(probe.build.schema)} kept {probe.kept}"
    return f"{probe.kind} join {sides} on {keys} guards {_texts(probe.guards)} filters {_texts(probe.filters)}"


def _call_text(call: AggregateCall) -> str:
    condition = "" if call.filter is None else f" filter {_text(call.filter)}"
    order = "".join(f" order by {_text(k.expression)} {k.descending} {k.nulls_first}" for k in call.order_by)
    return f"{call.function}({_texts(call.arguments)}) {_type(call.type)}{condition}{order}"


def _types(schema: Schema) -> str:
    return ", ".join(_type(column.type) for column in schema)


def _type(kind: SqlType) -> str:
    modifiers = (kind.length, kind.precision, kind.scale, kind.display_scale)
    return f"{kind.family}{modifiers}{kind.fields}"


def _texts(expressions: Iterable[Expression]) -> str:
    return "; ".join(_text(expression) for expression in expressions)


def _text(expression: Expression) -> str:
    """Return what an expression of a stream pipeline computes, as text without names given by
    clients.
    """
    match expression:
        case Column():
            return f"#{expression.index} {_type(expression.type)}"
        case Literal():
            return f"{expression.value!r} {_type(expression.type)}"
        case Call():
            arguments = expression.arguments
            if len(arguments) == BEFORE_ZONE.get(expression.function):
                arguments = (*arguments, Literal("", TEXT))
            return f"{expression.function}({_texts(arguments)}) {_type(expression.type)}"
        case Cast():
            how = f"{'explicit' if expression.explicit else ''} {expression.zone}"
            return f"cast({_text(expression.operand)}) {_type(expression.type)} {how}"
        case Case():
            branches = "; ".join(f"{_text(condition)}: {_text(value)}" for condition, value in expression.branches)
            return f"case({branches}; {_text(expression.default)}) {_type(expression.type)}"
    raise AssertionError(f"a stream pipeline has no {type(expression).__name__}")
