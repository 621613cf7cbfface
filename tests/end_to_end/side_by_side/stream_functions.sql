-- Functions over a stream's rows, in the kernels of views.
CREATE FOREIGN TABLE readings (id integer, s smallint, i integer, l bigint, f double precision, t text) SERVER stream;
CREATE VIEW bits AS SELECT id, s & 12::smallint AS s_and, s | 3::smallint AS s_or, s # 255::smallint AS s_xor, ~s AS s_not, i & l AS mixed, ~l AS l_not, count(*) AS n
  FROM readings GROUP BY 1, 2, 3, 4, 5, 6, 7;
CREATE VIEW shifts AS SELECT id, s << 3 AS s3, s << 15 AS s15, s >> 2 AS sr, i << 33 AS i33, i >> 31 AS ir, l << 65 AS l65, l >> 3 AS lr, i << -1 AS back, count(*) AS n
  FROM readings GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9;
CREATE VIEW buckets AS SELECT width_bucket(f, 0, 100, 10) AS up, width_bucket(f, 100, 0, 4) AS down, width_bucket(f, -1e6, 1e6, 1000) AS wide, count(*) AS n, min(f) AS least
  FROM readings WHERE f <> 'NaN' GROUP BY 1, 2, 3;
CREATE VIEW parts AS SELECT id, split_part(t, ',', 1) AS one, split_part(t, ',', 2) AS two, split_part(t, ',', -1) AS last, split_part(t, ', ', -2) AS wide,
  split_part(t, '', 1) AS whole, split_part(t, 'ä', i % 3 + 4) AS varied, count(*) AS n FROM readings GROUP BY 1, 2, 3, 4, 5, 6, 7;
CREATE VIEW moments AS SELECT id, to_timestamp(f) AS of_float, to_timestamp(l) AS of_bigint, date_trunc('hour', to_timestamp(i)) AS hour, count(*) AS n
  FROM readings WHERE abs(f) < 1e9 OR abs(f) = 'infinity' GROUP BY 1, 2, 3, 4;
INSERT INTO readings VALUES (1, 5, -7, 1234567890123, 0, 'a,b,c'), (2, -32768, 2147483647, 9223372036, 99.999, ',x,'), (3, 32767, -2147483648, -9223372036, 100, ''),
  (4, 0, 0, 0, -0.0000001, 'one, two, three and what is longer than that'), (5, NULL, NULL, NULL, NULL, NULL), (6, -1, -1, -1, 0.1234565, 'äöä, ü,ä'),
  (7, 1, 1, 1, 'infinity', 'aaa'), (8, 2, 2, 2, '-infinity', ','), (9, 3, 1700000000, 3, 123456789.1234565, 'no separator'), (10, 77, 10, 10, 'NaN', ', , ,');
SELECT * FROM bits ORDER BY id;
SELECT * FROM shifts ORDER BY id;
SELECT * FROM buckets ORDER BY up, down, wide;
SELECT * FROM parts ORDER BY id;
SELECT * FROM moments ORDER BY id;
DROP VIEW bits, shifts, buckets, parts, moments;
DROP FOREIGN TABLE readings;
CREATE FOREIGN TABLE angles (id integer, x double precision, y double precision) SERVER stream;
CREATE VIEW circles AS SELECT id, sin(x) AS sin, cos(x) AS cos, tan(x) AS tan, cot(y) AS cot, atan(x) AS atan, atan2(y, x) AS atan2, count(*) AS n FROM angles GROUP BY 1, 2, 3, 4, 5, 6, 7;
CREATE VIEW turns AS SELECT id, degrees(x) AS degrees, radians(y) AS radians, cbrt(x) AS cbrt, tanh(x) AS tanh, sinh(x) AS sinh, cosh(y) AS cosh, pi() * x AS pi, count(*) AS n FROM angles GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;
CREATE VIEW inverses AS SELECT id, asin(x / 1000) AS asin, acos(y / 1000) AS acos, log(abs(x)) AS log, log10(y * y) AS log10, count(*) AS n FROM angles WHERE x <> 0 AND y <> 0 AND abs(x) < 1e3 AND abs(y) < 1e3 GROUP BY 1, 2, 3, 4, 5;
CREATE VIEW metres AS SELECT id, round(2 * 6371000 * asin(sqrt(power(sin(radians(y - 52.5) / 2), 2) + cos(radians(52.5)) * cos(radians(y)) * power(sin(radians(x - 13.4) / 2), 2)))) AS away, count(*) AS n
  FROM angles WHERE abs(x) <= 180 AND abs(y) <= 90 GROUP BY 1, 2;
