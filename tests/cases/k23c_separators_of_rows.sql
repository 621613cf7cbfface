-- Run: psql -X -q -A -t -h 127.0.0.1 -p PORT -f k23c_separators_of_rows.sql antumbra ; its stdout must be k23c_separators_of_rows.expected
SET client_min_messages = error;
DROP SCHEMA IF EXISTS k23c_separators_of_rows CASCADE;
CREATE SCHEMA k23c_separators_of_rows;
SET search_path = k23c_separators_of_rows;
CREATE TABLE w (k int, t text, u text);
INSERT INTO w VALUES (1, 'a', '-'), (1, 'b', '+'), (1, NULL, '!'), (2, 'c', NULL), (2, 'd', NULL), (2, 'e', '/'), (3, NULL, 'x');
SELECT k, string_agg(t, u ORDER BY t), string_agg(t, u ORDER BY t DESC), string_agg(t, u ORDER BY t) FILTER (WHERE t <> 'a')
    FROM w GROUP BY k ORDER BY k;
SELECT string_agg(u, t ORDER BY k, u), string_agg(t, k::text || u ORDER BY t) FROM w;
SELECT t, string_agg(t, u) OVER (PARTITION BY k ORDER BY t) FROM w ORDER BY k, t;
SELECT string_agg(t, u) FROM w WHERE k > 5;
SELECT string_agg(t, now()::date::text ORDER BY t) = replace('a*b*c*d*e', '*', now()::date::text) FROM w;
CREATE FOREIGN TABLE s (k int, t text) SERVER stream;
CREATE VIEW v AS SELECT k, string_agg(t, k::text) AS a, string_agg(t, to_char(now() - now(), 'SS') ORDER BY t DESC) AS b FROM s GROUP BY k;
INSERT INTO s VALUES (1, 'x'), (1, 'y'), (2, 'z'), (1, NULL);
INSERT INTO s VALUES (1, 'w'), (2, 'v');
SELECT * FROM v ORDER BY k;
CREATE FOREIGN TABLE i (k int, t interval) SERVER stream;
CREATE VIEW v2 AS SELECT k, to_char(max(t), 'FMHH24:MI') AS a, max(to_char(t, 'SSSS')) AS b FROM i GROUP BY k;
INSERT INTO i VALUES (7, '25:10'), (7, '-3:00');
SELECT * FROM v2 WHERE k = 7;

RESET search_path;
DROP SCHEMA IF EXISTS k23c_separators_of_rows CASCADE;
