select 1
select *, a from s
select s.*, v.n from s, v
select t.a from s t
select s.a from s t
select x.a from s t
select aa from s
select s.aa from s
select bb, cc from s
select a from s, v
select true, null, 'x', 1.5, 1e3, 2147483648, 9223372036854775808, -2147483648, -9223372036854775808
select a::text, cast(a as varchar(3)), a::numeric(5,1), a::int8, b::varchar from s
select date '2020-01-01', timestamp '2020-01-01', timestamptz '2020-01-01', int4 '5', bool 't', numeric '1.50', numeric(5,1) '1.55', varchar(2) 'abc', float8 '1', real '2', text 'x', double precision '3', character varying 'q'
select a+1, a*1.5, c/3, e^2, a%2, -a, +a, @a, a||b, b||b, b||1, 'x'||1, 1||'x' from s
select a=1, a<>1, a!=1, b<'x', h>d, z>=d, z=h, a=c, a=e, g=b, f=true from s
select a+e, i+a, i*c, e/a, a/i from s
select count(*), sum(a), avg(a), min(b), max(g), sum(i), sum(c), avg(c), avg(e), sum(e), bool_and(f), every(f), bool_or(f), min(h), max(z), count(distinct a) from s
select sum(a) filter (where a>1) as x, count(a) cnt from s
select min(f) from s
select sum(b) from s
select sum() from s
select count() from s
select sum(*) from s
select sum(a, a) from s
select sum(sum(a)) from s
select sum(a) from s where sum(a)>1
select a from s group by sum(a)
select sum(row_number() over ()) from s
select row_number() over () from s where row_number() over () > 1
select a from s having row_number() over ()>1
select row_number() over (order by row_number() over ()) from s
select sum(count(*)) over () from s
select row_number() from s
select lower(b) over () from s
select a, count(*) from s
select a, count(*) from s group by b
select s.a+1, count(*) from s group by a
select a+1, count(*) from s group by a+1
select a+2, count(*) from s group by a+1
select a+1+1, count(*) from s group by a+1
select a as x, count(*) from s group by x
select a as b, count(*) from s group by b
select a, count(*) from s group by 3
select a, count(*) from s group by 1.5
select a, count(*) from s group by 'a'
select a, count(*) as a from s group by 1 order by a
select a x, b x from s order by x
select a x, a x from s order by x
select a from s order by 2
select a from s order by b+1
select a from s order by 'x'
select a from s order by null
select a, b from s order by a desc nulls last, s.b asc nulls first
select distinct a from s order by b
select distinct a from s order by a+1
select distinct a+1 from s order by a+1
select a from s limit 'x'
select a from s limit '5'
select a from s limit a
select a from s limit -1
select a from s limit null offset 2.7
select a from s limit true
select a from s limit 1 limit 2
select a from s offset 2 limit 1
select a from s fetch first 3 rows only
select a from s fetch first row only
select a from s where b
select a from s where 'x'
select a from s where 't'
select a from s where null
select a from s where a and f
select not a from s
select a is true from s
select a is null, f is unknown, f is not true, a is distinct from 5, b is not distinct from null from s
select case when a then 1 end from s
select case a when 'x' then 1 end from s
select case a when 1 then 2 end, case when f then a else c end, case when f then 'x' end, case when f then null end from s
select case when f then 1 else 'x' end from s
select case when f then a else b end from s
select case when f then a else f end from s
select coalesce(a, 1.5), coalesce(b, g), coalesce(null, null), coalesce(a, b) from s
select coalesce(a, 1.5), coalesce(b, g), coalesce(null, null), coalesce(g, b), coalesce(g,g), coalesce(h,d), coalesce(d,z), coalesce(c,c), coalesce(c,1) from s
select greatest(a, i), least('a', 'b'), greatest(h, '2020-01-01') from s
select nullif(a, 1), nullif(1, 2.5), nullif('a', 'b'), nullif(a, 'x') from s
select nullif(a, 1), nullif(1, 2.5), nullif('a', 'b'), nullif(c, c), nullif(g, 'x'), nullif(null, 1) from s
select a in (1, 2), a in (1, 2.5), a in ('1', 2), b in ('a'), a not in (1), c in (1,e) from s
select a in (b, 1) from s
select a in ('x', 1) from s
select a between 1 and 2, a not between 1 and 2, a between symmetric 2 and 1, b between 'a' and 'b' from s
select b like 'x%', b not like 'x', b ilike 'X', b like 'x!%' escape '!', g like 'a' from s
select a like 'x' from s
select b like 'x' escape 'ab' from s
select b like 5 from s
select upper(b), lower(g), length(b), char_length(b), octet_length(b), substring(b from 1 for 2), substring(b,2), substr(b,1,2), trim(b), trim(leading 'x' from b), rtrim(b,'x'), position('a' in b), strpos(b,'a'), replace(b,'a','b'), left(b,1), right(b,1), repeat(b,2), lpad(b,3), rpad(b,3,'x'), reverse(b), split_part(b,',',1), starts_with(b,'a'), concat(a,b,null), b||null from s
select abs(a), abs(c), ceil(c), ceiling(e), floor(a), round(c), round(c,1), round(e), round(a), trunc(c), trunc(c,1), sign(c), sign(a), sqrt(e), sqrt(a), power(a,2), pow(e,2), exp(e), ln(e), mod(a,2), mod(c,2) from s
select round(e, 2) from s
select foo(1)
select foo(a, 'x') from s
select upper(a) from s
select upper(1.5)
select length(5)
select extract(year from d), extract(epoch from z), extract(dow from h), date_part('hour', d), date_part('day', h), date_trunc('hour', d), date_trunc('day', h), date_trunc('day', z), date_trunc('day', z, 'UTC') from s
select extract(foo from d) from s
select extract(hour from h) from s
select date_trunc('foo', d) from s
select date_trunc('dow', d) from s
select date_part('foo', d) from s
select extract(year from b) from s
select extract(year from '2020-01-01') from s
select now(), current_timestamp, current_date, localtimestamp, current_user, current_schema
select d + interval '1 day', h + interval '1 month', z - interval '2 hours', interval '1 day' + d, d + '1 hour', h + 1, h - 1, 1 + h, h - h from s
select h + 'x' from s
select h + 1.5 from s
select d - '2020-01-01' from s
select d + d from s
select a + b from s
select a + 'x' from s
select a + '5' from s
select b + 1 from s
select -b from s
select a ^ 'x' from s
select 'a' + 'b'
select '1' = 1, 'a' = 'b', 1 = '1'
select a = 'abc' from s
select c = 'abc' from s
select h = '2020-13-01' from s
select h = 'foo' from s
select f = 'maybe' from s
select a::bool, f::int, a::bool::int from s
select i::bool from s
select c::bool from s
select h::int from s
select d::date, z::date, z::timestamp, d::timestamptz, h::timestamp, b::date, a::text::int, e::int, e::numeric, c::float4, f::text from s
select f::float8 from s
select a::foo from s
select a::numeric(0) from s
select a::numeric(5,6) from s
select a::varchar(0) from s
select '123'::int2, '70000'::int2
select 70000::int2
select 'abc'::varchar(2), 'abc'::varchar
select 1 as "Foo", 2 Foo, 3 as select
select a "X", "a" from s
select A from S
select "A" from s
select * from s join v on s.a=v.a
select * from s join v using (a)
select a from s join v using (a)
select s.a, v.a from s join v using (a)
select * from s join v using (n)
select * from s join v using (x)
select * from s natural join v
select * from s left join v on a = n
select * from s left join v on s.a = v.a where v.n > 1
select * from s full join v using (a)
select * from s right join v using (a) order by a
select * from s cross join v
select * from s, s
select * from s, s t
select * from s join s on true
select * from v x join v y on x.a = y.a join v z using (a)
select * from v x join v y using (a) join v z using (a)
select * from s join v on s.a
select * from s join v on sum(s.a) > 1
select * from (select a, count(*) from s group by a) q
select q.count, q.a from (select a, count(*) from s group by a) q
select * from (select a from s)
select * from (values (1)) 
select * from (values (1,'a'),(2,'b')) as t(x,y)
select * from (values (1,'a'),(2,'b')) as t(x,y,z)
select * from (select 1, 2) t(x)
select x from (select a as x, b as x from s) t
with q as (select a, b from s) select * from q where a > 1
with q as (select a, b from s), r as (select a from q) select * from r, q
with q(x) as (select a, b from s) select x, b from q
with q as (select a from r), r as (select 1) select * from q
with q as (select 1), q as (select 2) select * from q
with q as (select foo) select 1
values (1, 'a'), (2.5, null)
values (1), ('x')
values (1), (2, 3)
values (1),(2) order by 1 desc limit 1
values (1),(2) order by column1
values (1),(2) order by x
select rank() over (partition by a order by b desc), sum(c) over w, lag(b) over w, lag(a, 1, 0) over w, lag(a,1,1.5) over w, ntile(4) over w, first_value(g) over w, nth_value(b,2) over w, cume_dist() over w, dense_rank() over w from s window w as (partition by a order by d)
select sum(a) over (order by b rows between 1 preceding and current row), avg(a) over (rows unbounded preceding) from s
select sum(a) over nope from s
select sum(a) over (nope) from s
select sum(distinct a) over () from s
select sum(a) over (rows between unbounded following and current row) from s
select sum(a) over (rows between current row and 1 preceding) from s
select sum(a) over (w order by a) from s window w as (order by b)
select sum(a) over (w partition by a) from s window w as (order by b)
select rank() over (order by 1) from s
select a, rank() over (order by count(*)) from s group by a
select b, rank() over (order by count(*)) from s group by a
select count(*) from s group by a having a > 1
select count(*) from s group by a having b > 1
select count(*) from s having a > 1
select 1 from s having true
select 1 where true
select a from s where a > all(1)
select q from (select 1 as x, null) q
select q from s left join (select 1 as x) q on true
select s.* from s
select v.* from s
select *
select * from nope
select * from public.s
select * from foo.s
select public.s.a from public.s
select a.b.c.d.e from s
select a from s union select 1
select (a) from s
select ((a)) from s
select a collate "C" from s
select b collate "C" from s
select b collate "foo" from s
select - - 5, -(-5), - 'a'
select 1 - -1
select 5 # 3
select ~5
select 2 ** 3
select f and null, null or f, not null from s
select null + 1, null || 'x', null = null, null is null
select null::int, null::numeric(5,2), null::text
select count(null), sum(null), max(null), max('x'), min(null::int)
select avg('1'), sum('1')
select 'a' < 'b', 'a' like 'b', 'abc' || 'def'
select $1
select a from s for update
select a into x from s
select all a from s
select distinct on (a) a from s
select count(distinct a, b) from s
select a at time zone 'UTC', d at time zone 'UTC', z at time zone 'Europe/Paris' from s
select d at time zone 'UTC', z at time zone 'Europe/Paris', h at time zone 'UTC' from s
select d at time zone 'Foo/Bar' from s
select timezone('UTC', d) from s
select pg_typeof(1), version()
select 1::int::text::varchar(3)::text
select interval '1 day'
select a::interval from s
select '1 day'::interval + d from s
select max(b collate "C") from s
select "b" || $$x$$ || E'\n' || U&'\0061' from s
select 1 + (select 2)
select exists (select 1)
select a in (select 1) from s
select array[1,2]
select row(1,2)
select (1,2)
select b[1] from s
select a.b from s
select count(*) filter (where count(*) > 1) from s
select count(*) filter (where a) from s
select lower(distinct b) from s
select lower(b) filter (where true) from s
select lower(*) from s
select grouping(a) from s group by a
select a from s group by rollup(a)
select a, sum(a) from s group by ()
select current_date + 1, current_date - h, extract(year from current_date) from s
select date_trunc(b, d) from s
select substring(b from 'x') from s
select b similar to 'x' from s
select b ~ 'x' from s
select (case when f then 1 else 0 end) as q, sum(case when f then 1 else 0 end) from s group by f
select sum(a)::int, sum(a)::float8/count(*), round(avg(c),2), cast(avg(a) as numeric(10,3)) from s
select 100.0 * sum(a) / count(*) from s
select a/0 from s
select 1 where 1 = 1 group by 1
select b from s group by s.b
select s.b from s group by b
select t.b from s t group by t.b, 1
select a from s order by a using >
select char_length(g), g || g, upper(g), g = 'x', max(g) over () from s
select i::int4, i + 1, i * 1.0, i / 2, i % 3, -i from s
select '{}'::jsonb ? 'a'
select '{}'::jsonb ?| array['a']
select '{}'::jsonb #- '{a}'
select '{}'::jsonb - array['a']
select '{}'::jsonb - 'a'
select date(timestamp '2020-01-01 12:00'), text(1), int4('5'), float8('1.5'), numeric(5)
select (date '2020-01-01', date '2020-02-01') overlaps (date '2020-01-15', interval '1 day')
select array_dims(array[1])
select pg_sleep(0)
select current_schemas(true)
select bit_count('\x01'::bytea)
select to_char(interval '1 day', 'DD')
select width_bucket(5, array[1, 3, 10])
select array_position(array[1, 2], 2, 1)
select rank(1) within group (order by x) from (values (1)) v(x)
select percentile_cont(array[0.5]) within group (order by x) from (values (1.0)) v(x)
select json_agg(x) from (values (1)) v(x)
select int4range(1, 5)
select xmlelement(name foo)
select json_extract_path('{"a":1}', 'a')
select array_fill(1, array[3])
select trim_array(array[1,2,3], 1)
select regexp_replace('aaa', 'a', 'b', 2)
select regexp_replace('aaa', 'a', 'b', 1, 2)
select regexp_substr('abc', 'b', 1), regexp_instr('abc', 'b', 1)
select substring('\x0102'::bytea, 1, 1)
select generate_subscripts(array[1,2], 1, true)
select array_to_json(array[1])
select now() at time zone interval '1 hour'
select normalize('a')
select quote_literal(42)
select 'a'::bytea like 'a'::bytea, 'x' not like 'y'
select md5('a'::bytea)
select jsonb_array_elements('[1]')
select * from jsonb_array_elements('[1]')
select * from jsonb_each_text('{"a": 1}')
select nosuchfunction(1)
select 1e131071
select 1e131072
select 1e-5000
select now() at time zone 'PST', now() at time zone '+02', now() at time zone 'Nowhere'
select timestamptz '2012-07-01 12:00 MSK'
