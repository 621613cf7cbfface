"""States that an earlier version has stored in another form, under another fingerprint.

Enters: a stream pipeline, and the fingerprint of a stored state. Leaves: the form of that state,
and its groups in the form of today. Two forms have changed: keys of type char(n) that come from
joined tables were text, without the blanks at their ends; and what decides the order of a first row
was compared as bytes, where it is kept as bytes. Must not know files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ringbuffer.groups.first_rows import FORM_SHIFT
from ringbuffer.groups.hash_table import HEAP_USED, ROWS_MAX, GroupTable, fill_slots
from ringbuffer.memory.columns import INLINE_BYTES_MAX, LENGTH_MASK, Morsel
from sql.tree.expressions import Column, Expression
from sql.tree.relations import OutputColumn, Scan, Schema
from sql.types.datatypes import TEXT, SqlType
from views.codegen.grouping import Grouping, KeySlot, make_grouping
from views.codegen.values import shown_words
from views.model.nodes import Probe, StreamPipeline
from views.upkeep.export.groups import ENTRY_AT, GroupReader
from views.upkeep.export.to_arrow import from_arrow, to_arrow
from views.upkeep.state_pages import COUNTERS, state_fingerprint

# Which of its keys a version kept as text is found by trial.
TRIALS_MAX = 1024


@dataclass(frozen=True)
class StoredForm:
    """The form in which the groups of a state are stored.

    Attributes:
        grouping: the layout of the stored groups.
        today: the layout that this version has for them.
    """

    grouping: Grouping
    today: Grouping

    def converted(self, table: GroupTable, copies: bool = False) -> GroupTable:
        """Return a table that was stored in this form in the form of today, which may have more
        aggregates after those of then: they have counted nothing.

        The hashes stay: they are those of the keys without blanks at their ends. copies: the table
        itself is never returned.
        """
        then, layout = self.grouping.table, self.today.table
        if layout == then:
            return table.copy() if copies else table
        count, used = table.groups_count, int(table.control[HEAP_USED])
        result = GroupTable(layout, int(table.control[ROWS_MAX]))
        result.control[list(COUNTERS)] = table.control[list(COUNTERS)]
        result.control[HEAP_USED] = 0
        result.grow_heap(used)
        result.heap[:used] = table.heap[:used]
        result.control[HEAP_USED] = used
        before = table.rows[: count * then.row_words].reshape(count, then.row_words)
        after = result.rows[: count * layout.row_words].reshape(count, layout.row_words)
        after[:, : ENTRY_AT + layout.key_words] = before[:, : ENTRY_AT + then.key_words]
        end = ENTRY_AT + layout.entry_words + then.row_words - ENTRY_AT - then.entry_words
        after[:, ENTRY_AT + layout.entry_words : end] = before[:, ENTRY_AT + then.entry_words :]
        for was, key in zip(self.grouping.keys, self.today.keys, strict=True):
            if key.shown_word is None:
                continue
            width, at = shown_words(key.type), ENTRY_AT + key.shown_word
            if was.shown_word is None:
                after[:, at : at + width] = self._padded(table, was, key.type, result)
            else:
                after[:, at : at + width] = before[:, ENTRY_AT + was.shown_word : ENTRY_AT + was.shown_word + width]
        fill_slots(result.slots, result.rows, count, layout.row_words)
        return result

    def _padded(self, table: GroupTable, was: KeySlot, kind: SqlType, result: GroupTable) -> npt.NDArray[np.int64]:
        """Return the words of the shown values of a key that was stored without blanks at its ends.

        Long values are added to the heap of `result`.
        """
        ((data, nulls),) = GroupReader(table.rows, table.groups_count, self.grouping).key(was)
        schema = (OutputColumn("key", was.type),)
        texts = to_arrow(Morsel(len(data), (data,), (nulls,), table.heap), schema)
        morsel = from_arrow(padded(texts, (OutputColumn("key", kind),)), schema)
        words = morsel.data[0].view(np.int64)
        words[nulls != 0] = 0
        is_long = (words[:, 0] & LENGTH_MASK) > INLINE_BYTES_MAX
        if is_long.any():
            used = int(result.control[HEAP_USED])
            result.grow_heap(len(morsel.heap))
            result.heap[used : used + len(morsel.heap)] = morsel.heap
            result.control[HEAP_USED] = used + len(morsel.heap)
            words[is_long, 1] += used
        return words


def stored_form(pipeline: StreamPipeline, today: Grouping, fingerprint: str) -> StoredForm | None:
    """Return the form of a stored state of a pipeline, None: it is another state.

    today: the pipeline's grouping.
    """
    if state_fingerprint(pipeline, today) == fingerprint:
        return StoredForm(today, today)
    for then in islice(_earlier(pipeline), TRIALS_MAX):
        grouping = make_grouping(then)
        steps = tuple((step & ((1 << FORM_SHIFT) - 1), word, count) for step, word, count in grouping.merge_steps)
        grouping = replace(grouping, merge_steps=steps)
        if state_fingerprint(then, grouping) == fingerprint:
            return StoredForm(grouping, today)
    return None


def padded(rows: pa.Table, schema: Schema) -> pa.Table:
    """Return the rows of a schema, in which values of type char(n) may lack the blanks at their
    ends, with these blanks.
    """
    for place, column in enumerate(schema):
        if column.type.family == "bpchar" and column.type.length is not None and not column.type.is_array:
            texts = pc.utf8_rpad(rows.column(place).cast(pa.string()), column.type.length, " ")
            rows = rows.set_column(place, rows.field(place).name, texts)
    return rows


def _earlier(pipeline: StreamPipeline) -> Iterator[StreamPipeline]:
    """Yield the pipelines of which earlier versions may have kept the groups.

    Only columns that were nothing but keys were text.
    """
    keys = [key.index for _, key in pipeline.keys if isinstance(key, Column) and key.type.family == "bpchar"]
    joined = sorted({index for index in keys if index >= len(pipeline.input)})
    for count in range(len(joined), -1, -1):
        for chosen in combinations(joined, count):
            yield _with_texts(pipeline, chosen)


def _with_texts(pipeline: StreamPipeline, places: Sequence[int]) -> StreamPipeline:
    """Return a pipeline with columns of its probes as text, which it reads as keys only."""

    def as_text(key: Expression) -> Expression:
        return replace(key, type=TEXT) if isinstance(key, Column) and key.index in places else key

    probes: list[Probe] = []
    start = len(pipeline.input)
    for probe in pipeline.probes:
        numbered = enumerate(probe.build.schema, start)
        schema = tuple(replace(column, type=TEXT) if place in places else column for place, column in numbered)
        probes.append(replace(probe, build=Scan(probe.name, "table", schema)))
        start += len(schema)
    return replace(pipeline, probes=tuple(probes), keys=tuple((name, as_text(key)) for name, key in pipeline.keys))
