-- Run: psql -X -q -A -t -h 127.0.0.1 -p PORT -f k13l_stable_casts_fail_by_the_row.sql antumbra
\set VERBOSITY sqlstate
SET client_min_messages = error;
DROP SCHEMA IF EXISTS k13l CASCADE;
CREATE SCHEMA k13l;
SET search_path = k13l;
CREATE TABLE t (a int, v varchar(8));
UPDATE t SET v = (date '2021-06-15')::text;
\echo :SQLSTATE
UPDATE t SET v = date '2021-06-15';
\echo :SQLSTATE
UPDATE t SET v = ARRAY[1, 2, 3, 4, 5, 6]::text;
\echo :SQLSTATE
UPDATE t SET v = interval '1 day 10:00:00'::text;
\echo :SQLSTATE
UPDATE t SET v = time '12:00:00.1234'::text;
\echo :SQLSTATE
UPDATE t SET v = concat('abcdefghi');
\echo :SQLSTATE
UPDATE t SET v = 'abcdefghi' || 1;
\echo :SQLSTATE
UPDATE t SET v = 'abcdefgh' || date '2021-06-15';
\echo :SQLSTATE
UPDATE t SET v = make_date(2020, 1, 1)::text;
\echo :SQLSTATE
UPDATE t SET v = 1234567890::text;
\echo :SQLSTATE
SELECT (date '2021-06-15')::text::int FROM t;
\echo :SQLSTATE
SELECT timestamp '2020-01-01'::timestamptz::text::int FROM t;
\echo :SQLSTATE
SELECT ARRAY[1, 2]::text::int FROM t;
\echo :SQLSTATE
SELECT a FROM t WHERE a = (date '2021-06-15')::text::int;
\echo :SQLSTATE
INSERT INTO t VALUES (1, 'x');
\echo :SQLSTATE
SELECT CASE WHEN a = 2 THEN (date '2021-06-15')::text::int END FROM t;
\echo :SQLSTATE
SELECT a FROM t WHERE a = 2 AND concat('a', 'b')::int = 1;
\echo :SQLSTATE
UPDATE t SET v = (date '2021-06-15')::text WHERE a = 2;
\echo :SQLSTATE
UPDATE t SET v = (date '2021-06-15')::text;
\echo :SQLSTATE
SELECT (date '2021-06-15')::text || 'x' FROM t GROUP BY GROUPING SETS ((a), ((date '2021-06-15')::text));
\echo :SQLSTATE
RESET search_path;
DROP SCHEMA k13l CASCADE;
