-- Types of the catalog in columns of tables: written, stored, compared, shown, copied from rows of the
-- catalog. What a name meant is kept as its oid, and shown by the name of today.
CREATE TABLE ct (id int PRIMARY KEY, name text UNIQUE);
CREATE INDEX ct_index ON ct (name DESC, lower(name)) WHERE id > 5;
CREATE VIEW ctv AS SELECT id, name FROM ct;
CREATE TABLE ct2 (d regclass);
INSERT INTO ct2 VALUES ('ct'), ('pg_class'), ('ctv'::regclass), (NULL);
INSERT INTO ct2 VALUES ('nosuch');
INSERT INTO ct2 SELECT oid FROM pg_class WHERE relname = 'ct_index';
INSERT INTO ct2 SELECT oid::regclass FROM pg_class WHERE relname = 'ct_pkey';
SELECT d::text FROM ct2 ORDER BY 1;
SELECT d FROM ct2 WHERE d = 'pg_class'::regclass;
SELECT count(*) FROM ct2 WHERE d IN ('ct', 'pg_class');
UPDATE ct2 SET d = 'pg_type' WHERE d = 'pg_class'::regclass RETURNING d;
DELETE FROM ct2 WHERE d = 'pg_type'::regclass RETURNING d, d::oid;
COPY ct2 FROM STDIN;
pg_attribute
2600
\N
\.
COPY ct2 FROM STDIN;
pg_attribute
nosuch
\.
COPY (SELECT d FROM ct2 WHERE d::oid < 10000 ORDER BY d::oid) TO STDOUT;
COPY (SELECT d FROM ct2 WHERE d::oid < 10000 ORDER BY d::oid) TO STDOUT WITH (FORMAT binary);
CREATE TABLE ct3 (e xid PRIMARY KEY);
CREATE TABLE ct3 (e xid, f cid, g xid8);
INSERT INTO ct3 VALUES ('5', '6', '7'), ('4294967295', NULL, '9223372036854775807');
SELECT e, e = '5' AS is_5, e::text, f, g FROM ct3 ORDER BY e::text;
CREATE TABLE ct4 (f int2vector, g oidvector);
INSERT INTO ct4 VALUES ('1 2 3', '23 25'), ('', ''), (NULL, '7');
SELECT f, g, f[0], g[1] FROM ct4 ORDER BY g::text;
CREATE TABLE ct5 (h regtype DEFAULT 'int4', l regnamespace DEFAULT 'pg_catalog'::regnamespace, c regcollation, p regproc, q regprocedure, o regoper, oo regoperator);
INSERT INTO ct5 VALUES ('int4'), ('text'), ('numeric');
INSERT INTO ct5 DEFAULT VALUES;
INSERT INTO ct5 (p, q, c, o, oo) VALUES ('format_type', 'lower(text)', '"C"', 'pg_catalog.||/', '+(int4,int4)');
SELECT h, h::oid, format_type(h, NULL), l, c, p, q, o, oo FROM ct5 ORDER BY h::oid, p::text;
CREATE TABLE ct6 (j regclass[], k xid[], t regtype[]);
INSERT INTO ct6 VALUES ('{pg_type,pg_class}', '{1,2}', '{int4,text}'), (array['pg_type'::regclass], NULL, NULL);
SELECT * FROM ct6 ORDER BY k::text;
CREATE TABLE ct7 (r regclass PRIMARY KEY, n int);
INSERT INTO ct7 VALUES ('pg_type', 1);
INSERT INTO ct7 VALUES ('pg_type', 2);
SELECT * FROM ct7 WHERE r = 'pg_type'::regclass;
INSERT INTO ct7 VALUES ('pg_type', 2) ON CONFLICT (r) DO UPDATE SET n = 9 RETURNING r, n;
ALTER TABLE ct7 ADD COLUMN h regtype DEFAULT 'text';
ALTER TABLE ct7 ALTER n TYPE oid;
ALTER TABLE ct7 ALTER n TYPE regclass;
SELECT r, h FROM ct7;
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'ct7'::regclass AND attnum > 0 ORDER BY attnum;
CREATE TABLE ct8 AS SELECT indkey, indclass, indoption, indexrelid::regclass::text AS r FROM pg_index WHERE indrelid = 'ct'::regclass;
SELECT * FROM ct8 ORDER BY r;
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'ct8'::regclass AND attnum > 0 ORDER BY attnum;
CREATE TABLE ct9 AS SELECT * FROM pg_type WHERE typname = 'int4';
SELECT typname, typinput, typlen FROM ct9;
CREATE TABLE ct10 AS SELECT * FROM pg_class WHERE relname = 'ct';
SELECT relname, relkind, relfrozenxid IS NULL, reloptions FROM ct10;
CREATE TABLE ct11 AS SELECT * FROM pg_attribute WHERE attrelid = 'ct'::regclass;
CREATE TABLE ct12 AS SELECT * FROM pg_constraint WHERE conrelid = 'ct'::regclass;
SELECT conname, contype, conkey FROM ct12 ORDER BY 1;
CREATE TABLE ct13 AS SELECT * FROM pg_index WHERE indrelid = 'ct'::regclass;
CREATE TABLE ct14 AS SELECT * FROM pg_proc WHERE proname = 'substr';
SELECT proname, proargtypes FROM ct14 ORDER BY 2::text;
CREATE TABLE ct15 (id int, r regclass DEFAULT 'ct'::regclass, s text DEFAULT format_type(23, NULL), o oid DEFAULT 'ct'::regclass::oid);
INSERT INTO ct15 (id) VALUES (1);
SELECT id, s, o = r AS alike, r::text FROM ct15;
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'ct15'::regclass ORDER BY 1;
PREPARE ct_insert AS INSERT INTO ct2 VALUES ($1);
EXECUTE ct_insert('ctv');
SELECT count(*) FROM ct2 WHERE d = 'ctv'::regclass;
SELECT '1 2'::int2vector, '1 2'::oidvector, '5'::xid, 5::oid, 'a'::"char", 'pg_class'::regclass, 'int'::regtype, 'lower(text)'::regprocedure, '"C"'::regcollation, '7'::xid8, '8'::cid;
SELECT array['5'::xid], array['lower(text)'::regprocedure], array['+(int4,int4)'::regoperator];
SELECT relfrozenxid, indkey, indclass, indoption FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid WHERE relname = 'pg_nothing';
ALTER TABLE ct RENAME TO ct_renamed;
SELECT d::text FROM ct2 WHERE d::oid > 16384 ORDER BY 1;
CREATE TABLE ct16 (a int DEFAULT nextval('nosuch'));
CREATE TABLE ct16 (a int DEFAULT nextval('nosuch'::regclass));
CREATE TABLE ct16 (a int DEFAULT nextval('nosuch.sequence'));
CREATE TABLE ct16 (a int DEFAULT nextval('nosuch'::text));
ALTER TABLE ct16 ALTER a SET DEFAULT 1 + nextval('nosuch');
ALTER TABLE ct16 ADD COLUMN b int DEFAULT nextval('nosuch');
DROP TABLE ct2, ct3, ct4, ct5, ct6, ct7, ct8, ct9, ct10, ct12, ct13, ct14, ct15, ct16;
DROP TABLE ct_renamed CASCADE;
