-- Operands whose COLLATE clauses name different collations are 42P21, in operators, functions, CASE and arrays; in queries on the catalog, too.
-- Run: psql -X -q -A -t -h 127.0.0.1 -p PORT -f k13n_collations_that_differ.sql antumbra
\set VERBOSITY sqlstate
\o /dev/null
SET client_min_messages = error;
DROP SCHEMA IF EXISTS k13n CASCADE;
CREATE SCHEMA k13n;
SET search_path = k13n;
CREATE TABLE t (a text, b text);
INSERT INTO t VALUES ('a', 'b');
\o
SELECT a COLLATE "C" < b COLLATE "POSIX" FROM t;
\echo :SQLSTATE
SELECT a COLLATE "C" || b COLLATE "POSIX" FROM t;
\echo :SQLSTATE
SELECT (a COLLATE "C" || 'x') < (b COLLATE "POSIX") FROM t;
\echo :SQLSTATE
SELECT a COLLATE "C" LIKE b COLLATE "POSIX" FROM t;
\echo :SQLSTATE
SELECT a COLLATE "C" BETWEEN 'a' AND b COLLATE "POSIX" FROM t;
\echo :SQLSTATE
SELECT a BETWEEN b COLLATE "C" AND b COLLATE "POSIX" FROM t;
\echo :SQLSTATE
SELECT a COLLATE "C" IN ('x', b COLLATE "POSIX") FROM t;
\echo :SQLSTATE
SELECT a COLLATE "C" IS DISTINCT FROM b COLLATE "POSIX" FROM t;
\echo :SQLSTATE
SELECT coalesce(a COLLATE "C", b COLLATE "POSIX") FROM t;
\echo :SQLSTATE
SELECT CASE WHEN true THEN a COLLATE "C" ELSE b COLLATE "POSIX" END FROM t;
\echo :SQLSTATE
SELECT greatest(a COLLATE "C", b COLLATE "POSIX") FROM t;
\echo :SQLSTATE
SELECT ARRAY[a COLLATE "C", b COLLATE "POSIX"] FROM t;
\echo :SQLSTATE
SELECT a FROM t WHERE a COLLATE "C" > b COLLATE "POSIX";
\echo :SQLSTATE
SELECT a COLLATE "default" < b COLLATE "C" FROM t;
\echo :SQLSTATE
SELECT a COLLATE "C", b COLLATE "POSIX" FROM t ORDER BY a COLLATE "POSIX", b COLLATE "C";
\echo :SQLSTATE
SELECT length(a COLLATE "C") + length(b COLLATE "POSIX") FROM t;
\echo :SQLSTATE
SELECT a COLLATE pg_catalog."C" = b COLLATE "C" FROM t;
\echo :SQLSTATE
SELECT (a COLLATE "C") COLLATE "POSIX" < b COLLATE "POSIX" FROM t;
\echo :SQLSTATE
SELECT (a COLLATE "C" < 'b') = (b COLLATE "POSIX" < 'c') FROM t;
\echo :SQLSTATE
SELECT relname COLLATE "C" < relname COLLATE "POSIX" FROM pg_class;
\echo :SQLSTATE
SELECT oid COLLATE "C" FROM pg_class;
\echo :SQLSTATE
SELECT relname COLLATE "C" FROM pg_class WHERE relname = 'pg_class';
\echo :SQLSTATE
SELECT 1 FROM pg_class LIMIT $1;
\echo :SQLSTATE
