"""The kernel of a stream pipeline: rows of a morsel in, groups of a table out.

    stream_pipeline(start, end, folding, now_us, constants, control, slots, rows, [join tables],
    [scratch], [heap], columns...) -> rows done

It returns `end`, or the row at which it stopped: control[ERROR] is set and control[EXPRESSION] says
where, or control[HEAP_NEEDED] is set, or else the table needs more rows; the caller makes room and
goes on from there. A row (with joins: each of its matches) is evaluated completely before the table
is touched, so a row that fails leaves no trace. Without `folding` rows are only evaluated.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from ringbuffer.groups.aggregates import SKETCHES, STORED, TEXT_STATES, State
from sql.errors import SqlError
from sql.tree.expressions import Column, Expression
from views.codegen.columns import InputColumns, item
from views.codegen.expressions import ExpressionWriter, text_of
from views.codegen.first_row import write_first
from views.codegen.functions.table import FUNCTIONS
from views.codegen.grouping import FirstRow, Grouping, InputSlot, KeySlot, guarded, guarded_argument, stored_form
from views.codegen.modules import GeneratedModule, smallest
from views.codegen.probes import ProbeWriter
from views.codegen.row_kernels import row_kernel
from views.codegen.support import computed_columns, with_computed
from views.codegen.values import ALWAYS, FLOATS, NEVER, WORDS, Value, compared_form, is_keyed, is_string, negation
from views.codegen.writer import INDENT, KernelWriter
from views.model.equalities import all_of
from views.model.nodes import StreamPipeline

FUNCTION = "stream_pipeline"
# The null of a computed value whose computation has failed; of others it is 0 or 1. With
# on_error = skip, REFUSED is that of a value which PostgreSQL may have, and Antumbra does not.
FAILED, REFUSED = 2, 3
# The kernels of states that ask for room in the heap: module, what tells the room, what adds a
# value; the room for some depends on the value.
SKETCH_KERNELS = {
    State.REGISTERS: ("groups.registers", "registers_room", "note_cell"),
    State.QUANTILES: ("groups.quantiles", "quantiles_room", "note_quantile"),
    State.COUNTERS: ("groups.counters", "counters_room", "note_counter"),
    State.FILTER: ("groups.counters", "filter_room", "note_bits"),
}
GROWING_KERNELS = {
    State.LIST: ("groups.aggregates", "list_room", "append_list"),
    State.TOP: ("groups.top_values", "top_room", "note_top"),
    State.COMBINED: ("groups.sketches", "combination_room", "combine"),
}
# name and type of the arguments that every stream kernel has
ARGUMENTS = (
    ("start", "int64"),
    ("end", "int64"),
    ("folding", "boolean"),
    ("now_us", "int64"),
    ("constants", "int64"),
    ("control", "int64[::1]"),
    ("slots", "int64[::1]"),
    ("rows", "int64[::1]"),
)


def generate_stream_kernel(pipeline: StreamPipeline, grouping: Grouping) -> GeneratedModule:
    """Return the module of a view's stream pipeline.

    Raises SqlError: 0A000 for what neither a kernel nor, before it, the embedded engine evaluates,
    54001 for too much.
    """
    try:
        return smallest(lambda is_flat: StreamKernelWriter(pipeline, grouping, is_flat).generate())
    except SqlError as error:
        # Rare, and to look for what to compute takes as long as to write the kernel.
        computed = computed_columns(pipeline) if error.sqlstate == "0A000" else ()
        if not computed:
            raise
    module = smallest(lambda is_flat: StreamKernelWriter(pipeline, grouping, is_flat, computed).generate())
    return replace(module, computed=computed)


class StreamKernelWriter:
    """A writer of one stream kernel."""

    def __init__(
        self, pipeline: StreamPipeline, grouping: Grouping, is_flat: bool, computed: tuple[Expression, ...] = ()
    ) -> None:
        self.pipeline = pipeline
        self.grouping = grouping
        self.skipping = pipeline.on_error == "skip"
        self.writer = KernelWriter(2, self._failure, is_flat)
        self.columns = InputColumns(with_computed(pipeline.input, computed), stored=True)
        self.computed = computed
        self._prologue: list[str] = []
        self.probes = ProbeWriter(self.writer, len(pipeline.input))
        self.probes.declare(pipeline.probes)
        places = {expression: len(pipeline.row) + place for place, expression in enumerate(computed)}
        self.expressions = ExpressionWriter(self.writer, self, FUNCTIONS, len(pipeline.parameters), places)

    def load(self, writer: KernelWriter, index: int) -> Value:
        """Write the lines that load a column of the stream or of a build side, or one that is
        computed before the kernel, as a `ColumnSource`.
        """
        place = index - len(self.pipeline.row)
        if place >= 0:
            return self._load_computed(place)
        source = self.columns if index < len(self.pipeline.input) else self.probes
        return source.load(writer, index)

    def _load_computed(self, place: int) -> Value:
        """Write the load of a computed column: its error comes where its value is needed."""
        column, out = len(self.pipeline.input) + place, self.writer
        mark, text = item(out, f"{self.columns.stem(out, column)}_nulls"), text_of(self.computed[place])
        error = out.use("memory.error_codes", "COMPUTED")
        with out.block(f"if {out.wanted(f'{mark} == {FAILED}')}:"):
            out.fail(error, text)
        if self.skipping:
            # What Antumbra does not have is not the row's fault.
            with out.block(f"if {out.wanted(f'{mark} == {REFUSED}')}:"):
                out.fail(error, text, self._stop)
        return self.columns.load(out, column)

    def generate(self) -> GeneratedModule:
        """Write the whole kernel, and return the module."""
        self._write_prefetches()
        self.probes.write_prefetches(self.pipeline.probes, self.columns)
        self._write_filters(self.pipeline.filters)
        with ExitStack() as loops:
            for number, probe in enumerate(self.pipeline.probes):
                loops.enter_context(self.writer.block(self.probes.write(probe, number, self.expressions)))
                self.probes.enter(number)
                self._write_filters(probe.filters)
            self._write_grouping()
        return self._module()

    def _write_grouping(self) -> None:
        """Write the lines for a row that has passed filters and probes."""
        keys = [self.expressions.evaluate(key.expression) for key in self.grouping.keys]
        inputs = [self._evaluate_input(slot) for slot in self.grouping.inputs]
        firsts = [self._first_values(first) for first in self.grouping.firsts]
        with self.writer.block("if not folding:"):
            self.writer.line("continue")
        self._write_room(keys, inputs, firsts)
        self._write_group(keys)
        self._write_list_room(inputs, firsts)
        for first, values in zip(self.grouping.firsts, firsts, strict=True):
            known = inputs[first.input]
            with ExitStack() as passes:
                if known.null != NEVER:
                    passes.enter_context(self.writer.block(f"if {known.known}:"))
                write_first(self.writer, self.grouping, first, values)
        for slot, value in zip(self.grouping.inputs, inputs, strict=True):
            self._write_updates(slot, value)
        self._control("ROWS_PASSED")
        self.writer.line("control[ROWS_PASSED] += 1")

    def _stop(self, error: str, number: str) -> list[str]:
        """Return the lines that end the kernel at a row."""
        self._control("ERROR", "EXPRESSION")
        return [f"control[ERROR] = {error}", f"control[EXPRESSION] = {number}", *self.probes.notes(), "return row"]

    def _failure(self, error: str, number: str) -> list[str]:
        """Return the lines that leave a row which can't be evaluated."""
        stop = self._stop(error, number)
        if not self.skipping:
            return stop
        self.writer.use("memory.error_codes", "SCRATCH_FULL")
        self._control("ROWS_SKIPPED")
        # A scratch heap that is too small is not the row's fault.
        return [
            f"if {error} == SCRATCH_FULL:",
            *(INDENT + line for line in stop),
            "if folding:",
            INDENT + "control[ROWS_SKIPPED] += 1",
            "continue",
        ]

    def _control(self, *names: str) -> None:
        for name in names:
            self.writer.use("groups.hash_table", name)

    def _write_filters(self, conditions: tuple[Expression, ...]) -> None:
        for condition in all_of(conditions):
            truth = self.expressions.evaluate(condition).truth
            with self.writer.block(f"if {negation(truth)}:"):
                self.writer.line("continue")

    def _evaluate_input(self, slot: InputSlot) -> Value:
        argument = guarded_argument(slot)
        return Value(()) if argument is None else self.expressions.evaluate(argument)

    def _first_values(self, first: FirstRow) -> list[Value]:
        condition = self.grouping.inputs[first.input].filter
        return [self.expressions.evaluate(guarded(value.expression, condition)) for value in first.values]

    def _write_room(self, keys: list[Value], inputs: list[Value], firsts: list[list[Value]]) -> None:
        """Write the check that the heap of the table has room for all texts of this row."""
        texts = []
        for key, value in zip(self.grouping.keys, keys, strict=True):
            # A key that is compared in another form than it is shown in needs room for both.
            texts += [value] * (is_string(key.type) + (key.shown_word is not None and is_string(key.type)))
        texts += self._kept_texts(inputs, firsts)
        if texts:
            self._write_room_check("text_bytes", self._text_sizes(texts))

    def _kept_texts(self, inputs: list[Value], firsts: list[list[Value]]) -> list[Value]:
        """Return the values of this row that states may keep in the heap, beside lists."""
        texts = []
        for slot, value in zip(self.grouping.inputs, inputs, strict=True):
            texts += [value] * len((TEXT_STATES - SKETCHES - {State.LIST}) & slot.states.keys())
        for first, values in zip(self.grouping.firsts, firsts, strict=True):
            kept = zip(first.values, values, strict=True)
            texts += [value for one, value in kept if is_string(one.expression.type)]
        return texts

    def _text_sizes(self, texts: list[Value]) -> list[str]:
        size = self.writer.use("groups.aggregates", "text_heap_bytes") if texts else ""
        return [f"{size}({value.words[0]})" for value in texts]

    def _write_list_room(self, inputs: list[Value], firsts: list[list[Value]]) -> None:
        """Write the check that the heap has room for the group's lists with this row, and for what
        its other states may keep.
        """
        needed = []
        for slot, value in zip(self.grouping.inputs, inputs, strict=True):
            for state in slot.states if value.null != ALWAYS else ():
                at = f"rows, group + {slot.states[state]}"
                if state in SKETCH_KERNELS:
                    module, room, _ = SKETCH_KERNELS[state]
                    needed.append(f"{self.writer.use(module, room)}({at})")
                elif state in GROWING_KERNELS:
                    module, room, _ = GROWING_KERNELS[state]
                    size = f"{self.writer.use(module, room)}({at}, {value.words[0]})"
                    needed.append(size if value.null == NEVER else f"({size} if {value.known} else 0)")
        if needed:
            texts = self._kept_texts(inputs, firsts)
            self._write_room_check("list_bytes", [*needed, *self._text_sizes(texts)])

    def _write_room_check(self, stem: str, sizes: list[str]) -> None:
        needed = self.writer.assign(stem, " + ".join(sizes))
        self._control("HEAP_USED", "HEAP_MAX", "HEAP_NEEDED")
        with self.writer.block(f"if control[HEAP_USED] + {needed} > control[HEAP_MAX]:"):
            self.writer.line(f"control[HEAP_NEEDED] = {needed}")
            self._write_stop()

    def _write_group(self, keys: list[Value]) -> None:
        """Write the entry of the row's group, and find or make the group."""
        if not keys:
            self.writer.line("group = 0")
            return
        self._control("ENTRY")
        bits = [
            f"{1 << key.null_bit} * ({value.null})"
            for key, value in zip(self.grouping.keys, keys, strict=True)
            if value.null != NEVER
        ]
        self.writer.line(f"control[ENTRY] = {' + '.join(bits) if bits else '0'}")
        for key, value in zip(self.grouping.keys, keys, strict=True):
            self._write_key(key, value)
        table = self.grouping.table
        # Texts are mostly flags and names of which there are few.
        find = self.writer.use("groups.hash_table", "find_recent" if table.text_mask else "find_group")
        start = "" if table.text_mask else "control, ENTRY, 0, "
        sizes = f"{table.key_words}, {table.entry_words}, {table.row_words}, {table.text_mask}"
        self.writer.line(f"group = {find}(control, slots, rows, {start}{sizes})")
        with self.writer.block("if group < 0:"):
            self._write_stop()

    def _write_prefetches(self) -> None:
        """Write the lines that begin to load the groups of later rows, if their keys are integers,
        times, texts or booleans of the stream itself.

        They are for nothing where filters and joins leave most rows out.
        """
        keys = [key.expression for key in self.grouping.keys]
        columns = [key for key in keys if isinstance(key, Column) and self._is_hashed_early(key)]
        if not keys or len(columns) < len(keys):
            return
        use = partial(self.writer.use, "groups.hash_table")
        self._control("ROWS_MAX")
        far = f"control[ROWS_MAX] > {use('FAR_ROWS')}"
        if self.pipeline.filters or self.pipeline.probes:
            self._control("ROWS_PASSED")
            self._prologue.append("passed_before = control[ROWS_PASSED]")
            far += f" and (control[ROWS_PASSED] - passed_before) * {use('PASSED_SHARE')} >= row - start"
        with self.writer.block(f"if {far}:"):
            mixed = self._early_hash(columns, use("SLOT_AHEAD"))
            self.writer.line(f"{use('prefetch_slot')}(slots, {mixed})")
            mixed = self._early_hash(columns, use("ROW_AHEAD"))
            self.writer.line(f"{use('prefetch_row')}(slots, rows, {mixed}, {self.grouping.table.row_words})")

    def _is_hashed_early(self, key: Column) -> bool:
        is_plain = key.type.family in {*WORDS, "bool"} or (is_string(key.type) and not is_keyed(key.type))
        return is_plain and key.index < len(self.pipeline.input)

    def _early_hash(self, columns: list[Column], distance: str) -> str:
        """Return source text of the hash of the keys of a later row."""
        out = self.writer
        ahead = out.assign("ahead", f"min(row + {distance}, end - 1)")
        mix = out.use("groups.hash_table", "mix")
        mixed = f"{mix}({out.use('groups.hash_table', 'HASH_SEED')}, 0)"
        for column in columns:
            stem = self.columns.stem(out, column.index)
            if is_string(column.type):
                words = [item(out, f"{stem}_data", place, ahead) for place in (0, 1)]
                null, mix_text = item(out, f"{stem}_nulls", row=ahead), out.use("groups.hash_table", "mix_text")
                mixed = f"{mix_text}({mixed}, {null}, {', '.join(words)}, {self.columns.heap})"
            elif column.type.family == "bool":
                mixed = f"{mix}({mixed}, 1 * ({item(out, f'{stem}_data', row=ahead)} != 0))"
            else:
                word = out.use("scalar.numbers.int128", "signed_word")
                mixed = f"{mix}({mixed}, {word}({item(out, f'{stem}_data', row=ahead)}))"
        return out.assign("mixed", mixed)

    def _write_stop(self) -> None:
        """Write the exit of a kernel that needs more room."""
        for line in (*self.probes.notes(), "return row"):
            self.writer.line(line)

    def _write_key(self, key: KeySlot, value: Value) -> None:
        """Write the words of a key to the entry, 0 for NULL."""
        words = self._key_words(key, value)
        if value.null == NEVER:
            for word, text in words.items():
                self.writer.line(f"control[ENTRY + {word}] = {text}")
            return
        for word in words:
            self.writer.line(f"control[ENTRY + {word}] = 0")
        if value.null == ALWAYS:
            return
        with self.writer.block(f"if {value.known}:"):
            for word, text in words.items():
                self.writer.line(f"control[ENTRY + {word}] = {text}")

    def _key_words(self, key: KeySlot, value: Value) -> dict[int, str]:
        """Return the source text of a key's words by their place in the entry."""
        family = key.type.family
        use = self.writer.use
        if family == "bool":
            return {key.word: f"1 * {value.word}"}
        if family in FLOATS:
            assert key.shown_word is not None
            float_word = f"np.float64({value.word})"
            return {
                key.word: f"{use('groups.aggregates', 'float_key')}({float_word})",
                key.shown_word: f"{use('groups.aggregates', 'float_word')}({float_word})",
            }
        if is_keyed(key.type):
            return self._keyed_words(key, value)
        if is_string(key.type):
            return {
                key.word: value.words[0],
                key.word + 1: f"{use('groups.aggregates', 'text_key')}({', '.join(value.words)})",
            }
        if family != "numeric":
            return {key.word: value.word}
        if key.shown_word is None:
            return {key.word: value.words[0], key.word + 1: value.words[1]}
        names = [self.writer.name("key" + suffix) for suffix in ("_lo", "_hi", "_scale")]
        self.writer.line(
            f"{', '.join(names)} = {use('scalar.numbers.numeric', 'numeric_normalise')}({', '.join(value.words)})"
        )
        return {
            **{key.word + position: name for position, name in enumerate(names)},
            key.shown_word: value.words[2],
        }

    def _keyed_words(self, key: KeySlot, value: Value) -> dict[int, str]:
        """Return the words of a key that is compared in another form than it is shown in."""
        use, words = self.writer.use, ", ".join(value.words)
        assert key.shown_word is not None
        shown = [value.words[0], f"{use('groups.aggregates', 'text_key')}({words})"]
        if key.type.family == "interval":
            names = [self.writer.name("key" + suffix) for suffix in ("_lo", "_hi")]
            self.writer.line(f"{', '.join(names)} = {use('scalar.texts.compared_bytes', 'interval_span')}({words})")
            compared = names
        else:
            names = [self.writer.name("key" + suffix) for suffix in ("_w0", "_w1", "_heap")]
            if key.type.family == "bpchar":
                trimmed = use("scalar.texts.compared_bytes", "blank_trimmed")
                self.writer.line(f"{', '.join(names)} = {trimmed}({words})")
            else:
                made = use("scalar.texts.compared_bytes", "stored_key")
                arguments = f"{compared_form(key.type)}, {words}, {self.writer.scratch()}"
                self.writer.line(f"{', '.join(names)}, error = {made}({arguments})")
                self.writer.fail_if_error(text_of(key.expression))
            compared = [names[0], f"{use('groups.aggregates', 'text_key')}({', '.join(names)})"]
        return {key.word + place: text for place, text in enumerate(compared)} | {
            key.shown_word + place: text for place, text in enumerate(shown)
        }

    def _write_updates(self, slot: InputSlot, value: Value) -> None:
        """Write the updates of all states of an input, and of its count at last."""
        if value.null == ALWAYS:
            return
        count = f"rows[group + {slot.count_word}]"
        if value.null == NEVER:
            self._write_states(slot, value, count)
            return
        with self.writer.block(f"if {value.known}:"):
            self._write_states(slot, value, count)

    def _write_states(self, slot: InputSlot, value: Value, count: str) -> None:
        if not slot.states:
            self.writer.line(f"{count} += 1")
            return
        self.writer.line(f"seen = {count}")
        for state, word in slot.states.items():
            self.writer.line(self._update(slot, state, word, value))
        self.writer.line(f"{count} = seen + 1")

    def _update(self, slot: InputSlot, state: State, word: int, value: Value) -> str:
        """Return the source text that adds a value to one state."""
        use = self.writer.use
        at = f"rows, group + {word}"
        words = ", ".join(value.words)
        if state in (State.ANY_FALSE, State.ANY_TRUE):
            return f"rows[group + {word}] |= 1 * ({negation(value.word) if state is State.ANY_FALSE else value.word})"
        if state is State.SUM_INTEGER:
            lo, hi = value.words[:2] if len(value.words) > 1 else (value.word, f"{value.word} >> 63")
            return f"{use('groups.aggregates', 'add_integer')}({at}, {lo}, {hi})"
        if state is State.SUM_SQUARES:
            return f"{use('groups.aggregates', 'add_square')}({at}, {value.words[0]})"
        if state is State.SUM_NUMERIC:
            return f"{use('groups.aggregates', 'add_numeric')}({at}, {words})"
        if state is State.AVERAGE_FLOAT:
            return f"{use('groups.aggregates', 'add_average')}({at}, seen, np.float64({words}))"
        if state is State.PAIRS:
            return f"{use('groups.pair_sums', 'add_pairs')}({at}, {words})"
        if kernels := SKETCH_KERNELS.get(state) or GROWING_KERNELS.get(state):
            module, _, update = kernels
            return f"{use(module, update)}(control, {at}, {words})"
        function = use("groups.aggregates", state.name.lower())
        if state in TEXT_STATES:
            form = f"{stored_form(state, slot)}, " if state in STORED else ""
            return f"{function}(control, {at}, seen, {form}{words})"
        if state in (State.SUM_FLOAT64, State.SUM_FLOAT32, State.MIN_FLOAT, State.MAX_FLOAT):
            words = f"np.float64({words})"
        return f"{function}({at}, seen, {words})"

    def _module(self) -> GeneratedModule:
        """Return the module: header, prologue and loop around the body."""
        return row_kernel(
            "Stream pipeline of a continuous view",
            FUNCTION,
            (*ARGUMENTS, *self.probes.arguments()),
            (),
            [*self.probes.prologue(), *self._prologue],
            self.probes.lines(),
            self.columns,
            self.expressions,
        )
