"""Joins in a stream kernel: a probe of a join table (ringbuffer/groups/join_table.py), and the loop
over the rows that match.

    join0_first, join0_end = probe_word(join0_index, c1_value)
    for join0_row in range(max(join0_first, join0_resume), join0_end):

Enters: the probes of a pipeline. Leaves: lines, and the values of the build sides' columns. All
that follows a probe is in its loop; a kernel that stops inside of it notes the row in
control[RESUME + number] and goes on there. Must not know how a join table is built.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ringbuffer.groups.join_table import KEY_WORDS, KeyForm, row_words, text_mask
from sql.tree.expressions import Cast, Column, Expression
from sql.tree.relations import Schema
from sql.types.datatypes import SqlType
from views.codegen.columns import InputColumns
from views.codegen.expressions import ExpressionWriter, text_of
from views.codegen.values import FLOATS, INTEGERS, TIMES, Value, any_null, compared_form, is_keyed, is_string, negation
from views.codegen.writer import KernelWriter
from views.model.nodes import Probe

SUFFIXES = ("_index", "_rows", "_first", "_end", "_row", "_at", "_resume", "_heap", "_scratch")


def key_form(ours: SqlType, theirs: SqlType) -> KeyForm:
    """Return how two columns of one family are compared as keys."""
    if is_string(ours):
        return KeyForm.TEXT
    if ours.family in FLOATS:
        return KeyForm.FLOAT
    if ours.family != "numeric":
        return KeyForm.WORD
    same = ours.display_scale is not None and ours.display_scale == theirs.display_scale
    return KeyForm.DECIMAL if same else KeyForm.NUMBER


def key_forms(probe: Probe) -> list[KeyForm]:
    """Return the forms of a probe's keys."""
    return [key_form(ours.type, probe.build.schema[place].type) for ours, place in probe.keys]


def value_words_count(kind: SqlType) -> int:
    """Return how many words a column has in the rows of a build side."""
    if kind.family == "numeric":
        return 3 if kind.display_scale is None else 2
    return 2 if is_string(kind) else 1


@dataclass(slots=True)
class BuildSide:
    """The names of the variables of one probe, and the places of its columns.

    Attributes:
        start: where its columns begin in a row of the pipeline.
    """

    number: int
    stem: str
    schema: Schema
    start: int
    entered: bool = False
    uses_heap: bool = False

    @property
    def words(self) -> int:
        """How many words a row of the build side has."""
        return row_words([value_words_count(column.type) for column in self.schema])

    def place(self, index: int) -> int:
        """Return the first word of a column in a row."""
        return 1 + sum(value_words_count(column.type) for column in self.schema[:index])


