"""Random WITH RECURSIVE queries: counters, closures of graphs, trees over a table, searches with
paths.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random

from tests.randomized.expressions import Term
from tests.randomized.scopes import Body
from tests.randomized.tables import Source

GRAPHS = (
    "(1, 2), (2, 3), (3, 1), (3, 4)",
    "(1, 2), (1, 3), (2, 4), (4, 5), (5, 6)",
    "(1, 1), (2, 1), (NULL, 2), (3, NULL)",
)


def recursive_query(random: Random, counts: Counter[str], sources: Sequence[Source]) -> Body:
    """Return a query of a random kind."""
    kind = random.choice(["counter", "closure", "tree", "tree", "factorial", "path"])
    counts[f"recursive {kind}"] += 1
    last = random.randint(3, 9)
    if kind == "counter":
        text = f"WITH RECURSIVE r (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < {last}) "
        return Body(text + "SELECT sum(n) AS x0, count(*) AS x1 FROM r", (Term("x0", "int8"), Term("x1", "int8")))
    if kind == "factorial":
        text = (
            "WITH RECURSIVE r AS (SELECT 1 AS n, 1::bigint AS f, ''::text AS t UNION ALL "
            f"SELECT n + 1, f * (n + 1), t || n FROM r WHERE n < {last}) SELECT n AS x0, f AS x1, t AS x2 FROM r ORDER BY n"
        )
        return Body(text, (Term("x0", "int4"), Term("x1", "int8"), Term("x2", "text")), ordered=True)
    if kind in ("closure", "path"):
        edges = f"e (a, b) AS (VALUES {random.choice(GRAPHS)})"
        if kind == "path":
            text = (
                f"WITH RECURSIVE {edges}, r AS (SELECT a, b, ARRAY[a, b] AS p FROM e WHERE a = 1 UNION ALL "
                "SELECT r.a, e.b, r.p || e.b FROM r JOIN e ON r.b = e.a WHERE NOT e.b = ANY (r.p)) "
                "SELECT a AS x0, b AS x1, p AS x2 FROM r"
            )
            return Body(text, (Term("x0", "int4"), Term("x1", "int4"), Term("x2", "int4[]")))
        text = (
            f"WITH RECURSIVE {edges}, r AS (SELECT a, b FROM e UNION SELECT r.a, e.b FROM r, e WHERE r.b = e.a) "
            "SELECT a AS x0, b AS x1 FROM r"
        )
        return Body(text, (Term("x0", "int4"), Term("x1", "int4")))
    return _tree(random, sources)


def _tree(random: Random, sources: Sequence[Source]) -> Body:
    """Return a walk over a table whose k is another row's id."""
    fitting = [
        source
        for source in sources
        if {("id", "int4"), ("k", "int4")} <= {(column.text, column.family) for column in source.columns}
    ]
    if not fitting:
        text = (
            "WITH RECURSIVE r AS (SELECT date '2024-01-30' AS d UNION ALL SELECT (d + interval '1 month')::date FROM r "
            "WHERE d < date '2024-05-01') SELECT d AS x0 FROM r"
        )
        return Body(text, (Term("x0", "date"),))
    name = random.choice(fitting).name
    start = random.choice(["k IS NULL", "id = 1", "k = 0"])
    union = random.choice(["UNION ALL", "UNION"])
    text = (
        f"WITH RECURSIVE r AS (SELECT id, k, 0 AS depth FROM {name} WHERE {start} {union} "
        f"SELECT c.id, c.k, r.depth + 1 FROM {name} AS c JOIN r ON c.k = r.id WHERE r.depth < 2) "
        "SELECT depth AS x0, count(*) AS x1, min(id) AS x2 FROM r GROUP BY depth"
    )
    return Body(text, (Term("x0", "int4"), Term("x1", "int8"), Term("x2", "int4")))
