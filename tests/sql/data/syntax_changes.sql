insert into t values (1, default), (default, 2)
insert into t (a, b) values (1, 2) returning *
insert into t as x (a) values (1) returning x.a as y, b z
insert into t as x select 1
insert into t x values (1)
insert into t (a.b, c[1], d[1:2]) values (1, 2, 3)
insert into t (a b) values (1)
insert into t () values (1)
insert into t (a,) values (1)
insert into t default values
insert into t default values returning a
insert into t (a) default values
insert into t overriding system value values (1)
insert into t (a) overriding user value select 1
insert into t overriding value values (1)
insert into t overriding system value default values
insert into t overriding system values (1)
insert into t select 1 union select 2 order by 1
insert into t (select 1)
insert into t ((select 1))
insert into t (select 1) union select 2
insert into t (a) (select 1)
insert into t (a) (b) values (1)
insert into t with q as (select 1) select * from q
insert into t table s
insert into t values (default) union select 1
insert into t values (default) order by 1
insert into t values (default + 1)
insert into t select default
insert into t values ((select default))
insert into t values ((default))
insert into t values (1) on conflict do nothing
insert into t values (1) on conflict (a) do nothing
insert into t values (1) on conflict (a, b) do update set a = 1
insert into t values (1) on conflict (a) do update set a = excluded.a, (b, c) = (1, default), d = default where t.a > 1 returning a
insert into t values (1) on conflict on constraint x do update set a = 1
insert into t values (1) on conflict on constraint x do nothing
insert into t values (1) on conflict (a) where b > 0 do nothing
insert into t values (1) on conflict (lower(a), (a + b), c collate "C") do nothing
insert into t values (1) on conflict (a asc nulls first) do nothing
insert into t values (1) on conflict do update set a = 1
insert into t values (1) on conflict () do nothing
insert into t values (1) on conflict a do nothing
insert into t values (1) on conflict (a) do
insert into t values (1) on conflict (a) do select 1
insert into t values (1) on conflict (a) do update
insert into t values (1) on conflict (a) do update set
insert into t values (1) on conflict (a) do update set a
insert into t values (1) on conflict (a) do update a = 1
insert into t values (1) on conflict (a) do nothing where a > 1
insert into t values (1) on conflict on x do nothing
insert into t values (1) on constraint x do nothing
insert into t values (1) on
insert into t values (1) returning
insert into t values (1) returning a,
insert into t values (1) returning a from s
insert into t values (1) where true
insert into t set a = 1
insert into only t values (1)
insert t values (1)
insert into
insert into t
insert into t (a)
insert into t values
insert into t values 1
insert into t.u.v.w values (1)
insert into foo.t values (1)
insert into public.t values (1)
with q as (select 1) insert into t select * from q
with q as (select 1) insert into t with r as (select 2) select * from q, r
with q as (select 1) insert t values (1)
with recursive q as (select 1) insert into t table q returning *
update t set a = 1
update t set a = 1, b = default, c = (select 1), (d, e) = (1, default), (f, g) = (select 1, 2), (h) = row(1), (i) = (1), (j, k) = row(1, 2)
update t set (a, b) = 1
update t set (a, b) = (1, 2, 3)
update t set (a, b) = (1 + 2)
update t set (a, b) = default
update t set (a, b) = (default, (default))
update t set (a, b) = ((1, 2))
update t set () = (1)
update t set (a, b) = (1, 2) where
update t set a = default + 1
update t set a = (default)
update t set a.b = 1, c[1] = 2, d[1:2] = 3, e[:] = 4
update t set t.a = 1
update t set a[] = 1
update t set a == 1
update t set a 1
update t set a = 1 b = 2
update t set a = 1,
update t set set = 1
update t set set a = 1
update t set
update t
update t as x set a = 1
update t x set a = 1
update t as set set a = 1
update t set set set = 1
update only t set a = 1
update only (t) x set a = 1
update t * set a = 1
update t * x set a = 1
update t set a = 1 from s
update t set a = 1 from s, (select 1) u join v on true where t.a = s.a returning t.*, s.b as c
update t set a = 1 where current of c
update t set a = 1 where a = 1 from s
update t set a = 1 order by a
update t set a = 1 limit 1
update t set a = 1 returning
update t set a = 1 returning *
update t, s set a = 1
update (t) set a = 1
update set a = 1
update set set a = 1
update
with q as (select 1) update t set a = 1 from q
with q as (select 1) update t set a = (with r as (select 2) select * from r)
delete from t
delete from t where a = 1 returning *
delete from t using s, u where t.a = s.a
delete from t as x using s y where x.a = y.a returning x.a
delete from t x
delete from t using
delete from t using s u
delete from only t where true
delete from only (t) as x
delete from t *
delete from t where
delete from t where current of c
delete from t where a returning
delete from t order by a
delete from t limit 1
delete from t from s
delete from t, s
delete from (select 1)
delete t
delete
delete from t using s using u
with q as (select 1) delete from t using q where t.a = q.a
with q as (delete from t returning *) select * from q
with q as (select 1) truncate t
with q as (select 1) copy q to stdout
with q as (select 1) values (1)
with q as (select 1) table q
with q as (select 1) (values (1))
explain insert into t values (1)
explain update t set a = 1
explain delete from t
explain analyze insert into t values (1)
explain create table t as select 1
explain (select 1) union select 2
explain with q as (select 1) select * from q
explain with q as (select 1) insert into t select * from q
explain table s
explain values (1)
explain analyze verbose select 1
explain verbose analyze select 1
explain (analyze, verbose) select 1
explain ((select 1))
explain create view v as select 1
explain select
create view v as select 1 union select 2
create view v (a, b) as (select 1, 2)
create view v as values (1), (2)
create view v as table s
create view v as with recursive q as (select 1) select * from q
create view v as (with q as (select 1) select * from q) order by 1
create view v () as select 1
create view v as insert into t values (1)
create view v as select 1 with check option
create view v as select 1 with local check option
create view v as select 1 with cascaded check option
create view v as select 1 with no data
create temp view v as select 1
create temporary view v as select 1
create local temp view v as select 1
create recursive view v (a) as select 1
create temp recursive view v (a) as select 1
create or replace temp view v as select 1
create or replace view v as select 1
create or replace table t (a int)
create or replace recursive view v (a) as select 1
create materialized view v as select 1
create view if not exists v as select 1
create view v with (security_barrier) as select 1
create view v as select $1
create table t as select $1
drop view v, w cascade
drop view if exists v
drop view v w
drop foreign table t
drop foreign t
drop table t cascade restrict
drop materialized view v
drop schema s
create schema s
create schema
create foreign table t (a int) server stream
create foreign table t (a int primary key) server stream
create foreign table t (a int check (a > 0)) server stream
create foreign table t (a int default 5 not null, b text default 'x' collate "C") server stream options (capacity '5')
create foreign table t (a int) inherits (s) server stream
create foreign table t (a int) server
create foreign table t (a int) server stream options ()
create foreign table t (a int) server stream options (a b)
create foreign table t () server stream
create foreign table t (a int generated always as identity) server stream
create foreign table t (constraint x check (a > 0), a int) server stream
create foreign table t (a int, check (a > 0)) server stream
create foreign table t (a int, unique (a)) server stream
create foreign table t (like s) server stream
create foreign table t partition of s server stream
create foreign table if not exists t (a int) server stream
create foreign data wrapper x
create foreign x
lock table t
lock t in share mode
savepoint a
release savepoint a
release a
prepare p as select 1
prepare p (int) as select $1
execute p
execute p (1)
declare c cursor for select 1
fetch c
move c
close c
comment on table t is 'x'
comment on table t is 5
comment on table is 'x'
comment on t is 'x'
comment on table t
comment on view v is null
comment on view public.v is 'a' 'b'
comment on foreign table f is e'a'
comment on column t.a is 'x'
comment on column a is 'x'
comment on column public.t.a is 'x';;
comment on sequence q is ''
alter view v rename to w
alter view v rename a to b
alter view if exists v rename column a to b
alter view v rename column a b
alter view v rename constraint a to b
alter view v
alter view only v rename to w
alter view v rename to
grant select on t to public
revoke select on t from public
analyze t
vacuum t
reindex table t
cluster t
merge into t using s on true when matched then delete
call p()
do 'x'
listen a
notify a
unlisten a
checkpoint
checkpoint now
checkpoint (fast)
explain checkpoint
select checkpoint from checkpoint
refresh materialized view v
select 1 from t; drop table t; create table t (a int)
copy s from 'file'
copy s to 'file' with csv
copy s from program 'ls'
copy s to program 'ls'
copy s from program ls
copy s (a, b) to stdout
copy s () to stdout
copy s (a, b from stdin
copy s to stdout where a > 1
copy s from stdin where a > 1
copy s from stdin csv where a > 1
copy s from stdin where
copy (select 1) to 'file'
copy (select 1) to program 'x'
copy (select 1) to stdout delimiters ','
copy (select 1) to stdout where a
copy (values (1), (2)) to stdout
copy ((select 1)) to stdout
copy (select 1 union select 2) to stdin (format csv)
copy (insert into s values (1) returning *) to stdout
copy (table s) to stdout
copy (s) to stdout
copy binary s from stdin
copy binary (select 1) to stdout
copy s from stdin binary
copy s from stdin using delimiters ','
copy s from stdin delimiters ','
copy s from stdin using ','
copy s from stdin delimiter ',' null as 'x'
copy s from stdin with csv header quote as '"' force not null a, b
copy s from stdin force quote *
copy s to stdout csv force quote *
copy s to stdout csv force quote a, b
copy s to stdout csv force a
copy s from stdin with (format csv, header)
copy s from stdin with (format csv, header on)
copy s from stdin with (format csv, header select)
copy s from stdin with (force_null (a, b), format csv)
copy s from stdin with (force_null (), format csv)
copy s from stdin with ()
copy s from stdin (format csv) csv
copy s from stdin csv (format csv)
copy s from stdin with (delimiter 5)
copy s from stdin with (delimiter -5.5)
copy s stdin
copy s from to
copy from stdin
copy s from stdout
copy s.t.u.v from stdin
copy foo.s from stdin
savepoint
savepoint 1
savepoint a b
savepoint savepoint
release
release a
release savepoint
release savepoint savepoint
rollback to
abort to a
rollback to a and chain
commit prepared
commit prepared x
commit prepared 'x'
rollback prepared 'x'
end prepared 'x'
prepare transaction
prepare transaction as select 1
prepare p
prepare p as
prepare p () as select 1
prepare p (int,) as select 1
prepare p (int, numeric(5,2), text[]) as values ($1)
prepare p as insert into s values (1)
prepare p as update s set a = 1
prepare p as delete from s
prepare p as with q as (select 1) select * from q
prepare p as table s
prepare p as (select 1)
prepare p as begin
prepare p as prepare q as select 1
execute
execute p ()
execute p (1,)
execute p (1, 'a', a + 1)
execute p (1
deallocate
deallocate prepare
deallocate prepare p
deallocate prepare all
deallocate all
declare c cursor
declare c cursor for
declare c cursor select 1
declare cursor for select 1
declare cursor cursor for select 1
declare c binary cursor for select 1
declare c insensitive cursor for select 1
declare c asensitive scroll binary cursor for select 1
declare c no scroll cursor for select 1
declare c no cursor for select 1
declare c scroll scroll cursor for select 1
declare c cursor with hold for values (1)
declare c cursor without hold for table s
declare c cursor with for select 1
declare c cursor for insert into s values (1)
declare c cursor for execute p
declare c cursor for with q as (select 1) select * from q
fetch
fetch next
fetch next c
fetch next from c
fetch prior in c
fetch first c
fetch last c
fetch absolute 1 c
fetch absolute -1 from c
fetch absolute c
fetch absolute from c
fetch relative +2 from c
fetch relative 1.5 from c
fetch 5 c
fetch -5 from c
fetch 5
fetch 1.5 c
fetch 5000000000 c
fetch all
fetch all c
fetch all from c
fetch forward
fetch forward c
fetch forward from c
fetch forward 3 c
fetch forward -3 c
fetch forward all c
fetch forward all in c
fetch backward
fetch backward c
fetch backward all c
fetch from c
fetch in c
fetch from
fetch c d
fetch next 2 c
fetch "c"
fetch 'c'
move
move c
move next c
move 5 in c
move all in c
move backward all c
move from c
close
close c d
close all
close "C"
listen
listen 'a'
listen a.b
listen a, b
unlisten
unlisten *
unlisten *, a
notify
notify a,
notify a, b
notify a, 'b'
notify a, 'b', 'c'
notify 'a'
