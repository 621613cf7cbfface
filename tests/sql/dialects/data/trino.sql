CREATE OR REPLACE VIEW by_week AS
SELECT date_trunc('week', ordered) AS week, count_if(status = 'paid') AS paid, approx_distinct(customer_id) AS customers, sum(amount) AS total FROM orders GROUP BY 1
-- PostgreSQL:
SELECT date_trunc('week', ordered)::date, count(*) filter (where status = 'paid'), count(distinct customer_id), sum(amount) FROM orders GROUP BY 1
| CREATE OR REPLACE VIEW by_week AS SELECT CAST(DATE_TRUNC('week', ordered) AS DATE) AS week, COUNT(*) FILTER(WHERE status = 'paid') AS paid, COUNT(DISTINCT customer_id) AS customers, SUM(amount) AS total FROM orders GROUP BY 1
| WARNING: approx_distinct is counted exactly

SELECT id, quantity / 2 AS half, date_diff('day', created, shipped) AS days, date_diff('minute', created, shipped) AS minutes, date_add('month', 1, ordered) AS later, date_add('hour', -2, created) AS before,
 if(amount > 50, 1) AS big, greatest(amount, quantity) AS g, day_of_week(ordered) AS dow, week(ordered) AS w FROM orders
-- PostgreSQL:
SELECT id, quantity / 2, trunc(extract(epoch from shipped - created) / 86400), trunc(extract(epoch from shipped - created) / 60), (ordered + interval '1 month')::date, created - interval '2 hours',
 case when amount > 50 then 1 end, case when amount is not null and quantity is not null then greatest(amount, quantity) end, extract(isodow from ordered), extract(week from ordered) FROM orders
| SELECT id, quantity / 2 AS half, CAST(TRUNC(EXTRACT(EPOCH FROM shipped - created) / 86400) AS BIGINT) AS days, CAST(TRUNC(EXTRACT(EPOCH FROM shipped - created) / 60) AS BIGINT) AS minutes, CAST(ordered + INTERVAL '1 month' AS DATE) AS later, created - INTERVAL '2 hour' AS before, CASE WHEN amount > 50 THEN 1 END AS big, CASE WHEN amount IS NULL OR quantity IS NULL THEN NULL ELSE GREATEST(amount, quantity) END AS g, CAST(EXTRACT(ISODOW FROM ordered) AS INT) AS dow, CAST(EXTRACT(WEEK FROM ordered) AS INT) AS w FROM orders

SELECT email, split_part(email, '@', 2) AS domain, strpos(email, '@') AS at_sign, regexp_like(email, '@example') AS known, regexp_extract(email, '@(.+)$', 1) AS host, concat(name, '-', tier) AS k, substr(name, 2) AS rest,
 lower(trim(name)) AS n, length(name) AS len, name || '/' || country AS path FROM customers
-- PostgreSQL:
SELECT email, case when email like '%@%' then split_part(email, '@', 2) end, strpos(email, '@'), email ~ '@example', substring(email from '@(.+)$'), name || '-' || tier, substr(name, 2), lower(trim(name)), length(name), name || '/' || country FROM customers
| SELECT email, CASE WHEN CARDINALITY(STRING_TO_ARRAY(email, '@')) >= 2 OR (2 = 1 AND email IS NOT NULL) THEN SPLIT_PART(email, '@', 2) END AS domain, STRPOS(email, '@') AS at_sign, email ~ '@example' AS known, REGEXP_SUBSTR(email, '@(.+)$', 1, 1, '', 1) AS host, name || '-' || tier AS k, SUBSTR(name, 2) AS rest, LOWER(BTRIM(name)) AS n, LENGTH(name) AS len, name || '/' || country AS path FROM customers

SELECT date_format(created, '%Y-%m-%d %H:%i') AS txt, CAST(created AS date) AS day, extract(hour FROM created) AS h, created + INTERVAL '2' DAY AS later, round(weight, 1) AS w FROM orders
-- PostgreSQL:
SELECT to_char(created, 'YYYY-MM-DD HH24:MI'), created::date, extract(hour from created), created + interval '2 days', round(weight::numeric, 1) FROM orders
| SELECT TO_CHAR(created, 'YYYY-MM-DD HH24:MI') AS txt, CAST(created AS DATE) AS day, CAST(EXTRACT(HOUR FROM created) AS INT) AS h, created + INTERVAL '2 day' AS later, ROUND(CAST(weight AS DECIMAL), 1) AS w FROM orders

