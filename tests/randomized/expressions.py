"""Random typed SQL expressions over given columns, as text that PostgreSQL and Antumbra both get.

A term has a family, and for numerics whether all its values have one display scale (a group's key
or a min/max of mixed scales has no defined text in PostgreSQL either). Names of the constructs
drawn are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from tests.randomized.values import Column, literal, random_value

INTEGERS = ("int2", "int4", "int8")
FLOATS = ("float4", "float8")
FAMILIES = ("bool", "int4", "int8", "numeric", "float8", "float4", "text", "date", "timestamp", "timestamptz")
NUMBERS = ("int4", "int8", "numeric", "float8", "float4")
TIMES = ("date", "timestamp", "timestamptz")
TYPE_NAMES = {"text": "text", "date": "date", "timestamp": "timestamp", "timestamptz": "timestamptz"}
FLOAT_NAMES = {"float4": "real", "float8": "double precision"}
TRUNC_UNITS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
FIELDS = ("year", "month", "day", "hour", "minute", "second", "dow", "isodow", "doy", "week", "quarter", "epoch")
DATE_FIELDS = ("year", "month", "day", "dow", "isodow", "doy", "week", "quarter")
INTERVALS = ("1 day", "3 hours", "1 month", "90 days", "15 minutes", "1 year 2 months")
PATTERNS = ("a%", "%b", "_b%", "%l_o%", "", "%", "x\\%y", "Z%", "_")


@dataclass(frozen=True)
class Term:
    """An expression's text. fixed: equal values have one text (false for numerics of several
    display scales, and intervals).

    calm: its values stay in range in arithmetic.
    """

    text: str
    family: str
    fixed: bool = True
    calm: bool = True


def term_of(column: Column) -> Term:
    """Return a reference to a column by its bare name."""
    return Term(column.name, column.family, column.fixed, not column.extreme)


class ExpressionMaker:
    """Draws expressions over `columns` from one source of randomness.

    risky: may raise for some rows; in_stream: only functions that a stream pipeline has. families:
    what any term may be of; compared: what operands of a comparison may be of.
    """

    families: Sequence[str] = FAMILIES
    compared: Sequence[str] = FAMILIES[1:]

    def __init__(
        self,
        random: Random,
        columns: Sequence[Column | Term],
        counts: Counter[str],
        risky: bool,
        in_stream: bool = False,
    ) -> None:
        self.random = random
        self.counts = counts
        self.risky = risky
        self.in_stream = in_stream
        self.terms = [column if isinstance(column, Term) else term_of(column) for column in columns]
        self._calm = {term.text for term in self.terms if term.calm}

    def is_calm(self, term: Term) -> bool:
        """Tell whether a term is a column whose values stay in range in arithmetic."""
        return term.text in self._calm

    def any_term(self, depth: int = 2) -> Term:
        """Return an expression of any family."""
        if self.random.random() < 0.4:
            return self.random.choice(self.terms)
        return self.term(self.random.choice(self.families), depth)

    def column(self, *families: str, calm: bool = False) -> Term | None:
        """Return a column of one of `families`; calm: without extremes, so that arithmetic on it
        stays in range.
        """
        fitting = [term for term in self.terms if term.family in families and (not calm or term.text in self._calm)]
        return self.random.choice(fitting) if fitting else None

    def term(self, family: str, depth: int) -> Term:
        """Return an expression of `family`."""
        if depth <= 0:
            return self.leaf(family)
        if self.random.random() < 0.25:
            return self._conditional(family, depth)
        made = {
            "bool": self._boolean,
            "int4": self._integer,
            "int8": self._integer,
            "numeric": self._numeric,
            "float8": self._float,
            "float4": self._float,
            "text": self._text,
            "date": self._date,
            "timestamp": self._timestamp,
            "timestamptz": self._timestamp,
        }[family](family, depth)
        return made or self.leaf(family)

    def compared_family(self) -> str:
        """Return the family of the operands of a comparison."""
        return self.random.choice(self.compared)

    def condition(self, depth: int = 2) -> str:
        """Return a boolean expression's text."""
        return self.term("bool", depth).text

    def count(self, construct: str) -> None:
        self.counts[construct] += 1

    def leaf(self, family: str) -> Term:
        families = INTEGERS if family in ("int4", "int8") else ("text", "varchar") if family == "text" else (family,)
        # Numerics near 38 digits stay out of arithmetic: PostgreSQL goes on where Antumbra says
        # 22003.
        tame = family == "numeric" or not (self.risky and self.random.random() < 0.3)
        calm = family not in ("bool", "text") and tame
        column = self.column(*families, calm=calm)
        if column is not None and self.random.random() < 0.75:
            return Term(column.text, family, column.fixed)
        return self.constant(family)

    def _divisor(self, families: Sequence[str]) -> str:
        """Return a column that may be 0, or nothing; a constant 0 fails in PostgreSQL before there
        is a row.
        """
        column = self.column(*families, calm=True) if self.risky else None
        return column.text if column is not None else ""

    def constant(self, family: str) -> Term:
        """Return a typed constant."""
        value = random_value(self.random, family, "", 2)
        if family in FLOATS:
            text = f"{literal(value, family)}::{FLOAT_NAMES[family]}"
        elif family in ("int4", "int8", "numeric", "bool"):
            text = literal(value, family, bare=True)
        elif family == "text":
            text = f"{literal(value, family)}::text"
        else:
            text = f"{TYPE_NAMES[family]} {literal(value, family)}"
        return Term(f"({text})" if text.startswith("-") else text, family)

    def _conditional(self, family: str, depth: int) -> Term:
        choice = self.random.choice(["case", "coalesce", "nullif", "greatest", "simple_case", "searched"])
        self.count(choice)
        first, second = self.term(family, depth - 1), self.term(family, depth - 1)
        fixed = family != "numeric"
        if family in ("numeric", "float8") and self.random.random() < 0.2:
            self.count("mixed types")
            second = self.term("int4", depth - 1)
        if choice == "case":
            return Term(
                f"CASE WHEN {self.condition(depth - 1)} THEN {first.text} ELSE {second.text} END", family, fixed
            )
        if choice == "searched":
            conditions = (self.condition(0), self.condition(depth - 1))
            branches = f"WHEN {conditions[0]} THEN {first.text} WHEN {conditions[1]} THEN {second.text}"
            last = self.random.choice(["", " ELSE NULL", f" ELSE {self.term(family, 0).text}"])
            return Term(f"CASE {branches}{last} END", family, fixed)
        if choice == "simple_case":
            operand = self.term(self.random.choice(["int4", "text"]), 0)
            against = self.term(operand.family, 0)
            return Term(f"CASE {operand.text} WHEN {against.text} THEN {first.text} END", family, first.fixed)
        if choice == "coalesce":
            return Term(f"COALESCE({first.text}, {second.text})", family, fixed)
        if choice == "nullif":
            return Term(f"NULLIF({first.text}, {second.text})", family, first.fixed)
        name = self.random.choice(["GREATEST", "LEAST"])
        return Term(f"{name}({first.text}, {second.text})", family, fixed)

    def _boolean(self, family: str, depth: int) -> Term:
        choices = ["compare", "compare", "and", "or", "not", "is null", "in", "between", "like", "distinct", "is truth"]
        choice = self.random.choice(choices)
        self.count(choice)
        below = depth - 1
        if choice in ("and", "or"):
            return Term(f"({self.condition(below)} {choice.upper()} {self.condition(below)})", "bool")
        if choice == "not":
            return Term(f"(NOT {self.condition(below)})", "bool")
        if choice == "is truth":
            test = self.random.choice(["TRUE", "FALSE", "UNKNOWN"])
            return Term(f"({self.condition(below)} IS {self._maybe_not()}{test})", "bool")
        if choice == "like":
            return self._like(below)
        operand_family = self.compared_family()
        operand = self.term(operand_family, below)
        if choice == "is null":
            return Term(f"({operand.text} IS {self._maybe_not()}NULL)", "bool")
        if choice == "in":
            items = [self.term(operand_family, 0).text for _ in range(self.random.randint(1, 4))]
            if self.random.random() < 0.3:
                items.insert(self.random.randint(0, len(items)), "NULL")
            return Term(f"({operand.text} {self._maybe_not()}IN ({', '.join(items)}))", "bool")
        if operand_family in NUMBERS and self.random.random() < 0.4:
            self.count("mixed comparison")
            operand_family = self.random.choice(NUMBERS)
        elif operand_family in TIMES and self.random.random() < 0.25:
            self.count("mixed comparison")
            operand_family = self.random.choice(TIMES)
        other = self.term(operand_family, below)
        if choice == "between":
            third = self.term(operand_family, 0)
            symmetric = self.random.choice(["", "", "SYMMETRIC "])
            text = f"({operand.text} {self._maybe_not()}BETWEEN {symmetric}{other.text} AND {third.text})"
            return Term(text, "bool")
        if choice == "distinct":
            return Term(f"({operand.text} IS {self._maybe_not()}DISTINCT FROM {other.text})", "bool")
        operator = self.random.choice(["=", "<>", "<", "<=", ">", ">="])
        return Term(f"({operand.text} {operator} {other.text})", "bool")

    def _maybe_not(self) -> str:
        return self.random.choice(["", "NOT "])

    def _like(self, below: int) -> Term:
        text = self.term("text", below).text
        choice = self.random.choice(["LIKE", "LIKE", "ILIKE", "ESCAPE", "starts_with"])
        self.count(choice)
        if choice == "starts_with":
            return Term(f"starts_with({text}, {self.term('text', 0).text})", "bool")
        if choice == "ESCAPE":
            return Term(f"({text} {self._maybe_not()}LIKE 'x!%y' ESCAPE '!')", "bool")
        return Term(f"({text} {self._maybe_not()}{choice} '{self.random.choice(PATTERNS)}')", "bool")

    def _integer(self, family: str, depth: int) -> Term | None:
        choices = ["+", "-", "*", "/", "%", "abs", "length", "cast", "negate", "date - date", "text", "widths"]
        choice = self.random.choice(choices)
        self.count(f"int {choice}")
        left = self.term(family, depth - 1)
        if choice in ("+", "-", "*"):
            return Term(f"({left.text} {choice} {self.term(family, depth - 1).text})", family)
        if choice in ("/", "%"):
            divisor = self._divisor(INTEGERS) or str(self.random.choice([2, 3, 7, -4]))
            return Term(f"({left.text} {choice} {divisor if divisor[0] != '-' else f'({divisor})'})", family)
        if choice == "abs":
            return Term(f"abs({left.text})", family)
        if choice == "negate":
            return Term(f"(- {left.text})", family)
        if choice == "length":
            function = self.random.choice(["length", "octet_length", "char_length"])
            return Term(f"{function}({self.term('text', depth - 1).text})", family)
        if choice == "date - date":
            return Term(f"({self.term('date', 0).text} - {self.term('date', 0).text})", family)
        if choice == "text":
            return Term(f"strpos({self.term('text', 0).text}, {self.term('text', 0).text})", family)
        if choice == "widths":
            # The narrowing of a sum of columns fails for some rows, the widening never.
            name = self.random.choice(["smallint", "bigint"]) if self.risky else "bigint"
            return Term(f"({left.text})::{name}", family)
        source = self.random.choice(["numeric", "float8", "bool", "float4"])
        return Term(f"({self.term(source, depth - 1).text})::integer", family)

    def _numeric(self, family: str, depth: int) -> Term | None:
        choices = ["+", "-", "*", "/", "%", "round", "trunc", "cast", "declared", "extract", "abs", "ceil", "mixed"]
        choice = self.random.choice(choices)
        self.count(f"numeric {choice}")
        left = self.term("numeric", depth - 1)
        if choice in ("+", "-", "*"):
            right = self.term("numeric", 0 if choice == "*" else depth - 1)
            return Term(f"({left.text} {choice} {right.text})", family, left.fixed and right.fixed)
        if choice in ("/", "%"):
            divisor = self._divisor(("numeric",)) or self.random.choice(["3", "0.7", "(-12.50)"])
            return Term(f"({left.text} {choice} {divisor})", family, False)
        if choice == "mixed":
            whole = self.term("int4", depth - 1)
            return Term(f"({whole.text} {self.random.choice('+-*')} {left.text})", family, left.fixed)
        if choice in ("round", "trunc"):
            return Term(f"{choice}({left.text}, {self.random.choice([0, 1, 2])})", family)
        if choice == "ceil":
            return Term(f"{self.random.choice(['ceil', 'floor', 'round', 'trunc', 'sign'])}({left.text})", family)
        if choice == "abs":
            return Term(f"{self.random.choice(['abs', '-'])}({left.text})", family, left.fixed)
        if choice == "cast":
            return Term(f"({self.term('int4', depth - 1).text})::numeric", family)
        if choice == "declared":
            source = self.random.choice(["numeric", "int4", "float8"])
            return Term(f"CAST({self.term(source, depth - 1).text} AS numeric(30,3))", family)
        source = self.random.choice(TIMES)
        field = self.random.choice(DATE_FIELDS if source == "date" else FIELDS)
        return Term(f"extract({field} FROM {self.term(source, depth - 1).text})", family)

    def _float(self, family: str, depth: int) -> Term | None:
        choice = self.random.choice(["+", "-", "*", "/", "cast", "abs", "round", "mixed", "date_part", "sqrt"])
        self.count(f"float {choice}")
        left = self.term(family, depth - 1)
        if choice in ("+", "-", "*"):
            return Term(f"({left.text} {choice} {self.term(family, 0).text})", family)
        if choice == "/":
            divisor = self._divisor((family,)) or f"'2.5'::{FLOAT_NAMES[family]}"
            return Term(f"({left.text} / {divisor})", family)
        if choice == "cast":
            source = self.random.choice(["int4", "numeric", "float4", "float8"])
            return Term(f"({self.term(source, depth - 1).text})::{FLOAT_NAMES[family]}", family)
        if choice == "abs":
            return Term(f"{self.random.choice(['abs', '-'])}({left.text})", family)
        if choice == "mixed":
            other = self.term(self.random.choice(["int4", "numeric", "float4"]), depth - 1)
            return Term(f"({other.text} {self.random.choice('+-*')} {self.term('float8', 0).text})", "float8")
        if choice == "date_part":
            source = self.random.choice(TIMES)
            field = self.random.choice(DATE_FIELDS if source == "date" else FIELDS)
            return Term(f"date_part('{field}', {self.term(source, depth - 1).text})", "float8")
        if choice == "sqrt":
            return Term(f"sqrt(abs({left.text}))", "float8")
        return Term(f"{self.random.choice(['round', 'floor', 'ceil', 'trunc', 'sign'])}({left.text})", "float8")

    def _text(self, family: str, depth: int) -> Term | None:
        choices = ["lower", "upper", "||", "cast", "substring", "varchar", "trim", "piece", "pad", "replace", "concat"]
        choice = self.random.choice(choices)
        self.count(f"text {choice}")
        left = self.term("text", depth - 1).text
        if choice in ("lower", "upper"):
            return Term(f"{choice}({left})", family)
        if choice == "||":
            # A number beside a text becomes text.
            other = self.term(self.random.choice(["text", "text", "int4", "date"]), 0).text
            return Term(f"({left} || {other})", family)
        if choice == "cast":
            source = self.random.choice(["int4", "int8", "date", "bool", "numeric", "timestamp", "float8", "float4"])
            return Term(f"({self.term(source, depth - 1).text})::text", family)
        if choice == "varchar":
            return Term(f"({left})::varchar({self.random.choice([1, 3, 20])})", family)
        if choice == "trim":
            text = self.random.choice(["trim({0})", "ltrim({0}, 'ab')", "rtrim({0}, 'c')", "trim(both 'x' FROM {0})"])
            return Term(text.format(left), family)
        if choice == "piece":
            text = self.random.choice(["left({0}, 2)", "right({0}, 2)", "left({0}, -1)", "reverse({0})"])
            return Term(text.format(left), family)
        if choice == "pad":
            texts = ["lpad({0}, 4, '*')", "rpad({0}, 3)", "rpad({0}, 14, 'yz')", "split_part({0}, 'b', 1)"]
            text = "repeat({0}, 2)" if self.in_stream else self.random.choice(texts)
            return Term(text.format(left), family)
        if choice == "replace":
            return Term(f"replace({left}, 'b', {self.term('text', 0).text})", family)
        if choice == "concat":
            other = self.term(self.random.choice(["text", "int4", "bool", "date"]), 0).text
            return Term(f"concat({left}, {other})", family)
        return Term(f"substring({left}, {self.random.choice([-1, 0, 1, 2])}, {self.random.choice([0, 1, 3])})", family)

    def _date(self, family: str, depth: int) -> Term | None:
        choice = self.random.choice(["+", "-", "cast", "column"])
        self.count(f"date {choice}")
        if choice == "cast":
            return Term(
                f"({self.term(self.random.choice(['timestamp', 'timestamptz']), depth - 1).text})::date", family
            )
        days = (
            f"({self.term('int4', 0).text} % 100)::integer" if choice == "column" else str(self.random.randint(0, 400))
        )
        return Term(f"({self.term('date', 0).text} {'-' if choice == '-' else '+'} {days})", family)

    def _timestamp(self, family: str, depth: int) -> Term | None:
        choice = self.random.choice(["date_trunc", "interval", "cast", "date interval", "at time zone"])
        self.count(f"{family} {choice}")
        left = self.term(family, depth - 1)
        if choice == "date_trunc":
            return Term(f"date_trunc('{self.random.choice(TRUNC_UNITS)}', {left.text})", family)
        if choice == "interval":
            sign = self.random.choice("+-")
            return Term(f"({left.text} {sign} interval '{self.random.choice(INTERVALS)}')", family)
        if choice == "date interval" and family == "timestamp":
            return Term(f"({self.term('date', 0).text} + interval '{self.random.choice(INTERVALS)}')", family)
        if choice == "at time zone":
            source = "timestamptz" if family == "timestamp" else "timestamp"
            zone = self.random.choice(["UTC", "Europe/Berlin", "America/New_York"])
            return Term(f"({self.term(source, 0).text} AT TIME ZONE '{zone}')", family)
        source = "date" if family == "timestamp" or self.random.random() < 0.5 else "timestamp"
        return Term(f"({self.term(source, 0).text})::{family}", family)
