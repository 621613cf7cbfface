"""Scalar expressions of catalog queries printed for the embedded engine, each with its type.

Operators and functions of ordinary types are those of every other query (`ordinary`); everything is
in parentheses.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice

from engine.system_catalog.printed import (
    DOMAINS,
    INTEGERS,
    OIDS,
    REGISTERED,
    UNKNOWN,
    VECTORS,
    Printed,
    element_of,
    engine_type,
)
from engine.system_catalog.queries import calls, casts, comparisons, ordinary, queries, records
from engine.system_catalog.queries.printing import Printing, common_type, literal
from engine.system_catalog.queries.scopes import Scope, column, star_columns
from engine.system_catalog.syntax_nodes import nodes
from sql.bind.expressions.collations import require_one_collation, require_text
from sql.bind.expressions.operators import MANY_HINT
from sql.errors import SqlError, not_supported
from sql.parse.syntax import (
    ArrayComparison,
    ArrayItems,
    Between,
    CaseWhen,
    Collation,
    Constant,
    Distinctness,
    Expression,
    FieldSelection,
    FrameBound,
    FunctionCall,
    InList,
    Like,
    Logic,
    Name,
    Operation,
    ParameterNumber,
    Row,
    SortItem,
    Star,
    Subquery,
    Subscript,
    Test,
    TypeCast,
    WindowDefinition,
)

CONCATENATED = frozenset({"text", "varchar", "name", "char", "bpchar", *DOMAINS})
LOOKED_AT_MAX = 100
EMPTY_HINT = "Explicitly cast to the desired type, for example ARRAY[]::integer[]."


def print_expression(printing: Printing, node: Expression, scope: Scope) -> Printed:
    """Return an expression.

    Raises PostgreSQL's errors for a wrong one, 0A000 for one that is not known here.
    """
    require_one_collation(node)
    match node:
        case Name():
            found = column(scope, node)
            if isinstance(found, Star):
                return records.row_value(list(star_columns(scope, found)), node.position)
            return found
        case Constant():
            return _constant(printing, node)
        case ParameterNumber():
            return printing.parameter(node.number, node.position)
        case Operation():
            return _operation(printing, node, scope)
        case Logic():
            parts = _conditions(printing, node.operands, scope)
            text = f"NOT {parts[0]}" if node.operator == "not" else f" {node.operator.upper()} ".join(parts)
            return Printed(f"({text})", "bool")
        case Test():
            return _test(printing, node, scope)
        case TypeCast():
            operand = print_expression(printing, node.operand, scope)
            at = node.operand.position if isinstance(node.operand, Constant) else node.position
            return casts.print_cast(printing, operand, node.type, at)
        case Collation():
            operand = print_expression(printing, node.operand, scope)
            require_text(element_of(operand.type) or operand.type, operand.type, node)
            return operand
        case FunctionCall():
            return calls.print_call(printing, node, scope)
        case Subscript():
            return _subscript(printing, node, scope)
        case FieldSelection():
            return records.print_field(printing, node, scope)
        case Subquery():
            return _subquery(printing, node, scope)
        case Row():
            items = [print_expression(printing, item, scope) for item in node.items]
            items = [printing.coerced(item, "text", node.position) for item in items]
            return Printed(f"row({', '.join(item.text for item in items)})", "record")
        case Star():
            raise SqlError("42601", 'row expansion via "*" is not supported here', node.position)
    return _predicate(printing, node, scope)


def _predicate(printing: Printing, node: Expression, scope: Scope) -> Printed:
    match node:
        case Distinctness():
            left, right = print_expression(printing, node.left, scope), print_expression(printing, node.right, scope)
            return comparisons.distinctness(printing, node, left, right)
        case Between():
            parts = (node.operand, node.low, node.high)
            value, low, high = (print_expression(printing, part, scope) for part in parts)
            text = comparisons.inside(printing, value, low, high, node.position)
            if node.symmetric:
                text = f"{text} OR {comparisons.inside(printing, value, high, low, node.position)}"
            return Printed(f"(NOT ({text}))" if node.negated else f"({text})", "bool")
        case InList():
            return _in_list(printing, node, scope)
        case Like():
            return _like(printing, node, scope)
        case CaseWhen():
            return _case(printing, node, scope)
        case ArrayItems():
            if not node.items:
                raise SqlError("42P18", "cannot determine type of empty array", node.position, hint=EMPTY_HINT)
            items = [print_expression(printing, item, scope) for item in node.items]
            kind, items = casts.unified(printing, items, "ARRAY", node.position)
            if element_of(kind) is not None:
                raise not_supported("an array of arrays in a query on the catalog", node.position)
            return Printed(f"CAST([{', '.join(item.text for item in items)}] AS {engine_type(kind)}[])", f"{kind}[]")
        case ArrayComparison():
            return _array_comparison(printing, node, scope)
    raise not_supported("this expression in a query on the catalog", node.position)


def _conditions(printing: Printing, nodes: Sequence[Expression], scope: Scope) -> list[str]:
    """Return the operands of AND and OR, of which a constant may decide over those after it."""
    parts, decided = [], False
    for node in nodes:
        with printing.perhaps() if decided else nullcontext():
            parts.append(print_condition(printing, node, scope))
        decided = decided or is_constant(node)
    return parts


def is_constant(node: Expression) -> bool:
    """Tell whether nothing of a row, a parameter or a query is in the first nodes of an
    expression.
    """
    return not any(isinstance(part, Name | ParameterNumber | Subquery) for part in islice(nodes(node), LOOKED_AT_MAX))


def print_condition(printing: Printing, node: Expression, scope: Scope) -> str:
    """Return an expression as a boolean."""
    return printing.coerced(print_expression(printing, node, scope), "bool", node.position).text


def print_target(printing: Printing, node: Expression, scope: Scope) -> Printed:
    """Return an item of a select list, where functions that return rows may stand."""
    if isinstance(node, FunctionCall) and calls.returns_rows(node):
        return calls.unnested(printing, node, scope)
    return print_expression(printing, node, scope)


def _constant(printing: Printing, node: Constant) -> Printed:
    match node.kind:
        case "integer" | "decimal":
            return ordinary.constant(printing, node)
        case "string":
            return literal(node.value)
        case "bool":
            return Printed(node.value.upper(), "bool")
    return Printed("NULL", UNKNOWN)


def _compared(printing: Printing, operator: str, one: Expression, two: Expression, scope: Scope) -> Printed:
    left, right = print_expression(printing, one, scope), print_expression(printing, two, scope)
    return comparisons.comparison(printing, operator, left, right, two.position)


def _operation(printing: Printing, node: Operation, scope: Scope) -> Printed:
    operator = node.operator
    if len(node.operands) == 1:
        operand = print_expression(printing, node.operands[0], scope)
        return ordinary.operation(printing, operator, (operand,), node.position, node.text)
    first, second = node.operands
    if isinstance(first, Row) and isinstance(second, Row) and operator in ("=", "<>", "!="):
        pairs = zip(first.items, second.items, strict=True)
        text = " AND ".join(_compared(printing, "=", one, two, scope).text for one, two in pairs)
        return Printed(f"({text})" if operator == "=" else f"(NOT ({text}))", "bool")
    left, right = print_expression(printing, first, scope), print_expression(printing, second, scope)
    if operator == "||":
        return _concatenated(printing, left, right, node)
    if operator in comparisons.OPERATORS:
        return comparisons.comparison(printing, operator, left, right, second.position)
    return ordinary.operation(printing, operator, (left, right), node.position, node.text)


def _concatenated(printing: Printing, left: Printed, right: Printed, node: Operation) -> Printed:
    if element_of(left.type) is None and element_of(right.type) is None:
        # PostgreSQL takes any value beside a text, as a cast to text shows it.
        kinds = {left.type, right.type}
        if "char" in kinds and kinds <= CONCATENATED | {UNKNOWN}:
            names = (
                f'"{kind}"' if kind == "char" else "character" if kind == "bpchar" else kind
                for kind in (left.type, right.type)
            )
            raise SqlError("42725", f"operator is not unique: {' || '.join(names)}", node.position, hint=MANY_HINT)
        if CONCATENATED & kinds:
            left, right = (replace(casts.as_text(printing, side, node.position), type="text") for side in (left, right))
        elif UNKNOWN in (left.type, right.type):
            left, right = casts.plain(printing, left, node.position), casts.plain(printing, right, node.position)
    return ordinary.operation(printing, "||", (left, right), node.position, node.text)


def _test(printing: Printing, node: Test, scope: Scope) -> Printed:
    operand = print_expression(printing, node.operand, scope)
    if node.kind in ("true", "false"):
        operand = printing.coerced(operand, "bool", node.position)
    word = "NULL" if node.kind == "unknown" else node.kind.upper()
    if operand.type == "record" and node.kind == "null":
        raise not_supported("IS NULL of a row in a query on the catalog", node.position)
    return Printed(f"({operand.text} IS {'NOT ' if node.negated else ''}{word})", "bool")


def _in_list(printing: Printing, node: InList, scope: Scope) -> Printed:
    if isinstance(node.operand, Row):
        rows = []
        for item in node.items:
            assert isinstance(item, Row), "the grammar compares rows with rows"
            pairs = zip(node.operand.items, item.items, strict=True)
            rows.append("(" + " AND ".join(_compared(printing, "=", one, two, scope).text for one, two in pairs) + ")")
        text = " OR ".join(rows)
        return Printed(f"(NOT ({text}))" if node.negated else f"({text})", "bool")
    operand = print_expression(printing, node.operand, scope)
    items = [print_expression(printing, item, scope) for item in node.items]
    if operand.type == UNKNOWN:
        kind = common_type(items)
        operand = printing.coerced(operand, "text" if kind == UNKNOWN else kind, node.position)
    values = [printing.pair(operand, item, node.position)[1] for item in items]
    if all(comparisons.is_alike(operand.type, value.type) for value in values):
        word = "NOT IN" if node.negated else "IN"
        return Printed(f"({operand.text} {word} ({', '.join(value.text for value in values)}))", "bool")
    equal = (comparisons.comparison(printing, "=", operand, item, node.position).text for item in items)
    text = " OR ".join(equal)
    return Printed(f"(NOT ({text}))" if node.negated else f"({text})", "bool")


def _like(printing: Printing, node: Like, scope: Scope) -> Printed:
    parts = [node.operand, node.pattern] + ([] if node.escape is None else [node.escape])
    values = [print_expression(printing, part, scope) for part in parts]

    def build(operand: Expression, pattern: Expression, escape: Expression | None = None) -> Expression:
        return replace(node, operand=operand, pattern=pattern, escape=escape)

    return ordinary.ordinary(printing, values, build, node.position)


def _case(printing: Printing, node: CaseWhen, scope: Scope) -> Printed:
    tested = () if node.operand is None else (node.operand,)
    decided = all(map(is_constant, tested)) and any(is_constant(when) for when, _ in node.branches)
    with printing.perhaps() if decided else nullcontext():
        return _printed_case(printing, node, scope)


def _printed_case(printing: Printing, node: CaseWhen, scope: Scope) -> Printed:
    conditions = []
    for when, _ in node.branches:
        if node.operand is None:
            conditions.append(print_condition(printing, when, scope))
        else:
            conditions.append(_compared(printing, "=", node.operand, when, scope).text)
    values = [print_expression(printing, value, scope) for _, value in node.branches]
    # As in PostgreSQL, ELSE is the first to decide the type.
    default = Printed("NULL", UNKNOWN) if node.default is None else print_expression(printing, node.default, scope)
    kind, (default, *values) = casts.unified(printing, [default, *values], "CASE", node.position)
    text = " ".join(f"WHEN {when} THEN {value.text}" for when, value in zip(conditions, values, strict=True))
    if node.default is not None:
        text += f" ELSE {default.text}"
    return Printed(f"(CASE {text} END)", kind)


def _subscript(printing: Printing, node: Subscript, scope: Scope) -> Printed:
    operand = print_expression(printing, node.operand, scope)
    bounds = [node.lower, node.upper] if node.is_slice else [node.lower]
    values = [print_expression(printing, bound, scope) for bound in bounds if bound is not None]
    if operand.type in VECTORS and not node.is_slice:
        # Vectors count from 0, arrays from 1, as the embedded engine does; an element before the
        # first is NULL in both.
        place = ordinary.converted(printing, values[0], "int8", node.position).text
        return Printed(f"(CASE WHEN {place} >= 0 THEN ({operand.text})[{place} + 1] END)", VECTORS[operand.type])
    if operand.type == "name" and not node.is_slice:
        # A name counts its bytes from 0.
        place = ordinary.converted(printing, values[0], "int8", node.position).text
        return Printed(f"substr({operand.text}, {place} + 1, 1)", "char")
    element = element_of(operand.type)
    if element in REGISTERED and not node.is_slice:
        found = ordinary.ordinary(
            printing,
            (ordinary.as_plain_oids(operand), *values),
            lambda array, place: _at(node, array, place),
            node.position,
        )
        return Printed(found.text, element or "")
    if operand.type in VECTORS:
        raise not_supported(f"a part of a value of type {operand.type} in a query on the catalog", node.position)

    def build(array: Expression, *rest: Expression) -> Expression:
        places = iter(rest)
        lower = None if node.lower is None else next(places)
        upper = None if node.upper is None else next(places)
        return replace(node, operand=array, lower=lower, upper=upper)

    return ordinary.ordinary(printing, (operand, *values), build, node.position)


def _at(node: Subscript, array: Expression, place: Expression) -> Expression:
    return replace(node, operand=array, lower=place)


def _array_comparison(printing: Printing, node: ArrayComparison, scope: Scope) -> Printed:
    operand = print_expression(printing, node.operand, scope)
    array = print_expression(printing, node.array, scope)
    if array.type == UNKNOWN:
        kind = "text" if operand.type == UNKNOWN else operand.type
        array = printing.coerced(array, "oid[]" if kind in OIDS else f"{kind}[]", node.position)
    element = element_of(array.type)
    if element is None:
        raise SqlError("42809", "op ANY/ALL (array) requires array on right side", node.position)
    if operand.type == UNKNOWN:
        operand = printing.coerced(operand, element, node.position)
    if node.operator in comparisons.OPERATORS and element != "aclitem":
        operand, array = ordinary.as_plain_oids(operand), ordinary.as_plain_oids(array)

        def build(left: Expression, right: Expression) -> Expression:
            return replace(node, operand=left, array=right)

        return ordinary.ordinary(printing, (operand, array), build, node.position)
    name = printing.name("item")
    item = Printed(name, element)
    if node.operator in comparisons.OPERATORS:
        found = comparisons.comparison(printing, node.operator, operand, item, node.position)
    else:
        found = ordinary.operation(printing, node.operator, (operand, item), node.position, node.text)
    if found.type != "bool":
        raise SqlError("42809", "op ANY/ALL (array) requires operator to yield boolean", node.position)
    # A test that decides, else NULL if there is one, else the other word.
    tests = f"list_transform({array.text}, lambda {name}: {found.text})"
    decides, other = ("TRUE", "FALSE") if node.quantifier == "any" else ("FALSE", "TRUE")
    one = printing.name("test")
    text = (
        f"CASE WHEN {tests} IS NULL THEN NULL WHEN len(list_filter({tests}, lambda {one}: {one} = {decides})) > 0 THEN {decides} "
        f"WHEN len(list_filter({tests}, lambda {one}: {one} IS NULL)) > 0 THEN NULL ELSE {other} END"
    )
    return Printed(f"({text})", "bool")


def _subquery(printing: Printing, node: Subquery, scope: Scope) -> Printed:
    printed = queries.print_query(printing, node.query, scope)
    if node.kind == "exists":
        return Printed(f"(EXISTS ({printed.text}))", "bool")
    if node.kind in ("scalar", "array"):
        if len(printed.columns) != 1:
            raise SqlError("42601", "subquery must return only one column", node.position)
        kind = printed.columns[0].type
        if node.kind == "array":
            return Printed(f"ARRAY({printed.text})", f"{kind}[]")
        return Printed(f"({printed.text})", kind)
    assert node.operand is not None, "ANY and ALL compare something"
    items = node.operand.items if isinstance(node.operand, Row) else (node.operand,)
    if len(items) != len(printed.columns):
        word = "few" if len(printed.columns) < len(items) else "many"
        raise SqlError("42601", f"subquery has too {word} columns", node.position)
    values = [print_expression(printing, item, scope) for item in items]
    for index, (value, found) in enumerate(zip(values, printed.columns, strict=True)):
        values[index] = printing.coerced(value, found.type, node.position)
        if not comparisons.is_alike(values[index].type, found.type):
            # As OIDs, plain integers are compared with the values that they would be as OIDs.
            if not (found.type in OIDS and values[index].type in INTEGERS):
                names = f"{values[index].type} with {found.type}"
                raise not_supported(f"comparing {names} of a subquery on the catalog", node.position)
            values[index] = ordinary.converted(printing, values[index], "oid", node.position)
    left = ", ".join(value.text for value in values)
    left = f"({left})" if isinstance(node.operand, Row) else left
    if node.operator == "=" and node.kind == "any":
        return Printed(f"({left} IN ({printed.text}))", "bool")
    return Printed(f"({left} {node.operator} {node.kind.upper()} ({printed.text}))", "bool")


def print_window(printing: Printing, window: WindowDefinition, scope: Scope) -> str:
    """Return the text in the parentheses of OVER."""
    parts = [] if window.base is None else [f'"{window.base}"']
    if window.partition_by:
        keys = ", ".join(ordinary.sort_text(print_expression(printing, item, scope)) for item in window.partition_by)
        parts.append(f"PARTITION BY {keys}")
    if window.order_by:
        parts.append("ORDER BY " + print_sort_keys(printing, window.order_by, scope))
    if window.frame is not None:
        unit, start, end, excluded = window.frame
        if excluded or (unit == "range" and (start.offset or end.offset) is not None):
            raise not_supported("this frame of a window in a query on the catalog", window.position)
        parts.append(f"{unit.upper()} BETWEEN {_bound(printing, start, scope)} AND {_bound(printing, end, scope)}")
    return " ".join(parts)


def print_sort_keys(printing: Printing, items: tuple[SortItem, ...], scope: Scope) -> str:
    """Return the keys of an ORDER BY inside a call or a window."""
    parts = []
    for item in items:
        nulls_first = item.descending if item.nulls_first is None else item.nulls_first
        word = "DESC" if item.descending else "ASC"
        text = ordinary.sort_text(print_expression(printing, item.expression, scope))
        parts.append(f"{text} {word} NULLS {'FIRST' if nulls_first else 'LAST'}")
    return ", ".join(parts)


def _bound(printing: Printing, bound: FrameBound, scope: Scope) -> str:
    words = {
        "unbounded_preceding": "UNBOUNDED PRECEDING",
        "unbounded_following": "UNBOUNDED FOLLOWING",
        "current": "CURRENT ROW",
    }
    if bound.kind in words:
        return words[bound.kind]
    assert bound.offset is not None, "n PRECEDING has its n"
    return f"{print_expression(printing, bound.offset, scope).text} {bound.kind.upper()}"
