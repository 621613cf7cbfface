"""The contents and bytes of a continuous view's groups, and the file of its kernel, for EXPLAIN.

Enters: a stream pipeline. Leaves: lines of text. Must not change how groups are laid out.
"""

from __future__ import annotations

from ringbuffer.groups.aggregates import LIST_GROWTH, TEXT_STATES, WORDS, State
from ringbuffer.groups.first_rows import LATER
from ringbuffer.scalar.texts.counters import COUNTERS_BYTES, FILTER_BYTES
from ringbuffer.scalar.texts.sketches import REGISTERS
from sql.tree.expressions import Call, Column, Expression
from views.codegen.grouping import Grouping, InputSlot, key_words, make_grouping
from views.codegen.stream_kernel import generate_stream_kernel
from views.codegen.values import is_string, shown_words
from views.model.nodes import ELEMENT, StreamPipeline
from views.model.text import expression_text

WORD_BYTES = 8
# What sketches of one size take beside their words.
HEAP_BYTES = {State.REGISTERS: REGISTERS, State.COUNTERS: COUNTERS_BYTES, State.FILTER: FILTER_BYTES}


def kept_lines(stream: StreamPipeline) -> list[str]:
    """Return one line per item of `kept_columns`, after one with their sum.

    Raises SqlError 0A000 for an aggregate without a mergeable state.
    """
    grouping = make_grouping(stream)
    texts = " and what long texts take" if grouping.table.text_mask or keeps_texts(grouping) else ""
    lines = [f"Kept per group: {grouping.table.group_bytes} bytes{texts}"]
    return lines + [f"  {text}, {size} bytes" for text, size in kept_columns(stream)]


def keeps_texts(grouping: Grouping) -> bool:
    """Tell whether states of aggregates, or first rows, keep texts beside those of keys."""
    states = {state for slot in grouping.inputs for state in slot.states}
    first = (value for one in grouping.firsts for value in one.values)
    return not states.isdisjoint(TEXT_STATES) or any(is_string(value.expression.type) for value in first)


def text_copies(grouping: Grouping) -> int | None:
    """Return how often a group keeps a text of its row at most, with the growth of lists; None
    where it keeps texts that are no columns of the row.
    """
    first = (value for one in grouping.firsts for value in one.values)
    keys = [slot.expression for slot in grouping.keys for _ in range(1 + (slot.shown_word is not None))]
    texts = [
        slot.argument
        for slot in grouping.inputs
        for state in slot.states
        if state in TEXT_STATES
        for _ in range(LIST_GROWTH if state is State.LIST else 1)
    ]
    texts += [kept for kept in (*keys, *(value.expression for value in first)) if is_string(kept.type)]
    return len(texts) if all(isinstance(text, Column) for text in texts) else None


def kept_columns(stream: StreamPipeline) -> list[tuple[str, int]]:
    """Return the contents of a group and their bytes, which add up to `bytes_per_group`.

    One item per key and per input of the aggregates, and one for what finds the group.

    Raises SqlError 0A000.
    """
    grouping = make_grouping(stream)
    found = []
    for slot in grouping.keys:
        text = f"key {expression_text(slot.expression)}: {slot.type.sql_name}"
        found.append((text, (key_words(slot.type) + shown_words(slot.type)) * WORD_BYTES))
    found += [_input_column(slot) for slot in grouping.inputs]
    for first in grouping.firsts:
        values = ", ".join(expression_text(_shown(value.expression)) for value in first.values)
        name = "last row" if first.values[0].form & LATER else "first row"
        name = f"first {first.rows_max} rows" if first.rows_max else name
        found.append((f"{name}: {values}", first.words * WORD_BYTES))
    rest = grouping.table.group_bytes - sum(size for _, size in found)
    return [*found, ("hash, NULLs of keys, and slots", rest)]


def _shown(value: Expression) -> Expression:
    """Return the value that an element of a list is made of."""
    return value.arguments[0] if isinstance(value, Call) and value.function == ELEMENT else value


def bytes_per_group(stream: StreamPipeline) -> int:
    """Return the bytes of a group without its long texts."""
    return make_grouping(stream).table.group_bytes


def kernel_file_name(stream: StreamPipeline) -> str:
    """Return the name of the file that holds the stream pipeline's kernel."""
    return f"{generate_stream_kernel(stream, make_grouping(stream)).name}.py"


def _input_column(slot: InputSlot) -> tuple[str, int]:
    words = WORDS[State.COUNT] + sum(WORDS[state] for state in slot.states)
    states = ", ".join(["count", *(state.name.lower().replace("_", " ") for state in slot.states)])
    if heap := sum(HEAP_BYTES.get(state, 0) for state in slot.states):
        states += f" ({heap} bytes of the heap)"
    return f"states of {_argument_text(slot)}: {states}", words * WORD_BYTES


def _argument_text(slot: InputSlot) -> str:
    text = ", ".join(expression_text(part) for part in (slot.argument, slot.other) if part is not None) or "*"
    return text if slot.filter is None else f"{text} where {expression_text(slot.filter)}"
