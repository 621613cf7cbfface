select (select 1)
select (select a from v limit 1), (select max(n) from v) m from s
select (select a, n from v) from s
select (select) from s
select (select v.n from v where v.a = s.a) from s
select (select n from v where a = s.a and s.b = 'x') from s
select (select s.b) from s
select (select x) from s
select (select s.x) from s
select (select zz.x) from s
select (select n from v where v.a = ss.a) from s ss
select (select n from v where v.a = s.a) from s ss
select exists (select 1 from v where v.a = s.a) from s
select not exists (select 1, 2 from v) from s
select a in (select a from v) from s
select a not in (select n from v) from s
select a in (select a, n from v) from s
select (a, i) in (select a, n from v) from s
select (a, i) in (select a from v) from s
select (a, b) in (select a, n from v) from s
select b in (select a from v) from s
select a = any (select n from v) from s
select a > all (select n from v) from s
select c <> all (select n from v) from s
select a + any (select n from v) from s
select b like any (select 'x') from s
select a <> any (select n from v) from s
select array(select a from v)
select array(select a, n from v)
select array(select b from s order by a), array(select c from s), array(select g from s)
select (array(select a from s))[1]
select a from s where a = (select max(a) from v)
select a from s where (select f from s limit 1)
select a from s where (select a from v)
select a from s where exists (select 1 from v where v.a = s.a and exists (select 1 from s t where t.i = v.n and t.a = s.a))
select a from s where i > (select avg(n) from v where v.a = s.a)
select a from s order by (select n from v where v.a = s.a)
select a, count(*) from s group by a having count(*) > (select max(n) from v)
select a, (select count(*) from v where v.a = s.a) from s group by a
select a, (select count(*) from v where v.a = s.i) from s group by a
select a, (select max(n) from v where v.a = s.i) from s group by a
select (select sum(s.a) from v) from s
select (select sum(v.a) from v) from s
select (select sum(s.a + v.a) from v) from s
select (select sum(s.a) from v), b from s
select (select max(s.a) from v where v.n = count(s.b)) from s
select (select count(*) from v group by s.a) from s
select a from s where (select sum(s.a) from v) > 1
select sum((select max(s.a) from v)) from s
select sum((select n from v where v.a = s.a)) from s
select sum((select sum(s.a) from v)) from s
select (select sum(count(s.a)) from v) from s
select (select (select sum(s.a) from v) from v) from s
select (select (select sum(v.a) from s s2) from v) from s
select (select count(*) filter (where s.a > 1) from v) from s
select (select count(*) filter (where v.a > 1 and s.a > 1) from v) from s
select count(*) from s group by (select a from v limit 1)
select (select a from v limit 1), count(*) from s group by 1
select (select row_number() over (order by s.a)) from s
select row_number() over (order by (select n from v where v.a = s.a)) from s
select case when exists (select 1 from v) then (select a from v) else 1.5 end from s
select coalesce((select n from v), a, 1.5) from s
select (select null), (select 'x'), (select 'x') || 'y'
select (select c from s limit 1), (select g from s limit 1) from s
select (select a as q from v), (select a from v)::text, (select max(a) from v), exists (select 1), array(select 1), (values (1))
select a from s join v on v.a = (select max(a) from s)
select s.a from s join v on v.a = s.a and exists (select 1 from v v2 where v2.n = s.i)
values ((select 1)), ((select max(n) from v))
select a from s limit (select max(n) from v)
select a from s limit (select a)
select (select a from v limit s.a) from s
select (select a from v offset s.a) from s
select a from s limit a + 1
select 1 union select 2
select 1 union all select 2.5
select 'x' union select 'y'
select 'x' union select 1
select '5' union select 1
select null union select 1
select null union select null
select null union select null union select 1
select 1 union (select null union select 2)
select a, b from s union select a from v
select a from s union select b from s
select a from s union select b from s union select c from s
select a, c from s union all select n, a from v
select c from s union select c from s
select c from s union select a from v
select g from s union select g from s
select g from s union select b from s
select d from s union select h from s
select d from s union select z from s
select a from s union select d from s
select a from s except select a from v
select a from s intersect select a from v
select a from s intersect all select b from s
select a from s except all select b, c from s
select a from s union select a from v order by a
select a as x from s union select a from v order by x desc nulls first limit 3
select a from s union select n from v order by n
select a from s union select n from v order by a + 1
select a from s union select n from v order by 2
select a, a from s union select n, a from v order by a
select a from s union select n from v order by s.a
select a from s union select n from v limit a
(select a from s order by b limit 2) union all (select n from v order by a limit 1) order by 1
(select a from s) order by a
(select a from s order by a) order by b
((select 1 union select 2) except select 1) intersect select 3
select 1 x union select 2 y intersect select 3 z
values (1), (2) union select 3
values ('a') union select date '2020-01-01'
select * from (select 1 a union select 2.0) u
select (select a from s union select a from v)
select a from s where a in (select a from v union select n from v)
select a from s where a in (values (1), (2))
with x as (select 1) select * from x
with x as (select a, b from s) select x.b, y.b from x, x y
with x(p, q) as (select a, b from s) select * from x
with x(p, q, r) as (select a, b from s) select * from x
with x as (select 1), x as (select 2) select 1
with x as (select * from y), y as (select 1) select * from x
with recursive x as (select * from y), y as (select 1) select * from x
with x as (select 1 a) select (select a from x), (with x as (select 'q' b) select b from x)
with x as (select 1 a), y as (select a + 1 b from x) select * from y
with x as (select nope from s) select 1
with s as (select a from s) select * from s
with x as (select a from s) select * from x where a in (select a from x)
select (with x as (select s.a as y) select y from x) from s
select (with x as (select s.a as y) select (select y + v.n from x) from v limit 1) from s
with recursive r as (select 1 as n union all select n + 1 from r where n < 5) select * from r
with recursive r(n) as (values (1) union all select n + 1 from r where n < 5) select sum(n) from r
with recursive r as (select 1 as n union select n + 1 from r) select n from r limit 5
with recursive r as (select 'a' as t union all select t || 'b' from r where length(t) < 5) select * from r
with recursive r as (select 1 as n union all select n + 1.5 from r) select * from r
with recursive r as (select a from s union all select i from r, s) select * from r
with recursive r as (select c from s union all select c from r) select * from r
with recursive r as (select c from s union all select c + 1 from r) select * from r
with recursive r as (select g from s union all select g || 'x' from r) select * from r
with recursive r as (select 1 n union all select a from s where a in (select n from r)) select * from r
with recursive r as (select 1 n union all select r.n from s left join r on true) select * from r
with recursive r as (select 1 n union all select r.n from r left join s on true) select * from r limit 3
with recursive r as (select 1 n union all select r.n from r, r r2) select * from r
with recursive r as (select n from r union all select 1) select * from r
with recursive r as (select 1 n) select * from r
with recursive r as (select n from r) select * from r
with recursive r as (select 1 n intersect select n from r) select * from r
with recursive r as (select 1 n union all (select n from r except select 1)) select * from r
with recursive r as (select 1 n union all (select 2 except select n from r)) select * from r
with recursive r as (select 1 n union all select sum(n) from r) select * from r
with recursive r as (select 1 n union all select n from r order by 1) select * from r
with recursive r as (select 1 n union all select n from r limit 5) select * from r
with recursive r as (select 1 n union all select n from r offset 5) select * from r
with recursive r as (select 1 n union all select distinct n + 1 from r) select * from r limit 3
with recursive r as (select 1 n, 2 m union all select n from r) select * from r
with recursive x as (select * from y), y as (select * from x) select * from x
with recursive t(a, up) as (select a, i from s where i is null union all select s.a, s.i from s join t on s.i = t.a) select * from t
with recursive r(n, m) as (select 1 union all select n + 1 from r) select * from r
select * from s, lateral (select n from v where v.a = s.a) x
select * from s, (select n from v where v.a = s.a) x
select * from s, (select i) x
select x.n from s left join lateral (select n from v where v.a = s.a limit 1) x on true
select x.n from s right join lateral (select n from v where v.a = s.a) x on true
select x.n from s full join lateral (select s.a as n) x on true
select * from lateral (select 1 as q) x
select 1 from s, (v join lateral (select s.a + v.n as q) x on x.q = v.a)
select 1 from s, (v join lateral (select a as q) x on true)
select 1 from s, (v join v v2 on v2.a = s.a)
select (select x.q from lateral (select s.a + v.n as q) x) from s, v
select (select x.q from v, lateral (select s.a + v.n as q) x) from s
select x.m from s, lateral (select max(s.a) m) x
select x.m from s, lateral (select max(v.a + s.a) m from v) x
select * from generate_series(1, 3)
select * from generate_series(1, 3) g
select * from generate_series(1, 3) g(x)
select g, g.g, x.* from generate_series(1, 3) g, generate_series(1::bigint, 3) as x(y)
select * from generate_series(1, 10, 2) with ordinality
select * from generate_series(1, 10, 2) with ordinality as g
select * from generate_series(1, 10, 2) with ordinality as g(x, o)
select * from generate_series(1, 10, 2) as g(x, o)
select * from generate_series(1, 2.5)
select * from generate_series(1, 3, 0.5::numeric)
select * from generate_series(timestamp '2020-01-01', timestamp '2020-01-03', interval '1 day') d
select * from generate_series('2020-01-01'::timestamptz, '2020-01-03', '1 day') d
select * from generate_series(date '2020-01-01', date '2020-01-03', '1 day') d
select * from generate_series(1)
select * from generate_series('a', 'b')
select * from generate_series(1.5, 2.5::float8)
select s.a, g from s, generate_series(1, s.a) g
select s.a, g from s left join generate_series(1, s.a) g on g > 1
select s.a, g from generate_series(1, s.a) g, s
select g.* from s, generate_series(1, count(*)) g
select * from generate_series(1, sum(1)) g
select * from generate_series(1, generate_series(1, 2)) g
select * from generate_series(1, row_number() over ()) g
select * from unnest(array[1, 2])
select * from unnest(array[1, 2], array['a', 'b', 'c']) as u(n, t)
select * from unnest(array[1, 2], array['a', 'b', 'c']) with ordinality
select * from unnest(1)
select * from unnest('x')
select * from rows from (generate_series(1, 2), generate_series(1, 3)) as r(p, q)
select * from rows from (generate_series(1, 2), unnest(array['x'])) with ordinality
select * from lower('X')
select * from lower('X') l
select * from upper(lower('X')) as u(v), length(u.v) n
select * from now()
select generate_series(1, 3)
select generate_series(1, a), a from s
select generate_series(1, 3) + 1 as q, unnest(array['x', 'y'])
select generate_series(1, 3) g order by g desc
select distinct generate_series(1, a) from s
select a, generate_series(1, count(*)) from s group by a
select generate_series(1, row_number() over ()) from s
select a from s where generate_series(1, 2) = 1
select a from s group by a having generate_series(1, 2) = 1
select case when f then generate_series(1, 2) else 1 end from s
select coalesce(generate_series(1, 2), 1) from s
select sum(generate_series(1, 2)) from s
select a from s limit generate_series(1, 2)
select sum(a) over (order by generate_series(1, 2)) from s
select a from s join v on generate_series(1, 2) = 1
values (generate_series(1, 2)), (3)
select generate_series(1, 2) over () from s
select (select generate_series(1, s.a)) from s
select a from s where a in (select generate_series(1, 3))
select a, b, sum(i) from s group by rollup (a, b)
select a, b, sum(i) from s group by cube (a, b)
select a, b, sum(i) from s group by grouping sets ((a, b), (a), ())
select a, b, sum(i) from s group by grouping sets (a, rollup (b))
select a, b, sum(i) from s group by a, rollup (b)
select a, b, sum(i) from s group by distinct rollup (a, b), rollup (a)
select a, b, c from s group by rollup (a, b)
select a, grouping(a), grouping(a, b) from s group by rollup (a, b)
select grouping(c) from s group by rollup (a, b)
select grouping(a) from s
select a, grouping(a) from s group by a
select a from s where grouping(a) = 1
select a, b from s group by rollup (a, b) having grouping(a) = 0
select a, b from s group by rollup (a, b) order by grouping(a), a
select a + 1 as x, count(*) from s group by rollup (x)
select a, b, count(*) from s group by rollup (1, 2)
select a, b, count(*) from s group by ((a, b))
select a, b, count(*) from s group by (a, b), ()
select count(*) from s group by ()
select a, count(*) from s group by ()
select a, (select grouping(s.a)) from s group by rollup (a)
select a, sum(a) over (partition by grouping(a)) from s group by rollup (a)
select distinct on (a) a, b from s
select distinct on (a) a, b from s order by a, b
select distinct on (a, b) a, b from s order by b desc, a, c
select distinct on (a) a, b from s order by b
select distinct on (a, b) a, b from s order by a, c, b
select distinct on (a + 1) a, b from s order by a + 1
select distinct on (1) a, b from s order by a
select distinct on (x) a as x, b from s order by c
select distinct on (3) a, b from s
select distinct on (nope) a, b from s
select distinct on (a) a, count(*) from s group by a order by a, count(*)
select a from s order by a fetch first 3 rows with ties
select a from s fetch first 3 rows with ties
select a from s order by a offset 2 fetch next row with ties
select a from s order by a fetch first null rows with ties
table s
table v order by n limit 2
select * from (table v) x
select * from (values (1, 'a'), (2, null)) as t (x, y)
values (1, 2), (3)
values (1, 'a'), (2.5, 'b') order by 1 desc, column2
values (1), (2) order by column1 + 1
select a from s where (a, b) = (1, 'x')
select a from s where (a, b) <> (1, 'x')
select a from s where (a, b) < (1, 'x')
select a from s where (a, b, c) >= (1, 'x', 2)
select a from s where (a, b) = (1, 2)
select a from s where (a, b) = (1, 'x', 2)
select a from s where (a, b) in ((1, 'x'), (2, 'y'))
select a from s where (a, b) not in ((1, 'x'), (2, 'y'))
select a from s where (a, b) in ((1, 'x', 3))
select a from s where row(a, b) is null
select a from s where (a, b) is not null
select a from s where (a, b) is distinct from (1, 'x')
select a from s where (a, i) = (select a, n from v)
select a from s where (a, i) = (select a from v)
select a from s where (a, i) = any (select a, n from v)
select a from s where row(a) = row(1)
select array[1, 2.5], array['x', 'y'], array[a, i] from s
select array[1, 'x']
select array[]
select array[]::int[], array[1, 2]::text[], array['1', '2']::int[]
select array[1, 2][1], (array[1, 2, 3])[1:2], (array['x'])['1'] from s
select a[1] from s
select (array[1])[b] from s
select a = any (array[1, 2]), a <> all ('{1,2}'), b = any (array['x']) from s
select a = any (array['x']) from s
select a = any (b) from s
select a < any (array[1.5, 2]) from s
select a + any (array[1]) from s
select c = any ('{1.5,x}') from s
select '{1,2}'::int[], '{a,b}'::text[], null::int[]
select array[1, 2] = array[1, 2], array[1] < array[2], array[1] || array[2], array[1] || 2
select id, name, tags, spent from items
select items.id, items.name, count(*) from items group by items.id
select id, name, price * 2 from items group by id, price
select id, name from items group by name
select i.id, i.name, s.a from items i join s on s.a = i.id group by i.id
select id, name from items group by rollup (id)
select name from items group by grouping sets ((id), (id, price))
select tags[1], cardinality(tags), 'x' = any (tags) from items
select t from items, unnest(tags) t
select id, t, o from items cross join lateral unnest(tags) with ordinality as u(t, o)
select i.id, unnest(i.tags) from items i
select * from costs
select c.double_price, costs.id from costs c
select double_price from costs c where exists (select 1 from items where items.id = c.id)
select count(*), max(double_price) from costs group by id having max(double_price) > (select avg(price) from items)
select spent + interval '1 day', made - interval '1 month', interval '1 hour' * 2 from items
select sum(spent), max(spent), made - made from items
select interval '1 day', '1 day'::interval, null::interval
select made, count(*) over w, sum(price) over (partition by name order by (select max(n) from v)) from items window w as (order by spent)
select x.a, rank() over (order by x.total) from (select a, sum(c) as total from s group by a union all select a, n from v) x
with x as (select a, row_number() over (partition by b order by i) as k from s) select a from x where k = 1
select a, sum(sum(c)) over (order by a) from s group by a
select a, lag(count(*)) over (order by a) from s group by cube (a)
select count(distinct (select n from v where v.a = s.a)) from s
select max((select n from v where v.a = s.a and v.n > s.i)) from s group by b
select s.* from s where (select count(*) from v where v.a = s.a) > 1 order by (select 1)
select (select s.* from v) from s
select (select count(s.a) over () from v) from s
select x from (select a as x from s) q where q.x = (select max(x) from (select a as x from v) w where w.x < q.x)
select s.a from s natural join v where v.n > any (select 1)
select a from s full join v using (a) where a in (select n from v v2 where v2.a = a)
select f(1) from s, lateral f(a) g
select * from s order by exists (select 1 from v where v.a = s.a), 1
select 1 where exists (select from s)
select a from s where a between (select 1) and (select max(n) from v)
select a from s where not (a in (select a from v) or exists (select 1 from v))
select nullif((select 1), 1), greatest((select 1), 2.5)
