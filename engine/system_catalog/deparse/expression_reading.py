"""Expressions of a definition's text to nodes: names, operators and functions resolved, with the
casts that PostgreSQL puts in.

Calls have a file of their own. Enters: `sql.parse.syntax`. Leaves: `nodes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from typing import Any

from engine.system_catalog.deparse import calls_reading, signatures
from engine.system_catalog.deparse.nodes import (
    ArrayTestNode,
    CallNode,
    CaseNode,
    CastNode,
    CollateNode,
    Constant,
    FieldNode,
    ListNode,
    LogicNode,
    Merged,
    NamedNode,
    Node,
    OperatorNode,
    SelectQuery,
    SortNode,
    Source,
    SubqueryNode,
    SubscriptNode,
    TestNode,
    Var,
)
from engine.system_catalog.deparse.scopes import Levels, named, source_called, star, whole_row
from sql.catalog.functions import FunctionDescription
from sql.errors import SqlError
from sql.functions.catalog import NAME_FORMS
from sql.parse import syntax
from sql.types.datatypes import (
    BOOL,
    INT4,
    INT8,
    NUMERIC,
    TEXT,
    UNKNOWN,
    SqlType,
    array_of,
    record_type,
)
from sql.types.records import RecordType, field_type
from sql.values.literal_output import output_text
from sql.values.literals import input_value

INT4_MAX, INT8_MAX = (1 << 31) - 1, (1 << 63) - 1
NEGATIONS = {"=": "<>", "~~": "!~~", "~~*": "!~~*"}


@dataclass(frozen=True)
class Settings:
    """The settings with which a text is read.

    Attributes:
        written_zone: the zone of the session that made the definition.
        shown_zone: the zone of the session that reads it.
        resolve: a type as written to the type.
        query: reads a query inside of these levels.
        oid_in_string: of the object that a string of a type like regclass names, None where there
            is none.
        functions: the users' functions that a name as written means.
    """

    written_zone: str
    shown_zone: str
    resolve: Callable[[syntax.TypeName], SqlType]
    query: Callable[[syntax.Query, Levels], SelectQuery]
    oid_in_string: Callable[[str, str], int | None]
    functions: Callable[[str], list[FunctionDescription]]


@dataclass
class ExpressionReader:
    """A reader of the expressions of one query.

    Attributes:
        windows: the query's named windows.
    """

    levels: Levels
    settings: Settings
    windows: tuple[str, ...] = ()

    def read(self, node: syntax.Expression) -> Node:
        """Return an expression; an untyped constant has the type 'unknown'."""
        return READERS[type(node)](self, node)

    def value(self, node: syntax.Expression) -> Node:
        """Return an expression; an untyped constant is a text."""
        return self.settled(self.read(node))

    def settled(self, node: Node) -> Node:
        """Return a node; an untyped constant as a text."""
        return self.coerced(node, TEXT) if node.type.family == "unknown" else node

    def condition(self, node: syntax.Expression) -> Node:
        """Return an expression that must be boolean."""
        return self.coerced(self.read(node), BOOL)

    def coerced(self, node: Node, kind: SqlType | None) -> Node:
        """Return a node as a value of a type, by an implicit cast if it is of another one."""
        if kind is None or node.type.oid == kind.oid or kind.family == "unknown":
            return node
        kind = kind.without_modifier()
        if isinstance(node, NamedNode):
            return replace(node, operand=self.coerced(node.operand, kind), type=kind)
        if isinstance(node, Constant) and node.type.family == "unknown":
            return self.constant_of(node.text, kind)
        if isinstance(node, ListNode) and node.kind == "array" and node.type.element.family == "unknown":
            return self._array_of(node.items, kind.element)
        return CastNode(node, kind, True, signatures.cast_method(node.type, kind))

    def constant_of(self, text: str | None, kind: SqlType) -> Constant:
        """Return a constant as the output of its type writes it."""
        if text is None:
            return Constant(None, kind)
        if f"{kind.family} in" in NAME_FORMS:
            return Constant(text, kind, self.settings.oid_in_string(kind.family, text))
        try:
            value = input_value(text, kind, self.settings.written_zone, None)
        except SqlError:
            return Constant(text, kind)
        if isinstance(value, bool):
            return Constant("true" if value else "false", kind)
        return Constant(output_text(value, kind, self.settings.shown_zone), kind)

    def operator(self, name: str, *operands: Node) -> Node:
        """Return an operator over its operands."""
        row = signatures.operator(name, [operand.type for operand in operands])
        if row is None:
            return OperatorNode(name, tuple(map(self.settled, operands)), operands[0].type)
        declared = [row["oprright"]] if len(operands) == 1 else [row["oprleft"], row["oprright"]]
        element = signatures.element_of(list(zip(declared, (one.type for one in operands), strict=True)))
        items = tuple(
            self.coerced(operand, signatures.declared_type(oid, element))
            for operand, oid in zip(operands, declared, strict=True)
        )
        return OperatorNode(name, items, signatures.declared_type(row["oprresult"], element) or items[0].type)

    def sort(self, expression: Node, item: syntax.SortItem) -> SortNode:
        """Return an item of ORDER BY over an expression."""
        first = item.descending if item.nulls_first is None else item.nulls_first
        return SortNode(expression, item.descending, first)

    # Kinds of expressions.

    def _name(self, node: syntax.Name) -> Node:
        found = named(node.parts, self.levels)
        assert found is not None, node
        return found

    def _parameter(self, node: syntax.ParameterNumber) -> Node:
        (around,) = self.levels[-1].sources
        return Var(around, node.number - 1, around.columns[node.number - 1].type)

    def _collation(self, node: syntax.Collation) -> Node:
        operand = self.value(node.operand)
        return CollateNode(operand, node.name, operand.type)

    def _test(self, node: syntax.Test) -> Node:
        operand = self.value(node.operand) if node.kind == "null" else self.condition(node.operand)
        return TestNode(operand, f"{'NOT ' * node.negated}{node.kind.upper()}")

    def _named_argument(self, node: syntax.NamedArgument) -> Node:
        operand = self.read(node.value)
        return NamedNode(node.name, operand, operand.type)

    def _star(self, node: syntax.Star) -> Node:
        source = source_called(node.qualifier, self.levels)
        assert source is not None, node
        return whole_row(source)

    def _array_comparison(self, node: syntax.ArrayComparison) -> Node:
        return self.array_test(self.read(node.operand), node.operator, node.quantifier, self.read(node.array))

    def _operation(self, node: syntax.Operation) -> Node:
        match node.operands:
            case (syntax.Row() as left, syntax.Row() as right):
                return self._row_comparison(node.operator, left, right)
            case (syntax.Row() as left, syntax.Subquery(kind="scalar") as right):
                return self._compared_with_query("row", left.items, node.operator, right)
        return self.operator(node.operator, *map(self.read, node.operands))

    def _distinctness(self, node: syntax.Distinctness) -> Node:
        pairs = [(node.left, node.right)]
        if isinstance(node.left, syntax.Row) and isinstance(node.right, syntax.Row):
            pairs = list(zip(node.left.items, node.right.items, strict=True))
        tests = []
        for left, right in pairs:
            found = self.operator("=", self.read(left), self.read(right))
            assert isinstance(found, OperatorNode)
            tests.append(TestNode(found.operands[0], "DISTINCT FROM", found.operands[1]))
        test = tests[0] if len(tests) == 1 else LogicNode("or", tuple(tests))
        return LogicNode("not", (test,)) if node.negated else test

    def _row_comparison(self, operator: str, left: syntax.Row, right: syntax.Row) -> Node:
        pairs = zip(left.items, right.items, strict=True)
        items = [self.operator(operator, self.read(one), self.read(other)) for one, other in pairs]
        if len(items) == 1:
            return items[0]
        if operator in ("=", "<>", "!="):
            return LogicNode("and" if operator == "=" else "or", tuple(items))
        sides = zip(*(item.operands for item in items if isinstance(item, OperatorNode)), strict=True)
        first, second = (ListNode("row", side, UNKNOWN) for side in sides)
        return OperatorNode(operator, (first, second), BOOL)

    def _logic(self, node: syntax.Logic) -> Node:
        operands = list(node.operands)
        while (
            node.operator != "not" and isinstance(operands[0], syntax.Logic) and operands[0].operator == node.operator
        ):
            operands = [*operands[0].operands, *operands[1:]]
        return LogicNode(node.operator, tuple(map(self.condition, operands)))

    def _cast(self, node: syntax.TypeCast) -> Node:
        kind = self.settings.resolve(node.type)
        if isinstance(node.operand, syntax.ArrayItems) and kind.is_array:
            return self._array(node.operand, kind.element)
        operand = self.read(node.operand)
        plain = kind.without_modifier()
        is_plain = (kind.length, kind.precision, kind.fields) == (None, None, "")
        if isinstance(operand, Constant) and operand.type.family == "unknown":
            precision = kind.precision if kind.family == "interval" else None
            read_as = replace(plain, fields=kind.fields, precision=precision)
            operand = replace(self.constant_of(operand.text, read_as), type=plain)
            if kind.family == "interval" and not is_plain:
                return replace(operand, type=kind)
        elif is_plain and operand.type.oid == kind.oid:
            return operand if operand.type.typmod < 0 else CastNode(operand, kind, False, "relabel")
        elif is_plain:
            return CastNode(operand, kind, False, signatures.cast_method(operand.type, kind))
        if is_plain or (operand.type.oid == kind.oid and operand.type.typmod == kind.typmod and kind.typmod >= 0):
            return operand
        return CastNode(self.coerced(operand, plain), kind, False, "function")

    def _case(self, node: syntax.CaseWhen) -> Node:
        operand = None if node.operand is None else self.value(node.operand)
        results = [self.read(result) for _, result in node.branches]
        default: Node = Constant(None, UNKNOWN) if node.default is None else self.read(node.default)
        kind = signatures.common_type([default.type, *(result.type for result in results)])
        conditions = []
        for condition, _ in node.branches:
            if operand is None:
                conditions.append(self.condition(condition))
            else:
                equal = self.operator("=", operand, self.read(condition))
                assert isinstance(equal, OperatorNode)
                conditions.append(equal.operands[1])
        branches = tuple(zip(conditions, (self.coerced(one, kind) for one in results), strict=True))
        return CaseNode(operand, branches, self.coerced(default, kind), kind)

    def _between(self, node: syntax.Between) -> Node:
        below, above, inner, outer = ("<", ">", "or", "and") if node.negated else (">=", "<=", "and", "or")

        def inside(low: syntax.Expression, high: syntax.Expression) -> Node:
            bounds = ((below, low), (above, high))
            return LogicNode(
                inner, tuple(self.operator(sign, self.read(node.operand), self.read(bound)) for sign, bound in bounds)
            )

        found = inside(node.low, node.high)
        return LogicNode(outer, (found, inside(node.high, node.low))) if node.symmetric else found

    def _in_list(self, node: syntax.InList) -> Node:
        sign, word = ("<>", "and") if node.negated else ("=", "or")
        if isinstance(node.operand, syntax.Row):
            rows = [self._row_comparison(sign, node.operand, one) for one in node.items if isinstance(one, syntax.Row)]
            return rows[0] if len(rows) == 1 else LogicNode(word, tuple(rows))
        operand, items = self.read(node.operand), [self.read(item) for item in node.items]
        constants = [item for item in items if not has_columns(item)]
        found: list[Node] = []
        if len(constants) > 1:
            kind = signatures.common_type([operand.type, *(item.type for item in constants)])
            found.append(
                self.array_test(operand, sign, "all" if node.negated else "any", self._array_of(constants, kind))
            )
            items = [item for item in items if has_columns(item)]
        found += [self.operator(sign, operand, item) for item in items]
        return found[0] if len(found) == 1 else LogicNode(word, tuple(found))

    def array_test(self, operand: Node, operator: str, quantifier: str, array: Node) -> Node:
        """Return operand operator ANY | ALL (array)."""
        if array.type.family == "unknown":
            array = self.coerced(array, array_of(operand.type))
        if not array.type.is_array:
            return ArrayTestNode(operand, operator, quantifier, array)
        row = signatures.operator(operator, [operand.type, array.type.element])
        if row is None:
            return ArrayTestNode(self.settled(operand), operator, quantifier, array)
        element = signatures.element_of([(row["oprleft"], operand.type), (row["oprright"], array.type.element)])
        right = signatures.declared_type(row["oprright"], element)
        array = array if right is None else self.coerced(array, array_of(right))
        return ArrayTestNode(
            self.coerced(operand, signatures.declared_type(row["oprleft"], element)), operator, quantifier, array
        )

    def _like(self, node: syntax.Like) -> Node:
        sign = "!" * node.negated + ("~~*" if node.case_insensitive else "~~")
        pattern = self.read(node.pattern)
        if node.escape is not None:
            arguments = (self.settled(pattern), self.value(node.escape))
            pattern = CallNode("like_escape", arguments, TEXT)
        return self.operator(sign, self.read(node.operand), pattern)

    def _subquery(self, node: syntax.Subquery) -> Node:
        if node.operand is not None:
            operands = node.operand.items if isinstance(node.operand, syntax.Row) else (node.operand,)
            return self._compared_with_query(node.kind, operands, node.operator, node)
        query = self.settings.query(node.query, self.levels)
        kind = BOOL if node.kind == "exists" else query.columns[0][1]
        return SubqueryNode(node.kind, (), "", query, array_of(kind) if node.kind == "array" else kind)

    def _compared_with_query(
        self, kind: str, operands: Sequence[syntax.Expression], operator: str, node: syntax.Subquery
    ) -> Node:
        query = self.settings.query(node.query, self.levels)
        compared = []
        for item, (_, column) in zip(operands, query.columns, strict=True):
            found = self.operator(operator, self.read(item), Var(_NO_SOURCE, 0, column))
            assert isinstance(found, OperatorNode)
            compared.append(found.operands[0])
        return SubqueryNode(kind, tuple(compared), operator, query, BOOL)

    def _array(self, node: syntax.ArrayItems, kind: SqlType | None = None) -> Node:
        items: list[Node] = []
        for item in node.items:
            if isinstance(item, syntax.ArrayItems):
                items.append(self._array(item, kind))
            else:
                one = self.read(item)
                items.append(one if kind is None else self.explicitly(one, kind))
        if items and isinstance(items[0], ListNode) and items[0].kind == "array":
            return ListNode("array", tuple(items), items[0].type)
        if kind is not None:
            return ListNode("array", tuple(items), array_of(kind))
        return self._array_of(items, signatures.common_type([item.type for item in items]))

    def explicitly(self, node: Node, kind: SqlType) -> Node:
        """Return an item of ARRAY[...]::type[], which is cast as the array."""
        found = self.coerced(node, kind)
        return replace(found, implicit=False) if isinstance(found, CastNode) else found

    def _array_of(self, items: Sequence[Node], kind: SqlType) -> Node:
        return ListNode("array", tuple(self.coerced(item, kind) for item in items), array_of(kind.without_modifier()))

    def _subscript(self, node: syntax.Subscript) -> Node:
        operand = self.value(node.operand)
        bounds = (node.lower, node.upper) if node.is_slice else (node.lower,)
        wanted = TEXT if operand.type.family == "jsonb" else INT4
        items: list[Node | None] = []
        for bound in bounds:
            item = None if bound is None else self.read(bound)
            if item is not None and (wanted is INT4 or item.type.family == "unknown"):
                item = self.coerced(item, wanted)
            items.append(item)
        is_element = operand.type.is_array and not node.is_slice
        return SubscriptNode(operand, tuple(items), operand.type.element if is_element else operand.type)

    def _field(self, node: syntax.FieldSelection) -> Node:
        operand = self.read(node.operand)
        if isinstance(operand, Var) and operand.index is None:
            found = named((operand.source.called, node.name), self.levels)
            if found is not None:
                return found
        record = operand.type.record
        fields = {} if record is None else dict(record.fields)
        return FieldNode(operand, node.name, fields.get(node.name, TEXT))

    def row(self, node: syntax.Row) -> Node:
        """Return ROW(...); a star stands for its columns."""
        items: list[Node] = []
        for item in node.items:
            if isinstance(item, syntax.Star):
                items += [column for _, column in star(item.qualifier, self.levels)]
            else:
                items.append(self.value(item))
        fields = tuple((f"f{number}", field_type(item.type)) for number, item in enumerate(items, 1))
        return ListNode("row", tuple(items), record_type(RecordType(fields)))


# What reads each kind of expression.
READERS: dict[type[syntax.Expression], Callable[[ExpressionReader, Any], Node]] = {
    syntax.Name: ExpressionReader._name,
    syntax.Constant: lambda _, node: constant(node),
    syntax.ParameterNumber: ExpressionReader._parameter,
    syntax.Operation: ExpressionReader._operation,
    syntax.Logic: ExpressionReader._logic,
    syntax.FunctionCall: calls_reading.call,
    syntax.TypeCast: ExpressionReader._cast,
    syntax.Collation: ExpressionReader._collation,
    syntax.CaseWhen: ExpressionReader._case,
    syntax.Test: ExpressionReader._test,
    syntax.Distinctness: ExpressionReader._distinctness,
    syntax.Between: ExpressionReader._between,
    syntax.InList: ExpressionReader._in_list,
    syntax.Like: ExpressionReader._like,
    syntax.Subquery: ExpressionReader._subquery,
    syntax.ArrayItems: ExpressionReader._array,
    syntax.Subscript: ExpressionReader._subscript,
    syntax.ArrayComparison: ExpressionReader._array_comparison,
    syntax.FieldSelection: ExpressionReader._field,
    syntax.Row: ExpressionReader.row,
    syntax.NamedArgument: ExpressionReader._named_argument,
    syntax.Star: ExpressionReader._star,
}
_NO_SOURCE = Source("values", "", "", "", None, (), [])


def constant(node: syntax.Constant) -> Constant:
    """Return a literal with the type that PostgreSQL gives it."""
    match node.kind:
        case "integer":
            value = int(node.value)
            if -INT4_MAX - 1 <= value <= INT4_MAX:
                return Constant(str(value), INT4)
            return Constant(str(value), INT8 if -INT8_MAX - 1 <= value <= INT8_MAX else NUMERIC)
        case "decimal":
            return Constant(format(Decimal(node.value.replace("_", "")), "f"), NUMERIC)
        case "bool":
            return Constant(node.value, BOOL)
        case "null":
            return Constant(None, UNKNOWN)
    return Constant(node.value, UNKNOWN)


def has_columns(node: Node) -> bool:
    """Tell whether a node has a column in it, of this query or another."""
    return any(isinstance(part, Var | Merged | SubqueryNode) for part in parts(node))


def parts(node: Node) -> Iterator[Node]:
    """Yield a node and all in it, but for queries."""
    yield node
    for field in fields(node):
        yield from _parts_of(getattr(node, field.name))


def _parts_of(value: object) -> Iterator[Node]:
    if isinstance(value, Node):
        yield from parts(value)
    elif isinstance(value, SortNode):
        yield from parts(value.expression)
    elif isinstance(value, tuple):
        for one in value:
            yield from _parts_of(one)
