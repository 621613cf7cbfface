-- Run: psql -X -q -A -t -h 127.0.0.1 -p PORT -f k06c_bad_groups_beside_tables_and_limits.sql antumbra
\set VERBOSITY sqlstate
\o /dev/null
SET client_min_messages = error;
DROP SCHEMA IF EXISTS k06c CASCADE;
CREATE SCHEMA k06c;
SET search_path = k06c;
CREATE FOREIGN TABLE s (k int, a int, b int) SERVER stream;
CREATE TABLE names (k int PRIMARY KEY, name text, z int);
INSERT INTO names VALUES (1, 'one', 1), (2, 'two', 0), (3, 'three', 3);
CREATE VIEW joined AS SELECT q.k, c, v, s, name FROM (SELECT k, count(*) AS c, sum(a) / sum(b) AS v, sum(a) AS s FROM s GROUP BY k) q JOIN names USING (k);
CREATE VIEW divided AS SELECT q.k, c, s / z AS v, s FROM (SELECT k, count(*) AS c, sum(a) AS s FROM s GROUP BY k) q LEFT JOIN names USING (k);
CREATE VIEW letters AS SELECT k, count(*) AS c, chr(max(b)) AS v, sum(a) AS s FROM s GROUP BY k;
CREATE VIEW above AS SELECT k, v, s FROM joined WHERE k > 0;
INSERT INTO s VALUES (1, 10, 65), (2, 5, 0), (3, 7, 70), (3, 9, 66);
CREATE TABLE kept (k int, s bigint);
\o
SELECT count(*), sum(s) FROM joined;
\echo :SQLSTATE
SELECT k, v FROM joined WHERE k <> 2 ORDER BY k;
\echo :SQLSTATE
SELECT v FROM joined WHERE k = 2;
\echo :SQLSTATE
INSERT INTO kept SELECT k, s FROM joined;
\echo :SQLSTATE
INSERT INTO kept SELECT k, s FROM joined WHERE v IS NULL;
\echo :SQLSTATE
COPY (SELECT k, s FROM joined ORDER BY k) TO STDOUT;
\echo :SQLSTATE
CREATE TABLE of_joined AS SELECT k, s FROM joined;
\echo :SQLSTATE
SELECT name, s FROM joined ORDER BY 1;
\echo :SQLSTATE
BEGIN; DECLARE c CURSOR FOR SELECT k, s FROM joined ORDER BY k; FETCH ALL FROM c; SELECT v FROM joined WHERE k = 1; COMMIT;
\echo :SQLSTATE
PREPARE p_joined (int) AS SELECT s FROM joined WHERE k = $1;
\echo :SQLSTATE
EXECUTE p_joined (2);
\echo :SQLSTATE
EXECUTE p_joined (3);
\echo :SQLSTATE
SELECT max(s) FROM joined;
\echo :SQLSTATE
SELECT count(*), sum(s) FROM divided;
\echo :SQLSTATE
SELECT k, v FROM divided WHERE k <> 2 ORDER BY k;
\echo :SQLSTATE
SELECT v FROM divided WHERE k = 2;
\echo :SQLSTATE
INSERT INTO kept SELECT k, s FROM divided;
\echo :SQLSTATE
INSERT INTO kept SELECT k, s FROM divided WHERE v IS NULL;
\echo :SQLSTATE
COPY (SELECT k, s FROM divided ORDER BY k) TO STDOUT;
\echo :SQLSTATE
CREATE TABLE of_divided AS SELECT k, s FROM divided;
\echo :SQLSTATE
SELECT name, q.s FROM divided q JOIN names USING (k) ORDER BY 1;
\echo :SQLSTATE
BEGIN; DECLARE c CURSOR FOR SELECT k, s FROM divided ORDER BY k; FETCH ALL FROM c; SELECT v FROM divided WHERE k = 1; COMMIT;
\echo :SQLSTATE
PREPARE p_divided (int) AS SELECT s FROM divided WHERE k = $1;
\echo :SQLSTATE
EXECUTE p_divided (2);
\echo :SQLSTATE
EXECUTE p_divided (3);
\echo :SQLSTATE
SELECT max(s) FROM divided;
\echo :SQLSTATE
SELECT count(*), sum(s) FROM letters;
\echo :SQLSTATE
SELECT k, v FROM letters WHERE k <> 2 ORDER BY k;
\echo :SQLSTATE
SELECT v FROM letters WHERE k = 2;
\echo :SQLSTATE
INSERT INTO kept SELECT k, s FROM letters;
\echo :SQLSTATE
INSERT INTO kept SELECT k, s FROM letters WHERE v IS NULL;
\echo :SQLSTATE
COPY (SELECT k, s FROM letters ORDER BY k) TO STDOUT;
\echo :SQLSTATE
CREATE TABLE of_letters AS SELECT k, s FROM letters;
\echo :SQLSTATE
SELECT name, q.s FROM letters q JOIN names USING (k) ORDER BY 1;
\echo :SQLSTATE
BEGIN; DECLARE c CURSOR FOR SELECT k, s FROM letters ORDER BY k; FETCH ALL FROM c; SELECT v FROM letters WHERE k = 1; COMMIT;
\echo :SQLSTATE
PREPARE p_letters (int) AS SELECT s FROM letters WHERE k = $1;
\echo :SQLSTATE
EXECUTE p_letters (2);
\echo :SQLSTATE
EXECUTE p_letters (3);
\echo :SQLSTATE
SELECT max(s) FROM letters;
\echo :SQLSTATE
SELECT count(*), sum(s) FROM above;
\echo :SQLSTATE
SELECT k, v FROM above WHERE k <> 2 ORDER BY k;
\echo :SQLSTATE
SELECT v FROM above WHERE k = 2;
\echo :SQLSTATE
INSERT INTO kept SELECT k, s FROM above;
\echo :SQLSTATE
INSERT INTO kept SELECT k, s FROM above WHERE v IS NULL;
\echo :SQLSTATE
COPY (SELECT k, s FROM above ORDER BY k) TO STDOUT;
\echo :SQLSTATE
CREATE TABLE of_above AS SELECT k, s FROM above;
\echo :SQLSTATE
SELECT name, q.s FROM above q JOIN names USING (k) ORDER BY 1;
\echo :SQLSTATE
BEGIN; DECLARE c CURSOR FOR SELECT k, s FROM above ORDER BY k; FETCH ALL FROM c; SELECT v FROM above WHERE k = 1; COMMIT;
\echo :SQLSTATE
PREPARE p_above (int) AS SELECT s FROM above WHERE k = $1;
\echo :SQLSTATE
EXECUTE p_above (2);
\echo :SQLSTATE
EXECUTE p_above (3);
\echo :SQLSTATE
SELECT max(s) FROM above;
\echo :SQLSTATE
UPDATE names SET z = 5, name = 'zwei' WHERE k = 2;
\echo :SQLSTATE
SELECT k, v FROM divided ORDER BY k;
\echo :SQLSTATE
SELECT name, s FROM joined WHERE k = 2;
\echo :SQLSTATE
BEGIN; UPDATE names SET z = 0 WHERE k = 1; SELECT k, v FROM divided WHERE k = 3; SELECT v FROM divided WHERE k = 2; COMMIT;
\echo :SQLSTATE
SELECT v FROM divided WHERE k = 1;
\echo :SQLSTATE
SELECT count(*) FROM divided;
\echo :SQLSTATE
INSERT INTO s VALUES (2, 1, 1);
\echo :SQLSTATE
SELECT k, v, name FROM joined ORDER BY k;
\echo :SQLSTATE
\o /dev/null
DROP SCHEMA k06c CASCADE;
