"""From a typed expression to lines of a kernel: the driver, and helpers for the families of
functions.

Enters: an expression over the columns that a `ColumnSource` loads. Leaves: a `Value`; the lines
that compute it are in the writer. What SQL does not evaluate (a CASE branch not taken, the rest of
an AND) is inside a real branch, so that its errors are not raised.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from types import MappingProxyType
from typing import Protocol

from sql.errors import not_supported
from sql.functions.comparisons import COMPARISONS
from sql.functions.rows import VOLATILE
from sql.functions.table import places_read, volatility
from sql.tree.expressions import Call, Case, Cast, Column, Expression, Literal, OuterColumn, Parameter, Subquery
from sql.types.datatypes import SqlType
from views.codegen.constants import constant_result
from views.codegen.literals import decimal_value, literal_value
from views.codegen.parameters import PARAMETER_BYTES, ParameterLoads
from views.codegen.values import (
    ALWAYS,
    NEVER,
    Value,
    any_null,
    branchless,
    is_known,
    is_string,
    word_suffixes,
    zero_words,
)
from views.codegen.writer import KernelWriter
from views.model.refusals import not_in_kernels
from views.model.text import expression_text
from views.model.trees import meaning

NOTHING_COMPUTED: Mapping[Expression, int] = MappingProxyType({})
# Functions that pass values on, or say themselves which types they take.
OF_ANY_TYPE = frozenset(COMPARISONS) | frozenset(
    """
    coalesce greatest in_list is_distinct is_not_distinct is_not_null is_null least nullif
    interval_average interval_days interval_micros interval_months interval_total list_element
    """.split()
)


class ColumnSource(Protocol):
    """The loader of the input's columns."""

    def load(self, writer: KernelWriter, index: int) -> Value:
        """Write the lines that load column `index` of the row at hand."""


