-- Run: psql -X -q -A -t -h 127.0.0.1 -p PORT -f k23d_dates_after_all_time_stamps.sql antumbra
\set VERBOSITY sqlstate
SET client_min_messages = error;
DROP SCHEMA IF EXISTS k23d CASCADE;
CREATE SCHEMA k23d;
SET search_path = k23d;
SET TimeZone = 'UTC';
CREATE TABLE t (k int, d date, ts timestamp);
INSERT INTO t VALUES (1, '294246-12-31', '2020-01-01'), (2, '294277-01-01', '2020-01-01'), (3, 'infinity', '2020-01-01'), (4, '-infinity', 'infinity'), (5, '4714-11-24 BC', '1999-01-01'), (6, NULL, NULL), (7, '2020-01-01', NULL);
SELECT k FROM t WHERE d::timestamp > '2020-01-01' ORDER BY k;
\echo :SQLSTATE
SELECT k FROM t WHERE d::timestamp > ts ORDER BY k;
\echo :SQLSTATE
SELECT k FROM t WHERE d > '2020-01-01'::timestamp ORDER BY k;
\echo :SQLSTATE
SELECT k FROM t WHERE d::timestamptz > '2020-01-01' ORDER BY k;
\echo :SQLSTATE
SELECT k FROM t WHERE d::timestamp > '2020-01-01' AND k <> 2 ORDER BY k;
\echo :SQLSTATE
SELECT k FROM t WHERE k <> 2 AND d::timestamp < '2020-01-01' ORDER BY k;
\echo :SQLSTATE
SELECT count(d::timestamp) FROM t;
\echo :SQLSTATE
SELECT max(d::timestamp), min(d::timestamp) FROM t WHERE k <> 2;
\echo :SQLSTATE
SELECT k FROM t WHERE d::timestamp IS NOT NULL;
\echo :SQLSTATE
SELECT k FROM t WHERE d::timestamp BETWEEN '2020-01-01' AND '2021-01-01';
\echo :SQLSTATE
SELECT k FROM t WHERE d::timestamp < '2020-01-01';
\echo :SQLSTATE
SELECT CASE WHEN d::timestamp > '2020-01-01' THEN 1 END FROM t;
\echo :SQLSTATE
SELECT d::timestamp, d::timestamptz, d + interval '1 hour', d + time '01:00' FROM t WHERE k <> 2 ORDER BY k;
\echo :SQLSTATE
SELECT d::timestamp::date = d FROM t WHERE k <> 2 ORDER BY k;
\echo :SQLSTATE
SELECT t.k, u.k FROM t JOIN t u ON t.d::timestamp = u.ts;
\echo :SQLSTATE
SELECT t.k, u.k FROM t JOIN t u ON t.d = u.ts ORDER BY 1, 2;
\echo :SQLSTATE
RESET search_path;
DROP SCHEMA k23d CASCADE;
