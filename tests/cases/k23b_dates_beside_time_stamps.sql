-- Run: psql -X -q -A -t -h 127.0.0.1 -p PORT -f k23b_dates_beside_time_stamps.sql antumbra ; its stdout must be k23b_dates_beside_time_stamps.expected
SET client_min_messages = error;
DROP SCHEMA IF EXISTS k23b_dates_beside_time_stamps CASCADE;
CREATE SCHEMA k23b_dates_beside_time_stamps;
SET search_path = k23b_dates_beside_time_stamps;
SET timezone = 'UTC';
CREATE TABLE a (d date, ts timestamp, tz timestamptz);
INSERT INTO a VALUES ('300000-01-01', '2000-01-01', '2000-01-01'), ('2000-01-01', '2000-01-01', '2000-01-01'),
    ('infinity', 'infinity', 'infinity'), ('-infinity', '-infinity', '-infinity'), (NULL, NULL, NULL);
SELECT d, d < timestamp '2020-01-01', d >= timestamptz '2020-01-01+00', d = timestamp 'infinity', d < timestamptz 'infinity',
    d <> timestamp 'infinity', d = timestamp '2000-01-01' FROM a ORDER BY d;
SELECT d, d < ts, d <= tz, ts = d, tz > d, d BETWEEN ts AND tz, d IN (timestamp '2000-01-01', timestamp '2000-01-03') FROM a
    WHERE d < '200000-01-01' OR d = 'infinity' ORDER BY d;
SELECT x.d, y.ts FROM a x JOIN a y ON x.d > y.ts ORDER BY 1, 2;
SELECT x.d, y.tz FROM a x JOIN a y ON x.d = y.tz ORDER BY 1, 2;
SELECT d IS DISTINCT FROM ts, d = ANY (ARRAY[ts]), (d, 1) < (ts, 2) FROM a ORDER BY d;
SELECT d FROM a WHERE d > date '2000-01-01' + interval '1 year' ORDER BY 1;
SELECT d::timestamp FROM a;
SET timezone = 'America/New_York';
SELECT d, d < ts, d <= tz, ts = d, tz > d FROM a ORDER BY d;
CREATE FOREIGN TABLE s (k int, d date, ts timestamp, tz timestamptz) SERVER stream;
CREATE VIEW v AS SELECT k, count(*) FILTER (WHERE d < ts) AS a, count(*) FILTER (WHERE d <= tz) AS b,
    count(*) FILTER (WHERE d > timestamp '2020-01-01') AS c, bool_or(d > timestamptz '2020-01-01') AS e, bool_and(d = ts) AS f
    FROM s GROUP BY k;
INSERT INTO s VALUES (1, '300000-01-01', '2000-01-01', '2000-01-01'), (2, '2000-01-01', '2000-01-01', '2000-01-01'),
    (3, 'infinity', 'infinity', 'infinity'), (4, '-infinity', '-infinity', '-infinity'), (5, NULL, NULL, NULL);
SELECT * FROM v ORDER BY 1;

RESET search_path;
DROP SCHEMA IF EXISTS k23b_dates_beside_time_stamps CASCADE;
