-- Windows of any width: in tables, below a view's grouping, and above it.
CREATE FOREIGN TABLE beats (at timestamp, zoned timestamptz, n integer) SERVER stream;
CREATE VIEW quarters AS SELECT date_bin('15 minutes', at, timestamp '2001-01-01') AS quarter, count(*) AS beats, sum(n) AS total FROM beats GROUP BY 1;
CREATE VIEW shifts AS SELECT date_bin(interval '8 hours', zoned, timestamptz '2030-01-01 06:00+00') AS shift, max(n) AS most FROM beats GROUP BY 1;
CREATE VIEW late AS SELECT date_bin('1 day 0.5 seconds', at, at + interval '1 second') AS begun, count(*) AS beats FROM beats WHERE date_bin('1 hour', at, timestamp '2000-02-29 23:59:59.999999') > timestamp '2000-03-01' GROUP BY 1;
CREATE VIEW hours AS SELECT date_bin('1 hour', minute, timestamp '2031-05-05 00:20') AS hour, sum(beats) AS beats, count(*) AS minutes
  FROM (SELECT date_trunc('minute', at) AS minute, count(*) AS beats FROM beats GROUP BY 1) AS per_minute GROUP BY 1;
CREATE VIEW zoned_hours AS SELECT date_bin('3 hours', day, timestamptz '1999-12-31 23:00+00') AS hours, count(*) AS days
  FROM (SELECT date_trunc('day', zoned) AS day FROM beats GROUP BY 1) AS per_day GROUP BY 1;
INSERT INTO beats VALUES ('2026-05-01 12:00', '2026-05-01 12:00+02', 1), ('2026-05-01 12:14:59.999999', '2026-05-01 13:59:59+00', 2),
  ('2000-02-29 23:59:59.999999', '1999-12-31 22:59:59.999999+00', 3), ('1970-01-01', '1969-12-31 23:59:59.999999+00', 4),
  ('4713-01-01 BC', '4713-01-01 BC', 5), ('294246-12-31 12:00', '294246-12-01', 6), (NULL, NULL, 7), ('infinity', '-infinity', 8), ('-infinity', 'infinity', 9);
SELECT * FROM quarters ORDER BY quarter NULLS FIRST;
SELECT * FROM shifts ORDER BY shift NULLS FIRST;
SELECT * FROM late ORDER BY begun;
SELECT * FROM hours ORDER BY hour NULLS FIRST;
SELECT * FROM zoned_hours ORDER BY hours NULLS FIRST;
DROP VIEW quarters, shifts, late, hours, zoned_hours;
CREATE TABLE moments (at timestamp, origin timestamp);
INSERT INTO moments VALUES ('2026-05-01 12:07', '2020-01-01'), ('2026-05-01', 'infinity'), ('infinity', 'infinity');
SELECT date_bin('5 minutes', at, origin) FROM moments WHERE isfinite(origin) OR NOT isfinite(at) ORDER BY 1;
SELECT date_bin('5 minutes', at, origin) FROM moments;
SELECT date_bin('1 month', at, origin) FROM moments;
SELECT date_bin('0 seconds', at, origin) FROM moments;
SELECT date_bin('-1 seconds', at, origin) FROM moments;
SELECT date_bin('1 day', timestamp '290000-12-31', timestamp '4713-11-24 BC');
SELECT date_bin('300000 days', timestamp '4713-01-01 BC', timestamp '4713-01-02 BC');
DROP TABLE moments;
DROP FOREIGN TABLE beats;
