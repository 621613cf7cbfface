"""Random continuous views over two streams and two tables: every shape that the README of views
names, as SQL text.

A name in braces stands for a relation: {p} and {q} the streams, {a} and {b} the tables, {m0} and so
on the rows that a view's source yields, and {tie} is what makes PostgreSQL keep the row that
arrived first. No expression fails for a row, no answer depends on the order of rows, and what has
no total order has no LIMIT.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from tests.randomized.expressions import INTEGERS, Term

STREAM_COLUMNS = "k integer, v integer, t text, d numeric(10, 2)"
TABLE_COLUMNS = {"a": "id integer PRIMARY KEY, name text, g integer", "b": "k integer, x integer"}
STREAMS = ("p", "q")
ROWS = (Term("k", "int4"), Term("v", "int4"), Term("t", "text"), Term("d", "numeric"))
TABLE_ROWS = {"a": (Term("name", "text"), Term("g", "int4")), "b": (Term("x", "int4"),)}
ON = {"a": "a.id = s.k", "b": "b.k = s.k"}
# Joins whose table is in the stream pipeline for sure, so that it can't change under a frozen view.
PROBES = ("join", "left", "comma")
JOINS = (*PROBES, "join", "left more", "theta", "cross", "in", "not in", "exists", "not exists", "scalar", "correlated")
SHAPES = (
    *(
        "group",
        "group",
        "group",
        "sets",
        "distinct",
        "first rows",
        "set operation",
        "union all",
        "groups joined",
        "groups joined",
    ),
    *("twice", "subquery", "table above", "window", "limit", "second grouping", "streams joined", "streams joined"),
    *("table kept", "over views", "over views"),
)
SET_OPERATORS = ("UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL")


@dataclass
class Shape:
    """A query over the relations. sources: the queries after {m0} ..., each over one stream;
    below: the tables that they join.

    frozen: those among them that are certainly in a stream pipeline. views: other views that it
    reads.
    """

    text: str = ""
    columns: list[Term] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    below: set[str] = field(default_factory=set)
    frozen: set[str] = field(default_factory=set)
    views: set[str] = field(default_factory=set)
    kind: str = ""


class LifeShapeMaker:
    """Draws shapes. others: views with their columns that a new one may read; ties: equal rows may
    be ordered by their arrival.
    """

    def __init__(self, random: Random, counts: Counter[str], ties: bool) -> None:
        self._random = random
        self._counts = counts
        self._ties = ties
        self._others: Sequence[tuple[str, Sequence[Term]]] = ()
        self._shape = Shape()

    def shape(self, others: Sequence[tuple[str, Sequence[Term]]]) -> Shape:
        """Return a random query."""
        self._others = others
        self._shape = Shape()
        kind = self._random.choice(SHAPES)
        if kind == "over views" and not others:
            kind = "group"
        self._counts[f"life shape {kind}"] += 1
        made = getattr(self, f"_{kind.replace(' ', '_')}")
        self._shape.text, self._shape.columns = made()
        self._shape.kind = kind
        if kind != "group":
            self._shape.frozen = set()
        return self._shape

    def condition(self, terms: Sequence[Term]) -> str:
        """Return a condition over some columns that no row fails."""
        random = self._random
        term = random.choice(terms)
        if term.family == "text":
            tests = ["= 'a'", "<> 'b'", "LIKE 'a%'", "IS NULL", "IS NOT NULL", "IN ('a', 'abc')"]
            return f"{term.text} {random.choice(tests)}"
        number = random.randint(-2, 9)
        tests = [
            f"> {number}",
            f"<= {number}",
            f"<> {number}",
            "IS NOT NULL",
            f"IN ({number}, 1, 2)",
            f"BETWEEN 0 AND {number}",
        ]
        return f"{term.text} {random.choice(tests)}"

    def _where(self, terms: Sequence[Term], conditions: Sequence[str] = ()) -> str:
        drawn = [self.condition(terms)] if self._random.random() < 0.35 else []
        kept = [*conditions, *drawn]
        return f" WHERE {' AND '.join(kept)}" if kept else ""

    def _rows(self, joined: float = 0.6) -> tuple[str, list[Term]]:
        """Return a FROM item of one stream's rows, joined with tables or not, and its columns."""
        stream = self._random.choice(STREAMS)
        if self._random.random() > joined:
            if self._random.random() < 0.5:
                return f"{{{stream}}} AS m", list(ROWS)
            text = f"SELECT s.k, s.v, s.t, s.d FROM {{{stream}}} AS s{self._where(prefixed('s', ROWS))}"
            return f"({text}) AS m", list(ROWS)
        text, conditions = f"{{{stream}}} AS s", []
        terms = prefixed("s", ROWS)
        names = list(ROWS)
        for table in self._random.choice([["a"], ["b"], ["a"], ["a", "b"]]):
            kind = self._random.choice(JOINS)
            self._counts[f"life join {kind}"] += 1
            self._shape.below.add(table)
            if kind in PROBES:
                self._shape.frozen.add(table)
            joined_text, condition = self._join(table, kind)
            text += joined_text
            conditions += condition
            if joined_text:
                terms += prefixed(table, TABLE_ROWS[table])
                names += TABLE_ROWS[table]
        items = [f"{term.text} AS {name.text}" for term, name in zip(terms, names, strict=True)]
        source = f"SELECT {', '.join(items)} FROM {text}{self._where(terms, conditions)}"
        self._shape.sources.append(source)
        return f"{{m{len(self._shape.sources) - 1}}} AS m", names

    def _join(self, table: str, kind: str) -> tuple[str, list[str]]:
        """Return what joins a table, and the conditions that go with it."""
        random = self._random
        item, on = f"{{{table}}} AS {table}", ON[table]
        number = {"a": "a.g", "b": "b.x"}[table]
        key = on.split(" ")[0]
        match kind:
            case "join":
                return f" JOIN {item} ON {on}", []
            case "left":
                return f" LEFT JOIN {item} ON {on}", []
            case "left more":
                return f" LEFT JOIN {item} ON {on} AND {number} < {random.randint(1, 9)}", []
            case "comma":
                return f" CROSS JOIN {item}", [on]
            case "theta":
                return f" JOIN {item} ON {number} {random.choice(['>', '<=', '<>'])} s.v", []
            case "cross":
                return f" CROSS JOIN {item}", []
            case "in" | "not in":
                return "", [f"s.k {kind.upper()} (SELECT {key} FROM {item} WHERE {number} < {random.randint(1, 9)})"]
            case "exists" | "not exists":
                more = random.choice(["", f" AND {number} > 1", f" AND {number} > s.v"])
                return "", [f"{kind.upper()} (SELECT FROM {item} WHERE {on}{more})"]
            case "scalar":
                return "", [f"s.v >= (SELECT {random.choice(['min', 'avg', 'max', 'count'])}({number}) FROM {item})"]
        return "", [
            f"s.v {random.choice(['>=', '<'])} (SELECT {random.choice(['min', 'sum', 'count'])}({number}) FROM {item} WHERE {on})"
        ]

    def _aggregates(self, terms: Sequence[Term], plain: bool = False) -> list[Term]:
        random = self._random
        found = [Term("count(*)", "int8")]
        for _ in range(random.randint(0, 3)):
            term = random.choice(terms)
            if term.family in INTEGERS:
                drawn = random.choice(["sum", "min", "max", "avg", "count", "bool_or", "distinct"])
            elif term.family == "numeric":
                drawn = random.choice(["sum", "min", "max", "avg", "count"])
            else:
                drawn = random.choice(["min", "max", "count", "distinct"])
            if drawn == "distinct" and plain:
                drawn = "count"
            if drawn == "distinct":
                found.append(Term(f"count(DISTINCT {term.text})", "int8"))
            elif drawn == "bool_or":
                found.append(Term(f"bool_or({term.text} > {random.randint(-2, 6)})", "bool"))
            else:
                family = {"count": "int8", "avg": "numeric"}.get(drawn, term.family)
                if drawn == "sum":
                    family = {"int4": "int8"}.get(term.family, "numeric")
                suffix = f" FILTER (WHERE {self.condition(terms)})" if random.random() < 0.15 else ""
                found.append(Term(f"{drawn}({term.text}){suffix}", family, fixed=drawn != "avg"))
        return found

    def _grouped(
        self, rows: tuple[str, list[Term]], keys: Sequence[Term] | None = None, having: bool = True
    ) -> tuple[str, list[Term]]:
        """Return a grouping of rows; its columns are k0, ... and a0, ..."""
        text, terms = rows
        if keys is None:
            keys = self._random.sample(terms, self._random.choice([0, 1, 1, 2]))
        aggregates = self._aggregates(terms)
        columns = [*named("k", keys), *named("a", aggregates)]
        items = listed([*keys, *aggregates], columns)
        group = f" GROUP BY {', '.join(key.text for key in keys)}" if keys else ""
        if having and self._random.random() < 0.25:
            group += f" HAVING {self._random.choice([f'count(*) > {self._random.randint(0, 3)}', 'max(v) > 3'])}"
        return f"SELECT {items} FROM {text}{self._where(terms)}{group}", columns

    def _group(self) -> tuple[str, list[Term]]:
        text, columns = self._grouped(self._rows(0.8))
        return text + (" ORDER BY 1" if self._random.random() < 0.1 else ""), columns

    def _sets(self) -> tuple[str, list[Term]]:
        text, terms = self._rows()
        keys = self._random.sample(terms, 2)
        first, second = (key.text for key in keys)
        aggregates = [*self._aggregates(terms), Term(f"grouping({first}, {second})", "int4")]
        columns = [*named("k", keys), *named("a", aggregates)]
        sets = self._random.choice(
            [
                "ROLLUP ({0}, {1})",
                "CUBE ({0}, {1})",
                "GROUPING SETS (({0}), ({1}), ())",
                "GROUPING SETS (({0}, {1}), ({1}))",
            ]
        )
        return (
            f"SELECT {listed([*keys, *aggregates], columns)} FROM {text}{self._where(terms)} GROUP BY {sets.format(first, second)}",
            columns,
        )

    def _distinct(self) -> tuple[str, list[Term]]:
        text, terms = self._rows()
        keys = self._random.sample(terms, self._random.randint(1, 2))
        columns = named("k", keys)
        return f"SELECT DISTINCT {listed(keys, columns)} FROM {text}{self._where(terms)}", columns

    def _first_rows(self) -> tuple[str, list[Term]]:
        random = self._random
        stream = random.choice(STREAMS)
        terms = prefixed("s", ROWS)
        key, *rest = random.sample(terms, 4)
        columns = named("k", [key, *rest])
        ordered = rest
        tie = ""
        if self._ties and random.random() < 0.6:
            self._counts["life first rows with ties"] += 1
            ordered, tie = rest[: random.randint(0, 2)], "{tie}"
        order = [
            key.text,
            *(f"{term.text}{random.choice(['', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST'])}" for term in ordered),
        ]
        text = f"SELECT DISTINCT ON ({key.text}) {listed([key, *rest], columns)} FROM {{{stream}}} AS s{self._where(terms)}"
        return f"{text} ORDER BY {', '.join(order)}{tie}", columns

    def _side(self) -> str:
        if self._random.random() < 0.15:
            return "SELECT id AS k0, name AS k1 FROM {a}"
        text, terms = self._rows()
        return f"SELECT k AS k0, t AS k1 FROM {text}{self._where(terms)}"

    def _set_operation(self) -> tuple[str, list[Term]]:
        operator = self._random.choice(SET_OPERATORS)
        columns = [Term("k0", "int4"), Term("k1", "text")]
        text, terms = self._rows()
        text = f"SELECT k AS k0, t AS k1 FROM {text}{self._where(terms)} {operator} {self._side()}"
        if self._random.random() < 0.3:
            return f"SELECT k1 AS k0, count(*) AS a0, max(k0) AS a1 FROM ({text}) AS u GROUP BY k1", [
                *named("k", columns[1:]),
                Term("a0", "int8"),
                Term("a1", "int4"),
            ]
        return text, columns

    def _union_all(self) -> tuple[str, list[Term]]:
        sides = []
        for _ in range(self._random.choice([2, 2, 3])):
            text, terms = self._rows(0.3)
            sides.append(f"SELECT k, v, t, d FROM {text}{self._where(terms)}")
        return self._grouped((f"({' UNION ALL '.join(sides)}) AS u", list(ROWS)))

    def _two_groups(self) -> tuple[str, str, list[Term], list[Term]]:
        first, own = self._grouped(self._rows(0.5), [ROWS[0]])
        second, others = self._grouped(self._rows(0.5), [ROWS[0]])
        return first, second, own, others

    def _groups_joined(self) -> tuple[str, list[Term]]:
        first, second, own, others = self._two_groups()
        kind = self._random.choice(
            ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", "theta", "semi", "anti"]
        )
        self._counts[f"life groups {kind.lower()}"] += 1
        columns = [*named("c", own), *named("e", others)]
        items = listed([*prefixed("x", own), *prefixed("y", others)], columns)
        if kind in ("semi", "anti"):
            word = "EXISTS" if kind == "semi" else "NOT EXISTS"
            own_items = listed(prefixed("x", own), named("c", own))
            return (
                f"SELECT {own_items} FROM ({first}) AS x WHERE {word} (SELECT FROM ({second}) AS y WHERE x.k0 = y.k0)",
                named("c", own),
            )
        on = {"CROSS JOIN": "", "theta": " ON x.k0 < y.k0"}.get(kind, " ON x.k0 = y.k0")
        return f"SELECT {items} FROM ({first}) AS x {'JOIN' if kind == 'theta' else kind} ({second}) AS y{on}", columns

    def _twice(self) -> tuple[str, list[Term]]:
        grouped, own = self._grouped(self._rows(), [ROWS[0]])
        if self._random.random() < 0.5:
            return f"WITH g AS ({grouped}) SELECT * FROM g WHERE a0 >= (SELECT avg(a0) FROM g)", own
        kind = self._random.choice(["JOIN", "LEFT JOIN"])
        on = self._random.choice(["x.k0 = y.k0 + 1", "x.k0 < y.k0", "x.a0 = y.a0"])
        columns = [Term("c0", "int4"), Term("c1", "int8"), Term("c2", "int4")]
        return (
            f"WITH g AS ({grouped}) SELECT x.k0 AS c0, x.a0 AS c1, y.k0 AS c2 FROM g AS x {kind} g AS y ON {on}",
            columns,
        )

    def _subquery(self) -> tuple[str, list[Term]]:
        random = self._random
        grouped, own = self._grouped(self._rows(), [ROWS[0]])
        stream = random.choice(STREAMS)
        number = random.randint(0, 6)
        conditions = [
            f"k0 {random.choice(['IN', 'NOT IN'])} (SELECT k FROM {{{stream}}} AS i WHERE v > {number} AND k IS NOT NULL)",
            f"{random.choice(['', 'NOT '])}EXISTS (SELECT FROM {{{stream}}} AS i WHERE i.k = w.k0 AND i.v > {number})",
            f"a0 {random.choice(['>', '<='])} (SELECT count(*) FROM {{{stream}}} AS i WHERE i.k = w.k0)",
            f"a0 > (SELECT avg(v) FROM {{{stream}}} AS i)",
            f"k0 {random.choice(['IN', 'NOT IN'])} (SELECT id FROM {{a}} WHERE g < {number})",
            f"a0 {random.choice(['>', '<'])} ANY (SELECT x FROM {{b}})",
        ]
        return f"SELECT * FROM ({grouped}) AS w WHERE {random.choice(conditions)}", own

    def _table_above(self) -> tuple[str, list[Term]]:
        grouped, own = self._grouped(self._rows(), [ROWS[0]])
        kind = self._random.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
        columns = [*named("c", own), Term("e0", "text"), Term("e1", "int4")]
        items = listed([*prefixed("x", own), Term("y.name", "text"), Term("y.g", "int4")], columns)
        return f"SELECT {items} FROM ({grouped}) AS x {kind} {{a}} AS y ON y.id = x.k0", columns

    def _window(self) -> tuple[str, list[Term]]:
        grouped, own = self._grouped(self._rows(), [ROWS[0]])
        call = self._random.choice(
            ["rank() OVER (ORDER BY a0)", "sum(a0) OVER (ORDER BY k0, a0)", "count(*) OVER (PARTITION BY a0)"]
        )
        family = "numeric" if call.startswith("sum") else "int8"
        return f"SELECT *, {call} AS w0 FROM ({grouped}) AS x", [*own, Term("w0", family)]

    def _limit(self) -> tuple[str, list[Term]]:
        grouped, own = self._grouped(self._rows())
        order = ", ".join(
            f"{column.text}{self._random.choice(['', ' DESC', ' NULLS FIRST'])}" for column in reversed(own)
        )
        offset = self._random.choice(["", " OFFSET 1"])
        return f"SELECT * FROM ({grouped}) AS x ORDER BY {order} LIMIT {self._random.randint(1, 4)}{offset}", own

    def _second_grouping(self) -> tuple[str, list[Term]]:
        grouped, _ = self._grouped(self._rows(), [ROWS[0], ROWS[2]])
        having = self._random.choice(["", " HAVING sum(a0) > 2"])
        return f"SELECT k1 AS k0, count(*) AS a0, sum(a0) AS a1 FROM ({grouped}) AS x GROUP BY k1{having}", [
            Term("k0", "text"),
            Term("a0", "int8"),
            Term("a1", "numeric"),
        ]

    def _streams_joined(self) -> tuple[str, list[Term]]:
        random = self._random
        first, second = random.choice([("p", "q"), ("q", "p"), ("p", "p")])
        kind = random.choice(["JOIN", "JOIN", "LEFT JOIN", "FULL JOIN", "theta", "semi", "anti"])
        self._counts[f"life streams {kind.lower()}"] += 1
        keys = random.choice([["x.k"], ["x.t"], ["x.k", "x.t"], []])
        terms = [Term("x.v", "int4"), Term("x.d", "numeric")]
        if kind in ("semi", "anti"):
            condition = f"y.k = x.k AND y.v > {random.randint(0, 9)}"
            where = f" WHERE {'NOT ' * (kind == 'anti')}EXISTS (SELECT FROM {{{second}}} AS y WHERE {condition})"
            text = f"{{{first}}} AS x"
        else:
            on = "x.k = y.k AND x.v < y.v" if kind == "theta" else "x.k = y.k"
            text = f"{{{first}}} AS x {'JOIN' if kind == 'theta' else kind} {{{second}}} AS y ON {on}"
            where = ""
            terms.append(Term("y.v", "int4"))
        families = {"x.k": "int4", "x.t": "text"}
        key_terms = [Term(key, families[key]) for key in keys]
        aggregates = self._aggregates(terms, plain=True)
        columns = [*named("k", key_terms), *named("a", aggregates)]
        group = f" GROUP BY {', '.join(keys)}" if keys else ""
        return f"SELECT {listed([*key_terms, *aggregates], columns)} FROM {text}{where}{group}", columns

    def _table_kept(self) -> tuple[str, list[Term]]:
        """Return a query that keeps a table's rows, or asks a stream about each of them."""
        random = self._random
        item = f"{{{random.choice(STREAMS)}}} AS s"
        more = random.choice(["", f" AND s.v > {random.randint(0, 6)}"])
        negation = random.choice(["", "NOT "])
        columns = [Term("k0", "int4"), Term("k1", "text")]
        rows = "SELECT id AS k0, name AS k1"
        match random.choice(["left", "full", "right", "exists", "in", "scalar"]):
            case "exists":
                return (
                    f"{rows} FROM {{a}} AS a WHERE {negation}EXISTS (SELECT FROM {item} WHERE s.k = a.id{more})",
                    columns,
                )
            case "in":
                return (
                    f"{rows} FROM {{a}} AS a WHERE id {negation}IN (SELECT k FROM {item} WHERE k IS NOT NULL{more})",
                    columns,
                )
            case "scalar":
                value = f"(SELECT sum(v) FROM {item} WHERE s.k = a.id{more}) AS a0"
                return f"{rows}, {value} FROM {{a}} AS a", [*columns, Term("a0", "int8")]
            case "left":
                joined = f"{{a}} AS a LEFT JOIN {item} ON s.k = a.id{more}"
            case "right":
                joined = f"{item} RIGHT JOIN {{a}} AS a ON s.k = a.id{more}"
            case _:
                joined = f"{item} FULL JOIN {{a}} AS a ON s.k = a.id"
        grouped = f"SELECT a.name AS k0, count(s.k) AS a0, sum(s.v) AS a1 FROM {joined} GROUP BY a.name"
        return grouped, [Term("k0", "text"), Term("a0", "int8"), Term("a1", "int8")]

    def _over_views(self) -> tuple[str, list[Term]]:
        random = self._random
        name, own = random.choice(self._others)
        self._shape.views.add(name)
        drawn = random.choice(["plain", "join", "stream", "group"])
        first = random.choice([column for column in own if column.fixed])
        if drawn == "group":
            return f"SELECT {first.text} AS k0, count(*) AS a0 FROM {{{name}}} GROUP BY {first.text}", [
                Term("k0", first.family),
                Term("a0", "int8"),
            ]
        keys = [column for column in own if column.family == "int4"]
        if drawn == "plain" or not keys:
            return (
                f"SELECT * FROM {{{name}}} WHERE {self.condition([term for term in own if term.family != 'bool'])}",
                list(own),
            )
        key = random.choice(keys)
        columns = [*named("c", own), Term("e0", "int4"), Term("e1", "int8")]
        items = listed([*prefixed("x", own), Term("y.k0", "int4"), Term("y.a0", "int8")], columns)
        kind = random.choice(["JOIN", "LEFT JOIN", "FULL JOIN"])
        if drawn == "stream":
            grouped, _ = self._grouped(self._rows(), [ROWS[0]])
            return f"SELECT {items} FROM {{{name}}} AS x {kind} ({grouped}) AS y ON x.{key.text} = y.k0", columns
        return (
            f"SELECT {items} FROM {{{name}}} AS x {kind} (SELECT id AS k0, g::bigint AS a0 FROM {{a}}) AS y ON x.{key.text} = y.k0",
            columns,
        )


def prefixed(alias: str, terms: Sequence[Term]) -> list[Term]:
    """Return columns by their names after an alias."""
    return [Term(f"{alias}.{term.text}", term.family, term.fixed) for term in terms]


def named(letter: str, terms: Sequence[Term]) -> list[Term]:
    """Return terms as columns with names of their own."""
    return [Term(f"{letter}{index}", term.family, term.fixed) for index, term in enumerate(terms)]


def listed(terms: Sequence[Term], columns: Sequence[Term]) -> str:
    """Return a select list."""
    return ", ".join(f"{term.text} AS {column.text}" for term, column in zip(terms, columns, strict=True))
