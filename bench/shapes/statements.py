"""Statements that are no queries, of many parts."""

from __future__ import annotations

from bench.shapes.table import ANY, MB, Table, listed

TABLE = Table()
BACK = "ROLLBACK; SELECT 1"

TABLE.text(
    "statement: CREATE TABLE",
    1_600,
    lambda n: f"BEGIN; CREATE TABLE wide ({listed(lambda i: f'c{i} integer', n)}); {BACK}",
    1,
)
TABLE.text(
    "statement: CREATE TABLE of too many columns",
    30_000,
    lambda n: f"CREATE TABLE wide ({listed(lambda i: f'c{i} integer', max(n, 1_601))})",
    "54011",
)
TABLE.text(
    "statement: CREATE TABLE of the same names",
    5_000,
    lambda n: f"CREATE TABLE wide ({', '.join(['c integer'] * max(n, 2))})",
    ANY,
)
TABLE.text(
    "statement: CREATE TABLE with checks",
    500,
    lambda n: f"BEGIN; CREATE TABLE wide (a integer, {listed(lambda i: f'CHECK (a > {i})', n)}); {BACK}",
    1,
)
TABLE.text(
    "statement: CHECK of many",
    2_000,
    lambda n: (
        f"BEGIN; CREATE TABLE wide (a integer CHECK ({listed(lambda i: f'a <> {i}', n, ' AND ')})); INSERT INTO wide VALUES (-1); {BACK}"
    ),
    1,
    True,
)
TABLE.text(
    "statement: DEFAULT of many",
    2_000,
    lambda n: (
        f"BEGIN; CREATE TABLE wide (a integer DEFAULT {'+'.join(['1'] * n)}, b integer); INSERT INTO wide (b) VALUES (1); {BACK}"
    ),
    1,
    True,
)
TABLE.text(
    "statement: CREATE FOREIGN TABLE",
    1_600,
    lambda n: (
        f"BEGIN; CREATE FOREIGN TABLE wide ({listed(lambda i: f'c{i} integer', n)}) SERVER stream OPTIONS (capacity '64'); {BACK}"
    ),
    1,
    True,
)
TABLE.text(
    "statement: CREATE TYPE",
    5_000,
    lambda n: f"BEGIN; CREATE TYPE many AS ENUM ({listed(lambda i: repr(f'x{i}'), n)}); {BACK}",
    1,
)
TABLE.text(
    "statement: CREATE VIEW",
    1_000,
    lambda n: f"BEGIN; CREATE VIEW wide AS SELECT {listed(lambda i: f'a + {i} AS x{i}', n)} FROM shaped; {BACK}",
    1,
)
TABLE.text("statement: CREATE INDEX", 5_000, lambda n: f"CREATE INDEX ON shaped ({', '.join(['a'] * n)})", ANY)
TABLE.text(
    "statement: UNIQUE of many",
    5_000,
    lambda n: f"CREATE TABLE wide (a integer, UNIQUE ({', '.join(['a'] * max(n, 2))}))",
    ANY,
)
TABLE.text("statement: DROP TABLE", 30_000, lambda n: f"DROP TABLE {listed(lambda i: f'x{i}', n)}", "42P01")
TABLE.text(
    "statement: DROP TABLE IF EXISTS",
    5_000,
    lambda n: f"DROP TABLE IF EXISTS {listed(lambda i: f'x{i}', n)}; SELECT 1",
    1,
)
TABLE.text("statement: TRUNCATE", 30_000, lambda n: f"TRUNCATE {listed(lambda i: f'x{i}', n)}", "42P01")
TABLE.text(
    "statement: GRANT to many",
    30_000,
    lambda n: f"GRANT SELECT ON shaped TO {listed(lambda i: f'x{i}', n)}",
    "42704",
)
TABLE.text(
    "statement: GRANT on many",
    30_000,
    lambda n: f"GRANT SELECT ON {listed(lambda i: f'x{i}', n)} TO PUBLIC",
    "42P01",
)
TABLE.text(
    "statement: GRANT the same",
    10_000,
    lambda n: f"GRANT SELECT ON {', '.join(['shaped'] * n)} TO {', '.join(['PUBLIC'] * n)}; SELECT 1",
    1,
    True,
)
TABLE.text(
    "statement: REVOKE of columns",
    10_000,
    lambda n: f"GRANT SELECT ({', '.join(['a'] * n)}) ON shaped TO PUBLIC; SELECT 1",
    ANY,
)
TABLE.text("statement: SET", 4_000, lambda n: "; ".join(f"SET a.b{i} = '{i}'" for i in range(n)) + "; SHOW a.b1", "1")
TABLE.text(
    "statement: SET of a list",
    30_000,
    lambda n: f"SET search_path = {listed(lambda i: f'x{i}', n)}; SELECT 1 FROM shaped",
    ANY,
)
TABLE.text(
    "statement: search_path",
    5_000,
    lambda n: f"SET search_path = {listed(lambda i: f'x{i}', n)}, public; SELECT 1 FROM shaped LIMIT 1",
    1,
)
TABLE.text(
    "statement: search_path of the same",
    30_000,
    lambda n: f"SET search_path = {', '.join(['public'] * n)}; SELECT 1 FROM shaped LIMIT 1",
    1,
)
TABLE.text(
    "statement: application_name",
    4 * MB,
    lambda n: f"SET application_name = '{'x' * n}'; SELECT length(current_setting('application_name'))",
    lambda n: min(n, 63),
)
TABLE.text(
    "statement: custom setting",
    4 * MB,
    lambda n: f"SET a.b = '{'x' * n}'; SELECT length(current_setting('a.b'))",
    lambda n: n,
)
TABLE.text(
    "statement: set_config", 4 * MB, lambda n: f"SELECT length(set_config('a.b', '{'x' * n}', false))", lambda n: n
)
TABLE.text("statement: TimeZone", MB, lambda n: f"SET TimeZone = '{'x' * n}'", "22023")
TABLE.text("statement: DateStyle", MB, lambda n: f"SET DateStyle = '{'iso, ' * n}iso'", ANY)
TABLE.text("statement: statement_timeout", MB, lambda n: f"SET statement_timeout = '{'1' * max(n, 30)}'", "22023")
TABLE.text(
    "statement: PREPARE",
    5_000,
    lambda n: "; ".join(f"PREPARE p{i} AS SELECT {i}" for i in range(n)) + "; DEALLOCATE ALL; SELECT 1",
    1,
)
TABLE.text(
    "statement: EXECUTE",
    5_000,
    lambda n: f"PREPARE many AS SELECT $1::int; EXECUTE many({listed(str, max(n, 2))})",
    "42601",
)
TABLE.text(
    "statement: DECLARE",
    1_000,
    lambda n: "BEGIN; " + "; ".join(f"DECLARE c{i} CURSOR FOR SELECT {i}" for i in range(n)) + f"; {BACK}",
    1,
)
TABLE.text(
    "statement: SAVEPOINT",
    2_000,
    lambda n: "BEGIN; " + "; ".join(f"SAVEPOINT s{i}" for i in range(n)) + f"; {BACK}",
    1,
)
TABLE.text(
    "statement: LISTEN", 5_000, lambda n: "; ".join(f"LISTEN c{i}" for i in range(n)) + "; UNLISTEN *; SELECT 1", 1
)
TABLE.text("statement: NOTIFY of a long text", MB, lambda n: f"NOTIFY c, '{'x' * max(n, 8_000)}'", "22023")
TABLE.text(
    "statement: COMMENT",
    4 * MB,
    lambda n: f"COMMENT ON TABLE shaped IS '{'x' * n}'; COMMENT ON TABLE shaped IS NULL; SELECT 1",
    1,
)
TABLE.text("statement: many SELECTs", 5_000, lambda n: "SELECT 1; " * n, 1)
TABLE.text(
    "statement: many INSERTs",
    2_000,
    lambda n: "BEGIN; " + "INSERT INTO shaped (a) VALUES (50); " * n + f"{BACK}",
    1,
)
TABLE.text(
    "statement: UPDATE of many columns",
    5_000,
    lambda n: f"UPDATE shaped SET {', '.join(['a = 1'] * max(n, 2))}",
    "42601",
)
TABLE.text(
    "statement: RETURNING",
    1_600,
    lambda n: f"INSERT INTO shaped (a) SELECT 20 WHERE false RETURNING {listed(lambda i: f'a + {i}', n)}",
    None,
)
TABLE.text(
    "statement: INSERT of many columns",
    30_000,
    lambda n: f"INSERT INTO shaped ({', '.join(['a'] * max(n, 2))}) VALUES (1)",
    "42701",
)
TABLE.text(
    "statement: ON CONFLICT",
    2_000,
    lambda n: f"INSERT INTO shaped (a) SELECT 1 WHERE false ON CONFLICT ({', '.join(['a'] * n)}) DO NOTHING",
    ANY,
)
TABLE.text(
    "statement: COPY of many columns",
    30_000,
    lambda n: f"COPY shaped ({', '.join(['a'] * max(n, 2))}) FROM STDIN",
    "42701",
)
TABLE.text("statement: EXPLAIN", 2_000, lambda n: f"EXPLAIN SELECT {'+'.join(['1'] * n)}", ANY)
TABLE.text(
    "statement: ALTER TABLE",
    500,
    lambda n: f"BEGIN; ALTER TABLE shaped {listed(lambda i: f'ADD COLUMN x{i} integer', n)}; {BACK}",
    1,
)
TABLE.text("statement: LOCK", 5_000, lambda n: f"BEGIN; LOCK TABLE {', '.join(['shaped'] * n)}; {BACK}", ANY)
TABLE.text("statement: CREATE ROLE", MB, lambda n: f"CREATE ROLE {'x' * n} BOGUS", "42601")
TABLE.text(
    "statement: password",
    MB,
    lambda n: f"BEGIN; CREATE ROLE secretive PASSWORD '{'x' * n}'; {BACK}",
    ANY,
)
