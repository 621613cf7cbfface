-- Run: psql -X -q -A -t -h 127.0.0.1 -p PORT -f k19c_averages_of_long_numbers.sql antumbra
SET client_min_messages = error;
DROP SCHEMA IF EXISTS k19c CASCADE;
CREATE SCHEMA k19c;
SET search_path = k19c;
SELECT avg(x) FROM (VALUES (-99999999999999999999999999999999999999::numeric), (-99999999999999999999999999999999999999), (-1)) v(x);
SELECT avg(x) FROM (VALUES (9999999999999999999999999999999999.1234::numeric), (9999999999999999999999999999999999.1), (9)) v(x);
CREATE TABLE t (g int, n numeric, m numeric(38,0), s numeric(38,10), a numeric(20,2));
INSERT INTO t SELECT i % 3, 99999999999999999999999999999999999999 - i, 90000000000000000000000000000000000000 + i, -9999999999999999999999999999.0123456789, i / 7.0 FROM generate_series(1, 30) i;
SELECT avg(n), avg(m), avg(s), avg(a) FROM t;
SELECT g, avg(n), avg(m), avg(s), avg(a), avg(n) FILTER (WHERE g > 0) FROM t GROUP BY g ORDER BY g;
SELECT avg(n), avg(m), avg(s), avg(a) FROM t WHERE g > 5;
INSERT INTO t VALUES (0, 'NaN', 1, NULL, NULL), (1, 'Infinity', 0, 0, 0);
SELECT g, avg(n), avg(m), avg(s), avg(a) FROM t GROUP BY g ORDER BY g;
SELECT avg(a * 2), avg(m / 3) FROM t WHERE g = 2;
SELECT g, avg(m) OVER (PARTITION BY g ORDER BY m ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM t WHERE m > 1 ORDER BY g, m LIMIT 9;
RESET search_path;
DROP SCHEMA k19c CASCADE;
