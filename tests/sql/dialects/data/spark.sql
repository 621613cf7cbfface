CREATE OR REPLACE TEMP VIEW daily AS
SELECT date_trunc('DAY', ts) AS day, kind, count(*) AS n, count_if(flag) AS flagged, collect_list(id) AS ids FROM events GROUP BY 1, 2
-- PostgreSQL:
SELECT date_trunc('day', ts), kind, count(*), count(*) filter (where flag), array_agg(id) FROM events GROUP BY 1, 2
| CREATE OR REPLACE VIEW daily AS SELECT DATE_TRUNC('day', ts) AS day, kind, COUNT(*) AS n, COUNT(*) FILTER(WHERE flag) AS flagged, ARRAY_AGG(id) FILTER(WHERE id IS NOT NULL) AS ids FROM events GROUP BY 1, 2
| WARNING: TEMPORARY is left out

SELECT id, quantity / 2 AS half, quantity % 3 AS m, nvl(region, 'none') AS region, if(amount > 50, 1, 0) AS big, datediff(shipped, created) AS days,
 date_add(ordered, 7) AS later, add_months(ordered, 1) AS month_later, trunc(ordered, 'MM') AS begins, last_day(ordered) AS ends FROM orders
-- PostgreSQL:
SELECT id, quantity / 2.0, quantity % 3, coalesce(region, 'none'), case when amount > 50 then 1 else 0 end, shipped::date - created::date, ordered + 7,
 (ordered + interval '1 month')::date, date_trunc('month', ordered)::date, (date_trunc('month', ordered) + interval '1 month -1 day')::date FROM orders
| SELECT id, quantity * 1.0 / 2 AS half, quantity % 3 AS m, COALESCE(region, 'none') AS region, CASE WHEN amount > 50 THEN 1 ELSE 0 END AS big, CAST(shipped AS DATE) - CAST(created AS DATE) AS days, ordered + 7 AS later, CAST(ordered + INTERVAL '1 month' AS DATE) AS month_later, CAST(DATE_TRUNC('month', ordered) AS DATE) AS begins, CAST(DATE_TRUNC('month', ordered) + INTERVAL '1 MONTH' - INTERVAL '1 DAY' AS DATE) AS ends FROM orders

SELECT name, date_format(signup, 'yyyy-MM') AS ym, dayofweek(signup) AS dow, weekday(signup) AS wd, weekofyear(signup) AS wk, split(email, '@')[0] AS local, split(email, '@')[1] AS domain,
 concat(name, '/', tier) AS k, concat_ws('/', name, tier) AS ws, instr(email, '@') AS at_sign, substr(name, 2, 2) AS mid FROM customers
-- PostgreSQL:
SELECT name, to_char(signup, 'YYYY-MM'), extract(dow from signup) + 1, extract(isodow from signup) - 1, extract(week from signup), (string_to_array(email, '@'))[1], (string_to_array(email, '@'))[2],
 name || '/' || tier, concat_ws('/', name, tier), strpos(email, '@'), substr(name, 2, 2) FROM customers
| SELECT name, TO_CHAR(signup, 'YYYY-MM') AS ym, CAST(EXTRACT(DOW FROM signup) + 1 AS INT) AS dow, CAST(EXTRACT(ISODOW FROM signup) - 1 AS INT) AS wd, CAST(EXTRACT(WEEK FROM signup) AS INT) AS wk, CASE WHEN CARDINALITY(STRING_TO_ARRAY(email, '@')) > 0 OR email IS NOT NULL THEN SPLIT_PART(email, '@', 1) END AS local, CASE WHEN CARDINALITY(STRING_TO_ARRAY(email, '@')) > 1 THEN SPLIT_PART(email, '@', 2) END AS domain, name || '/' || tier AS k, CONCAT_WS('/', name, tier) AS ws, STRPOS(email, '@') AS at_sign, SUBSTR(name, 2, 2) AS mid FROM customers

