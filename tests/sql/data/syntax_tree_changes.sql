insert into t values (1, default, 3), (default, 2 + 3 * 4, default)
insert into t (a, b) values (1, -2) returning a, b + 1 as c, *
insert into t as x (b, a) select a, b from t union select 1, 2 order by 1 returning x.a
insert into t default values returning *
insert into t overriding user value values (1, 2, 3)
insert into t (a) overriding system value select a from t
insert into t (select * from t) union all (select * from t limit 1)
insert into t (a) ((select 1))
insert into t table t
insert into t with q as (select 5 z) select z from q
with q as (select 5 z), r as (select * from q) insert into t select z from r returning t.a
insert into t values (1) on conflict do nothing
insert into t values (1) on conflict (a) do nothing returning *
insert into t values (1) on conflict (b, a) do update set a = excluded.a + t.a, b = default, (c, d) = (1, default) where t.a > 1 and excluded.b < 2 or true
insert into t as x values (1) on conflict on constraint t_pkey do update set (b, c) = (select 1, x.a), d = 'x' returning x.a
update t set a = 1
update t set a = b + 1 * 2, b = default, c = (select max(a) from t), (d, e) = (select 'x', now()) where a = 1 or b = 2 and c = 3
update t as x set a = x.a + 1 from t y join t z on y.a = z.a, lateral (select z.b + y.b s) l where x.a = y.a returning x.a, y.*, l.s as total
update t x set (a, b) = (1, default), (c, d) = row(2, 'x'), (e) = row(now()) where not exists (select 1 from t where t.a = x.a)
with q as (select 1 z) update t set a = z from q where t.a = q.z
update t set a = case when b > 1 then 2 else a end where (a, b) in ((1, 2), (3, 4)) returning *
delete from t
delete from t as x using t y, (select 1 z) w where x.a = y.a and w.z = x.b returning x.*
delete from only t where a in (select b from t where c is null) returning a + 1
with recursive q as (select 1 z union all select z + 1 from q where z < 3) delete from t using q where t.a = q.z
