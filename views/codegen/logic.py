"""AND, OR, NOT, the IS tests, CASE, COALESCE, NULLIF: three-valued logic, evaluated from left to right and only as far as needed."""

from __future__ import annotations

from sql.expressions import Call, Case, Cast, Expression, Literal
from views.codegen.comparisons import compare
from views.codegen.expressions import ExpressionWriter, FunctionWriter
from views.codegen.values import ALWAYS, NEVER, Value


def write_and(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """False if any operand is false, else NULL if any is NULL."""
    return _connect(writer, node, "and")


def write_or(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """True if any operand is true, else NULL if any is NULL."""
    return _connect(writer, node, "or")


def _connect(writer: ExpressionWriter, node: Call | Cast | Case, connective: str) -> Value:
    """Write both connectives: they go on while the result is still open, which for AND is true, for OR false."""
    assert isinstance(node, Call)
    out = writer.writer
    open_value, still_open = ("True", "{0}") if connective == "and" else ("False", "not {0}")
    result = out.assign(connective, open_value)
    unknown = out.assign(connective + "_unknown", "False")
    for position, operand in enumerate(node.arguments):
        if position == 0:
            _connect_operand(writer, operand, result, unknown, connective)
            continue
        with out.block(f"if {still_open.format(result)}:"):
            _connect_operand(writer, operand, result, unknown, connective)
    null = f"{unknown} and {still_open.format(result)}"
    return Value((result,), out.assign(connective + "_null", null))


def _connect_operand(writer: ExpressionWriter, operand: Expression, result: str, unknown: str, connective: str) -> None:
    value = writer.evaluate(operand)
    out = writer.writer
    if value.null == ALWAYS:
        out.line(f"{unknown} = True")
        return
    if value.null == NEVER:
        out.line(f"{result} = {value.word}")
        return
    out.line(f"{unknown} = {unknown} or {value.null}")
    if connective == "and":
        out.line(f"{result} = {value.word} or {value.null}")
    else:
        out.line(f"{result} = {value.word} and not ({value.null})")


def write_not(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """Exchange true and false."""
    assert isinstance(node, Call)
    value = writer.evaluate(node.arguments[0])
    return Value((f"(not {value.word})",), value.null)


def write_truth_test(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """IS [NOT] TRUE, IS [NOT] FALSE: never NULL."""
    assert isinstance(node, Call)
    value = writer.evaluate(node.arguments[0])
    negated = "not" in node.function
    if node.function.endswith("true"):
        text = value.truth
    elif value.null == NEVER:
        text = f"not {value.word}"
    else:
        text = f"not {value.word} and not ({value.null})"
    return Value((writer.writer.assign(node.function, f"not ({text})" if negated else text),))


def write_null_test(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """IS [NOT] NULL."""
    assert isinstance(node, Call)
    null = writer.evaluate(node.arguments[0]).null
    text = null if node.function == "is_null" else f"not ({null})"
    return Value((writer.writer.assign(node.function, text),))


def write_case(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """The value behind the first condition that is true; nothing else is evaluated."""
    assert isinstance(node, Case)
    result = writer.declare("case", node.type)
    pending = "" if len(node.branches) == 1 else writer.writer.assign("case_open", "True")
    for position, (condition, value) in enumerate(node.branches):
        if position == 0:
            _write_branch(writer, condition, value, result, pending, None if pending else node.default)
            continue
        with writer.writer.block(f"if {pending}:"):
            last = position == len(node.branches) - 1
            _write_branch(writer, condition, value, result, pending, node.default if last else None)
    return result


def _write_branch(
    writer: ExpressionWriter,
    condition: Expression,
    value: Expression,
    result: Value,
    pending: str,
    default: Expression | None,
) -> None:
    """Write one WHEN, and the ELSE behind it if it is the last one."""
    out = writer.writer
    truth = writer.evaluate(condition).truth
    with out.block(f"if {truth}:"):
        writer.store(result, writer.evaluate(value))
        if pending:
            out.line(f"{pending} = False")
    if default is not None and not (isinstance(default, Literal) and default.value is None):
        with out.block("else:"):
            writer.store(result, writer.evaluate(default))


def write_coalesce(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """The first argument that is not NULL."""
    assert isinstance(node, Call)
    first = writer.evaluate(node.arguments[0])
    if first.null == NEVER or len(node.arguments) == 1:
        return first
    result = writer.declare("coalesce", node.type)
    writer.store(result, first)
    for argument in node.arguments[1:]:
        with writer.writer.block(f"if {result.null}:"):
            writer.store(result, writer.evaluate(argument))
    return result


def write_nullif(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """The first argument, or NULL if it equals the second."""
    assert isinstance(node, Call)
    first = writer.evaluate(node.arguments[0])
    equal = compare(writer, "eq", node.arguments[0].type, first, writer.evaluate(node.arguments[1]))
    null = equal.truth if first.null == NEVER else f"{first.null} or {equal.truth}"
    return Value(first.words, writer.writer.assign("nullif_null", null))


FUNCTIONS: dict[str, FunctionWriter] = {
    "and": write_and,
    "or": write_or,
    "not": write_not,
    "is_true": write_truth_test,
    "is_not_true": write_truth_test,
    "is_false": write_truth_test,
    "is_not_false": write_truth_test,
    "is_null": write_null_test,
    "is_not_null": write_null_test,
    "case": write_case,
    "coalesce": write_coalesce,
    "nullif": write_nullif,
}
