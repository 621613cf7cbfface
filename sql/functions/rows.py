"""A row of the table of functions: everything that is known of one function or operator.

A row's name is the canonical name that bind puts into trees. Signatures are written as the types of
the arguments and of the result: 'inet int4 > inet; cidr int4 > cidr'. Three dots after the last
argument mean that it may come again, 'as' gives the types that the arguments are cast to, and a
name before a colon is the only one that has the signature. An
implementation is a function of `sql`, or the dotted name of one below `engine.embedded.functions`
(Python) or `ringbuffer.scalar` (kernels), which this package must not import.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sql.functions.printing import Rule, form_of, own_call
from sql.functions.signatures import Signature
from sql.tree.expressions import Call, Expression
from sql.tree.numeric_scale import ScaleRule
from sql.types.datatypes import LiteralValue, SqlType

Implementation = str | Callable[..., Any]
IMMUTABLE, STABLE, VOLATILE = "immutable", "stable", "volatile"
# Forms of numeric operands: one scale for all, each one's own scale, or whatever each has.
ALIGNED, OWN_SCALES, OWN_FORMS = "aligned", "own scales", "own forms"


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel of `ringbuffer.scalar` that takes the words of the operands.

    Attributes:
        name: module and function.
        fallible: the kernel returns an error code after its words.
        scratch: the kernel takes the scratch heap, as its last argument.
        constants: source text of last arguments, which no call gives.
        left_out: source text of the last operand where a call has one operand less than others.
        keeps_scale: of a numeric the kernel returns no scale, since the scale stays.
        reads: operands that must be constants, by their places: a 'field' is passed as its number,
            a 'zone' as its arrays, after the scratch heap, a 'width' of bins as its microseconds, a
            'template' as its program.
        null_where: a kernel of the first two operands that tells where the value is NULL.
        folds: the kernel takes what it has made of the operands so far, and the next one that is
            not NULL.
    """

    name: str
    fallible: bool = False
    scratch: bool = False
    constants: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    keeps_scale: bool = False
    reads: Mapping[int, str] = field(default_factory=dict)
    null_where: str = ""
    folds: bool = False


@dataclass(frozen=True, slots=True)
class LookAhead:
    """How a function of regular expressions finds the matches of many rows at once.

    Attributes:
        options: the place of the function's options, None where it has none.
        wants_all: all matches of a text are wanted, not the first one alone; None: where the
            options have a g.
    """

    options: int | None
    wants_all: bool | None


@dataclass(frozen=True, slots=True)
class Routine:
    """A function of ours that an engine knows under a name.

    Attributes:
        arguments: families; times other than 'time' are passed as microseconds (int8).
        is_strict: the implementation does not see NULLs.
        takes_run: calls have the number of their run (`sql.functions.arguments.RUN`) as well, so
            that a long one can be stopped.
        asks_length, special: as in the row of a function.
        in_spark: `spark_functions.java` has the function as well.
    """

    name: str
    arguments: tuple[str, ...]
    result: str
    implementation: Implementation | Kernel
    is_strict: bool = True
    is_volatile: bool = False
    takes_run: bool = False
    asks_length: bool = False
    special: str = ""
    ahead: LookAhead | None = None
    in_spark: bool = False


@dataclass(frozen=True)
class Row:
    """A row of any kind: of a function, operator, aggregate, window function or function that
    returns rows.

    Attributes:
        names: how clients call the function: words, or symbols of operators (prefix, where a
            signature has one argument); none for what only bind makes.
        signatures: as the module's docstring says.
        example: what stands after SELECT, and the text that PostgreSQL prints of the first value,
            None for NULL.
        missing: the arguments of overloads that PostgreSQL has and Antumbra does not have yet,
            written like signatures. The overloads take part in the choice, and are 0A000.
    """

    canonical: str
    names: str = ""
    signatures: str = ""
    example: tuple[str, str | None] | None = None
    missing: str = field(default="", kw_only=True)

    @cached_property
    def named_overloads(self) -> tuple[tuple[Sequence[str], Signature], ...]:
        """The signatures with the names that have them."""
        return tuple(self._named(self.canonical, self.signatures))

    @cached_property
    def named_missing(self) -> tuple[tuple[Sequence[str], Signature], ...]:
        """The missing overloads with the names that would have them."""
        return tuple(self._named("", self.missing))

    def _named(self, canonical: str, texts: str) -> Iterator[tuple[Sequence[str], Signature]]:
        for text in texts.split(";"):
            names, colon, rest = text.rpartition(": ")
            if rest.strip():
                yield (names if colon else self.names).split(), signature(canonical, rest)

    @property
    def shown_name(self) -> str:
        """The name that people read: the canonical one where clients may write it."""
        names = self.names.split() or [self.canonical]
        return self.canonical if self.canonical in names else names[0]

    @cached_property
    def overloads(self) -> tuple[Signature, ...]:
        """The signatures."""
        return tuple(overload for _, overload in self.named_overloads)


