"""Scalar expressions of catalog queries printed for the embedded engine, each with the type that it has.

Operators mean what PostgreSQL's do for the types of the catalog; everything is in parentheses.
"""

from __future__ import annotations

from engine.system_catalog import calls, casts, queries, records
from engine.system_catalog.printed import (
    INTEGERS,
    NUMBERS,
    OIDS,
    REGISTERED,
    UNKNOWN,
    VECTORS,
    Printed,
    element_of,
    engine_type,
)
from engine.system_catalog.printing import Printing, common_type, literal
from engine.system_catalog.scopes import Scope, column, star_columns
from sql.errors import SqlError, not_supported
from sql.syntax import (
    ArrayComparison,
    ArrayItems,
    Between,
    CaseWhen,
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

COMPARISONS = frozenset({"=", "<>", "!=", "<", ">", "<=", ">="})
MATCHES = {"~": ("", ""), "~*": ("i", ""), "!~": ("", "NOT "), "!~*": ("i", "NOT ")}
LIKES = {"~~": "LIKE", "!~~": "NOT LIKE", "~~*": "ILIKE", "!~~*": "NOT ILIKE"}
ARITHMETIC = {"+": "+", "-": "-", "*": "*", "/": "/", "%": "%"}
BITS = {"&": "&", "|": "|", "<<": "<<", ">>": ">>"}
CONTAINMENT = {"@>": "list_has_all({0}, {1})", "<@": "list_has_all({1}, {0})", "&&": "list_has_any({0}, {1})"}
INT4_MAX = (1 << 31) - 1


def print_expression(printing: Printing, node: Expression, scope: Scope) -> Printed:
    """Return an expression. Raises PostgreSQL's errors for what is wrong with it, 0A000 for what is not known here."""
    match node:
        case Name():
            found = column(scope, node)
            if isinstance(found, Star):
                return records.row_value(list(star_columns(scope, found)), node.position)
            return found
        case Constant():
            return _constant(node)
        case ParameterNumber():
            return printing.parameter(node.number)
        case Operation():
            return _operation(printing, node, scope)
        case Logic():
            parts = [print_condition(printing, operand, scope) for operand in node.operands]
            text = f"NOT {parts[0]}" if node.operator == "not" else f" {node.operator.upper()} ".join(parts)
            return Printed(f"({text})", "bool")
        case Test():
            return _test(printing, node, scope)
        case TypeCast():
            operand = print_expression(printing, node.operand, scope)
            return casts.print_cast(printing, operand, node.type, node.position)
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
            left, right = _operands(printing, node.left, node.right, scope)
            word = "IS NOT DISTINCT FROM" if node.negated else "IS DISTINCT FROM"
            return Printed(f"({left.text} {word} {right.text})", "bool")
        case Between():
            left, low = _operands(printing, node.operand, node.low, scope)
            _, high = _operands(printing, node.operand, node.high, scope)
            text = f"{left.text} BETWEEN {low.text} AND {high.text}"
            if node.symmetric:
                text = f"{text} OR {left.text} BETWEEN {high.text} AND {low.text}"
            return Printed(f"(NOT ({text}))" if node.negated else f"({text})", "bool")
        case InList():
            return _in_list(printing, node, scope)
        case Like():
            return _like(printing, node, scope)
        case CaseWhen():
            return _case(printing, node, scope)
        case ArrayItems():
            items = [print_expression(printing, item, scope) for item in node.items]
            kind = common_type(items)
            kind = "text" if kind == UNKNOWN else kind
            texts = ", ".join(printing.coerced(item, kind, node.position).text for item in items)
            return Printed(f"CAST([{texts}] AS {engine_type(kind)}[])", f"{kind}[]")
        case ArrayComparison():
            return _array_comparison(printing, node, scope)
    raise not_supported("this expression in a query on the catalog", node.position)


def print_condition(printing: Printing, node: Expression, scope: Scope) -> str:
    """Return an expression as a boolean."""
    return printing.coerced(print_expression(printing, node, scope), "bool", node.position).text


def print_target(printing: Printing, node: Expression, scope: Scope) -> Printed:
    """Return an item of a select list, where functions that return rows may stand."""
    if isinstance(node, FunctionCall) and calls.returns_rows(node):
        return calls.unnested(printing, node, scope)
    return print_expression(printing, node, scope)


def _constant(node: Constant) -> Printed:
    match node.kind:
        case "integer":
            kind = "int4" if int(node.value) <= INT4_MAX else "int8"
            return Printed(f"CAST({node.value} AS {engine_type(kind)})", kind)
        case "decimal":
            return Printed(node.value, "numeric")
        case "string":
            return literal(node.value)
        case "bool":
            return Printed(node.value.upper(), "bool")
    return Printed("NULL", UNKNOWN)


def _operands(printing: Printing, left: Expression, right: Expression, scope: Scope) -> tuple[Printed, Printed]:
    one, two = print_expression(printing, left, scope), print_expression(printing, right, scope)
    return printing.pair(one, two, right.position)


def _operation(printing: Printing, node: Operation, scope: Scope) -> Printed:
    operator = node.operator
    if len(node.operands) == 1:
        operand = print_expression(printing, node.operands[0], scope)
        if operator not in ("-", "+"):
            raise not_supported(f"the operator {operator} in a query on the catalog", node.position)
        return Printed(f"({operator}{operand.text})", operand.type)
    first, second = node.operands
    if operator in MATCHES or operator in LIKES:
        return _matching(printing, node, scope)
    if isinstance(first, Row) and isinstance(second, Row) and operator in ("=", "<>", "!="):
        pairs = [_operands(printing, one, two, scope) for one, two in zip(first.items, second.items, strict=True)]
        text = " AND ".join(f"{one.text} = {two.text}" for one, two in pairs)
        return Printed(f"({text})" if operator == "=" else f"(NOT ({text}))", "bool")
    left, right = print_expression(printing, first, scope), print_expression(printing, second, scope)
    if operator == "||":
        return _concatenated(printing, left, right, node.position)
    left, right = printing.pair(left, right, second.position)
    if operator in COMPARISONS:
        return Printed(f"({left.text} {operator} {right.text})", "bool")
    if operator in CONTAINMENT:
        return Printed(f"({CONTAINMENT[operator].format(left.text, right.text)})", "bool")
    if operator in BITS and {left.type, right.type} <= INTEGERS | OIDS:
        return Printed(f"({left.text} {BITS[operator]} {right.text})", common_type([left, right]))
    if operator in ARITHMETIC:
        return _arithmetic(operator, left, right)
    raise not_supported(f"the operator {operator} in a query on the catalog", node.position)


def _arithmetic(operator: str, left: Printed, right: Printed) -> Printed:
    if {left.type, right.type} & {"timestamptz", "timestamp", "date", "interval"}:
        both = left.type == right.type and operator == "-"
        kind = "interval" if both else left.type if left.type != "interval" else right.type
        return Printed(f"({left.text} {operator} {right.text})", kind)
    kind = common_type([left, right])
    if kind in INTEGERS:
        return Printed(f"CAST(({left.text} {operator} {right.text}) AS {engine_type(kind)})", kind)
    return Printed(f"({left.text} {operator} {right.text})", kind if kind in NUMBERS else "int8")


def _matching(printing: Printing, node: Operation, scope: Scope) -> Printed:
    left, right = (print_expression(printing, operand, scope) for operand in node.operands)
    left, right = casts.as_text(printing, left, node.position), casts.as_text(printing, right, node.position)
    if node.operator in LIKES:
        return Printed(f"({left.text} {LIKES[node.operator]} {right.text} ESCAPE '\\')", "bool")
    letters, negation = MATCHES[node.operator]
    return Printed(
        f"({negation}{calls.FUNCTION_PREFIX}matches({printing.key}, {left.text}, {right.text}, '{letters}'))", "bool"
    )


def _concatenated(printing: Printing, left: Printed, right: Printed, position: int) -> Printed:
    array = next((one.type for one in (left, right) if element_of(one.type) is not None), None)
    if array is None:
        one, two = casts.as_text(printing, left, position), casts.as_text(printing, right, position)
        return Printed(f"({one.text} || {two.text})", "text")
    lists = []
    for one in (left, right):
        value = printing.coerced(one, array, position)
        # An array and an element: NULL is the empty array.
        lists.append(f"coalesce({value.text}, [])" if element_of(value.type) else f"[{value.text}]")
    return Printed(f"list_concat({', '.join(lists)})", array)


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
            pairs = [
                _operands(printing, one, two, scope) for one, two in zip(node.operand.items, item.items, strict=True)
            ]
            rows.append("(" + " AND ".join(f"{one.text} = {two.text}" for one, two in pairs) + ")")
        text = " OR ".join(rows)
        return Printed(f"(NOT ({text}))" if node.negated else f"({text})", "bool")
    operand = print_expression(printing, node.operand, scope)
    items = [print_expression(printing, item, scope) for item in node.items]
    if operand.type == UNKNOWN:
        kind = common_type(items)
        operand = printing.coerced(operand, "text" if kind == UNKNOWN else kind, node.position)
    values = [printing.pair(operand, item, node.position)[1] for item in items]
    word = "NOT IN" if node.negated else "IN"
    return Printed(f"({operand.text} {word} ({', '.join(value.text for value in values)}))", "bool")


def _like(printing: Printing, node: Like, scope: Scope) -> Printed:
    operand = casts.as_text(printing, print_expression(printing, node.operand, scope), node.position)
    pattern = casts.as_text(printing, print_expression(printing, node.pattern, scope), node.position)
    escape = "'\\'"
    if node.escape is not None:
        escape = casts.as_text(printing, print_expression(printing, node.escape, scope), node.position).text
    word = ("NOT " if node.negated else "") + ("ILIKE" if node.case_insensitive else "LIKE")
    return Printed(f"({operand.text} {word} {pattern.text} ESCAPE {escape})", "bool")


def _case(printing: Printing, node: CaseWhen, scope: Scope) -> Printed:
    conditions = []
    for when, _ in node.branches:
        if node.operand is None:
            conditions.append(print_condition(printing, when, scope))
        else:
            left, right = _operands(printing, node.operand, when, scope)
            conditions.append(f"{left.text} = {right.text}")
    values = [print_expression(printing, value, scope) for _, value in node.branches]
    if node.default is not None:
        values.append(print_expression(printing, node.default, scope))
    # As in PostgreSQL, ELSE is the first to say which type it is.
    kind = common_type(values if node.default is None else [values[-1], *values[:-1]])
    kind = "text" if kind == UNKNOWN else kind
    values = [casts.as_common(printing, value, kind, node.position) for value in values]
    text = " ".join(f"WHEN {when} THEN {value.text}" for when, value in zip(conditions, values, strict=False))
    if node.default is not None:
        text += f" ELSE {values[-1].text}"
    return Printed(f"(CASE {text} END)", kind)


def _subscript(printing: Printing, node: Subscript, scope: Scope) -> Printed:
    operand = print_expression(printing, node.operand, scope)
    element = element_of(operand.type)
    if element is None:
        raise SqlError(
            "42804", f"cannot subscript type {operand.type} because it does not support subscripting", node.position
        )
    # Vectors count from 0, arrays from 1, as the embedded engine does.
    shift = " + 1" if operand.type in VECTORS else ""
    bounds = [
        "" if bound is None else f"({print_expression(printing, bound, scope).text}){shift}"
        for bound in (node.lower, node.upper)
    ]
    if node.is_slice:
        kind = f"{element}[]"
        return Printed(f"({operand.text})[{bounds[0]}:{bounds[1]}]", kind)
    return Printed(f"({operand.text})[{bounds[0]}]", element)


def _array_comparison(printing: Printing, node: ArrayComparison, scope: Scope) -> Printed:
    operand = print_expression(printing, node.operand, scope)
    array = print_expression(printing, node.array, scope)
    if array.type == UNKNOWN:
        kind = "text" if operand.type == UNKNOWN else operand.type
        array = printing.coerced(array, "oid[]" if kind in REGISTERED else f"{kind}[]", node.position)
    element = element_of(array.type)
    if element is None:
        raise SqlError("42809", "op ANY/ALL (array) requires array on right side", node.position)
    operand = printing.coerced(operand, element, node.position)
    if node.operator in ("=", "<>", "!=") and (node.operator == "=") == (node.quantifier == "any"):
        found = f"list_contains({array.text}, {operand.text})"
        return Printed(f"({found})" if node.operator == "=" else f"(NOT {found})", "bool")
    item = printing.name("item")
    letters = MATCHES.get(node.operator)
    if letters is not None:
        test = f"{letters[1]}{calls.FUNCTION_PREFIX}matches({printing.key}, {operand.text}, {item}, '{letters[0]}')"
    elif node.operator in LIKES:
        test = f"{operand.text} {LIKES[node.operator]} {item} ESCAPE '\\'"
    elif node.operator in COMPARISONS:
        test = f"{operand.text} {node.operator} {item}"
    else:
        raise not_supported(f"the operator {node.operator} with {node.quantifier.upper()}", node.position)
    if node.quantifier == "any":
        return Printed(f"(len(list_filter({array.text}, lambda {item}: {test})) > 0)", "bool")
    return Printed(f"(len(list_filter({array.text}, lambda {item}: NOT ({test}))) = 0)", "bool")


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
    if isinstance(node.operand, Row):
        left = "(" + ", ".join(print_expression(printing, item, scope).text for item in node.operand.items) + ")"
    else:
        operand = print_expression(printing, node.operand, scope)
        left = printing.coerced(operand, printed.columns[0].type, node.position).text
    if node.operator == "=" and node.kind == "any":
        return Printed(f"({left} IN ({printed.text}))", "bool")
    return Printed(f"({left} {node.operator} {node.kind.upper()} ({printed.text}))", "bool")


def print_window(printing: Printing, window: WindowDefinition, scope: Scope) -> str:
    """Return what stands in the parentheses of OVER."""
    parts = [] if window.base is None else [f'"{window.base}"']
    if window.partition_by:
        keys = ", ".join(print_expression(printing, item, scope).text for item in window.partition_by)
        parts.append(f"PARTITION BY {keys}")
    if window.order_by:
        parts.append("ORDER BY " + print_sort_keys(printing, window.order_by, scope))
    if window.frame is not None:
        unit, start, end, excluded = window.frame
        if excluded:
            raise not_supported("EXCLUDE in a query on the catalog", window.position)
        parts.append(f"{unit.upper()} BETWEEN {_bound(printing, start, scope)} AND {_bound(printing, end, scope)}")
    return " ".join(parts)


def print_sort_keys(printing: Printing, items: tuple[SortItem, ...], scope: Scope) -> str:
    """Return the keys of an ORDER BY inside a call or a window."""
    parts = []
    for item in items:
        nulls_first = item.descending if item.nulls_first is None else item.nulls_first
        word = "DESC" if item.descending else "ASC"
        text = print_expression(printing, item.expression, scope).text
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
