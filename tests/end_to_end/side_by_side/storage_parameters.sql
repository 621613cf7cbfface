-- What tools say of how tables and indexes are kept: pgbench, vacuumdb, dumps.
CREATE TABLE kept (tid int NOT NULL, filler char(84)) WITH (fillfactor=100);
CREATE TABLE kept1 (a int) WITH (fillfactor=5);
CREATE TABLE kept1 (a int) WITH (fillfactor=x);
CREATE TABLE kept1 (a int) WITH (fillfactor);
CREATE TABLE kept1 (a int) WITH (foo=1);
CREATE TABLE kept1 (a int) WITH (foo.bar=1);
CREATE TABLE kept1 (a int) WITH (fillfactor=50, fillfactor=60);
CREATE TABLE kept1 (a int) WITH (autovacuum_enabled=maybe);
CREATE TABLE kept1 (a int) WITH (autovacuum_enabled=false, autovacuum_vacuum_scale_factor=0.05, toast.autovacuum_enabled=off, vacuum_index_cleanup=auto);
CREATE TABLE kept2 (a int) WITH (autovacuum_vacuum_scale_factor=200);
CREATE TABLE kept2 (a int) WITH (vacuum_index_cleanup=foo);
CREATE TABLE kept2 (a int PRIMARY KEY WITH (fillfactor=70)) WITH (oids=false);
CREATE TABLE kept3 (a int) WITH (oids=true);
CREATE TABLE kept3 WITH (fillfactor=70) AS SELECT 1 AS x;
CREATE TABLE kept4 (a int, UNIQUE (a) WITH (fillfactor=200));
CREATE INDEX ON kept (tid) WITH (fillfactor=50, deduplicate_items=off);
CREATE INDEX ON kept (tid) WITH (foo=5);
ALTER TABLE kept SET (fillfactor=70);
ALTER TABLE kept SET (fillfactor=7);
ALTER TABLE kept SET (autovacuum_enabled=off), ADD COLUMN z int;
ALTER TABLE kept RESET (fillfactor, nosuch);
ALTER TABLE kept ADD PRIMARY KEY (tid) WITH (fillfactor=70);
SELECT count(*), max(z) FROM kept;
VACUUM (ANALYZE) pg_catalog.pg_class;
VACUUM pg_class, kept, pg_type;
ANALYZE pg_class (relname);
ANALYZE pg_catalog.pg_class (nosuch);
VACUUM pg_catalog.pg_tables;
ANALYZE information_schema.columns;
VACUUM pg_catalog.nosuch;
VACUUM nosuch.t;
SELECT typname[0], typname[3], typname[4], typname[63], typname[64], typname[-1], typname[NULL] FROM pg_type WHERE typname = 'int4';
BEGIN;
TRUNCATE kept1;
COPY kept1 FROM STDIN WITH (FREEZE on);
1
2
\.
COMMIT;
SELECT * FROM kept1 ORDER BY a;
SET default_statistics_target = 1;
SET vacuum_cost_delay = 0;
SET maintenance_work_mem = '64MB';
RESET ALL;
DROP TABLE kept, kept1, kept2, kept3;
