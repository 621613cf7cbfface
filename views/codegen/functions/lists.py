"""Values as groups keep them: elements of lists, which are the bytes of a value or of NULL, and
pairs of floats.
"""

from __future__ import annotations

from sql.tree.expressions import Call, Case, Cast
from sql.types.datatypes import SqlType
from views.codegen.expressions import ExpressionWriter, FunctionWriter, text_of
from views.codegen.values import ALWAYS, Value, any_null, is_string, word_suffixes
from views.model.nodes import ELEMENT, PAIR

MODULE = "scalar.texts.list_elements"
WIDTHS = {"bool": 1, "int2": 2, "int4": 4, "date": 4}


def write_element(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """The element of a value: a text that is never NULL."""
    assert isinstance(node, Call)
    (argument,) = node.arguments
    value, out = writer.evaluate(argument), writer.writer
    nothing = out.use(MODULE, "NULL_ELEMENT")
    if value.null == ALWAYS:
        return Value((nothing, "0", "0"))
    names = tuple(out.name("element" + suffix) for suffix in word_suffixes(node.type))
    out.line(f"{', '.join(names)} = {nothing}, 0, 0")
    function, words, is_long = _kernel(argument.type, value)
    call = f"{out.use(MODULE, function)}({', '.join((*words, *([out.scratch()] if is_long else [])))})"
    with out.block(f"if {out.wanted(value.known)}:"):
        out.line(f"{', '.join(names)}{', error' if is_long else ''} = {call}")
        if is_long:
            out.fail_if_error(text_of(argument))
    return Value(names)


def _kernel(kind: SqlType, value: Value) -> tuple[str, tuple[str, ...], bool]:
    """Return the kernel of a type, the words that it takes, and whether it may need the scratch
    heap.
    """
    if kind.family == "numeric":
        return "numeric_element", value.words, True
    if is_string(kind):
        return "text_element", value.words, True
    if kind.family in ("float4", "float8"):
        return f"float{'32' if kind.family == 'float4' else '64'}_element", (f"np.float64({value.word})",), False
    return "word_element", (f"1 * ({value.word})", str(WIDTHS.get(kind.family, 8))), False


def write_pair(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """Two floats as one value of two words."""
    assert isinstance(node, Call)
    values = [writer.evaluate(argument) for argument in node.arguments]
    null = any_null(*values)
    return Value(() if null == ALWAYS else tuple(f"np.float64({value.word})" for value in values), null)


FUNCTIONS: dict[str, FunctionWriter] = {ELEMENT: write_element, PAIR: write_pair}
