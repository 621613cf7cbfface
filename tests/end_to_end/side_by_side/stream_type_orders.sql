-- Extremes, keys, DISTINCT ON, comparisons and joins of every type that has an order: values that are equal though they look different are one.
CREATE TYPE mood AS ENUM ('sad','ok','happy');
CREATE FOREIGN TABLE wide (k int, b char(5), iv interval, t timetz, a inet, c cidr, n name, o oid, m mood, i4 int[], f8 float8[], nu numeric[], n2 numeric(6,2)[], tx text[], iva interval[], jb jsonb, jba jsonb[], ba char(3)[], ma mood[], da date[], ia inet[], tm time, u uuid, by bytea, bo bool[], ua uuid[], va numeric) SERVER stream;
CREATE TABLE same (k int, b char(5), iv interval, t timetz, a inet, c cidr, n name, o oid, m mood, i4 int[], f8 float8[], nu numeric[], n2 numeric(6,2)[], tx text[], iva interval[], jb jsonb, jba jsonb[], ba char(3)[], ma mood[], da date[], ia inet[], tm time, u uuid, by bytea, bo bool[], ua uuid[], va numeric);
INSERT INTO same VALUES (1,'a','1 mon','10:00+00','10.1.2.3/8','10.0.0.0/8','a',1,'sad','{1,2}','{1.5,NaN}','{1.0,2}','{1,2}','{a,b}','{30 days}','1.0','{1.0,null}','{a,b}','{sad,ok}','{2020-01-01}','{10.0.0.1,::1}','10:00','00000000-0000-0000-0000-000000000001','\x01','{t,f}','{00000000-0000-0000-0000-000000000001}',1.0),
(2,'a ','30 days','12:00+02','10.1.2.3','10.1.2.3/32','b',4294967295,'happy','{1,2,3}','{1.5,NaN}','{1,2.0}','{1.00,2.0}','{a,b}','{1 mon}','1','{1,null}','{"a ",b}','{ok,sad}','{2020-01-01,NULL}','{10.0.0.1,::2}','11:00','00000000-0000-0000-0000-000000000002','\x02','{t,NULL}','{NULL}',1.00),
(3,'','-1 days','11:00+01','::1','::/0','',0,'ok','{}','{0,0}','{NaN,1e10}','{}','{}','{}','{"a":1.50}','{}','{}','{}','{}','{}','00:00',NULL,'','{}','{}','NaN'),
(4,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL),
(5,'b','24:00:00','23:59:59.999+13','9.9.9.9','9.9.0.0/16','é',7,'sad','{NULL}','{0,0}','{Infinity}','{-0.01}','{NULL,"longer than twelve bytes",x}','{NULL,"1 day 24:00:00"}','{"a":1.5}','{"{\"a\":1.50}"}','{"",é}','{happy}','{-infinity}','{9.9.9.9/8}','24:00',NULL,'\x','{NULL}',NULL,'Infinity'),
(6,'b  ','1 day','00:00-13','9.9.9.9/24','9.9.0.0/24','z',7,'sad','{NULL,1}','{NaN}','{-1.50,12345678901234567890.12345}','{-0.010}','{"longer than twelve bytes"}','{NULL,"2 days"}','[1,2.0]','{"{\"a\":1.5}"}','{" ",é}','{happy,NULL}','{infinity}','{9.9.9.9/16}','24:00',NULL,'\x','{NULL}',NULL,'-Infinity');
CREATE VIEW mm1 AS SELECT k % 2 AS k, min(b) a1, max(b) a2, min(iv) a3, max(iv) a4, min(t) a5, max(t) a6, min(a) a7, max(a) a8, min(c) a9, max(c) a10, min(n) a11, max(n) a12, min(o) a13, max(o) a14, min(m) a15, max(m) a16, min(tm) a17 FROM wide GROUP BY 1;
CREATE VIEW mm2 AS SELECT min(i4) a1, max(i4) a2, min(f8) a3, max(f8) a4, min(nu) a5, max(nu) a6, min(n2) a7, max(n2) a8, min(tx) a9, max(tx) a10, min(iva) a11, max(iva) a12, min(ba) a13, max(ba) a14, min(ma) a15, max(ma) a16, min(da) a17, max(da) a18, min(ia) a19, max(ia) a20, min(bo) a21, max(bo) a22, min(ua) a23, max(ua) a24 FROM wide;
CREATE VIEW k1 AS SELECT f8, count(*) FROM wide GROUP BY 1;
CREATE VIEW k3 AS SELECT iva, count(*) FROM wide GROUP BY 1;
CREATE VIEW k4 AS SELECT jba, jb, count(*) FROM wide GROUP BY 1, 2;
CREATE VIEW k6 AS SELECT ia, ma, t, count(*) FROM wide GROUP BY 1, 2, 3;
CREATE VIEW k7 AS SELECT n2, count(DISTINCT f8) AS f, count(DISTINCT a) AS a FROM wide GROUP BY 1;
CREATE VIEW d1 AS SELECT DISTINCT ON (k) k, iv, a, t FROM wide ORDER BY k, iv DESC, a, t;
CREATE VIEW d2 AS SELECT DISTINCT ON (b) b, i4, f8 FROM wide ORDER BY b, f8 NULLS FIRST, i4 DESC;
CREATE VIEW f1 AS SELECT count(*) FILTER (WHERE iv > '1 day') a1, count(*) FILTER (WHERE a < '10.0.0.5') a2, count(*) FILTER (WHERE t >= '10:00+01') a3, count(*) FILTER (WHERE i4 > '{1,2}') a4, count(*) FILTER (WHERE f8 = '{NaN}') a5, count(*) FILTER (WHERE nu IN ('{1.0}','{2,NULL}')) a6, count(*) FILTER (WHERE jb = '1.0') a7, count(*) FILTER (WHERE b = 'a') a8, count(*) FILTER (WHERE greatest(iv, '3 days') = iv) a9, count(*) FILTER (WHERE jb < '{}') a10 FROM wide;
CREATE VIEW j_b AS SELECT s.k AS sk, d.k AS dk, d.nu AS shown, count(*) AS n FROM wide s JOIN same d ON s.b = d.b GROUP BY 1, 2, 3;
CREATE VIEW l_nu AS SELECT d.nu AS x, count(*) AS n, min(d.k) AS m FROM wide s LEFT JOIN same d ON s.nu = d.nu AND s.k <> d.k GROUP BY 1;
CREATE VIEW j_iv AS SELECT s.k AS sk, d.k AS dk, d.ba AS shown, count(*) AS n FROM wide s JOIN same d ON s.iv = d.iv GROUP BY 1, 2, 3;
CREATE VIEW l_ba AS SELECT d.ba AS x, count(*) AS n, min(d.k) AS m FROM wide s LEFT JOIN same d ON s.ba = d.ba AND s.k <> d.k GROUP BY 1;
CREATE VIEW j_jb AS SELECT s.k AS sk, d.k AS dk, d.f8 AS shown, count(*) AS n FROM wide s JOIN same d ON s.jb = d.jb GROUP BY 1, 2, 3;
CREATE VIEW l_f8 AS SELECT d.f8 AS x, count(*) AS n, min(d.k) AS m FROM wide s LEFT JOIN same d ON s.f8 = d.f8 AND s.k <> d.k GROUP BY 1;
CREATE VIEW j_a AS SELECT s.k AS sk, d.k AS dk, d.jba AS shown, count(*) AS n FROM wide s JOIN same d ON s.a = d.a GROUP BY 1, 2, 3;
CREATE VIEW l_jba AS SELECT d.jba AS x, count(*) AS n, min(d.k) AS m FROM wide s LEFT JOIN same d ON s.jba = d.jba AND s.k <> d.k GROUP BY 1;
CREATE VIEW j_t AS SELECT s.k AS sk, d.k AS dk, d.tx AS shown, count(*) AS n FROM wide s JOIN same d ON s.t = d.t GROUP BY 1, 2, 3;
CREATE VIEW l_tx AS SELECT d.tx AS x, count(*) AS n, min(d.k) AS m FROM wide s LEFT JOIN same d ON s.tx = d.tx AND s.k <> d.k GROUP BY 1;
CREATE VIEW j_iva AS SELECT s.k AS sk, d.k AS dk, d.ma AS shown, count(*) AS n FROM wide s JOIN same d ON s.iva = d.iva GROUP BY 1, 2, 3;
CREATE VIEW l_ma AS SELECT d.ma AS x, count(*) AS n, min(d.k) AS m FROM wide s LEFT JOIN same d ON s.ma = d.ma AND s.k <> d.k GROUP BY 1;
INSERT INTO wide VALUES (1,'a','1 mon','10:00+00','10.1.2.3/8','10.0.0.0/8','a',1,'sad','{1,2}','{1.5,NaN}','{1.0,2}','{1,2}','{a,b}','{30 days}','1.0','{1.0,null}','{a,b}','{sad,ok}','{2020-01-01}','{10.0.0.1,::1}','10:00','00000000-0000-0000-0000-000000000001','\x01','{t,f}','{00000000-0000-0000-0000-000000000001}',1.0),
(2,'a ','30 days','12:00+02','10.1.2.3','10.1.2.3/32','b',4294967295,'happy','{1,2,3}','{1.5,NaN}','{1,2.0}','{1.00,2.0}','{a,b}','{1 mon}','1','{1,null}','{"a ",b}','{ok,sad}','{2020-01-01,NULL}','{10.0.0.1,::2}','11:00','00000000-0000-0000-0000-000000000002','\x02','{t,NULL}','{NULL}',1.00),
(3,'','-1 days','11:00+01','::1','::/0','',0,'ok','{}','{-0,0}','{NaN,1e10}','{}','{}','{}','{"a":1.50}','{}','{}','{}','{}','{}','00:00',NULL,'','{}','{}','NaN'),
(4,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL),
(5,'b','24:00:00','23:59:59.999+13','9.9.9.9','9.9.0.0/16','é',7,'sad','{NULL}','{0,-0}','{Infinity}','{-0.01}','{NULL,"longer than twelve bytes",x}','{NULL,"1 day 24:00:00"}','{"a":1.5}','{"{\"a\":1.50}"}','{"",é}','{happy}','{-infinity}','{9.9.9.9/8}','24:00',NULL,'\x','{NULL}',NULL,'Infinity'),
(6,'b  ','1 day','00:00-13','9.9.9.9/24','9.9.0.0/24','z',7,'sad','{NULL,1}','{NaN}','{-1.50,12345678901234567890.12345}','{-0.010}','{"longer than twelve bytes"}','{NULL,"2 days"}','[1,2.0]','{"{\"a\":1.5}"}','{" ",é}','{happy,NULL}','{infinity}','{9.9.9.9/16}','24:00',NULL,'\x','{NULL}',NULL,'-Infinity');
SELECT * FROM mm1 ORDER BY 1;
SELECT * FROM mm2;
SELECT * FROM k1 ORDER BY 1;
SELECT * FROM k3 ORDER BY 1;
SELECT * FROM k4 ORDER BY 1,2;
SELECT * FROM k6 ORDER BY 1,2,3;
SELECT * FROM k7 ORDER BY 1;
SELECT * FROM d1 ORDER BY 1;
SELECT * FROM d2 ORDER BY 1;
SELECT * FROM f1;
SELECT * FROM j_b ORDER BY 1, 2;
SELECT * FROM l_nu ORDER BY 1;
SELECT * FROM j_iv ORDER BY 1, 2;
SELECT * FROM l_ba ORDER BY 1;
SELECT * FROM j_jb ORDER BY 1, 2;
SELECT * FROM l_f8 ORDER BY 1;
SELECT * FROM j_a ORDER BY 1, 2;
SELECT * FROM l_jba ORDER BY 1;
SELECT * FROM j_t ORDER BY 1, 2;
SELECT * FROM l_tx ORDER BY 1;
SELECT * FROM j_iva ORDER BY 1, 2;
SELECT * FROM l_ma ORDER BY 1;
DROP VIEW mm1, mm2, k1, k3, k4, k6, k7, d1, d2, f1, j_b, l_nu, j_iv, l_ba, j_jb, l_f8, j_a, l_jba, j_t, l_tx, j_iva, l_ma;
DROP TABLE same;
DROP FOREIGN TABLE wide;
DROP TYPE mood;
CREATE FOREIGN TABLE documents (k int, t text, j jsonb) SERVER stream;
CREATE VIEW least_documents AS SELECT DISTINCT ON (k) k, j, t FROM documents ORDER BY k, j;
CREATE VIEW greatest_documents AS SELECT DISTINCT ON (k) k, t, j FROM documents ORDER BY k, j DESC NULLS LAST, t;
CREATE VIEW parts_of_documents AS SELECT k, t FROM (SELECT k, t, row_number() OVER (PARTITION BY k ORDER BY j -> 'a' DESC, t) AS r FROM documents) d WHERE r = 1;
INSERT INTO documents VALUES (1, 'a', '{"a": 1}'), (1, 'b', '[]'), (1, 'c', '"x"'), (1, 'd', '{"a": 10, "b": 2}'), (2, 'a', '3'), (2, 'b', '12.50'), (2, 'c', NULL), (3, 'a', NULL);
INSERT INTO documents VALUES (1, 'e', 'null');
INSERT INTO documents VALUES (3, 'b', '[[], 1]'), (2, 'd', '-5e3'), (2, 'e', 'false');
SELECT * FROM least_documents ORDER BY k;
SELECT * FROM greatest_documents ORDER BY k;
SELECT * FROM parts_of_documents ORDER BY k;
DROP VIEW least_documents, greatest_documents, parts_of_documents;
DROP FOREIGN TABLE documents;
