-- a join
SELECT c.id, c.name, r.relkind, r.relnatts FROM city c LEFT JOIN pg_class r ON r.relname = c.name ORDER BY 1

-- sizes and names of constants
SELECT count(*), pg_size_pretty(0::bigint), 'city'::regclass::text, has_table_privilege('city', 'select') AS may FROM city

-- a constant of OIDs inside
SELECT name, (SELECT count(*) FROM pg_attribute a WHERE a.attrelid = 'city'::regclass AND attnum > 0) FROM city ORDER BY 1

-- a subquery with functions of the catalog
SELECT name, x.relname, x.relkind FROM city JOIN (SELECT relname, relkind FROM pg_class WHERE pg_table_is_visible(oid) AND relname LIKE 'c%') x
  ON x.relname <> city.name ORDER BY 1, 2

-- EXISTS on a table
SELECT a.attname FROM pg_attribute a WHERE a.attrelid = 'city'::regclass AND EXISTS (SELECT 1 FROM city WHERE name = 'Rome' AND a.attnum = id)

-- IN a list of relations
SELECT id FROM city WHERE name IN (SELECT relname FROM pg_class WHERE relkind = 'r')

-- WITH
WITH t AS (SELECT table_name FROM information_schema.tables WHERE table_schema = 'public')
SELECT t.table_name, c.id FROM t, city c ORDER BY 1, 2

-- a correlated subquery on the catalog
SELECT id, (SELECT count(*) FROM pg_class r WHERE r.relname = c.name) AS known FROM city c ORDER BY 1

-- a function of rows
SELECT c.id, z.name, z.utc_offset FROM pg_timezone_names() z, city c WHERE z.name = 'UTC' ORDER BY 1

-- arrays
SELECT id, ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = 'visit'::regclass AND attnum > 0 ORDER BY attnum) AS columns FROM city ORDER BY 1

-- set operations
SELECT relname::text FROM pg_class WHERE relname = 'city' UNION ALL SELECT name FROM city ORDER BY 1

-- a view of a user
SELECT l.name, n.nspname FROM large l, pg_namespace n WHERE n.nspname = 'public'

-- a sequence
SELECT setval(pg_get_serial_sequence('line', 'id'), (SELECT coalesce(max(id), 10) FROM line))

-- values of a sequence
SELECT nextval('line_id_seq'::regclass), nextval(pg_get_serial_sequence('public.line', 'id')), currval('line_id_seq'::regclass)

-- a system function and a table
SELECT obj_description('city'::regclass) AS described, col_description('city'::regclass, 2) AS name, max(id) FROM city
