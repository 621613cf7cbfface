"""String functions.

Those that make new bytes take the kernel's scratch heap; the others point into their arguments.
"""

from __future__ import annotations

from ringbuffer.scalar.texts.text_like import like_pattern
from sql.errors import not_supported
from sql.tree.expressions import Call, Case, Cast, Literal
from sql.types.datatypes import SqlType
from views.codegen.expressions import ExpressionWriter, FunctionWriter, literal_argument
from views.codegen.literals import text_words
from views.codegen.values import ALWAYS, Value
from views.codegen.writer import KernelWriter


def use_scratch(writer: KernelWriter) -> str:
    """Return the scratch heap as an argument, and note that the kernel needs it."""
    writer.uses_scratch = True
    return "scratch"


def write_like(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """LIKE and ILIKE with a constant escape character; a constant pattern has it replaced here."""
    assert isinstance(node, Call)
    escape = str(literal_argument(node, 2))
    text = writer.evaluate(node.arguments[0])
    pattern_node = node.arguments[1]
    if isinstance(pattern_node, Literal) and isinstance(pattern_node.value, str):
        pattern = Value(text_words(like_pattern(pattern_node.value, escape), writer.long_texts))
    else:
        if escape != "\\":
            raise not_supported("LIKE with a pattern that is not a constant and an ESCAPE of its own", node.position)
        pattern = writer.evaluate(pattern_node)
    function = writer.writer.use("scalar.texts.text_like", "text_" + node.function)
    call = f"{function}({', '.join((*text.words, *pattern.words))})"
    matched = Call(node.function, node.arguments, SqlType("int4"), node.position, node.text)
    result = writer.strict(matched, call, (text, pattern), node.function, fallible=True)
    return Value((f"({result.word} != 0)",), result.null)


def write_concat(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """concat(...): NULLs count as empty; never NULL."""
    assert isinstance(node, Call)
    out = writer.writer
    result = tuple(out.name("concat" + suffix) for suffix in ("_w0", "_w1", "_heap"))
    out.line(f"{', '.join(result)} = 0, 0, 0")
    for argument in node.arguments:
        value = writer.evaluate(argument)
        if value.null == ALWAYS:
            continue
        function = out.use("scalar.texts.text_functions", "text_concat")
        call = f"{function}({', '.join((*result, *value.words))}, {use_scratch(out)})"
        with out.block(f"if {out.wanted(value.known)}:"):
            out.line(f"{', '.join(result)}, error = {call}")
            out.fail_if_error(node.text or "concat")
    return Value(result)


FUNCTIONS: dict[str, FunctionWriter] = {
    "like": write_like,
    "ilike": write_like,
    "concat": write_concat,
}
