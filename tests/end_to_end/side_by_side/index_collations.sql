-- Indexes with collations, which all mean the order of bytes.
create schema cx;
set search_path = cx;
create table t(a text, b text, n int);
create index i1 on t (a collate "C");
create unique index i2 on t (a collate "C" desc, b);
create index i3 on t (a collate "default", b collate pg_catalog."POSIX" nulls first) include (n);
create index i4 on t (n collate "C");
create index on t (b collate "C");
insert into t values ('x','y',1);
insert into t values ('x','y',2);
insert into t values ('x','y',2) on conflict (a, b) do nothing;
SELECT indexdef from pg_indexes where schemaname = 'cx' order by indexname;
SELECT pg_get_indexdef('i3'::regclass, 1, false), pg_get_indexdef('i3'::regclass, 2, true), pg_get_indexdef('i3'::regclass, 0, true);
SELECT indcollation::text FROM pg_index WHERE indrelid = 'cx.t'::regclass ORDER BY 1;
drop schema cx cascade;
reset search_path;
