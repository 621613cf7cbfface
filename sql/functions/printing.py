"""The protocol of printers, as rules of the table of functions see an engine, and rules that need
nothing else.

A rule makes the text of a call from the texts of its operands: a template, or a function of the
printer, the call and the texts. A *form* is a type family, with two physical forms of numeric:
'numeric' (DECIMAL(38,S), one scale for all values) and 'variable' (STRUCT(unscaled, scale)), one of
text ('text' is also varchar and unknown), one of arrays ('array') and one of enums ('enum').
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from sql.errors import not_supported
from sql.tree.expressions import Call, Cast, Expression, Literal, WindowCall, WindowFrame
from sql.types.datatypes import CATALOG_TEXTS, OIDS_OF_NAMES, VECTORS, SqlType, scaled_numeric
from sql.types.records import RecordType

TEXT_FAMILIES = frozenset({"text", "varchar", "name", "unknown", *(name for name, *_ in CATALOG_TEXTS)})
OID_FAMILIES = frozenset({"oid", "xid", "cid", "xid8", *OIDS_OF_NAMES})
MOMENTS = frozenset({"date", "timestamp", "timestamptz"})


# What only the embedded engine has, so that it runs the pipeline.
BEYOND = "this in Spark"


class Printer(Protocol):
    """The printer of expressions for one engine; what can't be abstract is DuckDB's alone."""

    # By canonical name and form.
    rules: Mapping[tuple[str, str], Rule]
    # By the form of the value, and the form or family of the target.
    casts: Mapping[tuple[str, str], CastRule]
    # Prints a subquery; None where there can be none.
    nested: Any

    @abstractmethod
    def text(self, node: Expression) -> str:
        """Return the engine's SQL of `node`."""

    @abstractmethod
    def fit(self, node: Expression, target: SqlType) -> str:
        """Return `node` in the physical form of `target`, a type of the same family with at least
        as many decimal digits.
        """

    @abstractmethod
    def fit_text(self, text: str, kind: SqlType, target: SqlType) -> str:
        """Return the text of `fit` for a text that is printed already."""

    @abstractmethod
    def operand_form(self, node: Call) -> str:
        """Return the form that selects the rule."""

    @abstractmethod
    def over(self, columns: Sequence[str]) -> Printer:
        """Return a printer of the same engine over other columns."""

    @abstractmethod
    def can_fail(self, node: Expression) -> bool:
        """Tell whether the evaluation of `node` may raise for some rows."""

    @abstractmethod
    def is_constant(self, node: Expression) -> bool:
        """Tell whether an expression has one value in this query."""

    @abstractmethod
    def comparable(self, node: Expression) -> str:
        """Return the text that orders and groups the values of `node`."""

    @abstractmethod
    def comparable_text(self, text: str, kind: SqlType) -> str:
        """Return the text that orders and groups values."""

    @abstractmethod
    def picked(self, text: str, kind: SqlType, pick: Callable[[str], str]) -> str:
        """Return an aggregate that yields one of its values; pick: the aggregate over a text."""

    @abstractmethod
    def literal(self, value: Literal) -> str:
        """Return a typed constant in the physical form of its type."""

    @abstractmethod
    def type_name(self, kind: SqlType) -> str:
        """Return the engine's type of an expression's values."""

    @abstractmethod
    def quoted(self, value: str) -> str:
        """Return a string constant."""

    @abstractmethod
    def pack(self, text: str, scale: int) -> str:
        """Return a DECIMAL(38,scale) expression in variable form."""

    def unpack(self, text: str, scale: int) -> str:
        """Return a variable numeric as DECIMAL(38,scale), rounded half away from zero.

        22003 when it does not fit.
        """
        raise not_supported(BEYOND)

    def shifted(self, text: str, unit: str, amount: int) -> str:
        """Return a timestamp moved by months, days or microseconds (`unit`); months clamp the
        day.
        """
        raise not_supported(BEYOND)

    def date_epoch(self, text: str) -> str:
        """Return the seconds since 1970 of a date's midnight, a bigint."""
        raise not_supported(BEYOND)

    def in_range(self, text: str, kind: SqlType) -> str:
        """Return a timestamp that raises 22008 where it is before the first timestamp."""
        return text

    def finite(self, text: str, kind: SqlType) -> str:
        """Return the condition that a date or a timestamp is neither 'infinity' nor '-infinity'."""
        raise not_supported(BEYOND)

    def civil(self, text: str, source: str, target: str) -> str:
        """Return a date as the timestamp of its midnight, or the date of a timestamp."""
        return f"CAST({text} AS {self.type_name(SqlType(target))})"

    def truncated(self, unit: str, text: str, kind: SqlType) -> str:
        """Return date_trunc on the UTC clock."""
        raise not_supported(BEYOND)

    def field(self, name: str, text: str, kind: SqlType) -> str:
        """Return a civil field of a date or timestamp as BIGINT.

        Seconds are in microseconds of the minute.
        """
        raise not_supported(BEYOND)

    def interval(self, months: str, days: str, micros: str, is_null: str) -> str:
        """Return the interval of three whole numbers; is_null: the condition under which it is
        NULL.
        """
        raise not_supported(BEYOND)

    def interval_total(self, sums: Sequence[str]) -> str:
        """Return the interval whose parts are DECIMAL sums; 22008 when they do not fit."""
        raise not_supported(BEYOND)

    def interval_average(self, sums: Sequence[str], count: str) -> str:
        """Return the interval of such sums divided by a count."""
        raise not_supported(BEYOND)

    def exact_average(self, wrap: Callable[[str], str], text: str, kind: SqlType, count: str) -> str | None:
        """Return the average of numerics whose sum may have more than 38 digits.

        None: the average is the quotient of a sum, which has no more digits.
        """
        return None

    def bigint_sum(self, wrap: Callable[[str], str], text: str, word: str) -> str:
        """Return the sum of bigints, which is a numeric; `word` is 'DISTINCT ' or ''."""
        return wrap(f"sum({word}CAST({text} AS {self.type_name(scaled_numeric(0))}))")

    def added_text(self, aggregate: Any) -> str:
        """Return an aggregate of floats as a DOUBLE, added by PostgreSQL's steps in the order of
        the rows, or of its own ORDER BY.
        """
        raise not_supported(BEYOND)

    def one_of_each(self, aggregate: Any) -> str:
        """Return the list of a group's values in their order, one of those that are equal."""
        raise not_supported(BEYOND)

    @abstractmethod
    def blank_trimmed(self, text: str) -> str:
        """Return a text without the blanks at its end."""

    def looked_up(self, text: str, pairs: Sequence[tuple[int, str]]) -> str:
        """Return the text that a BIGINT stands for."""
        raise not_supported(BEYOND)

    @abstractmethod
    def mapped(self, text: str, change: Callable[[str], str]) -> str:
        """Return an array with every element changed."""

    def with_fields(self, text: str, record: RecordType, change: Callable[[str, SqlType], str]) -> str:
        """Return a record with every field changed."""
        raise not_supported(BEYOND)

    @abstractmethod
    def check_frame(self, frame: WindowFrame, call: WindowCall) -> None:
        """Raise 0A000 for a window frame that the engine does not have."""

    @abstractmethod
    def frame_offset(self, value: Literal) -> str:
        """Return the constant offset of a RANGE frame."""

    def computed_offset(self, offset: Expression) -> str:
        """Return an offset of lag or lead that is not a constant. DuckDB alone takes it: one that
        is NULL makes NULL.
        """
        raise not_supported(BEYOND)

    def chosen(self, text: str, kind: SqlType) -> str:
        """Return the value of a CASE or the like in a form that the engine's optimizer gets
        right.
        """
        return text

    def conjunct(self, text: str, node: Expression) -> str:
        """Return the text of a condition in a form that the engine's optimizer gets right: true for
        the same rows.
        """
        return text

    def measured(self, node: Call, texts: list[str]) -> list[str]:
        """Return the operands of a call.

        For operands that may be long, too much of them is an error.
        """
        return texts

    def few_conditions(self, texts: Sequence[str], word: str) -> Sequence[str]:
        """Return as few conditions between AND or OR (`word`) as the engine's optimizer can
        take.
        """
        return texts


