-- Run: psql -X -q -A -t -h 127.0.0.1 -p PORT -f k13e_what_is_out_of_range.sql antumbra
\set VERBOSITY sqlstate
\pset null NULL
\o /dev/null
SET client_min_messages = error;
DROP SCHEMA IF EXISTS k13e CASCADE;
CREATE SCHEMA k13e;
SET search_path = k13e;
SET TimeZone = 'UTC';
CREATE TABLE t (i int, v interval, ts timestamp, tz timestamptz, d date, s smallint, b bigint);
INSERT INTO t VALUES (1, '178000000 years', '2024-01-01', '2024-01-01', '2024-01-01', -32768, -9223372036854775808);
CREATE TABLE far (d date);
INSERT INTO far VALUES ('5874000-01-01'), ('4700-01-01 BC');
\o
SELECT ts + interval '2147483647 months' FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT ts - interval '-2147483648 days' FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT d - interval '-2147483648 days' FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT ts - interval '7000 years' FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT tz - interval '7000 years' FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT ts - interval '2562047788 hours' FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT d + interval '2147483647 days' FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT ts + v FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT ts - v FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT d + (-2147483648) FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT d - 2147483647 FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT d - i * 2000000000 FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT d + 2147483647 FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT d - d + 1, extract(epoch FROM d), date_part('epoch', d) FROM far ORDER BY d;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT ts - interval '6000 years', d - 7, d + (-7), ts - interval '1 day' FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT date_part('year', 'infinity'::date), date_part('epoch', '-infinity'::date), 'infinity'::date - 5, '-infinity'::date + (-5), '-infinity'::timestamp - interval '7000 years';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT (interval '9223372036854775807 us')::time, interval '-1 hour'::time;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT s / (-1)::smallint FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT (-2147483648) / (-i) FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT b / (-i) FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT abs(s) FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT abs(b) FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
\o /dev/null
DROP SCHEMA k13e CASCADE;