class ExpressionWriter:
    """A writer of the expressions of one kernel.

    Attributes:
        long_texts: room for parameters, and the bytes of literals that are not inline.

    Arguments:
        computed: the columns that have the values of expressions.
    """

    def __init__(
        self,
        writer: KernelWriter,
        columns: ColumnSource,
        functions: dict[str, FunctionWriter],
        parameters_count: int = 0,
        computed: Mapping[Expression, int] = NOTHING_COMPUTED,
    ) -> None:
        self.writer = writer
        self.columns = columns
        self.parameters = ParameterLoads()
        self.long_texts = bytearray(PARAMETER_BYTES * parameters_count)
        self._functions = functions
        self._forms: dict[Hashable, int] = {}
        self._numbers: dict[int, tuple[int, Expression]] = {}
        self._computed = {self._number(expression): place for expression, place in computed.items()}

    def evaluate(self, expression: Expression) -> Value:
        """Write the lines that compute `expression`, unless it is computed, and return its value.

        Raises SqlError 0A000.
        """
        if isinstance(expression, Literal):
            return literal_value(expression, self.long_texts)
        if isinstance(expression, Parameter):
            return self.parameters.value(self.writer, expression)
        key = self._number(expression)
        known = self.writer.recall(key)
        if known is not None:
            return known
        place = self._computed.get(key)
        if place is not None:
            # Not as a loaded column: the load may fail.
            return self.writer.remember(key, self.columns.load(self.writer, place))
        value = self._compute(expression)
        remember = self.writer.remember_loaded if isinstance(expression, Column) else self.writer.remember
        return remember(key, value)

    def _number(self, expression: Expression) -> int:
        """Return the common number of all expressions with this value.

        Each expression is looked at once, however deep it is.
        """
        known = self._numbers.get(id(expression))
        if known is not None:
            return known[0]
        form: Hashable
        match expression:
            case Call():
                form = (expression.function, tuple(map(self._number, expression.arguments)), expression.type)
            case Cast():
                form = (self._number(expression.operand), expression.type, expression.explicit, expression.zone)
            case Case():
                branches = tuple((self._number(one), self._number(two)) for one, two in expression.branches)
                form = (branches, self._number(expression.default), expression.type)
            case _:
                form = meaning(expression)
        number = self._forms.setdefault(form, len(self._forms))
        # Held, so that its id is nobody else's.
        self._numbers[id(expression)] = (number, expression)
        return number

    def _compute(self, expression: Expression) -> Value:
        if isinstance(expression, Column):
            return self.columns.load(self.writer, expression.index)
        if isinstance(expression, Call):
            write = self._functions.get(expression.function)
            if write is None:
                # The canonical name is ours alone: to_char() is format_time() here.
                written = expression.text or f"{expression.function}()"
                if volatility(expression.function) == VOLATILE:
                    hint = "Write now()." if expression.function == "clock_timestamp" else None
                    raise not_supported(f"{written} in a continuous view", expression.position, hint=hint)
                raise not_in_kernels(written, expression.position)
            if expression.function not in OF_ANY_TYPE:
                self._require_known(expression)
            return write(self, expression)
        if isinstance(expression, Cast):
            return self._functions["cast"](self, expression)
        if isinstance(expression, Subquery | OuterColumn):
            raise not_supported("a subquery in a kernel", expression.position)
        assert isinstance(expression, Case), f"{type(expression).__name__} must have been replaced before"
        return self._functions["case"](self, expression)

    def _require_known(self, call: Call) -> None:
        """Raise 0A000 for a function of values that kernels only pass on.

        A constant interval has no words at all.
        """
        reads = places_read(call.function)
        for place, part in enumerate((*call.arguments, call)):
            if place not in reads and not is_known(part.type):
                what = f"{call.text or call.function} of a value of type {part.type.sql_name}"
                raise not_in_kernels(what, call.position)

    def declare(self, stem: str, kind: SqlType, null: str = ALWAYS) -> Value:
        """Write variables for a value of `kind`, NULL at first, that branches will set.

        Return the value.
        """
        names = [self.writer.name(stem + suffix) for suffix in word_suffixes(kind)]
        zeros = zero_words(kind)
        if kind.family == "numeric" and kind.display_scale is not None:
            names[2] = str(kind.display_scale)
        for name, zero in zip(names, zeros, strict=True):
            if name != zero:
                self.writer.line(f"{name} = {zero}")
        return Value(tuple(names), self.writer.assign(stem + "_null", null))

    def store(self, target: Value, source: Value) -> None:
        """Write the assignment of a value to declared variables."""
        for name, word in zip(target.words, source.words, strict=True):
            if name != word:
                self.writer.line(f"{name} = {word}")
        self.writer.line(f"{target.null} = {source.null}")

    def strict(
        self,
        node: Call | Cast,
        call: str,
        arguments: tuple[Value, ...],
        stem: str,
        fallible: bool,
        scale_returned: bool = True,
    ) -> Value:
        """Write a call that is NULL when an argument is, and return its value of the node's type.

        call: source text for the words of the result (of a numeric of known scale without the scale
        unless `scale_returned`), followed by an error code if `fallible`; the call is then made
        only for arguments that are not NULL.
        """
        kind = node.type
        null = any_null(*arguments)
        if null == ALWAYS:
            return Value(zero_words(kind), ALWAYS)
        known = () if is_string(kind) else constant_result(self.writer, call, fallible)
        if known:
            if kind.family != "numeric":
                return Value(known, null)
            lo, hi = known[:2]
            return decimal_value((lo, hi, known[2] if kind.display_scale is None else str(kind.display_scale)))
        names = [self.writer.name(stem + suffix) for suffix in word_suffixes(kind)]
        targets = list(names)
        words = list(names)
        if kind.family == "numeric" and kind.display_scale is not None:
            words[2] = str(kind.display_scale)
            targets[2:] = ["_"] if scale_returned else []
        if self.writer.is_flat and " " in null:
            null = self.writer.assign(stem + "_null", branchless(null))
        if not fallible:
            self.writer.line(f"{', '.join(targets)} = {call}")
            return Value(tuple(words), null)
        if self.writer.is_flat:
            kept = [name for name in targets if name != "_"]
            zeros = list(zero_words(kind)[: len(kept)])
            self.writer.guarded_call(call, targets, kept, zeros, null, text_of(node))
            return Value(tuple(words), null)
        if null == NEVER:
            self.writer.line(f"{', '.join(targets)}, error = {call}")
            self.writer.fail_if_error(text_of(node))
            return Value(tuple(words), NEVER)
        for name, zero in zip(words, zero_words(kind), strict=True):
            if name != zero:
                self.writer.line(f"{name} = {zero}")
        if " " in null:
            null = self.writer.assign(stem + "_null", null)
        with self.writer.block(f"if not {null}:"):
            self.writer.line(f"{', '.join(targets)}, error = {call}")
            self.writer.fail_if_error(text_of(node))
        return Value(tuple(words), null)

    def named_null(self, stem: str, null: str) -> str:
        """Return a null text short enough to be repeated."""
        return self.writer.assign(stem + "_null", null) if " " in null else null


FunctionWriter = Callable[[ExpressionWriter, "Call | Cast | Case"], Value]


def text_of(expression: Expression) -> str:
    """Return the SQL of an expression for CONTEXT lines, as the user wrote it if that is known."""
    if isinstance(expression, Call) and expression.text:
        return expression.text
    return expression_text(expression)


def position_of(expression: Expression) -> int | None:
    """Return the place of an expression in the statement, if that is known."""
    return None if isinstance(expression, Case) else expression.position


def literal_argument(call: Call, index: int) -> str | int:
    """Return an argument that bind has made a literal, such as the unit of date_trunc."""
    argument = call.arguments[index]
    if not isinstance(argument, Literal) or argument.value is None or isinstance(argument.value, float):
        raise not_supported(f"{expression_text(call)} with an argument that is not a constant", call.position)
    assert isinstance(argument.value, str | int)
    return argument.value
