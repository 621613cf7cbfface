"""The test whether our kernels can evaluate an expression.

Above the first grouping Spark evaluates the others.

Enters: an expression and the schema that it addresses. Leaves: yes or no, by writing the lines and
dropping them.
"""

from __future__ import annotations

from sql.errors import SqlError
from sql.tree.expressions import Expression
from sql.tree.relations import Schema
from views.codegen.columns import InputColumns
from views.codegen.expressions import ExpressionWriter
from views.codegen.functions.table import FUNCTIONS
from views.codegen.writer import KernelWriter


def kernel_supports(expression: Expression, schema: Schema) -> bool:
    """Return whether a kernel can evaluate `expression` over `schema`."""
    writer = ExpressionWriter(KernelWriter(1, lambda error, number: []), InputColumns(schema), FUNCTIONS)
    try:
        writer.evaluate(expression)
    except SqlError as error:
        if error.sqlstate != "0A000":
            raise
        return False
    return True
