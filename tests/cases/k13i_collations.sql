-- Collations that are not there are 42704, COLLATE of what has no order 42804; LOCAL and SESSION can be names of settings; what is
-- temporary comes before the catalog, and is no other relation's rows.
-- Run: psql -X -q -A -t -h 127.0.0.1 -p PORT -f k13i_collations.sql antumbra
\set VERBOSITY sqlstate
\o /dev/null
SET client_min_messages = error;
DROP SCHEMA IF EXISTS k13i CASCADE;
CREATE SCHEMA k13i;
SET search_path = k13i;
CREATE TABLE t (t text);
\o
SELECT 'a' COLLATE "nope";
\echo :SQLSTATE
SELECT 'a' COLLATE nope;
\echo :SQLSTATE
SELECT t COLLATE "c" FROM t;
\echo :SQLSTATE
SELECT 'a' COLLATE pg_catalog."C";
\echo :SQLSTATE
SELECT 'a' COLLATE public."C";
\echo :SQLSTATE
SELECT t FROM t ORDER BY t COLLATE "nope";
\echo :SQLSTATE
CREATE TABLE u (a text COLLATE "nope");
\echo :SQLSTATE
CREATE TABLE u (a integer COLLATE "C");
\echo :SQLSTATE
CREATE TABLE u (a date[] COLLATE "C");
\echo :SQLSTATE
CREATE TABLE u (a text[] COLLATE "C", b varchar(3) COLLATE "POSIX" NOT NULL);
\echo :SQLSTATE
ALTER TABLE t ALTER COLUMN t TYPE text COLLATE "nope";
\echo :SQLSTATE
ALTER TABLE t ALTER COLUMN t TYPE integer COLLATE "C" USING 1;
\echo :SQLSTATE
SET LOCAL TO x;
\echo :SQLSTATE
SET SESSION TO x;
\echo :SQLSTATE
SET LOCAL = x;
\echo :SQLSTATE
SET LOCAL TO TO x;
\echo :SQLSTATE
CREATE TEMPORARY TABLE pg_class (a integer);
\echo :SQLSTATE
INSERT INTO pg_class VALUES (5);
\echo :SQLSTATE
SELECT * FROM pg_temp.pg_class;
\echo :SQLSTATE
SELECT count(*) > 100 FROM pg_catalog.pg_class;
\echo :SQLSTATE
UPDATE pg_class SET a = 6;
\echo :SQLSTATE
SELECT * FROM pg_temp.pg_class;
\echo :SQLSTATE
SELECT 'pg_class'::regclass = 'pg_temp.pg_class'::regclass;
\echo :SQLSTATE
SELECT 'pg_class'::regclass = 'pg_catalog.pg_class'::regclass;
\echo :SQLSTATE
SELECT pg_table_is_visible('pg_catalog.pg_class'::regclass), pg_table_is_visible('pg_temp.pg_class'::regclass);
\echo :SQLSTATE
DROP TABLE pg_class;
\echo :SQLSTATE
SELECT count(*) > 100 FROM pg_class;
\echo :SQLSTATE
SELECT (current_schemas(true))[2];
\echo :SQLSTATE
DROP SCHEMA k13i CASCADE;