INSERT INTO angles VALUES (1, 0, 1), (2, 1, -1), (3, -0.5, 0.001), (4, 13.3777, 52.5163), (5, 123.456, 89.9), (6, -180, -90), (7, NULL, 1), (8, 1e-300, 3), (9, 700, 700), (10, 'NaN', 'NaN');
SELECT * FROM circles ORDER BY id;
SELECT * FROM turns ORDER BY id;
SELECT * FROM inverses ORDER BY id;
SELECT * FROM metres ORDER BY id;
DROP VIEW circles, turns, inverses, metres;
DROP FOREIGN TABLE angles;
CREATE FOREIGN TABLE matched (k int, t text, z timestamptz) SERVER stream;
CREATE VIEW matches AS SELECT t LIKE ANY (ARRAY['a%', '%b']) AS some, t NOT ILIKE ALL ('{X%,NULL}') AS every, t ~ ANY (ARRAY['^a', 'c$']) AS pattern, t LIKE ANY ('{}'::text[]) AS none, to_char(z, 'YYYY TZ') AS zone, count(*) AS n FROM matched GROUP BY 1, 2, 3, 4, 5;
CREATE VIEW ends AS SELECT substring(t, -2147483648) AS whole, substring(t, k) AS ending, count(*) AS n FROM matched GROUP BY 1, 2;
INSERT INTO matched VALUES (1, 'abc', '2020-01-01'), (2, NULL, NULL), (3, 'xb', '2020-07-01'), (4, 'XB', '2020-01-01');
INSERT INTO matched VALUES (-2147483648, 'abc'), (-2147483640, 'abcd'), (2147483647, 'abc'), (2, 'abc');
SELECT * FROM matches ORDER BY 1, 2, 3, 4, 5;
SELECT * FROM ends ORDER BY whole, ending, n;
SELECT k, t LIKE ALL (ARRAY['%b%', NULL, 'a%']) FROM matched ORDER BY 1;
DROP VIEW matches, ends;
DROP FOREIGN TABLE matched;
CREATE FOREIGN TABLE lists (k int, t text, p text[], j jsonb, js jsonb[], i inet, nets inet[]) SERVER stream;
CREATE VIEW listed AS SELECT t LIKE ANY (p) AS a, t LIKE ALL (p) AS b, t NOT LIKE ANY (p) AS c, t NOT ILIKE ALL (p) AS d, t ~ ANY (p) AS e, t !~* ALL (p) AS f, j @> ANY (js) AS g, j ? ANY (p) AS h, i <<= ALL (nets) AS i, count(*) AS n FROM lists GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9;
CREATE VIEW asked AS SELECT t LIKE ANY (SELECT x || '%' FROM (VALUES ('a'), ('b')) AS v (x)) AS a, t NOT LIKE ALL (SELECT x || '%' FROM (VALUES ('a'), (NULL)) AS v (x)) AS b, t ~ ANY (SELECT unnest(p)) AS c, count(*) AS n FROM lists GROUP BY 1, 2, 3;
INSERT INTO lists VALUES (1, 'abc', '{a%,b%}', '{"a":1}', '{"{\"a\": 1}","[]"}', '10.1.2.3', '{10.0.0.0/8,::/0}'), (2, 'b', '{_,NULL}', '[1]', '{}', '::1', '{10.0.0.0/8}');
INSERT INTO lists VALUES (3, NULL, '{x}'), (4, 'q', '{}', '1', '{1,NULL}'), (5, 'x'), (6, NULL, '{}');
SELECT * FROM listed ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9;
SELECT * FROM asked ORDER BY 1, 2, 3;
SELECT k FROM lists WHERE t LIKE ANY (p || 'q'::text) OR t ~ ANY (SELECT x FROM unnest(p) AS x WHERE x <> lists.t) ORDER BY k;
SELECT k, t ~ ALL (SELECT unnest(p)), t LIKE ANY (string_to_array('a%,b', ',')) FROM lists ORDER BY k;
DROP VIEW listed, asked;
DROP FOREIGN TABLE lists;
CREATE TABLE patterns (id int, pat text);
INSERT INTO patterns VALUES (1, '^a'), (2, 'b$');
CREATE FOREIGN TABLE texts (i int, t text) SERVER stream;
CREATE VIEW met AS SELECT texts.t ~ patterns.pat AS k, count(*) AS n FROM texts JOIN patterns ON texts.i = patterns.id GROUP BY 1;
CREATE VIEW found AS SELECT patterns.id AS k, count(*) AS n FROM texts, patterns WHERE texts.t ~ patterns.pat GROUP BY 1;
CREATE VIEW hashed AS SELECT md5(patterns.pat) AS k, upper(md5(texts.t)) || patterns.pat AS l, format('%s-%s', texts.t, patterns.pat) AS m, count(*) AS n FROM texts JOIN patterns ON texts.i = patterns.id GROUP BY 1, 2, 3;
INSERT INTO texts VALUES (1, 'abc'), (2, 'xb'), (3, NULL), (1, 'xyz'), (NULL, 'b');
SELECT * FROM met ORDER BY 1;
SELECT * FROM found ORDER BY 1;
SELECT * FROM hashed ORDER BY 1, 2, 3;
DROP VIEW met, found, hashed;
DROP FOREIGN TABLE texts;
DROP TABLE patterns;
