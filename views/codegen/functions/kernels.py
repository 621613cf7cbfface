"""Functions that are one call of a kernel: the kernel is in the row of the table of functions."""

from __future__ import annotations

from sql.functions.table import ROWS, kernel_of
from sql.tree.expressions import Call, Case, Cast
from views.codegen.expressions import ExpressionWriter, FunctionWriter
from views.codegen.functions.text import use_scratch
from views.codegen.values import Value
from views.model.refusals import not_in_kernels


def write_kernel(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """A call of the words of all operands."""
    assert isinstance(node, Call)
    kernel = kernel_of(node.function, node.arguments[0].type.family)
    if kernel is None:
        written = node.text or f"{node.function}()"
        raise not_in_kernels(f"{written} of {node.arguments[0].type.sql_name}", node.position)
    values = tuple(writer.evaluate(argument) for argument in node.arguments)
    words = [word for value in values for word in value.words]
    if kernel.scratch:
        words.append(use_scratch(writer.writer))
    module, _, function = kernel.name.rpartition(".")
    call = f"{writer.writer.use(f'scalar.{module}', function)}({', '.join(words)})"
    # The variable of a number must not have the name of a kernel.
    stem = f"{node.function}_result" if module.startswith("numbers.") else node.function
    return writer.strict(node, call, values, stem, kernel.fallible)


FUNCTIONS: dict[str, FunctionWriter] = {row.canonical: write_kernel for row in ROWS.values() if row.kernel is not None}
