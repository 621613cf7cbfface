"""Texts that the input of types reads."""

from __future__ import annotations

from bench.shapes.table import ANY, MB, Make, Table, listed

TABLE = Table()

TABLE.text("constant: integer", MB, lambda n: "SELECT " + "1" * n, ANY, True)
TABLE.text("constant: decimal", MB, lambda n: "SELECT 1." + "1" * n, ANY, True)
TABLE.text("constant: short decimal", 16_000, lambda n: "SELECT length((1." + "1" * n + ")::text)")
TABLE.text("constant: exponent", MB, lambda n: f"SELECT 1e{n}", ANY, True)
TABLE.text("constant: exponent of digits", MB, lambda n: "SELECT 1e" + "1" * n, ANY, True)
TABLE.text("constant: numeric text", MB, lambda n: f"SELECT '{'1' * n}'::numeric", "22003", True)
TABLE.text("constant: integer text", MB, lambda n: f"SELECT '{'1' * n}'::integer", "22003")
TABLE.text("constant: float text", MB, lambda n: f"SELECT '{'1' * n}'::float8", "22003")
TABLE.text("constant: float digits", MB, lambda n: f"SELECT '0.{'1' * n}'::float8 > 0.1", True)
TABLE.text("constant: spaces", MB, lambda n: f"SELECT '{' ' * n}1'::integer", 1)
TABLE.text("constant: no integer", MB, lambda n: f"SELECT '{'x' * n}'::integer", "22P02")


def typed(piece: str, kind: str) -> Make:
    """Return a constant of so many equal pieces."""
    return lambda n: f"SELECT '{piece * n}'::{kind}"


for kind in ("date", "time", "timestamp", "timestamptz", "interval"):
    TABLE.text(f"constant: {kind}", MB, typed("1", kind))
    TABLE.text(f"constant: {kind} of words", MB // 2, typed("x ", kind), "22007")
    TABLE.text(f"constant: {kind} of spaces", MB, typed(" ", kind), "22007")
TABLE.text("constant: interval of fields", MB // 10, lambda n: f"SELECT '{'1 day ' * n}'::interval", ANY)
TABLE.text("constant: bytea", 4 * MB, lambda n: f"SELECT length('\\x{'ab' * n}'::bytea)", lambda n: n)
TABLE.text("constant: spaced bytea", 2 * MB, lambda n: f"SELECT length('\\x{'ab ' * n}'::bytea)", lambda n: n)
TABLE.text("constant: escaped bytea", MB, lambda n: "SELECT length('" + "\\001" * n + "'::bytea)", lambda n: n)
TABLE.text("constant: bytea of characters", 4 * MB, lambda n: f"SELECT length('{'x' * n}'::bytea)", lambda n: n)
TABLE.text("constant: uuid", MB, lambda n: f"SELECT '{'a' * n}'::uuid", "22P02")
TABLE.text("constant: inet", MB, lambda n: f"SELECT '{'1.' * n}'::inet", "22P02")
TABLE.text("constant: boolean", MB, lambda n: f"SELECT '{'t' * n}'::boolean", "22P02")
TABLE.text(
    "constant: array", 300_000, lambda n: f"SELECT array_length('{{{listed(str, n, ',')}}}'::int[], 1)", lambda n: n
)
TABLE.text(
    "constant: array of texts",
    300_000,
    lambda n: f"SELECT array_length('{{{listed(lambda i: 'x', n, ',')}}}'::text[], 1)",
    lambda n: n,
)
TABLE.text(
    "constant: array of quoted texts",
    300_000,
    lambda n: "SELECT array_length('{" + listed(lambda i: '"x\\""', n, ",") + "}'::text[], 1)",
    lambda n: n,
)
TABLE.text("constant: nested array", 100_000, lambda n: f"SELECT '{'{' * n}{'}' * n}'::int[]", ANY, True)
TABLE.text("constant: json", 4 * MB, lambda n: "SELECT '[" + "1," * (n // 2) + "1]'::json IS NULL", False)
TABLE.text("constant: json text", 4 * MB, lambda n: "SELECT '\"" + "x" * n + "\"'::json IS NULL", False)
TABLE.text("constant: nested json", 100_000, lambda n: "SELECT '" + "[" * n + "]" * n + "'::json IS NULL", False, True)
TABLE.text(
    "constant: nested jsonb", 100_000, lambda n: "SELECT '" + "[" * n + "]" * n + "'::jsonb IS NULL", False, True
)
TABLE.text("constant: jsonb", 300_000, lambda n: "SELECT '[" + "1," * n + "1]'::jsonb IS NULL", False)
TABLE.text(
    "constant: jsonb object",
    200_000,
    lambda n: "SELECT '{" + listed(lambda i: f'"k{i}":{i}', n, ",") + "}'::jsonb IS NULL",
    False,
)
TABLE.text("constant: json without an end", 100_000, lambda n: "SELECT '" + '{"a":' * n + "'::json", "22P02", True)
TABLE.text("constant: regclass", MB, lambda n: f"SELECT '{'x' * n}'::regclass", "42P01")
TABLE.text("constant: bits", MB, lambda n: f"SELECT B'{'1' * n}'", ANY)
TABLE.text("constant: escaped strings", 100_000, lambda n: "SELECT " + listed(lambda i: "E'\\\\'", n, "||"), ANY, True)
TABLE.text("constant: varchar", 4 * MB, lambda n: f"SELECT length('{'x' * n}'::varchar(10))", lambda n: min(n, 10))
TABLE.text("constant: enum", MB, lambda n: f"SELECT '{'x' * n}'::no_enum", "42704")
