"""Random continuous views that join tables: below the grouping, as a part of the stream pipeline,
and above it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from random import Random

from tests.randomized.expressions import FLOATS, Term, term_of
from tests.randomized.scopes import comparable, qualified
from tests.randomized.table_expressions import TableExpressionMaker
from tests.randomized.tables import Table
from tests.randomized.values import Column, literal
from tests.randomized.views import SOURCE, Source, ViewMaker


class KernelExpressionMaker(TableExpressionMaker):
    """Draws expressions of kernels alone: nothing else may read the columns of a joined table."""

    called_share = 0.0

    def _more(self, family: str, depth: int) -> Term | None:
        return None


class JoinedViewMaker(ViewMaker):
    """Draws views over one stream and tables. fixed: joined below the grouping, so that they can't
    change; changing: above it.
    """

    key_pattern = re.compile(r"\b([cdef]\d|key\b|id\b)")

    def __init__(
        self,
        random: Random,
        columns: Sequence[Column],
        counts: Counter[str],
        fixed: Sequence[Table],
        changing: Sequence[Table],
    ) -> None:
        super().__init__(random, columns, counts)
        self._fixed = fixed
        self._changing = changing

    def source(self) -> Source:
        """Return the stream joined with one or two tables, or as it is."""
        random = self.random
        if random.random() < 0.25:
            return super().source()
        text = SOURCE
        terms = [term_of(column) for column in self.columns]
        conditions = []
        for number in range(random.choice([1, 1, 1, 2])):
            table = random.choice(self._fixed)
            alias = f"j{number}"
            own = list(qualified(alias, table.source.columns))
            item = f"{table.name} AS {alias}"
            kind = random.choice(["JOIN", "JOIN", "JOIN", "LEFT JOIN", "derived", "theta", "where", "subquery"])
            self.counts[f"stream join {kind.lower()}"] += 1
            if kind == "derived":
                condition = TableExpressionMaker(random, table.source.columns, self.counts, risky=False).condition(1)
                item = f"(SELECT * FROM {table.name} WHERE {condition}) AS {alias}"
                kind = "JOIN"
            first, second = self._pair(terms, own)
            if kind == "subquery":
                conditions.append(self._subquery(table.name, alias, first, second, own))
                continue
            if kind == "theta":
                text = f"{text} JOIN {item} ON {first} {random.choice(['<', '>=', '<>'])} {second}"
            elif kind == "where":
                text = f"{text} CROSS JOIN {item}"
                conditions.append(f"{first} = {second}")
            else:
                text = f"{text} {kind} {item} ON {first} = {second}{self._more(terms, own, kind)}"
            terms += own
        risky = random.random() < 0.2
        maker = KernelExpressionMaker(random, terms, self.counts, risky, in_stream=True)
        if not conditions:
            return Source(text, maker)
        # What is in a WHERE clause joins too; the view's own condition is put after it.
        names = ", ".join(f"{term.text} AS d{index}" for index, term in enumerate(terms))
        derived = [Term(f"d{index}", term.family, term.fixed, term.calm) for index, term in enumerate(terms)]
        above = KernelExpressionMaker(random, derived, self.counts, risky=False, in_stream=True)
        return Source(f"(SELECT {names} FROM {text} WHERE {' AND '.join(conditions)}) AS d", above)

    def above(self, grouped: str, columns: list[Term]) -> tuple[str, list[Term]]:
        """Return the query with an upper part, which joins a table or reads one in a subquery."""
        random = self.random
        if random.random() < 0.5:
            return super().above(grouped, columns)
        table = random.choice(self._changing)
        own = list(qualified("j", table.source.columns))
        pairs = [
            (one, two)
            for one in columns
            for two in own
            if comparable(one, two) and one.fixed and two.fixed and one.family not in FLOATS
        ]
        if not pairs:
            return super().above(grouped, columns)
        one, two = random.choice(pairs)
        names = [f"q.{column.text}" for column in columns]
        if random.random() < 0.25:
            self.counts["upper subquery"] += 1
            test = random.choice(["IN", "NOT IN"])
            inner = f"SELECT {two.text} FROM {table.name} AS j"
            query = f"SELECT {', '.join(names)} FROM ({grouped}) AS q WHERE q.{one.text} {test} ({inner})"
            return query, columns
        kind = random.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
        self.counts[f"upper {kind.lower()}"] += 1
        chosen = random.sample(own, random.randint(1, min(2, len(own))))
        added = [Term(f"t{index}", term.family, term.fixed, term.calm) for index, term in enumerate(chosen)]
        items = [*names, *(f"{term.text} AS {column.text}" for term, column in zip(chosen, added, strict=True))]
        text = f"SELECT {', '.join(items)} FROM ({grouped}) AS q {kind} {table.name} AS j ON q.{one.text} = {two.text}"
        return text, [*columns, *added]

    def _subquery(self, table: str, alias: str, first: str, second: str, own: Sequence[Term]) -> str:
        """Return a condition that asks a table."""
        more = KernelExpressionMaker(self.random, own, self.counts, risky=False, in_stream=True).condition(1)
        chosen = self.random.choice(["exists", "in", "compared", "aggregated"])
        if first.startswith(f"{alias}."):
            chosen = "exists"
        self.counts[f"stream subquery {chosen}"] += 1
        negation = self.random.choice(["", "NOT "])
        comparison = self.random.choice(["<", ">="])
        match chosen:
            case "exists":
                condition = self.random.choice([more, f"{second} {comparison} {first}"])
                return f"{negation}EXISTS (SELECT FROM {table} AS {alias} WHERE {first} = {second} AND {condition})"
            case "in":
                return f"{first} {negation}IN (SELECT {second} FROM {table} AS {alias} WHERE {more})"
            case "compared":
                quantor = self.random.choice(["ANY", "ALL"])
                return f"{first} {comparison} {quantor} (SELECT {second} FROM {table} AS {alias} WHERE {more})"
        return f"(SELECT count(*) FROM {table} AS {alias} WHERE {first} = {second} AND {more}) {comparison} 2"

    def _pair(self, terms: Sequence[Term], own: Sequence[Term]) -> tuple[str, str]:
        pairs = [(one, two) for one in terms for two in own if comparable(one, two)]
        keys = [(one, two) for one, two in pairs if two.text.endswith(".key")]
        one, two = self.random.choice(keys if keys and self.random.random() < 0.7 else pairs or [(own[0], own[0])])
        return one.text, two.text

    def _more(self, terms: Sequence[Term], own: Sequence[Term], kind: str) -> str:
        """Return a further condition of an ON clause."""
        if self.random.random() < 0.75:
            return ""
        if kind == "LEFT JOIN" or self.random.random() < 0.5:
            maker = KernelExpressionMaker(self.random, own, self.counts, risky=False, in_stream=True)
            return f" AND {maker.condition(1)}"
        first, second = self._pair(terms, own)
        return f" AND {first} = {second}"


def joined_table(random: Random, name: str, letter: str, stream_columns: Sequence[Column]) -> tuple[Table, str]:
    """Return a table whose column "key" has values of a stream's column, and its CREATE TABLE."""
    origin = random.choice([column for column in stream_columns if column.family not in FLOATS] or stream_columns)
    key = Column("key", origin.family, origin.sql_type, origin.values, origin.extreme, scale=origin.scale)
    columns = [Column("id", "int4", "integer", ("1",), False, True), key]
    for index in range(random.randint(1, 2)):
        drawn = random.choice(stream_columns)
        if random.random() < 0.5 or drawn.family in FLOATS:
            column = Column(f"{letter}{index}", "text", "text", ("a", "b", "abc", "Zebra", None), False)
        else:
            column = Column(f"{letter}{index}", drawn.family, drawn.sql_type, drawn.values, drawn.extreme)
        columns.append(column)
    definitions = ["id integer PRIMARY KEY", *(column.definition for column in columns[1:])]
    table = Table(name, tuple(columns), ("id",), fresh=("id",))
    return table, f"CREATE TABLE {name} ({', '.join(definitions)})"


def filled(random: Random, table: Table) -> str:
    """Return the INSERT of a table's first rows."""
    rows = []
    for number in range(1, random.choice([3, 5, 9]) + 1):
        values = [literal(random.choice(column.values), column.family) for column in table.columns[1:]]
        rows.append(f"({number}, {', '.join(values)})")
    return f"INSERT INTO {table.name} VALUES {', '.join(rows)}"
