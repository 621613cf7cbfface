-- Run: psql -X -q -A -t -h 127.0.0.1 -p PORT -f k13g_constants_beside_null.sql antumbra
\set VERBOSITY sqlstate
\o /dev/null
SET client_min_messages = error;
DROP SCHEMA IF EXISTS k13g CASCADE;
CREATE SCHEMA k13g;
SET search_path = k13g;
CREATE TABLE t (a int);
\o
SELECT NULL::int + 1/0;
\echo :SQLSTATE
SELECT 1/0 + NULL::int;
\echo :SQLSTATE
SELECT NULL = 1/0;
\echo :SQLSTATE
SELECT NULL::int = 1/0 FROM t;
\echo :SQLSTATE
SELECT mod(NULL::int, 1/0);
\echo :SQLSTATE
SELECT left('a', NULL::int + 1/0);
\echo :SQLSTATE
SELECT (NULL::int) IN (1/0, 2);
\echo :SQLSTATE
SELECT NULL BETWEEN 1/0 AND 2;
\echo :SQLSTATE
SELECT upper(NULL) || (1/0)::text;
\echo :SQLSTATE
SELECT a FROM t WHERE a = NULL::int + 1/0;
\echo :SQLSTATE
SELECT a + (NULL::int / 0) FROM t;
\echo :SQLSTATE
SELECT NULL AND 1/0 = 1;
\echo :SQLSTATE
SELECT false AND (NULL::int + 1/0) = 1;
\echo :SQLSTATE
SELECT coalesce(NULL, 2, 1/0);
\echo :SQLSTATE
SELECT CASE WHEN NULL THEN NULL::int + 1/0 ELSE 2 END;
\echo :SQLSTATE
SELECT NULL::int + 2147483647 * 2;
\echo :SQLSTATE
SELECT NULL::text || NULL;
\echo :SQLSTATE
SELECT NULL::int / 0;
\echo :SQLSTATE
SELECT concat(NULL, 1);
\echo :SQLSTATE
EXPLAIN (FORMAT) SELECT 1;
\echo :SQLSTATE
EXPLAIN (WAL) SELECT 1;
\echo :SQLSTATE
EXPLAIN (TIMING) SELECT 1;
\echo :SQLSTATE
SELECT NULL::int + 'x'::int;
\echo :SQLSTATE
