"""Operators in a row."""

from __future__ import annotations

from bench.shapes.table import ANY, Make, Table, listed

TABLE = Table()


def chained(operator: str, one: str, rest: str = "") -> Make:
    """Return so many equal operands in a row."""
    return lambda n: f"SELECT ({f' {operator} '.join([one] * n)}) IS NULL{rest}"


for operator in ("+", "-", "*", "/", "%", "&", "|", "#"):
    TABLE.text(f"chain: {operator}", 5_000, chained(operator, "1"), False)
TABLE.text("chain: ||", 5_000, chained("||", "'a'"), False)
TABLE.text("chain: AND", 5_000, chained("AND", "true"), False)
TABLE.text("chain: OR", 5_000, chained("OR", "false"), False)
for operator, column in (("+", "a"), ("*", "d"), ("+", "e"), ("||", "c"), ("-", "a")):
    TABLE.text(
        f"chain: {operator} of column {column}",
        5_000,
        chained(operator, column, " FROM shaped WHERE a = 1"),
        False,
        True,
    )
TABLE.text(
    "chain: AND of comparisons",
    5_000,
    lambda n: f"SELECT count(*) FROM shaped WHERE {listed(lambda i: f'a <> {i + 20}', n, ' AND ')}",
    10,
)
TABLE.text(
    "chain: OR of comparisons",
    5_000,
    lambda n: f"SELECT count(*) FROM shaped WHERE {listed(lambda i: f'a = {i}', n, ' OR ')}",
    ANY,
)
TABLE.text(
    "chain: OR of conjunctions",
    2_000,
    lambda n: f"SELECT count(*) FROM shaped WHERE {listed(lambda i: f'(a = {i} AND b = {i})', n, ' OR ')}",
    ANY,
)
TABLE.text(
    "chain: OR of two columns",
    2_000,
    lambda n: f"SELECT count(*) FROM shaped WHERE {listed(lambda i: f'{chr(97 + i % 2)} = {i}', n, ' OR ')}",
    ANY,
)
TABLE.text("chain: NOT", 5_000, lambda n: "SELECT " + "NOT " * (n // 2 * 2) + "true", ANY, True)
TABLE.text("chain: casts", 5_000, lambda n: "SELECT 1" + "::int" * n, 1)
TABLE.text(
    "chain: casts of a column",
    5_000,
    lambda n: "SELECT a" + "::int8::int4" * n + " FROM shaped WHERE a = 1",
    1,
    True,
)
TABLE.text("chain: IS NULL", 5_000, lambda n: "SELECT 1" + " IS NULL" * n, ANY, True)
TABLE.text("chain: subscripts", 5_000, lambda n: "SELECT (ARRAY[1])" + "[1]" * n, ANY, True)
TABLE.text("chain: COLLATE", 5_000, lambda n: "SELECT 'a'" + ' COLLATE "C"' * n, ANY, True)
TABLE.text("chain: AT TIME ZONE", 2_000, lambda n: "SELECT now()" + " AT TIME ZONE 'UTC'" * n + " IS NULL", ANY, True)
TABLE.text("chain: json arrows", 2_000, lambda n: "SELECT '{}'::json" + "->'a'" * n + " IS NULL", ANY, True)
TABLE.text(
    "chain: LIKE", 2_000, lambda n: "SELECT " + " AND ".join(["c LIKE 'x%'"] * n) + " FROM shaped WHERE a = 1", True
)
TABLE.text(
    "chain: UNION ALL",
    5_000,
    lambda n: f"SELECT count(*) FROM ({' UNION ALL '.join(['SELECT 1'] * n)}) q",
    lambda n: n,
    True,
)
TABLE.text("chain: UNION", 2_000, lambda n: f"SELECT count(*) FROM ({' UNION '.join(['SELECT 1'] * n)}) q", 1, True)
TABLE.text("chain: EXCEPT", 1_000, lambda n: f"SELECT count(*) FROM ({' EXCEPT '.join(['SELECT 1'] * n)}) q", 0, True)
TABLE.text(
    "chain: INTERSECT", 1_000, lambda n: f"SELECT count(*) FROM ({' INTERSECT '.join(['SELECT 1'] * n)}) q", 1, True
)
TABLE.text(
    "chain: UNION ALL of a table",
    1_000,
    lambda n: f"SELECT count(*) FROM ({' UNION ALL '.join(['SELECT a FROM shaped'] * n)}) q",
    lambda n: 10 * n,
    True,
)
TABLE.text(
    "chain: UNION ALL of mixed types",
    1_000,
    lambda n: f"SELECT count(*) FROM ({listed(lambda i: 'SELECT ' + ('1', '1.5', 'NULL')[i % 3], n, ' UNION ALL ')}) q",
    lambda n: n,
    True,
)
TABLE.text(
    "chain: many OR",
    10_000,
    lambda n: f"SELECT count(*) FROM shaped WHERE {listed(lambda i: f'a + b = {i}', n, ' OR ')}",
    ANY,
    True,
)
TABLE.text(
    "chain: BETWEEN",
    2_000,
    lambda n: f"SELECT count(*) FROM shaped WHERE {listed(lambda i: f'a BETWEEN {i} AND {i + 1}', n, ' OR ')}",
    ANY,
    True,
)
TABLE.text(
    "chain: BETWEEN of columns",
    2_000,
    lambda n: f"SELECT count(*) FROM shaped WHERE {listed(lambda i: f'a BETWEEN b - {i} AND d + {i}', n, ' AND ')}",
    ANY,
    True,
)


def compared(relation: str, column: str, operator: str) -> Make:
    """Return so many comparisons of a column in a row."""
    return lambda n: (
        f"SELECT count(*) FROM {relation} WHERE {listed(lambda i: f'{column} <> {i + 20}', n, f' {operator} ')}"
    )


for relation, column in (("pg_class", "relnatts"), ("shapes", "k"), ("per_k", "n")):
    TABLE.text(f"chain: + of {relation}", 5_000, chained("+", column, f" FROM {relation} LIMIT 1"), ANY, True)
    for operator in ("AND", "OR"):
        TABLE.text(f"chain: {operator} of {relation}", 5_000, compared(relation, column, operator), ANY, True)
