"""Functions that are one call of a kernel, or a few words of source text: the row of the table of
functions says which.
"""

from __future__ import annotations

from sql.functions.rows import Kernel
from sql.functions.table import ROWS, kernel_of
from sql.tree.expressions import Call, Case, Cast
from views.codegen.expressions import ExpressionWriter, FunctionWriter
from views.codegen.functions.text import use_scratch
from views.codegen.values import Value, has_known_scale
from views.model.refusals import not_in_kernels


def write_kernel(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """A call of the words of all operands."""
    assert isinstance(node, Call)
    values = tuple(writer.evaluate(argument) for argument in node.arguments)
    kernel = kernel_of(node.function, form_of_values(node, values))
    if kernel is None:
        written = node.text or f"{node.function}()"
        raise not_in_kernels(f"{written} of {node.arguments[0].type.sql_name}", node.position)
    if isinstance(kernel, str):
        text = kernel.format(*(value.words[0] for value in values))
        return writer.strict(node, text, values, f"{node.function}_result", fallible=False)
    return written_call(writer, node, kernel, values)


def form_of_values(node: Call, values: tuple[Value, ...]) -> str:
    """Return the form of the operands that selects the kernel."""
    family = node.arguments[0].type.family if node.arguments else ""
    if family != "numeric":
        return family
    pairs = zip(node.arguments, values, strict=True)
    is_known = all(has_known_scale(value) for argument, value in pairs if argument.type.family == "numeric")
    return family if is_known else "variable"


def written_call(writer: ExpressionWriter, node: Call, kernel: Kernel, values: tuple[Value, ...]) -> Value:
    """Write the call of a kernel."""
    out = writer.writer
    words = [word for value in values for word in value.words]
    if len(values) < max((len(overload.arguments) for overload in ROWS[node.function].overloads), default=0):
        words += kernel.left_out
    if kernel.scratch:
        words.append(use_scratch(out))
    module, _, function = kernel.name.rpartition(".")
    call = f"{out.use(f'scalar.{module}', function)}({', '.join([*words, *kernel.constants])})"
    # The variable of a number must not have the name of a kernel, or of a function of Python's.
    is_named = module.startswith("numbers.") or function == node.function
    stem = f"{node.function}_result" if is_named else node.function
    if not kernel.keeps_scale or node.type.family != "numeric":
        return writer.strict(node, call, values, stem, kernel.fallible)
    names = [out.name(stem + suffix) for suffix in ("_lo", "_hi")]
    out.line(f"{', '.join(names)} = {call}")
    return Value((*names, values[0].words[2]), values[0].null)


FUNCTIONS: dict[str, FunctionWriter] = {row.canonical: write_kernel for row in ROWS.values() if row.kernel is not None}
