"""The walk over a typed expression that both engines share: it chooses a rule by function and
operand form, and fits numeric forms.

A *form* is a type family, with two physical forms of numeric: 'numeric' (DECIMAL(38,S), one scale
for all values) and 'variable' (STRUCT(unscaled, scale)), one of text ('text' is also varchar and
unknown), one of arrays ('array') and one of enums ('enum'). A rule is a template over the operands'
texts, or a function that prints. Each engine has rule tables of its own. Must not know of
relations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sql import interrupts
from sql.emit.failing import can_fail
from sql.errors import SqlError, not_supported
from sql.functions.printing import CastRule, Printer, Rule, form_of, target_form
from sql.functions.rows import OWN_FORMS, OWN_SCALES
from sql.functions.session import VIEW_CHANGES
from sql.functions.table import ROWS, is_lazy
from sql.functions.volatility import is_constant
from sql.tree.expressions import (
    Call,
    Case,
    Cast,
    Column,
    Expression,
    Literal,
    OuterColumn,
    Parameter,
    Subquery,
)
from sql.tree.walks import walk
from sql.types.datatypes import NUMERIC_DIGITS_MAX, SqlType

ALONE_HINT = "Call it in a SELECT of nothing else."
# Characters of one expression; a constant may be longer.
TEXT_MAX = 2_000_000
# Characters of printed texts that are kept in case they are asked for again, which is soon or
# never.
KEPT_MAX = 4_000_000


def cast_table(rows: Mapping[str, CastRule]) -> dict[tuple[str, str], CastRule]:
    """Spread {"form form > form form": rule} into {(from, to): rule}."""
    table: dict[tuple[str, str], CastRule] = {}
    for key, rule in rows.items():
        sources, targets = key.split(">")
        table.update({(source, target): rule for source in sources.split() for target in targets.split()})
    return table


def is_null_literal(node: Expression) -> bool:
    """True for a constant NULL."""
    return isinstance(node, Literal) and node.value is None


def check_scale(kind: SqlType) -> None:
    """Refuse a numeric type whose scale no 38-digit decimal can hold."""
    if kind.family == "numeric" and kind.display_scale is not None and kind.display_scale > NUMERIC_DIGITS_MAX:
        raise SqlError("22003", "value overflows numeric format", detail="A numeric holds at most 38 digits.")


SubqueryRule = Callable[["ExpressionPrinter", Subquery], str]


class ExpressionPrinter(Printer):
    """The printer of expressions over the columns of one scope.

    Attributes:
        columns: the texts of the columns, by index.
        outer: the texts of the arguments of the subquery or lateral join in which the scope is.
        nested: prints a subquery; None where there can be none.
        guarded: true while an expression is printed that is evaluated for some rows only.
        is_condition: true while an expression is printed whose NULL means the same as FALSE.
        in_condition: true while a condition is printed that may join.
    """

    rules: Mapping[tuple[str, str], Rule]
    casts: Mapping[tuple[str, str], CastRule]
    aggregates: Mapping[str, Callable[[Any], str]]

    def __init__(self, columns: Sequence[str], outer: Sequence[str] = (), nested: SubqueryRule | None = None) -> None:
        self.columns = columns
        self.outer = outer
        self.nested = nested
        self.guarded = False
        self.is_condition = False
        self.in_condition = False
        self._printed_size = 0
        self._printed: dict[tuple[int, bool, bool], tuple[Expression, str]] = {}

    def can_fail(self, node: Expression) -> bool:
        """Tell whether the evaluation of `node` may raise for some rows."""
        return can_fail(node)

    def is_constant(self, node: Expression) -> bool:
        """Tell whether an expression has one value in this query."""
        return is_constant(node, True)

    def over(self, columns: Sequence[str]) -> Printer:
        """Return a printer of the same engine over other columns."""
        return type(self)(columns)

    def text(self, node: Expression) -> str:
        """Return the engine's SQL of `node`."""
        match node:
            case Column():
                return self.columns[node.index]
            case Literal():
                check_scale(node.type)
                return self.literal(node)
            case Call() | Cast() | Case():
                return self.printed_once(node)
            case OuterColumn():
                return self.outer[node.index]
            case Subquery():
                if self.nested is None:
                    raise not_supported("a subquery in this place", node.position)
                return self.nested(self, node)
            case Parameter():
                return self.parameter(node)

    def parameter(self, node: Parameter) -> str:
        """Return what stands for a parameter. Raises 0A000 where nothing does."""
        raise not_supported(f"parameter ${node.number} in this place")

    def printed_once(self, node: Call | Cast | Case) -> str:
        """Return a text that rules may ask for several times.

        To print the text each time would double the work at every level. Raises 54001 where rules
        that write an operand twice have made the text huge.
        """
        key = (id(node), self.guarded, self.is_condition)
        known = self._printed.get(key)
        if known is not None:
            return known[1]
        interrupts.check()
        match node:
            case Call():
                text = self.call(node)
            case Cast():
                text = self.cast(node)
            case Case():
                text = self.case(node)
        if len(text) > TEXT_MAX and len(text) > TEXT_MAX + constants_size(node):
            raise SqlError("54001", "statement too complex", hint="Nest fewer expressions in each other.")
        # The node is kept, so that no other one has its identity.
        self._printed[key] = node, text
        self._printed_size += len(text)
        while self._printed_size > KEPT_MAX:
            _, dropped = self._printed.pop(next(iter(self._printed)))
            self._printed_size -= len(dropped)
        return text

    @contextmanager
    def guard(self, lazy: bool = True) -> Iterator[None]:
        """Print expressions inside that are evaluated for some rows only."""
        before = self.guarded
        self.guarded = before or lazy
        try:
            yield
        finally:
            self.guarded = before

    def call(self, node: Call) -> str:
        """Return a function call, its numeric operands brought to one form."""
        check_scale(node.type)
        form = self.operand_form(node)
        rule = self.rules.get((node.function, form)) or self.rules.get((node.function, "any"))
        if rule is None:
            families = ", ".join(argument.type.sql_name for argument in node.arguments)
            hint = ALONE_HINT if node.function in VIEW_CHANGES else None
            raise not_supported(f"function {node.function}({families})", node.position, hint)
        texts = self.measured(node, self.operands(node))
        return rule.format(*texts) if isinstance(rule, str) else rule(self, node, texts)

    def operand_form(self, node: Call) -> str:
        """Return the form that selects the rule: the form of the operands, 'variable' as soon as
        one side of a numeric is.
        """
        if not node.arguments:
            return "any"
        numerics = [argument.type for argument in node.arguments if argument.type.family == "numeric"]
        if numerics:
            kinds = [*numerics, node.type] if node.type.family == "numeric" else numerics
            return "variable" if any(kind.is_variable_numeric for kind in kinds) else "numeric"
        return form_of(node.arguments[0].type)

    def operands(self, node: Call) -> list[str]:
        """Return the texts of the operands, numeric ones in one form and (but for products) one
        scale.
        """
        row = ROWS[node.function]
        if row.operands == OWN_FORMS:
            return [self.text(argument) for argument in node.arguments]
        numerics = [argument.type for argument in node.arguments if argument.type.family == "numeric"]
        if not numerics:
            return [self.operand(node, index) for index in range(len(node.arguments))]
        if self.operand_form(node) == "variable":
            target = replace(node.type, family="numeric", display_scale=None)
        elif row.operands == OWN_SCALES:
            return [self.text(argument) for argument in node.arguments]
        else:
            target = replace(numerics[0], display_scale=max(kind.display_scale or 0 for kind in numerics))
        return [
            self.operand(node, index, target if argument.type.family == "numeric" else None)
            for index, argument in enumerate(node.arguments)
        ]

    def operand(self, node: Call, index: int, target: SqlType | None = None) -> str:
        """Return one operand of a call, in the form of `target` if that is given."""
        with self.guard(index > 0 and is_lazy(node.function)):
            argument = node.arguments[index]
            return self.text(argument) if target is None else self.fit(argument, target)

    def fit(self, node: Expression, target: SqlType) -> str:
        """Return `node` in the physical form of `target`, a type of the same family with at least
        as many decimal digits.
        """
        if isinstance(node, Literal) and (node.value is None or target.family == "numeric"):
            return self.literal(Literal(node.value, target))
        return self.fit_text(self.text(node), node.type, target)

    def fit_text(self, text: str, kind: SqlType, target: SqlType) -> str:
        """Return the text of `fit` for a text that is printed already."""
        if target.family != "numeric" or kind.display_scale == target.display_scale:
            return text
        if target.display_scale is None:
            assert kind.display_scale is not None
            return self.pack(text, kind.display_scale)
        assert kind.display_scale is not None and kind.display_scale < target.display_scale, "fitting must not round"
        check_scale(target)
        return f"CAST({text} AS {self.type_name(target)})"

    def cast(self, node: Cast) -> str:
        """Return a conversion."""
        check_scale(node.type)
        if is_null_literal(node.operand):
            return self.literal(Literal(None, node.type))
        rule = self.casts.get((form_of(node.operand.type), target_form(node.type)))
        if rule is None:
            names = f"cast from {node.operand.type.sql_name} to {node.type.sql_name}"
            raise not_supported(names, node.position)
        text = self.text(node.operand)
        return rule.format(text) if isinstance(rule, str) else rule(self, node, text)

    def case(self, node: Case) -> str:
        """Return a CASE whose results have one form."""
        text = "CASE"
        for index, (condition, result) in enumerate(node.branches):
            with self.guard(index > 0):
                text += f" WHEN {self.text(condition)}"
            with self.guard():
                text += f" THEN {self.fit(result, node.type)}"
        with self.guard():
            text += f" ELSE {self.fit(node.default, node.type)} END"
        return self.chosen(text, node.type)

    def picked(self, text: str, kind: SqlType, pick: Callable[[str], str]) -> str:
        """Return an aggregate that yields one of its values; pick: the aggregate over a text."""
        return pick(text)

    def comparable(self, node: Expression) -> str:
        """Return the text that orders and groups the values of `node`: itself, or its key where the
        engine's own order is another one.
        """
        text = self.text(node)
        return self.comparable_text(text, node.type)

    def comparable_text(self, text: str, kind: SqlType) -> str:
        """Return the text of `comparable` for a text that is printed already."""
        if not kind.has_own_order:
            return text
        if kind.is_array:
            element = kind.element
            return (
                self.mapped(text, lambda item: self.comparable_text(item, element)) if element.has_own_order else text
            )
        if kind.record is not None:
            return self.with_fields(text, kind.record, self.comparable_text)
        if kind.family == "bpchar":
            return self.blank_trimmed(text)
        return f"{kind.family}_key({text})"


def constants_size(node: Expression) -> int:
    """Return how many characters the constants in an expression may take, where rules write them a
    few times.
    """
    values = (item.value for item in walk(node) if isinstance(item, Literal))
    return sum(8 * len(value) if isinstance(value, str | bytes | tuple) else 64 for value in values)
