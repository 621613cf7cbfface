-- Columns of a stream of every type that a table's may have: read, shown, refused, added, in views.
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE FOREIGN TABLE every (n int, num numeric, j json, jb jsonb, u uuid, c char(5), bc bpchar, ta text[], ia int[], na numeric[], m mood, ma mood[],
  iv interval, ivf interval day to second(2), t time, t0 time(0), tz timetz, b bytea, i inet, ci cidr, o oid, nm name, q "char", t3 timestamp(3), tz3 timestamptz(3),
  v varchar(3), vs varchar(3)[]) SERVER stream;
INSERT INTO every VALUES (1, 1.50, '{"b": 1, "a":2}', '{"b": 1, "a":2}', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 'ab', 'bc  ', '{a,NULL,"x y"}', '{1,2,NULL}',
  '{1.0,NaN,2.50}', 'ok', '{sad,happy}', '1 mon 25:00', '1 day 02:03:04.567', '12:34:56.789', '12:00:00.6', '12:00+02', '\xDEADBEEF', '192.168.0.1/24', '10.0.0.0/8',
  4000000000, 'nam', 'q', '2020-01-01 00:00:00.123456', '2020-01-01 00:00:00.9999+00', 'abc', '{abc,d}');
INSERT INTO every (n, num) VALUES (2, 'NaN'), (3, '-Infinity'), (4, 12345678901234567890.123456789), (5, 1e-20), (6, -0.00);
INSERT INTO every (n, ta, jb) SELECT g, array_agg(g::text) OVER (), to_jsonb(g) FROM generate_series(7, 9) g;
COPY every (n, num, j, jb, u, c, bc, ta, ia, na, m, ma, iv, ivf, t, t0, tz, b, i, ci, o, nm, q, t3, tz3, v, vs) FROM STDIN;
10	1.500	{"b": 1}	{"b": 1.50, "a":2, "a":3}	{A0eebc999c0b4ef8bb6d6bb9bd380a12}	abc	b	{}	{1}	{1.10}	sad	{ok}	24:00	25:00:00.126	01:02	23:59:59.5	01:02-03	\\x00ff	::1	10/8	1	n	a	2020-01-01 00:00:00.9996	infinity	x   	{a}
11	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N
12	-0.5	[1,\n2]	[1,\n2]	a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12	ä	 	{"",NULL}	{}	{}	happy	{}	-1 year	-1 day	24:00	00:00	24:00+15	abc	1.2.3.4	1.2.3.4	0		\N	-infinity	-infinity		{}
\.
COPY every (n, num, jb, ta, c) FROM STDIN (FORMAT csv);
13,1.50,"{""a"":""x""}","{a,""b,c""}",ab
14,,,"{}",""
\.
SELECT * FROM every ORDER BY n;
SELECT n, num + 1 AS more, jb -> 'a' AS a, ta[1] AS first, iv * 2 AS twice, c || '|' AS padded, length(c) AS size FROM every ORDER BY n;
SELECT n FROM every WHERE num > 1 OR jb @> '{"a": 3}' OR u = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' OR c = 'ab   ' OR iv = '1 day' ORDER BY n;
SELECT num, count(*) FROM every WHERE num IS DISTINCT FROM 1.5 GROUP BY num ORDER BY num;
SELECT jb, count(*) FROM every GROUP BY jb ORDER BY 1;
COPY (SELECT * FROM every ORDER BY n) TO STDOUT;
COPY (SELECT * FROM every ORDER BY n) TO STDOUT (FORMAT csv);
COPY (SELECT n, num, j, jb, u, c, bc, ta, ia, na, m, iv, ivf, t, t0, tz, b, i, ci, o, nm, q, t3, tz3, v, vs FROM every ORDER BY n) TO STDOUT (FORMAT binary);
INSERT INTO every (n, num) VALUES (1, 'x');
INSERT INTO every (n, jb) VALUES (1, '{');
INSERT INTO every (n, c) VALUES (1, 'toolong');
INSERT INTO every (n, ta) VALUES (1, '{a');
INSERT INTO every (n, vs) VALUES (1, '{abcd}');
INSERT INTO every (n, u) VALUES (1, 'z');
INSERT INTO every (n, t) VALUES (1, '25:00');
INSERT INTO every (n, o) VALUES (1, -5000000000);
INSERT INTO every (n, num, iv) VALUES (100, 2.5, 'x');
COPY every (n, num, jb) FROM STDIN;
1	1	{}
2	x	{}
\.
COPY every (n, num, jb) FROM STDIN;
1	1	{}
2	1	{x
3	z	{}
\.
COPY every (n, num, jb) FROM STDIN;
1	1	{}
x	1	{x
\.
COPY every (n, ta, num) FROM STDIN (FORMAT csv);
1,"{a,b}",1
2,"{a,b",2
\.
SELECT count(*) FROM every;
DROP FOREIGN TABLE every;
CREATE FOREIGN TABLE strict (n int, num numeric NOT NULL, jb jsonb DEFAULT '{"a": 1}', iv interval NOT NULL DEFAULT '1 day', ta text[] DEFAULT '{a,b}') SERVER stream;
INSERT INTO strict (n) VALUES (1);
INSERT INTO strict (n, num, iv) VALUES (1, 2.50, NULL);
INSERT INTO strict (n, num) VALUES (1, 2.50);
COPY strict (n, num, jb) FROM STDIN;
2	1.0	{}
3	\N	{}
4	1	{x
\.
COPY strict (n, num, jb) FROM STDIN;
5	1.0	\N
\.
SELECT * FROM strict ORDER BY n;
ALTER TABLE strict ADD x numeric DEFAULT 1.230, ADD y interval NOT NULL DEFAULT '1 mon', ADD z int[] DEFAULT '{1,2}', ADD c char(3) DEFAULT 'a';
INSERT INTO strict (n, num) VALUES (6, 'Infinity');
SELECT * FROM strict ORDER BY n;
ALTER TABLE strict ALTER jb SET NOT NULL;
ALTER TABLE strict DROP ta;
SELECT * FROM strict ORDER BY n;
DROP FOREIGN TABLE strict;
CREATE FOREIGN TABLE amounts (k int, num numeric) SERVER stream;
CREATE VIEW by_amount AS SELECT num, count(*) AS n, sum(k) AS k FROM amounts GROUP BY num;
CREATE VIEW sums AS SELECT k, sum(num) AS s, avg(num) AS a, min(num) AS low, max(num) AS high, count(num) AS n FROM amounts GROUP BY k;
CREATE VIEW filtered AS SELECT num * 2 AS twice, count(*) AS n FROM amounts WHERE num > 1.0 AND num <> 3 AND num IN (1.5, 1.50000001, 12345678901234567890.5, 'NaN') GROUP BY 1;
INSERT INTO amounts VALUES (1, 1.50), (1, 1.5), (1, 1.500), (2, NULL), (2, 0), (2, -0.00), (3, 'NaN'), (3, 1), (4, 'Infinity'), (4, '-Infinity'), (5, 12345678901234567890.5),
  (5, -12345678901234567890.5), (5, 1e-10), (6, 'Infinity'), (6, 5), (7, 1.50000001), (7, 3.00), (8, -99999999999999999999999999999999999999);
SELECT num, n, k FROM by_amount ORDER BY num;
SELECT * FROM sums ORDER BY k;
SELECT * FROM filtered ORDER BY 1;
DROP VIEW by_amount, sums, filtered;
DROP FOREIGN TABLE amounts;
CREATE FOREIGN TABLE nothing (a void) SERVER stream;
DROP TYPE mood;
