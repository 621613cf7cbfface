-- Views over columns of a stream that kernels have no functions for: counted, tested for NULL, compared where words or bytes say all, and shown.
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE FOREIGN TABLE every (n int, num numeric, jb jsonb, u uuid, c char(5), ia int[], m mood, iv interval, t time, b bytea, o oid, nm name, t3 timestamp(3)) SERVER stream;
CREATE TABLE known (u uuid PRIMARY KEY, t time, label text, nm name);
INSERT INTO known VALUES ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '10:00', 'eleven', 'e'), ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12', '11:00', 'twelve', 't');
CREATE VIEW by_uuid AS SELECT u, count(*) AS n, count(jb) AS jbs, count(iv) AS ivs, min(t) AS low, max(t) AS high, max(o) AS o, sum(n) AS s, avg(num) AS a FROM every GROUP BY u;
CREATE VIEW by_words AS SELECT t, o, nm, b, t3, count(*) AS n FROM every GROUP BY 1, 2, 3, 4, 5;
CREATE VIEW filtered AS SELECT m, count(*) AS n FROM every WHERE u = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' OR t > '12:00' OR o IN (1, 2) OR nm < 'c' OR b = '\x00' OR jb IS NULL GROUP BY m;
CREATE VIEW texts AS SELECT u::text AS text, upper(nm) AS name, count(coalesce(jb, jb)) AS n, count(*) FILTER (WHERE iv IS NOT NULL) AS ivs FROM every GROUP BY 1, 2;
CREATE VIEW pairs AS SELECT DISTINCT u, o FROM every;
CREATE VIEW firsts AS SELECT DISTINCT ON (n) n, jb, iv, ia, num, c, b, t FROM every ORDER BY n, num;
CREATE VIEW hours AS SELECT date_trunc('hour', t3) AS hour, greatest(max(t), '03:00') AS t, count(*) AS n FROM every GROUP BY 1;
CREATE VIEW met AS SELECT k.label, k.t, k.u, k.nm, count(*) AS n, max(e.t) AS t2 FROM every e JOIN known k ON e.u = k.u WHERE e.t <> k.t GROUP BY 1, 2, 3, 4;
CREATE VIEW maybe AS SELECT k.u, count(*) AS n FROM every e LEFT JOIN known k ON e.u = k.u GROUP BY 1;
INSERT INTO every VALUES (1, 1.50, '{"b": 1, "a":2}', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 'ab', '{1,2,NULL}', 'ok', '1 mon 25:00', '12:34:56.789', '\xDEADBEEF', 4000000000, 'nam', '2020-01-01 00:00:00.123456');
INSERT INTO every (n, num) VALUES (2, 'NaN'), (3, '-Infinity'), (4, 12345678901234567890.123456789);
COPY every FROM STDIN;
5	1.500	{"b": 1.50, "a":2}	a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12	abc	{1}	sad	24:00	01:02	\\x00ff	1	n	2020-01-01 00:00:00.9996
1	1.20	{"b": 1.50, "a":2}	a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12	abc	{1}	sad	24:00	01:02	\\x00ff	1	n	2020-01-01 00:00:00.9996
1	1.7	"long text that is not inline"	a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a13	abc	{3}	sad	24:00	23:02	\\x00	2147483648	b	2020-01-01 00:00:00.9996
\.
SELECT * FROM by_uuid ORDER BY u;
SELECT * FROM by_words ORDER BY t, o;
SELECT * FROM filtered ORDER BY m;
SELECT * FROM texts ORDER BY 1;
SELECT * FROM pairs ORDER BY 1;
SELECT * FROM firsts ORDER BY 1;
SELECT * FROM hours ORDER BY 1;
SELECT * FROM met ORDER BY 1;
SELECT * FROM maybe ORDER BY 1;
DROP VIEW by_uuid, by_words, filtered, texts, pairs, firsts, hours, met, maybe;
DROP FOREIGN TABLE every;
CREATE FOREIGN TABLE keyed (n int, jb jsonb, c char(5), bc bpchar, iv interval, tz timetz, i inet, ci cidr, q "char", ia int[], ta text[], ma mood[], na numeric[]) SERVER stream;
CREATE VIEW by_json AS SELECT jb, count(*) AS n FROM keyed GROUP BY jb;
CREATE VIEW by_char AS SELECT c, bc || '.' AS size, count(*) AS n FROM keyed GROUP BY 1, 2;
CREATE VIEW by_blank AS SELECT bc, count(*) AS n FROM keyed GROUP BY bc;
CREATE VIEW by_interval AS SELECT iv, count(*) AS n FROM keyed GROUP BY iv;
CREATE VIEW by_others AS SELECT tz, i, ci, q, ia, ta, count(*) AS n FROM keyed GROUP BY 1, 2, 3, 4, 5, 6;
CREATE VIEW by_all AS SELECT jb, c, bc, iv, tz, i, ia, count(*) AS n, min(n) AS low FROM keyed GROUP BY 1, 2, 3, 4, 5, 6, 7;
CREATE VIEW parts AS SELECT jb -> 'a' AS a, jb ->> 'b' AS b, length(c) AS size, ta[1] AS first, host(i) AS host, count(*) AS n FROM keyed
  WHERE jb @> '{"a": 1}' OR iv + '1 day' > '2 days' GROUP BY 1, 2, 3, 4, 5;
