select a + b * c - a / b % c + a / c ^ 2, c ^ 2 ^ 3, -a + b, - a ^ 2, a - - b, a * (b + c) from t
select a = b and not c > a or a < b and b is null, not a = b, not a is null, (a = b) = (b = c), (a < b) = true from t
select a + b < c * 2 and a between b + 1 and c - 1 or a not between symmetric 1 and 2 from t
select b between 1 and c and true, b between 1 and c = true, a between b < c and a from (select true a, 1 b, 2 c) t
select d like 'a' || 'b' and d not ilike 'c' escape '!', d like d = true, d similar to 'a' || 'b', d not similar to 'x' escape '!' from t
select a in (1, 2) and b not in (b, c + 1), a in (1) is null, not a in (1, 2), a + 1 in (b + 1) from t
select b is distinct from c + 1, b is not distinct from c and true, a is distinct from b = c from (select true a, 1 b, 1 c) t
select a is null is null, a = 1 is true, a isnull, a + 1 notnull, (a is null) = true from t
select a::text || b::text, -a::numeric, a::int + b::int8, (-a)::text, a::numeric(5,2)::text, d::varchar(3) || 'x' from t
select d || 'x' < 'y', a + b || d, a || d || b, a # b + c, a << 1 + 2, a & b | c, ~ a + b, @ a * b, |/ a + b from t
select d ~ 'x' and d !~* ('y' || 'z'), d ~~ 'x' = true, d ~ 'x' || 'z', d || 'y' ~ 'x' from t
select e at time zone 'UTC' + interval '1 day', e::timestamp at time zone 'UTC' at time zone 'Europe/Paris', interval '1' day + e at time zone 'UTC' from t
select e + interval '1 2' day to hour, interval '1' second(2), interval(3) '1', '1 day'::interval day to second(3) from t
select d collate "C" || d, d || d collate "C" < 'x' from t
select case when a > 1 then b when a > 2 then c else a + b end + 1, case a when 1 then 'x' when b then 'y' end || 'z' from t
select extract(year from e) + 1, position('a' in d || 'b'), substring(d from 2 for 3), trim(leading 'x' from d), overlay(d placing 'x' from 2), coalesce(a, b), greatest(a, b), nullif(a, b) from t
select current_date, current_timestamp(2), localtimestamp, current_user from t
select (a, b) = (1, 2), (a, b) < row(b, c), (a, b) in ((1, 2), (3, 4)), row(a, b) is null, (e, e) overlaps (e, e), 1 = 2 or (e, interval '1') overlaps (e, e) from t
select array[a, b], array[[a, b], [c, a]], (array[a, b])[1], (array[a, b])[1:2], f[1], f[1][2], f[:2], f[a + 1:], t.f[2] + 1, f[f[1]] from t
select a = any (f), a <> all (array[1, 2]), a + 1 > some (f || 1), not a = any (f), d like any (array['x']), a = any ('{1}') from t
select a = any (select b from t), a < all (select b from t union select c from t), a in (select b from t), a not in (select b from t), (a, b) in (select b, c from t) from t
select exists (select 1 from t u where u.a = t.a), not exists (select from t), (select max(a) from t) + 1, array(select a from t order by a) from t
select ((select 1) + 1) * 2, ((select 1) union select 2) + 1, ((select a from t order by a limit 1)), a in ((select 1), 2), a in ((select 1) union (select 2)), a in ((select 1)) from t
select (select a from t limit 1)::text, -(select 1), (array(select a from t))[1], (select f from t limit 1)[1] from t
select 1 union select 2 union all select 3 intersect select 4 except select 5
select 1 union (select 2 union all select 3) intersect all (select 4 except all select 5) order by 1
(select 1 order by 1 limit 1) union all (select 2 offset 1) order by 1 desc limit 5 offset 2
((select 1 union select 2) except select 3) intersect (values (1), (2))
select a from t intersect select b from t union select c from t except select 1 union all values (5) order by a
with q as (select 1 x), r (y) as (select x + 1 from q union select 5) select * from q, r union select * from r, q
with recursive q (n) as (values (1) union all select n + 1 from q where n < 5) select n, (with q as (select 7 z) select z from q) from q
with q as (with r as (select 1 x) select * from r) (select x from q) union (with s as (select 2) table s)
select * from t as x (g, h), (select a from t) y, (values (1, 2), (3, 4)) z (i, j), t w
select * from t x join t y on x.a = y.a left join t z on y.b = z.b cross join t v
select * from t x join (t y join t z on y.a = z.a) on x.a = z.b, (t v natural join t w)
select * from t x join t y join t z on y.a = z.a on x.a = y.b
select * from t x full join t y using (a, b) right join t z using (a)
select * from t, lateral (select t.a + 1 u) l, generate_series(1, a) g, unnest(f) with ordinality as n (v, o)
select * from rows from (generate_series(1, 2), unnest(array[1, 2, 3])) with ordinality as n (x, y, z), pg_catalog.generate_series(1, 2) s, coalesce(1, 2) k
select * from t left join lateral generate_series(1, t.a) g (n) on n > t.b
select * from ((select 1 x) u cross join t), ((select 1) union select 2) w
select * from ((select 1 x) u cross join t), (((select 1) union select 2) order by 1) w
select distinct a, b from t order by a, b
select distinct on (a, b + 1) a, c from t order by a, b + 1, c desc
select a, b, count(*), grouping(a, b) from t group by grouping sets ((a), (a, b), (), rollup (a, b), cube (a, b))
select a, b, c, sum(a) from t group by rollup (a, (b, c)), cube (a, b)
select a, b, c from t group by a, (b, c)
select a, count(*) from t group by distinct rollup (a, b), rollup (a, c) having count(*) > 1
select count(distinct a), sum(a) filter (where b > 1), array_agg(a order by b desc nulls last, c), string_agg(d, ',' order by d), percentile_cont(0.5) within group (order by a desc) from t
select sum(a) over w, rank() over (w rows between 1 preceding and current row exclude ties), lag(a, 1) over (partition by b, c order by a desc nulls first) from t window w as (partition by b order by c)
select sum(a) over (order by b range between unbounded preceding and 2 following), sum(a) over (order by b groups 1 preceding exclude current row), sum(a) over (rows unbounded preceding) from t
select a from t order by a desc nulls last, b nulls first, a + b limit 5 offset 2
select a from t order by a fetch first 3 rows with ties
select a from t offset 1 row fetch next row only
select a from t limit all offset 2
select a x, b "Y", t.c as select, d from t where a > 1 group by a, b, c, d having count(*) > 1 and max(a) < 5 order by x, "Y"
table t
values (1, 'x'), (2, null) order by 1
select date '2020-01-01' + 1, time '10:00', timestamp(3) '2020-01-01 10:00', numeric(5,2) '1.5', char(3) 'x', bool 't', double precision '1', pg_catalog.int4 '5', float8 '2', json '{"a": 1}' -> 'a' ->> 'b'
select '{"a": 1}'::jsonb @> '{}' and '{}'::jsonb ? 'a', '{"a": [1]}'::jsonb #> '{a,0}' = '1', '{"a": 1}'::jsonb -> 'a' = '1' from t
select 1.5e3, .5, 5., 9223372036854775808, 'it''s', E'a\nb', $$x$$, U&'\0041', true and false, null
select "a" from "t" where 'x' = 'y' or a = 1
