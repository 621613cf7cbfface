-- Constants of a query on the catalog that can't be computed fail it before it reads a row, where PostgreSQL computes them.
-- Run: psql -X -q -A -t -h 127.0.0.1 -p PORT -f k13k_constants_of_catalog_queries.sql antumbra
SELECT relname FROM pg_class WHERE (2147483647 + relnatts) IS NOT NULL AND relname='pg_class';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname FROM pg_class WHERE (2147483647 + 1) IS NOT NULL AND relname='pg_class';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname FROM pg_class WHERE (9223372036854775807 + 1) IS NOT NULL AND relname='pg_class';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname FROM pg_class WHERE 'x'::int = 1;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname FROM pg_class WHERE relnatts = 'x'::int;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname FROM pg_class WHERE 1/0 = 1;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname FROM pg_class WHERE relname='nosuch' AND 1/0 = 1;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT sqrt(-1) FROM pg_class WHERE relname='pg_class';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT case when relnatts > 0 then 1 else 1/0 end FROM pg_class WHERE relname='pg_class';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT coalesce(null, relnatts, 1/0) FROM pg_class WHERE relname='pg_class';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname FROM pg_class WHERE relname='pg_class' LIMIT -1;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname FROM pg_class WHERE relname='pg_class' OFFSET -1;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname FROM pg_class WHERE relname='pg_class' AND relnatts BETWEEN 1 AND 1/0;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT exists(SELECT 1/0 FROM pg_class) FROM pg_class WHERE relname='pg_class';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname FROM pg_class WHERE false AND 1/0 = 1;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname FROM pg_class WHERE relname = 'pg_class' AND (true OR 1/0 = 1);
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT CASE WHEN true THEN 1 ELSE 1/0 END FROM pg_class WHERE relname='pg_class';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT CASE 1 WHEN 1 THEN 1 WHEN 2 THEN 1/0 END FROM pg_class WHERE relname='pg_class';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT CASE relnatts WHEN 1 THEN 1/0 ELSE 3 END FROM pg_class WHERE relname='pg_class';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT coalesce(1, 1/0) FROM pg_class WHERE relname='pg_class';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT coalesce(NULL, 1, 1/0) FROM pg_class WHERE relname='pg_class';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname FROM (SELECT relname, 1/0 AS x FROM pg_class) q WHERE relname='pg_class';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
WITH q AS (SELECT relname, 1/0 AS x FROM pg_class) SELECT relname FROM q WHERE relname='pg_class';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname FROM pg_class WHERE relname='pg_class' LIMIT 1/0;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT count(*) FROM pg_class WHERE relname='nosuch' HAVING 1/0 = 1;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname FROM pg_class WHERE relname='nosuch' ORDER BY 1/0;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname FROM pg_class WHERE relname='nosuch' UNION SELECT repeat('x', 1/0);
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname, sqrt(-1), ln(0) FROM pg_class WHERE relname='nosuch';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname FROM pg_class WHERE relname='nosuch' AND (9223372036854775807 + relnatts) IS NULL;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname FROM pg_class WHERE relname='nosuch' AND relnatts > 2147483647 + 1;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT a.relname FROM pg_class a JOIN pg_class b ON a.oid = b.oid AND 1/0 = 1 WHERE a.relname='nosuch';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname FROM pg_class WHERE relname='pg_class' AND nullif(1/0, 1) IS NULL;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT exists(SELECT 1 FROM pg_class WHERE 1/0 = 1);
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname FROM pg_class WHERE relname='pg_class' OFFSET '-1';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname FROM pg_class WHERE relname='pg_class' LIMIT 2-3;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname FROM pg_class WHERE relname='pg_class' AND relname IN ('a', (1/0)::text);
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT relname FROM pg_class WHERE relname='pg_class' AND relnatts BETWEEN 1/0 AND 3;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
