-- Types of the catalog as clients get them.
CREATE TABLE keyed (a int, b text, c int, PRIMARY KEY (c, a));
CREATE INDEX keyed_by_b ON keyed (b DESC, a);
SELECT c.relname, i.indkey, i.indoption, i.indnatts, i.indkey[0], array_length(i.indkey, 1) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE indrelid = 'keyed'::regclass ORDER BY 1;
SELECT indcollation, indclass FROM pg_index WHERE indexrelid = 'keyed_by_b'::regclass;
SELECT ''::int2vector, '1 2 3'::int2vector, '5'::oidvector, NULL::oidvector, ''::oidvector;
SELECT pg_typeof(indkey), pg_typeof(indclass), indkey::text, 1 = ANY (indkey) FROM pg_index WHERE indexrelid = 'keyed_pkey'::regclass;
SELECT unnest(indkey), generate_subscripts(indkey, 1) FROM pg_index WHERE indexrelid = 'keyed_pkey'::regclass;
SELECT proname, proargtypes, proargtypes[0] FROM pg_proc WHERE oid IN (1597, 481) ORDER BY 1;
SELECT '5'::xid, '5'::cid, '5'::xid8, NULL::xid, 'c'::refcursor;
SELECT 'upper(text)'::regprocedure, '+(int4,int4)'::regoperator, 'pg_catalog."C"'::regcollation, '{5,6}'::xid[];
DROP TABLE keyed;
