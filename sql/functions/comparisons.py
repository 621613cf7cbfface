"""Comparisons, logic and choices: alike in both engines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sql.errors import not_supported
from sql.functions.long_constants import in_list, long_in_list
from sql.functions.printing import Printer, Rule, form_of, keys
from sql.functions.rows import Function
from sql.functions.signatures import FLOATS, INTEGERS, ORDERED, TIMES, across, alike
from sql.tree.expressions import Call, Expression, Literal

EQUAL, UNEQUAL = "eq", "ne"
# The comparisons that order values, as engines write them.
COMPARISONS = {EQUAL: "=", UNEQUAL: "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
# The same comparison with its sides exchanged.
TURNED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
NEGATED = {EQUAL: UNEQUAL, UNEQUAL: EQUAL, "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
# What makes a date comparable with a time stamp: its midnight, or what is after all others where
# that is none.
COMPARED_DAYS = {"timestamp": "compared_day", "timestamptz": "compared_zoned_day"}
COMPARED = "; ".join(
    (
        alike(ORDERED, "bool"),
        *(across(group, "bool") for group in (INTEGERS, FLOATS, TIMES)),
        alike(("array", "enum", "record"), "bool"),
    )
)


# Types of the catalog have no order.
EQUATED = "; ".join((COMPARED, alike(("xid", "cid", "xid8", "aclitem", "tid"), "bool"), "xid int4 > bool as oid oid"))
COMPARABLE = "bool int2 int4 int8 float4 float8 numeric text date timestamp timestamptz time uuid bytea oid char enum"


KEYED = "variable bpchar interval timetz jsonb inet array record"


def _keys(template: str) -> Rule:
    """Return a comparison by the keys of the values."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        return template.format(*keys(printer, node, texts))

    return rule


def _coalesce(printer: Printer, node: Call, texts: list[str]) -> str:
    fitted = [printer.fit(argument, node.type) for argument in node.arguments]
    return fitted[0] if len(fitted) == 1 else printer.chosen(f"coalesce({', '.join(fitted)})", node.type)


