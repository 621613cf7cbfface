-- Run: psql -X -q -A -t -h 127.0.0.1 -p PORT -f k01e_definitions_in_the_zone_of_who_uses_them.sql antumbra ; its stdout must be k01e_definitions_in_the_zone_of_who_uses_them.expected
SET client_min_messages = error;
DROP SCHEMA IF EXISTS k01e_definitions_in_the_zone_of_who_uses_them CASCADE;
CREATE SCHEMA k01e_definitions_in_the_zone_of_who_uses_them;
SET search_path = k01e_definitions_in_the_zone_of_who_uses_them;
CREATE TABLE t (id int, at timestamptz, ts timestamp, d date);
INSERT INTO t VALUES (1, '2024-06-01 01:00+00', '2024-06-01 01:00', '2024-06-01'), (2, '2024-06-01 16:00+00', '2024-06-01 16:00', '2024-06-02');
SET TimeZone = 'Asia/Tokyo';
CREATE VIEW o1 AS SELECT id, at::date AS d, date_trunc('day', at) AS day, extract(hour FROM at) AS h, at::text AS txt FROM t;
CREATE VIEW o2 AS SELECT id, ts::timestamptz AS z, d::timestamptz AS dz, ts < at AS lt, at = d AS eq, to_char(at, 'HH24:MI') AS c, at::timestamp AS l, at::time AS ti FROM t;
CREATE VIEW o3 AS SELECT id, at + interval '1 day' AS n, date_part('day', at) AS p, '2024-06-01 00:00'::timestamptz AS k, at AT TIME ZONE 'UTC' AS u, date_trunc('day', at, 'America/New_York') AS ny FROM t;
CREATE VIEW o4 AS SELECT d, count(*) AS n FROM o1 GROUP BY d;
CREATE VIEW o5 AS SELECT * FROM (SELECT id, at::date AS d FROM t WHERE at::date > '2024-05-31' AND EXISTS (SELECT 1 FROM t x WHERE x.at::date = t.at::date)) q;
CREATE VIEW o6 AS SELECT json_build_object('at', at) AS j, concat(at) AS c, format('%s', at) AS f, age(at, '2024-01-01'::timestamptz) AS a, make_timestamptz(2024, 1, 1, 0, 0, 0) AS m FROM t;
CREATE VIEW o7 AS SELECT id, row_number() OVER (PARTITION BY at::date ORDER BY at) AS r, array_agg(at::date) OVER (ORDER BY id) AS ar FROM t;
CREATE VIEW o8 AS SELECT g FROM generate_series('2024-03-30 12:00+00'::timestamptz, '2024-04-01 12:00+00', '1 day') g;
CREATE VIEW o9 AS WITH w AS (SELECT id, at::date AS d FROM t) SELECT a.id, b.d FROM w a JOIN w b USING (id) UNION ALL SELECT 9, ts::timestamptz::date FROM t WHERE id = 1;
CREATE VIEW o10 AS SELECT id, case when at::time > '12:00' then 'pm' else 'am' end AS ap, coalesce(at::date, d) AS co, to_timestamp('2024-06-01','YYYY-MM-DD') AS tt FROM t;
CREATE TABLE df (id int, a date DEFAULT ('2024-06-01 20:00+00'::timestamptz)::date, b timestamptz DEFAULT '2024-06-01 00:00'::timestamp::timestamptz, c text DEFAULT '2024-06-01 20:00+00'::timestamptz::text, e timestamptz DEFAULT '2024-06-01 00:00', f text DEFAULT to_char('2024-06-01 20:00+00'::timestamptz, 'DD HH24'));
CREATE TABLE ck (at timestamptz CHECK (at::date = '2024-01-02'), CONSTRAINT h CHECK (extract(hour from at) < 20));
CREATE TABLE up (id int, a date DEFAULT ('2024-06-01 20:00+00'::timestamptz)::date);
SELECT * FROM o1 ORDER BY 1;
SELECT * FROM o4 ORDER BY 1;
SET TimeZone = 'America/New_York';
SELECT * FROM o1 ORDER BY 1;
SELECT * FROM o2 ORDER BY 1;
SELECT * FROM o3 ORDER BY 1;
SELECT * FROM o4 ORDER BY 1;
SELECT * FROM o5 ORDER BY 1;
SELECT * FROM o6;
SELECT * FROM o7 ORDER BY 1;
SELECT * FROM o8;
SELECT * FROM o9 ORDER BY 1, 2;
SELECT * FROM o10 ORDER BY 1;
INSERT INTO df (id) VALUES (1); INSERT INTO df VALUES (2, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT); INSERT INTO df (id) SELECT 3;
COPY df (id) FROM STDIN;
4
\.
INSERT INTO up VALUES (1, NULL); UPDATE up SET a = DEFAULT;
SELECT * FROM up;
INSERT INTO up VALUES (1) RETURNING *;
ALTER TABLE up ADD COLUMN z date DEFAULT '2024-06-01 20:00+00'::timestamptz::date;
SELECT * FROM up;
ALTER TABLE up ADD CONSTRAINT c CHECK ('2024-06-01 20:00+00'::timestamptz::date = a);
SELECT * FROM df ORDER BY id;
INSERT INTO ck VALUES ('2024-01-02 12:00+00'); 
INSERT INTO ck VALUES ('2024-01-03 01:00+00');
INSERT INTO ck VALUES ('2024-01-03 01:00+00') ON CONFLICT DO NOTHING;
SET TimeZone = 'Pacific/Kiritimati';
INSERT INTO ck VALUES ('2024-01-02 12:00+00');
COPY ck FROM STDIN;
2024-01-01 12:00+00
\.
UPDATE ck SET at = '2024-01-03 01:00+00';
SELECT count(*) FROM ck;
SELECT * FROM o1 ORDER BY 1;
SELECT * FROM o9 ORDER BY 1, 2;
PREPARE p AS SELECT * FROM o1 ORDER BY 1; EXECUTE p; SET TimeZone = 'UTC'; EXECUTE p;
DECLARE c CURSOR WITH HOLD FOR SELECT * FROM o4 ORDER BY 1; FETCH ALL FROM c;
BEGIN; SET LOCAL TimeZone = 'Asia/Tokyo';
SELECT * FROM o4 ORDER BY 1; COMMIT;
SELECT * FROM o4 ORDER BY 1;
CREATE TABLE cta AS SELECT * FROM o1;
SELECT * FROM cta ORDER BY 1;

RESET TimeZone;
RESET search_path;
DROP SCHEMA IF EXISTS k01e_definitions_in_the_zone_of_who_uses_them CASCADE;
