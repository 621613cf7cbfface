"""Random typed SQL expressions over given columns, as text that PostgreSQL and Antumbra both get.

A term has a family, and for numerics whether all its values have one display scale (a group's key or a min/max of mixed scales has
no defined text in PostgreSQL either). Names of the constructs drawn are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from tests.randomized.values import Column, literal, random_value

INTEGERS = ("int2", "int4", "int8")
FAMILIES = ("bool", "int4", "int8", "numeric", "float8", "text", "date", "timestamp", "timestamptz")
TRUNC_UNITS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
FIELDS = ("year", "month", "day", "hour", "minute", "second", "dow", "isodow", "doy", "week", "quarter", "epoch")
DATE_FIELDS = ("year", "month", "day", "dow", "isodow", "doy", "week", "quarter")
INTERVALS = ("1 day", "3 hours", "1 month", "90 days", "15 minutes", "1 year 2 months")


@dataclass(frozen=True)
class Term:
    """An expression's text. fixed: a numeric of one display scale (always true for other families)."""

    text: str
    family: str
    fixed: bool = True


class ExpressionMaker:
    """Draws expressions over `columns` from one source of randomness. risky: may raise for some rows."""

    def __init__(self, random: Random, columns: Sequence[Column | Term], counts: Counter[str], risky: bool) -> None:
        self.random = random
        self.counts = counts
        self.risky = risky
        self.terms = [column if isinstance(column, Term) else Term(column.name, column.family) for column in columns]
        self._calm = {column.name for column in columns if isinstance(column, Column) and not column.extreme} | {
            column.text for column in columns if isinstance(column, Term)
        }

    def any_term(self, depth: int = 2) -> Term:
        """Return an expression of any family."""
        if self.random.random() < 0.4:
            return self.random.choice(self.terms)
        return self.term(self.random.choice(FAMILIES), depth)

    def column(self, *families: str, calm: bool = False) -> Term | None:
        """Return a column of one of `families`; calm: without extremes, so that arithmetic on it stays in range."""
        fitting = [term for term in self.terms if term.family in families and (not calm or term.text in self._calm)]
        return self.random.choice(fitting) if fitting else None

    def term(self, family: str, depth: int) -> Term:
        """Return an expression of `family`."""
        if depth <= 0:
            return self._leaf(family)
        if self.random.random() < 0.25:
            return self._conditional(family, depth)
        made = {
            "bool": self._boolean,
            "int4": self._integer,
            "int8": self._integer,
            "numeric": self._numeric,
            "float8": self._float,
            "text": self._text,
            "date": self._date,
            "timestamp": self._timestamp,
            "timestamptz": self._timestamp,
        }[family](family, depth)
        return made or self._leaf(family)

    def condition(self, depth: int = 2) -> str:
        """Return a boolean expression's text."""
        return self.term("bool", depth).text

    def _count(self, construct: str) -> None:
        self.counts[construct] += 1

    def _leaf(self, family: str) -> Term:
        families = INTEGERS if family in ("int4", "int8") else ("text", "varchar") if family == "text" else (family,)
        column = self.column(
            *families, calm=family in ("int4", "int8", "numeric", "float8", "date", "timestamp", "timestamptz")
        )
        if column is not None and self.random.random() < 0.75:
            return Term(column.text, family)
        value = random_value(self.random, family, "", 2)
        if family in ("int4", "int8", "numeric", "float8", "bool"):
            text = literal(value, family, bare=family != "float8")
            if family == "float8":
                text = f"{text}::double precision"
            return Term(f"({text})" if text.startswith("-") else text, family)
        name = {"text": "text", "date": "date", "timestamp": "timestamp", "timestamptz": "timestamptz"}[family]
        return Term(
            f"{literal(value, family)}::{name}" if family == "text" else f"{name} {literal(value, family)}", family
        )

    def _conditional(self, family: str, depth: int) -> Term:
        choice = self.random.choice(["case", "coalesce", "nullif", "greatest", "simple_case"])
        self._count(choice)
        first, second = self.term(family, depth - 1), self.term(family, depth - 1)
        fixed = family != "numeric"
        if choice == "case":
            return Term(
                f"CASE WHEN {self.condition(depth - 1)} THEN {first.text} ELSE {second.text} END", family, fixed
            )
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
        choice = self.random.choice(
            ["compare", "compare", "and", "or", "not", "is null", "in", "between", "like", "distinct"]
        )
        self._count(choice)
        below = depth - 1
        if choice in ("and", "or"):
            return Term(f"({self.condition(below)} {choice.upper()} {self.condition(below)})", "bool")
        if choice == "not":
            return Term(f"(NOT {self.condition(below)})", "bool")
        if choice == "like":
            pattern = self.random.choice(["a%", "%b", "_b%", "%l_o%", "", "%", "x\\%y"])
            negated = self.random.choice(["", "NOT "])
            return Term(f"({self.term('text', below).text} {negated}LIKE '{pattern}')", "bool")
        operand_family = self.random.choice([name for name in FAMILIES if name != "bool"])
        operand = self.term(operand_family, below)
        if choice == "is null":
            return Term(f"({operand.text} IS {self.random.choice(['', 'NOT '])}NULL)", "bool")
        if choice == "in":
            items = ", ".join(self.term(operand_family, 0).text for _ in range(self.random.randint(1, 4)))
            return Term(f"({operand.text} {self.random.choice(['', 'NOT '])}IN ({items}))", "bool")
        other = self.term(operand_family, below)
        if choice == "between":
            third = self.term(operand_family, 0)
            return Term(f"({operand.text} BETWEEN {other.text} AND {third.text})", "bool")
        if choice == "distinct":
            return Term(f"({operand.text} IS {self.random.choice(['', 'NOT '])}DISTINCT FROM {other.text})", "bool")
        operator = self.random.choice(["=", "<>", "<", "<=", ">", ">="])
        return Term(f"({operand.text} {operator} {other.text})", "bool")

    def _integer(self, family: str, depth: int) -> Term | None:
        choice = self.random.choice(["+", "-", "*", "/", "%", "abs", "length", "cast", "negate", "date - date"])
        self._count(f"int {choice}")
        left = self.term(family, depth - 1)
        if choice in ("+", "-", "*"):
            return Term(f"({left.text} {choice} {self.term(family, depth - 1).text})", family)
        if choice in ("/", "%"):
            divisor = self.term(family, 0).text if self.risky else str(self.random.choice([2, 3, 7, -4]))
            return Term(f"({left.text} {choice} {divisor if divisor[0] != '-' else f'({divisor})'})", family)
        if choice == "abs":
            return Term(f"abs({left.text})", family)
        if choice == "negate":
            return Term(f"(- {left.text})", family)
        if choice == "length":
            return Term(f"length({self.term('text', depth - 1).text})", family)
        if choice == "date - date":
            return Term(f"({self.term('date', 0).text} - {self.term('date', 0).text})", family)
        source = self.random.choice(["numeric", "float8", "bool"])
        return Term(f"({self.term(source, depth - 1).text})::integer", family)

    def _numeric(self, family: str, depth: int) -> Term | None:
        choice = self.random.choice(
            ["+", "-", "*", "/", "round", "trunc", "cast", "declared", "extract", "abs", "ceil"]
        )
        self._count(f"numeric {choice}")
        left = self.term("numeric", depth - 1)
        if choice in ("+", "-", "*"):
            right = self.term("numeric", 0 if choice == "*" else depth - 1)
            return Term(f"({left.text} {choice} {right.text})", family, left.fixed and right.fixed)
        if choice == "/":
            divisor = self.term("numeric", 0).text if self.risky else self.random.choice(["3", "0.7", "(-12.50)"])
            return Term(f"({left.text} / {divisor})", family, False)
        if choice in ("round", "trunc"):
            return Term(f"{choice}({left.text}, {self.random.choice([0, 1, 2])})", family)
        if choice == "ceil":
            return Term(f"{self.random.choice(['ceil', 'floor'])}({left.text})", family)
        if choice == "abs":
            return Term(f"abs({left.text})", family, left.fixed)
        if choice == "cast":
            return Term(f"({self.term('int4', depth - 1).text})::numeric", family)
        if choice == "declared":
            return Term(f"CAST({left.text} AS numeric(30,3))", family)
        source = self.random.choice(["date", "timestamp", "timestamptz"])
        field = self.random.choice(DATE_FIELDS if source == "date" else FIELDS)
        return Term(f"extract({field} FROM {self.term(source, depth - 1).text})", family)

    def _float(self, family: str, depth: int) -> Term | None:
        choice = self.random.choice(["+", "-", "*", "cast", "abs", "floor"])
        self._count(f"float {choice}")
        left = self.term("float8", depth - 1)
        if choice in ("+", "-", "*"):
            return Term(f"({left.text} {choice} {self.term('float8', 0).text})", family)
        if choice == "cast":
            return Term(
                f"({self.term(self.random.choice(['int4', 'numeric']), depth - 1).text})::double precision", family
            )
        return Term(f"{choice}({left.text})", family)

    def _text(self, family: str, depth: int) -> Term | None:
        choice = self.random.choice(["lower", "upper", "||", "cast", "substring"])
        self._count(f"text {choice}")
        left = self.term("text", depth - 1)
        if choice in ("lower", "upper"):
            return Term(f"{choice}({left.text})", family)
        if choice == "||":
            return Term(f"({left.text} || {self.term('text', 0).text})", family)
        if choice == "cast":
            return Term(f"({self.term(self.random.choice(['int4', 'date', 'bool']), 0).text})::text", family)
        return Term(f"substring({left.text}, {self.random.choice([1, 2])}, {self.random.choice([1, 3])})", family)

    def _date(self, family: str, depth: int) -> Term | None:
        choice = self.random.choice(["+", "-", "cast"])
        self._count(f"date {choice}")
        if choice == "cast":
            return Term(
                f"({self.term(self.random.choice(['timestamp', 'timestamptz']), depth - 1).text})::date", family
            )
        return Term(f"({self.term('date', 0).text} {choice} {self.random.randint(0, 400)})", family)

    def _timestamp(self, family: str, depth: int) -> Term | None:
        choice = self.random.choice(["date_trunc", "interval", "cast"])
        self._count(f"{family} {choice}")
        left = self.term(family, depth - 1)
        if choice == "date_trunc":
            return Term(f"date_trunc('{self.random.choice(TRUNC_UNITS)}', {left.text})", family)
        if choice == "interval":
            sign = self.random.choice("+-")
            return Term(f"({left.text} {sign} interval '{self.random.choice(INTERVALS)}')", family)
        source = "date" if family == "timestamp" or self.random.random() < 0.5 else "timestamp"
        return Term(f"({self.term(source, 0).text})::{family}", family)