Rule = str | Callable[[Printer, Call, list[str]], str]
CastRule = str | Callable[[Printer, Cast, str], str]


def form_of(kind: SqlType) -> str:
    """Return the physical form of a type's values in an engine."""
    if kind.family == "numeric":
        return "variable" if kind.display_scale is None else "numeric"
    if kind.is_array:
        return "array"
    if kind.is_enum:
        return "enum"
    if kind.is_record:
        return "record"
    if kind.family in VECTORS:
        return "vector"
    if kind.family in OID_FAMILIES:
        return "oid"
    return "text" if kind.family in TEXT_FAMILIES else kind.family


def target_form(kind: SqlType) -> str:
    """Return the key of a cast's rule: a form that texts or arrays share, or the family.

    A name is cut.
    """
    form = form_of(kind)
    return form if form in ("text", "array", "enum", "record", "oid") and kind.family != "name" else kind.family


def own_call(names: Mapping[str, str]) -> Rule:
    """Return the rule of a function of ours that an engine has under a name, by the form of the
    first operand.
    """

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        operands = [passed(printer, *pair) for pair in zip(node.arguments, texts, strict=True)]
        name = names[form_of(node.arguments[0].type).replace("variable", "numeric") if node.arguments else ""]
        return returned(printer, f"{name}({', '.join(operands)})", node.type)

    return rule


