"""AND, OR, CASE, COALESCE and NULLIF in a flat function (`views.codegen.writer`): without branches.

What SQL does not evaluate is *skipped*: what can fail in it is not called, what can't is computed
in vain. numba takes a time that grows with the branches times the variables that are set in them:
100 pairs of computed comparisons took 100 seconds, and take 4 now.
"""

from __future__ import annotations

from collections.abc import Sequence

from sql.tree.expressions import Call, Case, Expression, Literal
from views.codegen.expressions import ExpressionWriter
from views.codegen.values import ALWAYS, NEVER, Value, branchless, negation, zero_words


def connect(writer: ExpressionWriter, operands: Sequence[Expression], conjunction: bool) -> Value:
    """Write AND or OR of several operands."""
    out = writer.writer
    stem = "all_of" if conjunction else "any_of"
    first = writer.evaluate(operands[0])
    result = out.assign(stem, _open(first, conjunction))
    unknown = first.null
    for operand in operands[1:]:
        with out.skipped(f"not {result}" if conjunction else result):
            value = writer.evaluate(operand)
        result = out.assign(stem, f"{result} {'&' if conjunction else '|'} ({_open(value, conjunction)})")
        if unknown == NEVER or value.null == ALWAYS:
            unknown = value.null
        elif value.null != NEVER and unknown != ALWAYS:
            unknown = out.assign(stem + "_unknown", f"({branchless(unknown)}) | ({branchless(value.null)})")
    if unknown == NEVER:
        return Value((result,))
    still_open = result if conjunction else f"(not {result})"
    return Value((result,), out.assign(stem + "_null", f"({branchless(unknown)}) & {still_open}"))


def _open(value: Value, conjunction: bool) -> str:
    """Return the source text of an operand, with NULL as what leaves the result open."""
    if value.null in (NEVER, ALWAYS):
        return value.word if value.null == NEVER else repr(conjunction)
    if conjunction:
        return f"({value.word}) | ({branchless(value.null)})"
    return truth_of(value)


def truth_of(value: Value) -> str:
    """Return source text that is true when a boolean value is true."""
    if value.null in (NEVER, ALWAYS):
        return value.word if value.null == NEVER else NEVER
    return f"({value.word}) & (not ({branchless(value.null)}))"


def case(writer: ExpressionWriter, node: Case) -> Value:
    """Write the value of the first condition that is true."""
    out = writer.writer
    chosen = Value(zero_words(node.type), ALWAYS)
    undecided = ALWAYS
    for condition, value in node.branches:
        with out.skipped(negation(undecided)):
            truth = truth_of(writer.evaluate(condition))
        taken = out.assign("taken", truth if undecided == ALWAYS else f"{undecided} & ({truth})")
        chosen = choose(writer, taken, value, chosen)
        undecided = out.assign("undecided", f"not {taken}" if undecided == ALWAYS else f"{undecided} & (not {taken})")
    if isinstance(node.default, Literal) and node.default.value is None:
        return chosen
    return choose(writer, undecided, node.default, chosen)


def choose(writer: ExpressionWriter, taken: str, expression: Expression, otherwise: Value) -> Value:
    """Write `expression` where the variable `taken` is true, and return it or else what there is
    otherwise.
    """
    out = writer.writer
    with out.skipped(f"not {taken}"):
        value = writer.evaluate(expression)
    if otherwise.null == ALWAYS and value.null == ALWAYS:
        return otherwise
    if value.null == ALWAYS:
        return Value(otherwise.words, out.assign("chosen_null", f"({branchless(otherwise.null)}) | {taken}"))
    if otherwise.null == ALWAYS:
        null = f"not {taken}" if value.null == NEVER else f"(not {taken}) | ({branchless(value.null)})"
        return Value(value.words, out.assign("chosen_null", null))
    select = out.use("scalar.numbers.selection", "select")
    words = [
        word if word == other else out.assign("chosen", f"{select}({taken}, {word}, {other})")
        for word, other in zip(value.words, otherwise.words, strict=True)
    ]
    if value.null == NEVER and otherwise.null == NEVER:
        return Value(tuple(words))
    return Value(tuple(words), out.assign("chosen_null", f"{select}({taken}, {value.null}, {otherwise.null})"))


def coalesce(writer: ExpressionWriter, node: Call) -> Value:
    """Write the first argument that is not NULL."""
    out = writer.writer
    found = writer.evaluate(node.arguments[0])
    for argument in node.arguments[1:]:
        if found.null == NEVER:
            break
        missing = ALWAYS if found.null == ALWAYS else out.assign("missing", branchless(found.null))
        found = writer.evaluate(argument) if missing == ALWAYS else choose(writer, missing, argument, found)
    return found
