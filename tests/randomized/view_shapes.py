"""Random continuous views of other shapes than one grouping: set operations, DISTINCT ON, grouping
sets, DISTINCT in aggregates, UNION ALL below a grouping, the stream used twice, rows that nothing
groups. Their expressions never fail for a row, and no answer depends on the order of rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random

from tests.randomized.expressions import FLOATS, INTEGERS, Term
from tests.randomized.table_expressions import TableExpressionMaker

KINDS = (
    *("set operation", "first rows", "grouping sets", "distinct aggregate", "union all", "twice", "subquery"),
    *("rows", "joined rows", "window over rows"),
)
SET_OPERATORS = ("UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL")


class ShapeMaker:
    """Draws views over what a FROM item yields. maker: of expressions over its columns that don't
    fail.
    """

    def __init__(self, random: Random, counts: Counter[str], source: str, maker: TableExpressionMaker) -> None:
        self._random = random
        self._counts = counts
        self._source = source
        self._maker = maker
        self._plain = [term for term in maker.terms if term.fixed and term.family not in FLOATS]

    def query(self) -> tuple[str, list[Term]] | None:
        """Return a query and its columns; None if the source has no column to group by."""
        if not self._plain:
            return None
        kind = self._random.choice(KINDS)
        self._counts[f"view shape {kind}"] += 1
        keys = self._random.sample(self._plain, self._random.randint(1, min(2, len(self._plain))))
        match kind:
            case "set operation":
                return self._set_operation(keys)
            case "first rows":
                return self._first_rows(keys)
            case "union all":
                return self._grouped(keys, self._side_by_side())
            case "twice":
                return self._twice(keys)
            case "subquery":
                return self._with_subquery(keys)
            case "rows":
                terms = [self._maker.any_term(1) for _ in range(self._random.randint(1, 4))]
                return self._select(terms), named("k", terms)
            case "joined rows":
                return self._joined_rows(keys)
            case "window over rows":
                return self._window_over_rows(keys)
        return self._grouped(keys, f"{self._source}{self._where()}", kind)

    def _where(self) -> str:
        return f" WHERE {self._maker.condition(1)}" if self._random.random() < 0.7 else ""

    def _select(self, terms: Sequence[Term]) -> str:
        items = [f"{term.text} AS {column.text}" for term, column in zip(terms, named("k", terms), strict=True)]
        return f"SELECT {', '.join(items)} FROM {self._source}{self._where()}"

    def _set_operation(self, keys: Sequence[Term]) -> tuple[str, list[Term]]:
        operator = self._random.choice(SET_OPERATORS)
        return f"{self._select(keys)} {operator} {self._select(keys)}", named("k", keys)

    def _first_rows(self, keys: Sequence[Term]) -> tuple[str, list[Term]]:
        order = [key.text for key in keys]
        rest = [term for term in self._plain if term not in keys]
        # All columns are in the order, so that rows which are equal in it are equal.
        self._random.shuffle(rest)
        order += [term.text + self._random.choice(["", " DESC", " NULLS FIRST", " DESC NULLS LAST"]) for term in rest]
        chosen = ", ".join(key.text for key in keys)
        query = self._select([*keys, *rest]).replace("SELECT", f"SELECT DISTINCT ON ({chosen})", 1)
        return f"{query} ORDER BY {', '.join(order)}", named("k", [*keys, *rest])

    def _side_by_side(self) -> str:
        """Return the FROM item of two selections of the source, under the names of its columns
        without points.
        """
        sides = [self._select(self._plain) for _ in range(self._random.choice([2, 2, 3]))]
        return f"({' UNION ALL '.join(sides)}) AS u"

    def _grouped(self, keys: Sequence[Term], source: str, kind: str = "union all") -> tuple[str, list[Term]]:
        terms = self._plain
        if kind == "union all":
            terms = named("k", self._plain)
            keys = [terms[self._plain.index(key)] for key in keys]
        aggregates = [Term("count(*)", "int8"), self._aggregate(terms, kind)]
        texts = [key.text for key in keys]
        group_by = ", ".join(texts)
        if kind == "grouping sets" or self._random.random() < 0.2:
            aggregates.append(Term(f"grouping({group_by})", "int4"))
            listed = ", ".join([*(f"({text})" for text in texts), "()"])
            sets = [f"ROLLUP ({group_by})", f"CUBE ({group_by})", f"GROUPING SETS ({listed})"]
            group_by = self._random.choice(sets)
        columns = [*named("g", keys), *named("a", aggregates)]
        items = [f"{term.text} AS {column.text}" for term, column in zip([*keys, *aggregates], columns, strict=True)]
        having = f" HAVING count(*) > {self._random.randint(0, 2)}" if self._random.random() < 0.3 else ""
        return f"SELECT {', '.join(items)} FROM {source} GROUP BY {group_by}{having}", columns

    def _aggregate(self, terms: Sequence[Term], kind: str) -> Term:
        distinct = "DISTINCT " if kind == "distinct aggregate" else ""
        term = self._random.choice(terms)
        condition = ""
        if kind != "union all" and self._random.random() < 0.3:
            condition = f" FILTER (WHERE {self._maker.condition(1)})"
        if term.family in INTEGERS:
            function = self._random.choice(["sum", "avg", "count"])
            family = "int8" if function == "count" or (function == "sum" and term.family != "int8") else "numeric"
            return Term(f"{function}({distinct}{term.text}){condition}", family, fixed=function != "avg")
        return Term(f"count({distinct}{term.text}){condition}", "int8")

    def _twice(self, keys: Sequence[Term]) -> tuple[str, list[Term]]:
        """Return two groupings of the source, joined."""
        (key, *_) = keys
        kind = self._random.choice(["JOIN", "LEFT JOIN", "FULL JOIN"])
        sides = [
            f"(SELECT {key.text} AS g, count(*) AS n FROM {self._source}{self._where()} GROUP BY {key.text}) AS {name}"
            for name in ("x", "y")
        ]
        text = f"SELECT x.g AS k0, x.n AS a0, y.n AS a1 FROM {sides[0]} {kind} {sides[1]} ON x.g = y.g"
        return text, [Term("k0", key.family), Term("a0", "int8"), Term("a1", "int8")]

    def _joined_rows(self, keys: Sequence[Term]) -> tuple[str, list[Term]]:
        """Return the rows of the source, joined with others of its rows."""
        kind = self._random.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
        others = self._random.sample(self._plain, self._random.randint(1, min(2, len(self._plain))))
        sides = [f"({self._select([keys[0], *terms])}) AS {name}" for terms, name in ((keys, "x"), (others, "y"))]
        columns = [*named("a", keys), *named("b", others)]
        items = [f"x.k{index + 1} AS a{index}" for index in range(len(keys))]
        items += [f"y.k{index + 1} AS b{index}" for index in range(len(others))]
        return f"SELECT {', '.join(items)} FROM {sides[0]} {kind} {sides[1]} ON x.k0 = y.k0", columns

    def _window_over_rows(self, keys: Sequence[Term]) -> tuple[str, list[Term]]:
        """Return rows of the source with how many there are like them, and which they are."""
        (key, *_) = keys
        order = self._random.choice(self._plain).text
        calls = [
            Term(f"count(*) OVER (PARTITION BY {key.text})", "int8"),
            Term(f"rank() OVER (ORDER BY {order})", "int8"),
        ]
        return self._select([*keys, *calls]), named("k", [*keys, *calls])

    def _with_subquery(self, keys: Sequence[Term]) -> tuple[str, list[Term]]:
        """Return a grouping of the source with a condition on another one."""
        (key, *_) = keys
        grouped = f"SELECT {key.text} AS k0, count(*) AS a0 FROM {self._source}{self._where()} GROUP BY {key.text}"
        where = self._where()
        test = self._random.choice(["IN", "NOT IN"])
        conditions = [
            f"a0 >= (SELECT count(*) / 2 FROM {self._source}{where})",
            f"k0 {test} (SELECT {key.text} FROM {self._source}{where})",
        ]
        return f"SELECT k0, a0 FROM ({grouped}) AS q WHERE {self._random.choice(conditions)}", [
            Term("k0", key.family),
            Term("a0", "int8"),
        ]


def named(letter: str, terms: Sequence[Term]) -> list[Term]:
    """Return terms as columns with names of their own."""
    return [Term(f"{letter}{index}", term.family, term.fixed, term.calm) for index, term in enumerate(terms)]
