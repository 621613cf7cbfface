"""Joins, views over views, items of WITH: what names other things many times."""

from __future__ import annotations

from bench.shapes.table import ANY, Make, Table, listed

TABLE = Table()

SETUP = (
    "CREATE VIEW cv0 AS SELECT k, count(*) AS n FROM shapes GROUP BY k",
    *(f"CREATE VIEW cv{i} AS SELECT x.k, x.n FROM cv{i - 1} x JOIN cv{i - 1} y ON x.k = y.k" for i in range(1, 41)),
)


def joined(relation: str, column: str, how: str) -> Make:
    """Return so many joins of a relation with itself, each with the one before."""
    return lambda n: (
        f"SELECT count(*) FROM {relation} q0"
        + "".join(f" {how} {relation} q{i + 1} ON q{i + 1}.{column} = q{i}.{column}" for i in range(n))
    )


def doubled(start: str, column: str) -> Make:
    """Return so many items of WITH which each name the one before twice."""
    return lambda n: (
        f"WITH c0 AS ({start}), "
        + listed(lambda i: f"c{i + 1} AS (SELECT p.{column} FROM c{i} p JOIN c{i} q ON p.{column} = q.{column})", n)
        + f" SELECT count(*) FROM c{n}"
    )


def conjuncts(relation: str, column: str) -> Make:
    """Return a join with so many conditions that look at both sides."""
    return lambda n: (
        f"SELECT count(*) FROM {relation} p JOIN {relation} q ON p.{column} = q.{column} AND "
        + listed(lambda i: f"p.{column} + {i + 20} <> q.{column} - {i}", n, " AND ")
    )


RELATIONS = {
    "a table": ("shaped", "a", 10),
    "a view": ("per_k", "k", 2),
    "a stream": ("shapes", "k", ANY),
    "the catalog": ("pg_am", "oid", ANY),
}
# What is selected of a relation r by its column c, and what is between such parts: {r}, {c} and {i}
# stand for them.
PARTS: dict[str, tuple[int, str, str, str, str]] = {
    "EXISTS": (
        100,
        "SELECT count(*) FROM {r} p WHERE ",
        "EXISTS (SELECT 1 FROM {r} q{i} WHERE q{i}.{c} = p.{c})",
        " AND ",
        "",
    ),
    "subqueries": (100, "SELECT ", "(SELECT max(q{i}.{c}) FROM {r} q{i})", ", ", ""),
    "OR of both sides": (
        500,
        "SELECT count(*) FROM {r} p JOIN {r} q ON ",
        "(p.{c} = q.{c} AND p.{c} <> {i})",
        " OR ",
        "",
    ),
    "grouping sets": (
        1_000,
        "SELECT count(*) FROM (SELECT count(*) FROM {r} GROUP BY GROUPING SETS (",
        "({c})",
        ", ",
        ")) q",
    ),
    "UNION ALL": (1_000, "SELECT count(*) FROM (", "SELECT {c} FROM {r}", " UNION ALL ", ") q"),
    "windows": (
        200,
        "SELECT ",
        "count(*) OVER (PARTITION BY {c} ORDER BY {c} ROWS {i} PRECEDING)",
        ", ",
        " FROM {r}",
    ),
}


def parts(what: str, relation: str, column: str) -> Make:
    """Return a query of so many parts over a relation."""
    _, start, part, between, end = PARTS[what]

    def filled(text: str, index: int) -> str:
        return text.replace("{r}", relation).replace("{c}", column).replace("{i}", str(index))

    return lambda n: filled(start, 0) + listed(lambda i: filled(part, i), n, between) + filled(end, 0)


for name, (relation, column, rows) in RELATIONS.items():
    TABLE.text(f"joins: {name}", 100, joined(relation, column, "JOIN"), rows, True)
    TABLE.text(f"joins: LEFT of {name}", 200, joined(relation, column, "LEFT JOIN"), rows, True)
    TABLE.text(f"joins: FULL of {name}", 100, joined(relation, column, "FULL JOIN"), rows, True)
    TABLE.text(f"joins: conjuncts of {name}", 500, conjuncts(relation, column), ANY, True)
    TABLE.text(
        f"joins: WITH twice of {name}", 40, doubled(f"SELECT DISTINCT {column} FROM {relation}", column), rows, True
    )
    for what, (size, *_) in PARTS.items():
        TABLE.text(f"joins: {what} of {name}", size, parts(what, relation, column), ANY, True)
TABLE.text(
    "joins: lateral projections",
    200,
    lambda n: "SELECT count(*) FROM shaped q0" + "".join(f", LATERAL (SELECT q{i}.a) q{i + 1}" for i in range(n)),
    10,
    True,
)
TABLE.text(
    "joins: lateral subqueries",
    200,
    lambda n: (
        "SELECT count(*) FROM shaped q0"
        + "".join(f", LATERAL (SELECT x.a FROM shaped x WHERE x.a = q{i}.a) q{i + 1}" for i in range(n))
    ),
    10,
    True,
)
TABLE.text("joins: continuous views of continuous views", 40, lambda n: f"SELECT count(*) FROM cv{min(n, 40)}", 2, True)
TABLE.text(
    "joins: all continuous views",
    40,
    lambda n: f"SELECT count(*) FROM {listed(lambda i: f'(SELECT k FROM cv{i} LIMIT 1) x{i}', min(n, 41))}",
    1,
    True,
)
TABLE.text("joins: views", 40, lambda n: f"SELECT count(*) FROM w{min(n, 40)}", 1, True)
TABLE.text(
    "joins: recursive",
    300,
    lambda n: f"WITH RECURSIVE r (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r WHERE x < {n}) SELECT count(*) FROM r",
    lambda n: n,
    True,
)
