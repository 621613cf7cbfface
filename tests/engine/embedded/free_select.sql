select (select (select (select s.a + v.a + w.n) from v w where w.a = s.a) from v limit 1) from s
select a from s o where exists (select 1 from (select i.a, count(*) c from s i where i.b = o.b group by i.a having count(*) >= (select count(*) from v where v.a = o.a)) q where q.a = o.a)
select o.a, (select string_agg(x.t, ',' order by x.t) from (select distinct s.b || o.a::text as t from s where s.a is not distinct from o.a) x) from s o
select v.a, (select count(*) from s where s.a = v.a) + (select count(*) from v w where w.n > v.n) from v
select a, count(*), (select max(w.n) from v w where w.a = s.a and w.n <= count(*)) from s group by a
select a, (select sum(count(*)) over () from v limit 1) from s group by a
select x.a, y.n, z.k from s x, lateral (select n from v where v.a = x.a) y, lateral (select y.n + x.a as k) z
select x.a, z.k from s x left join (v y join lateral (select y.n * 2 as k) z on true) on y.a = x.a
select q.g, count(*) from (select generate_series(1, coalesce(a, 2)) as g from s) q group by q.g order by 1
select a, g from s, generate_series(1, a) g where g in (select n from v)
select g.x, w.s from generate_series(1, 3) as g(x), lateral (select sum(a) as s from s where a <= g.x) w
with recursive t(a, up, depth) as (select a, n, 1 from v where a = 1 union all select v.a, v.n, depth + 1 from v join t on v.a = t.up where depth < 4) select * from t order by 1, 2, 3
with recursive f(x, y) as (values (0, 1) union all select y, x + y from f where y < 100) select x from f
with recursive f(x) as (select 1.0 union all select x * 1.5 from f where x < 20) select * from f
with recursive a as (select 1 n union all select n + 1 from a where n < 3), b as (select n from a union all select n + 10 from a) select * from b order by n
select (with recursive r as (select s.a as n union all select n + 1 from r where n < 5) select max(n) from r) from s
select a, (with c as (select n from v where v.a = s.a) select count(*) from c x, c y) from s
select a, b, count(*), grouping(a, b) from s group by cube (a, b) order by 1, 2, 4
select a, sum(c) filter (where i in (select n from v)) from s group by grouping sets ((a), ()) order by a
select coalesce(a, -1), count(*) from s group by rollup (coalesce(a, -1)) order by 1, 2
select a + 1, grouping(a + 1), count(*) from s group by rollup (a + 1)
select distinct on (a) a, i, b from s order by a nulls first, i desc nulls last, b, c, d, e
select a, i from s order by a nulls first fetch first 4 rows with ties
select a, i from s order by a desc offset 1 fetch first 2 rows with ties
select a from s union all select n from v except select 1 order by 1
(select a from s intersect select n from v) union all select null order by 1 nulls first
select a, c from s union select n, 2.75 from v order by 1, 2
select a from s where (a, i) in (select a, n from v)
select a from s where (a, i) not in (select a, n from v where a is not null and n is not null)
select a from s where (a, i) < (2, 3) order by a, i
select (a, i) = (select a, n from v where a = 1 limit 1) from s
select a from s where a > all (select n from v where n is not null and n < 3)
select a from s where c = any (select a::numeric from v)
select a = any (array[1, null]), a <> all (array[1, 3]), c < any ('{2,3}') from s
select (array[a, i::int])[2], (array[1,2,3])[2:], array[c, 1.5], array(select n from v where v.a = s.a order by n) from s
select t.x, t.o from unnest(array['p', 'q']) with ordinality as t(x, o)
select * from rows from (generate_series(1, 3), unnest(array['p', 'q'])) with ordinality as r(n, t, o)
select id, u.t, u.o from items left join lateral unnest(tags) with ordinality as u(t, o) on true order by 1, 3
select id, unnest(tags) as t, generate_series(1, 2) as g from items order by 1, 3
select * from generate_series(1, 2, 0.25::numeric) g
select * from generate_series('2020-03-28 00:00'::timestamptz, '2020-03-31', '1 day') g
select g::date, extract(day from g) from generate_series('2020-01-31'::timestamp, '2020-05-01', '1 month') g
select i.id, i.name, count(*) from items i left join s on s.a = i.id group by i.id order by 1
select sum(spent), max(made), min(spent) from items where id > (select min(id) from costs)
select id, double_price from costs c where double_price = (select max(double_price) from costs) order by id
select count(*) from s full join v using (a) where a = (select min(a) from v)
select a, row_number() over (partition by a order by i, b, c, d, e, (select 1)) from s order by 1, 2
select max((select n from v where v.a = s.a and v.n > 1 order by n limit 1)) from s
select a from s group by a having exists (select 1 from v where v.a = s.a and v.n > count(*))
select case when a > 2 then (select max(n) from v) else 0 end, coalesce((select n from v where n > 100), a) from s
select exists (select 1 from v where v.a = s.a), count(*) from s group by exists (select 1 from v where v.a = s.a)
select s.a, x.c from s cross join lateral (select count(*) as c from v where v.a = s.a having count(*) > 0) x
select a from s where a in (select a from v where v.n in (select i from s t where t.a = s.a))
select a, b from s where (a, i) in (select v.a, v.n from v where v.n > s.i) or (a, i) not in (select v.a, v.n from v where v.a = s.a)
select a, (a, n) in (select s.a, s.i from s where s.a >= v.a), (a, n) not in (select s.a, s.i from s where s.b is not null and s.a <= v.n) from v
select distinct on (x, y) a as x, a as y, i as z, a as w from s order by x, y desc, z, w
select array_replace(array[1, 2, a], (select min(v.a) from v), (select max(v.a) from v where v.a <= s.a)), array_remove(array[1, a], (select min(v.a) from v)) from s
select a, (select max(v.a) from v where v.a <= s.a) = any (array[1, s.i, null]), (select min(v.a) from v) <> all (array[s.a, 3]) from s
select array_positions(array[a, 2, a], (select max(v.a) from v where v.a <= s.a)), array_to_string(array[b, null], ',', (select max(b) from s)) from s
select t1.a, (select max(x.t2) from (select a as t1, i as t2 from s) x where x.t1 = t1.a and x.t2 > t1.n) as t3 from v t1
select a, string_agg(distinct b, ',' order by b desc) filter (where exists (select 1 from v where v.a = s.i)) from s group by a
select date_part('second', null::timestamp), extract(hour from null::timestamptz), extract(month from null::date), date_part('week', case when false then timestamptz '2022-12-09 23:33:35+00' end), date_trunc('month', null::timestamptz), null::timestamptz::date, age(null::timestamp, null::timestamp), null::date + 1, null::timestamp at time zone 'UTC', to_char(null::timestamp, 'YYYY') from v
select n, 'true'::jsonb -> 0, '"x"'::jsonb ->> -1, '5'::jsonb -> 1, '{"b": null}'::jsonb -> 'b' -> 0, '{"b": 1}'::jsonb -> 0, '[7]'::jsonb -> -1, 'true'::json -> 0, '"x"'::json ->> -1 from v
with c0 as (select a as x from s where a = 1 limit 1), c1 as (select o.x + p.x * 0 as x from c0 o, c0 p), c2 as (select o.x + p.x * 0 as x from c1 o, c1 p), c3 as (select o.x + p.x * 0 as x from c2 o, c2 p), c4 as (select o.x + p.x * 0 as x from c3 o, c3 p), c5 as (select o.x + p.x * 0 as x from c4 o, c4 p), c6 as (select o.x + p.x * 0 as x from c5 o, c5 p), c7 as (select o.x + p.x * 0 as x from c6 o, c6 p), c8 as (select o.x + p.x * 0 as x from c7 o, c7 p), c9 as (select o.x + p.x * 0 as x from c8 o, c8 p), c10 as (select o.x + p.x * 0 as x from c9 o, c9 p), c11 as (select o.x + p.x * 0 as x from c10 o, c10 p), c12 as (select o.x + p.x * 0 as x from c11 o, c11 p), c13 as (select o.x + p.x * 0 as x from c12 o, c12 p), c14 as (select o.x + p.x * 0 as x from c13 o, c13 p) select * from c14
with c0 as (select a, n from v where n is not null), c1 as (select a, n from c0 union select a, n from c0), c2 as (select a, n from c1 union select a, n from c1), c3 as (select a, n from c2 union select a, n from c2), c4 as (select a, n from c3 union select a, n from c3), c5 as (select a, n from c4 union select a, n from c4), c6 as (select a, n from c5 union select a, n from c5), c7 as (select a, n from c6 union select a, n from c6), c8 as (select a, n from c7 union select a, n from c7), c9 as (select a, n from c8 union select a, n from c8), c10 as (select a, n from c9 union select a, n from c9), c11 as (select a, n from c10 union select a, n from c10), c12 as (select a, n from c11 union select a, n from c11) select a, n from c12 order by 1, 2
with recursive c0 as (select 'x' as x), c1(x) as (select left((select x from c0) || (select max(x) from c0), 5)), c2(x) as (select left((select x from c1) || (select max(x) from c1), 5)), c3(x) as (select left((select x from c2) || (select max(x) from c2), 5)), c4(x) as (select left((select x from c3) || (select max(x) from c3), 5)), c5(x) as (select left((select x from c4) || (select max(x) from c4), 5)), c6(x) as (select left((select x from c5) || (select max(x) from c5), 5)), c7(x) as (select left((select x from c6) || (select max(x) from c6), 5)), c8(x) as (select left((select x from c7) || (select max(x) from c7), 5)), c9(x) as (select left((select x from c8) || (select max(x) from c8), 5)), c10(x) as (select left((select x from c9) || (select max(x) from c9), 5)), c11(x) as (select left((select x from c10) || (select max(x) from c10), 5)), c12(x) as (select left((select x from c11) || (select max(x) from c11), 5)) select s.a, c12.x from s, c12
with c0 as (select n as x from v), c1 as (select x from c0 where x in (select x from c0) and exists (select 1 from c0 q where q.x = c0.x)), c2 as (select x from c1 where x in (select x from c1) and exists (select 1 from c1 q where q.x = c1.x)), c3 as (select x from c2 where x in (select x from c2) and exists (select 1 from c2 q where q.x = c2.x)), c4 as (select x from c3 where x in (select x from c3) and exists (select 1 from c3 q where q.x = c3.x)), c5 as (select x from c4 where x in (select x from c4) and exists (select 1 from c4 q where q.x = c4.x)), c6 as (select x from c5 where x in (select x from c5) and exists (select 1 from c5 q where q.x = c5.x)), c7 as (select x from c6 where x in (select x from c6) and exists (select 1 from c6 q where q.x = c6.x)), c8 as (select x from c7 where x in (select x from c7) and exists (select 1 from c7 q where q.x = c7.x)), c9 as (select x from c8 where x in (select x from c8) and exists (select 1 from c8 q where q.x = c8.x)), c10 as (select x from c9 where x in (select x from c9) and exists (select 1 from c9 q where q.x = c9.x)), c11 as (select x from c10 where x in (select x from c10) and exists (select 1 from c10 q where q.x = c10.x)), c12 as (select x from c11 where x in (select x from c11) and exists (select 1 from c11 q where q.x = c11.x)) select count(*), sum(x) from c12
with r as (select random() as x) select p.x = q.x, p.x = (select x from r) from r p, r q
with r as (select random() as x from s), q as (select x from r union all select x from r) select count(*) = 2 * count(distinct x) from q
select (with r as (select random() as x) select p.x - q.x from r p, r q), a from s
select a, (with c0 as (select s.a as x), c1 as (select o.x + p.x as x from c0 o, c0 p), c2 as (select o.x + p.x as x from c1 o, c1 p), c3 as (select o.x - p.x as x from c2 o, c2 p) select x from c3) from s
select a, (with c0 as (select s.a as x), c1 as (select x + (select max(n) from v where n > x) as x from c0) select count(*) from c1 o, c1 p where o.x = (select max(q.x) from c1 q)) from s
select string_agg(x::text, ',' order by 'a'::text, x desc), array_agg(x order by true, x), array_agg(distinct 'a'::text order by 'a'::text) from generate_series(1, 3) x
select percentile_disc(0.5) within group (order by 'a'::text) from generate_series(1, 3)
