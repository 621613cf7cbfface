"""The lines that keep the first row of each group, or several: its words are compared with the kept
ones.

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
    count = f"rows[group + {grouping.inputs[first.input].count_word}]"
    if not first.rows_max:
        writer.line(f"wins = {count} == 0")
        with writer.block("if not wins:"):
            _write_order(writer, first, start, "group")
            writer.line(f"wins = order {'>=' if first.values[0].form & LATER else '>'} 0")
        with writer.block("if wins:"):
            _write_kept(writer, first, start, "group")
        return
    width = first.row_words
    writer.line(f"kept = min({count}, {first.rows_max})")
    writer.line("low = 0")
    writer.line("high = kept")
    with writer.block(f"for step in range(0, {first.rows_max.bit_length() + 1}):"), writer.block("if low < high:"):
        # Most rows come after all that are kept.
        writer.line("middle = high - 1 if step == 0 else (low + high) >> 1")
        writer.line(f"place = group + middle * {width}")
        _write_order(writer, first, start, "place")
        with writer.block("if order > 0:"):
            writer.line("high = middle")
        with writer.block("if order <= 0:"):
            writer.line("low = middle + 1")
    with writer.block(f"if low < {first.rows_max}:"):
        make = writer.use("groups.first_rows", "open_place")
        writer.line(f"{make}(rows, group + {first.mask_word}, {width}, low, min(kept, {first.rows_max - 1}))")
        writer.line(f"place = group + low * {width}")
        _write_kept(writer, first, start, "place")


def _write_order(writer: KernelWriter, first: FirstRow, start: int, place: str) -> None:
    """Write the comparison of the row at a place with the row at hand: order, above 0 where the row
    at hand comes first.
    """
    compare = writer.use("groups.first_rows", "compare_kept")
    writer.line("order = 0")
    for value in first.values:
        if not value.form & ORDERS:
            break
        places = f"rows, {place} + {first.mask_word}, {place} + {value.word}"
        ours = f"control, ENTRY + {start}, ENTRY + {start + value.word - first.mask_word}, 0"
        with writer.block("if order == 0:"):
            writer.line(f"order = {compare}({value.form}, control, {places}, {ours})")


def _write_kept(writer: KernelWriter, first: FirstRow, start: int, place: str) -> None:
    """Write the lines that write the row at hand to a place."""
    keep = writer.use("groups.first_rows", "keep_value")
    writer.line(f"rows[{place} + {first.mask_word}] = control[ENTRY + {start}]")
    for value in first.values:
        ours = f"control, ENTRY + {start + value.word - first.mask_word}, 0"
        writer.line(f"{keep}({value.form}, control, rows, {place} + {value.word}, {ours})")


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
