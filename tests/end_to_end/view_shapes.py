"""Shapes of queries that a continuous view may have, each the text that PostgreSQL answers over
tables with the same rows.

The streams s and r (k integer, v integer, t text, d numeric(10, 2)) and o (k integer, w bigint, c
text); the tables a (id integer PRIMARY KEY, name text, g integer) and b (k integer, x integer).
"""

from __future__ import annotations

# Views that others read, continuous ones and an ordinary one.
BASES = {
    "base_v": "select k, count(*) n, sum(v) sv from s group by k",
    "base_w": "select k, max(w) m from o group by k",
    "base_q": "select id, name from a where g is not null",
}

SHAPES = {
    "cte3": "with g as (select k, sum(v) x from s group by k) select * from g where x = (select max(x) from g)",
    "unionall": "select k, sum(v), count(*), avg(d), min(t), max(v) from (select * from s union all select * from "
    "r) u group by k",
    "unionall_nokey": "select sum(v), count(*) c1, avg(d), min(t), count(d) c2, bool_or(v>3) from (select * from s union "
    "all select * from r where k > 2) u",
    "unionall_distinct": "select distinct k, t from (select k,t from s union all select k,t from r) u",
    "unionall_expr": "select k+1 kk, sum(v*2) x from (select k, v from s union all select k, v from r) u where v > 0 "
    "group by k+1 having count(*) > 1",
    "unionall_join": "select a.name, sum(v) from (select k, v from s union all select k, v from r) u join a on a.id = "
    "u.k group by a.name",
    "unionall_rollup": "select k, t, sum(v) from (select k,t,v from s union all select k,t,v from r) u group by "
    "rollup(k,t)",
    "union1g": "select k, count(*) from (select k, t from s union select k, t from r) u group by k",
    "intersectall": "select k, t from s intersect all select k, t from r",
    "exceptall": "select k, t from s except all select k, t from r",
    "except_tab2": "select id from a except select k from s",
    "exceptcount": "select count(*) from (select k, t from s except all select k, t from r) u",
    "setnest": "(select k from s union select k from r) except select k from o",
    "rollup": "select k, t, sum(v), count(*) from s group by rollup (k, t)",
    "gsets": "select k, t, sum(v) from s group by grouping sets ((k), (t), ())",
    "gsets_join": "select a.name, s.k, sum(v) from s join a on a.id = s.k group by rollup(a.name, s.k)",
    "gsets_distinct": "select k, t, count(distinct v) from s group by rollup (k, t)",
    "distinctagg": "select k, count(distinct v), sum(distinct v) sd, count(*) c, sum(v) from s group by k",
    "distinctagg4": "select k, count(distinct v) filter (where v > 3) a, count(*) from s group by k",
    "nodon": "select distinct on (a.name) a.name, x.sv from (select k, sum(v) sv from s group by k) x join a on "
    "a.id = x.k order by a.name, x.sv",
    "semi_in": "select k, count(*) from s where k in (select id from a where g = 1) group by k",
    "semi_theta": "select k, count(*) from s where exists (select 1 from b where b.x > s.v) group by k",
    "anti_notin_null": "select k, count(*) from s where k not in (select k from b) group by k",
    "anti_theta": "select k, count(*) from s where not exists (select 1 from b where b.x > s.v + 60) group by k",
    "in_or": "select k, count(*) from s where v > 10 or k in (select id from a where g = 1) group by k",
    "scalar_tab": "select k, count(*) from s where v > (select avg(x) from b) group by k",
    "scalar_corr": "select k, count(*) from s where v > (select avg(x) from b where b.k = s.k) group by k",
    "scalar_corr_like": "select k, count(*) from s where v > (select count(*) from a where a.id = s.k and name like 't%') group by k",
    "scalar_corr_case": "select k, count(*) from s where v > (select sum(x) from b where b.k = s.k and case when x > 10 then "
    "coalesce(x, 0) < 15 end) group by k",
    "scalar_corr_numeric": "select k, count(*) from s where (select count(*) from b where b.k = s.d) < 1 group by k",
    "lateral_row": "select k, sum(m) from s, lateral (select s.v + 1 as m, t) l where m > 2 group by k",
    "lateral_tab": "select s.k, sum(y), count(*) from s, lateral (select x * s.v as y from b where b.k = s.k and x > 10) l group "
    "by s.k",
    "lateral_left": "select s.k, count(l.x), count(*) n from s left join lateral (select x from b where b.k = s.k and x > 5) l on "
    "true group by s.k",
    "lateral_agg": "select s.k, sum(m), sum(c) c from s cross join lateral (select max(x) as m, count(*) as c from b where b.k = s.k) l "
    "group by s.k",
    "any_tab": "select count(*) from s where v > any (select x from b)",
    "all_tab": "select count(*) from s where v <= all (select x from b where x is not null)",
    "g_join": "select x.k, n, m from (select k, count(*) n from s group by k) x join (select k, max(v) m from r "
    "group by k) y on x.k = y.k",
    "g_full2": "select x.k, y.k yk, n, m from (select k, count(*) n from s group by k) x full join (select k, "
    "max(v) m from r group by k) y on x.k = y.k",
    "g_anti": "select k, n from (select k, count(*) n from s group by k) x where not exists (select 1 from r "
    "where r.k = x.k)",
    "g_notin": "select k, n from (select k, count(*) n from s group by k) x where k not in (select k from r)",
    "g_scalar2": "select k, n, (select max(v) from r where r.k = x.k) c from (select k, count(*) n from s group by "
    "k) x",
    "g_having_sub": "select k, sum(v) from s group by k having sum(v) > (select avg(v) from s)",
    "t_exists_s": "select id, name from a where exists (select 1 from s where s.k = a.id)",
    "t_notexists_s": "select id, name from a where not exists (select 1 from s where s.k = a.id)",
    "t_notin_s": "select id from a where id not in (select k from s where v > 3)",
    "t_leftnull_s": "select a.id, a.name, s.v from a left join s on s.k = a.id and s.v > 3 where s.k is null and a.g is not null",
    "t_rightnull_s": "select id, t from s right join a on k = id where k is null",
    "t_scalar_s": "select id, (select sum(v) from s where s.k = a.id) x from a",
    "t_scalar_s3": "select id, (select max(v) from s) x from a",
    "over_cvs": "select x.k, n, m from base_v x join base_w y on x.k = y.k",
    "over_cv_s": "select x.k, x.n, y.m from base_v x join (select k, max(v) m from r group by k) y on x.k = y.k",
    "over_multi2": "select sum(x) from cte3",
    "twice": "select x.k, n, m from (select k, count(*) n from s where v > 3 group by k) x join (select k, "
    "max(v) m from s group by k) y on x.k = y.k",
    "first_rows": "select distinct on (k) k, v, t from s order by k, v desc, t, d",
    "first_rows_nulls": "select distinct on (k) k, v, t, d from s order by k, t nulls first, v desc, d desc nulls last",
    "first_rows_below": "select sum(v) from (select distinct on (k, t) k, v from s where v > 1 order by k, t, v desc) x",
    "first_rows_joined": "select distinct on (a.name) a.name, s.v, s.t from s join a on a.id = s.k "
    "order by a.name, s.v desc, s.t, s.d",
    "union_eager": "select s.k, r.v from s join r on s.k = r.k union select k, v from s where v > 15",
    "union_theta": "select t from s where exists (select 1 from a where name = s.t and name >= s.t or g > s.k) union select c from o",
    "intersect_theta": "select k from s where exists (select 1 from b where b.x > s.v and b.k < s.k) intersect select k from r",
    "exceptall_eager": "select s.k, o.w from s join o on s.k = o.k except all select k, v from r",
    "unionall_eager": "select k, count(*), sum(v), count(distinct v) dv from (select a.id k, s.v from a left join s on s.k = a.id "
    "union all select k, v from r) u group by rollup (k)",
    "unionall_theta": "select k, count(*) from (select k, v from s union all select k, v from r) u where exists "
    "(select 1 from b where b.x > u.v and b.k < u.k) group by k",
    "unionall_outer": "select a.name, count(u.v), avg(u.v), max(u.t) from a left join (select k, v, t from s where v > 0 union all "
    "select k, v + 1, t from r) u on u.k = a.id and u.v > a.g group by a.name",
    "unionall_stream": "select u.k, count(*), sum(u.v), max(o.w) from (select k, v from s union all select k, v from r) u join o "
    "on o.k = u.k group by u.k",
    "t_notexists_unionall": "select id from a where not exists (select 1 from (select k, v from s union all select k, v from r) u "
    "where u.k = a.id and u.v < a.g)",
    "gsets_deviation": "select k, t, stddev(v), variance(d) va, grouping(k, t) g, count(*) from s group by cube (k, t)",
    "distinct_deviation": "select k, count(distinct t), stddev(v) sd, sum(v) from s group by k",
    "distinct_deviation_gsets": "select t, k, count(distinct d), var_pop(v) vp from s group by grouping sets ((t, k), (t), ()) "
    "having count(*) > 1",
    "unionall_xor": "select k, bit_xor(v), bit_or(v) from (select k, v from s union all select k, v from r) u group by k",
    "first_rows_unionall": "select distinct on (k) k, v, t from (select k, v, t from s union all select k, v + 1, t from r union all "
    "select id, g, name from a) u where v > 0 order by k, v desc, t",
    "row_with_groups": "select s.v, count(*), max(q.c) from s join (select k, count(*) c from r group by k) q on q.k = s.k group by s.v",
    "row_with_distinct": "select count(*), sum(v) from s natural join (select distinct k from o) q",
    "outer_of_joined": "select a.name, count(z), sum(z) from a left join (select s.k, coalesce(s.v, 0) + coalesce(b.x, 1) z from s left "
    "join b on b.k = s.k where s.v > 0 union all select k, v from r) q on q.k = a.id group by a.name",
    "first_scalar": "select a.id, (select s.t from s where s.k = a.id and s.v > 0 order by s.v desc, s.t, s.d limit 1) x from a",
    "first_scalar_all": "select a.id, (select v + a.id from s order by v desc limit 1) x from a",
    "first_lateral": "select a.name, l.v, l.t from a left join lateral (select v + 1 v, t from s where s.k = a.id order by s.v desc, t "
    "limit 1) l on true",
    "first_of_group": "select k, n from (select k, count(*) n from s group by k) g where n > (select w from o where o.k = g.k order by w "
    "limit 1)",
    "first_by_number": "select k, v, t, rn from (select k, v, t, row_number() over (partition by k order by v desc, t, d) rn from s) x "
    "where rn = 1 and v > 0",
    "first_by_number_unionall": "select sum(v), count(*) from (select *, row_number() over (partition by k, t order by v desc) rn from "
    "(select k, v, t from s union all select k, v, t from r) u) x where 2 > rn",
    "t_scalar_unionall": "select a.id, (select sum(u.v + a.g) from (select v from s union all select v from r) u) x, (select count(*) from "
    "(select k, v from s union all select k, v from r) u where u.v < a.g) y from a",
    "rows": "select k, v, d from s where v > 0 and t like 'a%'",
    "rows_all": "select * from s",
    "rows_none": "select 1 one from s where k = 2",
    "rows_expr": "select k + 1 k1, upper(t) u, d * 2 d2, case when v > 3 then 'many' end w from s where k is not null",
    "rows_join": "select s.k, s.t, a.name from s join a on a.id = s.k where s.v > 2 and a.g = 1",
    "rows_left": "select s.k, s.v, b.x from s left join b on b.k = s.k and b.x > 10 and s.v > 1",
    "rows_right": "select a.name, s.v from s right join a on a.id = s.k and s.v > 5",
    "rows_streams": "select s.k, s.v, o.w, o.c from s join o on o.k = s.k where o.w > 3 and s.v < 10",
    "rows_theta": "select s.k, r.v from s join r on s.k = r.k and s.v < r.v",
    "rows_full": "select s.v, o.w from s full join o on o.k = s.k",
    "rows_self": "select x.v a, y.v b from s x join s y on x.k = y.k and x.v > y.v",
    "rows_unionall": "select k, t from s union all select k, c from o union all select id, name from a",
    "rows_in": "select k, v from s where k in (select k from r where v > 4) and v not in (select w from o where w is not null)",
    "rows_exists": "select k, t from s where not exists (select from o where o.k = s.k and o.w > s.v)",
    "rows_scalar": "select k, v, (select count(*) from o where o.k = s.k) n, (select max(x) from b) x from s",
    "rows_window": "select k, v, sum(v) over (partition by k) sv, count(*) over () n, rank() over (partition by k order by v) rk from s",
    "rows_top2": "select k, v from (select k, v, dense_rank() over (partition by k order by v desc) n from s) q where n <= 2",
    "rows_limit": "select k, v, t, d from s order by v desc, k, t, d limit 5",
    "rows_limit_group": "select k, count(*), sum(v) from (select k, v from s order by v, k offset 3 limit 10) q group by k",
    "rows_number_group": "select n, count(*) from (select row_number() over (partition by k order by v) n from s) q group by n",
    "rows_lateral": "select s.k, g.i from s cross join lateral generate_series(1, s.v % 4) g(i)",
    "rows_top_lateral": "select a.name, l.v, l.t from a left join lateral (select v, t from s where s.k = a.id order by v desc, t limit 2) "
    "l on true",
    "rows_recursive": "with recursive w (k, v) as (select k, v from s where k = 1 union select s.k, s.v from s join w on s.k = w.k + 1 "
    "where s.v > w.v) select * from w",
    "rows_with_groups": "select s.k, s.v, q.sv from s join (select k, sum(v) sv from r group by k) q on q.k = s.k",
    "rows_ordinary": "select s.k, q.name from s join base_q q on q.id = s.k",
    "rows_case_agg": "select k, string_agg(t, ',' order by t) from (select k, t, lag(v) over (partition by k order by v, t) p from s) q "
    "where p is null group by k",
}
