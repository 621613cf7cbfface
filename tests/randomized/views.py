"""Random continuous views over one stream, as SQL text.

A view is drawn with the check that tells, in PostgreSQL, whether a row expression of it fails for
some row: Antumbra refuses such rows when they are inserted, or skips them if the view says so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from tests.randomized.expressions import FLOATS, INTEGERS, Term
from tests.randomized.table_expressions import TableExpressionMaker
from tests.randomized.values import Column
from tests.randomized.view_shapes import ShapeMaker
from tests.randomized.windows import window_call

SUMMABLE = ("int2", "int4", "int8", "numeric", "float8", "float4")
RESULT_OF_SUM = {
    "int2": "int8",
    "int4": "int8",
    "int8": "numeric",
    "numeric": "numeric",
    "float8": "float8",
    "float4": "float4",
}
AGGREGATES = ("count(*)", "count", "sum", "sum", "avg", "min", "max", "bool_and", "bool_or", "first", "last")
CHOICES = ("first", "last")
DIRECTIONS = ("", " DESC", " NULLS FIRST")
SHAPES_SHARE = 0.3
SOURCE = "\1"  # stands for the FROM item of the stream in a query's text


@dataclass(frozen=True)
class View:
    """A random view. columns: what its SELECT yields; check: a query that fails when a row
    expression does; both over SOURCE.

    skips: rows for which the check fails are not counted, where they are refused otherwise.
    """

    name: str
    query: str
    columns: tuple[Term, ...]
    check: str
    skips: bool = False


@dataclass(frozen=True)
class Source:
    """Source that a view selects from: the stream, or a query over it. prefix: a WITH clause."""

    text: str
    maker: TableExpressionMaker
    prefix: str = ""


class ViewMaker:
    """Draws views over one stream. key_pattern: what a group's key contains, since a constant is
    none.
    """

    key_pattern = re.compile(r"\b[cd]\d")

    def __init__(self, random: Random, columns: Sequence[Column], counts: Counter[str]) -> None:
        self.random = random
        self.columns = columns
        self.counts = counts
        self._maker = TableExpressionMaker(random, columns, counts, risky=False, in_stream=True)

    def view(self, name: str) -> View:
        """Return a view called `name`."""
        random = self.random
        source = self.source()
        if random.random() < SHAPES_SHARE:
            source.maker.risky = False
            shaped = ShapeMaker(random, self.counts, source.text, source.maker).query()
            if shaped is not None:
                query, columns = shaped
                return View(name, source.prefix + query, tuple(columns), f"{source.prefix}SELECT 1 FROM {source.text}")
        self._maker = source.maker
        where = f" WHERE ({source.maker.condition()})" if random.random() < 0.5 else ""
        kept = where
        if random.random() < 0.08:
            query, columns, checks = self._distinct()
            grouped = f"{query} FROM {source.text}{where}"
        else:
            query, columns, checks, tail, condition = self._grouping()
            grouped = f"{query} FROM {source.text}{where}{tail}"
            if condition:
                kept = f"{where} AND ({condition})" if where else f" WHERE {condition}"
        check = f"{source.prefix}SELECT {', '.join(counted(text) for text in checks) or '1'} FROM {source.text}{kept}"
        query, columns = self.above(grouped, columns)
        skips = random.random() < 0.15
        if skips:
            self.counts["on_error skip"] += 1
        return View(name, source.prefix + query, tuple(columns), check, skips)

    def source(self) -> Source:
        """Return the stream, a derived table over it or a common table."""
        random = self.random
        risky = random.random() < 0.3
        maker = TableExpressionMaker(random, self.columns, self.counts, risky, in_stream=True)
        kind = random.choice(["stream"] * 6 + ["derived", "with"])
        if kind == "stream":
            return Source(SOURCE, maker)
        self.counts[f"source {kind}"] += 1
        maker.risky = False
        terms = [maker.any_term(1) for _ in range(random.randint(1, 3))]
        items = [f"{term.text} AS d{index}" for index, term in enumerate(terms)]
        where = f" WHERE {maker.condition(1)}" if random.random() < 0.5 else ""
        names = [column.name for column in self.columns]
        inner = f"SELECT {', '.join([*names, *items])} FROM {SOURCE}{where}"
        derived = [Term(f"d{index}", term.family, term.fixed) for index, term in enumerate(terms)]
        above = TableExpressionMaker(random, [*self.columns, *derived], self.counts, risky=False, in_stream=True)
        if kind == "derived":
            return Source(f"({inner}) AS d", above)
        return Source("d", above, f"WITH d AS ({inner}) ")

    def _distinct(self) -> tuple[str, list[Term], list[str]]:
        self.counts["distinct"] += 1
        keys = [self._key() for _ in range(self.random.randint(1, 3))]
        columns = [Term(f"k{index}", key.family, key.fixed) for index, key in enumerate(keys)]
        items = [f"{key.text} AS {column.text}" for key, column in zip(keys, columns, strict=True)]
        return f"SELECT DISTINCT {', '.join(items)}", columns, [key.text for key in keys]

    def _grouping(self) -> tuple[str, list[Term], list[str], str, str]:
        """Return the SELECT list, its columns, what to check, GROUP BY with HAVING, and the
        condition of a HAVING over keys alone.

        Both servers put such a condition before the grouping, so that rows which it leaves out
        can't fail.
        """
        random = self.random
        keys = [self._key() for _ in range(random.choice([0, 1, 1, 1, 2, 2, 3]))]
        checks = [key.text for key in keys]
        aggregates = [self._aggregate(checks) for _ in range(random.randint(1, 4))]
        if random.random() < 0.25:
            aggregates += self._expressions_above(keys, aggregates)
        columns = [Term(f"k{index}", key.family, key.fixed) for index, key in enumerate(keys)]
        columns += [Term(f"a{index}", term.family, term.fixed) for index, term in enumerate(aggregates)]
        items = [f"{term.text} AS {column.text}" for term, column in zip([*keys, *aggregates], columns, strict=True)]
        having = self._having(keys, aggregates) if random.random() < 0.25 else ""
        text = having.removeprefix(" HAVING ")
        condition = "" if not keys or "count(*)" in text or any(term.text in text for term in aggregates) else text
        return f"SELECT {', '.join(items)}", columns, checks, self._group_by(keys) + having, condition

    def _expressions_above(self, keys: Sequence[Term], aggregates: Sequence[Term]) -> list[Term]:
        """Return expressions over keys and aggregates."""
        self.counts["expression above"] += 1
        above = TableExpressionMaker(self.random, [*keys, *aggregates], self.counts, risky=False)
        return [above.any_term() for _ in range(self.random.randint(1, 2))]

    def _key(self) -> Term:
        self.counts["group key"] += 1
        for _ in range(20):
            term = self._maker.any_term(2 if self.random.random() < 0.4 else 0)
            # PostgreSQL refuses a constant as a group's key, or takes it for an ordinal.
            if term.fixed and term.family not in FLOATS and self.key_pattern.search(term.text):
                return term
        return Term("(1 + 1)", "int4")

    def _group_by(self, keys: Sequence[Term]) -> str:
        if not keys:
            self.counts["no group key"] += 1
            return ""
        if self.random.random() < 0.3:
            self.counts["group by ordinal"] += 1
            return f" GROUP BY {', '.join(str(index + 1) for index in range(len(keys)))}"
        return f" GROUP BY {', '.join(key.text for key in keys)}"

    def _aggregate(self, checks: list[str]) -> Term:
        random = self.random
        function = random.choice(AGGREGATES)
        self.counts[f"aggregate {function}"] += 1
        condition = self._maker.condition(1) if random.random() < 0.25 else ""
        suffix = f" FILTER (WHERE {condition})" if condition else ""
        if condition:
            self.counts["aggregate filter"] += 1
        if function == "count(*)":
            checks.append(f"1\0{condition}")
            return Term(f"count(*){suffix}", "int8")
        argument = self._argument(function)
        checks.append(f"{argument.text}\0{condition}")
        order = ""
        if function in CHOICES:
            key = self._argument("min")
            checks.append(f"{key.text}\0{condition}")
            order = f" ORDER BY {key.text}{random.choice(DIRECTIONS)}, {argument.text}{random.choice(DIRECTIONS)}"
        text = f"{function}({argument.text}{order}){suffix}"
        if function == "count":
            return Term(text, "int8")
        if function == "sum":
            return Term(text, RESULT_OF_SUM[argument.family], argument.fixed)
        if function == "avg":
            return Term(text, "float8" if argument.family in FLOATS else "numeric", fixed=False)
        family = "text" if argument.family == "varchar" else argument.family
        return Term(text, family, argument.fixed)

    def _argument(self, function: str) -> Term:
        if function in ("bool_and", "bool_or"):
            return self._maker.term("bool", 1)
        for _ in range(50):
            if self.random.random() < 0.6:
                term = self.random.choice(self._maker.terms)
            else:
                term = self._maker.any_term(2)
            if function == "count":
                return term
            if function in ("sum", "avg") and term.family in SUMMABLE:
                # A float sum depends on the order of rows unless all partial sums are exact:
                # columns of quarters only.
                if term.family not in FLOATS or (self._maker.is_calm(term) and term.text.startswith("c")):
                    return term
            # PostgreSQL has no arrays of arrays, which first and last are made of there.
            extreme = function in ("min", "max") or (function in CHOICES and not term.family.endswith("[]"))
            if extreme and term.family != "bool" and term.fixed:
                return term
        return Term("1", "int4")

    def _having(self, keys: Sequence[Term], aggregates: Sequence[Term]) -> str:
        self.counts["having"] += 1
        chosen = self.random.choice(aggregates)
        if self.random.random() < 0.3:
            above = TableExpressionMaker(self.random, [*keys, *aggregates], self.counts, risky=False)
            return f" HAVING {above.condition(1)}"
        if chosen.family in ("int8", "numeric"):
            return f" HAVING {chosen.text} > {self.random.randint(-3, 6)}"
        return f" HAVING count(*) > {self.random.randint(0, 3)}"

    def above(self, grouped: str, columns: list[Term]) -> tuple[str, list[Term]]:
        """Return the query with an upper part: a second grouping, ORDER BY with LIMIT, windows, or
        nothing.
        """
        kinds = ["none"] * 5 + ["second grouping", "limit", "window", "window", "filter", "distinct"]
        kind = self.random.choice(kinds)
        self.counts[f"upper {kind}"] += 1
        if kind == "none":
            return grouped, columns
        if kind == "limit":
            return self._limited(grouped, columns), columns
        if kind == "second grouping":
            return self._second_grouping(grouped, columns)
        names = ", ".join(column.text for column in columns)
        if kind == "window":
            calls = [window_call(self.random, columns, self.counts) for _ in range(self.random.choice([1, 1, 2]))]
            added = [Term(f"w{index}", call.family, call.fixed) for index, call in enumerate(calls)]
            items = [f"{call.text} AS w{index}" for index, call in enumerate(calls)]
            return f"SELECT {names}, {', '.join(items)} FROM ({grouped}) AS q", [*columns, *added]
        above = TableExpressionMaker(self.random, columns, self.counts, risky=False)
        if kind == "filter":
            return f"SELECT {names} FROM ({grouped}) AS q WHERE {above.condition()}", columns
        fixed = [column for column in columns if column.fixed and column.family not in FLOATS]
        if not fixed:
            return grouped, columns
        kept = self.random.sample(fixed, self.random.randint(1, min(2, len(fixed))))
        return f"SELECT DISTINCT {', '.join(column.text for column in kept)} FROM ({grouped}) AS q", kept

    def _limited(self, grouped: str, columns: Sequence[Term]) -> str:
        random = self.random
        items = [str(index + 1) + random.choice(["", " DESC", " NULLS FIRST"]) for index in range(len(columns))]
        limit = f"LIMIT {random.randint(1, 5)}" + random.choice(["", "", " OFFSET 1"])
        if random.random() < 0.3:
            above = TableExpressionMaker(random, columns, self.counts, risky=False)
            term = above.any_term(1)
            self.counts["order by expression"] += 1
            names = ", ".join(column.text for column in columns)
            first = f"{term.text}{random.choice(['', ' DESC'])}"
            # A bare constant would be an ordinal.
            if re.search(r"\b[ka]\d", term.text):
                return f"SELECT {names} FROM ({grouped}) AS q ORDER BY {', '.join([first, *items])} {limit}"
        return f"{grouped} ORDER BY {', '.join(items)} {limit}"

    def _second_grouping(self, grouped: str, columns: list[Term]) -> tuple[str, list[Term]]:
        random = self.random
        above = TableExpressionMaker(random, columns, self.counts, risky=False)
        key = random.choice(columns)
        if random.random() < 0.4:
            self.counts["second grouping over an expression"] += 1
            key = above.any_term(1)
        for _ in range(10):
            if key.family not in FLOATS and key.fixed and re.search(r"\b[ka]\d", key.text):
                break
            key = random.choice(columns)
        else:
            key = Term("", "")
        measured = [column for column in columns if column.family in (*INTEGERS, "numeric") and column.fixed]
        aggregates, results = ["count(*) AS n"], [Term("n", "int8")]
        if measured:
            chosen = random.choice(measured)
            aggregates += [f"sum({chosen.text}) AS total", f"max({chosen.text}) AS top", f"avg({chosen.text}) AS mean"]
            results += [Term("total", RESULT_OF_SUM[chosen.family]), Term("top", chosen.family)]
            results += [Term("mean", "numeric", fixed=False)]
        if not key.text:
            return f"SELECT {', '.join(aggregates)} FROM ({grouped}) AS q", results
        having = f" HAVING count(*) > {random.randint(0, 1)}" if random.random() < 0.3 else ""
        group = f"SELECT {key.text} AS g, {', '.join(aggregates)} FROM ({grouped}) AS q GROUP BY {key.text}{having}"
        return group, [Term("g", key.family), *results]


def counted(text: str) -> str:
    """Return an aggregate that evaluates `argument NUL condition`."""
    argument, _, condition = text.partition("\0")
    return f"count({argument})" + (f" FILTER (WHERE {condition})" if condition else "")