CREATE VIEW chosen AS SELECT count(*) AS n, count(*) FILTER (WHERE c = 'ab') AS c, count(*) FILTER (WHERE iv = '1 day') AS iv, count(*) FILTER (WHERE iv > '1 hour') AS long,
  count(*) FILTER (WHERE jb = '{"a": 1, "b": [2.50, "1.0"]}') AS jb, count(*) FILTER (WHERE i <> '10.0.0.1') AS i, count(*) FILTER (WHERE bc < 'b') AS bc,
  count(*) FILTER (WHERE tz = '12:00+01') AS tz, count(*) FILTER (WHERE c IN ('ab', 'x')) AS listed, count(*) FILTER (WHERE iv IS DISTINCT FROM '24:00') AS apart,
  count(DISTINCT iv) AS ivs, count(DISTINCT jb) AS jbs, count(nullif(c, 'ab')) AS left FROM keyed;
INSERT INTO keyed VALUES (1, '{"a": 1.0, "b": [2.5, "1.0"]}', 'ab', 'ab', '1 day', '12:00+01', '10.0.0.1', '10/8', 'a', '{1,2}', '{a,NULL}', '{sad}', '{1.0}'),
  (2, '{"b": [2.50, "1.0"], "a": 1}', 'ab ', 'ab  ', '24:00', '11:00+00', '10.0.0.1/32', '10.0.0.0/8', 'b', '{1,2}', '{a,NULL}', '{sad}', '{1.00}'),
  (3, '{"a": 1, "b": [2.5, "1.00"]}', 'abc', 'b', '1 mon', '12:00+01', '10.0.0.1/24', '::/0', '', '{}', '{}', '{}', '{}'),
  (4, '1.50', '', '', '30 days', '12:00+02', '::1', '::1', 'a', '{NULL}', '{""}', '{NULL}', '{NULL}'), (5, '1.5000', ' ', ' ', '720:00', NULL, '::1', NULL, NULL, NULL, NULL, NULL, NULL),
  (6, '"\\\"1.0"', 'é', 'é ', '-1 day 24:00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (7, '10', NULL, NULL, '0', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (8, '1e1', NULL, NULL, '178000000 years', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (9, '10.0', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (10, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
SELECT jb = jb AS jb, n, jb::text IS NULL AS is_null FROM by_json ORDER BY n, jb;
SELECT c, size, n FROM by_char ORDER BY 1, 2;
SELECT bc = bc AS bc, n FROM by_blank ORDER BY n, by_blank.bc;
SELECT iv + '0' = iv AS iv, n FROM by_interval ORDER BY n, by_interval.iv;
SELECT * FROM by_others ORDER BY n DESC, tz, i, ci, q, ia, ta;
SELECT jb, c, bc, tz, i, ia, n, low FROM by_all ORDER BY low;
SELECT a = a AS a, size, first, host, n FROM parts ORDER BY size, first, host, n;
SELECT * FROM chosen;
DROP VIEW by_json, by_char, by_blank, by_interval, by_others, by_all, parts, chosen;
DROP FOREIGN TABLE keyed;
DROP TABLE known;
DROP TYPE mood;
