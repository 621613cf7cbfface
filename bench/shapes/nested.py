"""Constructs that nest in themselves: at the first depth it may work, at the second it may be
refused.
"""

from __future__ import annotations

from bench.shapes.table import ANY, MB, Make, Table

TABLE = Table()

TEXTS: dict[str, Make] = {
    "parentheses": lambda n: "SELECT " + "(" * n + "1" + ")" * n,
    "functions": lambda n: "SELECT " + "abs(" * n + "1" + ")" * n,
    "functions of a column": lambda n: "SELECT " + "abs(" * n + "a" + ")" * n + " FROM shaped WHERE a = 1",
    "coalesce": lambda n: "SELECT " + "coalesce(NULL, " * n + "1" + ")" * n,
    "coalesce of a column": lambda n: "SELECT " + "coalesce(NULL, " * n + "a" + ")" * n + " FROM shaped WHERE a = 1",
    "greatest": lambda n: "SELECT " + "greatest(1, " * n + "1" + ")" * n,
    "nullif": lambda n: "SELECT " + "nullif(" * n + "1" + ", 2)" * n,
    "case": lambda n: "SELECT " + "CASE WHEN 1 = 2 THEN 2 ELSE " * n + "1" + " END" * n,
    "case of a column": lambda n: (
        "SELECT " + "CASE WHEN a = 2 THEN 2 ELSE " * n + "1" + " END" * n + " FROM shaped WHERE a = 1"
    ),
    "case conditions": lambda n: "SELECT " + "CASE WHEN " * n + "true" + " THEN true END" * n + " IS NOT NULL",
    "subqueries": lambda n: "SELECT " + "(SELECT " * n + "1" + ")" * n,
    "exists": lambda n: "SELECT " + "EXISTS (SELECT 1 WHERE " * n + "true" + ")" * n,
    "in": lambda n: "SELECT " + "1 IN (SELECT 1 WHERE " * n + "true" + ")" * n,
    "derived tables": lambda n: "SELECT x FROM " + "(SELECT x FROM " * n + "(SELECT 1 AS x) q" + ") q" * n,
    "derived tables with a filter": lambda n: (
        "SELECT a FROM " + "(SELECT a FROM " * n + "shaped" + " q WHERE a = 1) q" * n
    ),
    "correlated subqueries": lambda n: (
        "SELECT a FROM shaped q0 WHERE a = 1 AND "
        + "".join(f"EXISTS (SELECT 1 FROM shaped q{i + 1} WHERE q{i + 1}.a = q{i}.a AND " for i in range(n))
        + "true"
        + ")" * n
    ),
    "joins": lambda n: "SELECT count(*) FROM " + "(" * n + "shaped" + " CROSS JOIN (SELECT 1) q)" * n,
    "with": lambda n: (
        "".join(f"WITH q{i} AS (" for i in range(n))
        + "SELECT 1 AS x"
        + "".join(f") SELECT x FROM q{i}" for i in reversed(range(n)))
    ),
    "arrays": lambda n: "SELECT " + "ARRAY[" * n + "1" + "]" * n + " IS NULL",
    "rows": lambda n: "SELECT " + "ROW(" * n + "1" + ")" * n + " IS NULL",
    "signs": lambda n: "SELECT " + "- " * 2 * n + "1",
    "not": lambda n: "SELECT " + "NOT (" * 2 * n + "true" + ")" * 2 * n,
    "casts": lambda n: "SELECT " + "CAST(" * n + "1" + " AS int)" * n,
    "between": lambda n: "SELECT " + "true BETWEEN true AND (" * n + "true" + ")" * n,
    "set operations": lambda n: "(" * n + "SELECT 1" + " UNION SELECT 1)" * n,
    "grouping sets": lambda n: "SELECT 1 GROUP BY " + "GROUPING SETS (" * n + "()" + ")" * n,
    "explain": lambda n: "EXPLAIN SELECT " + "(" * n + "1" + ")" * n,
    "catalog": lambda n: "SELECT " + "abs(" * n + "1" + ")" * n + " FROM pg_class LIMIT 1",
    "limit": lambda n: "SELECT 1 LIMIT " + "(" * n + "1" + ")" * n,
    "over a view": lambda n: "SELECT " + "abs(" * n + "n" + ")" * n + " FROM per_k WHERE k = 1",
    "over a stream": lambda n: "SELECT " + "abs(" * n + "k" + ")" * n + " FROM shapes WHERE k = 1",
    "insert": lambda n: "INSERT INTO shaped (a) SELECT " + "(" * n + "1" + ")" * n + " WHERE false",
    "aggregates": lambda n: "SELECT sum(" + "(" * n + "a" + ")" * n + ") FROM shaped",
}
# What is computed, by what it is computed of: `x` is the operand.
COMPUTED: dict[str, tuple[str, str]] = {
    "abs": ("abs(", ")"),
    "coalesce": ("coalesce(NULL, ", ")"),
    "CASE": ("CASE WHEN 1 = 2 THEN 2 ELSE ", " END"),
    "CASE of it": ("CASE WHEN x = -1 THEN 2 ELSE ", " END"),
    "nullif": ("nullif(", ", -1)"),
    "signs": ("- (", ")"),
    "additions": ("(1 + ", ")"),
    "casts": ("CAST(", " AS int)"),
    "arrays": ("array_length(ARRAY[", "], 1)"),
    "rows": ("(CASE WHEN ROW(", ", 1) IS NULL THEN 1 ELSE 2 END)"),
    "IN": ("(CASE WHEN (", ") IN (1, 2, 3) THEN 1 ELSE 2 END)"),
    "BETWEEN": ("(CASE WHEN (", ") BETWEEN 1 AND 3 THEN 1 ELSE 2 END)"),
    "texts": ("length(('x' || ", ")::text)"),
    "subqueries": ("(SELECT ", ")"),
}
OPERANDS = {
    "a table": ("a", "shaped WHERE a = 1"),
    "the catalog": ("oid::int8::int4", "pg_class WHERE relname = 'pg_class'"),
    "a stream": ("k", "shapes WHERE k = 1"),
    "a view": ("n::int4", "per_k WHERE k = 1"),
    "groups": ("count(*)::int4", "shaped"),
    "groups of a stream": ("count(*)::int4", "shapes"),
}


def computed(what: str, of: str) -> Make:
    """Return an expression that nests in itself over the rows of a relation."""
    opening, closing = COMPUTED[what]
    operand, source = OPERANDS[of]
    opening, closing = opening.replace("x =", f"{operand} ="), closing
    return lambda n: f"SELECT {opening * n}{operand}{closing * n} FROM {source}"


for what in COMPUTED:
    for of in OPERANDS:
        TABLE.text(f"nested: {what} of {of}", 1_000, computed(what, of), ANY, True)
for name, make in TEXTS.items():
    TABLE.text(f"nested 1,000: {name}", 1_000, make, ANY, True)
    TABLE.text(f"nested deep: {name}", 100_000, make, ANY, True)
TABLE.text("nested: open parentheses", MB, lambda n: "SELECT " + "(" * n, ANY, True)
TABLE.text("nested: open brackets", MB, lambda n: "SELECT ARRAY" + "[" * n, ANY, True)
TABLE.text("nested: open functions", MB // 4, lambda n: "SELECT " + "abs(" * n, ANY, True)
TABLE.text("nested: open subqueries", MB // 10, lambda n: "SELECT " + "(SELECT " * n, ANY, True)
