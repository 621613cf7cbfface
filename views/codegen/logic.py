"""AND, OR, NOT, the IS tests, CASE, COALESCE, NULLIF: three-valued logic, evaluated from left to right and only as far as needed."""

from __future__ import annotations

from sql.expressions import Call, Case, Cast, Expression, Literal
from views.codegen.comparisons import compare
from views.codegen.expressions import ExpressionWriter, FunctionWriter
from views.codegen.values import ALWAYS, NEVER, Value, negation


def write_and(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """False if any operand is false, else NULL if any is NULL."""
    return _connect(writer, node, "and")


def write_or(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """True if any operand is true, else NULL if any is NULL."""
    return _connect(writer, node, "or")


def _connect(writer: ExpressionWriter, node: Call | Cast | Case, connective: str) -> Value:
    """Write both connectives. They go on while the result is open: for AND not yet false, for OR not yet true."""
    assert isinstance(node, Call)
    out = writer.writer
    conjunction = connective == "and"
    stem = "all_of" if conjunction else "any_of"
    first = writer.evaluate(node.arguments[0])
    result = out.assign(stem, _open_result(first, conjunction))
    unknown = out.assign(stem + "_unknown", first.null)
    still_open = result if conjunction else negation(result)
    for operand in node.arguments[1:]:
        with out.block(f"if {still_open}:"):
            value = writer.evaluate(operand)
            out.line(f"{result} = {_open_result(value, conjunction)}")
            if value.null != NEVER:
                out.line(f"{unknown} = {ALWAYS if value.null == ALWAYS else f'{unknown} or {value.null}'}")
    return Value((result,), out.assign(stem + "_null", f"{unknown} and {still_open}"))


def _open_result(value: Value, conjunction: bool) -> str:
    """Return the source text of an operand, with NULL as what leaves the result open."""
    if value.null in (NEVER, ALWAYS):
        return value.word if value.null == NEVER else repr(conjunction)
    return f"{value.word} or {value.null}" if conjunction else value.truth


def write_not(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """Exchange true and false."""
    assert isinstance(node, Call)
    value = writer.evaluate(node.arguments[0])
    return Value((f"({negation(value.word)})",), value.null)


def write_truth_test(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """IS [NOT] TRUE, IS [NOT] FALSE: never NULL."""
    assert isinstance(node, Call)
    value = writer.evaluate(node.arguments[0])
    negated = "not" in node.function
    if node.function.endswith("true"):
        text = value.truth
    elif value.null == NEVER:
        text = negation(value.word)
    else:
        text = f"{negation(value.word)} and {value.known}"
    return Value((writer.writer.assign(node.function, negation(text) if negated else text),))


def write_null_test(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """IS [NOT] NULL."""
    assert isinstance(node, Call)
    null = writer.evaluate(node.arguments[0]).null
    text = null if node.function == "is_null" else negation(null)
    return Value((writer.writer.assign(node.function, text),))


def write_case(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """The value behind the first condition that is true; nothing else is evaluated."""
    assert isinstance(node, Case)
    result = writer.declare("chosen", node.type)
    pending = "" if len(node.branches) == 1 else writer.writer.assign("undecided", "True")
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
