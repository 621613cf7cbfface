"""Functions that are one call of a kernel, or a few words of source text: the row of the table of
functions says which.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ringbuffer.scalar.calendars.fields import FIELD_CODES
from sql.functions.arguments import literal_bin_us
from sql.functions.rows import Kernel
from sql.functions.table import ROWS, kernel_of
from sql.tree.expressions import Call, Case, Cast
from views.codegen.expressions import ExpressionWriter, FunctionWriter, literal_argument
from views.codegen.functions.narrow_decimals import narrow_arithmetic
from views.codegen.functions.templates import program_constant
from views.codegen.functions.times import zone_arrays
from views.codegen.values import ALWAYS, Value, has_known_scale
from views.codegen.writer import KernelWriter
from views.model.refusals import not_in_kernels

ZONE = "zone"
# The words of operands that are constants.
READERS: Mapping[str, Callable[[KernelWriter, Call, int], str]] = {
    "field": lambda writer, node, place: str(FIELD_CODES[str(literal_argument(node, place))]),
    ZONE: lambda writer, node, place: zone_arrays(writer, str(literal_argument(node, place))),
    "template": program_constant,
    "width": lambda writer, node, place: str(literal_bin_us(node.arguments[place])),
}


def write_kernel(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """A call of the words of all operands."""
    assert isinstance(node, Call)
    row = ROWS[node.function]
    node = node if row.kernel_call is None else row.kernel_call(node)
    family = node.arguments[row.kernel_operand].type.family if node.arguments else ""
    kernel = kernel_of(node.function, family)
    if kernel is None:
        written = node.text or f"{node.function}()"
        raise not_in_kernels(f"{written} of {node.arguments[row.kernel_operand].type.sql_name}", node.position)
    if isinstance(kernel, Kernel) and kernel.folds:
        return folded(writer, node, kernel)
    reads = kernel.reads if isinstance(kernel, Kernel) else {}
    values = tuple(
        Value((READERS[reads[place]](writer.writer, node, place),)) if place in reads else writer.evaluate(argument)
        for place, argument in enumerate(node.arguments)
    )
    if family == "numeric":
        narrow = narrow_arithmetic(writer.writer, node.function, node.type.display_scale, values)
        if narrow is not None:
            return narrow
    if family == "numeric" and not all_known(node, values):
        kernel = kernel_of(node.function, "variable")
    if isinstance(kernel, str):
        text = kernel.format(*(value.words[0] for value in values))
        return writer.strict(node, text, values, f"{node.function}_result", fallible=False)
    assert kernel is not None, node.function
    return written_call(writer, node, kernel, values)


def all_known(node: Call, values: tuple[Value, ...]) -> bool:
    """Tell whether the scales of all numerics are constants of the code."""
    pairs = zip(node.arguments, values, strict=True)
    return all(has_known_scale(value) for argument, value in pairs if argument.type.family == "numeric")


def written_call(writer: ExpressionWriter, node: Call, kernel: Kernel, values: tuple[Value, ...]) -> Value:
    """Write the call of a kernel."""
    out = writer.writer
    zones = [place for place, what in kernel.reads.items() if what == ZONE and place < len(values)]
    words = [word for place, value in enumerate(values) if place not in zones for word in value.words]
    if len(values) < max((len(overload.arguments) for overload in ROWS[node.function].overloads), default=0):
        words += kernel.left_out
    if kernel.null_where:
        # Of the first two words: what has a field has one word.
        values = (*values, null_value(writer, kernel, words[:2], values))
    if kernel.scratch:
        words.append(out.scratch())
    words += [word for place in zones for word in values[place].words]
    module, _, function = kernel.name.rpartition(".")
    call = f"{use_kernel(out, kernel.name)}({', '.join([*words, *kernel.constants])})"
    # The variable of a number must not have the name of a kernel, or of a function of Python's.
    is_named = module.startswith("numbers.") or function == node.function
    stem = f"{node.function}_result" if is_named else node.function
    if not kernel.keeps_scale or node.type.family != "numeric":
        return writer.strict(node, call, values, stem, kernel.fallible)
    names = [out.name(stem + suffix) for suffix in ("_lo", "_hi")]
    out.line(f"{', '.join(names)} = {call}")
    return Value((*names, values[0].words[2]), values[0].null)


def null_value(writer: ExpressionWriter, kernel: Kernel, words: list[str], values: tuple[Value, ...]) -> Value:
    """Return what is NULL where the kernel's value is."""
    if any(value.null == ALWAYS for value in values):
        return Value((), ALWAYS)
    lacking = f"{use_kernel(writer.writer, kernel.null_where)}({', '.join(words)})"
    return Value((), writer.writer.assign("lacking", lacking))


def folded(writer: ExpressionWriter, node: Call, kernel: Kernel) -> Value:
    """Write a call of the kernel for each operand that is not NULL."""
    out = writer.writer
    result = tuple(out.name(node.function + suffix) for suffix in ("_w0", "_w1", "_heap"))
    out.line(f"{', '.join(result)} = 0, 0, 0")
    for argument in node.arguments:
        value = writer.evaluate(argument)
        if value.null == ALWAYS:
            continue
        call = f"{use_kernel(out, kernel.name)}({', '.join((*result, *value.words))}, {out.scratch()})"
        with out.block(f"if {out.wanted(value.known)}:"):
            out.line(f"{', '.join(result)}, error = {call}")
            out.fail_if_error(node.text or node.function)
    return Value(result)


def use_kernel(writer: KernelWriter, name: str) -> str:
    """Return the name of a kernel in the module that is written."""
    module, _, function = name.rpartition(".")
    return writer.use(f"scalar.{module}", function)


FUNCTIONS: dict[str, FunctionWriter] = {row.canonical: write_kernel for row in ROWS.values() if row.kernel is not None}
