"""Expressions with queries in them: IN, NOT IN, EXISTS, ANY, ALL, scalar ones and ARRAY(...),
correlated and not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random

from tests.randomized.expressions import INTEGERS, Term
from tests.randomized.scopes import comparable, qualified
from tests.randomized.table_expressions import TableExpressionMaker, is_keyable
from tests.randomized.tables import Source
from tests.randomized.values import Column

SUBQUERY_SHARE = 0.10


class SubqueryExpressionMaker(TableExpressionMaker):
    """Draws expressions of which some are queries over `sources`. alias: gives names of FROM
    items.
    """

    def __init__(
        self,
        random: Random,
        columns: Sequence[Column | Term],
        counts: Counter[str],
        sources: Sequence[Source],
        alias: Callable[[], str],
        nesting: int = 1,
    ) -> None:
        super().__init__(random, columns, counts, risky=False)
        self._sources = sources
        self._alias = alias
        self._nesting = nesting

    def term(self, family: str, depth: int) -> Term:
        """Return an expression of `family`."""
        if depth > 0 and self._nesting > 0 and self._sources and self.random.random() < SUBQUERY_SHARE:
            found = self._predicate() if family == "bool" else self._scalar(family)
            if found is not None:
                return found
        return super().term(family, depth)

    def _inner(self) -> tuple[Source, str, list[Term], SubqueryExpressionMaker]:
        """Return a source with an alias, its columns, and a maker of expressions over them."""
        source = self.random.choice(self._sources)
        alias = self._alias()
        own = list(qualified(alias, source.columns))
        maker = SubqueryExpressionMaker(self.random, own, self.counts, self._sources, self._alias, self._nesting - 1)
        return source, alias, own, maker

    def _where(self, own: Sequence[Term], maker: SubqueryExpressionMaker) -> str:
        """Return a WHERE clause that is correlated, not correlated, or nothing."""
        conditions = []
        pairs = [(one, two) for one in own for two in self.terms if comparable(one, two)]
        if pairs and self.random.random() < 0.6:
            self.count("correlated")
            one, two = self.random.choice(pairs)
            conditions.append(f"{one.text} {self.random.choice(['=', '=', '=', '<', '<>'])} {two.text}")
        if self.random.random() < 0.3:
            conditions.append(maker.condition(1))
        return f" WHERE {' AND '.join(conditions)}" if conditions else ""

    def _predicate(self) -> Term | None:
        random = self.random
        kind = random.choice(["exists", "in", "not in", "any", "all", "row in"])
        source, alias, own, maker = self._inner()
        where = self._where(own, maker)
        self.count(f"subquery {kind}")
        if kind == "exists":
            item = random.choice(["1", "*", own[0].text])
            text = f"{random.choice(['', 'NOT '])}EXISTS (SELECT {item} FROM {source.name} AS {alias}{where})"
            return Term(f"({text})", "bool")
        pairs = [(one, two) for one in self.terms for two in own if comparable(one, two) and one.family != "json"]
        if not pairs:
            return None
        one, two = random.choice(pairs)
        if kind == "row in":
            other, another = random.choice(pairs)
            text = (
                f"(({one.text}, {other.text}) {random.choice(['', 'NOT '])}IN (SELECT {two.text}, {another.text} FROM "
            )
            return Term(f"{text}{source.name} AS {alias}{where}))", "bool")
        query = f"(SELECT {two.text} FROM {source.name} AS {alias}{where})"
        if kind in ("in", "not in"):
            return Term(f"({one.text} {kind.upper()} {query})", "bool")
        compared = ["=", "<>"] if one.family == "jsonb" or one.family.endswith("[]") else ["=", "<>", "<", ">="]
        return Term(f"({one.text} {random.choice(compared)} {kind.upper()} {query})", "bool")

    def _scalar(self, family: str) -> Term | None:
        random = self.random
        source, alias, own, maker = self._inner()
        where = self._where(own, maker)
        origin = f"FROM {source.name} AS {alias}{where}"
        if family in ("int4", "int8", "numeric") and random.random() < 0.5:
            self.count("subquery aggregate")
            numbers = [term for term in own if term.family in (*INTEGERS, "numeric") and term.calm and term.fixed]
            if family == "numeric" and numbers:
                return Term(f"(SELECT sum({random.choice(numbers).text}) {origin})", "numeric", fixed=False)
            if family != "numeric":
                distinct = random.choice(
                    ["count(*)", f"count(DISTINCT {own[0].text})" if is_keyable(own[0]) else "count(*)"]
                )
                return Term(f"(SELECT {distinct} {origin})", "int8")
        if family in ("int4[]", "text[]"):
            chosen = [term for term in own if term.family == family[:-2]]
            if chosen:
                self.count("subquery array")
                item = random.choice(chosen).text
                return Term(f"ARRAY(SELECT {item} {origin} ORDER BY {item} DESC)", family)
        fitting = [term for term in own if is_keyable(term) and (term.family == family)]
        if not fitting:
            return None
        chosen_term = random.choice(fitting)
        kind = random.choice(["limit", "limit", "extreme", "one"])
        self.count(f"subquery scalar {kind}")
        extremes = chosen_term.family in ("int4", "int8", "numeric", "text", "date", "timestamp", "timestamptz")
        if kind == "extreme" and extremes:
            return Term(
                f"(SELECT {random.choice(['min', 'max'])}({chosen_term.text}) {origin})", family, calm=chosen_term.calm
            )
        if kind == "one" and len(source.key) == 1:
            key = next(term for term in own if term.text == f"{alias}.{source.key[0]}")
            value = {"int4": "2", "int8": "3", "text": "'key 2'", "date": "'2020-01-03'"}.get(key.family)
            if value is not None:
                text = f"(SELECT {chosen_term.text} FROM {source.name} AS {alias} WHERE {key.text} = {value})"
                return Term(text, family, calm=chosen_term.calm)
        order = f"ORDER BY {chosen_term.text}{random.choice(['', ' DESC', ' NULLS FIRST'])} LIMIT 1"
        return Term(f"(SELECT {chosen_term.text} {origin} {order})", family, calm=chosen_term.calm)
