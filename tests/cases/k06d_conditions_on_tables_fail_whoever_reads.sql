-- Run: psql -X -q -A -t -h 127.0.0.1 -p PORT -f k06d_conditions_on_tables_fail_whoever_reads.sql antumbra
\set VERBOSITY sqlstate
SET client_min_messages = error;
DROP SCHEMA IF EXISTS k06d CASCADE;
CREATE SCHEMA k06d;
SET search_path = k06d;
CREATE FOREIGN TABLE s (k int, v int) SERVER stream;
CREATE TABLE d (id int, n int, t text);
INSERT INTO d VALUES (1, 0, 'one'), (2, 5, '2');
CREATE VIEW j1 AS SELECT d.id, count(*) AS n FROM s JOIN d ON s.k = d.id AND 10 / d.n > 1 GROUP BY d.id;
CREATE VIEW j2 AS SELECT d.id, sum(v) AS n FROM s JOIN d ON s.k = d.id WHERE d.t::int > 1 GROUP BY d.id;
CREATE VIEW j3 AS SELECT count(*) AS n FROM s WHERE k IN (SELECT 10 / n FROM d);
CREATE VIEW j4 AS SELECT count(*) AS n FROM s WHERE k > (SELECT max(10 / n) FROM d);
CREATE VIEW j5 AS SELECT count(*) AS n FROM s LEFT JOIN d ON s.k = d.id AND 10 / d.n > 1;
CREATE VIEW j6 AS SELECT count(*) AS n FROM s JOIN (SELECT 10 / n AS id, count(*) FROM d GROUP BY 1) q ON q.id = s.k;
CREATE VIEW j7 AS SELECT k, count(*) AS n FROM s WHERE k = (SELECT id FROM d) GROUP BY k;
CREATE VIEW j8 AS SELECT k, count(DISTINCT v) AS n FROM s JOIN d ON d.id = k WHERE sqrt(n - 1) >= 0 GROUP BY k;
INSERT INTO s VALUES (2, 1), (1, 2), (2, 1), (7, 7);
SELECT * FROM j1;
\echo :SQLSTATE
SELECT * FROM j2;
\echo :SQLSTATE
SELECT * FROM j3;
\echo :SQLSTATE
SELECT * FROM j4;
\echo :SQLSTATE
SELECT * FROM j5;
\echo :SQLSTATE
SELECT * FROM j6;
\echo :SQLSTATE
SELECT * FROM j7;
\echo :SQLSTATE
SELECT * FROM j8;
\echo :SQLSTATE
UPDATE d SET n = 1, t = '1' WHERE id = 1;
SELECT * FROM j1 ORDER BY 1;
\echo :SQLSTATE
SELECT * FROM j2 ORDER BY 1;
\echo :SQLSTATE
SELECT * FROM j3 ORDER BY 1;
\echo :SQLSTATE
SELECT * FROM j4 ORDER BY 1;
\echo :SQLSTATE
SELECT * FROM j5 ORDER BY 1;
\echo :SQLSTATE
SELECT * FROM j6 ORDER BY 1;
\echo :SQLSTATE
SELECT * FROM j7 ORDER BY 1;
\echo :SQLSTATE
SELECT * FROM j8 ORDER BY 1;
\echo :SQLSTATE
DELETE FROM d WHERE id = 1;
SELECT * FROM j1 ORDER BY 1;
\echo :SQLSTATE
SELECT * FROM j2 ORDER BY 1;
\echo :SQLSTATE
SELECT * FROM j3 ORDER BY 1;
\echo :SQLSTATE
SELECT * FROM j4 ORDER BY 1;
\echo :SQLSTATE
SELECT * FROM j5 ORDER BY 1;
\echo :SQLSTATE
SELECT * FROM j6 ORDER BY 1;
\echo :SQLSTATE
SELECT * FROM j7 ORDER BY 1;
\echo :SQLSTATE
SELECT * FROM j8 ORDER BY 1;
\echo :SQLSTATE
RESET search_path;
DROP SCHEMA k06d CASCADE;
