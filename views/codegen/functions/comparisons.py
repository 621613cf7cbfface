"""Comparisons of all types, IN lists, IS DISTINCT FROM, GREATEST and LEAST.

NaN equals itself and is greater than every other float.
"""

from __future__ import annotations

import re

from ringbuffer.scalar.calendars.calendar import DAY_US, TIMESTAMP_INFINITY
from sql.functions.comparisons import COMPARED_DAYS, COMPARISONS, EQUAL, TURNED, UNEQUAL
from sql.tree.expressions import Call, Case, Cast, Literal
from sql.types.datatypes import DATE, SqlType
from views.codegen.expressions import ExpressionWriter, FunctionWriter
from views.codegen.functions.constant_tables import write_lookup
from views.codegen.functions.narrow_decimals import aligned
from views.codegen.values import (
    ALWAYS,
    COMPARED_BYTES,
    FLOATS,
    NEVER,
    Value,
    any_null,
    compared_form,
    has_equal_bytes,
    has_equality,
    has_order,
    is_plainly_compared,
    negation,
    numeric_function,
)
from views.model.equalities import CONSTANTS_MIN, is_ordered
from views.model.refusals import not_in_kernels

INTEGER = re.compile(r"-?\d+")
# As Python writes them.
OPERATORS = COMPARISONS | {EQUAL: "==", UNEQUAL: "!="}


def compare(writer: ExpressionWriter, function: str, kind: SqlType, left: Value, right: Value) -> Value:
    """Write a comparison of two values of the family of `kind`, NULL if one of them is."""
    null = any_null(left, right)
    if null == ALWAYS:
        return Value(("False",), ALWAYS)
    text = comparison_text(writer, function, kind, left, right)
    return Value((writer.writer.assign(function, text),), writer.named_null(function, null))


def comparison_text(writer: ExpressionWriter, function: str, kind: SqlType, left: Value, right: Value) -> str:
    """Return source text of a comparison of values that are not NULL."""
    operator = OPERATORS[function]
    use = writer.writer.use
    a, b = ", ".join(left.words), ", ".join(right.words)
    if kind.family in FLOATS:
        return f"{use('scalar.numbers.floats', 'compare_float64')}(np.float64({a}), np.float64({b})) {operator} 0"
    if kind.family in COMPARED_BYTES:
        if operator in ("==", "!="):
            return _equal(operator, use("scalar.texts.text_values", "text_equal"), a, b)
        return f"{use('scalar.texts.text_values', 'text_compare')}({a}, {b}) {operator} 0"
    if not is_plainly_compared(kind):
        return _of_bytes(writer, function, kind, a, b)
    if kind.family != "numeric":
        return f"{a} {operator} {b}"
    words = aligned(left, right)
    if words is not None:
        return f"{words[0][0]} {operator} {words[1][0]}"
    if left.words[2] == right.words[2]:
        a, b = ", ".join(left.words[:2]), ", ".join(right.words[:2])
        return f"{use('scalar.numbers.int128', 'int128_compare')}({a}, {b}) {operator} 0"
    return f"{use(*numeric_function('compare', left, right))}({a}, {b}) {operator} 0"


def _equal(operator: str, function: str, a: str, b: str) -> str:
    return f"{'not ' if operator == '!=' else ''}{function}({a}, {b})"


def _of_bytes(writer: ExpressionWriter, function: str, kind: SqlType, a: str, b: str) -> str:
    """Return source text of a comparison of values whose bytes alone do not tell their order."""
    operator, use = OPERATORS[function], writer.writer.use
    tests_equality = operator in ("==", "!=")
    if tests_equality and has_equal_bytes(kind):
        return _equal(operator, use("scalar.texts.text_values", "text_equal"), a, b)
    if has_order(kind) or (tests_equality and has_equality(kind)):
        compare = use("scalar.texts.compared_bytes", "stored_compare")
        return f"{compare}({compared_form(kind)}, {a}, {b}) {operator} 0"
    raise not_in_kernels(f"a comparison of values of type {kind.sql_name}", None)


