"""The test whether our kernels can evaluate an expression.

Above the first grouping Spark evaluates the others; below it the embedded engine computes them as
columns, before the kernel runs.

Enters: an expression and the schema that it addresses. Leaves: yes or no, by writing the lines and
dropping them.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from sql.errors import SqlError
from sql.functions.volatility import is_volatile
from sql.tree.expressions import Expression, OuterColumn, Parameter, Subquery
from sql.tree.relations import OutputColumn, Schema
from views.codegen.columns import InputColumns
from views.codegen.expressions import NOTHING_COMPUTED, ExpressionWriter
from views.codegen.functions.table import FUNCTIONS
from views.codegen.writer import KernelWriter
from views.model.nodes import StreamPipeline
from views.model.steps import pipeline_expressions
from views.model.trees import columns_of, meaning, parts, walk


def kernel_supports(
    expression: Expression, schema: Schema, computed: Mapping[Expression, int] = NOTHING_COMPUTED
) -> bool:
    """Return whether a kernel can evaluate `expression` over `schema`.

    computed: the columns of the schema that have the values of expressions.
    """
    columns = InputColumns(schema)
    writer = ExpressionWriter(KernelWriter(1, lambda error, number: []), columns, FUNCTIONS, computed=computed)
    try:
        writer.evaluate(expression)
    except SqlError as error:
        if error.sqlstate != "0A000":
            raise
        return False
    return True


def computed_columns(pipeline: StreamPipeline) -> tuple[Expression, ...]:
    """Return the expressions whose values have to be computed before the kernel, over its input.

    They are the smallest parts of the pipeline's expressions that no kernel evaluates, and whose
    values kernels can hold. What can't be cut in this way is left to the kernel to refuse.
    """
    cuts = Cuts(pipeline.row, range(len(pipeline.input)))
    for expression in pipeline_expressions(pipeline):
        cuts.cut(expression)
    return tuple(cuts.found.values())


class Cuts:
    """The parts of expressions that are computed before the kernel.

    Attributes:
        found: by their meaning.

    Arguments:
        row: what the expressions address.
        known: those of its columns that are known before the kernel.
    """

    def __init__(self, row: Schema, known: Container[int]) -> None:
        self.found: dict[Expression, Expression] = {}
        self._row = row
        self._known = known

    def cut(self, expression: Expression) -> bool:
        """Find the parts of an expression to compute; False when there is no way."""
        if self._is_supported(expression):
            return True
        before = dict(self.found)
        below = parts(expression)
        if below and all(self.cut(part) for part in below) and self._is_supported(expression):
            return True
        self.found = before
        if not expression.type.row.kernel or not self._is_computable(expression):
            return False
        self.found[meaning(expression)] = expression
        return True

    def _is_supported(self, expression: Expression) -> bool:
        computed = {found: len(self._row) + place for place, found in enumerate(self.found)}
        return kernel_supports(expression, with_computed(self._row, tuple(self.found)), computed)

    def _is_computable(self, expression: Expression) -> bool:
        """Tell whether the value follows from the columns that are there before the kernel."""
        return (
            all(index in self._known for index in columns_of(expression))
            and not is_volatile(expression)
            and not any(isinstance(part, Subquery | OuterColumn | Parameter) for part in walk(expression))
        )


def with_computed(schema: Schema, computed: tuple[Expression, ...]) -> Schema:
    """Return a schema with a column for each expression at its end."""
    return (*schema, *(OutputColumn(f"computed {number}", part.type) for number, part in enumerate(computed)))
