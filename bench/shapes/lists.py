"""Long lists in queries."""

from __future__ import annotations

from bench.shapes.table import ANY, Table, listed

TABLE = Table()


def united(n: int) -> str:
    """Return a query of so many items of WITH."""
    return listed(lambda i: f"SELECT x FROM c{i}", n, " UNION ALL ")


TABLE.text("list: IN", 100_000, lambda n: f"SELECT {n} IN ({listed(str, n)})", False)
TABLE.text("list: IN of a column", 100_000, lambda n: f"SELECT count(*) FROM shaped WHERE a IN ({listed(str, n)})", ANY)
TABLE.text(
    "list: IN of texts",
    100_000,
    lambda n: f"SELECT count(*) FROM shaped WHERE c IN ({listed(lambda i: repr(str(i)), n)})",
    0,
)
TABLE.text(
    "list: NOT IN",
    100_000,
    lambda n: f"SELECT count(*) FROM shaped WHERE a NOT IN ({listed(lambda i: str(i + 20), n)})",
    10,
)
TABLE.text(
    "list: IN of rows",
    5_000,
    lambda n: f"SELECT count(*) FROM shaped WHERE (a, b) IN ({listed(lambda i: f'({i}, {i})', n)})",
    ANY,
    True,
)
TABLE.text(
    "list: IN of columns",
    1_000,
    lambda n: f"SELECT count(*) FROM shaped WHERE a IN ({listed(lambda i: f'b + {i}', n)})",
    ANY,
)
TABLE.text("list: IN over a view", 30_000, lambda n: f"SELECT count(*) FROM per_k WHERE k IN ({listed(str, n)})", 2)
TABLE.text("list: IN over a stream", 30_000, lambda n: f"SELECT count(*) FROM shapes WHERE k IN ({listed(str, n)})", 2)
TABLE.text(
    "list: IN in the catalog",
    30_000,
    lambda n: f"SELECT count(*) FROM pg_class WHERE relname IN ({listed(lambda i: repr(str(i)), n)})",
    0,
)
TABLE.text(
    "list: CASE",
    2_500,
    lambda n: f"SELECT CASE {n} {listed(lambda i: f'WHEN {i} THEN {i}', n, ' ')} END IS NULL",
    True,
)
TABLE.text(
    "list: CASE of a column",
    2_500,
    lambda n: f"SELECT sum(CASE a {listed(lambda i: f'WHEN {i} THEN {i}', n, ' ')} END) FROM shaped",
    ANY,
)
TABLE.text(
    "list: CASE of conditions",
    2_500,
    lambda n: f"SELECT sum(CASE {listed(lambda i: f'WHEN a > {i + 20} THEN {i}', n, ' ')} END) FROM shaped",
    None,
)
TABLE.text(
    "list: CASE over a stream",
    1_000,
    lambda n: f"SELECT sum(CASE k {listed(lambda i: f'WHEN {i} THEN {i}', n, ' ')} END) FROM shapes",
    ANY,
)
TABLE.text(
    "list: VALUES",
    30_000,
    lambda n: f"SELECT count(*) FROM (VALUES {listed(lambda i: f'({i})', n)}) q",
    lambda n: n,
)
TABLE.text(
    "list: VALUES of three",
    30_000,
    lambda n: f"SELECT count(*) FROM (VALUES {listed(lambda i: f'({i}, {i}.5, {chr(39)}x{chr(39)})', n)}) q",
    lambda n: n,
)
TABLE.text("list: VALUES alone", 30_000, lambda n: f"VALUES {listed(lambda i: f'({i})', n)}", 0)
TABLE.text(
    "list: INSERT into a table",
    30_000,
    lambda n: f"INSERT INTO shaped (a) VALUES {listed(lambda i: f'({i + 20})', n)}; DELETE FROM shaped WHERE a >= 20",
    ANY,
)
TABLE.text(
    "list: INSERT into a stream",
    30_000,
    lambda n: f"BEGIN; INSERT INTO shapes VALUES {listed(lambda i: f'(3, {chr(39)}x{chr(39)})', n)}",
    ANY,
)
TABLE.text("list: ARRAY", 30_000, lambda n: f"SELECT array_length(ARRAY[{listed(str, n)}], 1)", lambda n: n)
TABLE.text("list: coalesce", 5_000, lambda n: f"SELECT coalesce({'NULL, ' * n}1)", 1)
TABLE.text("list: greatest", 5_000, lambda n: f"SELECT greatest({listed(str, n)})", lambda n: n - 1)
TABLE.text(
    "list: greatest of columns",
    2_000,
    lambda n: f"SELECT greatest({listed(lambda i: 'a', n)}) FROM shaped WHERE a = 1",
    1,
)
TABLE.text("list: concat", 5_000, lambda n: f"SELECT length(concat({listed(lambda i: repr('x'), n)}))", ANY, True)
TABLE.text("list: arguments", 100_000, lambda n: f"SELECT abs({listed(str, n)})", ANY, True)
TABLE.text("list: targets", 1_600, lambda n: f"SELECT {listed(str, n)}", 0)
TABLE.text(
    "list: targets of a table",
    1_600,
    lambda n: f"SELECT {listed(lambda i: f'a + {i}', n)} FROM shaped WHERE a = 1",
    1,
)
TABLE.text("list: too many targets", 30_000, lambda n: f"SELECT {listed(lambda i: '1', max(n, 1_665))}", "54011")
TABLE.text("list: sums", 1_600, lambda n: f"SELECT {listed(lambda i: f'sum(a + {i})', n)} FROM shaped", ANY)
TABLE.text("list: sums of a stream", 200, lambda n: f"SELECT {listed(lambda i: f'sum(k + {i})', n)} FROM shapes", ANY)
TABLE.text(
    "list: windows",
    500,
    lambda n: f"SELECT {listed(lambda i: f'sum(a) OVER (ORDER BY a + {i})', n)} FROM shaped WHERE a = 1",
    1,
    True,
)
TABLE.text(
    "list: named windows",
    5_000,
    lambda n: f"SELECT 1 FROM shaped WINDOW {listed(lambda i: f'w{i} AS (ORDER BY a)', n)} LIMIT 1",
    1,
    True,
)
TABLE.text(
    "list: windows of windows",
    2_000,
    lambda n: (
        f"SELECT 1 FROM shaped WINDOW w0 AS (PARTITION BY a), {listed(lambda i: f'w{i + 1} AS (w{i})', n)} LIMIT 1"
    ),
    1,
    True,
)
TABLE.text(
    "list: ORDER BY",
    5_000,
    lambda n: f"SELECT a FROM shaped WHERE a = 1 ORDER BY {listed(lambda i: f'a + {i}', n)}",
    1,
    True,
)
TABLE.text(
    "list: ORDER BY the same",
    5_000,
    lambda n: f"SELECT a FROM shaped WHERE a = 1 ORDER BY {', '.join(['a'] * n)}",
    1,
    True,
)
TABLE.text(
    "list: GROUP BY",
    1_600,
    lambda n: f"SELECT count(*) FROM shaped WHERE a = 1 GROUP BY {listed(lambda i: f'a + {i}', n)}",
    1,
    True,
)
TABLE.text(
    "list: GROUP BY the same",
    5_000,
    lambda n: f"SELECT count(*) FROM shaped WHERE a = 1 GROUP BY {', '.join(['a'] * n)}",
    1,
    True,
)
TABLE.text(
    "list: grouping sets",
    4_000,
    lambda n: (
        f"SELECT count(*) FROM (SELECT count(*) FROM shaped WHERE a = 1 GROUP BY GROUPING SETS ({listed(lambda i: '(a)', n)})) q"
    ),
    lambda n: n,
    True,
)
TABLE.text("list: cubes", 2_000, lambda n: f"SELECT 1 GROUP BY {', '.join(['CUBE (1, 1)'] * n)}", ANY, True)
TABLE.text("list: rollup", 2_000, lambda n: f"SELECT 1 GROUP BY ROLLUP ({', '.join(['1'] * n)})", ANY, True)
TABLE.text(
    "list: DISTINCT ON",
    1_600,
    lambda n: f"SELECT DISTINCT ON ({listed(lambda i: f'a + {i}', n)}) a FROM shaped WHERE a = 1",
    1,
    True,
)
TABLE.text(
    "list: JOIN",
    200,
    lambda n: (
        "SELECT count(*) FROM shaped q0" + "".join(f" JOIN shaped q{i + 1} ON q{i + 1}.a = q{i}.a" for i in range(n))
    ),
    10,
    True,
)
TABLE.text(
    "list: LEFT JOIN",
    200,
    lambda n: (
        "SELECT count(*) FROM shaped q0"
        + "".join(f" LEFT JOIN shaped q{i + 1} ON q{i + 1}.a = q{i}.a" for i in range(n))
    ),
    10,
    True,
)
TABLE.text(
    "list: JOIN USING",
    200,
    lambda n: "SELECT count(*) FROM shaped q0" + "".join(f" JOIN shaped q{i + 1} USING (a)" for i in range(n)),
    10,
    True,
)
TABLE.text("list: FROM", 200, lambda n: f"SELECT count(*) FROM {listed(lambda i: f'(SELECT 1) q{i}', n)}", 1, True)
TABLE.text(
    "list: FROM without an end",
    2_000,
    lambda n: f"SELECT count(*) FROM {listed(lambda i: f'shaped q{i}', n)} WHERE false",
    0,
    True,
)
TABLE.text(
    "list: FROM of the same name", 5_000, lambda n: f"SELECT 1 FROM {', '.join(['shaped'] * max(n, 2))}", "42712"
)
TABLE.text(
    "list: NATURAL JOIN",
    100,
    lambda n: "SELECT count(*) FROM shaped q" + "".join(f" NATURAL JOIN (SELECT a FROM shaped) x{i}" for i in range(n)),
    10,
    True,
)
TABLE.text("list: WITH", 2_000, lambda n: f"WITH {listed(lambda i: f'c{i} AS (SELECT {i} AS x)', n)} SELECT 1", 1)
TABLE.text(
    "list: WITH used",
    1_000,
    lambda n: f"WITH {listed(lambda i: f'c{i} AS (SELECT {i} AS x)', n)} SELECT count(*) FROM ({united(n)}) q",
    lambda n: n,
    True,
)
TABLE.text(
    "list: WITH of the one before",
    1_000,
    lambda n: (
        "WITH c0 AS (SELECT 1 AS x), "
        + listed(lambda i: f"c{i + 1} AS (SELECT x FROM c{i})", n)
        + f" SELECT x FROM c{n}"
    ),
    1,
    True,
)
TABLE.text(
    "list: WITH of the one before twice",
    300,
    lambda n: (
        "WITH c0 AS (SELECT 1 AS x), "
        + listed(lambda i: f"c{i + 1} AS (SELECT p.x FROM c{i} p, c{i} q)", n)
        + f" SELECT x FROM c{n}"
    ),
    1,
    True,
)
TABLE.text("list: views of views", 6, lambda n: f"SELECT count(*) FROM w{min(n, 40)}", 1, True)
TABLE.text(
    "list: column aliases",
    5_000,
    lambda n: f"SELECT 1 FROM shaped AS q ({listed(lambda i: f'x{i}', max(n, 6))})",
    "42P10",
)
TABLE.text(
    "list: parameters that nobody gives",
    60_000,
    lambda n: f"SELECT {listed(lambda i: f'${i + 1}', n, '+')}",
    ANY,
    True,
)
TABLE.text("list: 1,600 arguments", 1_600, lambda n: f"SELECT concat({listed(str, n)}) IS NULL", False, True)
TABLE.text(
    "list: 1,600 arguments of a column",
    1_600,
    lambda n: f"SELECT concat({listed(lambda i: 'a', n)}) IS NULL FROM shaped WHERE a = 1",
    False,
    True,
)
TABLE.text(
    "list: array of 100,000", 100_000, lambda n: f"SELECT array_length(ARRAY[{listed(str, n)}], 1)", lambda n: n, True
)
TABLE.text(
    "list: array of a column",
    10_000,
    lambda n: f"SELECT array_length(ARRAY[{listed(lambda i: f'a + {i}', n)}], 1) FROM shaped WHERE a = 1",
    lambda n: n,
    True,
)
TABLE.text(
    "list: json_build_array",
    1_600,
    lambda n: f"SELECT json_build_array({listed(str, n)}) IS NULL",
    ANY,
    True,
)
TABLE.text("list: row", 1_600, lambda n: f"SELECT ROW({listed(str, n)}) IS NULL", False, True)
TABLE.text("list: rows compared", 1_600, lambda n: f"SELECT ({listed(str, n)}) = ({listed(str, n)})", True, True)
TABLE.text(
    "list: rows of columns compared",
    1_600,
    lambda n: f"SELECT ({', '.join(['a'] * n)}) < ({', '.join(['b'] * n)}) FROM shaped WHERE a = 1",
    ANY,
    True,
)
TABLE.text("list: constants", 1_600, lambda n: f"SELECT {listed(lambda i: f'{i} + {i} * {i}', n)}", 0)
TABLE.text(
    "list: constant functions",
    1_600,
    lambda n: f"SELECT {listed(lambda i: f'abs({i}) + length({chr(39)}x{chr(39)})', n)}",
    1,
)
TABLE.text(
    "list: constant times",
    1_600,
    lambda n: f"SELECT {listed(lambda i: f'now() + interval {chr(39)}{i} days{chr(39)}', n)}",
    ANY,
)
TABLE.text(
    "list: constant rows",
    10_000,
    lambda n: (
        f"SELECT count(*) FROM (VALUES {listed(lambda i: f'({i} + {i}, abs({i}), {chr(39)}2020-01-01{chr(39)}::date + {i})', n)}) q"
    ),
    lambda n: n,
)
TABLE.text(
    "list: FILTER",
    500,
    lambda n: f"SELECT {listed(lambda i: f'count(*) FILTER (WHERE a > {i})', n)} FROM shaped",
    ANY,
    True,
)
