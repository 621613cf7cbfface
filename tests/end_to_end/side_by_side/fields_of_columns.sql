-- Fields and zones that differ from row to row; intervals as zones.
CREATE TABLE timed (id int, at timestamptz, ts timestamp, d date, iv interval, t time, tz timetz, f text, z text, off interval);
INSERT INTO timed VALUES (1, '2020-03-04 05:06:07.5+00', '2020-03-04 05:06:07.5', '2020-03-04', '1 day 02:03:04', '05:06:07.5', '05:06:07.5+02', 'month', 'Europe/Berlin', '2 hours'),
    (2, '2021-12-31 23:59:59+00', '2021-12-31 23:59:59', '2021-12-31', '-1 mon', '23:59:59', '23:59:59-08', 'Hours', 'America/New_York', '-03:30'),
    (3, NULL, NULL, NULL, NULL, NULL, NULL, 'nothing', 'No/Where', '1 mon'), (4, '2020-10-25 00:30+00', 'infinity', '0044-03-15 BC', '1 year', '00:00', '00:00+00', 'year', 'EST', '00:00:30'),
    (5, '2020-10-25 01:30+00', '2020-10-25 01:30', '2020-10-25', '5 min', '12:00', '12:00+00', 'second', '+03', NULL), (6, '2020-01-01 00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '0');
SELECT id, date_trunc(f, at), date_trunc(f, ts), date_trunc(f, iv) FROM timed ORDER BY id;
SELECT id, date_trunc(f, at, z), date_trunc('hour', at, z), date_trunc('DAY', at, z), date_trunc(NULL, at, z) FROM timed ORDER BY id;
SELECT id, date_part(f, at), date_part(f, ts), date_part(f, iv) FROM timed ORDER BY id;
SELECT id, date_part(f, t), date_part(f, tz) FROM timed WHERE id IN (2, 3, 5) ORDER BY id;
SELECT id, date_part(f, d) FROM timed WHERE id IN (1, 3, 4) ORDER BY id;
SELECT f.f, date_part(f.f, timed.at), date_part(f.f, '2020-03-04 05:06:07.5'::timestamp) FROM timed, (VALUES ('epoch'), ('dow'), ('isodow'), ('doy'), ('week'), ('quarter'), ('century'), ('milliseconds'), ('us'), ('isoyear'), ('decade'), ('mil')) f(f) WHERE id < 3 ORDER BY id, f.f;
SELECT f.f, date_part(f.f, at) FROM timed, (VALUES ('timezone'), ('timezone_h'), ('timezone_minute')) f(f) WHERE id < 3 ORDER BY id, f.f;
SELECT f.f, date_trunc(f.f, at), date_trunc(f.f, ts) FROM timed, (VALUES ('microseconds'), ('ms'), ('min'), ('week'), ('quarter'), ('dec'), ('c'), ('millennium')) f(f) WHERE id < 3 ORDER BY id, f.f;
SELECT date_trunc(f || 'x', ts) FROM timed WHERE id = 1;
SELECT date_trunc('d' || 'ow', ts) FROM timed WHERE id = 1;
SELECT date_trunc('epoch' || left(f, 0), iv) FROM timed WHERE id = 1;
SELECT date_trunc('timezone' || left(f, 0), at) FROM timed WHERE id = 1;
SELECT date_trunc('week' || left(f, 0), iv) FROM timed WHERE id = 1;
SELECT date_part('nope' || f, at) FROM timed WHERE id = 1;
SELECT date_part('hour' || left(f, 0), d) FROM timed WHERE id = 1;
SELECT date_part('timezone' || left(f, 0), ts) FROM timed WHERE id = 1;
SELECT id, at AT TIME ZONE z, ts AT TIME ZONE z, timezone(z, at) FROM timed WHERE id <> 3 ORDER BY id;
SELECT at AT TIME ZONE z FROM timed WHERE id = 3;
SELECT now() AT TIME ZONE z FROM timed WHERE id = 3;
SELECT id, at AT TIME ZONE off, ts AT TIME ZONE off FROM timed WHERE id <> 3 ORDER BY id;
SELECT now() AT TIME ZONE off FROM timed WHERE id = 3;
SELECT id, at AT TIME ZONE interval '2 hours', ts AT TIME ZONE interval '-03:30', ts AT TIME ZONE interval '200 hours' FROM timed ORDER BY id;
SELECT at AT TIME ZONE interval '1 day' FROM timed;
SELECT at AT TIME ZONE interval '1 mon' FROM timed;
SELECT at AT TIME ZONE make_interval(hours => id) FROM timed ORDER BY id;
PREPARE a1 AS SELECT id, at AT TIME ZONE $1::interval, ts AT TIME ZONE $1::interval FROM timed ORDER BY id;
EXECUTE a1('2 hours');
EXECUTE a1(NULL);
EXECUTE a1('1 day');
SELECT z, count(*), max(at AT TIME ZONE z) FROM timed WHERE id <> 3 GROUP BY z ORDER BY z;
DEALLOCATE ALL;
DROP TABLE timed;
