-- Unique indexes of expressions and of parts of the rows: every way in which a row is written meets
-- them, and ON CONFLICT finds them.
CREATE TABLE ik (id int PRIMARY KEY, name text, v varchar(20), n int, d date, f float8);
INSERT INTO ik (id, name, v, n) VALUES (1, 'a', 'b', 1), (2, 'A', 'c', 2);
CREATE UNIQUE INDEX ik_name ON ik (lower(name));
CREATE UNIQUE INDEX ik_v ON ik (lower(v));
INSERT INTO ik (id, v) VALUES (3, 'B');
INSERT INTO ik (id, v) VALUES (3, 'd'), (4, 'D');
INSERT INTO ik (id, v) VALUES (3, NULL), (4, NULL);
UPDATE ik SET v = 'C' WHERE id = 1;
UPDATE ik SET v = upper(v) WHERE id = 1;
UPDATE ik SET n = 7 WHERE id = 1;
INSERT INTO ik (id, v) VALUES (5, 'b') ON CONFLICT DO NOTHING;
INSERT INTO ik (id, v) VALUES (5, 'b'), (6, 'e'), (7, 'E') ON CONFLICT DO NOTHING RETURNING id, v;
INSERT INTO ik (id, v) VALUES (5, 'b') ON CONFLICT (lower(v)) DO UPDATE SET n = ik.n + excluded.id RETURNING id, v, n;
INSERT INTO ik (id, v) VALUES (5, 'b') ON CONFLICT (lower(v) text_ops) DO NOTHING;
INSERT INTO ik (id, v) VALUES (8, 'g'), (9, 'G') ON CONFLICT (lower(v)) DO UPDATE SET n = 0;
INSERT INTO ik (id, v) VALUES (5, 'b') ON CONFLICT (lower(name)) DO NOTHING;
INSERT INTO ik (id, v) VALUES (5, 'b') ON CONFLICT (v) DO NOTHING;
INSERT INTO ik (id, v) VALUES (5, 'b') ON CONFLICT (lower(v), id) DO NOTHING;
SELECT id, v, n FROM ik ORDER BY id;
CREATE UNIQUE INDEX ik_n ON ik (n) WHERE n > 100;
INSERT INTO ik (id, n) VALUES (10, 101), (11, 5), (12, 5);
INSERT INTO ik (id, n) VALUES (13, 101);
UPDATE ik SET n = 101 WHERE id = 11;
UPDATE ik SET n = n + 96 WHERE id IN (11, 12);
INSERT INTO ik (id, n) VALUES (13, 101) ON CONFLICT DO NOTHING;
INSERT INTO ik (id, n) VALUES (13, 101) ON CONFLICT (n) WHERE n > 100 DO NOTHING;
INSERT INTO ik (id, n) VALUES (13, 101) ON CONFLICT (n) WHERE n > 100 AND v IS NULL DO UPDATE SET v = 'z' RETURNING id, v;
INSERT INTO ik (id, n) VALUES (13, 101) ON CONFLICT (n) WHERE n > 99 DO NOTHING;
INSERT INTO ik (id, n) VALUES (13, 101) ON CONFLICT (n) DO NOTHING;
INSERT INTO ik (id, n) VALUES (13, 101) ON CONFLICT ON CONSTRAINT ik_n DO NOTHING;
INSERT INTO ik (id, n) VALUES (13, 50), (14, 50) ON CONFLICT (n) WHERE n > 100 DO NOTHING;
CREATE UNIQUE INDEX ON ik (coalesce(v, 'none'), n) WHERE n < 0;
INSERT INTO ik (id, n) VALUES (20, -1);
INSERT INTO ik (id, n) VALUES (21, -1);
INSERT INTO ik (id, n, v) VALUES (21, -1, 'h');
DELETE FROM ik WHERE id = 20;
INSERT INTO ik (id, n) VALUES (22, -1);
BEGIN;
INSERT INTO ik (id, n) VALUES (23, -2);
SAVEPOINT one;
INSERT INTO ik (id, n) VALUES (24, -2);
ROLLBACK TO one;
DELETE FROM ik WHERE id = 23;
INSERT INTO ik (id, n) VALUES (24, -2);
COMMIT;
COPY ik (id, n) FROM STDIN;
30	-3
31	-2
\.
COPY ik (id, n) FROM STDIN;
30	-3
31	-4
\.
PREPARE put AS INSERT INTO ik (id, n) VALUES ($1, $2);
EXECUTE put (40, -5);
EXECUTE put (41, -5);
SELECT id, v, n FROM ik ORDER BY id;
-- The keys follow their table.
ALTER TABLE ik ADD COLUMN added int DEFAULT 3;
INSERT INTO ik (id, n) VALUES (50, 101);
ALTER TABLE ik ALTER COLUMN n TYPE bigint;
INSERT INTO ik (id, n) VALUES (50, 101);
INSERT INTO ik (id, v) VALUES (50, 'B');
ALTER TABLE ik ALTER COLUMN n TYPE bigint USING 101;
ALTER TABLE ik RENAME COLUMN v TO w;
INSERT INTO ik (id, w) VALUES (50, 'C');
ALTER TABLE ik DROP COLUMN name;
INSERT INTO ik (id, w) VALUES (50, 'C');
SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'ik' ORDER BY 1;
CREATE TABLE ik2 (LIKE ik INCLUDING ALL);
INSERT INTO ik2 (id, n) VALUES (1, 101), (2, 101);
INSERT INTO ik2 (id, w) VALUES (1, 'a'), (2, 'A');
INSERT INTO ik2 (id, w) VALUES (1, 'a'), (2, 'b');
INSERT INTO ik2 (id, w) VALUES (3, 'B');
TRUNCATE ik2;
INSERT INTO ik2 (id, w) VALUES (3, 'B');
ALTER TABLE ik RENAME TO ik3;
INSERT INTO ik3 (id, n) VALUES (50, 101);
REINDEX TABLE ik3;
INSERT INTO ik3 (id, n) VALUES (50, 101);
DROP INDEX ik_n;
INSERT INTO ik3 (id, n) VALUES (50, 101);
CREATE UNIQUE INDEX ik_n ON ik3 (n) WHERE n > 100;
DELETE FROM ik3 WHERE id = 50;
CREATE UNIQUE INDEX ik_n ON ik3 (n) WHERE n > 100;
INSERT INTO ik3 (id, n) VALUES (50, 101);
-- No foreign key needs them.
CREATE TABLE ik4 (n bigint REFERENCES ik3 (n));
-- A row of a foreign key is changed with them.
CREATE TABLE ik5 (id int PRIMARY KEY, p int REFERENCES ik3 ON UPDATE CASCADE ON DELETE SET NULL);
CREATE UNIQUE INDEX ik5_p ON ik5 ((p % 10)) WHERE p IS NOT NULL;
INSERT INTO ik5 VALUES (1, 10), (2, 11);
UPDATE ik3 SET id = 61 WHERE id = 10;
UPDATE ik3 SET id = 62 WHERE id = 10;
INSERT INTO ik5 VALUES (3, 62);
DELETE FROM ik3 WHERE id = 62;
SELECT * FROM ik5 ORDER BY id;
-- What an index computes of a row may be an error.
CREATE INDEX ON ik3 ((10 / (n - 101)));
CREATE INDEX ik_over ON ik3 ((10 / (n - 1000)));
INSERT INTO ik3 (id, n) VALUES (70, 1000);
UPDATE ik3 SET n = 1000 WHERE id = 11;
INSERT INTO ik3 (id, n) VALUES (70, 1001);
CREATE INDEX ik_part ON ik3 ((10 / f)) WHERE f <> 0;
INSERT INTO ik3 (id, f) VALUES (71, 0);
CREATE INDEX ik_where ON ik3 (n) WHERE 10 / f > 1;
UPDATE ik3 SET f = NULL;
CREATE INDEX ik_where ON ik3 (n) WHERE 10 / f > 1;
INSERT INTO ik3 (id, f) VALUES (72, 0);
DROP INDEX ik_over, ik_where;
INSERT INTO ik3 (id, f, n) VALUES (72, 0, 1000);
DROP TABLE ik5, ik3, ik2;
