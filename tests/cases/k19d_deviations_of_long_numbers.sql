-- Run: psql -X -q -A -t -h 127.0.0.1 -p PORT -f k19d_deviations_of_long_numbers.sql antumbra
SET client_min_messages = error;
DROP SCHEMA IF EXISTS k19d CASCADE;
CREATE SCHEMA k19d;
SET search_path = k19d;
CREATE TABLE t (g int, b bigint, x numeric, n numeric(18,6), w numeric(30,8), d numeric(13,2));
INSERT INTO t SELECT i % 3, 1700000000000000000 + i * 1000003::bigint, 12345678901234567890.123456789 + i, 123456789012.123456 + i,
  1234567890123456789012.12345678 + i * i, 12345678901.25 + i FROM generate_series(1, 200) i;
SELECT stddev(b), var_pop(b), variance(x), stddev_pop(x), stddev(n), variance(w), var_pop(w), stddev(d) FROM t;
SELECT g, stddev(b), variance(x), stddev(n), variance(w) FILTER (WHERE b % 2 = 0) FROM t GROUP BY g ORDER BY g;
SELECT variance(DISTINCT x - g), stddev(DISTINCT b - g), variance(DISTINCT w) FROM t;
SELECT g, variance(x) OVER (PARTITION BY g ORDER BY b ROWS 2 PRECEDING), stddev(b) OVER (PARTITION BY g ORDER BY b) FROM t WHERE b % 10 = 0 ORDER BY b;
SELECT stddev(b), variance(x), var_pop(w) FROM t WHERE g > 5;
SELECT round(stddev(x / 7.0 / 7.0), 15), round(variance((w - 1234567890123456789012) * 1.0000000000000001), 10) FROM t;
SELECT variance(v), stddev_pop(v) FROM (VALUES ('NaN'::numeric), (1)) q(v);
SELECT variance(v), var_pop(v) FROM (VALUES ('Infinity'::numeric)) q(v);
SELECT variance(v::numeric(38,17)), var_pop(v::numeric(38,0)), stddev(v * 10000000000000000000000000000000000000) FROM (VALUES (1), (2)) q(v) HAVING count(*) > 5;
SELECT variance(v::numeric(38,17)), var_pop(v::numeric(38,0)) FROM (VALUES (1), (2), (NULL)) q(v);
CREATE FOREIGN TABLE s (g int, b bigint, x numeric) SERVER stream;
CREATE VIEW v AS SELECT g, stddev(b) AS sb, variance(x) AS vx, round(stddev(x / 7.0), 10) AS sx FROM s GROUP BY g;
INSERT INTO s SELECT g, b, x FROM t;
SELECT * FROM v ORDER BY g;
RESET search_path;
DROP SCHEMA k19d CASCADE;
