"""Joins that no stream pipeline probes, over the streams and tables of `view_shapes`: PostgreSQL
answers the same text.
"""

from __future__ import annotations

JOINED = {
    "inner_view": "select s.k, count(*), count(r.d) c, sum(s.v) sv, sum(r.d) rd, avg(s.d), min(r.t), max(s.v) from s "
    "join r on s.k = r.k group by s.k",
    "cross_view": "select count(*), min(s.v), sum(o.w) from s cross join o",
    "left_view": "select r.t, count(*), count(s.v) c, sum(s.d), avg(s.v), avg(o.w) a from s left join o on s.k = o.k "
    "and o.w > 3 join r on r.k = s.k group by r.t",
    "full_view": "select o.c, count(*), count(s.k) c1, sum(s.v), min(s.t) from s full join o on s.k = o.k group by o.c",
    "self_view": "select p.t, q.t u, count(*), sum(p.v) from s p join s q on p.k = q.k and p.v < q.v group by 1, 2",
    "mixed_view": "select s.k, sum(s.v * o.w), count(*) filter (where s.v > o.w), sum(s.d) filter (where o.c = 'a') y "
    "from s join o using (k) group by s.k",
    "tables_view": "select a.name, sum(s.d), count(*) from s, o, a, b where s.k = o.k and a.id = s.k and b.k = o.k and "
    "b.x > 10 group by a.name",
    "rollup_view": "select s.t, o.c, sum(s.v), count(*) from s join o using (k) group by rollup (s.t, o.c)",
    "kept_view": "select a.name, count(*), count(s.v) c, sum(s.d), avg(s.v), count(distinct s.t) d from a left join s "
    "on s.k = a.id and s.v > 2 group by a.name",
    "kept_computed_view": "select a.name, count(z.one), sum(z.w) from a left join (select k, 1 as one, coalesce(v, 0) w from s) "
    "z on z.k = a.id group by a.name",
    "exists_view": "select name from a where exists (select from s where s.k = a.id and s.v <> a.g)",
    "not_in_view": "select x from b where x not in (select v from s where s.k <= b.k and v is not null)",
    "self_exists_view": "select s.t, count(*), sum(s.v) from s where exists (select from s q where q.k = s.k and q.v <> s.v) "
    "and not exists (select from r where r.k = s.k and r.v > s.v) group by s.t",
    "scalar_view": "select a.name, sum(s.d) from s, a where a.id = s.k and s.v < (select 2 * avg(v) from s q where q.k = "
    "a.id) group by a.name",
    "scalar_range_view": "select id, (select count(*) from s where s.k < a.id) n, (select sum(v) from s where s.k > a.id) v "
    "from a",
    "between_view": "select s.k, count(*), bit_or(s.v) o from s where exists (select from b where b.k < s.v and b.x > s.v) "
    "group by s.k",
    "not_between_view": "select s.t, count(*) filter (where not exists (select from b where b.k < s.v and b.x > s.k)) "
    "from s group by s.t",
    "looked_up_view": "select (select name from a where a.id = s.k) as name, count(*), avg(s.d) from s group by 1",
}
