"""Random SELECTs over continuous views, as SQL text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from tests.randomized.expressions import FLOATS, INTEGERS, Term
from tests.randomized.table_expressions import TableExpressionMaker
from tests.randomized.values import random_value
from tests.randomized.views import View
from tests.randomized.windows import window_call

KINDS = (
    "project",
    "project",
    "order",
    "order expression",
    "group",
    "group",
    "group expression",
    "join",
    "join three",
    "window",
    "distinct",
    "derived",
    "with",
    "aggregate expression",
    "parameters",
    "parameters",
    "copy",
)
COPY_OPTIONS = (
    "",
    " WITH (FORMAT csv)",
    " WITH (FORMAT csv, HEADER)",
    " WITH (FORMAT csv, DELIMITER ';', NULL 'none', QUOTE '''')",
    " WITH (FORMAT csv, FORCE_QUOTE *)",
    " WITH (DELIMITER '|', NULL '')",
)


@dataclass(frozen=True)
class Select:
    """A random query over views; ordered: its rows have one defined order.

    parameters: (family, text) of each $n; they are sent as text or in binary, by a statement that
    is prepared once. views: what it reads.
    """

    text: str
    ordered: bool
    parameters: tuple[tuple[str, str | None], ...] = ()
    views: frozenset[str] = frozenset()


class SelectMaker:
    """Draws SELECTs over given views."""

    def __init__(self, random: Random, views: Sequence[View], counts: Counter[str]) -> None:
        self._random = random
        self._views = views
        self._counts = counts

    def select(self) -> Select:
        """Return one query."""
        kind = self._random.choice(KINDS)
        self._counts[f"select {kind}"] += 1
        select = self._draw(kind)
        names = frozenset(view.name for view in self._views if re.search(rf"\b{view.name}\b", select.text))
        return Select(select.text, select.ordered, select.parameters, names)

    def _draw(self, kind: str) -> Select:
        view = self._random.choice(self._views)
        maker = TableExpressionMaker(self._random, view.columns, self._counts, risky=self._random.random() < 0.15)
        where = f" WHERE {maker.condition()}" if self._random.random() < 0.5 else ""
        match kind:
            case "join":
                return self._join(view)
            case "join three":
                return self._join_three(view)
            case "group":
                return self._group(view, where)
            case "group expression":
                return self._group_expression(view, maker, where)
            case "aggregate expression":
                return self._aggregate_expression(view, where)
            case "window":
                return self._window(view, where)
            case "distinct":
                return self._distinct(view, where)
            case "derived" | "with":
                return self._derived(view, maker, where, kind)
            case "parameters":
                return self._parameters(view)
        items = ["*"] if self._random.random() < 0.3 else self._items(maker)
        text = f"SELECT {', '.join(items)} FROM {view.name}{where}"
        if kind == "project":
            return Select(text, ordered=False)
        if kind == "copy":
            return Select(f"COPY ({text}) TO STDOUT{self._random.choice(COPY_OPTIONS)}", ordered=False)
        return self._ordered(text, view, maker, kind)

    def _items(self, maker: TableExpressionMaker) -> list[str]:
        return [maker.any_term().text for _ in range(self._random.randint(1, 3))]

    def _ordered(self, text: str, view: View, maker: TableExpressionMaker, kind: str) -> Select:
        order = [column.text + self._random.choice(["", " DESC", " ASC NULLS FIRST"]) for column in view.columns]
        if kind == "order expression":
            term = maker.any_term(1)
            order.insert(0, f"({term.text}) IS NULL")
            order.insert(1, f"COALESCE({term.text}, {term.text}){self._random.choice(['', ' DESC', ' NULLS FIRST'])}")
        limit = self._random.choice(["", f" LIMIT {self._random.randint(0, 4)}", " LIMIT 3 OFFSET 1", " OFFSET 2"])
        return Select(f"{text} ORDER BY {', '.join(order)}{limit}", ordered=True)

    def _window(self, view: View, where: str) -> Select:
        calls = [window_call(self._random, view.columns, self._counts).text for _ in range(self._random.choice([1, 2]))]
        names = ", ".join(column.text for column in view.columns)
        return Select(f"SELECT {names}, {', '.join(calls)} FROM {view.name}{where}", ordered=False)

    def _distinct(self, view: View, where: str) -> Select:
        kept = [column.text for column in keys_of(view)]
        if not kept:
            return Select(f"SELECT count(*) FROM {view.name}{where}", ordered=False)
        chosen = ", ".join(self._random.sample(kept, self._random.randint(1, min(2, len(kept)))))
        if self._random.random() < 0.5:
            return Select(f"SELECT DISTINCT {chosen} FROM {view.name}{where} ORDER BY {chosen}", ordered=True)
        text = f"SELECT count(DISTINCT {self._random.choice(kept)}), count(*) FROM {view.name}{where}"
        return Select(text, ordered=False)

    def _derived(self, view: View, maker: TableExpressionMaker, where: str, kind: str) -> Select:
        terms = [maker.any_term() for _ in range(self._random.randint(1, 3))]
        items = ", ".join(f"{term.text} AS x{index}" for index, term in enumerate(terms))
        inner = f"SELECT {items} FROM {view.name}{where}"
        columns = [Term(f"x{index}", term.family, term.fixed) for index, term in enumerate(terms)]
        above = TableExpressionMaker(self._random, columns, self._counts, risky=False)
        condition = f" WHERE {above.condition(1)}" if self._random.random() < 0.5 else ""
        outer = f"SELECT {above.any_term(1).text} AS y, x0"
        if kind == "derived":
            return Select(f"{outer} FROM ({inner}) AS q{condition}", ordered=False)
        return Select(f"WITH q AS ({inner}) {outer} FROM q{condition}", ordered=False)

    def _group(self, view: View, where: str) -> Select:
        keys = keys_of(view)
        aggregates = self._aggregates(view)
        if not keys:
            return Select(f"SELECT {', '.join(aggregates)} FROM {view.name}{where}", ordered=False)
        key = self._random.choice(keys).text
        having = f" HAVING {self._random.choice(aggregates)} IS NOT NULL" if self._random.random() < 0.2 else ""
        text = f"SELECT {key}, {', '.join(aggregates)} FROM {view.name}{where} GROUP BY {key}{having}"
        return Select(text, ordered=False)

    def _aggregates(self, view: View) -> list[str]:
        measured = [column for column in view.columns if column.family in (*INTEGERS, "numeric")]
        aggregates = ["count(*)"]
        if measured:
            column = self._random.choice(measured)
            aggregates += [f"sum({column.text})", f"avg({column.text})"]
        compared = [column for column in view.columns if column.fixed and column.family != "bool"]
        if compared:
            column = self._random.choice(compared)
            aggregates += [f"{self._random.choice(['min', 'max'])}({column.text})"]
        return aggregates

    def _group_expression(self, view: View, maker: TableExpressionMaker, where: str) -> Select:
        key = maker.any_term(1)
        if key.family in FLOATS or not key.fixed or not re.search(r"\b[kagnwtm]", key.text):
            return self._group(view, where)
        having = self._random.choice(["", " HAVING count(*) > 1", " HAVING avg(1) > 0.5"])
        text = f"SELECT {key.text} AS g, {', '.join(self._aggregates(view))} FROM {view.name}{where} GROUP BY 1{having}"
        return Select(text, ordered=False)

    def _aggregate_expression(self, view: View, where: str) -> Select:
        keys = [Term(column.text, column.family) for column in keys_of(view)][:1]
        aggregates = [Term(text, "int8" if text.startswith("count") else "numeric") for text in self._aggregates(view)]
        above = TableExpressionMaker(self._random, [*keys, aggregates[0]], self._counts, risky=False)
        items = [above.any_term().text, f"CASE WHEN count(*) > 1 THEN {aggregates[-1].text} END"]
        group = f" GROUP BY {keys[0].text}" if keys else ""
        return Select(f"SELECT {', '.join(items)} FROM {view.name}{where}{group}", ordered=False)

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

    def _join_three(self, first: View) -> Select:
        second, third = (self._random.choice(self._views) for _ in range(2))
        pair = self._pair(first, second)
        other = self._pair(second, third)
        if pair is None or other is None:
            return self._join(first)
        kind = self._random.choice(["JOIN", "LEFT JOIN"])
        text = (
            f"SELECT a.*, c.* FROM {first.name} AS a {kind} {second.name} AS b ON a.{pair[0]} = b.{pair[1]} "
            f"{kind} {third.name} AS c ON b.{other[0]} = c.{other[1]} AND c.{other[1]} IS NOT NULL"
        )
        return Select(text, ordered=False)

    def _pair(self, left: View, right: View) -> tuple[str, str] | None:
        """Return two columns of comparable types, also of different widths."""
        numbers = (*INTEGERS, "numeric")
        pairs = [
            (first.text, second.text)
            for first in left.columns
            for second in right.columns
            if first.family == second.family or (first.family in numbers and second.family in numbers)
        ]
        return self._random.choice(pairs) if pairs else None

    def _parameters(self, view: View) -> Select:
        """Return a query with one or two parameters beside columns, which give them their types."""
        parameters: list[tuple[str, str | None]] = []
        conditions = []
        for _ in range(self._random.randint(1, 2)):
            column = self._random.choice(view.columns)
            family = column.family
            value = None if self._random.random() < 0.1 else random_value(self._random, family, "", 2)
            parameters.append((family, value))
            mark = f"${len(parameters)}"
            form = self._random.choice(["{0} >= {1}", "{0} <= {1}", "{0} IN ({1}, {1})", "COALESCE({0}, {1}) <> {1}"])
            if self._random.random() < 0.2:
                form = "{0} IS NOT DISTINCT FROM {1}"
            conditions.append(form.format(column.text, mark))
        items = ["*"]
        if self._random.random() < 0.4:
            parameters.append(("int4", str(self._random.randint(-3, 3))))
            items.append(f"${len(parameters)}::integer + 1 AS p")
        limit = ""
        if self._random.random() < 0.2:
            parameters.append(("int8", "1000"))
            limit = f" LIMIT ${len(parameters)}"
        text = f"SELECT {', '.join(items)} FROM {view.name} WHERE {self._random.choice([' AND ', ' OR ']).join(conditions)}"
        return Select(text + limit, ordered=False, parameters=tuple(parameters))


def keys_of(view: View) -> list[Term]:
    """Return the columns of a view that may be keys of a grouping with one defined text."""
    return [column for column in view.columns if column.fixed and column.family not in FLOATS]
