"""The lines that keep the first row of each group: its words are compared with the kept ones.

Enters: the values of the row at hand. Leaves: lines in the writer, for after the group is found and
before its counts go up. Must not know how words compare: `ringbuffer.groups.first_rows` does.
"""

from __future__ import annotations

from ringbuffer.groups.first_rows import LATER, ORDERS
from sql.types.datatypes import SqlType
from views.codegen.grouping import FirstRow, Grouping
from views.codegen.values import ALWAYS, FLOATS, NEVER, Value, is_string
from views.codegen.writer import KernelWriter


def write_first(writer: KernelWriter, grouping: Grouping, first: FirstRow, values: list[Value]) -> None:
    """Write the lines. The words of the row are in the control block, after the entry."""
    writer.use("groups.hash_table", "ENTRY")
    start = grouping.table.entry_words
    _write_row(writer, first, values, start)
    compare, keep = writer.use("groups.first_rows", "compare_kept"), writer.use("groups.first_rows", "keep_value")
    mask = f"ENTRY + {start}"
    writer.line(f"wins = rows[group + {grouping.inputs[first.input].count_word}] == 0")
    with writer.block("if not wins:"):
        writer.line("order = 0")
        for value in first.values:
            if not value.form & ORDERS:
                break
            places = f"rows, group + {first.mask_word}, group + {value.word}"
            ours = f"control, {mask}, ENTRY + {start + value.word - first.mask_word}, 0"
            with writer.block("if order == 0:"):
                writer.line(f"order = {compare}({value.form}, control, {places}, {ours})")
        writer.line(f"wins = order {'>=' if first.values[0].form & LATER else '>'} 0")
    with writer.block("if wins:"):
        writer.line(f"rows[group + {first.mask_word}] = control[{mask}]")
        for value in first.values:
            ours = f"control, ENTRY + {start + value.word - first.mask_word}, 0"
            writer.line(f"{keep}({value.form}, control, rows, group + {value.word}, {ours})")


def _write_row(writer: KernelWriter, first: FirstRow, values: list[Value], start: int) -> None:
    """Write the row at hand: its null mask, then the words of its values, 0 for NULL."""
    bits = [f"{1 << bit} * ({value.null})" for bit, value in enumerate(values) if value.null != NEVER]
    writer.line(f"control[ENTRY + {start}] = {' + '.join(bits) if bits else '0'}")
    for slot, value in zip(first.values, values, strict=True):
        texts = [] if value.null == ALWAYS else _words(writer, slot.expression.type, value)
        at = start + slot.word - first.mask_word
        if value.null != NEVER:
            for place in range(len(_words(writer, slot.expression.type, value))):
                writer.line(f"control[ENTRY + {at + place}] = 0")
        if not texts:
            continue
        if value.null == NEVER:
            _write_words(writer, texts, at)
        else:
            with writer.block(f"if {value.known}:"):
                _write_words(writer, texts, at)


def _write_words(writer: KernelWriter, texts: list[str], at: int) -> None:
    for place, text in enumerate(texts):
        writer.line(f"control[ENTRY + {at + place}] = {text}")


def _words(writer: KernelWriter, kind: SqlType, value: Value) -> list[str]:
    """Return the source text of a value's words; the offset of a text counts from address 0."""
    if kind.family == "bool":
        return [f"1 * ({value.word})"]
    if kind.family in FLOATS:
        return [f"{writer.use('groups.aggregates', 'float_word')}(np.float64({value.word}))"]
    if is_string(kind):
        return [value.words[0], f"{writer.use('groups.aggregates', 'text_key')}({', '.join(value.words)})"]
    if kind.family == "numeric":
        return list(value.words if kind.display_scale is None else value.words[:2])
    return [value.word]
