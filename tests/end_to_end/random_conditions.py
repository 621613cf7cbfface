"""Seeded random conditions over values of all types, alone, joined, grouped and above derived
tables; random_conditions.sql makes those.

Constants are few and in the data, so that what an optimizer concludes from a column's least and
greatest value, from two bounds on it, or from a CASE that is never taken, matters for the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

CONSTANTS = {
    "k": ("1", "2", "3", "7"),
    "s2": ("1::int2", "3::int2"),
    "n": ("1.25", "2.5", "3.10", "'NaN'::numeric", "0", "2.50"),
    "f": ("1.5", "2.50", "3.255", "9"),
    "d8": ("1.5::float8", "'NaN'::float8", "2.5::float8"),
    "b": ("'b1'", "'b2'", "'b2  '", "'x'"),
    "e": ("'e'", "'x'", "''", "'ab'"),
    "v": ("'ab'", "'x'"),
    "nm": ("'nn'::name", "'x'::name"),
    "y": ("'ab'::bytea", "'x'::bytea", "''::bytea"),
    "o": ("true", "false"),
    "day": ("date '2020-01-02'", "date '2020-01-04'", "date 'infinity'"),
    "t": ("time '10:00'", "time '11:00'"),
    "z": ("timetz '10:00+01'", "timetz '09:00+00'", "timetz '11:00+01'"),
    "ts": ("timestamp '2020-01-02 10:00'", "timestamp 'infinity'", "timestamp '2020-01-03'"),
    "i": ("interval '1 day'", "interval '24 hours'", "interval '2 days'", "interval '1 mon'"),
    "j": ("""'{"a":1}'::jsonb""", "'[1]'::jsonb", "'2'::jsonb"),
    "a": ("inet '10.0.0.1'", "inet '10.0.0.2'", "inet '::1'"),
    "u": ("uuid '00000000-0000-0000-0000-000000000001'", "uuid '00000000-0000-0000-0000-000000000009'"),
    "arr": ("'{1,2}'::int[]", "'{2,2}'::int[]", "'{7}'::int[]", "'{}'::int[]"),
    "ta": ("'{a1,b}'::text[]", "'{x}'::text[]"),
    "na": ("'{1.5,2}'::numeric[]", "'{1.50,2.0}'::numeric[]"),
    "m": ("'sad'::mood", "'ok'::mood"),
}
TABLES = ("c", "c", "filled", "one")
PATTERNS = ("'e%'", "'%e'", "'e'", "'%'", "'x%'")
BOUNDS = ("<", "<=", ">", ">=")
COMPARISONS = (*BOUNDS, "=", "<>")
# Their order is that of the plan, or there is none.
WITHOUT_EXTREMES = frozenset({"o", "u", "j", "y", "arr", "ta", "na", "nm", "m"})
# What GROUP BY and UNION show of equal values is one text.
EXACT = ("k", "s2", "f", "e", "v", "day", "o", "t")
# greatest() and least() of them are others than PostgreSQL's, or refused.
NOT_CHOSEN = frozenset({"n", "j", "o", "m"})


class ConditionMaker:
    """Queries of one seed; their text depends on it alone."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def query(self) -> str:
        """Return a SELECT with a total order."""
        makers = (self._plain, self._joined, self._semi, self._inside, self._total, self._grouped, self._shown)
        return self._random.choice((*makers, self._set, self._united, self._left, self._correlated, self._windowed))()

    def _one(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _column(self, columns: Sequence[str] = tuple(CONSTANTS)) -> str:
        return self._random.choice(columns)

    def _constant(self, column: str) -> str:
        return self._one(*CONSTANTS[column]) if self._random.random() < 0.95 else "NULL"

    def _value(self, alias: str, column: str, depth: int) -> str:
        """Return a value of a column's type that is often the column."""
        name, constant = f"{alias}.{column}", self._one(*CONSTANTS[column])
        if depth <= 0 or self._random.random() < 0.55:
            return name
        forms = [
            f"CASE WHEN {self._condition(alias, depth - 1)} THEN {self._one(name, constant)} END",
            f"nullif({name}, {constant})",
            f"coalesce({name}, {constant})",
        ]
        if column not in NOT_CHOSEN:
            forms.append(f"{self._one('greatest', 'least')}({name}, {constant})")
        if column in ("k", "n", "f", "d8"):
            forms.append(f"({name} * 2)")
        if column in ("e", "v"):
            forms += [f"({name} || 'q')", f"upper({name})", f"substr({name}, 1, 1)"]
        return self._one(*forms)

    def _condition(self, alias: str, depth: int) -> str:
        if depth <= 0 or self._random.random() < 0.6:
            return self._comparison(alias, depth)
        one, other = self._condition(alias, depth - 1), self._condition(alias, depth - 1)
        return self._one(
            f"({one}) AND ({other})",
            f"({one}) OR ({other})",
            f"NOT ({one})",
            f"({one}) IS {self._one('', 'NOT ')}TRUE",
            f"coalesce({one}, {self._one('true', 'false')})",
            f"CASE WHEN {one} THEN {other} END",
        )

    def _comparison(self, alias: str, depth: int) -> str:
        column = self._column()
        value, draw = self._value(alias, column, depth), self._random.random()

        def constant() -> str:
            return self._constant(column)

        if draw < 0.3:
            again = value if self._random.random() < 0.7 else f"{alias}.{column}"
            return f"{value} {self._one(*BOUNDS)} {constant()} AND {again} {self._one(*COMPARISONS)} {constant()}"
        if draw < 0.45:
            return f"{value} {self._one(*COMPARISONS)} {constant()}"
        if draw < 0.55:
            return f"{value} BETWEEN {constant()} AND {constant()}"
        if draw < 0.7:
            items = ", ".join(constant() for _ in range(self._random.randint(1, 4)))
            return f"{value} {self._one('IN', 'NOT IN')} ({items})"
        if draw < 0.75:
            return f"({value} = {constant()} OR {value} = {constant()})"
        if draw < 0.8:
            return f"{value} IS {self._one('', 'NOT ')}NULL"
        if draw < 0.87:
            return f"{value} IS {self._one('', 'NOT ')}DISTINCT FROM {constant()}"
        if draw < 0.95:
            operator = self._one("LIKE", "NOT LIKE", "ILIKE", "~", "!~")
            return f"{self._value(alias, 'e', depth)} {operator} {self._one(*PATTERNS)}"
        return f"{value} = {alias}.{column}"

    def _aggregate(self, alias: str) -> str:
        column = self._column()
        value = self._value(alias, column, 1)
        forms = [
            f"count({value})",
            f"bool_or({self._condition(alias, 1)})",
            f"count(*) FILTER (WHERE {self._condition(alias, 1)})",
            f"sum(CASE WHEN {self._condition(alias, 1)} THEN 1 END)",
        ]
        if column not in WITHOUT_EXTREMES:
            forms += [f"{self._one('min', 'max')}({value})"] * 2
        if column != "j":
            forms.append(f"count(DISTINCT {value})")
        return self._one(*forms)

    def _plain(self) -> str:
        return f"SELECT a.k FROM {self._one(*TABLES)} a WHERE {self._condition('a', 2)} ORDER BY 1"

    def _joined(self) -> str:
        kind, column = self._one("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"), self._column()
        on = f"a.{column} {'=' if kind == 'FULL JOIN' else self._one('=', '=', '=', '<', '>=')} b.{column}"
        if kind != "FULL JOIN" and self._random.random() < 0.4:
            on += f" AND {self._condition(self._one('a', 'b'), 1)}"
        where = self._one(
            "", f" WHERE {self._condition('a', 1)}", f" WHERE {self._condition('a', 1)} AND {self._condition('b', 1)}"
        )
        return f"SELECT a.k, b.k FROM {self._one(*TABLES)} a {kind} {self._one(*TABLES)} b ON {on}{where} ORDER BY 1, 2"

    def _semi(self) -> str:
        column, inner = self._column(), self._condition("b", 1)
        exists = f"EXISTS (SELECT FROM {self._one(*TABLES)} b WHERE a.{column} {self._one('=', '<', '>=')} b.{column} AND {inner})"
        rows = f"a.{column} {self._one('IN', 'NOT IN')} (SELECT b.{column} FROM {self._one(*TABLES)} b WHERE {inner})"
        test = self._one(exists, f"NOT {exists}", rows)
        return f"SELECT a.k FROM {self._one(*TABLES)} a WHERE {test} AND {self._condition('a', 1)} ORDER BY 1"

    def _inside(self) -> str:
        column = self._column()
        grouped = f"SELECT {self._value('a', column, 2)} AS x, count(*) AS n FROM {self._one(*TABLES)} a GROUP BY 1"
        bounds = " AND ".join(f"q.x {self._one(*COMPARISONS)} {self._constant(column)}" for _ in range(2))
        return f"SELECT q.x IS NULL, q.n FROM ({grouped}) q WHERE {bounds} ORDER BY 1, 2"

    def _total(self) -> str:
        aggregates = f"{self._aggregate('a')}, {self._aggregate('a')}"
        return f"SELECT {aggregates} FROM {self._one(*TABLES)} a WHERE {self._condition('a', 2)}"

    def _grouped(self) -> str:
        having = self._one(
            "count(*) > 1", "count(*) < 3", "min(a.k) < 4 AND max(a.k) > 1", f"bool_or({self._condition('a', 1)})"
        )
        return (
            f"SELECT {self._value('a', self._column(EXACT), 2)} AS g, {self._aggregate('a')}, count(*) FROM {self._one(*TABLES)} a "
            f"WHERE {self._condition('a', 1)} GROUP BY 1 HAVING {having} ORDER BY 1, 2, 3"
        )

    def _shown(self) -> str:
        values = f"{self._condition('a', 2)}, ({self._condition('a', 1)}) IS NULL"
        return f"SELECT k, {values} FROM {self._one(*TABLES)} a ORDER BY 1, 2, 3"

    def _set(self) -> str:
        column = self._column(EXACT)
        word = self._one("UNION", "UNION ALL", "EXCEPT", "INTERSECT", "EXCEPT ALL", "INTERSECT ALL")
        one, other = (
            f"(SELECT {self._value('a', column, 1)} AS x FROM {self._one(*TABLES)} a WHERE {self._condition('a', 1)})"
            for _ in range(2)
        )
        return f"{one} {word} {other} ORDER BY 1"

    def _united(self) -> str:
        column = self._column(EXACT)
        one = f"SELECT k, {self._value('a', column, 2)} AS x FROM {self._one(*TABLES)} a"
        other = f"SELECT k + 10, {self._constant(column)} FROM {self._one(*TABLES)} a WHERE {self._condition('a', 1)}"
        test = f"q.x {self._one('<', '=', '>=', '<>', 'IS DISTINCT FROM')} {self._constant(column)}"
        return f"SELECT q.k, q.x FROM ({one} UNION ALL {other}) q WHERE {test} ORDER BY 1, 2"

    def _left(self) -> str:
        column = self._column(EXACT)
        columns = f"k, {self._value('b', column, 2)} AS x, {self._constant(column)} AS y"
        side = f"SELECT {columns} FROM {self._one(*TABLES)} b WHERE {self._condition('b', 1)}"
        test = f"q.x {self._one('<', '=', '>=', '<>', 'IS DISTINCT FROM')} {self._constant(column)} OR q.y IS NULL"
        on = f"q.k = a.k AND {self._condition('a', 1)}"
        return f"SELECT a.k, q.x FROM {self._one(*TABLES)} a LEFT JOIN ({side}) q ON {on} WHERE {test} ORDER BY 1, 2"

    def _correlated(self) -> str:
        where = f"b.k {self._one('=', '<', '>')} a.k AND {self._condition('b', 1)}"
        inner = f"SELECT {self._aggregate('b')} FROM {self._one(*TABLES)} b WHERE {where}"
        return f"SELECT a.k, ({inner}) FROM {self._one(*TABLES)} a WHERE {self._condition('a', 1)} ORDER BY 1, 2"

    def _windowed(self) -> str:
        column = self._column(EXACT)
        lag = f"lag({self._value('a', column, 1)}) OVER (ORDER BY a.k) AS x"
        count = f"count(*) FILTER (WHERE {self._condition('a', 1)}) OVER (ORDER BY a.k) AS y"
        test = f"q.x {self._one(*COMPARISONS)} {self._constant(column)} OR q.y < 2"
        return f"SELECT * FROM (SELECT a.k, {lag}, {count} FROM {self._one(*TABLES)} a) q WHERE {test} ORDER BY 1, 2, 3"