@dataclass(frozen=True)
class Function(Row):
    """The row of a function or an operator whose value depends on its arguments alone.

    Attributes:
        strict: NULL where an operand is NULL.
        can_fail: may raise for operands that have values; or tells it of a call.
        usual: the condition under which a call that can fail does not; nearly all values meet it.
        both: rules of the engines by the forms of the first operand, or one rule for all forms.
        duckdb: rules of DuckDB, where `both` is not meant.
        spark: rules of Spark, where `both` is not meant, for functions that Spark has with
            PostgreSQL's meaning and errors.
        kernel: the kernel, or the source text of a word with the words of the operands in it, by
            the family of the first operand where there are several; of numerics for those of known
            scale, and as 'variable' for all others. DuckDB calls a kernel where it has no rule.
        kernel_operand: the place of the operand whose family selects the kernel.
        kernel_call: makes the call whose operands the kernel takes.
        embedded: the kernel that DuckDB alone calls: on the parts of intervals, or with errors that
            name values.
        python: the implementation on Python's values where there is no kernel, by the family of the
            first operand where there are several. DuckDB calls the implementation.
        plain: the function of Python's values that computes what DuckDB's rule does, in a
            microsecond, by the forms of the first operand: for a row of an INSERT on the event
            loop, and for few rows.
        special: what computes the value where a numeric is NaN or an infinity, in place of the
            implementation on Python's values: a function of `special_numerics`.
        called: the name in the engines, without the family of the first operand, where it is not
            the canonical name.
        defaults: the values of last arguments that are not given, by their places.
        parameters: the names of the arguments, for calls with `name => value`.
        of_session: the engine puts the number of the session before the arguments.
        waits: a call may take as long as it likes, or is to end another one that does.
        scale: the display scale of a numeric result, where it is one for all values
            (`sql.tree.numeric_scale`).
        operands: the form that the printers give numeric operands.
        is_lazy: later operands are evaluated only where the earlier ones do not decide.
        negates: the function whose NOT bind puts into trees in place of this one.
        swaps: the function that bind puts into trees, with the operands in the other order.
        zoned: how many arguments the function has before the session's zone, which bind puts after
            them where a timestamptz is among them.
        takes_output: arguments of any type come as their output functions print them.
        prints: makes texts of values without a cast in the tree.
        grows: DuckDB makes long texts of constant arguments once for all rows.
        asks_length: an operand asks for a length, and PostgreSQL has an error of its own for one
            that is too large. DuckDB has the kernel twice: once for constants that it should not
            compute in advance.
        infix: the operator between two operands, for people (`views.model.text`).
        third: the word before a third operand that is not its default, for people.
        suffix: the words after the one operand, for people.
        shown: the whole text for people of a call where the words above do not make it: a template
            of the operands, or a function of the call and of what shows an operand.
        bound: what completes the call where arguments have a meaning beyond their types: 'field'
            and 'zone' (constants, `sql.bind.expressions.time_functions`), 'today', 'spans',
            'shift' (a constant interval), 'json value', 'json values', 'json pairs'.
        sees_blanks: the one name or symbol under which a char(n) is taken with its blanks.
        overflows: fails for nothing but a result that is too large.
        constants: SQL of arguments that some engine takes only as constants, by their places.
    """

    strict: bool = True
    can_fail: bool | Callable[[Call], bool] = True
    usual: Callable[[Call], Expression | None] | None = None
    volatility: str = IMMUTABLE
    both: Rule | Mapping[str, Rule] | None = None
    duckdb: Rule | Mapping[str, Rule] | None = None
    spark: Rule | Mapping[str, Rule] | None = None
    python: Implementation | Mapping[str, Implementation] | None = None
    kernel: Kernel | str | Mapping[str, Kernel | str] | None = None
    embedded: Kernel | None = None
    kernel_operand: int = 0
    kernel_call: Callable[[Call], Call] | None = None
    plain: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    special: str = ""
    called: str = ""
    defaults: Mapping[int, LiteralValue] = field(default_factory=dict)
    parameters: str = ""
    of_session: bool = False
    waits: bool = False
    scale: ScaleRule | None = None
    operands: str = ALIGNED
    is_lazy: bool = False
    negates: str = ""
    swaps: str = ""
    zoned: int = 0
    takes_output: bool = False
    prints: bool = False
    grows: bool = False
    asks_length: bool = False
    infix: str = ""
    third: str = ""
    suffix: str = ""
    shown: str | Callable[[Call, Callable[[Expression], str]], str] = ""
    bound: str = ""
    sees_blanks: str = ""
    overflows: bool = False
    constants: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def routines(self) -> Mapping[str, Routine]:
        """The functions of ours that DuckDB knows for this row, by the form of the first
        operand.
        """
        found: dict[str, Routine] = {}
        ruled = () if self.asks_length else [form for form, _ in spread(self._duckdb_given)]
        # Of overloads with the same first operand the longest is meant.
        for one in sorted(self.overloads, key=lambda overload: len(overload.arguments)):
            family = one.cast_to[0] if one.cast_to else ""
            form = first_form(one).replace("numeric", "variable")
            kernel = of_form(self.kernel, form)
            if not isinstance(kernel, Kernel) or form in ruled or "any" in ruled:
                kernel = None
            implementation = kernel or self.embedded or of_form(self.python, family)
            if implementation is None:
                continue
            stem = self.called or self.canonical.removeprefix(f"{self.overloads[0].cast_to[0]}_")
            name = f"{family}_{stem}".replace("[]", "s")
            found[first_form(one)] = Routine(
                name,
                one.cast_to,
                one.result,
                implementation,
                self.strict,
                self.volatility == VOLATILE,
                asks_length=self.asks_length,
                special=self.special if "numeric" in one.cast_to else "",
            )
        return found

    @property
    def _duckdb_given(self) -> Rule | Mapping[str, Rule] | None:
        return self.both if self.duckdb is None else self.duckdb

    def duckdb_rules(self) -> Iterator[tuple[str, Rule]]:
        """Yield forms and DuckDB's rules."""
        rules = self._duckdb_given
        yield from spread(rules)
        if self.routines and (rules is None or isinstance(rules, Mapping)):
            yield "any", own_call({form: routine.name for form, routine in self.routines.items()})

    def spark_rules(self) -> Iterator[tuple[str, Rule]]:
        """Yield forms and Spark's rules."""
        yield from spread(self.both if self.spark is None else self.spark)


