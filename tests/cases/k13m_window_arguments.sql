-- The arguments of ntile and nth_value are greater than zero, wherever they come from.
-- Run: psql -X -q -A -t -h 127.0.0.1 -p PORT -f k13m_window_arguments.sql antumbra
\set VERBOSITY sqlstate
\o /dev/null
SET client_min_messages = error;
DROP SCHEMA IF EXISTS k13m CASCADE;
CREATE SCHEMA k13m;
SET search_path = k13m;
CREATE TABLE t (i integer);
INSERT INTO t VALUES (1), (2), (3);
\o
\pset null N
SELECT ntile(0) OVER () FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT ntile(i - 1) OVER (ORDER BY i) FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT nth_value(i, 0) OVER () FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT nth_value(i, -1) OVER (ORDER BY i) FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT nth_value(i, 2) OVER (ORDER BY i), ntile(2) OVER (ORDER BY i) FROM t ORDER BY i;
DROP SCHEMA k13m CASCADE;
