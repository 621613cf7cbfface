-- Run: psql -X -q -A -t -h 127.0.0.1 -p PORT -f k12c_texts_beside_other_types.sql antumbra
\set VERBOSITY sqlstate
\pset null NULL
\o /dev/null
SET client_min_messages = error;
DROP SCHEMA IF EXISTS k12c CASCADE;
CREATE SCHEMA k12c;
SET search_path = k12c;
SET TimeZone = 'UTC';
CREATE TABLE t (i int, n numeric(12,3), d float8, c char(4), v varchar(5), bo boolean, ts timestamp, u uuid, r real);
INSERT INTO t VALUES (1, 4.5, 2.5, 'ab', 'cd', true, '2024-01-31 10:20', '00000000-0000-0000-0000-000000000001', 1.5), (2, 1.25, 3, 'x', 'y', false, '2024-01-01', NULL, 16777216), (3, 4.5, 3, 'x', 'y', false, '2024-01-01', NULL, 1);
\o
SELECT c || i, i || c, c || n, c || bo, c || ts, c || u, c || c, c || v, c || 'x', 'x' || c FROM t ORDER BY i;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT c.relname || t.i, t.i || c.relname, c.relname || t.n, t.bo || c.relname, c.relname || t.c, c.relname || t.v FROM t, pg_class c WHERE c.relname = 'pg_am' ORDER BY t.i;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname || relkind FROM pg_class WHERE relname = 'pg_am';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relkind || 'x' FROM pg_class WHERE relname = 'pg_am';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT 'x' || relkind FROM pg_class WHERE relname = 'pg_am';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relkind || relkind FROM pg_class WHERE relname = 'pg_am';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relkind || 1 FROM pg_class WHERE relname = 'pg_am';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relkind::text || relname FROM pg_class WHERE relname = 'pg_am';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT array_agg(DISTINCT n) FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT array_agg(DISTINCT n ORDER BY n DESC) FILTER (WHERE i < 3) FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT array_agg(DISTINCT t.n) FROM t, pg_class c WHERE c.relname = 'pg_am';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT i, sum(r) OVER (ORDER BY i), sum(r) OVER (), sum(r) OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t ORDER BY i;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
\o /dev/null
DROP SCHEMA k12c CASCADE;
