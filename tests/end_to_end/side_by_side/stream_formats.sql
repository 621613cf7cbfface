-- to_char over a stream's rows, in the kernels of views.
CREATE FOREIGN TABLE visits (id integer, at timestamp, zoned timestamptz) SERVER stream;
CREATE VIEW months AS SELECT to_char(at, 'YYYY-MM') AS month, to_char(zoned, 'IYYY-"W"IW') AS week, count(*) AS n FROM visits GROUP BY 1, 2;
CREATE VIEW fields AS SELECT id, to_char(at, 'YYYY/YYY/YY/Y IYYY/IYY/IY/I CC Q MM WW IW W DDD IDDD DD D ID J') AS days, to_char(zoned, 'HH24:HH12:HH:MI:SS.MS.US FF1 FF2 FF3 FF4 FF5 FF6 SSSS SSSSS AM p.m.') AS clock,
  to_char(at, 'FMYYYY FMYY FMMM FMDD FMHH24:FMMI:FMSS.FMMS FMDDD FMWW FMCC A.M. pm') AS short, count(*) AS n FROM visits GROUP BY 1, 2, 3, 4;
CREATE VIEW names AS SELECT id, to_char(at, 'Month|MONTH|month|Mon|MON|mon|Day|DAY|day|Dy|DY|dy|') AS long, to_char(zoned, 'FMDay, FMDD. FMMonth "täglich" "YYYY" \" -- YYYY!') AS short, count(*) AS n FROM visits GROUP BY 1, 2, 3;
CREATE VIEW busy AS SELECT to_char(at, 'HH24') AS hour, count(*) AS n FROM visits WHERE to_char(at, 'Dy') NOT IN ('Sat', 'Sun') GROUP BY 1 HAVING count(*) > 1;
INSERT INTO visits VALUES (1, '2026-05-01 12:34:56.789012', '2026-05-01 12:34:56.789012+00'), (2, '2024-12-31 23:59:59.999999', '2024-12-31 23:59:59.999999+00'),
  (3, '1999-01-03 00:00', '1999-01-03 00:00+00'), (4, '0044-03-15 BC', '0044-03-15 10:00+00 BC'), (5, '12345-06-07 01:02:03', '2026-10-25 01:30+00'),
  (6, 'infinity', '-infinity'), (7, NULL, NULL), (8, '2000-02-29 11:00:00.1', '2026-03-29 01:00+00'), (9, '0001-01-01', '0001-01-01 00:00+00'), (10, '4713-01-01 BC', '1900-01-01 00:00+00'), (11, '2026-05-04 12:01', '2021-01-01');
SELECT * FROM months ORDER BY month, week;
SELECT * FROM fields ORDER BY id;
SELECT * FROM names ORDER BY id;
SELECT * FROM busy ORDER BY hour;
DROP VIEW months, fields, names, busy;
DROP FOREIGN TABLE visits;
