"""Expressions as PostgreSQL prints them, with all parentheses or, pretty, with those that are
needed.

Enters: nodes whose sources have names (`aliases`). Leaves: text, on a `Page`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from engine.system_catalog.deparse.layout import CASE_INDENT, Page, Style
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
    WindowNode,
)
from sql.names.relation_keys import quoted

LOW, HIGH = frozenset("+-"), frozenset("*/%")
# Nodes with parentheses or brackets of their own around what is in them.
ENCLOSING = (ListNode, SubscriptNode, CaseNode)


@dataclass
class ExpressionPrinter:
    """A printer of expressions onto a page.

    Attributes:
        prefixed: print the item of FROM before a column.
        named: print the function's name before a parameter.
        query: prints a query inside of an expression.
    """

    page: Page
    style: Style
    prefixed: bool
    query: Callable[[SelectQuery], None]
    named: bool = False

    @property
    def pretty(self) -> bool:
        """True to print no parentheses that are not needed."""
        return self.style.pretty

    def print(self, node: Node, implicit: bool = False) -> None:
        """Print an expression.

        implicit: print implicit casts at the top, too.
        """
        page = self.page
        match node:
            case Var():
                self._column(node)
            case Merged():
                page.write(quoted(node.shown or node.name))
            case Constant():
                self.constant(node)
            case CastNode():
                if node.implicit and not implicit:
                    self._operand(node.operand, node, False)
                else:
                    self._cast(node)
            case OperatorNode():
                self._operator(node)
            case LogicNode():
                self._logic(node)
            case TestNode():
                other = () if node.other is None else (" ", node.other)
                self._spread(node, node.operand, f" IS {node.words}", *other)
            case CallNode():
                self._call(node)
            case NamedNode():
                page.write(f"{quoted(node.name)} => ")
                self.print(node.operand, True)
            case CaseNode():
                self._case(node)
            case ListNode():
                page.write("ARRAY[" if node.kind == "array" else "ROW(")
                self.all(node.items, True)
                page.write("]" if node.kind == "array" else ")")
                if not node.items and node.kind == "array":
                    page.write(f"::{self.style.type_name(node.type)}")
            case SubscriptNode():
                self._subscript(node)
            case FieldNode():
                self._field(node)
            case ArrayTestNode():
                words = f" {node.operator} {node.quantifier.upper()} ("
                self._spread(node, node.operand, words, node.array, ")")
            case SubqueryNode():
                self._subquery(node)
            case CollateNode():
                self._spread(node, node.operand, f" COLLATE {quoted(node.name)}", implicit=implicit)

    def all(self, nodes: Sequence[Node], implicit: bool, between: str = ", ") -> None:
        """Print expressions with commas between them."""
        self.page.items(nodes, lambda node: self.print(node, implicit), between)

    def _spread(self, node: Node, *parts: str | Node, implicit: bool = True) -> None:
        """Print the words and operands of a node, in parentheses unless pretty."""
        self.page.write("(" * (not self.pretty))
        for part in parts:
            if isinstance(part, str):
                self.page.write(part)
            else:
                self._operand(part, node, implicit)
        self.page.write(")" * (not self.pretty))

    def _operand(self, node: Node, parent: Node, implicit: bool) -> None:
        needed = self.pretty and not is_simple(node, parent)
        self.page.write("(" * needed)
        self.print(node, implicit)
        self.page.write(")" * needed)

    def _column(self, node: Var) -> None:
        source = node.source
        if source.kind == "parameters":
            assert node.index is not None
            self._parameter(source, node.index)
            return
        prefix = f"{quoted(source.shown)}." if self.prefixed or node.index is None else ""
        self.page.write(prefix + ("*" if node.index is None else quoted(source.shown_columns[node.index])))

    def _parameter(self, source: Source, index: int) -> None:
        name = source.columns[index].called
        if name is None:
            self.page.write(f"${index + 1}")
        else:
            self.page.write(f"{quoted(source.called)}." * self.named + quoted(name))

    def constant(self, node: Constant, label: bool | None = None) -> None:
        """Print a constant.

        label: its type after it; None: where that is needed.
        """
        if node.oid is not None:
            node = replace(node, text=self.style.object_name(node.type.family, node.oid))
        shown, needed = constant_text(node)
        self.page.write(shown)
        if label or (label is None and needed):
            self.page.write(f"::{self.style.type_name(node.type)}")

    def _cast(self, node: CastNode) -> None:
        operand = node.operand
        if isinstance(operand, Constant) and operand.type.oid == node.type.oid and operand.text is not None:
            self.constant(operand, False)
        else:
            self._spread(node, operand, implicit=False)
        self.page.write(f"::{self.style.type_name(node.type)}")

    def _operator(self, node: OperatorNode) -> None:
        if all(isinstance(operand, ListNode) and operand.kind == "row" for operand in node.operands):
            self.page.write("(")
            self.all(node.operands, True, f" {node.operator} ")
            self.page.write(")")
        elif len(node.operands) == 1:
            self._spread(node, f"{node.operator} ", node.operands[0])
        else:
            left, right = node.operands
            self._spread(node, left, f" {'<>' if node.operator == '!=' else node.operator} ", right)

    def _logic(self, node: LogicNode) -> None:
        word = node.operator.upper()
        parts: list[str | Node] = ["NOT " * (word == "NOT"), node.operands[0]]
        for operand in node.operands[1:]:
            parts += [f" {word} ", operand]
        self._spread(node, *parts, implicit=False)

    def _case(self, node: CaseNode) -> None:
        page = self.page
        page.line("CASE", 0, CASE_INDENT)
        if node.operand is not None:
            page.write(" ")
            self.print(node.operand, True)
        for condition, result in node.branches:
            page.part("WHEN ")
            self.print(condition)
            page.write(" THEN ")
            self.print(result, True)
        page.part("ELSE ")
        self.print(node.default, True)
        page.part("END", -CASE_INDENT)

    def _subscript(self, node: SubscriptNode) -> None:
        operand = node.operand
        is_parameter = isinstance(operand, Var) and operand.source.kind == "parameters"
        bare = isinstance(operand, Var | FieldNode) and not is_parameter
        parts: list[str | Node] = ["(" * (not bare), operand, ")" * (not bare) + "["]
        for number, bound in enumerate(node.bounds):
            parts += [":" * number, "" if bound is None else bound]
        self._parts([*parts, "]"])

    def _field(self, node: FieldNode) -> None:
        bare = isinstance(node.operand, SubscriptNode | FieldNode)
        self.page.write("(" * (not bare))
        self.print(node.operand, True)
        self.page.write(")" * (not bare) + f".{quoted(node.name)}")

    def _subquery(self, node: SubqueryNode) -> None:
        page = self.page
        page.write("ARRAY(" if node.kind == "array" else "(")
        is_row = len(node.operands) > 1
        page.write("(" * is_row)
        self.all(node.operands, True)
        page.write(")" * is_row)
        is_in = node.kind == "any" and node.operator == "="
        words = {
            "exists": "EXISTS ",
            "any": " IN " if is_in else f" {node.operator} ANY ",
            "all": f" {node.operator} ALL ",
            "row": f" {node.operator} ",
        }
        word = words.get(node.kind, "")
        page.write(word + "(" * bool(word))
        self.query(node.query)
        page.write(")" * bool(word) + ")")

    # Calls

    def _call(self, node: CallNode) -> None:
        page = self.page
        if node.kind == "bare":
            page.write(node.name)
            return
        if node.kind == "syntax":
            self._own_syntax(node)
            return
        name = self.style.function_name(node.schema, node.name) if node.schema else node.name
        page.write(f"{name}(" + "DISTINCT " * node.distinct + "*" * node.star)
        self.all(node.arguments, True)
        if node.order_by:
            page.write(") WITHIN GROUP (ORDER BY " if node.within_group else " ORDER BY ")
            self.order(node.order_by)
        page.write(")")
        if node.condition is not None:
            page.write(" FILTER (WHERE ")
            self.print(node.condition)
            page.write(")")
        if node.over is not None:
            page.write(" OVER ")
            if node.over.name is not None:
                page.write(quoted(node.over.name))
            else:
                self.window(node.over)

    def _own_syntax(self, node: CallNode) -> None:
        """Print a call in the form that SQL has for it."""
        page, items = self.page, node.arguments
        parts: list[str | Node]
        match node.name:
            case "extract":
                assert isinstance(items[0], Constant)
                parts = [f"EXTRACT({items[0].text} FROM ", items[1], ")"]
            case "position":
                parts = ["POSITION((", items[1], ") IN (", items[0], "))"]
            case "overlaps":
                parts = ["((", items[0], ", ", items[1], ") OVERLAPS (", items[2], ", ", items[3], "))"]
            case "normalize" | "is_normalized":
                form = "".join(f" {item.text}" for item in items[1:] if isinstance(item, Constant))
                is_test = node.name == "is_normalized"
                parts = ["(" if is_test else "NORMALIZE(", items[0]]
                parts.append(f" IS{form} NORMALIZED)" if is_test else f"{',' * bool(form)}{form})")
            case "btrim" | "ltrim" | "rtrim":
                side = {"btrim": "BOTH", "ltrim": "LEADING", "rtrim": "TRAILING"}[node.name]
                parts = [f"TRIM({side}", *([" ", items[1]] if len(items) > 1 else []), " FROM ", items[0], ")"]
            case "timezone":
                page.write("(" * self.pretty)
                self._spread(node, items[1], " AT TIME ZONE ", items[0], implicit=False)
                page.write(")" * self.pretty)
                return
            case _:
                words = {"substring": (" FROM ", " FOR "), "overlay": (" PLACING ", " FROM ", " FOR ")}[node.name]
                parts = [f"{node.name.upper()}(", items[0]]
                for word, item in zip(words, items[1:], strict=False):
                    parts += [word, item]
                parts.append(")")
        self._parts(parts)

    def _parts(self, parts: Sequence[str | Node]) -> None:
        for part in parts:
            if isinstance(part, str):
                self.page.write(part)
            else:
                self.print(part)

    # Lists of expressions

    def key(self, node: Node) -> None:
        """Print an item of ORDER BY, GROUP BY or PARTITION BY."""
        if isinstance(node, Constant):
            self.constant(node, True)
            return
        needed = not isinstance(node, Var | Merged) and (
            self.pretty or (isinstance(node, CallNode) and node.kind not in ("words", "bare")) or is_function_cast(node)
        )
        self.page.write("(" * needed)
        self.print(node, True)
        self.page.write(")" * needed)

    def order(self, items: Sequence[SortNode], numbers: Sequence[int] = ()) -> None:
        """Print the items of an ORDER BY.

        numbers: of output columns, in the place of expressions.
        """
        for place, item in enumerate(items):
            self.page.write(", " * bool(place))
            if numbers:
                self.page.write(str(numbers[place]))
            else:
                self.key(item.expression)
            nulls = " NULLS FIRST" if item.nulls_first else " NULLS LAST"
            self.page.write(" DESC" * item.descending + nulls * (item.nulls_first != item.descending))

    def named_window(self, node: WindowNode) -> None:
        """Print an item of the WINDOW clause."""
        self.page.write(f"{quoted(node.name or '')} AS ")
        self.window(node)

    def window(self, node: WindowNode) -> None:
        """Print a window in its parentheses."""
        page = self.page
        page.write("(" + ("" if node.base is None else f"{quoted(node.base)} "))
        if node.partition_by:
            page.write("PARTITION BY ")
            page.items(node.partition_by, self.key)
            page.write(" ")
        if node.order_by:
            page.write("ORDER BY ")
            self.order(node.order_by)
            page.write(" ")
        self._parts(node.frame)
        page.strip()
        page.write(")")


def constant_text(node: Constant) -> tuple[str, bool]:
    """Return a constant without its type, and whether the type is needed after it."""
    if node.text is None:
        return "NULL", True
    text, family = node.text, node.type.family
    if family == "int4":
        return (f"'{text}'", True) if text.startswith("-") else (text, False)
    if family == "numeric":
        is_plain = text[:1].isdigit() and "." in text
        return (text, node.type.precision is not None) if is_plain else (f"'{text}'", True)
    if family == "bool":
        return text, False
    return literal(text), family != "unknown"


def literal(text: str) -> str:
    """Return a text as a literal."""
    return "'" + text.replace("'", "''") + "'"


def is_function_cast(node: Node) -> bool:
    """Tell whether a node is a cast that a function does."""
    return isinstance(node, CastNode) and node.method == "function"


def is_simple(node: Node, parent: Node) -> bool:
    """Tell whether a node needs no parentheses inside of another one."""
    match node:
        case Var() | Merged() | Constant() | CallNode() | NamedNode() | ListNode() | SubscriptNode() | CaseNode():
            return True
        case FieldNode():
            return not isinstance(parent, FieldNode)
        case CastNode():
            return node.method == "function" or is_simple(node.operand, node)
        case OperatorNode() if isinstance(parent, OperatorNode):
            return _binds_tighter(node, parent)
        case OperatorNode() | SubqueryNode() | TestNode():
            return isinstance(parent, LogicNode) or _encloses(parent)
        case LogicNode():
            if isinstance(parent, LogicNode):
                allowed = ("or",) if node.operator == "or" else ("and", "or")
                return parent.operator in allowed
            return _encloses(parent)
    return False


def _encloses(parent: Node) -> bool:
    return isinstance(parent, ENCLOSING) or (isinstance(parent, CallNode) and parent.kind != "syntax")


def _binds_tighter(node: OperatorNode, parent: OperatorNode) -> bool:
    """Tell whether an operation needs no parentheses as an operand of another one."""
    operators = (node.operator, parent.operator)
    if len(node.operands) != 2 or len(parent.operands) != 2 or not all(one in LOW | HIGH for one in operators):
        return False
    if (node.operator in HIGH) != (parent.operator in HIGH):
        return node.operator in HIGH
    return node is parent.operands[0]
