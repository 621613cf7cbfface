"""Scalar expressions of the syntax to typed ones.

Operators, calls, aggregates and windows have their own files.

Enters: `sql.parse.syntax` nodes and a scope. Leaves: `sql.tree.expressions` nodes over the row of
the scope. Aggregates and window calls are bound to columns that only stand for them (see
`sql.bind.expressions.placeholder_columns`), which `select` replaces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sql import interrupts
from sql.bind.collations import require_one_collation, require_text
from sql.bind.expressions import arrays, calls, operators, rows, scope, subqueries
from sql.bind.expressions.coerce import coerce, common_type, explicit_cast, is_wide, require_boolean, scale_of, unify
from sql.bind.expressions.context import BindContext
from sql.bind.expressions.placeholder_columns import PlaceholderColumns, refuse_sets
from sql.bind.expressions.scope import Scope
from sql.bind.expressions.source_positions import start_of
from sql.errors import SqlError, not_supported
from sql.parse.syntax import (
    ArrayComparison,
    ArrayItems,
    Between,
    CaseWhen,
    Collation,
    Constant,
    Distinctness,
    FieldSelection,
    FunctionCall,
    InList,
    Like,
    Logic,
    Name,
    NamedArgument,
    Operation,
    ParameterNumber,
    Row,
    Star,
    Subquery,
    Subscript,
    Test,
    TypeCast,
    WindowDefinition,
)
from sql.parse.syntax import Expression as Syntax
from sql.parse.type_names import resolve_type
from sql.patterns.like import one_escape
from sql.tree.expressions import Call, Case, Expression, Literal
from sql.tree.walks import columns_of
from sql.types.datatypes import BOOL, INT4, INT8, TEXT, UNKNOWN, SqlType, scaled_numeric
from sql.values.literals import unlimited_decimal

LIKE_OPERATORS = frozenset({"~~", "!~~", "~~*", "!~~*"})
INT4_MAX = (1 << 31) - 1
INT8_MAX = (1 << 63) - 1


@dataclass
class Binder:
    """The binder of the expressions of one clause.

    Attributes:
        clause: PostgreSQL's words for the clause in errors ('WHERE', 'JOIN conditions').
        virtual: collects aggregates and windows, None where there can be neither.
        aggregates_allowed, windows_allowed, sets_allowed: what this clause may contain.
        in_from: the clause is the arguments of a function in FROM.
    """

    scope: Scope
    context: BindContext
    clause: str = "SELECT"
    virtual: PlaceholderColumns | None = None
    aggregates_allowed: bool = False
    windows_allowed: bool = False
    inside_aggregate: bool = False
    inside_window: bool = False
    windows: Mapping[str, WindowDefinition] = field(default_factory=dict)
    sets_allowed: bool = False
    in_from: bool = False

    @property
    def sets_count(self) -> int:
        """The number of set-returning functions that have been bound."""
        return 0 if self.virtual is None else len(self.virtual.sets)

    def bind(self, node: Syntax) -> Expression:
        """Return the typed expression of `node`; an untyped literal keeps the type 'unknown'."""
        interrupts.check()
        require_one_collation(node)
        found = BINDERS[type(node)](self, node)
        notes = self.context.references.notes
        if notes is not None:
            notes.types[id(node)] = found.type
        return found

    def bind_value(self, node: Syntax) -> Expression:
        """Return the typed expression; an expression that is still untyped becomes text."""
        return settle(self.bind(node), self.context)

    def bind_boolean(self, node: Syntax, clause: str = "") -> Expression:
        """Return the condition `node`, which must be boolean."""
        return require_boolean(self.bind(node), self.context, clause or self.clause, start_of(node))


def settle(expression: Expression, context: BindContext) -> Expression:
    """Return `expression`, as text if its type is still unknown."""
    if expression.type.family == "unknown":
        return coerce(expression, TEXT, context)
    return expression


def constant(node: Constant, context: BindContext) -> Expression:
    """Return a literal: integers take the smallest of int4, int8, numeric."""
    match node.kind:
        case "integer":
            value = int(node.value) if len(node.value) < 30 else INT8_MAX + 1
            if -INT4_MAX - 1 <= value <= INT4_MAX:
                return Literal(value, INT4, node.position)
            if -INT8_MAX - 1 <= value <= INT8_MAX:
                return Literal(value, INT8, node.position)
            return number(node, context)
        case "decimal":
            return number(node, context)
        case "bool":
            return Literal(node.value == "true", BOOL, node.position)
        case "null":
            return Literal(None, UNKNOWN, node.position)
    return Literal(node.value, UNKNOWN, node.position)


def number(node: Constant, context: BindContext) -> Expression:
    value = unlimited_decimal(node.value, node.position)
    context.wide_numbers |= is_wide(value)
    return Literal(value, scaled_numeric(scale_of(value)), node.position)


def logic(binder: Binder, node: Logic) -> Expression:
    clause = node.operator.upper()
    operands = tuple(binder.bind_boolean(item, clause) for item in node.operands)
    return Call(node.operator, operands, BOOL, node.position, node.text)


def collated(binder: Binder, node: Collation) -> Expression:
    """Return the operand as it is, since there is one order of texts.

    Raises 42804 where the operand is no text.
    """
    operand = binder.bind(node.operand)
    kind = operand.type.element if operand.type.is_array else operand.type
    require_text(kind.family, operand.type.sql_name, node)
    return operand


def type_cast(binder: Binder, node: TypeCast) -> Expression:
    target = resolve_type(node.type, binder.context.own_type)
    if isinstance(node.operand, ArrayItems) and target.is_array:
        return arrays.array_items(binder, node.operand, target)
    return explicit_cast(binder.bind(node.operand), target, binder.context, node.position)


def case(binder: Binder, node: CaseWhen) -> Expression:
    conditions = []
    results = []
    sets_count = binder.sets_count
    for condition, result in node.branches:
        if node.operand is None:
            conditions.append(binder.bind_boolean(condition, "CASE/WHEN"))
        else:
            equal = Operation("=", (node.operand, condition), start_of(condition), node.text)
            conditions.append(rows.operation(binder, equal))
        results.append(binder.bind(result))
    default = Literal(None, UNKNOWN) if node.default is None else binder.bind(node.default)
    refuse_sets(binder, sets_count, "CASE")
    # PostgreSQL looks at the ELSE branch first.
    places = [start_of(node.default or node), *(start_of(result) for _, result in node.branches)]
    kind, values = unify([default, *results], "CASE", binder.context, places)
    return Case(tuple(zip(conditions, values[1:], strict=True)), values[0], kind)


def test(binder: Binder, node: Test) -> Expression:
    """Bind IS [NOT] NULL, TRUE, FALSE, UNKNOWN."""
    if node.kind == "null":
        if isinstance(node.operand, Row):
            return rows.row_is_null(binder, node.operand, node.negated, node.position, node.text)
        operand = binder.bind(node.operand)
        if isinstance(operand, Literal):
            operand = settle(operand, binder.context)
        if operand.type.is_record:
            return rows.record_is_null(operand, node.negated, node.position, node.text)
        return Call("is_not_null" if node.negated else "is_null", (operand,), BOOL, node.position, node.text)
    words = f"IS {'NOT ' if node.negated else ''}{node.kind.upper()}"
    operand = binder.bind_boolean(node.operand, words)
    if node.kind == "unknown":
        name = "is_not_null" if node.negated else "is_null"
    else:
        name = f"is_not_{node.kind}" if node.negated else f"is_{node.kind}"
    return Call(name, (operand,), BOOL, node.position, node.text)


def distinctness(binder: Binder, node: Distinctness) -> Expression:
    if isinstance(node.left, Row) and isinstance(node.right, Row):
        return rows.row_distinct(binder, node.left, node.right, node.negated, node.position, node.text)
    equal = operators.binary(binder, "=", binder.bind(node.left), binder.bind(node.right), node.position, node.text)
    assert isinstance(equal, Call)
    return Call("is_not_distinct" if node.negated else "is_distinct", equal.arguments, BOOL, node.position, node.text)


def between(binder: Binder, node: Between) -> Expression:
    """Bind as AND of two comparisons; SYMMETRIC takes the bounds in both orders."""

    def inside(low: Syntax, high: Syntax) -> Expression:
        bounds = [
            rows.operation(binder, Operation(operator, (node.operand, bound), node.position, node.text))
            for operator, bound in ((">=", low), ("<=", high))
        ]
        return Call("and", tuple(bounds), BOOL, node.position, node.text)

    found = inside(node.low, node.high)
    if node.symmetric:
        found = Call("or", (found, inside(node.high, node.low)), BOOL, node.position, node.text)
    return negate(found, node.negated, node.position, node.text)


def negate(expression: Expression, negated: bool, position: int, text: str) -> Expression:
    return Call("not", (expression,), BOOL, position, text) if negated else expression


def in_list(binder: Binder, node: InList) -> Expression:
    """Bind IN: items without columns as one `in_list` if they have a common type, each other item
    as an equality.
    """
    if isinstance(node.operand, Row):
        found_row = rows.row_in_list(binder, node.operand, node.items, node.position, node.text)
        return negate(found_row, node.negated, node.position, node.text)
    operand = binder.bind(node.operand)
    items = [binder.bind(item) for item in node.items]
    constants = [item for item in items if not any(columns_of(item))]
    rest = items
    found: list[Expression] = []
    if len(constants) > 1 and common_type([operand, *constants]) is not None:
        _, values = unify([operand, *constants], "IN", binder.context)
        probe = operators.binary(binder, "=", values[0], values[1], node.position, node.text)
        assert isinstance(probe, Call)
        # Without a modifier: a value outside of it equals nothing, and is no error.
        family = SqlType(probe.arguments[0].type.family)
        arguments = tuple(coerce(value, family, binder.context) for value in values)
        found.append(Call("in_list", arguments, BOOL, node.position, node.text))
        rest = [item for item in items if any(columns_of(item))]
    found += [operators.binary(binder, "=", operand, item, node.position, node.text) for item in rest]
    whole = found[0] if len(found) == 1 else Call("or", tuple(found), BOOL, node.position, node.text)
    return negate(whole, node.negated, node.position, node.text)


def escaped_like(node: Operation) -> Like | None:
    """Return LIKE with ESCAPE for its form in definitions, text ~~ like_escape(pattern, escape)."""
    pattern = node.operands[-1]
    if node.operator not in LIKE_OPERATORS or not isinstance(pattern, FunctionCall) or pattern.name != "like_escape":
        return None
    if len(pattern.arguments) != 2:
        return None
    return Like(
        node.operands[0], *pattern.arguments, node.operator.endswith("*"), node.operator.startswith("!"),
        node.position, node.text,
    )  # fmt: skip


def like(binder: Binder, node: Like) -> Expression:
    """Bind LIKE and ILIKE."""
    operator = "~~*" if node.case_insensitive else "~~"
    shown = ("!" if node.negated else "") + operator
    operand, pattern = binder.bind(node.operand), binder.bind(node.pattern)
    escape = None if node.escape is None else binder.bind(node.escape)
    is_known = isinstance(escape, Literal) and isinstance(escape.value, str | None)
    if escape is not None and not is_known:
        given = [coerce(one, TEXT, binder.context) for one in (pattern, escape)]
        pattern = Call("like_escape", tuple(given), TEXT, node.position, node.text)
    found = operators.binary(binder, shown, operand, pattern, node.position, node.text)
    if not isinstance(escape, Literal) or not is_known:
        return found
    if escape.value is None:
        return Literal(None, BOOL, node.position)
    return operators.with_escape(found, one_escape(str(escape.value)))


def operation(binder: Binder, node: Operation) -> Expression:
    """Bind an operator, or LIKE in the form that definitions have."""
    escaped = escaped_like(node)
    return rows.operation(binder, node) if escaped is None else like(binder, escaped)


def refuse_name(_: Binder, node: NamedArgument) -> Expression:
    """Refuse the name of an argument where no user's function is called."""
    raise not_supported("a named argument", node.position)


def star(binder: Binder, node: Star) -> Expression:
    """Return the row that relation.* is as a value."""
    if not node.qualifier:
        raise SqlError("42601", 'row expansion via "*" is not supported here', node.position)
    return scope.whole_row(*binder.scope.table(node.qualifier, node.position), node.position)


# What binds each kind of expression.
BINDERS: dict[type[Syntax], Callable[[Binder, Any], Expression]] = {
    Name: lambda binder, node: binder.scope.column(node),
    Constant: lambda binder, node: constant(node, binder.context),
    ParameterNumber: lambda binder, node: binder.context.parameters.use(node.number, node.position),
    Operation: operation,
    Logic: logic,
    FunctionCall: calls.call,
    TypeCast: type_cast,
    Collation: collated,
    CaseWhen: case,
    Test: test,
    Distinctness: distinctness,
    Between: between,
    InList: in_list,
    Like: like,
    Subquery: subqueries.subquery,
    ArrayItems: arrays.array_items,
    Subscript: arrays.subscript,
    ArrayComparison: arrays.array_comparison,
    FieldSelection: scope.field_selection,
    Row: scope.row_value,
    NamedArgument: refuse_name,
    Star: star,
}
