-- IntervalStyle, bytea_output and extra_float_digits in results and in COPY.
CREATE TABLE shown (id int, i interval, b bytea, f float8, r real, s interval[], d bytea[], g float8[]);
INSERT INTO shown VALUES
    (1, '1 year 2 mons -3 days 04:05:06.789', '\x00017f80ff5c41', 0.1, 0.1, '{1 day,-1 mon}', '{"\\x5c","\\x00"}', '{0.1,NULL,1e300}'),
    (2, '-1 year -2 mons', '', 1e15, 1e6, '{}', '{}', '{}'), (3, '-1 day 00:00:01', 'abc', -0, 123456.789, NULL, NULL, NULL),
    (4, '0', E'\\\\', 1.0/3, 1.0/3, '{NULL}', '{NULL}', '{Infinity}'), (5, '1 mon -1 day', '\x7e20', 'NaN', 'Infinity'),
    (6, '1 second', 'x', 1e-5, 1e-5), (7, '-00:00:01', 'x', 123456789012345678, 16777216), (8, '-0.5 s', 'x', 1e22, 1e10),
    (9, '1 year 1 mon 1 day 01:01:01', 'x', 0, 0), (10, '-10:00:00.000001', 'x', 4.9e-324, 1e-45), (11, '178956970 years', 'x', 1, 1);
SET IntervalStyle = postgres_verbose;
SELECT * FROM shown ORDER BY id;
SELECT interval '-1 day 2 hours', interval '1 day -2 hours', interval '-3 mons 1 day', interval '1.5 s', interval '-1 min 1.5 s';
SET IntervalStyle = iso_8601;
SELECT * FROM shown ORDER BY id;
COPY (SELECT id, i, s FROM shown ORDER BY id) TO STDOUT;
SELECT interval 'P1Y2M3DT4H5M6.7S', interval '-1 day 2 hours', interval '-1 min 1.5 s', interval '2 hours';
SET IntervalStyle = sql_standard;
SELECT * FROM shown ORDER BY id;
COPY (SELECT id, i, s FROM shown ORDER BY id) TO STDOUT;
SELECT interval '-1 day 2 hours', interval '1 day -2 hours', interval '-3 mons 1 day', interval '1.5 s', interval '-1 min 1.5 s', interval '-1-2 3 4:05:06';
SELECT interval '-1-2', interval '-1 2:03:04', interval '-1 +2:03:04', interval '-1 day 2 hours ago', interval '1 day -2 hours', interval '-23:59:59.9', interval 'P-1Y2M';
SELECT interval '1-2 -3 4:05:06', interval '1-2 3', interval '100 days', interval '-12 hours', interval '59.000001 s', interval '-1 year 2 days' = interval '-1 year -2 days';
INSERT INTO shown (id, i) VALUES (12, '-1 day 2 hours') RETURNING i;
COPY shown (id, i, s) FROM STDIN;
13	-1 2:03:04	{-1 day 2 hours,-1 day +2 hours}
\.
SELECT id, i, s FROM shown WHERE id > 11 ORDER BY id;
DELETE FROM shown WHERE id > 11;
SET bytea_output = escape;
SELECT id, b, d FROM shown ORDER BY id;
COPY (SELECT id, b, d FROM shown ORDER BY id) TO STDOUT (FORMAT csv);
COPY (SELECT id, b, d FROM shown ORDER BY id) TO STDOUT (FORMAT binary);
SET extra_float_digits = 0;
SELECT id, f, r, g FROM shown ORDER BY id;
SET extra_float_digits = -3;
SELECT id, f, r, g FROM shown ORDER BY id;
SET extra_float_digits = -15;
SELECT id, f, r, g FROM shown ORDER BY id;
SET extra_float_digits = 3;
SELECT id, f, r, g, f::text FROM shown ORDER BY id;
COPY (SELECT * FROM shown ORDER BY id) TO STDOUT;
SHOW IntervalStyle;
RESET ALL;
SET TimeZone = 'Europe/Berlin';
SELECT * FROM shown ORDER BY id;
BEGIN;
SET LOCAL IntervalStyle = iso_8601;
SELECT i FROM shown ORDER BY id;
ROLLBACK;
SELECT i, i::text, b::text FROM shown ORDER BY id;
DROP TABLE shown;