SELECT dept, name, salary, row_number() OVER (PARTITION BY dept ORDER BY salary DESC, id) AS n, lag(salary) OVER (PARTITION BY dept ORDER BY hired) AS prev FROM employees
-- PostgreSQL:
SELECT dept, name, salary, row_number() OVER (PARTITION BY dept ORDER BY salary DESC NULLS LAST, id), lag(salary) OVER (PARTITION BY dept ORDER BY hired NULLS FIRST) FROM employees
| SELECT dept, name, salary, ROW_NUMBER() OVER (PARTITION BY dept ORDER BY salary DESC NULLS LAST, id NULLS FIRST) AS n, LAG(salary) OVER (PARTITION BY dept ORDER BY hired NULLS FIRST) AS prev FROM employees

SELECT region, percentile(amount, 0.5) AS med, approx_count_distinct(status) AS s, stddev(weight) AS sd, max_by(id, amount) AS top FROM orders GROUP BY region
-- PostgreSQL:
SELECT region, percentile_cont(0.5) within group (order by amount), count(distinct status), stddev_samp(weight), (array_agg(id order by amount desc nulls last))[1] FROM orders GROUP BY region
| SELECT region, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY amount) AS med, COUNT(DISTINCT status) AS s, STDDEV_SAMP(weight) AS sd, ARG_MAX(id, amount) AS top FROM orders GROUP BY region
| WARNING: APPROX_COUNT_DISTINCT is counted exactly
| WARNING: max_by takes any of the rows that are alike in its second argument

SELECT regexp_extract(email, '@(\\w+)', 1) AS host, regexp_replace(email, '(\\w+)@', '$1 at ') AS spelled, rlike(email, '^b') AS b, greatest(id, length(name)) AS g FROM customers
-- PostgreSQL:
SELECT case when email is not null then coalesce(substring(email from '@(\w+)'), '') end, regexp_replace(email, '(\w+)@', '\1 at ', 'g'), email ~ '^b', greatest(id, length(name)) FROM customers
| SELECT CASE WHEN email IS NOT NULL THEN COALESCE(REGEXP_SUBSTR(email, '@(\w+)', 1, 1, '', 1), '') END AS host, REGEXP_REPLACE(email, '(\w+)@', '\1 at ', 'g') AS spelled, email ~ '^b' AS b, GREATEST(id, LENGTH(name)) AS g FROM customers

SELECT cast(weight AS INT) AS w, cast(amount / 3 AS BIGINT) AS a FROM orders
-- PostgreSQL:
SELECT trunc(weight), trunc(amount / 3) FROM orders
| SELECT CAST(TRUNC(CAST(weight AS DECIMAL)) AS INT) AS w, CAST(TRUNC(amount / 3) AS BIGINT) AS a FROM orders

SELECT user_id, ms * 2 AS twice, twice + 1 AS more FROM events WHERE kind == 'view' AND NOT (user_id <=> NULL)
-- PostgreSQL:
SELECT user_id, ms * 2, ms * 2 + 1 FROM events WHERE kind = 'view' AND user_id IS NOT NULL
| SELECT user_id, ms * 2 AS twice, (ms * 2) + 1 AS more FROM events WHERE kind = 'view' AND NOT (user_id IS NOT DISTINCT FROM NULL)
| WARNING: "twice" in the select list is taken for the output column of this name

SELECT transform(array(1, 2), x -> x + 1)
| ERROR 0A000 at 18: the function array of Spark can't be translated
| HINT: Write it with functions of PostgreSQL: SET antumbra.sql_dialect = 'postgres'.

SELECT from_json(url, 'a INT') FROM events
| ERROR 0A000 at 8: the function from_json of Spark can't be translated
| HINT: Write it with functions of PostgreSQL: SET antumbra.sql_dialect = 'postgres'. Perhaps you meant the function "to_json".
