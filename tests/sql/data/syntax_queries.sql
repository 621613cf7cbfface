select 1 union select 2 union all select 3 intersect select 4 except select 5
(select 1) union (select 2)
((select 1) union select 2) intersect all select 3 order by 1 limit 1
select 1 order by 1 union select 2
select 1 limit 1 union select 2
(select 1 order by 1 limit 1) union (select 2 offset 1) order by 1
select 1 union distinct select 2
select 1 union all distinct select 2
select 1 union
select 1 union all
select 1 union with q as (select 1) select 2
select 1 union (with q as (select 1) select * from q)
select 1 minus select 2
select 1 union values (2)
select 1 union table s
table s union table s order by 1
table s where a > 1
table only s
table s *
table s a
(table s)
values (1), (2) union select 3
(values (1))
(((select 1) order by 1) limit 1)
(select 1 order by 1) order by 1
(select 1 limit 1) limit 2
(select 1 offset 1) offset 2
(select 1 limit 1) offset 2
(with q as (select 1) select 2) order by 1
with q as (select 1) (with r as (select 2) select 3)
with q as (select 1) (select 2)
with q as (select 1) ((select 2))
with q as (select 1) with r as (select 2) select 3
with recursive q as (select 1 union all select a + 1 from q) select * from q
with recursive q(n) as (values (1) union all select n + 1 from q where n < 10), r as (select 2) select * from q, r
with q as materialized (select 1) select * from q
with q as not materialized (select 1) select * from q
with q as not (select 1) select * from q
with q (a, b) as (select 1, 2) select * from q
with q () as (select 1) select 1
with q as select 1 select 2
with q as (select 1), select 2
with q as (select 1) select * from q, (with r as (select 2) select * from r) t
with q as (select 1; select 2) select 3
with q as ((select 1) union select 2) select 3
with q as (insert into s values (1) returning a) select * from q
with q as (update s set a = 1 returning a) select * from q
with q as (delete from s returning a) select * from q
with recursive as (select 1) select 1
with recursive recursive as (select 1) select 1
with materialized as (select 1) select 1
with select as (select 1) select 1
with recursive q as (select 1) search depth first by a set b select * from q
with recursive q as (select 1) cycle a set b using c select * from q
with time as (select 1) select * from time
with ordinality as (select 1) select * from ordinality
select (select 1), (select 1) + 1, -(select 1), (select 1)::text
select ((select 1)), (((select 1))), ((select 1) + 1), (((select 1) + 1) * 2)
select ((select 1) union select 2)
select ((select 1) union select 2) + 1
select ((select 1) order by 1), ((select 1) limit 1)
select ((select 1), 2)
select ((select 1) 2)
select (select 1, 2)
select (select 1
select (select)
select (values (1))
select (table s)
select (with q as (select 1) select * from q)
select (select 1)[1], ((select 1))[1:2]
select (select 1).a
select (select 1) a, (select 2) as b
select exists (select 1), not exists (select 1), exists (select from s), exists (table s), exists (values (1))
select exists ((select 1)), exists ((select 1) union select 2)
select exists select 1
select exists (1)
select exists ()
select exists
select exists from s
select a in (select 1), a not in (select 1), a in ((select 1)), a in ((select 1), 2), a in ((select 1) union select 2) from s
select a in ((select 1) + 1) from s
select a in (((select 1)))
select a in (1, 2) in (true) from s
select a in (select 1) is null from s
select a in 1 from s
select a in (1,) from s
select a not in (1) not in (2) from s
select (a, b) in (select 1, 2), row(a, b) in (select 1, 2), (a, b) in ((1, 2), (3, 4)) from s
select a = any (select 1), a < all (select 1), a <> some (select 1), a = any ((select 1)) from s
select a = any (array[1]), a = any ('{1}'), a = all (b), a = any (b || c) from s
select a = any (1, 2) from s
select a = any from s
select a = any 1 from s
select a = any () from s
select any (select 1)
select a + any (select 1) from s
select a like any (array['x']), a not like all (array['x']), a ilike some (select 'x'), a not ilike any ('{x}') from s
select a similar to any (array['x']) from s
select a operator(pg_catalog.=) any (select 1) from s
select a between any (select 1) and 2 from s
select not a = any (array[1]) and true from s
select a = b = any (array[1]) from s
select a = any (array[1]) = b from s
select a < any (select 1) < b from s
select array(select 1), array((select 1)), array(values (1)), array(select 1 union select 2)
select array(1)
select array[1, 2], array[]::int[], array[[1, 2], [3, 4]], array[array[1], array[2]]
select array[1, [2]]
select array[[1], 2]
select array[1,]
select array[
select array
select array 1
select array[1][1]
select (array[1])[1], (array[1, 2])[1:2], (array[1])[:], (array[1])[1:], (array[1])[:1]
select a[1], a[1][2], a[1:2][3], s.a[1], a[b + 1], a[b[1]] from s
select a[] from s
select a[1 from s
select a[1:2:3] from s
select a[1, 2] from s
select a[:] from s
select a[1].b from s
select f(a)[1] from s
select (f(a))[1] from s
select 'x'[1]
select 1[1]
select ('x')[1]
select $1[1]
select a::int[1] from s
select a::int[][] from s
select (a::int[])[1] from s
select cast(a as int[]) from s
select cast(a as int array) from s
select cast(a as int array[3]) from s
select row(1, 2), row(1), row(), (1, 2), ((1, 2)), (1, (2, 3))
select row(1,)
select (1,)
select ()
select row 1
select row(1).a
select (row(1)).a
select (row(1)).*
select (1, 2).a
select (a).b, (a).b.c, (a).b[1], (s.a).b from s
select (s).* from s
select (a, b) = (1, 2), (a, b) < row(1, 2), (a, b) is null, row(a, b) is not distinct from row(1, 2) from s
select (a, b) overlaps (c, d), (a, b) overlaps row(c, d), row(a, b) overlaps (c, d) from s
select a overlaps b from s
select (a, b) overlaps c from s
select (a, b) overlaps (c) from s
select (a, b, c) overlaps (d, e) from s
select (a, b) overlaps (c, d, e) from s
select (a) overlaps (c, d) from s
select 1 + (a, b) overlaps (c, d) from s
select not (a, b) overlaps (c, d) and true from s
select ((a, b) overlaps (c, d)) from s
select a ~ 'x', a ~* 'x', a !~ 'x', a !~* 'x', a similar to 'x', a not similar to 'x' escape '!', a similar to 'x' || 'y' from s
select a similar 'x' from s
select a similar to 'x' similar to 'y' from s
select a -> 'x', a ->> 'x', a #> '{x}', a #>> '{x}', a @> b, a <@ b, a && b, a ? 'x', a ?| b, a ?& b, a || b, a @? b, a @@ b from s
select a->'x'->'y'->>0 from s
select a -> 'x' = 'y', a || b = c, a + b -> c, a * b || c from s
select a <-> b, a << b, a >> b, a &< b, a |/ b from s
select |/ 25, ||/ 27, @ -5, ~ 5, !! 5
select 5 !
select 5 ! from s
select a operator(pg_catalog.+) b, operator(pg_catalog.-) a from s
select a operator(+) b from s
select a operator(foo.+) b from s
select a operator() b from s
select a operator(pg_catalog) b from s
select operator from s
select a is null is null, a is true is not false, a isnull isnull, a notnull, a is not null = true from s
select a is distinct from b is null from s
select a is distinct from b = c from s
select a is distinct b from s
select a is of (int) from s
select a is document, a is not document from s
select a is normalized, a is not nfc normalized from s
select a is json from s
select a is from s
select a is not from s
select a is 5 from s
select a = b is null = c from s
select a < b < c from s
select a < b = c from s
select a like b like c from s
select a like b = c, a = b like c from s
select a like b escape c, a like b escape c || d, not a like b, a not like b is null from s
select a like b escape c escape d from s
select a escape b from s
select a between 1 and 2 and true, a between 1 and 2 = true, a not between symmetric 1 and 2, a between asymmetric 1 and 2 from s
select a between 1 and 2 between 3 and 4 from s
select a between 1 and 2 and 3 from s
select a between 1 or 2 from s
select a between b in (1) and 2 from s
select a between b is null and 2 from s
select a between b < c and 2 from s
select a between not b and 2 from s
select a between (not b) and 2 from s
select a between 1 and not b from s
select a between 1 and b in (2) from s
select a at time zone 'x', a at time zone b at time zone c, a + b at time zone c, a::timestamp at time zone 'x' || 'y' from s
select a at b from s
select a at time b from s
select a collate "C", a collate pg_catalog."default", a || b collate "C", a collate "C" < b from s
select a collate 'C' from s
select a collate from s
select not not a, not a and b, not a = b, - not a from s
select not from s
select a and from s
select a or or b from s
select - - 1, + + 1, - + 1, 1 - - 1, -a ^ 2, 2 ^ -1, 2 ^ 3 ^ 4, -1 ^ 2
select a + from s
select + from s
select * + 1 from s
select 2 * * 3
select = 1
select a == b from s
select a => b from s
select a <=> b from s
select a != b, a <> b, a <= b, a >= b from s
select a::int::text, -a::int, a::int + 1, (a)::int, 'x'::text || 'y', a::numeric(5,2), a::varchar(3)::text from s
select a:: from s
select a::5 from s
select a::values from s
select a::select from s
select a::double precision, a::timestamp(3) with time zone, a::character varying(3), a::time without time zone, a::interval day to second(3), a::interval(3) from s
select a::int b, a::int as b, a::timestamp with time zone b, a::interval minute, a::interval b from s
select a::time zone from s
select a::setof int from s
select cast(a as int), cast(a as text collate "C") from s
select cast(a as int from s
select cast from s
select date '2020-01-01', time '10:00', time with time zone '10:00', timestamp(3) '2020-01-01', interval '1' year, interval '1-2' year to month, interval '1' second(3), interval(3) '1'
select interval '1' month to day
select interval '1' day to second(2), interval '1 day' hour, interval '1' a
select interval(3) '1' day
select interval a, interval from s
select interval year from s
select int '5', integer '5', double precision '5', char(3) 'x', varchar 'x', bpchar 'x', numeric(3,1) '5', float(3) '5', bit '1', character varying(3) 'x'
select float8(3) 'x', pg_catalog.int4 '5', json '{}', uuid 'x', bytea 'x', my.type 'x', "T" 'x'
select double '5'
select timestamp, date, time, interval, int, char from s
select timestamp a, time b from s
select b'101', x'1F'
select U&'\0041', e'\n', $$x$$, $a$x$a$, 'a'
select 'a' 'b'
select extract(year from a), extract('year' from a), extract(day from b), extract("foo" from a), extract(epoch from a) from s
select extract(select from a) from s
select extract(zone from a) from s
select extract() from s
select substring(a from 1 for 2), substring(a for 2), substring(a for 2 from 1), substring(a from 1), substring(a, 1, 2), substring(a similar 'x' escape 'y'), substring() from s
select substring(a from 1 from 2) from s
select substring(a for 1 for 2) from s
select substring(a from 1, 2) from s
select overlay(a placing b from 1), overlay(a placing b from 1 for 2), overlay(a, b, 1), overlay() from s
select overlay(a placing b) from s
select trim(a), trim(both from a), trim(leading 'x' from a), trim('x' from a), trim(trailing a), trim(a, 'x'), trim(from a) from s
select trim(both 'x' 'y' from a) from s
select position('a' in b), position(a || 'x' in b), position(a = b in c) from s
select position('a', b) from s
select position(a in b in c) from s
select position(a and b in c) from s
select coalesce(a, b), greatest(a), least(a, b, c), nullif(a, b) from s
select nullif(a) from s
select nullif(a, b, c) from s
select coalesce from s
select coalesce, greatest, least, nullif, grouping, position, row, trim, values, setof, treat, out from s
select normalize(a), treat(a as int), xmlelement(name a) from s
select current_date, current_time, current_time(3), current_timestamp(2), localtime, localtimestamp(1), current_user, session_user, user, current_role, current_catalog, current_schema, current_schema()
select current_timestamp()
select current_timestamp('x')
select current_timestamp(-1)
select collation for ('x')
select case when a then b end, case a when 1 then 2 else 3 end, case when a then b when c then d end from s
select case end
select case when a end from s
select case a else b end from s
select case when a then b else end from s
select case when a then b from s
select f(), f(a), f(a, b), f(distinct a), f(all a), f(*), f(a order by b), f(distinct a order by b desc nulls last), f(a) filter (where b), f(a) over (), f(a) filter (where b) over w from s window w as ()
select f(a,) from s
select f(,a) from s
select f(distinct) from s
select f(order by a) from s
select f(distinct *) from s
select f(all) from s
select f(a order a) from s
select f(variadic a), f(a, variadic b), f(variadic a, b) from s
select f(x => 1), f(x := 1), f(1, y => 2), f(x=>1, y=>2) from s
select f(x =>) from s
select f(1 => 2) from s
select f(a) within group (order by b), f(0.5) within group (order by a desc) filter (where b) from s
select f(a) within group () from s
select f(a order by b) within group (order by c) from s
select f(distinct a) within group (order by c) from s
select f(variadic a) within group (order by c) from s
select f(a) filter (b) from s
select f(a) filter () from s
select f(a) filter where b from s
select f(a) filter from s
select f(a) over from s
select f(a) over w, f(a) over (w), f(a) over (w rows 1 preceding) from s window w as (order by a)
select f(a) over (partition by a, b order by c desc nulls first rows between unbounded preceding and 1 following exclude ties) from s
select f(a) over (partition by) from s
select f(a) over (order by a partition by b) from s
select f(a) over (rows unbounded) from s
select f(a) over (rows between 1 preceding) from s
select f(a) over (rows between 1 preceding and) from s
select f(a) over (groups current row exclude group), f(a) over (range '1 day' preceding exclude no others) from s
select f(a) over (rows 1 preceding exclude) from s
select f(a) over (rows 1 following) from s
select f(a) over (rows unbounded following) from s
select f(a) over (rows between 1 following and 1 preceding) from s
select f(a) over (rows between current row and unbounded preceding) from s
select f(a) over (rows between 1 following and current row) from s
select f(a) over (rows between unbounded following and unbounded following) from s
select a.f(b), a.b.f(c), s.a from s
select a.b.c.d from s
select a. from s
select .a from s
select a.* , s.*, s.a.* from s
select a.select, a.from from s
select select from s
select left(a, 1), right(a, 1), left.a, "left" from s
select char(a), int(a) from s
select values(a) from s
select a as select, b as from, c "x", d as "y" from s
select a from, b from s
select a year, b from s
select a as year, b value, c name, d type, e position from s
select a day from s
select a as 'x' from s
select a 'x' from s
select , a from s
select a, from s
select from s
select
select distinct from s
select distinct
select all from s
select all a, b from s
select distinct a, b from s
select distinct on (a, b) a, c from s order by a, b
select distinct on a from s
select distinct on () a from s
select distinct on (a) from s
select all distinct a from s
select where true
select group by a
select having true
select into x from s
select a into temp x from s
select a into table x from s
select a into unlogged table x from s
select a into temporary table x from s
select a into from s
select a from s into x
select a from s, s t, s as u (x, y), s v (x)
select a from s as
select a from s as 'x'
select a from s t ()
select a from s t (x,)
select a from s (x)
select a from only s, only (s), s *, only s t, s * t
select a from only (s t)
select a from (s)
select a from (s t)
select a from ((s))
select a from (s cross join t), (s join t on true) , ((s natural join t))
select a from (s cross join t) u, (s cross join t) as u (x)
select a from ((s cross join t) cross join u)
select a from ((s cross join t) v cross join u)
select a from (select 1) t, (select 1) as t (x), ((select 1)) t, ((select 1) union select 2) t, ((select 1) order by 1) t
select a from (select 1)
select a from ((select 1) t)
select a from ((select 1) t cross join s)
select a from (((select 1) t cross join s))
select a from (((select 1)) t cross join s) cross join u
select a from (values (1), (2)) t (x), (table s) u, (with q as (select 1) select * from q) w
select a from (values (1))
select a from lateral (select 1)
select a from (select 1) as (x)
select a from s join t on a = b join u using (c) left join v on d natural join w cross join x
select a from s join t
select a from s join t on
select a from s join t using
select a from s join t using a
select a from s join t using (a) as j
select a from s join t using (a) j
select a from s join t using (a) on b
select a from s cross join t on a
select a from s natural join t on a
select a from s natural left outer join t, u natural full join v
select a from s natural cross join t
select a from s inner outer join t on true
select a from s left inner join t on true
select a from s left t on true
select a from s full outer join t on true right outer join u on false inner join v on true
select a from s join t join u on a on b
select a from s join t left join u on a on b join v on c
select a from s join (t join u on a) on b
select a from s outer join t on a
select a from s, lateral (select s.a) t, lateral f(s.a) u, lateral f(a) with ordinality as v (x, y)
select a from s left join lateral (select 1) t on true cross join lateral f(a)
select a from lateral s
select a from lateral s t
select a from lateral (s join t on true)
select a from lateral lateral (select 1) t
select a from f(), f(1) t, f(1) as t (x), pg_catalog.f(1) t, f(1) with ordinality, f(1) with ordinality t (x, n)
select a from generate_series(1, 10) a, unnest(array[1]) with ordinality u(v, n)
select a from f(1) with
select a from f(1) with ordinal
select a from f(a order by b), f(distinct a)
select a from f(a) filter (where b)
select a from f(a) over ()
select a from f(1) as t (x int, y text)
select a from f(1) t (x int)
select a from f(1) as (x int)
select a from f(1) as ()
select a from rows from (f(1), g(2)) with ordinality as t (x, y, z)
select a from rows from (f(1) as (x int), g(2)) t
select a from rows from ()
select a from rows from f(1)
select a from rows from (s)
select a from rows
select a from rows t
select a from current_date, coalesce(1, 2) t, cast(1 as int) u, current_schema() v
select a from current_date()
select a from coalesce
select a from left(a, 1), left
select a from left
select a from s tablesample system (10)
select a from s tablesample bernoulli (10) repeatable (5), t
select a from s t tablesample system (10)
select a from s tablesample
select a from 'x'
select a from 1
select a from $1
select a from select
select a from user
select a from s where a where b
select a from s where a > 1 group by a having b order by c limit 1 offset 2 for update
select a from s group by
select a from s group by a, b, (c, d), (), ((e, f), g), row(h, i)
select a from s group by all a, distinct b
select a from s group by distinct a, rollup (b)
select a from s group by rollup (a, (b, c)), cube (a, b), grouping sets ((a), (a, b), (), rollup (a, b), grouping sets ((a), b), cube (c))
select a from s group by rollup ()
select a from s group by rollup a
select a from s group by cube (a, ())
select a from s group by cube (rollup (a))
select a from s group by grouping sets ()
select a from s group by grouping sets a
select a from s group by grouping sets (a, b), c
select a from s group by grouping (a)
select a from s group by rollup, cube
select a from s group by a rollup
select grouping(a), grouping(a, b) from s group by rollup (a, b)
select grouping() from s
select cube(a), rollup(b) from s
select a from s having a group by b
select a from s order by a, b desc, c asc nulls first, d nulls last, e using <, f using operator(pg_catalog.>) nulls first
select a from s order by
select a from s order by a desc asc
select a from s order by a nulls
select a from s order by a nulls second
select a from s order by a using
select a from s order by a using < desc
select a from s order by a limit all offset 5 rows
select a from s limit 1, 2
select a from s limit 1 offset 2 limit 3
select a from s offset 1 offset 2
select a from s offset 1 + 1 rows
select a from s offset 1 row limit 2
select a from s offset (1 + 1) rows
select a from s offset -1 rows
select a from s offset - a rows
select a from s limit 1 rows
select a from s limit (select 1) offset (select 2)
select a from s fetch first 5 rows only
select a from s fetch next row only
select a from s fetch first rows with ties
select a from s order by a fetch first 3 rows with ties
select a from s fetch first 3 rows with ties
(select a from s order by a) fetch first 3 rows with ties
(select a from s) fetch first 3 rows with ties
select a from s fetch first (1 + 2) rows only
select a from s fetch first 1 + 2 rows only
select a from s fetch first -1 rows only
select a from s fetch first +1 rows only
select a from s fetch first a rows only
select a from s fetch first 3 only
select a from s fetch 3 rows only
select a from s fetch first 3 rows
select a from s fetch first 3 rows only with ties
select a from s fetch first 3 rows only limit 1
select a from s offset 1 rows fetch first 2 rows only
select a from s fetch first 2 rows only offset 1
select a from s for no key update of s nowait for key share of t, u skip locked
select a from s for update limit 1
select a from s limit 1 for update
select a from s limit 1 for update offset 1
select a from s order by a for share order by b
select a from s for read only
select a from s for
select a from s for no update
select a from s for key update
select a from s for update skip
select a from s window w as (partition by a), v as (w order by b)
select a from s window w (partition by a)
select a from s window w as partition by a
select a from s window
select a from s where a in (select b from t where t.c = s.c) and exists (select 1 from u where u.d = s.d) or a = (select max(b) from v)
values (1,)
values
values (1) where true
values (1) order by 1 limit 1
select 1;;select 2
select 1; select
select 1 select 2
; ; select 1
select a from s; update
