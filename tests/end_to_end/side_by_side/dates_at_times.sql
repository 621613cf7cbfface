-- A date and a time of day with a time zone are an instant.
CREATE TABLE appointments (id int, d date, t timetz);
INSERT INTO appointments VALUES (1, '2000-01-02', '03:04:05.5+02:30'), (2, '2000-01-02', '23:00-05'), (3, 'infinity', '01:00+00'),
    (4, '-infinity', '24:00-15:59'), (5, NULL, '01:00+00'), (6, '2000-01-02', NULL), (7, '4713-01-01 BC', '00:00+15:59');
SELECT id, d + t, t + d, pg_typeof(d + t)::text FROM appointments ORDER BY id;
SET TimeZone = 'America/Toronto';
SELECT id, d + t FROM appointments ORDER BY d + t, id;
SELECT now() = now()::date + now()::timetz, date '2000-07-01' + timetz '12:00-04';
SELECT now() = (now() AT TIME ZONE 'America/Toronto')::date + now()::timetz;
DROP TABLE appointments;
