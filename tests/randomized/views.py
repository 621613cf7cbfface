"""Random continuous views and the SELECTs over them, as SQL text.

A view is drawn with the check that tells, in PostgreSQL, whether a row expression of it fails for some row: Antumbra refuses such rows when
they are inserted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from tests.randomized.expressions import ExpressionMaker, Term
from tests.randomized.values import Column

SUMMABLE = ("int2", "int4", "int8", "numeric", "float8", "float4")
RESULT_OF_SUM = {
    "int2": "int8",
    "int4": "int8",
    "int8": "numeric",
    "numeric": "numeric",
    "float8": "float8",
    "float4": "float4",
}


@dataclass(frozen=True)
class View:
    """A random view. columns: what its SELECT yields; check: a query that fails when a row expression does."""

    name: str
    query: str
    columns: tuple[Term, ...]
    check: str


@dataclass(frozen=True)
class Select:
    """A random query over views; ordered: its rows have one defined order."""

    text: str
    ordered: bool


class ViewMaker:
    """Draws views over one stream."""

    def __init__(self, random: Random, stream: str, columns: Sequence[Column], counts: Counter[str]) -> None:
        self._random = random
        self._stream = stream
        self._counts = counts
        self._maker = ExpressionMaker(random, columns, counts, risky=random.random() < 0.2)

    def view(self, name: str) -> View:
        """Return a view called `name`."""
        random = self._random
        where = f" WHERE {self._maker.condition()}" if random.random() < 0.5 else ""
        keys = [self._key() for _ in range(random.choice([0, 1, 1, 1, 2, 2, 3]))]
        key_columns = [Term(f"k{index}", key.family, key.fixed) for index, key in enumerate(keys)]
        checks = [key.text for key in keys]
        aggregates = [self._aggregate(checks) for _ in range(random.randint(1, 4))]
        aggregate_columns = [Term(f"a{index}", term.family, term.fixed) for index, term in enumerate(aggregates)]
        columns = [*key_columns, *aggregate_columns]
        items = [f"{term.text} AS {column.text}" for term, column in zip([*keys, *aggregates], columns, strict=True)]
        group = self._group_by(keys)
        having = self._having(aggregates) if random.random() < 0.25 else ""
        grouped = f"SELECT {', '.join(items)} FROM {self._stream}{where}{group}{having}"
        counted = [self._counted(text) for text in checks]
        check = f"SELECT {', '.join(counted) or '1'} FROM {self._stream}{where}"
        query, columns = self._above(grouped, columns)
        return View(name, query, tuple(columns), check)

    def _key(self) -> Term:
        self._counts["group key"] += 1
        for _ in range(20):
            term = self._maker.any_term(2 if self._random.random() < 0.4 else 0)
            # PostgreSQL refuses a constant as a group's key, or takes it for an ordinal.
            if term.fixed and term.family not in ("float8", "float4") and re.search(r"\bc\d", term.text):
                return term
        return Term("(1 + 1)", "int4")

    def _group_by(self, keys: Sequence[Term]) -> str:
        if not keys:
            self._counts["no group key"] += 1
            return ""
        if self._random.random() < 0.3:
            self._counts["group by ordinal"] += 1
            return f" GROUP BY {', '.join(str(index + 1) for index in range(len(keys)))}"
        return f" GROUP BY {', '.join(key.text for key in keys)}"

    def _counted(self, text: str) -> str:
        argument, _, condition = text.partition("\0")
        return f"count({argument})" + (f" FILTER (WHERE {condition})" if condition else "")

    def _aggregate(self, checks: list[str]) -> Term:
        random = self._random
        function = random.choice(["count(*)", "count", "sum", "sum", "avg", "min", "max"])
        self._counts[f"aggregate {function}"] += 1
        condition = self._maker.condition(1) if random.random() < 0.25 else ""
        suffix = f" FILTER (WHERE {condition})" if condition else ""
        if condition:
            self._counts["aggregate filter"] += 1
        if function == "count(*)":
            checks.append(f"1\0{condition}")
            return Term(f"count(*){suffix}", "int8")
        argument = self._argument(function)
        checks.append(f"{argument.text}\0{condition}")
        text = f"{function}({argument.text}){suffix}"
        if function == "count":
            return Term(text, "int8")
        if function == "sum":
            return Term(text, RESULT_OF_SUM[argument.family], argument.fixed)
        if function == "avg":
            return Term(text, "float8" if argument.family in ("float8", "float4") else "numeric", fixed=False)
        family = "text" if argument.family == "varchar" else argument.family
        return Term(text, family, argument.fixed)

    def _argument(self, function: str) -> Term:
        for _ in range(50):
            if self._random.random() < 0.6:
                term = self._random.choice(self._maker.terms)
            else:
                term = self._maker.any_term(2)
            if function == "count":
                return term
            if function in ("sum", "avg") and term.family in SUMMABLE:
                # A float sum depends on the order of rows unless all partial sums are exact: columns of quarters only.
                if term.family not in ("float8", "float4") or (term.text in self._maker._calm):
                    return term
            if function in ("min", "max") and term.family != "bool" and term.fixed:
                return term
        return Term("1", "int4")

    def _having(self, aggregates: Sequence[Term]) -> str:
        self._counts["having"] += 1
        chosen = self._random.choice(aggregates)
        if chosen.family in ("int8", "numeric"):
            return f" HAVING {chosen.text} > {self._random.randint(-3, 6)}"
        return f" HAVING count(*) > {self._random.randint(0, 3)}"

    def _above(self, grouped: str, columns: list[Term]) -> tuple[str, list[Term]]:
        """Return the query with an upper part: a second grouping, ORDER BY with LIMIT, a window, or nothing."""
        random = self._random
        kind = random.choice(["none", "none", "none", "second grouping", "limit", "window"])
        self._counts[f"upper {kind}"] += 1
        if kind == "none":
            return grouped, columns
        if kind == "limit":
            order = ", ".join(
                str(index + 1) + random.choice(["", " DESC", " NULLS FIRST"]) for index in range(len(columns))
            )
            return f"{grouped} ORDER BY {order} LIMIT {random.randint(1, 5)}", columns
        names = ", ".join(column.text for column in columns)
        if kind == "window":
            function = random.choice(["rank()", "dense_rank()", "row_number()", "count(*)"])
            order = ", ".join(column.text for column in columns)
            text = f"SELECT {names}, {function} OVER (ORDER BY {order}) AS w FROM ({grouped}) AS q"
            return text, [*columns, Term("w", "int8")]
        key = random.choice(columns)
        while key.family in ("float8", "float4") or not key.fixed:
            key = random.choice([*columns, Term("1", "int4")])
            if key.text == "1":
                break
        measured = [column for column in columns if column.family in ("int4", "int8", "numeric") and column.fixed]
        aggregates, results = ["count(*) AS n"], [Term("n", "int8")]
        if measured:
            chosen = random.choice(measured)
            aggregates += [f"sum({chosen.text}) AS total", f"max({chosen.text}) AS top", f"avg({chosen.text}) AS mean"]
            results += [Term("total", "int8" if chosen.family == "int4" else "numeric"), Term("top", chosen.family)]
            results += [Term("mean", "numeric", fixed=False)]
        if key.text == "1":
            return f"SELECT {', '.join(aggregates)} FROM ({grouped}) AS q", results
        group = f"SELECT {key.text} AS g, {', '.join(aggregates)} FROM ({grouped}) AS q GROUP BY {key.text}"
        return group, [Term("g", key.family), *results]


class SelectMaker:
    """Draws SELECTs over given views."""

    def __init__(self, random: Random, views: Sequence[View], counts: Counter[str]) -> None:
        self._random = random
        self._views = views
        self._counts = counts

    def select(self) -> Select:
        """Return one query."""
        kind = self._random.choice(["project", "project", "order", "group", "join"])
        self._counts[f"select {kind}"] += 1
        view = self._random.choice(self._views)
        maker = ExpressionMaker(self._random, view.columns, self._counts, risky=self._random.random() < 0.15)
        where = f" WHERE {maker.condition()}" if self._random.random() < 0.5 else ""
        if kind == "join":
            return self._join(view)
        if kind == "group":
            return self._group(view, where)
        items = (
            ["*"] if self._random.random() < 0.3 else [maker.any_term().text for _ in range(self._random.randint(1, 3))]
        )
        text = f"SELECT {', '.join(items)} FROM {view.name}{where}"
        if kind == "project":
            return Select(text, ordered=False)
        order = ", ".join(
            column.text + self._random.choice(["", " DESC", " ASC NULLS FIRST"]) for column in view.columns
        )
        limit = self._random.choice(["", f" LIMIT {self._random.randint(0, 4)}", " LIMIT 3 OFFSET 1"])
        return Select(f"{text} ORDER BY {order}{limit}", ordered=True)

    def _group(self, view: View, where: str) -> Select:
        keys = [column for column in view.columns if column.fixed and column.family not in ("float8", "float4")]
        measured = [column for column in view.columns if column.family in ("int4", "int8", "numeric")]
        aggregates = ["count(*)"]
        if measured:
            column = self._random.choice(measured)
            aggregates += [f"sum({column.text})", f"avg({column.text})"]
        if not keys:
            return Select(f"SELECT {', '.join(aggregates)} FROM {view.name}{where}", ordered=False)
        key = self._random.choice(keys).text
        return Select(f"SELECT {key}, {', '.join(aggregates)} FROM {view.name}{where} GROUP BY {key}", ordered=False)

    def _join(self, left: View) -> Select:
        right = self._random.choice(self._views)
        pairs = [
            (first.text, second.text)
            for first in left.columns
            for second in right.columns
            if first.family == second.family
        ]
        if not pairs:
            return Select(f"SELECT count(*) FROM {left.name} AS l CROSS JOIN {right.name} AS r", ordered=False)
        first_name, second_name = self._random.choice(pairs)
        kind = self._random.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
        text = f"SELECT l.*, r.* FROM {left.name} AS l {kind} {right.name} AS r ON l.{first_name} = r.{second_name}"
        return Select(text, ordered=False)
