-- 'infinity' and '-infinity' of dates and times, in expressions, in a table, in a stream and its views; and what the clock says.
SELECT 'infinity'::date, '-infinity'::date, 'infinity'::timestamp, '-infinity'::timestamptz, 'InFinity'::timestamptz, ' infinity '::date;
SELECT '+infinity'::date;
SELECT '- infinity'::date;
SELECT '-infinity 10:00'::timestamp;
SELECT 'inf'::date;
SELECT '2020-01-01 allballs'::timestamp, '2020-01-01 allballs'::timestamptz;
SELECT 'infinity'::date > '2020-01-01', '-infinity'::date < '4713-01-01 BC'::date, 'infinity'::timestamp = 'infinity'::timestamptz, 'infinity'::date = 'infinity'::timestamp;
SELECT 'infinity'::date + 1, '-infinity'::date - 5, 'infinity'::date + interval '1 day', '-infinity'::timestamp - interval '1 mon', 'infinity'::timestamptz + interval '1 us';
SELECT 'infinity'::date - '2020-01-01'::date;
SELECT 'infinity'::date - 'infinity'::date;
SELECT 'infinity'::timestamp - '2020-01-01'::timestamp;
SELECT '2020-01-01'::timestamptz - '-infinity'::timestamptz;
SELECT isfinite('infinity'::date), isfinite('-infinity'::timestamp), isfinite('2020-01-01'::timestamptz), isfinite(interval '1 day'), isfinite(NULL::date);
SELECT date_trunc('month','infinity'::timestamp), date_trunc('hour','-infinity'::timestamptz), date_trunc('century', 'infinity'::timestamp), date_trunc('day', 'infinity'::timestamptz, 'Europe/Berlin');
SELECT 'infinity'::date::timestamp, '-infinity'::date::timestamptz, 'infinity'::timestamp::date, '-infinity'::timestamptz::date, 'infinity'::timestamptz::timestamp, 'infinity'::timestamp::timestamptz, 'infinity'::timestamp::time, 'infinity'::timestamptz::timetz;
SELECT 'infinity'::timestamp::text, '-infinity'::date::text, 'infinity'::timestamptz::text, 'infinity'::text::date, '-infinity'::text::timestamptz, 'infinity'::timestamp::varchar(3);
SELECT 'infinity'::timestamp(0), 'infinity'::timestamptz(3)::text, ('infinity'::timestamp)::timestamp(2);
SELECT 'infinity'::timestamp AT TIME ZONE 'Europe/Berlin', '-infinity'::timestamptz AT TIME ZONE 'UTC', '-infinity'::timestamptz AT TIME ZONE 'Asia/Tokyo';
SELECT to_char('infinity'::timestamp,'YYYY');
SELECT to_timestamp('Infinity'::float8), to_timestamp('-Infinity'::float8);
SELECT date_bin('1 hour', 'infinity'::timestamp, '2020-01-01'::timestamp);
SELECT date_bin('1 hour', '2020-01-01'::timestamp, 'infinity'::timestamp);
SELECT 'infinity'::date + time '10:00', '-infinity'::date + time '10:00', '2020-01-02'::date + time '10:00', NULL::date + time '10:00', 'infinity'::date + NULL::time;
SELECT ARRAY['infinity'::date,'2020-01-01',NULL], '{infinity,-infinity}'::timestamp[], ARRAY['-infinity'::timestamptz];
SELECT max(x), min(x), count(DISTINCT x) FROM (VALUES ('infinity'::timestamp),('-infinity'),('2020-01-01'),('infinity')) v(x);
SELECT x, count(*) FROM (VALUES ('infinity'::date),('-infinity'),('2020-01-01'),('infinity')) v(x) GROUP BY x ORDER BY x;
SELECT greatest('infinity'::date,'2020-01-01'), least('-infinity'::timestamp,'2020-01-01'), coalesce(NULL,'infinity'::date);
SELECT 'infinity'::timestamp + x FROM (VALUES (interval '1 day'),(interval '-1 year'),(NULL)) v(x);
SELECT make_date(2020,1,1) < 'infinity', 'infinity'::date BETWEEN '2020-01-01' AND 'infinity';
SELECT 'now'::timestamp = now()::timestamp, 'now'::timestamptz = now(), 'today'::date = current_date, 'tomorrow'::date - 'yesterday'::date, 'TODAY '::timestamp = current_date, 'now'::time = localtime, timestamptz 'tomorrow' = current_date + 1, date 'now' = current_date;
SELECT 'allballs'::time, 'allballs'::timetz;
SELECT 'allballs'::date;
SELECT 'epoch'::date, 'epoch'::timestamp, 'epoch'::timestamptz;
CREATE TABLE ti (id int PRIMARY KEY, d date, t timestamp, z timestamptz, p timestamp(3), a date[], UNIQUE(d));
INSERT INTO ti VALUES (1,'infinity','-infinity','infinity','infinity','{infinity,NULL}'),(2,'-infinity','infinity','-infinity','-infinity','{-infinity}'),(3,'2020-01-01','2020-01-01','2020-01-01','2020-01-01','{}');
INSERT INTO ti VALUES (4,'infinity');
SELECT * FROM ti ORDER BY d;
SELECT * FROM ti WHERE d = 'infinity';
SELECT id, t - interval '1 day', d+1, d - interval '1 hour', extract(month from t), date_trunc('year', z) FROM ti ORDER BY t;
COPY ti FROM STDIN;
10	infinity	-infinity	Infinity	INFINITY	{infinity}
11	\N	-infinity	-infinity	2020-01-01	\N
\.
COPY (SELECT * FROM ti ORDER BY id) TO STDOUT;
COPY (SELECT * FROM ti ORDER BY id) TO STDOUT (FORMAT csv);
COPY (SELECT * FROM ti ORDER BY id) TO STDOUT (FORMAT binary);
UPDATE ti SET d = '-infinity' WHERE id = 11;
UPDATE ti SET t = 'infinity', z = z + interval '1 day' WHERE id = 3;
SELECT * FROM ti ORDER BY id;
DROP TABLE ti;
SELECT '2020-01-01 infinity'::timestamp;
SELECT 'epoch 2020-01-01'::date;
SELECT 'epoch infinity'::date;
SELECT 'infinity UTC'::timestamptz;
SELECT 'infinity 10:00 UTC'::timestamptz;
SELECT 'infinity allballs'::timestamptz;
SELECT '10:00 infinity'::timestamptz;
SELECT date_part('year','infinity'::timestamp), date_part('epoch','-infinity'::timestamptz), date_part('day','infinity'::date), date_part('century','-infinity'::timestamp), date_part('isoyear','-infinity'::timestamp),date_part('decade','-infinity'::timestamp),date_part('millennium','-infinity'::timestamp);
SELECT extract(day from 'infinity'::timestamp), extract(hour from '-infinity'::timestamptz), extract(dow from 'infinity'::date), extract(second from 'infinity'::timestamp), extract(microseconds from 'infinity'::timestamp), extract(quarter from 'infinity'::date);
CREATE FOREIGN TABLE si (id int, d date, t timestamp, z timestamptz) SERVER stream;
CREATE VIEW v1 AS SELECT d, count(*) AS n, min(t) AS lo, max(z) AS hi FROM si GROUP BY d;
CREATE VIEW v2 AS SELECT date_trunc('month', t) AS m, count(*) AS n, max(extract(day from z)) AS x, min(date_part('year', t)) AS y, bool_and(isfinite(d)) AS f FROM si GROUP BY date_trunc('month', t);
CREATE VIEW v3 AS SELECT (t + interval '1 day')::date AS k, z::date AS zd, count(*) AS n, min(d::timestamp) AS a, max(t::text) AS b, max(d + 1) AS c, max(date_trunc('day', z)) AS e FROM si GROUP BY 1, 2;
CREATE VIEW v4 AS SELECT d, n, lo - interval '1 day' AS a, row_number() OVER (ORDER BY hi, d) AS r, extract(month from hi) AS m, date_trunc('year', lo) AS y, lo::date AS ld, d - 1 AS p, hi::text AS ht FROM (SELECT d, count(*) AS n, min(t) AS lo, max(z) AS hi FROM si GROUP BY d) s;
INSERT INTO si VALUES (1,'infinity','-infinity','infinity'),(2,'-infinity','infinity','-infinity'),(3,'2020-01-01','2020-01-02 10:00','2020-01-03');
INSERT INTO si VALUES (4,'infinity','-infinity','infinity');
INSERT INTO si SELECT 5, 'infinity'::date, NULL, '-infinity';
COPY si FROM STDIN;
10	infinity	-infinity	Infinity
11	\N	-infinity	-INFINITY
12	2020-02-03	epoch	2020-01-01
\.
COPY si FROM STDIN (FORMAT csv);
13,infinity,"infinity",-infinity
14,,,2020-03-04 10:00:00+02
\.
SELECT * FROM si ORDER BY id;
SELECT * FROM si WHERE d = 'infinity' ORDER BY id;
SELECT d, count(*), max(t) FROM si GROUP BY d ORDER BY d;
SELECT isfinite(t), count(*) FROM si GROUP BY 1 ORDER BY 1;
SELECT * FROM v1 ORDER BY d;
SELECT * FROM v2 ORDER BY m;
SELECT * FROM v3 ORDER BY k, zd;
SELECT * FROM v4 ORDER BY d;
COPY (SELECT * FROM si ORDER BY id) TO STDOUT (FORMAT binary);
COPY (SELECT * FROM v1 ORDER BY d) TO STDOUT (FORMAT csv);
SELECT count(*) FROM si WHERE t < 'now' AND d > 'today';
INSERT INTO si VALUES (20, 'today', 'now', 'tomorrow');
SELECT d = current_date, t <= now()::timestamp, z = current_date + 1 FROM si WHERE id = 20;
DROP FOREIGN TABLE si CASCADE;
-- Constants of a plan that no row reaches.
CREATE FOREIGN TABLE sn (c0 double precision, c1 date, c2 varchar(8)) SERVER stream;
CREATE TABLE keys (id integer PRIMARY KEY, key varchar(8));
INSERT INTO keys VALUES (1, 'a'), (2, 'bb'), (3, NULL);
CREATE VIEW nowhere AS SELECT d1 AS k0, bool_or(d1 IS NOT NULL) AS a0, d1 + interval '1 day' AS a1 FROM (SELECT c1 AS d1, c2 AS d2 FROM sn WHERE (SELECT count(*) FROM keys AS j WHERE c2 = j.key AND (date '2023-04-17' NOT BETWEEN date '2021-12-28' AND date '2019-08-06')) < 2) AS d GROUP BY 1 HAVING 444 = 642;
INSERT INTO sn VALUES (1, '2020-01-01', 'a'), (2, 'infinity', 'b'), (3, NULL, NULL);
SELECT * FROM nowhere;
DROP FOREIGN TABLE sn CASCADE;
DROP TABLE keys;
