-- The n first rows of each group, or of a whole stream: row_number() <= n, LIMIT, LATERAL with LIMIT; rows of two commits, later ones that come first, NULLs, texts of all lengths, groups with fewer rows.
CREATE TYPE mood AS ENUM ('low', 'high');
CREATE FOREIGN TABLE s (k int, x int, t text, b numeric(8,2), f float8, a int[], m mood, z numeric) SERVER stream;
CREATE FOREIGN TABLE r (k int, x int, t text) SERVER stream;
CREATE TABLE keys (k int, name text);
INSERT INTO keys VALUES (1, 'one'), (2, 'two'), (3, 'three'), (NULL, 'none');
CREATE VIEW top AS SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY x DESC, t) AS n FROM s) q WHERE n <= 3;
CREATE VIEW second AS SELECT k, t FROM (SELECT k, t, row_number() OVER (PARTITION BY k ORDER BY f NULLS FIRST, x, t DESC) AS n FROM s) q WHERE n = 2;
CREATE VIEW middle AS SELECT n, k, upper(t) AS t FROM (SELECT k, t, x, row_number() OVER (PARTITION BY k ORDER BY b DESC NULLS LAST, t, x) AS n FROM s WHERE x < 50) q WHERE n BETWEEN 2 AND 3 AND x > -5;
CREATE VIEW numbers AS SELECT n, count(*) AS c, sum(x) AS total FROM (SELECT x, row_number() OVER (PARTITION BY k ORDER BY x, t) AS n FROM s) q WHERE 4 > n GROUP BY n;
CREATE VIEW none AS SELECT * FROM (SELECT k, row_number() OVER (PARTITION BY k ORDER BY x) AS n FROM s) q WHERE n < 1;
CREATE VIEW whole AS SELECT t, x, m, z FROM s ORDER BY z DESC, m, t, x LIMIT 4;
CREATE VIEW later AS SELECT x + 1 AS y, t FROM s WHERE k = 1 ORDER BY x + 1 DESC, t OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY;
CREATE VIEW nobody AS SELECT x FROM s ORDER BY x LIMIT 0;
CREATE VIEW above AS SELECT k, count(*) AS c, string_agg(t, ',' ORDER BY t) AS ts, percentile_cont(0.5) WITHIN GROUP (ORDER BY x) AS p FROM (SELECT k, x, t FROM s ORDER BY x DESC, t LIMIT 5) q GROUP BY k;
CREATE VIEW each AS SELECT keys.name, l.x, l.t FROM keys, LATERAL (SELECT x, t FROM s WHERE s.k = keys.k ORDER BY x, t LIMIT 2) l;
CREATE VIEW left_each AS SELECT keys.name, l.x, l.t FROM keys LEFT JOIN LATERAL (SELECT x, t FROM s WHERE s.k = keys.k ORDER BY x DESC, t LIMIT 2 OFFSET 1) l ON true;
CREATE VIEW both_sides AS SELECT * FROM (SELECT k, t, x, row_number() OVER (PARTITION BY k ORDER BY x, t) AS n FROM (SELECT k, x, t FROM s UNION ALL SELECT k, x, t FROM r) u) q WHERE n <= 2;
CREATE VIEW first_of_both AS SELECT k, x, t FROM (SELECT k, x, t FROM s UNION ALL SELECT k, x, t FROM r) u ORDER BY x DESC NULLS LAST, t, k LIMIT 3;
CREATE VIEW with_names AS SELECT name, t, n FROM (SELECT name, t, row_number() OVER (PARTITION BY name ORDER BY x DESC, t) AS n FROM s JOIN keys USING (k)) q WHERE n <= 2;
CREATE VIEW in_first AS SELECT count(*) AS c, sum(x) AS total FROM s WHERE k IN (SELECT k FROM s ORDER BY x DESC, t LIMIT 2);
SELECT count(*) FROM top;
SELECT * FROM whole;
SELECT * FROM above;
COPY s FROM STDIN;
1	5	five	1.50	0.5	{1,2}	high	1.10
1	7	a text of more than twelve bytes	2.50	\N	{}	low	1.1
2	\N	\N	\N	NaN	\N	\N	\N
1	5	a	1.50	-0	{NULL,3}	high	NaN
1	1	b	9.00	1	\N	low	0.001
2	3	c	-1.00	Infinity	{7}	high	1e20
\.
SELECT * FROM top ORDER BY k, n;
SELECT * FROM whole ORDER BY z DESC, m, t, x;
INSERT INTO r VALUES (1, 6, 'of r'), (2, NULL, 'of r, a text that is longer than all others here'), (4, 40, 'four'), (1, 6, 'of r again');
COPY s FROM STDIN;
1	9	a longer text than the one that was first before	2.50	2	{1}	high	55
\N	2	of no key	0.00	3	{1}	low	-Infinity
2	8	\N	7.00	\N	{5,5}	high	Infinity
3	4	z	7.00	4	\N	low	55.000
1	9	short	2.50	2	{2}	high	55
\N	99	of no key, and left out of one view by its x	0.00	3	{1}	low	3
3	0	zero	\N	\N	\N	\N	3
\.
SELECT * FROM top ORDER BY k, n;
SELECT * FROM second ORDER BY k;
SELECT * FROM middle ORDER BY k, n;
SELECT * FROM numbers ORDER BY n;
SELECT * FROM none;
SELECT * FROM whole ORDER BY z DESC, m, t, x;
SELECT * FROM later ORDER BY y DESC, t;
SELECT * FROM nobody;
SELECT * FROM above ORDER BY k;
SELECT * FROM each ORDER BY name, x, t;
SELECT * FROM left_each ORDER BY name, x DESC, t;
SELECT * FROM both_sides ORDER BY k, n;
SELECT * FROM first_of_both ORDER BY x, t;
SELECT * FROM with_names ORDER BY name, n;
SELECT * FROM in_first;
SELECT * FROM top WHERE k = 1 ORDER BY n;
SELECT keys.name, top.t FROM top JOIN keys USING (k) WHERE n = 1 ORDER BY name;