def write_comparison(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """=, <>, <, <=, >, >=."""
    assert isinstance(node, Call)
    of_day = day_comparison(writer, node)
    if of_day is not None:
        return of_day
    left, right = (writer.evaluate(argument) for argument in node.arguments)
    return compare(writer, node.function, node.arguments[0].type, left, right)


def day_comparison(writer: ExpressionWriter, node: Call) -> Value | None:
    """Write the comparison of a date with a constant time stamp as one with a date; None for
    others.

    What is no midnight is between two dates.
    """
    for place, function in enumerate((node.function, TURNED.get(node.function, node.function))):
        day, other = node.arguments[place], node.arguments[1 - place]
        if not (isinstance(day, Call) and day.function == COMPARED_DAYS["timestamp"]):
            continue
        moment = writer.evaluate(other)
        us = int(moment.word) if moment.null == NEVER and INTEGER.fullmatch(moment.word) else TIMESTAMP_INFINITY
        if abs(us) >= TIMESTAMP_INFINITY - 1 or (function in (EQUAL, UNEQUAL) and us % DAY_US):
            return None
        # The first day that is not before the time, or the last that is not after it.
        bound = -(-us // DAY_US) if function in ("lt", "ge") else us // DAY_US
        return compare(writer, function, DATE, writer.evaluate(day.arguments[0]), Value((str(bound),)))
    return None


def write_distinct(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """IS [NOT] DISTINCT FROM: NULLs are equal, the result is never NULL."""
    assert isinstance(node, Call)
    left, right = (writer.evaluate(argument) for argument in node.arguments)
    different = comparison_text(writer, UNEQUAL, node.arguments[0].type, left, right)
    if left.null == NEVER and right.null == NEVER:
        text = different
    else:
        nulls = [writer.named_null("side", side.null) for side in (left, right)]
        text = f"{nulls[0]} != {nulls[1]} or ({negation(nulls[0])} and {different})"
    negated = node.function == "is_not_distinct"
    return Value((writer.writer.assign(node.function, negation(text) if negated else text),))


def write_in_list(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """x IN (items): true if one is equal, else NULL if x or an item is NULL."""
    assert isinstance(node, Call)
    needle = writer.evaluate(node.arguments[0])
    if needle.null == ALWAYS:
        return Value(("False",), ALWAYS)
    out = writer.writer
    found = out.assign("found", "False")
    unknown = [needle.null] if needle.null != NEVER else []
    kind, items = node.arguments[0].type, node.arguments[1:]
    listed = [item for item in items if isinstance(item, Literal) and item.value is not None]
    if len(listed) >= CONSTANTS_MIN and is_ordered(kind):
        items = tuple(item for item in items if not isinstance(item, Literal) or item.value is None)
        with out.block("if True:" if needle.null == NEVER else f"if {needle.known}:"):
            out.line(f"{found} = {write_lookup(writer, kind, needle, listed)} >= 0")
    for item in items:
        value = writer.evaluate(item)
        if value.null == ALWAYS:
            unknown.append("True")
            continue
        test = comparison_text(writer, EQUAL, node.arguments[0].type, needle, value)
        if value.null != NEVER:
            unknown.append(value.null)
            test = f"{value.known} and {test}"
        out.line(f"{found} = {found} or ({test})")
    if not unknown:
        return Value((found,))
    if needle.null != NEVER:
        out.line(f"{found} = {found} and {needle.known}")
    return Value((found,), out.assign("found_null", f"not {found} and ({' or '.join(dict.fromkeys(unknown))})"))


def write_extreme(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """GREATEST and LEAST: of the arguments that are not NULL."""
    assert isinstance(node, Call)
    best = writer.declare(node.function, node.type)
    function = "gt" if node.function == "greatest" else "lt"
    for argument in node.arguments:
        value = writer.evaluate(argument)
        if value.null == ALWAYS:
            continue
        better = f"{best.null} or {comparison_text(writer, function, node.type, value, best)}"
        condition = better if value.null == NEVER else f"{value.known} and ({better})"
        with writer.writer.block(f"if {condition}:"):
            writer.store(best, Value(value.words))
    return best


FUNCTIONS: dict[str, FunctionWriter] = {
    **dict.fromkeys(OPERATORS, write_comparison),
    "is_distinct": write_distinct,
    "is_not_distinct": write_distinct,
    "in_list": write_in_list,
    "greatest": write_extreme,
    "least": write_extreme,
}
