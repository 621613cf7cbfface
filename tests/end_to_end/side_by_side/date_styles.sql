-- DateStyle: how dates and timestamps are shown, in results and in COPY, and in which order they are read. Drivers prepare a
-- statement that they see again, and what is prepared keeps its constants: comments make each one another.
CREATE TABLE days (id int, d date, t timestamp, z timestamptz, ds date[], zs timestamptz[], i interval);
INSERT INTO days VALUES
    (1, '2000-07-02', '2000-07-02 03:04:05.000678', '2000-07-02 03:04:05.000678', '{2000-07-02,NULL}', '{2000-07-02 03:04:05}', '1 day'),
    (2, '0044-03-15 BC', '0044-03-15 12:00 BC', '0044-03-15 12:00 BC', '{}', '{}', '1 mon'), (3, 'infinity', '-infinity', 'infinity', NULL, '{infinity}', '0'),
    (4, '12345-12-31', '12345-12-31 23:59:59', '12345-12-31 23:59:59', '{0001-01-01}', NULL, '-1 s'), (5, '1900-01-01', '1900-02-28', '1900-02-28'), (6);
SELECT extract(isodow FROM d) FROM days WHERE id = 2;
SET DateStyle = Postgres;
SHOW DateStyle;
SET TimeZone = 'UTC';
SELECT * FROM days ORDER BY id;
SET TimeZone = 'Europe/Berlin';
SELECT * FROM days ORDER BY id;
SET TimeZone = '+02:00';
SELECT * FROM days ORDER BY id;
COPY (SELECT * FROM days ORDER BY id) TO STDOUT;
COPY (SELECT d, t, z FROM days ORDER BY id) TO STDOUT (FORMAT csv);
SELECT /* Postgres */ date '01/02/03', date '1-2-2003', timestamp '1.2.2003 4:05', timestamptz '1 feb 2003', date '2003-2-1', date 'Feb 3 04', date '4 Feb 3', date '20030201', date '030201';
SELECT /* Postgres */ date '13/12/2003';
SELECT /* Postgres */ timestamp '12/13/2003';
SELECT /* Postgres */ date '03/12/13';
SELECT /* Postgres */ time '3/12/2013 4:05', timetz '3/12/2013 4:05+01';
INSERT /* Postgres */ INTO days (id, d) VALUES (7, '08/09/10') RETURNING d;
UPDATE /* Postgres */ days SET d = '07/08/09' WHERE id = 7 RETURNING d;
SELECT /* Postgres */ count(*) FROM days WHERE d = '07/08/09' OR d = ANY ('{07/08/09}');
DELETE FROM days WHERE id = 7;
COPY days (id, d, t, ds) FROM STDIN;
8	01/02/03	4/5/2006 7:08	{01/02/03,2000-01-02}
\.
COPY days (id, z) FROM STDIN (FORMAT csv);
9,1 feb 2003 4:05+00
\.
COPY days (id, d) FROM STDIN;
10	13/13/2003
\.
SELECT id, d, t, z, ds FROM days WHERE id > 7 ORDER BY id;
DELETE FROM days WHERE id > 7;
SET DateStyle = SQL;
SHOW DateStyle;
SET TimeZone = 'UTC';
SELECT * FROM days ORDER BY id;
SET TimeZone = 'Europe/Berlin';
SELECT * FROM days ORDER BY id;
SET TimeZone = '+02:00';
SELECT * FROM days ORDER BY id;
COPY (SELECT * FROM days ORDER BY id) TO STDOUT;
COPY (SELECT d, t, z FROM days ORDER BY id) TO STDOUT (FORMAT csv);
SELECT /* SQL */ date '01/02/03', date '1-2-2003', timestamp '1.2.2003 4:05', timestamptz '1 feb 2003', date '2003-2-1', date 'Feb 3 04', date '4 Feb 3', date '20030201', date '030201';
SELECT /* SQL */ date '13/12/2003';
SELECT /* SQL */ timestamp '12/13/2003';
SELECT /* SQL */ date '03/12/13';
SELECT /* SQL */ time '3/12/2013 4:05', timetz '3/12/2013 4:05+01';
INSERT /* SQL */ INTO days (id, d) VALUES (7, '08/09/10') RETURNING d;
UPDATE /* SQL */ days SET d = '07/08/09' WHERE id = 7 RETURNING d;
SELECT /* SQL */ count(*) FROM days WHERE d = '07/08/09' OR d = ANY ('{07/08/09}');
DELETE FROM days WHERE id = 7;
COPY days (id, d, t, ds) FROM STDIN;
8	01/02/03	4/5/2006 7:08	{01/02/03,2000-01-02}
\.
COPY days (id, z) FROM STDIN (FORMAT csv);
9,1 feb 2003 4:05+00
\.
COPY days (id, d) FROM STDIN;
10	13/13/2003
\.
SELECT id, d, t, z, ds FROM days WHERE id > 7 ORDER BY id;
DELETE FROM days WHERE id > 7;
SET DateStyle = German;
SHOW DateStyle;
SET TimeZone = 'Asia/Calcutta';
SELECT * FROM days ORDER BY id;
SET TimeZone = 'America/Sao_Paulo';
SELECT * FROM days ORDER BY id;
COPY (SELECT * FROM days ORDER BY id) TO STDOUT;
COPY (SELECT d, t, z FROM days ORDER BY id) TO STDOUT (FORMAT csv);
SELECT /* German */ date '01/02/03', date '1-2-2003', timestamp '1.2.2003 4:05', timestamptz '1 feb 2003', date '2003-2-1', date 'Feb 3 04', date '4 Feb 3', date '20030201', date '030201';
SELECT /* German */ date '13/12/2003';
SELECT /* German */ timestamp '12/13/2003';
SELECT /* German */ date '03/12/13';
SELECT /* German */ time '3/12/2013 4:05', timetz '3/12/2013 4:05+01';
INSERT /* German */ INTO days (id, d) VALUES (7, '08/09/10') RETURNING d;
UPDATE /* German */ days SET d = '07/08/09' WHERE id = 7 RETURNING d;
SELECT /* German */ count(*) FROM days WHERE d = '07/08/09' OR d = ANY ('{07/08/09}');
DELETE FROM days WHERE id = 7;
COPY days (id, d, t, ds) FROM STDIN;
8	01/02/03	4/5/2006 7:08	{01/02/03,2000-01-02}
\.
COPY days (id, z) FROM STDIN (FORMAT csv);
9,1 feb 2003 4:05+00
\.
COPY days (id, d) FROM STDIN;
10	13/13/2003
\.
SELECT id, d, t, z, ds FROM days WHERE id > 7 ORDER BY id;
DELETE FROM days WHERE id > 7;
SET DateStyle = German, YMD;
SHOW DateStyle;
SET TimeZone = 'Asia/Calcutta';
SELECT * FROM days ORDER BY id;
SET TimeZone = 'America/Sao_Paulo';
SELECT * FROM days ORDER BY id;
COPY (SELECT * FROM days ORDER BY id) TO STDOUT;
COPY (SELECT d, t, z FROM days ORDER BY id) TO STDOUT (FORMAT csv);
SELECT /* German, YMD */ date '01/02/03', date '1-2-2003', timestamp '1.2.2003 4:05', timestamptz '1 feb 2003', date '2003-2-1', date 'Feb 3 04', date '4 Feb 3', date '20030201', date '030201';
SELECT /* German, YMD */ date '13/12/2003';
SELECT /* German, YMD */ timestamp '12/13/2003';
SELECT /* German, YMD */ date '03/12/13';
SELECT /* German, YMD */ time '3/12/2013 4:05', timetz '3/12/2013 4:05+01';
INSERT /* German, YMD */ INTO days (id, d) VALUES (7, '08/09/10') RETURNING d;
UPDATE /* German, YMD */ days SET d = '07/08/09' WHERE id = 7 RETURNING d;
SELECT /* German, YMD */ count(*) FROM days WHERE d = '07/08/09' OR d = ANY ('{07/08/09}');
DELETE FROM days WHERE id = 7;
COPY days (id, d, t, ds) FROM STDIN;
8	01/02/03	4/5/2006 7:08	{01/02/03,2000-01-02}
\.
COPY days (id, z) FROM STDIN (FORMAT csv);
9,1 feb 2003 4:05+00
\.
COPY days (id, d) FROM STDIN;
10	13/13/2003
\.
SELECT id, d, t, z, ds FROM days WHERE id > 7 ORDER BY id;
DELETE FROM days WHERE id > 7;
SET DateStyle = SQL, DMY;
SHOW DateStyle;
SET TimeZone = 'UTC';
SELECT * FROM days ORDER BY id;
SET TimeZone = 'Europe/Berlin';
SELECT * FROM days ORDER BY id;
SET TimeZone = '+02:00';
SELECT * FROM days ORDER BY id;
COPY (SELECT * FROM days ORDER BY id) TO STDOUT;
COPY (SELECT d, t, z FROM days ORDER BY id) TO STDOUT (FORMAT csv);
SELECT /* SQL, DMY */ date '01/02/03', date '1-2-2003', timestamp '1.2.2003 4:05', timestamptz '1 feb 2003', date '2003-2-1', date 'Feb 3 04', date '4 Feb 3', date '20030201', date '030201';
SELECT /* SQL, DMY */ date '13/12/2003';
SELECT /* SQL, DMY */ timestamp '12/13/2003';
SELECT /* SQL, DMY */ date '03/12/13';
SELECT /* SQL, DMY */ time '3/12/2013 4:05', timetz '3/12/2013 4:05+01';
INSERT /* SQL, DMY */ INTO days (id, d) VALUES (7, '08/09/10') RETURNING d;
UPDATE /* SQL, DMY */ days SET d = '07/08/09' WHERE id = 7 RETURNING d;
SELECT /* SQL, DMY */ count(*) FROM days WHERE d = '07/08/09' OR d = ANY ('{07/08/09}');
DELETE FROM days WHERE id = 7;
COPY days (id, d, t, ds) FROM STDIN;
8	01/02/03	4/5/2006 7:08	{01/02/03,2000-01-02}
\.
COPY days (id, z) FROM STDIN (FORMAT csv);
9,1 feb 2003 4:05+00
\.
COPY days (id, d) FROM STDIN;
10	13/13/2003
\.
SELECT id, d, t, z, ds FROM days WHERE id > 7 ORDER BY id;
DELETE FROM days WHERE id > 7;
SET DateStyle = Postgres, DMY;
SHOW DateStyle;
SET TimeZone = 'UTC';
SELECT * FROM days ORDER BY id;
SET TimeZone = 'Europe/Berlin';
SELECT * FROM days ORDER BY id;
SET TimeZone = '+02:00';
SELECT * FROM days ORDER BY id;
COPY (SELECT * FROM days ORDER BY id) TO STDOUT;
COPY (SELECT d, t, z FROM days ORDER BY id) TO STDOUT (FORMAT csv);
SELECT /* Postgres, DMY */ date '01/02/03', date '1-2-2003', timestamp '1.2.2003 4:05', timestamptz '1 feb 2003', date '2003-2-1', date 'Feb 3 04', date '4 Feb 3', date '20030201', date '030201';
SELECT /* Postgres, DMY */ date '13/12/2003';
SELECT /* Postgres, DMY */ timestamp '12/13/2003';
SELECT /* Postgres, DMY */ date '03/12/13';
SELECT /* Postgres, DMY */ time '3/12/2013 4:05', timetz '3/12/2013 4:05+01';
INSERT /* Postgres, DMY */ INTO days (id, d) VALUES (7, '08/09/10') RETURNING d;
UPDATE /* Postgres, DMY */ days SET d = '07/08/09' WHERE id = 7 RETURNING d;
SELECT /* Postgres, DMY */ count(*) FROM days WHERE d = '07/08/09' OR d = ANY ('{07/08/09}');
DELETE FROM days WHERE id = 7;
COPY days (id, d, t, ds) FROM STDIN;
8	01/02/03	4/5/2006 7:08	{01/02/03,2000-01-02}
\.
COPY days (id, z) FROM STDIN (FORMAT csv);
9,1 feb 2003 4:05+00
\.
COPY days (id, d) FROM STDIN;
10	13/13/2003
\.
SELECT id, d, t, z, ds FROM days WHERE id > 7 ORDER BY id;
DELETE FROM days WHERE id > 7;
SET DateStyle = ISO, YMD;
SHOW DateStyle;
SET TimeZone = 'UTC';
SELECT * FROM days ORDER BY id;
SET TimeZone = 'Europe/Berlin';
SELECT * FROM days ORDER BY id;
SET TimeZone = '+02:00';
SELECT * FROM days ORDER BY id;
COPY (SELECT * FROM days ORDER BY id) TO STDOUT;
COPY (SELECT d, t, z FROM days ORDER BY id) TO STDOUT (FORMAT csv);
SELECT /* ISO, YMD */ date '01/02/03', date '1-2-2003', timestamp '1.2.2003 4:05', timestamptz '1 feb 2003', date '2003-2-1', date 'Feb 3 04', date '4 Feb 3', date '20030201', date '030201';
SELECT /* ISO, YMD */ date '13/12/2003';
SELECT /* ISO, YMD */ timestamp '12/13/2003';
SELECT /* ISO, YMD */ date '03/12/13';
SELECT /* ISO, YMD */ time '3/12/2013 4:05', timetz '3/12/2013 4:05+01';
INSERT /* ISO, YMD */ INTO days (id, d) VALUES (7, '08/09/10') RETURNING d;
UPDATE /* ISO, YMD */ days SET d = '07/08/09' WHERE id = 7 RETURNING d;
SELECT /* ISO, YMD */ count(*) FROM days WHERE d = '07/08/09' OR d = ANY ('{07/08/09}');
DELETE FROM days WHERE id = 7;
COPY days (id, d, t, ds) FROM STDIN;
8	01/02/03	4/5/2006 7:08	{01/02/03,2000-01-02}
\.
COPY days (id, z) FROM STDIN (FORMAT csv);
9,1 feb 2003 4:05+00
\.
COPY days (id, d) FROM STDIN;
10	13/13/2003
\.
SELECT id, d, t, z, ds FROM days WHERE id > 7 ORDER BY id;
DELETE FROM days WHERE id > 7;
RESET TimeZone;
SET DateStyle = ISO, DMY;
SELECT /* ISO, DMY */ date '01/02/03'::text, d::text FROM days WHERE id = 1;
SET DateStyle = ISO, MDY;
SET DateStyle TO german;
SHOW DateStyle;
SET DateStyle TO german,iso;
SHOW DateStyle;
SET DateStyle TO mdy,dmy;
SHOW DateStyle;
SET DateStyle TO euro;
SHOW DateStyle;
SET DateStyle TO us;
SHOW DateStyle;
SET DateStyle TO european,us;
SHOW DateStyle;
SET DateStyle TO NonEuropean;
SHOW DateStyle;
SET DateStyle TO sql, ymd;
SHOW DateStyle;
SET DateStyle TO 'default';
SHOW DateStyle;
SET DateStyle TO iso;
SHOW DateStyle;
SET DateStyle TO foo;
SHOW DateStyle;
SET DateStyle TO postgresql;
SHOW DateStyle;
SET DateStyle TO 'German', 'MDY';
SHOW DateStyle;
SET DateStyle TO '';
SHOW DateStyle;
SET DateStyle TO 'a b';
SHOW DateStyle;
SET DateStyle TO 'iso,';
SHOW DateStyle;
SET DateStyle TO 'german, default';
SHOW DateStyle;
SET DateStyle TO 'default, german';
SHOW DateStyle;
SET DateStyle TO DEFAULT;
SHOW DateStyle;
BEGIN;
SET LOCAL DateStyle = SQL, DMY;
SELECT d FROM days ORDER BY id;
ROLLBACK;
SELECT d FROM days ORDER BY id;
PREPARE later (date) AS SELECT $1, d FROM days WHERE id = 1;
SET DateStyle = Postgres, DMY;
EXECUTE later ('03/04/05');
SET DateStyle = SQL, YMD;
EXECUTE later ('03/04/05');
DEALLOCATE later;
RESET ALL;
DROP TABLE days;
