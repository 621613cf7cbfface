-- char(n), plain numeric, interval, time, uuid, bytea, json, jsonb and arrays in tables.
CREATE TABLE ty (id integer PRIMARY KEY, c char(4), cc bpchar, n numeric, iv interval, t time, t1 time(1), u uuid, b bytea, j json, jb jsonb, ts3 timestamp(3))
INSERT INTO ty VALUES (1, 'ab', 'x  ', 1.50, '1 mon 2 days', '04:05', '04:05:06.789', 'A0EEBC999C0B4EF8BB6D6BB9BD380A11', '\x6869', '{"b":1, "a" : 2}', '{"b":1, "a" : 2}', '2020-01-02 03:04:05.6785')
INSERT INTO ty (id, c, n) VALUES (2, 'abcd  ', 12345678901234567890.123), (3, 'é', -0.0), (4, NULL, 1e10)
INSERT INTO ty (id, c) VALUES (5, 'abcde')
INSERT INTO ty (id, iv) VALUES (5, 'nonsense')
INSERT INTO ty (id, u) VALUES (5, 'nonsense')
INSERT INTO ty (id, b) VALUES (5, '\xzz')
INSERT INTO ty (id, j) VALUES (5, '{"a":}')
INSERT INTO ty (id, jb) VALUES (5, '"\u0000"')
INSERT INTO ty (id, t) VALUES (5, '25:00')
INSERT INTO ty (id, iv) VALUES (5, 3)
INSERT INTO ty (id, c, iv, t) VALUES (5, 12, '1 day'::interval * 1.5, timestamp '2020-01-01 10:11:12')
INSERT INTO ty (id, n, iv) SELECT id + 10, n * 2, iv + interval '1 hour' FROM ty
SELECT * FROM ty ORDER BY id
SELECT id, c = 'ab', c || '|', length(c), n::text FROM ty ORDER BY id
SELECT id FROM ty WHERE c = 'ab   '
SELECT id FROM ty WHERE iv = '32 days'
SELECT id FROM ty WHERE u = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'
SELECT id FROM ty WHERE n = 1.5
SELECT id FROM ty ORDER BY n DESC, id
SELECT sum(n), avg(n), min(n), max(n), count(DISTINCT n) FROM ty
SELECT sum(iv), avg(iv), min(iv), max(iv) FROM ty
SELECT c, count(*) FROM ty GROUP BY c ORDER BY c
UPDATE ty SET c = 'z', n = n + 1, iv = iv * 2, t = t + interval '1 hour', jb = '[1,  2]' WHERE id = 1
UPDATE ty SET c = 'too long' WHERE id = 1
UPDATE ty SET b = 'text', u = NULL WHERE id = 2 RETURNING id, b, u, c
SELECT id, c, n, iv, t, jb, b FROM ty WHERE id < 3 ORDER BY id
DELETE FROM ty WHERE iv > '1 mon' RETURNING id, iv
CREATE TABLE ar (id integer, ai integer[], at text[], an numeric(6,2)[], ab boolean[], ac char(3)[], ats timestamp[], aiv interval[], ad date[] DEFAULT '{2020-01-01}')
INSERT INTO ar VALUES (1, '{1,NULL,3}', '{a,"b c",NULL,"NULL",""}', '{1.005,2}', '{t,f}', '{a,bcd}', '{2020-01-02 03:04:05}', '{1 day,2:03}')
INSERT INTO ar (id, ai) VALUES (2, '{}'), (3, NULL)
INSERT INTO ar (id, ai) VALUES (4, '{1')
INSERT INTO ar (id, ai) VALUES (4, '{x}')
INSERT INTO ar (id, ac) VALUES (4, '{abcd}')
INSERT INTO ar (id, an) VALUES (4, '{12345.6}')
--! 0A000 an array of more than one dimension
SELECT '{{1,2},{3,4}}'::integer[]
INSERT INTO ar (id, at) SELECT 5, ai::text[] FROM ar WHERE id = 1
SELECT * FROM ar ORDER BY id
SELECT id FROM ar WHERE ai = '{1,NULL,3}'
SELECT id FROM ar WHERE at < '{b}' ORDER BY id
SELECT ai, count(*) FROM ar GROUP BY ai ORDER BY ai
UPDATE ar SET ai = '{7,8}' WHERE id = 2
SELECT ai, ai::text, at FROM ar ORDER BY id
CREATE TABLE iv (y interval year to month, d interval day to second(1), p interval(2), h interval hour)
INSERT INTO iv VALUES ('1 year 2 mons 3 days', '1 day 02:03:04.567', '1.23456 s', '1 day 2:03')
INSERT INTO iv VALUES ('1', '1', '1', '1')
SELECT * FROM iv
CREATE TABLE copied AS SELECT * FROM ty
SELECT * FROM copied ORDER BY id
CREATE TABLE k (c char(3) PRIMARY KEY, u uuid UNIQUE)
INSERT INTO k VALUES ('a', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11')
INSERT INTO k VALUES ('a  ', NULL)
INSERT INTO k VALUES ('b', '{A0EEBC99-9c0b-4ef8-bb6d-6bb9bd380a11}')
SELECT * FROM k
--! 0A000 an index knows nothing of keys
CREATE TABLE keyed_numeric (n numeric UNIQUE)
--! 0A000 blanks at the end
CREATE TABLE keyed_bpchar (b bpchar UNIQUE)
--! 0A000 an index knows nothing of keys
CREATE TABLE keyed_interval (i interval PRIMARY KEY)
CREATE TABLE keyed_json (j json UNIQUE)
