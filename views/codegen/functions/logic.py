"""AND, OR, NOT, the IS tests, CASE, COALESCE, NULLIF: three-valued logic, evaluated from left to
right and only as far as needed.
"""

from __future__ import annotations

from collections.abc import Sequence

from sql.functions.comparisons import EQUAL
from sql.tree.expressions import Call, Case, Cast, Column, Expression, Literal, Parameter
from sql.types.datatypes import SqlType
from views.codegen.expressions import ExpressionWriter, FunctionWriter
from views.codegen.functions import flat_logic
from views.codegen.functions.comparisons import OPERATORS, compare
from views.codegen.functions.constant_tables import constant_of, write_lookup, write_results
from views.codegen.values import ALWAYS, NEVER, Value, branchless, negation, zero_words
from views.model.equalities import Branch, Run, gathered, runs

# A connective of so many cheap operands has no branches.
BRANCHES_MAX = 16


def write_and(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """False if any operand is false, else NULL if any is NULL."""
    return _connect(writer, node, "and")


def write_or(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """True if any operand is true, else NULL if any is NULL."""
    return _connect(writer, node, "or")


def _connect(writer: ExpressionWriter, node: Call | Cast | Case, connective: str) -> Value:
    """Write both connectives.

    They go on while the result is open: for AND not yet false, for OR not yet true.
    """
    assert isinstance(node, Call)
    out = writer.writer
    conjunction = connective == "and"
    stem = "all_of" if conjunction else "any_of"
    operands = gathered(node)
    if len(operands) >= BRANCHES_MAX and all(map(is_cheap, operands)):
        return _connect_at_once(writer, operands, conjunction)
    if out.is_flat and len(operands) > 1:
        return flat_logic.connect(writer, operands, conjunction)
    first = writer.evaluate(operands[0])
    if len(operands) == 1:
        return first
    result = out.assign(stem, _open_result(first, conjunction))
    unknown = out.assign(stem + "_unknown", first.null)
    still_open = result if conjunction else negation(result)
    for operand in operands[1:]:
        with out.block(f"if {still_open}:"):
            value = writer.evaluate(operand)
            out.line(f"{result} = {_open_result(value, conjunction)}")
            if value.null != NEVER:
                out.line(f"{unknown} = {ALWAYS if value.null == ALWAYS else f'{unknown} or {value.null}'}")
    return Value((result,), out.assign(stem + "_null", f"{unknown} and {still_open}"))


def is_cheap(expression: Expression) -> bool:
    """Tell whether an expression is made of comparisons of columns and constants alone, which can't
    fail.
    """
    if isinstance(expression, Call) and expression.function in ("and", "or", "not"):
        return all(map(is_cheap, expression.arguments))
    if not isinstance(expression, Call) or expression.function not in OPERATORS:
        return False
    return all(isinstance(part, Column | Literal | Parameter) for part in expression.arguments)


def _connect_at_once(writer: ExpressionWriter, operands: Sequence[Expression], conjunction: bool) -> Value:
    """Write a connective of many cheap operands without branches.

    numba takes a time that grows with the branches times the variables that are set in them: 60
    pairs of comparisons took ten seconds.
    """
    values = []
    for operand in operands:
        if isinstance(operand, Call) and operand.function in ("and", "or"):
            values.append(_connect_at_once(writer, operand.arguments, operand.function == "and"))
        else:
            values.append(writer.evaluate(operand))
    nulls = list(dict.fromkeys(value.null for value in values if value.null != NEVER))
    open_value = "({word} | {null})" if conjunction else "({word} & (not {null}))"
    words = [
        value.word if value.null == NEVER else open_value.format(word=value.word, null=value.null) for value in values
    ]
    out = writer.writer
    stem = "all_of" if conjunction else "any_of"
    result = out.assign(stem, (" & " if conjunction else " | ").join(words))
    if not nulls:
        return Value((result,))
    unknown = " | ".join(f"({null})" for null in nulls)
    still_open = result if conjunction else f"(not {result})"
    return Value((result,), out.assign(stem + "_null", f"({unknown}) & {still_open}"))


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
    """Return the value of the first condition that is true; no other value is evaluated."""
    assert isinstance(node, Case)
    parts = runs(node)
    is_looked_up = any(isinstance(part, Run) for part in parts)
    if writer.writer.is_flat and not is_looked_up:
        return flat_logic.case(writer, node)
    result = writer.declare("chosen", node.type)
    if is_looked_up:
        _write_parts(writer, node, parts, result)
        return result
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
    """Write one WHEN, and the ELSE after it if it is the last one."""
    out = writer.writer
    truth = writer.evaluate(condition).truth
    with out.block(f"if {truth}:"):
        writer.store(result, writer.evaluate(value))
        if pending:
            out.line(f"{pending} = False")
    if default is not None and not (isinstance(default, Literal) and default.value is None):
        with out.block("else:"):
            writer.store(result, writer.evaluate(default))


def _write_parts(writer: ExpressionWriter, node: Case, parts: Sequence[Branch | Run], result: Value) -> None:
    """Write a CASE of which some branches are looked up."""
    out = writer.writer
    pending = out.assign("undecided", "True")
    for part in parts:
        with out.block(f"if {pending}:"):
            if isinstance(part, Run):
                _write_run(writer, part, node.type, result, pending)
            else:
                _write_branch(writer, *part, result, pending, None)
    if not (isinstance(node.default, Literal) and node.default.value is None):
        with out.block(f"if {pending}:"):
            writer.store(result, writer.evaluate(node.default))


def _write_run(writer: ExpressionWriter, run: Run, kind: SqlType, result: Value, pending: str) -> None:
    """Write branches that are decided by one look-up: their results are looked up too where they
    are constants.
    """
    out = writer.writer
    operand = writer.evaluate(run.operand)
    if operand.null == ALWAYS:
        return
    with out.block("if True:" if operand.null == NEVER else f"if {operand.known}:"):
        place = write_lookup(writer, run.operand.type, operand, run.constants)
        constants = [constant_of(found, kind) for found in run.results]
        results = [found for found in constants if found is not None]
        if len(results) == len(run.results):
            with out.block(f"if {place} >= 0:"):
                writer.store(result, write_results(writer, kind, results, place))
                out.line(f"{pending} = False")
            return
        if out.is_flat:
            chosen = Value(zero_words(kind), ALWAYS)
            for number, found in enumerate(run.results):
                chosen = flat_logic.choose(writer, out.assign("taken", f"{place} == {number}"), found, chosen)
            with out.block(f"if {place} >= 0:"):
                writer.store(result, chosen)
                out.line(f"{pending} = False")
            return
        for number, found in enumerate(run.results):
            with out.block(f"if {place} == {number}:"):
                writer.store(result, writer.evaluate(found))
                out.line(f"{pending} = False")


def write_coalesce(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """The first argument that is not NULL."""
    assert isinstance(node, Call)
    if writer.writer.is_flat:
        return flat_logic.coalesce(writer, node)
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
    equal = compare(writer, EQUAL, node.arguments[0].type, first, writer.evaluate(node.arguments[1]))
    if writer.writer.is_flat:
        either = f"({flat_logic.truth_of(equal)}) | ({branchless(first.null)})"
        return Value(first.words, writer.writer.assign("nullif_null", either))
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
