select a from s where a = 1 = 2
select a from s where not a = 1 and b like 'x' or c > 1
select a from s where a between 1 and 2 and b = 'x'
select a from s where a in (1,2) = true
select a from s where f is true = true
select 1 < 2 < 3
select 2 ^ 3 ^ 2, -2 ^ 2, 2 + 3 * 4 % 5 - 1 || 'x'
select a from s where b || 'x' = 'y' and a + 1 > 2
select a b c from s
select a as from s
select a from s group a
select a from
select a from s where
select a from s order a
select a,, b from s
select (a from s
select a) from s
select a from s s2 s3
select a.*.b from s
select case when a then 1 from s
select case end from s
select cast(a int) from s
select cast(a as) from s
select a::  from s
select a in () from s
select a between 1 from s
select count( from s
select count(*  from s
select f(,) from s
select 'abc' 'def'
select a from s where a = 'abc
select "a from s
select a from s /* unclosed
select 1 /* a /* b */ c */ + 1 -- foo
select a from s limit
select a from s limit 1,2
select a from s offset
select extract(year a) from s
select substring(a from) from s
select current_date()
select now
select user
select left from s
select b left from s
select b as left from s
select order from s
select 1 order
select 1 "order"
select 1 year
select 1 as year
select 1 value, 2 name, 3 type, 4 date, 5 time, 6 day
select 1 second
select date from s
select interval from s
select count from s
select timestamp from s
select s.order from s
select s.select from s
select s."a" from s
select * from s where s.a = 1 and
select * from (select a from s) as
select * from (select a from s) as select
select * from s as t(a,b,c,x) where x is null
select * from s inner s
select * from s join v
select * from s left join v
select * from s natural left join v
select * from s join v on
select * from s cross join v on true
select * from s join v using a
select * from (s join v using (a))
select * from (s)
select * from ((select a from s)) q
select * from ((select a from s) order by 1) q
(select a from s)
(select a from s) order by 1 limit 1
((select 1))
select all a from s
select distinct all a from s
select a from s group by distinct a
select a from s group by all a
select a from only s
select a from s * where a = 1
table s
table s order by 1
values (1
values 1
values ()
values (default)
with q as select 1 select * from q
with q (select 1) select * from q
with q as (select 1)
with q as materialized (select 1 x) select x from q
with q as not materialized (select 1 x) select x from q
select 1;
;select 1;;
select 1; select 2
foo
select 1 2
select 1 as "a b"
select "a""b" from s
select U&"\0061" from s
select E'a\'b', 'it''s', $$a'b$$, $x$a$$b$x$
select 'a\'
select 1.e5, .5e-3, 1e+5
select 1.5.2
select 1..2
select 12abc
select 0x1F
select 1_000
select a::int[] from s
select '{1}'::int[]
select int '1' + 2
select int4 '1', numeric(4,2) '1.234', char 'a', time '10:00'
select float '1.5', float(10) '1.5', float(30) '1.5', dec '1', decimal(5,1) '1.25'
select float(60) '1'
select timestamp(3) '2020-01-01', timestamp with time zone '2020-01-01 00:00+02', timestamp without time zone '2020-01-01'
select timestamp(6) '2020-01-01'
select interval '1' day + d from s
select interval '1 day 2 hours' + d, d + interval '1-2' year to month, d - interval '01:30' from s
select d + interval 'foo' from s
select d + interval '1 foo' from s
select d + interval '' from s
select not not f from s
select f = not f from s
select f or f and not f from s
select a is not distinct from 1, a is distinct from null from s
select a isnull, a notnull from s
select a is foo from s
select a not 5 from s
select a not in (1), a not like '1' from s
select b not ilike 'x', b not between 'a' and 'b' from s
select b like 'a' like 'b' from s
select b like any('{a}') from s
select a = any(array[1]) from s
select a operator(pg_catalog.+) 1 from s
select a !<> 1 from s
select a == 1 from s
select a => 1 from s
select a := 1 from s
select @ -5, @-5
select 5!
select a -- comment
select sum(a) over () from s
select sum(a) over w from s window w as (), w as ()
select sum(a) over (partition a) from s
select sum(a) over (order by a rows 1) from s
select sum(a) over (order by a rows 1 preceding exclude current row) from s
select sum(a) over (order by a range between 1 preceding and current row) from s
select sum(a) over (order by a groups 1 preceding) from s
select sum(a) within group (order by a) from s
select string_agg(b, ',') from s
select array_agg(a) from s
select a from s for share
select a from generate_series(1,2) a
select * from lower('x')
select * from s tablesample system (10)
select * from s, lateral (select 1) x
select a from s except select 1
select a from s intersect select 1
select nextval('x')
select pg_catalog.lower('X')
select foo.lower('X')
select pg_catalog.foo('X')
select s.a.b from s
select coalesce() from s
select coalesce(a) from s
select nullif(1)
select nullif(1,2,3)
select greatest() from s
select a from s where a = null
select a from s where (a, b) = (1, 'x')
select overlay(b placing 'x' from 1) from s
select trim(b, 'x'), trim(both from b), trim(both b), trim('x' from b), trim(trailing 'x' from b) from s
select trim() from s
select position(b, 'a') from s
select position('a' in b || 'x') from s
select localtime, current_time
select current_timestamp(3)
select current_catalog, session_user
select 1 from s group by true
select true and 1
select 1 and true
select null and 1 = 1
select case 1 when 1 then 'a' when 2 then 1 end
select case when true then 1 when false then null else 2.5 end, case when true then null else null end
select 1 union all select 2
insert into s (a) values
insert into s values (1,2
insert s values (1)
insert into s (a, values (1)
insert into s select
insert into s
insert into s (a) values (1) returning
insert into s (a) values (1) on conflict do nothing
insert into s (a) value (1)
update s
update s set
delete s
delete from
create table
create table x
create
create foo
create foreign
create foreign table
create foreign table x
create foreign table x (
create foreign table x (a) server stream
create foreign table x (a int b) server stream
create foreign table x (a int,) server stream
create foreign table x (a int not) server stream
create view
create view x
create view x as
create view x as foo
create view x as select
create view x as select 1 1
create view select as select 1
drop
drop view
drop foreign table
drop table
drop foo
copy
copy s
copy s from
copy s from stdin with
copy s from stdin with (
copy s from stdin foo
copy s from stdin with (foo)
copy s from stdin with (format foo)
copy s from stdin with (format csv, format text)
copy s from stdin with (delimiter)
copy s from stdin with (delimiter 'ab')
copy s from stdin with (delimiter 'a')
copy s from stdin with (quote 'x')
copy s from stdin with (format csv, quote 'xx')
copy s from stdin with (format csv, quote ',')
copy s from stdin with (format csv, null ',')
copy s from stdin with (format csv, null '"')
copy s from stdin with (force_quote *)
copy s from stdin with (format csv, force_quote *)
copy s to stdout with (format csv, force_null (a))
copy s to stdout with (format csv, header match)
copy s from stdin with (header foo)
copy s (select 1) to stdout
copy (select 1) from stdin
begin foo
begin work work
start
start foo
commit foo
rollback to
set
set x
set x =
set x = 1 2
set time
set foo.bar.baz = 1
set local
set transaction foo
show
show foo bar
reset
explain
explain foo
deallocate
discard
discard foo
savepoint
prepare
listen
vacuum foo bar baz
grant
create table y (a int, b text, a int)
create table y (a int primary key, b int primary key)
create table y (a int primary key, primary key (a))
create table y (a int, constraint k primary key (a), constraint l primary key (a))
create table y (a int, primary key (b))
create table y (a int, unique (a, b))
create table y (a int, primary key (a, a))
create table y (a int, unique (a, a))
create table y (a int null not null)
create table y (a int not null null)
create table y (a int null primary key); drop table y
create table y (a int null, primary key (a)); drop table y
create table y (a serial null)
create table y (a serial default 5)
create table y (a int default 1 default 2)
create table y (a int default 1 generated always as identity)
create table y (a int generated always as identity generated always as identity)
create table y (a int generated always as identity null)
create table y (a int null generated always as identity)
create table y (a text generated always as identity)
create table y (a numeric generated by default as identity)
create table y (a serial[])
create table y (a serial generated always as identity)
create table y (a bigserial, b serial8 null)
create table y (a nope)
create table y (a nope, b int, b int)
create table y (a int, b nope[])
create table y (a varchar(0))
create table y (a char(0))
create table y (a numeric(1001))
create table y (a int generated always as identity (increment 1 increment 2))
create table y (a int generated always as identity (start 1 restart 5)); drop table y
create table y (a int) on commit delete rows
create table y (a, a) as select 1, 2
create sequence y as text
create sequence y as nope
create sequence y start 1 start 2
create sequence y minvalue 1 no minvalue
create sequence y cycle no cycle
create sequence y maxvalue 99999999999999999999
create sequence y minvalue 1.5
create sequence y owned by a
create sequence y owned by none owned by none
insert into s values (1) on conflict do update set a = 1
insert into s values (1) on conflict (a desc) do nothing
insert into s values (1) on conflict (a nulls last) do nothing
insert into s select default
insert into s values (default) order by 1
insert into s values ((default))
update s set (a, b) = (1, 'x', 2)
update s set (a, b) = row(1)
update s set (a, b) = (1)
update s set (a, b) = 5
update s set a = default + 1
update s set (a, b) = (default + 1, 'x')
update s set a = default where a = default
delete from s where a = default
alter table s add x serial null
alter table s add x int default 1 default 2
alter table s add x int not null null
alter table s alter a type nope
alter table s add x nope
alter table s add x int primary key primary key
select 1 as a from (select 1) t having true having false
drop table a.b.c
select a::nope[] from s
