-- Strict functions of a constant NULL are NULL in continuous views, too, and their other arguments are not computed.
-- psql -X -q -A -t -f k13j_strict_nulls_in_views.sql
CREATE SCHEMA k13j;
SET search_path TO k13j;
CREATE FOREIGN TABLE s (k integer, i integer, x text) SERVER stream;
CREATE TABLE t (k integer, y integer);
INSERT INTO t VALUES (1, 0), (2, 1);
CREATE VIEW above AS SELECT k, NULL::integer + 1 / sum(i) AS y, (NULL::integer[])[1 / sum(i)] AS z FROM s GROUP BY k;
CREATE VIEW below AS SELECT k, count(NULL::integer + 1 / i) AS y, sum(NULL::integer / i) AS z, max(repeat(NULL, 1 / i)) AS m FROM s GROUP BY k;
CREATE VIEW condition AS SELECT k, count(*) AS n FROM s WHERE (NULL::integer + 1 / i) IS NULL GROUP BY k HAVING (NULL::integer / sum(i)) IS NULL;
CREATE VIEW key AS SELECT NULL::integer + 1 / i AS y, count(*) AS n FROM s GROUP BY 1;
CREATE VIEW filtered AS SELECT k, count(*) FILTER (WHERE (NULL::integer + 1 / i) IS NULL) AS n FROM s GROUP BY k;
CREATE VIEW joined AS SELECT s.k, count(*) AS n FROM s JOIN t ON s.k = t.k AND (NULL::integer + 1 / t.y) IS NULL GROUP BY s.k;
INSERT INTO s VALUES (1, 0, 'a'), (2, 0, 'b'), (1, 0, 'c');
SELECT k, y, z FROM above ORDER BY k;
SELECT k, y, z, m FROM below ORDER BY k;
SELECT k, n FROM condition ORDER BY k;
SELECT y, n FROM key;
SELECT k, n FROM filtered ORDER BY k;
SELECT k, n FROM joined ORDER BY k;
SELECT (NULL::integer[])[1 / y], NULL::text || (1 / y) FROM below ORDER BY k;
SELECT (NULL::integer[])[1 / i], count(*) FROM s GROUP BY i;
DROP SCHEMA k13j CASCADE;
