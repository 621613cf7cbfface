"""The contents and bytes of a continuous view's groups, and the file of its kernel, for EXPLAIN.

Enters: a stream pipeline. Leaves: lines of text. Must not change how groups are laid out.
"""

from __future__ import annotations

from ringbuffer.groups.aggregates import TEXT_STATES, WORDS, State
from sql.tree.expressions import Expression
from views.codegen.grouping import InputSlot, key_words, make_grouping
from views.codegen.stream_kernel import generate_stream_kernel
from views.codegen.values import is_string, shown_words
from views.model.nodes import StreamPipeline
from views.model.text import expression_text

WORD_BYTES = 8


def kept_lines(stream: StreamPipeline) -> list[str]:
    """Return one line per key and per input of the aggregates.

    Raises SqlError 0A000 for an aggregate without a mergeable state.
    """
    grouping = make_grouping(stream)
    states = {state for slot in grouping.inputs for state in slot.states}
    has_texts = grouping.table.text_mask != 0 or not states.isdisjoint(TEXT_STATES)
    first = () if grouping.first is None else grouping.first.values
    has_texts = has_texts or any(is_string(value.expression.type) for value in first)
    texts = " and what long texts take" if has_texts else ""
    lines = [f"Kept per group: {grouping.table.row_words * WORD_BYTES} bytes{texts}"]
    return lines + [f"  {text}, {size} bytes" for text, size in kept_columns(stream)]


def kept_columns(stream: StreamPipeline) -> list[tuple[str, int]]:
    """Return the contents of a group and their bytes: one item per key and per input of the
    aggregates.

    Raises SqlError 0A000.
    """
    grouping = make_grouping(stream)
    found = []
    for slot in grouping.keys:
        text = f"key {expression_text(slot.expression)}: {slot.type.sql_name}"
        found.append((text, (key_words(slot.type) + shown_words(slot.type)) * WORD_BYTES))
    found += [_input_column(slot) for slot in grouping.inputs]
    if grouping.first is not None:
        values = ", ".join(expression_text(value.expression) for value in grouping.first.values)
        found.append((f"first row: {values}", grouping.first.words * WORD_BYTES))
    return found


def bytes_per_group(stream: StreamPipeline) -> int:
    """Return the bytes of a group without its long texts."""
    return make_grouping(stream).table.row_words * WORD_BYTES


def kernel_file_name(stream: StreamPipeline) -> str:
    """Return the name of the file that holds the stream pipeline's kernel."""
    return f"{generate_stream_kernel(stream, make_grouping(stream)).name}.py"


def _input_column(slot: InputSlot) -> tuple[str, int]:
    words = WORDS[State.COUNT] + sum(WORDS[state] for state in slot.states)
    states = ", ".join(["count", *(state.name.lower().replace("_", " ") for state in slot.states)])
    return f"states of {_argument_text(slot.argument, slot.filter)}: {states}", words * WORD_BYTES


def _argument_text(argument: Expression | None, condition: Expression | None) -> str:
    text = "*" if argument is None else expression_text(argument)
    return text if condition is None else f"{text} where {expression_text(condition)}"
