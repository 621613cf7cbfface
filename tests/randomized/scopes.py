"""Random FROM clauses: tables, views, derived tables, functions, VALUES and laterals, joined in
every way.

A scope is the text of a FROM clause with the columns that it offers, by qualified names that no
other scope of the statement has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from tests.randomized.expressions import INTEGERS, Term
from tests.randomized.table_expressions import is_keyable
from tests.randomized.tables import Source

ITEMS = ("source",) * 9 + ("derived", "derived", "values", "series", "unnest", "string table")
JOINS = (
    "JOIN",
    "JOIN",
    "LEFT JOIN",
    "LEFT JOIN",
    "RIGHT JOIN",
    "FULL JOIN",
    "CROSS JOIN",
    ",",
    "NATURAL JOIN",
    "USING",
)
TEXTS = ("text", "varchar")


@dataclass(frozen=True)
class Body:
    """A SELECT's text and what it yields, by output names; ordered: its rows have one order."""

    text: str
    columns: tuple[Term, ...]
    ordered: bool = False


@dataclass(frozen=True)
class Scope:
    """A FROM clause's text (without FROM) and its columns. closed: a further JOIN would not see all
    of them.
    """

    text: str
    terms: tuple[Term, ...]
    sources: frozenset[str] = frozenset()
    closed: bool = False


def qualified(alias: str, columns: Sequence[Term]) -> tuple[Term, ...]:
    """Return columns as another FROM item's."""
    return tuple(Term(f"{alias}.{column.text}", column.family, column.fixed, column.calm) for column in columns)


def comparable(left: Term, right: Term) -> bool:
    """Tell whether two terms compare without a cast."""
    numbers = (*INTEGERS, "numeric")
    if left.family in numbers and right.family in numbers:
        return True
    return left.family == right.family != "json" or (left.family in TEXTS and right.family in TEXTS)


