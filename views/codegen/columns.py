"""Columns as arguments of a kernel: its arrays, and the lines that load a value from them.

A column has an array of data, one of nulls, and a decimal of variable scale also one of scales
(int16), unless it is a stream's, which holds it as bytes. Only columns that are used become
arguments, under their numbers: c0, c1 and so on. Must not know where the arrays come from.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sql.tree.relations import Schema
from sql.types.datatypes import SqlType
from views.codegen.values import WORD_MAX, Value, is_string, word_suffixes
from views.codegen.writer import KernelWriter

ARRAYS: dict[str, str] = {
    "BOOL": "uint8[::1]",
    "INT16": "int16[::1]",
    "INT32": "int32[::1]",
    "INT64": "int64[::1]",
    "FLOAT32": "float32[::1]",
    "FLOAT64": "float64[::1]",
    "DATE": "int32[::1]",
    "TIMESTAMP": "int64[::1]",
    "NUMERIC": "int64[:,::1]",
    "TEXT": "int64[:,::1]",
}
NULLS = "uint8[::1]"
SCALES = "int16[::1]"


def item(writer: KernelWriter, array: str, word: int | None = None, row: str = "row") -> str:
    """Return source text of an item of a row, else of that at hand: the only one, or one of two
    words.
    """
    place = row if word is None else f"2 * {row}{' + 1' * word}"
    return f"{writer.use('memory.addresses', 'element')}({array}, {place})"


@dataclass(slots=True)
class InputColumns:
    """The columns of a kernel's input.

    Attributes:
        stored: true for the columns of a stream.
        heap: the variable with the address from which long texts count.
    """

    schema: Schema
    stored: bool = False
    heap: str = "input_heap"
    # column -> the stem of its names, in the order of first use
    used: dict[int, str] = field(default_factory=dict)

    def load(self, writer: KernelWriter, index: int) -> Value:
        """Write the lines that load column `index` of the row at hand."""
        kind = self.schema[index].type
        stem = self.stem(writer, index)
        null = writer.assign(stem + "_null", f"{item(writer, f'{stem}_nulls')} != 0")
        most = 10 ** (kind.precision or 0) - 1 if self.stored and kind.family == "numeric" else 0
        return Value(self._words(writer, stem, kind, 0 < most <= WORD_MAX), null, most or None)

    def stem(self, writer: KernelWriter, index: int) -> str:
        """Return the first part of the names of a column's arrays."""
        if index not in self.used:
            self.used[index] = writer.name(f"c{index}")
        return self.used[index]

    def _words(self, writer: KernelWriter, stem: str, kind: SqlType, is_narrow: bool) -> tuple[str, ...]:
        data = f"{stem}_data"
        if kind.is_variable_numeric and self.stored:
            names = tuple(writer.name(stem + suffix) for suffix in word_suffixes(kind))
            read = writer.use("memory.stored_values", "stored_numeric")
            writer.line(f"{', '.join(names)} = {read}({item(writer, data, 0)}, {item(writer, data, 1)}, {self.heap})")
            return names
        if kind.family == "numeric":
            lo = writer.assign(stem + "_lo", item(writer, data, 0))
            if is_narrow:
                return lo, f"({lo} >> 63)", str(kind.display_scale)
            hi = writer.assign(stem + "_hi", item(writer, data, 1))
            if kind.display_scale is not None:
                return lo, hi, str(kind.display_scale)
            return (
                lo,
                hi,
                writer.assign(
                    stem + "_scale",
                    f"{writer.use('scalar.numbers.int128', 'signed_word')}({item(writer, f'{stem}_scales')})",
                ),
            )
        if is_string(kind):
            words = (writer.assign(f"{stem}_w{place}", item(writer, data, place)) for place in (0, 1))
            return (*words, self.heap)
        if kind.family == "bool":
            return (writer.assign(stem + "_value", f"{item(writer, data)} != 0"),)
        if kind.family in ("int8", "timestamp", "timestamptz", "float4", "float8"):
            return (writer.assign(stem + "_value", item(writer, data)),)
        return (
            writer.assign(
                stem + "_value", f"{writer.use('scalar.numbers.int128', 'signed_word')}({item(writer, data)})"
            ),
        )

    @property
    def has_texts(self) -> bool:
        """True if one of the used columns may have bytes in the heap."""
        kinds = [self.schema[index].type for index in self.used]
        return any(is_string(kind) or (self.stored and kind.is_variable_numeric) for kind in kinds)

    def parameters(self) -> list[tuple[str, str]]:
        """Return (name, type) of the arrays of the used columns."""
        found = []
        for index, stem in self.used.items():
            kind = self.schema[index].type
            found.append((stem + "_data", ARRAYS[kind.row.kernel]))
            found.append((stem + "_nulls", NULLS))
            if kind.is_variable_numeric and not self.stored:
                found.append((stem + "_scales", SCALES))
        return found
