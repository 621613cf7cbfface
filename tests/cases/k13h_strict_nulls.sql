-- Strict functions with a constant NULL are NULL without computing their other arguments, as PostgreSQL folds them; those that
-- are not strict, and constants that fail, fail.
-- Run: psql -X -q -A -t -h 127.0.0.1 -p PORT -f k13h_strict_nulls.sql antumbra
\set VERBOSITY sqlstate
\o /dev/null
SET client_min_messages = error;
DROP SCHEMA IF EXISTS k13h CASCADE;
CREATE SCHEMA k13h;
SET search_path = k13h;
CREATE TABLE k13h (i integer, t text);
INSERT INTO k13h VALUES (0, NULL), (1, 'a');
\o
\pset null N
select lpad(NULL, 1/i) from k13h;
\echo :SQLSTATE
select lpad(NULL, i, t) from k13h;
\echo :SQLSTATE
select substring(NULL from 1/i) from k13h;
\echo :SQLSTATE
select substring('abc' from 1/i for NULL) from k13h;
\echo :SQLSTATE
select sqrt(i-5) * NULL::float8 from k13h;
\echo :SQLSTATE
select NULL::int + 1/i from k13h;
\echo :SQLSTATE
select 1/i + NULL::int from k13h;
\echo :SQLSTATE
select NULL || (1/i)::text from k13h;
\echo :SQLSTATE
select (1/i)::text || NULL from k13h;
\echo :SQLSTATE
select NULL::int = 1/i from k13h;
\echo :SQLSTATE
select 1/i < NULL::int from k13h;
\echo :SQLSTATE
select 1/i = NULL from k13h;
\echo :SQLSTATE
select 1/i is null from k13h;
\echo :SQLSTATE
select 1/i between NULL and NULL from k13h;
\echo :SQLSTATE
select coalesce(NULL, 1/i) from k13h where i=1;
\echo :SQLSTATE
select greatest(NULL, 1/i) from k13h;
\echo :SQLSTATE
select nullif(NULL, 1/i) from k13h;
\echo :SQLSTATE
select nullif(1/i, NULL) from k13h;
\echo :SQLSTATE
select concat(NULL, 1/i) from k13h;
\echo :SQLSTATE
select concat_ws(NULL, 1/i) from k13h;
\echo :SQLSTATE
select round(NULL::numeric, 1/i) from k13h;
\echo :SQLSTATE
select power(NULL, 1/i) from k13h;
\echo :SQLSTATE
select mod(NULL, 1/i) from k13h;
\echo :SQLSTATE
select div(1/i, NULL) from k13h;
\echo :SQLSTATE
select abs(NULL::int) + 1/i from k13h;
\echo :SQLSTATE
select upper(NULL) || (1/i) from k13h;
\echo :SQLSTATE
select (NULL::int + 1) * (1/i) from k13h;
\echo :SQLSTATE
select replace(t, NULL, (1/i)::text) from k13h;
\echo :SQLSTATE
select translate(NULL, (1/i)::text, 'x') from k13h;
\echo :SQLSTATE
select left(NULL, 1/i) from k13h;
\echo :SQLSTATE
select right(t, NULL) || (1/i)::text from k13h;
\echo :SQLSTATE
select repeat(NULL, 1/i) from k13h;
\echo :SQLSTATE
select strpos(NULL, (1/i)::text) from k13h;
\echo :SQLSTATE
select position((1/i)::text in NULL) from k13h;
\echo :SQLSTATE
select overlay('abc' placing NULL from 1/i) from k13h;
\echo :SQLSTATE
select split_part(NULL, ',', 1/i) from k13h;
\echo :SQLSTATE
select to_char(NULL::int, (1/i)::text) from k13h;
\echo :SQLSTATE
select to_char(1/i, NULL) from k13h;
\echo :SQLSTATE
select to_date(NULL, (1/i)::text) from k13h;
\echo :SQLSTATE
select to_timestamp(NULL) + (1/i) * interval '1 day' from k13h;
\echo :SQLSTATE
select date_trunc(NULL, now() + (1/i) * interval '1 day') from k13h;
\echo :SQLSTATE
select extract(year from NULL::timestamp) + 1/i from k13h;
\echo :SQLSTATE
select age(NULL, now() + (1/i)* interval '1 day') from k13h;
\echo :SQLSTATE
select make_date(NULL, 1/i, 1) from k13h;
\echo :SQLSTATE
select make_interval(1/i, NULL) from k13h;
\echo :SQLSTATE
select NULL::timestamp + (1/i) * interval '1 day' from k13h;
\echo :SQLSTATE
select current_date + NULL::int + 1/i from k13h;
\echo :SQLSTATE
select (1/i)::text like NULL from k13h;
\echo :SQLSTATE
select NULL like (1/i)::text from k13h;
\echo :SQLSTATE
select (1/i)::text ~ NULL from k13h;
\echo :SQLSTATE
select regexp_replace(NULL, (1/i)::text, 'x') from k13h;
\echo :SQLSTATE
select 1/i in (NULL, NULL) from k13h;
\echo :SQLSTATE
select NULL::int[] || (1/i) from k13h;
\echo :SQLSTATE
select array_length(NULL::int[], 1/i) from k13h;
\echo :SQLSTATE
select case when NULL then 1/i end from k13h;
\echo :SQLSTATE
select NULL and (1/i = 1) from k13h;
\echo :SQLSTATE
select NULL or (1/i = 1) from k13h;
\echo :SQLSTATE
select not NULL::bool and 1/i=1 from k13h where i = 1;
\echo :SQLSTATE
select -(NULL::int) + 1/i from k13h;
\echo :SQLSTATE
select (1/i)::int8 + NULL::int8 from k13h;
\echo :SQLSTATE
select (NULL::text)::int + 1/i from k13h;
\echo :SQLSTATE
select row(1/i, NULL) = row(1, NULL) from k13h;
\echo :SQLSTATE
select (1/i) is distinct from NULL from k13h;
\echo :SQLSTATE
select sum(NULL::int + 1/i) from k13h;
\echo :SQLSTATE
select 1 from k13h where NULL::int = 1/i;
\echo :SQLSTATE
select 1 from k13h where 1/i > NULL and i > 0;
\echo :SQLSTATE
select i from k13h order by NULL::int + 1/i;
\echo :SQLSTATE
select i from k13h group by i, NULL::int + 1/i order by 1;
\echo :SQLSTATE
select jsonb_build_object('a', NULL) -> (1/i) from k13h;
\echo :SQLSTATE
select NULL::jsonb -> (1/i) from k13h;
\echo :SQLSTATE
select jsonb_extract_path(NULL, (1/i)::text) from k13h;
\echo :SQLSTATE
select md5(NULL) || 1/i from k13h;
\echo :SQLSTATE
select chr(NULL) || 1/i from k13h;
\echo :SQLSTATE
select width_bucket(NULL, 1, 2, 1/i) from k13h;
\echo :SQLSTATE
select trim(NULL from (1/i)::text) from k13h;
\echo :SQLSTATE
select btrim((1/i)::text, NULL) from k13h;
\echo :SQLSTATE
select format(NULL, 1/i) from k13h;
\echo :SQLSTATE
select atan2(NULL, 1/i) from k13h;
\echo :SQLSTATE
select trunc(NULL, 1/i) from k13h;
\echo :SQLSTATE
select log(NULL, 1/i) from k13h;
\echo :SQLSTATE
select gcd(NULL::int, 1/i) from k13h;
\echo :SQLSTATE
select NULL::int & 1/i from k13h;
\echo :SQLSTATE
select NULL::int << 1/i from k13h;
\echo :SQLSTATE
select NULL ^ (1/i) from k13h;
\echo :SQLSTATE
select starts_with(NULL, (1/i)::text) from k13h;
\echo :SQLSTATE
select string_to_array(NULL, (1/i)::text) from k13h;
\echo :SQLSTATE
select string_to_array((1/i)::text, NULL) from k13h where i = 1;
\echo :SQLSTATE
select array_to_string(NULL::int[], (1/i)::text) from k13h;
\echo :SQLSTATE
select quote_literal(NULL) || 1/i from k13h;
\echo :SQLSTATE
select coalesce(NULL::int + 1/i, 5) from k13h;
\echo :SQLSTATE
select timezone(NULL, now() + (1/i) * interval '1 day') from k13h;
\echo :SQLSTATE
select (now() + (1/i) * interval '1 day') at time zone NULL from k13h;
\echo :SQLSTATE
select isfinite(NULL::date) and 1/i = 1 from k13h;
\echo :SQLSTATE
select cast(NULL as numeric) * (1/i) from k13h;
\echo :SQLSTATE
select lpad(NULL, 1/0) from k13h;
\echo :SQLSTATE
prepare k13h_p(text, int) as select lpad($1, 1/i, $1), left($1, 1 / (i - $2 + 1)) from k13h where i = 0;
execute k13h_p(NULL, 1);
\echo :SQLSTATE
execute k13h_p('a', 1);
\echo :SQLSTATE
select lpad(NULL, 1/i) from (values (0)) v(i);
\echo :SQLSTATE
select lpad(NULL, 1/i) from (values (0), (1)) v(i);
\echo :SQLSTATE
select i from (values (0), (1)) v(i) where sqrt(i - 5) * NULL::float8 is null order by i;
\echo :SQLSTATE
DROP SCHEMA k13h CASCADE;
