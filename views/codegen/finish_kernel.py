"""The kernel of a finish step: columns in, the rows that all predicates keep out, as the columns of
the step's items.

    finish(start, end, now_us, constants, control, [scratch], [heap], columns..., results...) ->
    rows done

control[ROWS_COUNT] counts the rows put out, control[HEAP_*] is the arena of their texts. Like a
stream kernel it returns `end`, or the row at which it stopped: control[ERROR] is set, or
control[HEAP_NEEDED].
"""

from __future__ import annotations

from sql.tree.expressions import Expression
from sql.types.datatypes import SqlType
from views.codegen.columns import ARRAYS, NULLS, SCALES, InputColumns
from views.codegen.expressions import ExpressionWriter
from views.codegen.functions.table import FUNCTIONS
from views.codegen.modules import GeneratedModule, smallest
from views.codegen.row_kernels import row_kernel
from views.codegen.values import ALWAYS, NEVER, Value, is_string, negation
from views.codegen.writer import KernelWriter
from views.model.equalities import all_of
from views.model.nodes import FinishStep

FUNCTION = "finish"
ARGUMENTS = (
    ("start", "int64"),
    ("end", "int64"),
    ("now_us", "int64"),
    ("constants", "int64"),
    ("control", "int64[::1]"),
)


def generate_finish_kernel(step: FinishStep) -> GeneratedModule:
    """Return the module of a step. Raises SqlError 0A000, and 54001 for a step that is too
    large.
    """
    return smallest(lambda is_flat: FinishKernelWriter(step, is_flat).generate())


class FinishKernelWriter:
    """A writer of one finish kernel."""

    def __init__(self, step: FinishStep, is_flat: bool) -> None:
        self.step = step
        self.writer = KernelWriter(2, self._failure, is_flat)
        self.columns = InputColumns(step.input)
        self.expressions = ExpressionWriter(self.writer, self.columns, FUNCTIONS)
        self.results = [self.writer.name(f"r{number}") for number in range(len(step.items))]

    def generate(self) -> GeneratedModule:
        """Write the whole kernel, and return the module."""
        for predicate in all_of(self.step.predicates):
            truth = self.expressions.evaluate(predicate).truth
            with self.writer.block(f"if {negation(truth)}:"):
                self.writer.line("continue")
        values = [self.expressions.evaluate(item) for _, item in self.step.items]
        self._write_room(values)
        self.writer.leave_if_failed()
        self.writer.use("groups.hash_table", "ROWS_COUNT")
        self.writer.line("target = control[ROWS_COUNT]")
        for stem, (_, item), value in zip(self.results, self.step.items, values, strict=True):
            self._write_result(stem, item, value)
        self.writer.line("control[ROWS_COUNT] = target + 1")
        return self._module()

    def _failure(self, error: str, number: str) -> list[str]:
        self.writer.use("groups.hash_table", "ERROR")
        self.writer.use("groups.hash_table", "EXPRESSION")
        return [f"control[ERROR] = {error}", f"control[EXPRESSION] = {number}", "return row"]

    def _write_room(self, values: list[Value]) -> None:
        """Write the check that the heap has room for all texts of this row."""
        texts = [
            value
            for (_, item), value in zip(self.step.items, values, strict=True)
            if is_string(item.type) and value.null != ALWAYS
        ]
        if not texts:
            return
        size = self.writer.use("groups.aggregates", "text_heap_bytes")
        needed = self.writer.assign("text_bytes", " + ".join(f"{size}({value.words[0]})" for value in texts))
        for name in ("HEAP_USED", "HEAP_MAX", "HEAP_NEEDED"):
            self.writer.use("groups.hash_table", name)
        with self.writer.block(f"if control[HEAP_USED] + {needed} > control[HEAP_MAX]:"):
            self.writer.line(f"control[HEAP_NEEDED] = {needed}")
            self.writer.line("return row")

    def _write_result(self, stem: str, item: Expression, value: Value) -> None:
        """Write the stores of one item; the words of a NULL stay 0."""
        if value.null == ALWAYS:
            self.writer.line(f"{stem}_nulls[target] = 1")
            return
        if value.null == NEVER:
            self._write_words(stem, item.type, value)
            return
        with self.writer.block(f"if {value.null}:"):
            self.writer.line(f"{stem}_nulls[target] = 1")
        with self.writer.block("else:"):
            self._write_words(stem, item.type, value)

    def _write_words(self, stem: str, kind: SqlType, value: Value) -> None:
        line = self.writer.line
        if is_string(kind):
            keep = self.writer.use("groups.hash_table", "own_text")
            line(f"{stem}_data[target, 0] = {value.words[0]}")
            line(f"{stem}_data[target, 1] = {keep}(control, {', '.join(value.words)})")
        elif kind.family == "numeric":
            line(f"{stem}_data[target, 0] = {value.words[0]}")
            line(f"{stem}_data[target, 1] = {value.words[1]}")
            if kind.display_scale is None:
                line(f"{stem}_scales[target] = {value.words[2]}")
        else:
            line(f"{stem}_data[target] = {value.word}")

    def _result_parameters(self) -> list[tuple[str, str]]:
        found = []
        for stem, (_, item) in zip(self.results, self.step.items, strict=True):
            found.append((stem + "_data", ARRAYS[item.type.row.kernel]))
            found.append((stem + "_nulls", NULLS))
            if item.type.is_variable_numeric:
                found.append((stem + "_scales", SCALES))
        return found

    def _module(self) -> GeneratedModule:
        """Return the module: header, prologue and loop around the body."""
        return row_kernel(
            "Finish step of a continuous view",
            FUNCTION,
            ARGUMENTS,
            self._result_parameters(),
            (),
            self.writer.lines,
            self.columns,
            self.expressions,
        )
