"""Functions of long values."""

from __future__ import annotations

from bench.shapes.table import ANY, MB, Table, listed

TABLE = Table()

TABLE.text("function: LIKE", MB, lambda n: f"SELECT '{'a' * n}' LIKE '{'a' * n}'", True)
TABLE.text("function: LIKE of signs", MB, lambda n: f"SELECT 'a' LIKE '{'%' * n}'", True)
TABLE.text("function: LIKE of many signs", 100_000, lambda n: f"SELECT '{'a' * n}' LIKE '{'%a' * 20}b'", False)
TABLE.text(
    "function: LIKE of a column", MB, lambda n: f"SELECT count(*) FROM shaped WHERE c LIKE '{'%_' * (n // 2)}'", ANY
)
TABLE.text("function: ILIKE", MB, lambda n: f"SELECT '{'A' * n}' ILIKE '{'a' * n}'", True)
TABLE.text("function: SIMILAR TO", 10_000, lambda n: f"SELECT '{'a' * n}' SIMILAR TO '{'a' * n}'", True, True)
TABLE.text(
    "function: regular expression",
    10_000,
    lambda n: f"SELECT '{'a' * n}' ~ '{'a?' * n}'",
    # PostgreSQL finds that it has too many states.
    lambda n: True if n < 1_000 else "2201B",
    True,
)
TABLE.text("function: long regular expression", MB, lambda n: f"SELECT 'a' ~ '{'a' * n}'", ANY, True)
TABLE.text("function: nested regular expression", 100_000, lambda n: f"SELECT 'a' ~ '{'(' * n}a{')' * n}'", ANY, True)
TABLE.text("function: format", MB, lambda n: f"SELECT length(format('{'%%' * n}'))", lambda n: n)
TABLE.text("function: format of parts", 100_000, lambda n: f"SELECT length(format('{'%1$s' * n}', 'x'))", lambda n: n)
TABLE.text(
    "function: to_char", 100_000, lambda n: f"SELECT length(to_char(now(), '{'YYYY' * n}'))", lambda n: 4 * n, True
)
TABLE.text("function: to_char of numbers", 100_000, lambda n: f"SELECT to_char(1, '{'9' * n}') IS NULL", ANY, True)
TABLE.text("function: to_timestamp", 100_000, lambda n: f"SELECT to_timestamp('1', '{'YYYY' * n}')", ANY, True)
TABLE.text("function: replace", MB, lambda n: f"SELECT length(replace('{'a' * n}', 'a', 'bb'))", lambda n: 2 * n)
TABLE.text(
    "function: translate",
    MB,
    lambda n: f"SELECT length(translate('{'a' * n}', '{'a' * (n // 10)}', 'b'))",
    lambda n: n,
)
TABLE.text("function: split_part", MB, lambda n: f"SELECT split_part('{'a,' * n}', ',', {n})", "a")
TABLE.text(
    "function: string_to_array",
    300_000,
    lambda n: f"SELECT array_length(string_to_array('{'a,' * n}', ','), 1)",
    lambda n: n + 1,
)
TABLE.text("function: reverse", 4 * MB, lambda n: f"SELECT length(reverse('{'ab' * (n // 2)}'))", lambda n: n // 2 * 2)
TABLE.text("function: upper", 4 * MB, lambda n: f"SELECT length(upper('{'é' * (n // 2)}'))", lambda n: n // 2)
TABLE.text("function: initcap", 4 * MB, lambda n: f"SELECT length(initcap('{'a ' * (n // 2)}'))", lambda n: n // 2 * 2)
TABLE.text("function: md5", 4 * MB, lambda n: f"SELECT length(md5('{'x' * n}'))", 32)
TABLE.text("function: encode", 4 * MB, lambda n: f"SELECT length(encode('{'x' * n}'::bytea, 'hex'))", lambda n: 2 * n)
TABLE.text("function: decode", 4 * MB, lambda n: f"SELECT length(decode('{'ab' * n}', 'hex'))", lambda n: n)
TABLE.text("function: decode base64", 4 * MB, lambda n: f"SELECT length(decode('{'abcd' * (n // 4)}', 'base64'))", ANY)
TABLE.text(
    "function: quote_literal",
    2 * MB,
    lambda n: f"SELECT length(quote_literal('{chr(39) * 2 * n}'))",
    lambda n: 2 * n + 2,
)
TABLE.text("function: btrim", MB, lambda n: f"SELECT length(btrim('{'a' * n}', '{'ab' * (n // 100)}'))", ANY)
TABLE.text(
    "function: strpos", MB, lambda n: f"SELECT strpos('{'a' * n}b', '{'a' * (n // 2)}b')", lambda n: n - n // 2 + 1
)
TABLE.text("function: numeric power", 10_000, lambda n: f"SELECT 10::numeric ^ {n} > 0", ANY, True)
TABLE.text("function: factorial", 5_000, lambda n: f"SELECT factorial({n}) > 0", ANY, True)
TABLE.text("function: repeat", 100 * MB, lambda n: f"SELECT length(repeat('x', {n}))", lambda n: n, True)
TABLE.text("function: to_regclass", MB, lambda n: f"SELECT to_regclass('{'x' * n}')", None)
TABLE.text("function: to_regclass of points", MB, lambda n: f"SELECT to_regclass('x{'.x' * n}')", ANY)
TABLE.text(
    "function: json_extract_path",
    2_000,
    lambda n: "SELECT json_extract_path('{}'" + ", 'a'" * n + ") IS NULL",
    True,
    True,
)
TABLE.text("function: jsonb", 200_000, lambda n: "SELECT ('[" + "1," * n + "1]'::jsonb ->> -1)", "1")
TABLE.text(
    "function: array_position",
    100_000,
    lambda n: f"SELECT array_position('{{{listed(str, n, ',')}}}'::int[], {n - 1})",
    lambda n: n,
)
TABLE.text(
    "function: array comparison", 100_000, lambda n: f"SELECT {n} = ANY ('{{{listed(str, n, ',')}}}'::int[])", False
)
TABLE.text(
    "function: array comparison of a column",
    100_000,
    lambda n: f"SELECT count(*) FROM shaped WHERE a + 0 = ANY ('{{{listed(str, n, ',')}}}'::int[])",
    ANY,
)
TABLE.text("function: catalog", 2 * MB, lambda n: f"SELECT count(*) FROM pg_class WHERE relname = '{'x' * n}'", 0)
TABLE.text(
    "function: LIKE of parts", 100_000, lambda n: f"SELECT '{'ab' * n}' LIKE '{'%ab' * (n // 2)}%c'", False, True
)
TABLE.text(
    "function: LIKE of long parts",
    100_000,
    lambda n: f"SELECT '{'a' * n}' LIKE '%{'a' * (n // 2)}b{'a' * (n // 4)}%'",
    False,
    True,
)
TABLE.text(
    "function: LIKE of parts with signs",
    20_000,
    lambda n: f"SELECT '{'a' * n}' LIKE '%{'a_' * (n // 4)}b%'",
    False,
    True,
)
