"""Run: python FILE PORT ; its stdout must be FILE.expected (same name). Needs psycopg 3."""
import sys

import psycopg

PORT = sys.argv[1] if len(sys.argv) > 1 else "5433"
c = psycopg.connect(f"host=127.0.0.1 port={PORT} user=antumbra dbname=antumbra", autocommit=True)
for sql in r"""
SELECT E'\udb99'
SELECT E'\udb99x'
SELECT E'\udb99''x'
SELECT E'\udb99\n'
SELECT E'\udb99\u0041'
SELECT E'a\udb99\u00'
SELECT E'\udb99\udc99'
SELECT E'ab\udb99\U0000dc99cd'
SELECT E'\udb99\udb99'
SELECT E'\udc99'
SELECT E'\U0000D83D'
SELECT E'\uD83D\uDE00'
SELECT E'\U002FFFFF'
SELECT E'\U00110000'
SELECT E'\u00'
SELECT E'\u0000'
SELECT E'\x41\101\u0041'
SELECT E'a\\b\'c''d'
SELECT U&'\db99'
SELECT U&'\db99x'
SELECT U&'\db99\\'
SELECT U&'\db99\dc99'
SELECT U&'ab\db99\+00dc99cd\\e'
SELECT U&'\db99\0041'
SELECT U&'\dc99'
SELECT U&'\+110000'
SELECT U&'\0000'
SELECT U&'\00'
SELECT U&"\db99"
SELECT 1 AS U&"d\0061t\+000061"
SELECT U&'\zzzz'
SELECT 1 COLLATE "C"
SELECT (1 < 2) COLLATE "C"
SELECT ARRAY[1] COLLATE "C"
SELECT ARRAY['a'] COLLATE "C"
SELECT '{}'::jsonb COLLATE "C"
SELECT now() COLLATE "C" IS NULL
SELECT 'b' COLLATE "C" AS b, NULL COLLATE "C"
SELECT to_timestamp('2020-01-01 10:00 +99', 'YYYY-MM-DD HH24:MI TZH')
SELECT to_timestamp('2020-01-01 10:00 +16', 'YYYY-MM-DD HH24:MI TZH')
SELECT to_timestamp('2020-01-01 10:00 -15:60', 'YYYY-MM-DD HH24:MI TZH:TZM')
SELECT to_timestamp('2020-01-01 10:00 +05:99', 'YYYY-MM-DD HH24:MI TZH:TZM')
SELECT to_timestamp('2020-01-01 10:00 -15:59', 'YYYY-MM-DD HH24:MI TZH:TZM') = timestamptz '2020-01-01 10:00-15:59'
SELECT extract(epoch FROM interval '2147483647 months 2147483647 days')
SELECT ('3000000000' || ' days')::interval
SELECT interval '1 day' * 3000000000
""".strip().split("\n"):
    try: print(sql, "->", c.execute(sql).fetchall())
    except psycopg.Error as e: print(sql, "->", e.sqlstate, e.diag.message_primary, "at", e.diag.statement_position)