def passed(printer: Printer, operand: Expression, text: str) -> str:
    """Return an operand as functions of ours take it: numerics with their scales."""
    return printer.fit(operand, scaled_numeric(None)) if operand.type.family == "numeric" else text


def returned(printer: Printer, text: str, kind: SqlType) -> str:
    """Return the value of a function of ours as `kind`."""
    return unpacked(printer, text, kind) if kind.family == "numeric" else text


def unpacked(printer: Printer, text: str, kind: SqlType) -> str:
    """Return a variable numeric in the form of `kind`, whose scale its values have."""
    return text if kind.display_scale is None else printer.unpack(text, kind.display_scale)


def keys(printer: Printer, node: Call, texts: list[str]) -> list[str]:
    """Return the texts that compare operands of one type: themselves, or their keys."""
    kind = node.arguments[0].type
    if kind.family == "numeric":
        kind = scaled_numeric(None) if printer.operand_form(node) == "variable" else kind
    return [printer.comparable_text(text, kind) for text in texts]


def micros(text: str, kind: SqlType) -> str:
    """Return DuckDB's text of a date or a timestamp as BIGINT microseconds since 1970."""
    return f"{kind.family}_us({text})"


def moment(text: str, family: str) -> str:
    """Return DuckDB's text of the timestamp at BIGINT microseconds. Raises 22008 there."""
    return f"{family}_moment({text})"


def raising(sqlstate: str, message: str) -> str:
    """Return DuckDB's text of an expression that raises; the message has no quotation marks."""
    return f"error('antumbra error {sqlstate}: {message} (end)')"


def outside(texts: Sequence[str], use: Callable[..., str]) -> str:
    """Return `use` of texts for inside of lambdas, where DuckDB takes no subquery: subqueries are
    computed before.
    """
    return computed_once(texts, use) if any("SELECT" in text for text in texts) else use(*texts)


def computed_once(texts: Sequence[str], use: Callable[..., str]) -> str:
    """Return `use` of the values of texts, which are computed once however often `use` has them."""
    values = ", ".join(f"v{index}: {text}" for index, text in enumerate(texts))
    names = [f"struct_extract(outside, 'v{index}')" for index in range(len(texts))]
    return f"list_transform([{{{values}}}], lambda outside: {use(*names)})[1]"
