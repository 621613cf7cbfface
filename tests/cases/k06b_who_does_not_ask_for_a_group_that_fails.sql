-- Run: psql -X -q -A -t -h 127.0.0.1 -p PORT -f k06b_who_does_not_ask_for_a_group_that_fails.sql antumbra
SET client_min_messages = error;
DROP SCHEMA IF EXISTS k06b CASCADE;
CREATE SCHEMA k06b;
SET search_path = k06b;
CREATE FOREIGN TABLE s (ad text, region text, clicks int, imps int, x float8, d numeric(20,2)) SERVER stream;
CREATE VIEW having_fails AS SELECT ad, count(*) AS c FROM s GROUP BY ad HAVING 10 / sum(imps) > 1;
CREATE VIEW sums AS SELECT ad, sum(x) AS sx, avg(x) AS ax, sum(d) AS sd, count(*) AS c, stddev(x) AS st FROM s GROUP BY ad;
CREATE VIEW upper_fails AS SELECT region, sum(q) AS q, count(*) AS n
  FROM (SELECT ad, region, 10 / sum(imps) AS q FROM s GROUP BY ad, region) g GROUP BY region;
CREATE VIEW tail_fails AS SELECT region, 1 / (avg(c) - 1)::numeric AS q
  FROM (SELECT ad, region, count(*) AS c FROM s GROUP BY ad, region) g GROUP BY region;
CREATE VIEW two_groupings AS SELECT a.ad, a.c / (b.n - 1) AS q
  FROM (SELECT ad, count(*) AS c FROM s GROUP BY ad) a JOIN (SELECT ad, count(region) AS n FROM s GROUP BY ad) b ON a.ad = b.ad;
INSERT INTO s VALUES ('a', 'n', 10, 5, 1, 1), ('b', 'm', 1, 0, 1e308, 9e17), ('b', 'm', 1, 0, 1e308, 9e17);
SELECT * FROM having_fails WHERE ad = 'a';
SELECT * FROM having_fails;
SELECT ad, c, sd FROM sums ORDER BY ad;
SELECT * FROM sums WHERE ad = 'a';
SELECT sx FROM sums;
SELECT ax FROM sums;
SELECT st FROM sums;
SELECT region, n FROM upper_fails ORDER BY 1;
SELECT * FROM upper_fails WHERE region = 'n';
SELECT * FROM upper_fails;
SELECT region FROM tail_fails ORDER BY 1;
SELECT * FROM tail_fails WHERE region = 'm';
SELECT * FROM tail_fails;
SELECT ad FROM two_groupings ORDER BY 1;
SELECT * FROM two_groupings WHERE ad = 'b';
SELECT * FROM two_groupings;
BEGIN;
SELECT count(*) FROM having_fails WHERE ad = 'a';
SELECT ad, count(*) OVER () FROM sums ORDER BY 1;
COMMIT;
SELECT a.ad, b.n FROM sums a, upper_fails b WHERE a.ad = 'a' AND b.region = 'm';
CREATE TABLE t AS SELECT ad FROM sums;
SELECT * FROM t ORDER BY 1;
INSERT INTO s VALUES ('b', 'm', 1, 7, 0, 0);
SELECT * FROM having_fails ORDER BY 1;
SELECT * FROM upper_fails ORDER BY 1;
RESET search_path;
DROP SCHEMA k06b CASCADE;