def of_form(given: Any, form: str) -> Any:
    """Return what a row gives for a form or a family."""
    return dict(spread(given)).get(form) if isinstance(given, Mapping) else given


def spread(rules: Any) -> Iterator[tuple[str, Any]]:
    """Yield each form with what a row gives for it, such as a rule."""
    if isinstance(rules, Mapping):
        yield from ((form, rule) for forms, rule in rules.items() for form in forms.split())
    elif rules is not None:
        yield "any", rules


def first_form(signature: Signature) -> str:
    """Return the form of the first operand, '' where there is none; a numeric's is 'numeric'."""
    if not signature.cast_to:
        return ""
    return form_of(SqlType(signature.cast_to[0])).replace("variable", "numeric")


def signature(canonical: str, text: str) -> Signature:
    """Return the signature of a text."""
    arguments, _, result = text.partition(">")
    family, _, operands = result.partition(" as ")
    families = arguments.replace("...", "").split()
    return Signature(canonical, tuple(families), family.strip(), tuple(operands.split()), "..." in arguments)


def routines(**implementations: tuple[str, Implementation | Kernel]) -> Sequence[Routine]:
    """Return functions that rules call and that no client names: name -> (signature,
    implementation).
    """
    made = ((name, signature(name, text), function) for name, (text, function) in implementations.items())
    return [Routine(name, one.arguments, one.result, function) for name, one, function in made]