SELECT region, max_by(id, amount) AS top, min_by(id, amount) AS low, array_agg(id ORDER BY id) AS ids, listagg(status, ',') WITHIN GROUP (ORDER BY id) AS s FROM orders GROUP BY region
-- PostgreSQL:
SELECT region, (array_agg(id order by amount desc nulls last) filter (where amount is not null))[1], (array_agg(id order by amount) filter (where amount is not null))[1], array_agg(id order by id), string_agg(status, ',' order by id) FROM orders GROUP BY region
| SELECT region, ARG_MAX(id, amount) AS top, ARG_MIN(id, amount) AS low, ARRAY_AGG(id ORDER BY id) AS ids, STRING_AGG(status, ',' ORDER BY id) AS s FROM orders GROUP BY region
| WARNING: max_by takes any of the rows that are alike in its second argument
| WARNING: min_by takes any of the rows that are alike in its second argument

SELECT region, status, sum(amount) AS total, grouping(region, status) AS g FROM orders GROUP BY GROUPING SETS ((region), (status), ())
-- PostgreSQL:
SELECT region, status, sum(amount), grouping(region, status) FROM orders GROUP BY GROUPING SETS ((region), (status), ())
| SELECT region, status, SUM(amount) AS total, GROUPING(region, status) AS g FROM orders GROUP BY GROUPING SETS ((region), (status), ())

SELECT id, x FROM (VALUES (1, ARRAY['a', 'b']), (2, ARRAY['c'])) AS v(id, xs) CROSS JOIN UNNEST(xs) AS t(x)
-- PostgreSQL:
SELECT * FROM (VALUES (1, 'a'), (1, 'b'), (2, 'c')) AS v(id, x)
| SELECT id, x FROM (VALUES (1, ARRAY['a', 'b']), (2, ARRAY['c'])) AS v(id, xs) CROSS JOIN UNNEST(xs) AS t(x)

SELECT name, salary, first_value(name) OVER (PARTITION BY dept ORDER BY salary DESC NULLS LAST, id) AS top FROM employees ORDER BY salary LIMIT 3
-- PostgreSQL:
SELECT name, salary, first_value(name) OVER (PARTITION BY dept ORDER BY salary DESC NULLS LAST, id) FROM employees ORDER BY salary LIMIT 3
| SELECT name, salary, FIRST_VALUE(name) OVER (PARTITION BY dept ORDER BY salary DESC NULLS LAST, id) AS top FROM employees ORDER BY salary LIMIT 3

SELECT date_diff('month', created, shipped) FROM orders
| ERROR 0A000 at 8: the function date_diff of Trino can't be translated
| DETAIL: What is not translated is whole units of a month.

SELECT try(1 / 0)
| ERROR 0A000 at 8: the function try of Trino can't be translated
| DETAIL: It is refused because it is NULL where its argument fails.

SELECT first_value(name) IGNORE NULLS OVER (ORDER BY id) FROM employees
| ERROR 0A000 at 8: IGNORE NULLS of Trino can't be translated

SELECT id, json_extract_scalar(body, '$.a.b[1]') AS b, json_extract_scalar(body, '$.ok') AS ok, TRY_CAST(id AS bigint) AS big FROM docs
-- PostgreSQL:
SELECT id, body->'a'->'b'->>1, body->>'ok', id::bigint FROM docs
| SELECT id, CASE WHEN JSONB_TYPEOF(JSONB_EXTRACT_PATH(body, 'a', 'b', '1')) IN ('object', 'array') THEN NULL ELSE JSONB_EXTRACT_PATH_TEXT(body, 'a', 'b', '1') END AS b, CASE WHEN JSONB_TYPEOF(JSONB_EXTRACT_PATH(body, 'ok')) IN ('object', 'array') THEN NULL ELSE JSONB_EXTRACT_PATH_TEXT(body, 'ok') END AS ok, CAST(id AS BIGINT) AS big FROM docs