def _plain_extreme(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return GREATEST or LEAST of values that the engine orders as PostgreSQL does."""
    fitted = [printer.fit(argument, node.type) for argument in node.arguments]
    if len(fitted) == 1:
        return fitted[0]
    if node.type.has_own_order:
        raise not_supported(f"{node.function.upper()} of {node.type.sql_name}", node.position)
    return printer.chosen(f"{node.function}({', '.join(fitted)})", node.type)


def _extreme(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return GREATEST or LEAST: NULLs don't count."""
    if len(node.arguments) == 1 or not node.type.has_own_order:
        return _plain_extreme(printer, node, texts)
    fitted = [printer.fit(argument, node.type) for argument in node.arguments]
    text = fitted[0]
    if form_of(node.type) != "variable":
        return _extreme_by_key(printer, node, fitted)
    for other in fitted[1:]:
        text = f"numeric_{node.function}({text}, {other})"
    return text


def _extreme_by_key(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return that of two values which has the greater or lesser key."""
    if len(texts) > 2:
        raise not_supported(
            f"{node.function.upper()} of more than two values of type {node.type.sql_name}", node.position
        )
    left, right = (printer.comparable_text(text, node.type) for text in texts)
    sign = ">=" if node.function == "greatest" else "<="
    text = f"CASE WHEN {texts[1]} IS NULL OR {left} {sign} {right} THEN {texts[0]} ELSE {texts[1]} END"
    return printer.chosen(text, node.type)


def _nullif(printer: Printer, node: Call, texts: list[str]) -> str:
    first, second = texts
    kept = printer.fit(node.arguments[0], node.type)
    first, second = keys(printer, node, texts)
    text = f"CASE WHEN {first} = {second} THEN {printer.literal(Literal(None, node.type))} ELSE {kept} END"
    return printer.chosen(text, node.type)


def _counted(test: str) -> Rule:
    """Return how many values there are that pass a test."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        return "(" + " + ".join(f"CASE WHEN {text} {test} THEN 1 ELSE 0 END" for text in texts) + ")"

    return rule


def short_circuit(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return AND or OR in a form that evaluates from the left and stops.

    Operands that may raise stay after the operands that decide before them.
    """
    word, decided, stop = (" AND ", "FALSE", "NOT {}") if node.function == "and" else (" OR ", "TRUE", "{}")
    first = next((index for index, item in enumerate(node.arguments) if index and printer.can_fail(item)), len(texts))
    head = texts[0] if first == 1 else f"({word.join(printer.few_conditions(texts[:first], word))})"
    if first == len(texts):
        return head
    rest = replace(node, arguments=node.arguments[first:])
    tail = texts[first] if first == len(texts) - 1 else short_circuit(printer, rest, texts[first:])
    return f"CASE WHEN {stop.format(head)} THEN {decided} ELSE ({head}{word}{tail}) END"


def day_beside_constant(node: Expression, is_constant: Callable[[Expression], bool]) -> tuple[str, int] | None:
    """Return the comparison, and the place, of a date that is ordered with a constant timestamp.

    The comparison is that with the date on the left. None for any other expression.
    """
    if not isinstance(node, Call) or node.function not in TURNED:
        return None
    for place, name in enumerate((node.function, TURNED[node.function])):
        day, moment = node.arguments[place], node.arguments[1 - place]
        if isinstance(day, Call) and day.function == COMPARED_DAYS["timestamp"] and is_constant(moment):
            return name, place
    return None


def _order(name: str) -> Mapping[str, Any]:
    """Return the rules of a comparison that orders values.

    A date beside a constant is compared as a date, since not every date is a timestamp.
    """
    template = f"({{0}} {COMPARISONS[name]} {{1}})"
    both = {COMPARABLE: template, KEYED: _keys(template)}

    def of_moments(printer: Printer, node: Call, texts: list[str]) -> str:
        found = day_beside_constant(node, printer.is_constant)
        if found is None:
            return template.format(*texts)
        turned, place = found
        day, moment = node.arguments[place], texts[1 - place]
        assert isinstance(day, Call)
        bound = f"CAST({moment} AS DATE)"
        if turned in ("lt", "ge"):
            bound = f"CASE WHEN {moment} > {bound} THEN {bound} + 1 ELSE {bound} END"
        return f"({printer.text(day.arguments[0])} {COMPARISONS[turned]} {bound})"

    return {"both": both, "duckdb": {**both, "timestamp": of_moments}}


FUNCTIONS = (
    Function(
        "num_nulls", "num_nulls", "any... > int4", ("num_nulls(1, NULL, 2)", "1"), strict=False,
        both=_counted("IS NULL"),
    ),
    Function(
        "num_nonnulls", "num_nonnulls", "any... > int4", ("num_nonnulls(1, NULL, 2)", "2"), strict=False,
        both=_counted("IS NOT NULL"),
    ),
    Function(
        EQUAL, "=", EQUATED, ("1 = 1.0", "t"), can_fail=False,
        both={COMPARABLE: "({0} = {1})", KEYED: _keys("({0} = {1})")}, infix="=",
    ),
    Function(
        UNEQUAL, "<>", EQUATED, ("'a' <> 'b'", "t"), can_fail=False,
        both={COMPARABLE: "({0} <> {1})", KEYED: _keys("({0} <> {1})")}, infix="<>",
    ),
    *(
        Function(name, COMPARISONS[name], COMPARED, example, can_fail=False, infix=COMPARISONS[name], **_order(name))
        for name, example in (
            ("lt", ("date '2001-01-01' < timestamp '2001-01-01 00:00:01'", "t")),
            ("le", ("2 <= 1", "f")),
            ("gt", ("'b' > 'a'", "t")),
            ("ge", ("interval '1 mon' >= interval '30 days'", "t")),
        )
    ),
    Function("and", strict=False, can_fail=False, both=short_circuit, is_lazy=True, infix="AND"),
    Function("coalesce", strict=False, can_fail=False, both=_coalesce, is_lazy=True),
    Function("greatest", strict=False, can_fail=False, duckdb=_extreme, spark=_plain_extreme),
    Function("in_list", strict=False, can_fail=False, duckdb=long_in_list, spark=in_list),
    Function(
        "is_distinct", strict=False, can_fail=False,
        both={"any": "({0} IS DISTINCT FROM {1})", KEYED: _keys("({0} IS DISTINCT FROM {1})")},
        infix="IS DISTINCT FROM",
    ),
    Function("is_false", strict=False, can_fail=False, both="({0} IS FALSE)", suffix="IS FALSE"),
    Function(
        "is_not_distinct", strict=False, can_fail=False,
        both={"any": "({0} IS NOT DISTINCT FROM {1})", KEYED: _keys("({0} IS NOT DISTINCT FROM {1})")},
        infix="IS NOT DISTINCT FROM",
    ),
    Function("is_not_false", strict=False, can_fail=False, both="({0} IS NOT FALSE)", suffix="IS NOT FALSE"),
    Function("is_not_null", strict=False, can_fail=False, both="({0} IS NOT NULL)", suffix="IS NOT NULL"),
    Function("is_not_true", strict=False, can_fail=False, both="({0} IS NOT TRUE)", suffix="IS NOT TRUE"),
    Function("is_null", strict=False, can_fail=False, both="({0} IS NULL)", suffix="IS NULL"),
    Function("is_true", strict=False, can_fail=False, both="({0} IS TRUE)", suffix="IS TRUE"),
    Function("least", strict=False, can_fail=False, duckdb=_extreme, spark=_plain_extreme),
    Function("not", strict=False, can_fail=False, both="(NOT {0})", shown="NOT {0}"),
    Function("nullif", strict=False, can_fail=False, both=_nullif),
    Function("or", strict=False, can_fail=False, both=short_circuit, is_lazy=True, infix="OR"),
    # The value of an expression, NULL where it fails, and whether it fails: no row ends the query.
    # Streams ask in this way (`views.model.protocols`).
    Function("tried", strict=False, can_fail=False, duckdb="TRY({0})"),
    Function("has_failed", strict=False, can_fail=False, duckdb="(TRY([{0}]) IS NULL)"),
)  # fmt: skip