@dataclass
class ProbeWriter:
    """A writer of the probes of one stream kernel, in order.

    Attributes:
        width: how many columns the stream has, which come first in a row.
    """

    writer: KernelWriter
    width: int
    sides: list[BuildSide] = field(default_factory=list)
    # Lines that belong before the line of that number, if the kernel has a scratch heap: what a
    # match leaves there goes with it.
    scratch_lines: list[tuple[int, str]] = field(default_factory=list)

    def declare(self, probes: Sequence[Probe]) -> None:
        """Reserve the names of the probes' variables."""
        start = self.width
        for number, probe in enumerate(probes):
            stem = self._stem(f"join{number}")
            self.sides.append(BuildSide(number, stem, probe.build.schema[: probe.kept], start))
            start += len(probe.build.schema)

    def write_prefetches(self, probes: Sequence[Probe], columns: InputColumns) -> None:
        """Write the prefetch of a later row for each probe whose only key is an integer of the
        stream.
        """
        found = [
            (side, column)
            for side, probe in zip(self.sides, probes, strict=True)
            if (column := _plain_key(probe)) is not None
        ]
        found = [(side, column) for side, column in found if column < self.width]
        if not found:
            return
        ahead = self.writer.assign("ahead", f"min(row + {self.writer.use('groups.join_table', 'ROWS_AHEAD')}, end - 1)")
        begin = self.writer.use("groups.join_table", "prefetch_word")
        for side, column in found:
            key = f"{self.writer.use('scalar.numbers.int128', 'signed_word')}({columns.stem(self.writer, column)}_data[{ahead}])"
            self.writer.line(f"{begin}({side.stem}_index, {side.stem}_rows, {key}, {side.words})")

    def load(self, writer: KernelWriter, index: int) -> Value:
        """Write the lines that load a column of a build side for the match at hand.

        `index` counts the columns of the pipeline's row.
        """
        side = [side for side in self.sides if side.start <= index][-1]
        column = index - side.start
        assert side.entered and column < len(side.schema), f"column {index} is not there yet"
        kind = side.schema[column].type
        stem = writer.name(f"{side.stem}_c{column}")
        null = writer.assign(f"{stem}_null", f"({side.stem}_rows[{side.stem}_at] >> {column}) & 1 != 0")
        words = [f"{side.stem}_rows[{side.stem}_at + {side.place(column) + word}]" for word in range(3)]
        if is_string(kind):
            side.uses_heap = True
            return Value(
                (writer.assign(f"{stem}_w0", words[0]), writer.assign(f"{stem}_w1", words[1]), f"{side.stem}_heap"),
                null,
            )
        if kind.family == "numeric":
            lo, hi = writer.assign(f"{stem}_lo", words[0]), writer.assign(f"{stem}_hi", words[1])
            scale = writer.assign(f"{stem}_scale", words[2]) if kind.display_scale is None else str(kind.display_scale)
            return Value((lo, hi, scale), null)
        text = words[0]
        if kind.family in FLOATS:
            text = f"{writer.use('groups.join_table', 'word_float')}({text})"
            text = text if kind.family == "float8" else f"real({text})"
        elif kind.family == "bool":
            text += " != 0"
        return Value((writer.assign(f"{stem}_value", text),), null)

    def write(self, probe: Probe, number: int, expressions: ExpressionWriter) -> str:
        """Write the probe, and return the header of the loop over its matches."""
        stem = self.sides[number].stem
        index = f"{stem}_index"
        bounds = f"{stem}_first, {stem}_end"
        guards = [expressions.evaluate(guard).truth for guard in probe.guards]
        keys = [expressions.evaluate(key) for key, _ in probe.keys]
        known = negation(any_null(*keys)) if keys else "True"
        conditions = [text for text in (*guards, known) if text != "True"]
        if conditions:
            self.writer.line(f"{stem}_first = {stem}_end = 0")
            header = " and ".join(f"({text})" if len(conditions) > 1 else text for text in conditions)
            with self.writer.block(f"if {header}:"):
                self.writer.line(f"{bounds} = {self._lookup(probe, index, keys)}")
        else:
            self.writer.line(f"{bounds} = {self._lookup(probe, index, keys)}")
        if probe.kind == "left":
            with self.writer.block(f"if {stem}_first == {stem}_end:"):
                # The last row of a join table is all NULL.
                self.writer.line(f"{stem}_first = {index}[{self.writer.use('groups.join_table', 'NULL_ROW')}]")
                self.writer.line(f"{stem}_end = {stem}_first + 1")
        self._if_scratch(f"{stem}_scratch = scratch[USED]")
        return f"for {stem}_row in range(max({stem}_first, {stem}_resume), {stem}_end):"

    def enter(self, number: int) -> None:
        """Write the first lines of the loop over matches."""
        side = self.sides[number]
        self._if_scratch(f"scratch[USED] = {side.stem}_scratch")
        self.writer.line(f"{side.stem}_resume = 0")
        if side.schema:
            self.writer.line(f"{side.stem}_at = {side.stem}_row * {side.words}")
        side.entered = True

    def notes(self) -> list[str]:
        """Return the lines with which a stopping kernel notes its place."""
        entered = [side for side in self.sides if side.entered]
        if entered:
            self.writer.use("groups.hash_table", "RESUME")
        return [f"control[RESUME + {side.number}] = {side.stem}_row" for side in entered]

    def arguments(self) -> list[tuple[str, str]]:
        """Return (name, type) of the arrays of the join tables."""
        return [(f"{side.stem}_{name}", "int64[::1]") for side in self.sides for name in ("index", "rows")]

    def prologue(self) -> list[str]:
        """Return the lines before the loop over the rows."""
        lines = []
        for side in self.sides:
            if side.uses_heap:
                address = self.writer.use("groups.join_table", "HEAP_ADDRESS")
                lines.append(f"{side.stem}_heap = {side.stem}_index[{address}]")
            self.writer.use("groups.hash_table", "RESUME")
            lines.append(f"{side.stem}_resume = control[RESUME + {side.number}]")
            lines.append(f"control[RESUME + {side.number}] = 0")
        return lines

    def lines(self) -> list[str]:
        """Return the lines of the kernel.

        With a scratch heap, lines that free what the last match left there are among them.
        """
        found = list(self.writer.lines)
        for number, line in reversed(self.scratch_lines if self.writer.uses_scratch else []):
            found.insert(number, line)
        return found

    def _if_scratch(self, line: str) -> None:
        self.scratch_lines.append((len(self.writer.lines), self.writer.indented(line)))

    def _stem(self, wanted: str) -> str:
        """Return a new name; the names made of it with each suffix are new as well."""
        while True:
            stem = self.writer.name(wanted)
            if all(self.writer.name(stem + suffix) == stem + suffix for suffix in SUFFIXES):
                return stem

    def _lookup(self, probe: Probe, index: str, keys: list[Value]) -> str:
        """Return source text of the first match and the end of the matches.

        Several key words go through the control block.
        """
        use = self.writer.use
        if not keys:
            return f"0, {index}[{use('groups.join_table', 'NULL_ROW')}]"
        forms = key_forms(probe)
        words = [
            word
            for (ours, _), form, key in zip(probe.keys, forms, keys, strict=True)
            for word in self._key_words(ours, form, key)
        ]
        if len(words) == 1:
            return f"{use('groups.join_table', 'probe_word')}({index}, {words[0]})"
        entry = use("groups.hash_table", "ENTRY")
        for place, word in enumerate(words):
            self.writer.line(f"control[{entry} + {place}] = {word}")
        sizes = f"{sum(KEY_WORDS[form] for form in forms)}, {text_mask(forms)}"
        return f"{use('groups.join_table', 'probe_entry')}({index}, control, {entry}, {sizes})"

    def _key_words(self, key: Expression, form: KeyForm, value: Value) -> list[str]:
        """Return source text of the words by which a key is compared."""
        use = self.writer.use
        if form is KeyForm.FLOAT:
            return [f"{use('groups.aggregates', 'float_key')}(np.float64({value.word}))"]
        if is_keyed(key.type):
            names = [self.writer.name("key" + suffix) for suffix in ("_w0", "_w1", "_heap")]
            arguments = f"{compared_form(key.type)}, {', '.join(value.words)}, {self.writer.scratch()}"
            self.writer.line(
                f"{', '.join(names)}, error = {use('scalar.texts.compared_bytes', 'stored_key')}({arguments})"
            )
            self.writer.fail_if_error(text_of(key))
            return [names[0], f"{use('groups.aggregates', 'text_key')}({', '.join(names)})"]
        if form is KeyForm.TEXT:
            return [value.words[0], f"{use('groups.aggregates', 'text_key')}({', '.join(value.words)})"]
        if form is KeyForm.DECIMAL:
            return list(value.words[:2])
        if form is KeyForm.NUMBER:
            names = [self.writer.name("key" + suffix) for suffix in ("_lo", "_hi", "_scale")]
            self.writer.line(
                f"{', '.join(names)} = {use('scalar.numbers.numeric', 'numeric_normalise')}({', '.join(value.words)})"
            )
            return names
        return [f"1 * {value.word}" if key.type.family == "bool" else value.word]


def _plain_key(probe: Probe) -> int | None:
    """Return the column of the row that is the only key, if it is one word; else None."""
    if len(probe.keys) != 1:
        return None
    ((key, _),) = probe.keys
    while isinstance(key, Cast) and key.type.family in INTEGERS and key.operand.type.family in INTEGERS:
        key = key.operand
    return key.index if isinstance(key, Column) and key.type.family in INTEGERS | TIMES else None
