"""Long definitions of continuous views: made, written to, read, and dropped.

Above the grouping they are Spark's.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from bench.shapes.table import ANY, Connection, Make, Table, listed

TABLE = Table()

names = count()


def viewed(query: Make, read: str = "SELECT count(*) FROM {}") -> Callable[[Connection, int], object]:
    """Return what makes a view of `query`, writes two rows, reads it by `read` and drops it."""

    def done(connection: Connection, size: int) -> object:
        name = f"continuous_{next(names)}"
        connection.execute(f"CREATE VIEW {name} AS {query(size)}".encode())
        try:
            connection.execute("INSERT INTO shapes VALUES (1, 'a'), (2, 'b')")
            row = connection.execute(read.format(name).encode()).fetchone()
            return None if row is None else row[0]
        finally:
            connection.execute(f"DROP VIEW {name}".encode())

    return done


def below(expression: Make) -> Make:
    """Return a view that sums an expression over the rows of a stream."""
    return lambda n: f"SELECT t, sum({expression(n)}) AS x FROM shapes GROUP BY t"


def above(expression: Make) -> Make:
    """Return a view that computes an expression over groups, whose count is n."""
    return lambda n: f"SELECT k, {expression(n)} AS x FROM (SELECT k, count(*) AS n FROM shapes GROUP BY k) q"


def nested(opening: str, core: str, closing: str) -> Make:
    """Return an expression that nests in itself."""
    return lambda n: opening * n + core + closing * n


EXPRESSIONS: dict[str, tuple[int, Callable[[str], Make]]] = {
    "operators": (5_000, lambda c: lambda n: "+".join([c] * n)),
    "sum of constants": (5_000, lambda c: lambda n: f"{c}+" + "+".join(["1"] * n)),
    "functions": (1_000, lambda c: nested("abs(", c, ")")),
    "parentheses": (1_000, lambda c: nested("(", c, ")")),
    "coalesce": (1_000, lambda c: nested("coalesce(NULL, ", c, ")")),
    "nullif": (1_000, lambda c: nested("nullif(", c, ", -1)")),
    "greatest": (1_000, lambda c: nested("greatest(1, ", c, ")")),
    "list of greatest": (1_600, lambda c: lambda n: f"greatest({listed(lambda i: f'{c} + {i}', n)})"),
    "CASE in CASE": (1_000, lambda c: nested(f"CASE WHEN {c} = -1 THEN 2 ELSE ", c, " END")),
    "CASE": (2_000, lambda c: lambda n: f"CASE {c} {listed(lambda i: f'WHEN {i} THEN {i}', n, ' ')} END"),
    "CASE of conditions": (
        1_000,
        lambda c: lambda n: f"CASE {listed(lambda i: f'WHEN {c} > {i + 20} THEN {i}', n, ' ')} ELSE 1 END",
    ),
    "OR": (
        10_000,
        lambda c: lambda n: f"CASE WHEN {listed(lambda i: f'{c} = {i}', n, ' OR ')} THEN 1 ELSE 2 END",
    ),
    "AND": (
        10_000,
        lambda c: lambda n: f"CASE WHEN {listed(lambda i: f'{c} <> {i + 20}', n, ' AND ')} THEN 1 ELSE 2 END",
    ),
    "BETWEEN": (
        2_000,
        lambda c: (
            lambda n: f"CASE WHEN {listed(lambda i: f'{c} BETWEEN {i} AND {i + 1}', n, ' OR ')} THEN 1 ELSE 2 END"
        ),
    ),
    "NOT": (1_000, lambda c: lambda n: f"CASE WHEN {'NOT (' * n}{c} > 5{')' * n} THEN 1 ELSE 2 END"),
    "IN": (30_000, lambda c: lambda n: f"CASE WHEN {c} IN ({listed(str, n)}) THEN 1 ELSE 2 END"),
    "casts": (1_000, lambda c: lambda n: c + "::int8::int4" * n),
    "||": (2_000, lambda c: lambda n: f"length({'||'.join([f'{c}::text'] * n)})"),
    "concat": (1_600, lambda c: lambda n: f"length(concat({listed(lambda i: c, n)}))"),
}
for name, (size, make) in EXPRESSIONS.items():
    TABLE.act(f"continuous: {name} below", size, viewed(below(make("k"))), 2, True)
    TABLE.act(f"continuous: {name} above", size, viewed(above(make("n"))), 2, True)

TABLE.act(
    "continuous: sums",
    300,
    viewed(lambda n: f"SELECT k, {listed(lambda i: f'sum(k + {i}) AS x{i}', n)} FROM shapes GROUP BY k"),
    2,
    True,
)
TABLE.act(
    "continuous: targets above",
    1_600,
    viewed(
        lambda n: (
            f"SELECT {listed(lambda i: f'n + {i} AS x{i}', n)} FROM (SELECT k, count(*) AS n FROM shapes GROUP BY k) q"
        )
    ),
    2,
    True,
)
TABLE.act(
    "continuous: keys",
    300,
    viewed(lambda n: f"SELECT count(*) AS n FROM shapes GROUP BY {listed(lambda i: f'k + {i}', n)}"),
    2,
    True,
)
TABLE.act(
    "continuous: HAVING",
    5_000,
    viewed(lambda n: f"SELECT k FROM shapes GROUP BY k HAVING {listed(lambda i: f'count(*) <> {i + 20}', n, ' AND ')}"),
    2,
    True,
)
TABLE.act(
    "continuous: WHERE",
    5_000,
    viewed(
        lambda n: (
            f"SELECT k, count(*) AS n FROM shapes WHERE {listed(lambda i: f'k <> {i + 20}', n, ' AND ')} GROUP BY k"
        )
    ),
    2,
    True,
)
TABLE.act(
    "continuous: texts of IN",
    10_000,
    viewed(
        lambda n: (
            f"SELECT k, count(*) AS n FROM shapes WHERE t NOT IN ({listed(lambda i: repr(f'x{i}'), n)}) GROUP BY k"
        )
    ),
    2,
    True,
)
TABLE.act(
    "continuous: LIKE",
    10_000,
    viewed(lambda n: f"SELECT k, count(*) AS n FROM shapes WHERE t NOT LIKE '{'%_a' * n}' GROUP BY k"),
    2,
    True,
)
TABLE.act(
    "continuous: many LIKE",
    1_000,
    viewed(
        lambda n: (
            f"SELECT k, count(*) AS n FROM shapes WHERE {listed(lambda i: f't NOT LIKE {chr(39)}x{i}%{chr(39)}', n, ' AND ')} GROUP BY k"
        )
    ),
    2,
    True,
)
TABLE.act(
    "continuous: regular expression",
    1_000,
    viewed(lambda n: f"SELECT k, count(*) AS n FROM shapes WHERE t !~ '{'(x|y)?' * n}z' GROUP BY k"),
    2,
    True,
)
TABLE.act(
    "continuous: grouping sets",
    1_000,
    viewed(lambda n: f"SELECT k, count(*) AS n FROM shapes GROUP BY GROUPING SETS ({listed(lambda i: '(k)', n)})"),
    ANY,
    True,
)
TABLE.act(
    "continuous: subqueries",
    200,
    viewed(
        lambda n: (
            "SELECT k, n FROM "
            + "(SELECT k, n FROM " * n
            + "(SELECT k, count(*) AS n FROM shapes GROUP BY k) q"
            + ") q" * n
        )
    ),
    2,
    True,
)
TABLE.act(
    "continuous: groupings of groupings",
    40,
    viewed(
        lambda n: (
            "SELECT k, count(*) AS n FROM "
            + "(SELECT k, count(*) AS n FROM " * n
            + "shapes"
            + " GROUP BY k) q" * n
            + " GROUP BY k"
        )
    ),
    2,
    True,
)
TABLE.act(
    "continuous: joins with a table",
    100,
    viewed(
        lambda n: (
            "SELECT k, count(*) AS n FROM shapes"
            + "".join(f" JOIN shaped q{i} ON q{i}.a = shapes.k" for i in range(n))
            + " GROUP BY k"
        )
    ),
    2,
    True,
)
TABLE.act(
    "continuous: joins of groupings",
    40,
    viewed(
        lambda n: (
            "SELECT q.k, q.n FROM (SELECT k, count(*) AS n FROM shapes GROUP BY k) q"
            + "".join(f" JOIN (SELECT k, sum(k) AS n FROM shapes GROUP BY k) q{i} ON q{i}.k = q.k" for i in range(n))
        )
    ),
    2,
    True,
)
TABLE.act(
    "continuous: conjuncts of a join",
    300,
    viewed(
        lambda n: (
            "SELECT q.k, q.n FROM (SELECT k, count(*) AS n FROM shapes GROUP BY k) q JOIN shaped ON a = k"
            + "".join(f" AND a + {i} <> n - {i}" for i in range(20, 20 + n))
        )
    ),
    2,
    True,
)
TABLE.act(
    "continuous: WITH of the one before twice",
    40,
    viewed(
        lambda n: (
            "WITH c0 AS (SELECT k, count(*) AS n FROM shapes GROUP BY k), "
            + listed(lambda i: f"c{i + 1} AS (SELECT p.k, p.n FROM c{i} p JOIN c{i} q ON p.k = q.k)", n)
            + f" SELECT k, n FROM c{n}"
        )
    ),
    2,
    True,
)
TABLE.act(
    "continuous: UNION ALL",
    200,
    viewed(
        lambda n: (
            "SELECT k, count(*) AS n FROM shapes GROUP BY k"
            + " UNION ALL SELECT k, count(*) FROM shapes GROUP BY k" * n
        )
    ),
    lambda n: 2 * n + 2,
    True,
)
GROUPED = "(SELECT k, count(*) AS n FROM shapes GROUP BY k) q"
TABLE.act(
    "continuous: windows",
    100,
    viewed(lambda n: f"SELECT k, {listed(lambda i: f'sum(n) OVER (ORDER BY k + {i}) AS x{i}', n)} FROM {GROUPED}"),
    2,
    True,
)
TABLE.act(
    "continuous: arrays above",
    10_000,
    viewed(above(lambda n: f"array_length(ARRAY[n, {listed(str, n)}], 1)")),
    2,
    True,
)
TABLE.act(
    "continuous: VALUES above",
    10_000,
    viewed(
        lambda n: f"SELECT q.k, q.n FROM {GROUPED} JOIN (VALUES {listed(lambda i: f'({i})', n)}) v (x) ON v.x = q.k"
    ),
    ANY,
    True,
)
TABLE.act(
    "continuous: names of columns",
    1_600,
    viewed(
        lambda n: f"SELECT {listed(lambda i: f'k AS {chr(34)}{i}{chr(39) * 50}{chr(34)}', n)} FROM shapes GROUP BY k"
    ),
    2,
    True,
)
