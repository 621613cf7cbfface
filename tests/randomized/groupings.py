"""Random GROUP BY clauses: plain, GROUPING SETS, ROLLUP, CUBE; and the aggregates above them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random

from tests.randomized.expressions import FLOATS, INTEGERS, Term
from tests.randomized.scopes import Scope
from tests.randomized.table_expressions import TableExpressionMaker, is_keyable, numbers_of

EXTREMES = ("int2", "int4", "int8", "numeric", "text", "bpchar", "date", "timestamp", "timestamptz", "time")


class GroupingMaker:
    """Draws what a grouped SELECT holds, over the expressions of `maker`."""

    def __init__(self, random: Random, counts: Counter[str], maker: TableExpressionMaker) -> None:
        self._random = random
        self._counts = counts
        self._maker = maker

    def grouping(self, scope: Scope, sets: bool) -> tuple[list[Term], str]:
        """Return the select list and the text from GROUP BY on."""
        random = self._random
        keys = [term for term in self._keys(scope, random.choice([0, 1, 1, 2, 3])) if "." in term.text]
        aggregates = [self.aggregate(scope.terms) for _ in range(random.randint(1, 3))]
        having = f" HAVING {self._having(aggregates)}" if random.random() < 0.25 else ""
        if not keys:
            return aggregates, having
        texts = [key.text for key in keys]
        if not sets:
            return [*keys, *aggregates], f" GROUP BY {', '.join(texts)}{having}"
        self._counts["grouping function"] += 1
        grouping = Term(f"grouping({', '.join(texts)})", "int4")
        return [*keys, *aggregates, grouping], f" GROUP BY {self._sets(texts)}{having}"

    def aggregate(self, terms: Sequence[Term]) -> Term:
        """Return an aggregate that has one value, whatever the order of rows."""
        random = self._random
        kind = random.choice(
            [
                "count",
                "distinct",
                "number",
                "number",
                "extreme",
                "extreme",
                "bool",
                "text",
                "array",
                "statistic",
                "mode",
                "choice",
            ]
        )
        filtered = f" FILTER (WHERE {self._maker.condition(1)})" if random.random() < 0.15 else ""
        found = self._draw(kind, terms)
        if found is None:
            kind, found = "count", Term("count(*)", "int8")
        self._counts[f"aggregate of {kind}"] += 1
        return Term(found.text + filtered, found.family, found.fixed, found.calm)

    def _draw(self, kind: str, terms: Sequence[Term]) -> Term | None:
        random = self._random
        numbers = numbers_of(terms)
        keyable = [term for term in terms if is_keyable(term)]
        if kind == "distinct" and keyable:
            return Term(f"count(DISTINCT {random.choice(keyable).text})", "int8")
        if kind == "number" and numbers:
            term = random.choice(numbers)
            name = random.choice(["sum", "avg", "sum", "sum(DISTINCT"])
            call = f"{name} {term.text})" if "(" in name else f"{name}({term.text})"
            if "(" in name and not term.fixed:
                call = f"sum({term.text})"
            family = "int8" if term.family in ("int2", "int4") and name != "avg" else "numeric"
            return Term(call, family, fixed=name != "avg" and term.fixed)
        if kind == "extreme":
            kept = [term for term in terms if term.family in EXTREMES and term.fixed]
            if kept:
                term = random.choice(kept)
                return Term(f"{random.choice(['min', 'max'])}({term.text})", term.family, True, term.calm)
        if kind == "bool":
            return Term(f"{random.choice(['bool_and', 'bool_or', 'every'])}({self._maker.condition(1)})", "bool")
        if kind == "text":
            texts = [term for term in terms if term.family in ("text", "varchar")]
            if texts:
                term = random.choice(texts)
                distinct = random.choice(["", "DISTINCT "])
                direction = random.choice(["", " DESC"])
                separator = random.choice(["','", "''", "' - '"])
                return Term(f"string_agg({distinct}{term.text}, {separator} ORDER BY {term.text}{direction})", "text")
        if kind == "array":
            kept = [term for term in keyable if term.family in ("int4", "text", "date", "bool")]
            if kept:
                term = random.choice(kept)
                order = random.choice(["", " DESC", " NULLS FIRST"])
                return Term(f"array_agg({term.text} ORDER BY {term.text}{order})", f"{term.family}[]")
        if kind == "statistic":
            whole = [term for term in numbers if term.family in INTEGERS]
            if whole:
                name = random.choice(["var_pop", "stddev_samp", "variance", "stddev_pop", "bit_and", "bit_or"])
                term = random.choice(whole)
                family = term.family if name.startswith("bit") else "numeric"
                return Term(f"{name}({term.text})", family, fixed=family != "numeric")
        if kind == "choice":
            kept = [term for term in terms if term.family in EXTREMES and term.fixed]
            if kept:
                term, key = random.choice(kept), random.choice(kept)
                name, direction = random.choice(["first", "last"]), random.choice(["", " DESC", " NULLS FIRST"])
                text = f"{name}({term.text} ORDER BY {key.text}{direction}, {term.text})"
                return Term(text, term.family, True, term.calm)
        if kind == "mode":
            kept = [term for term in keyable if term.family in ("int4", "text", "date")]
            if kept:
                chosen = random.choice(kept)
                share = random.choice(["0", "0.5", "0.9", "1"])
                text = f"percentile_disc({share}) WITHIN GROUP (ORDER BY {chosen.text})"
                return Term(text, chosen.family, chosen.fixed, chosen.calm)
        return None

    def _keys(self, scope: Scope, number: int) -> list[Term]:
        keys: list[Term] = []
        for _ in range(number * 3):
            term = self._random.choice(scope.terms) if self._random.random() < 0.8 else self._maker.any_term(1)
            plain = "SELECT" not in term.text and term.family not in FLOATS
            if len(keys) < number and is_keyable(term) and plain and term.text not in [key.text for key in keys]:
                keys.append(term)
        return keys

    def _sets(self, texts: Sequence[str]) -> str:
        random = self._random
        kind = random.choice(["rollup", "cube", "sets", "sets", "mixed"])
        self._counts[f"grouping {kind}"] += 1
        listed = ", ".join(texts)
        if kind in ("rollup", "cube"):
            return f"{kind.upper()} ({listed})"
        if kind == "mixed" and len(texts) > 1:
            return f"{texts[0]}, ROLLUP ({', '.join(texts[1:])})"
        chosen = [f"({text})" for text in texts] + [f"({listed})"]
        if random.random() < 0.6:
            chosen.append("()")
        return f"GROUPING SETS ({', '.join(chosen)})"

    def _having(self, aggregates: Sequence[Term]) -> str:
        chosen = self._random.choice(aggregates)
        if chosen.family in ("int8", "numeric"):
            return f"{chosen.text} > {self._random.randint(-3, 4)}"
        return self._random.choice(["count(*) > 1", f"{chosen.text} IS NOT NULL", "count(*) BETWEEN 1 AND 3"])
