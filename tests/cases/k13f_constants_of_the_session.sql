-- Run: psql -X -q -A -t -h 127.0.0.1 -p PORT -f k13f_constants_of_the_session.sql antumbra
\set VERBOSITY sqlstate
\pset null NULL
\o /dev/null
SET client_min_messages = error;
DROP SCHEMA IF EXISTS k13f CASCADE;
CREATE SCHEMA k13f;
SET search_path = k13f;
SET TimeZone = 'UTC';
CREATE TABLE e (i int, t text);
CREATE TABLE f (i int, t text);
INSERT INTO f VALUES (1, 'a'), (2, 'b');
\o
SELECT '2024-02-30'::text::date FROM e;
\echo :SQLSTATE
SELECT CASE WHEN i > 100 THEN '2024-02-30'::text::date END FROM f;
\echo :SQLSTATE
SELECT coalesce(i::text, ('2024-02-30'::text::date)::text) FROM f;
\echo :SQLSTATE
SELECT i FROM e ORDER BY '2024-02-30'::text::date;
\echo :SQLSTATE
SELECT i FROM e WHERE ('2024-02-30'::text::date) IS NULL;
\echo :SQLSTATE
SELECT 1 FROM e a JOIN e b ON ('2024-02-30'::text::date) IS NOT NULL;
\echo :SQLSTATE
SELECT i FROM e WHERE false AND ('2024-02-30'::text::date) IS NULL;
\echo :SQLSTATE
SELECT to_date('2024-13', 'YYYY-MM') FROM e;
\echo :SQLSTATE
SELECT CASE WHEN i > 100 THEN to_date('2024-13', 'YYYY-MM') END FROM f;
\echo :SQLSTATE
SELECT coalesce(i::text, (to_date('2024-13', 'YYYY-MM'))::text) FROM f;
\echo :SQLSTATE
SELECT i FROM e ORDER BY to_date('2024-13', 'YYYY-MM');
\echo :SQLSTATE
SELECT i FROM e WHERE (to_date('2024-13', 'YYYY-MM')) IS NULL;
\echo :SQLSTATE
SELECT 1 FROM e a JOIN e b ON (to_date('2024-13', 'YYYY-MM')) IS NOT NULL;
\echo :SQLSTATE
SELECT i FROM e WHERE false AND (to_date('2024-13', 'YYYY-MM')) IS NULL;
\echo :SQLSTATE
SELECT to_number('', '9') FROM e;
\echo :SQLSTATE
SELECT CASE WHEN i > 100 THEN to_number('', '9') END FROM f;
\echo :SQLSTATE
SELECT coalesce(i::text, (to_number('', '9'))::text) FROM f;
\echo :SQLSTATE
SELECT i FROM e ORDER BY to_number('', '9');
\echo :SQLSTATE
SELECT i FROM e WHERE (to_number('', '9')) IS NULL;
\echo :SQLSTATE
SELECT 1 FROM e a JOIN e b ON (to_number('', '9')) IS NOT NULL;
\echo :SQLSTATE
SELECT i FROM e WHERE false AND (to_number('', '9')) IS NULL;
\echo :SQLSTATE
SELECT * FROM (VALUES (1), (2)) v(i) WHERE (1/0) IS NULL AND i > 5;
\echo :SQLSTATE
SELECT CASE WHEN i > 5 THEN 1/0 END FROM (VALUES (1), (2)) v(i);
\echo :SQLSTATE
SELECT (SELECT 1/0 FROM e);
\echo :SQLSTATE
SELECT count(*) FROM generate_series(1, 3) g WHERE g > 5 AND (1/0) IS NULL;
\echo :SQLSTATE
WITH q AS MATERIALIZED (SELECT 1/0 FROM e) SELECT 1;
\echo :SQLSTATE
WITH q AS MATERIALIZED (SELECT 1/0 AS x FROM e) SELECT x FROM q;
\echo :SQLSTATE
SELECT * FROM (VALUES (1), (2)) v(i) WHERE (sqrt(-1)) IS NULL AND i > 5;
\echo :SQLSTATE
SELECT CASE WHEN i > 5 THEN sqrt(-1) END FROM (VALUES (1), (2)) v(i);
\echo :SQLSTATE
SELECT (SELECT sqrt(-1) FROM e);
\echo :SQLSTATE
SELECT count(*) FROM generate_series(1, 3) g WHERE g > 5 AND (sqrt(-1)) IS NULL;
\echo :SQLSTATE
WITH q AS MATERIALIZED (SELECT sqrt(-1) FROM e) SELECT 1;
\echo :SQLSTATE
WITH q AS MATERIALIZED (SELECT sqrt(-1) AS x FROM e) SELECT x FROM q;
\echo :SQLSTATE
SELECT * FROM (VALUES (1), (2)) v(i) WHERE ('x'::text::int) IS NULL AND i > 5;
\echo :SQLSTATE
SELECT CASE WHEN i > 5 THEN 'x'::text::int END FROM (VALUES (1), (2)) v(i);
\echo :SQLSTATE
SELECT (SELECT 'x'::text::int FROM e);
\echo :SQLSTATE
SELECT count(*) FROM generate_series(1, 3) g WHERE g > 5 AND ('x'::text::int) IS NULL;
\echo :SQLSTATE
WITH q AS MATERIALIZED (SELECT 'x'::text::int FROM e) SELECT 1;
\echo :SQLSTATE
WITH q AS MATERIALIZED (SELECT 'x'::text::int AS x FROM e) SELECT x FROM q;
\echo :SQLSTATE
SELECT * FROM (VALUES (1), (2)) v(i) WHERE (10::smallint/0) IS NULL AND i > 5;
\echo :SQLSTATE
SELECT CASE WHEN i > 5 THEN 10::smallint/0 END FROM (VALUES (1), (2)) v(i);
\echo :SQLSTATE
SELECT (SELECT 10::smallint/0 FROM e);
\echo :SQLSTATE
SELECT count(*) FROM generate_series(1, 3) g WHERE g > 5 AND (10::smallint/0) IS NULL;
\echo :SQLSTATE
WITH q AS MATERIALIZED (SELECT 10::smallint/0 FROM e) SELECT 1;
\echo :SQLSTATE
WITH q AS MATERIALIZED (SELECT 10::smallint/0 AS x FROM e) SELECT x FROM q;
\echo :SQLSTATE
SELECT * FROM (VALUES (1), (2)) v(i) WHERE (left('a', 1/0)) IS NULL AND i > 5;
\echo :SQLSTATE
SELECT CASE WHEN i > 5 THEN left('a', 1/0) END FROM (VALUES (1), (2)) v(i);
\echo :SQLSTATE
SELECT (SELECT left('a', 1/0) FROM e);
\echo :SQLSTATE
SELECT count(*) FROM generate_series(1, 3) g WHERE g > 5 AND (left('a', 1/0)) IS NULL;
\echo :SQLSTATE
WITH q AS MATERIALIZED (SELECT left('a', 1/0) FROM e) SELECT 1;
\echo :SQLSTATE
WITH q AS MATERIALIZED (SELECT left('a', 1/0) AS x FROM e) SELECT x FROM q;
\echo :SQLSTATE
\o /dev/null
DROP SCHEMA k13f CASCADE;