class ScopeMaker:
    """Draws FROM clauses. derived: gives the body of a derived table; condition: a predicate over
    given columns.
    """

    def __init__(
        self,
        random: Random,
        count: Callable[[str], None],
        derived: Callable[[int], Body],
        condition: Callable[[Sequence[Term]], str],
    ) -> None:
        self._random = random
        self._count = count
        self._derived = derived
        self._condition = condition
        self._number = 0

    def scope(self, sources: Sequence[Source], depth: int) -> Scope:
        """Return a FROM clause over `sources`."""
        scope = self.item(sources, depth)
        several = [0, 0, 0, 1, 1, 2] if depth > 1 else [0, 0, 1]
        crossed = False
        for _ in range(self._random.choice(several)):
            kind = self._random.choice(JOINS)
            if kind in ("CROSS JOIN", ",") and crossed:
                kind = "JOIN"
            crossed |= kind in ("CROSS JOIN", ",")
            if self._random.random() < 0.15:
                scope = self._lateral(scope, sources)
            else:
                scope = self._join(scope, self.item(sources, depth), kind)
            if scope.closed:
                break
        return scope

    def alias(self) -> str:
        """Return a name that no other FROM item of the statement has."""
        self._number += 1
        return f"r{self._number}"

    def item(self, sources: Sequence[Source], depth: int) -> Scope:
        """Return one FROM item."""
        kind = self._random.choice(ITEMS)
        alias = self.alias()
        if kind == "derived" and depth > 0:
            self._count("from derived")
            body = self._derived(depth - 1)
            return Scope(f"({body.text}) AS {alias}", qualified(alias, body.columns))
        if kind in ("values", "series", "unnest", "string table"):
            self._count(f"from {kind}")
            return self._function(kind, alias)
        source = self._random.choice(sources)
        return Scope(f"{source.name} AS {alias}", qualified(alias, source.columns), frozenset([source.name]))

    def _function(self, kind: str, alias: str) -> Scope:
        random = self._random
        ordinality = random.random() < 0.25
        suffix = " WITH ORDINALITY" if ordinality else ""
        names = "(n, o)" if ordinality else "(n)"
        extra = (Term(f"{alias}.o", "int8"),) if ordinality else ()
        if kind == "values":
            rows = random.choice(["(1, 'a'), (2, NULL), (3, 'abc')", "(1, 'b')", "(NULL, 'a'), (5, 'B'), (5, 'B')"])
            return Scope(f"(VALUES {rows}) AS {alias} (n, t)", (Term(f"{alias}.n", "int4"), Term(f"{alias}.t", "text")))
        if kind == "string table":
            text = random.choice(["'a,b,,c'", "'abc'", "NULL", "''"])
            return Scope(f"string_to_table({text}, ',') AS {alias} (t)", (Term(f"{alias}.t", "text"),))
        if kind == "unnest":
            text, family = random.choice(
                [("ARRAY[1, 2, NULL, 3]", "int4"), ("'{a,b,abc}'::text[]", "text"), ("'{}'::integer[]", "int4")]
            )
            return Scope(f"unnest({text}){suffix} AS {alias} {names}", (Term(f"{alias}.n", family), *extra))
        text, family = random.choice(
            [
                ("generate_series(1, 4)", "int4"),
                ("generate_series(3, -3, -2)", "int4"),
                ("generate_series(5, 1)", "int4"),
                ("generate_series(0.5, 2.5, 0.5)", "numeric"),
                ("generate_series(timestamp '2024-01-31', timestamp '2024-04-30', interval '1 month')", "timestamp"),
            ]
        )
        return Scope(f"{text}{suffix} AS {alias} {names}", (Term(f"{alias}.n", family), *extra))

    def _join(self, left: Scope, right: Scope, kind: str) -> Scope:
        terms = (*left.terms, *right.terms)
        sources = left.sources | right.sources
        if kind in ("USING", "NATURAL JOIN"):
            shared = self._shared(left, right)
            if not shared:
                kind = "JOIN"
            elif kind == "USING":
                self._count("join using")
                outer = self._random.choice(["JOIN", "LEFT JOIN", "FULL JOIN", "RIGHT JOIN"])
                merged = tuple(Term(name, "int4") for name in shared)
                kept = tuple(term for term in terms if term.text.partition(".")[2] not in shared)
                return Scope(
                    f"{left.text} {outer} {right.text} USING ({', '.join(shared)})", (*merged, *kept), sources, True
                )
            else:
                kind = "JOIN"
        self._count(f"join {kind.lower()}")
        if kind in ("CROSS JOIN", ","):
            separator = "" if kind == "," else " "
            return Scope(f"{left.text}{separator}{kind} {right.text}", terms, sources, kind == ",")
        condition = self._on(left, right, kind)
        return Scope(f"{left.text} {kind} {right.text} ON {condition}", terms, sources)

    def _shared(self, left: Scope, right: Scope) -> list[str]:
        """Return names of integers that both sides have once, where no other name of them is the
        same.
        """
        names = [[term.text.partition(".")[2] for term in scope.terms] for scope in (left, right)]
        both = [name for name in ("k", "n") if all(side.count(name) == 1 for side in names)]
        families = {
            term.text.partition(".")[2]: term.family for term in (*left.terms, *right.terms) if term.family != "int4"
        }
        return [name for name in both if name not in families][:1]

    def _on(self, left: Scope, right: Scope, kind: str) -> str:
        random = self._random
        pairs = [(one, two) for one in left.terms for two in right.terms if comparable(one, two) and two.calm]
        close = [(one, two) for one, two in pairs if one.family == two.family and is_keyable(one)]
        if not pairs:
            return "true" if kind != "FULL JOIN" else "1 = 1"
        one, two = random.choice(close or pairs)
        text = f"{one.text} = {two.text}"
        if kind == "FULL JOIN":
            return text
        roll = random.random()
        if roll < 0.15:
            self._count("join on a condition")
            return f"{text} AND {self._condition((*left.terms, *right.terms))}"
        if roll < 0.25:
            self._count("join on an inequality")
            return f"{one.text} {random.choice(['<', '>=', '<>'])} {two.text}"
        if roll < 0.32:
            self._count("join on is not distinct")
            return f"{one.text} IS NOT DISTINCT FROM {two.text}"
        if roll < 0.4 and len(pairs) > 1:
            other = random.choice(pairs)
            return f"{text} AND {other[0].text} = {other[1].text}"
        return text

    def _lateral(self, left: Scope, sources: Sequence[Source]) -> Scope:
        """Return `left` joined with something that reads its rows."""
        random = self._random
        alias = self.alias()
        arrays = [term for term in left.terms if term.family in ("int4[]", "text[]")]
        kind = random.choice(["CROSS JOIN", "LEFT JOIN", "JOIN", ","])
        closed = kind == ","
        suffix = " ON true" if kind in ("LEFT JOIN", "JOIN") else ""
        head = f"{left.text}{'' if kind == ',' else ' '}{kind}"
        if arrays and random.random() < 0.6:
            self._count("lateral unnest")
            array = random.choice(arrays)
            text = f"{head} unnest({array.text}) AS {alias} (n){suffix}"
            return Scope(text, (*left.terms, Term(f"{alias}.n", array.family[:-2])), left.sources, closed)
        integers = [term for term in left.terms if term.family == "int4" and term.calm]
        if integers and random.random() < 0.3:
            self._count("lateral generate_series")
            bound = f"LEAST({random.choice(integers).text}, 4)"
            text = f"{head} LATERAL generate_series(1, {bound}) AS {alias} (n){suffix}"
            return Scope(text, (*left.terms, Term(f"{alias}.n", "int4")), left.sources, closed)
        self._count("lateral query")
        source = random.choice(sources)
        inner = self.alias()
        own = qualified(inner, source.columns)
        pairs = [(one, two) for one in own for two in left.terms if comparable(one, two) and two.calm and one.calm]
        where = ""
        if pairs:
            one, two = random.choice(pairs)
            where = f" WHERE {one.text} {random.choice(['=', '=', '<', '>='])} {two.text}"
        keyable = [term for term in own if is_keyable(term)]
        if keyable and random.random() < 0.6:
            chosen = random.choice(keyable)
            order = f" ORDER BY {chosen.text}{random.choice(['', ' DESC'])} LIMIT {random.randint(1, 2)}"
            body = f"SELECT {chosen.text} AS y FROM {source.name} AS {inner}{where}{order}"
            added: tuple[Term, ...] = (Term(f"{alias}.y", chosen.family, chosen.fixed, chosen.calm),)
        else:
            body = f"SELECT count(*) AS y FROM {source.name} AS {inner}{where}"
            added = (Term(f"{alias}.y", "int8"),)
        text = f"{head} LATERAL ({body}) AS {alias}{suffix}"
        return Scope(text, (*left.terms, *added), left.sources | {source.name}, closed)
