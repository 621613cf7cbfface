CREATE OR REPLACE VIEW weekly AS
SELECT DATE_TRUNC(ordered, WEEK) AS week, DATE_TRUNC(ordered, ISOWEEK) AS iso_week, COUNTIF(status = "paid") AS paid, SUM(amount) AS total
FROM `orders` GROUP BY week, iso_week
-- PostgreSQL:
SELECT (date_trunc('week', ordered + 1) - interval '1 day')::date, date_trunc('week', ordered)::date, count(*) filter (where status = 'paid'), sum(amount) FROM orders GROUP BY 1, 2
| CREATE OR REPLACE VIEW weekly AS SELECT CAST(DATE_TRUNC('week', ordered + INTERVAL '1 DAY') - INTERVAL '1 DAY' AS DATE) AS week, CAST(DATE_TRUNC('week', ordered) AS DATE) AS iso_week, COUNT(*) FILTER(WHERE status = 'paid') AS paid, SUM(amount) AS total FROM "orders" GROUP BY CAST(DATE_TRUNC('week', ordered + INTERVAL '1 DAY') - INTERVAL '1 DAY' AS DATE), CAST(DATE_TRUNC('week', ordered) AS DATE)

SELECT id, SAFE_DIVIDE(amount, quantity) AS unit, quantity / 2 AS half, DIV(quantity, 2) AS whole, MOD(quantity, 3) AS rest, IF(amount > 50, 'a', 'b') AS x,
 IFNULL(region, 'none') AS region, GREATEST(amount, discount) AS g
FROM orders
-- PostgreSQL:
SELECT id, amount / nullif(quantity, 0), quantity / 2.0, div(quantity, 2), mod(quantity, 3), case when amount > 50 then 'a' else 'b' end, coalesce(region, 'none'),
 case when amount is null or discount is null then null else greatest(amount, discount) end FROM orders
| SELECT id, amount * 1.0 / NULLIF(quantity, 0) AS unit, quantity * 1.0 / 2 AS half, CAST(DIV(quantity, 2) AS BIGINT) AS whole, quantity % 3 AS rest, CASE WHEN amount > 50 THEN 'a' ELSE 'b' END AS x, COALESCE(region, 'none') AS region, CASE WHEN amount IS NULL OR discount IS NULL THEN NULL ELSE GREATEST(amount, discount) END AS g FROM orders

SELECT id, TIMESTAMP_DIFF(shipped, created, HOUR) AS hours, DATE_DIFF(DATE(shipped), DATE(created), DAY) AS days, DATE_DIFF(DATE(shipped), ordered, WEEK) AS weeks,
 DATE_ADD(ordered, INTERVAL 1 MONTH) AS later, DATE_SUB(ordered, INTERVAL 7 DAY) AS before, DATETIME_DIFF(shipped, created, DAY) AS d
FROM orders
-- PostgreSQL:
SELECT id, trunc(extract(epoch from shipped - created) / 3600), shipped::date - created::date,
 (date_trunc('week', shipped::date + 1)::date - date_trunc('week', ordered + 1)::date) / 7, (ordered + interval '1 month')::date, ordered - 7, shipped::date - created::date FROM orders
| SELECT id, CAST(TRUNC(EXTRACT(EPOCH FROM shipped - created) / 3600) AS BIGINT) AS hours, CAST(shipped AS DATE) - CAST(created AS DATE) AS days, (CAST(DATE_TRUNC('week', CAST(CAST(shipped AS DATE) AS TIMESTAMP) + INTERVAL '1 DAY') AS DATE) - CAST(DATE_TRUNC('week', CAST(ordered AS TIMESTAMP) + INTERVAL '1 DAY') AS DATE)) / 7 AS weeks, CAST(ordered + INTERVAL '1 month' AS DATE) AS later, CAST(ordered - INTERVAL '7 day' AS DATE) AS before, CAST(shipped AS DATE) - CAST(created AS DATE) AS d FROM orders

SELECT * FROM events WHERE TRUE QUALIFY ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY ts DESC) = 1
-- PostgreSQL:
SELECT id, user_id, kind, ts, url, ms, value, flag FROM (SELECT *, row_number() OVER (PARTITION BY user_id ORDER BY ts DESC NULLS LAST) AS n FROM events) q WHERE n = 1
| SELECT DISTINCT ON (user_id) * FROM events WHERE TRUE ORDER BY user_id, ts DESC NULLS LAST

SELECT user_id, STRING_AGG(kind, '-' ORDER BY id) AS path, ARRAY_AGG(id ORDER BY id) AS ids, APPROX_COUNT_DISTINCT(kind) AS kinds, LOGICAL_OR(flag) AS any_flag
FROM events GROUP BY user_id HAVING kinds > 1
-- PostgreSQL:
SELECT user_id, string_agg(kind, '-' order by id), array_agg(id order by id), count(distinct kind), bool_or(flag) FROM events GROUP BY user_id HAVING count(distinct kind) > 1
| SELECT user_id, STRING_AGG(kind, '-' ORDER BY id NULLS FIRST) AS path, ARRAY_AGG(id ORDER BY id NULLS FIRST) AS ids, COUNT(DISTINCT kind) AS kinds, BOOL_OR(flag) AS any_flag FROM events GROUP BY user_id HAVING COUNT(DISTINCT kind) > 1
| WARNING: "kinds" in HAVING is taken for the output column of this name
| WARNING: APPROX_COUNT_DISTINCT is counted exactly

SELECT email, SPLIT(email, '@')[SAFE_OFFSET(1)] AS domain, REGEXP_EXTRACT(email, r'^([^@]+)@') AS local, REGEXP_CONTAINS(email, r'@example\.(com|org)$') AS known,
 CONCAT(name, "-", country) AS k, LENGTH(name) AS n, STARTS_WITH(email, 'a') AS s, REGEXP_REPLACE(email, r'[aeiou]', '*') AS masked
FROM customers
-- PostgreSQL:
SELECT email, case when email like '%@%' then split_part(email, '@', 2) end, substring(email from '^([^@]+)@'), email ~ '@example\.(com|org)$',
 name || '-' || country, length(name), email like 'a%', regexp_replace(email, '[aeiou]', '*', 'g') FROM customers
| SELECT email, CASE WHEN CARDINALITY(STRING_TO_ARRAY(email, '@')) > 1 THEN SPLIT_PART(email, '@', 2) END AS domain, REGEXP_SUBSTR(email, '^([^@]+)@', 1, 1, '', 1) AS local, email ~ '@example\.(com|org)$' AS known, name || '-' || country AS k, LENGTH(name) AS n, STARTS_WITH(email, 'a') AS s, REGEXP_REPLACE(email, '[aeiou]', '*', 'g') AS masked FROM customers

SELECT FORMAT_DATE('%Y-%m', ordered) AS ym, EXTRACT(DAYOFWEEK FROM ordered) AS dow, EXTRACT(ISOWEEK FROM ordered) AS week, EXTRACT(YEAR FROM ordered) AS y, ROUND(amount, 1) AS r
FROM orders ORDER BY ordered DESC LIMIT 5
-- PostgreSQL:
SELECT to_char(ordered, 'YYYY-MM'), extract(dow from ordered) + 1, extract(week from ordered), extract(year from ordered), round(amount, 1) FROM orders ORDER BY ordered DESC NULLS LAST LIMIT 5
| SELECT TO_CHAR(ordered, 'YYYY-MM') AS ym, CAST(EXTRACT(DOW FROM ordered) + 1 AS INT) AS dow, CAST(EXTRACT(WEEK FROM ordered) AS INT) AS week, CAST(EXTRACT(YEAR FROM ordered) AS INT) AS y, ROUND(amount, 1) AS r FROM orders ORDER BY ordered DESC NULLS LAST LIMIT 5

SELECT DATE_TRUNC(ordered, MONTH) AS ordered, SUM(amount) AS amount FROM orders GROUP BY ordered HAVING amount > 50
-- PostgreSQL:
SELECT date_trunc('month', ordered)::date, sum(amount) FROM orders GROUP BY 1 HAVING sum(amount) > 50
| SELECT CAST(DATE_TRUNC('month', ordered) AS DATE) AS ordered, SUM(amount) AS amount FROM orders GROUP BY CAST(DATE_TRUNC('month', ordered) AS DATE) HAVING SUM(amount) > 50
| WARNING: "amount" in HAVING is taken for the output column of this name

SELECT SAFE_CAST(phone AS INT64) AS p FROM customers
| ERROR 0A000 at 18: SAFE_CAST of BigQuery can't be translated
| DETAIL: It is NULL for what can't be cast, where CAST is an error.
| HINT: Cast what a CASE has found to be castable.

SELECT EXTRACT(WEEK FROM ordered) FROM orders
| ERROR 0A000 at 26: the function extract of BigQuery can't be translated
| DETAIL: What is not translated is weeks that do not begin as those of ISO 8601 do.

SELECT STRUCT(id, name) AS s FROM customers
| ERROR 0A000 at 8: the function struct of BigQuery can't be translated
| HINT: Write it with functions of PostgreSQL: SET antumbra.sql_dialect = 'postgres'.

SELECT * EXCEPT (email) FROM customers
-- PostgreSQL:
SELECT id, name, country, tier, signup, phone FROM customers
| SELECT id, name, country, tier, signup, phone FROM customers

WITH paid AS (SELECT * EXCEPT (weight, discount) FROM orders WHERE status = 'paid')
SELECT p.* EXCEPT (shipped, created), p.amount / 2 AS half FROM paid AS p
-- PostgreSQL:
SELECT id, customer_id, status, amount, quantity, ordered, region, amount / 2 FROM orders WHERE status = 'paid'
| WITH paid AS (SELECT id, customer_id, status, amount, quantity, ordered, created, shipped, region FROM orders WHERE status = 'paid') SELECT id, customer_id, status, amount, quantity, ordered, region, p.amount / 2 AS half FROM paid AS p

SELECT id, JSON_VALUE(body, '$.a.b[0]') AS first, JSON_EXTRACT_SCALAR(body, '$.name') AS name, JSON_VALUE(body, '$.a') AS whole, JSON_VALUE(raw, '$.a.b') AS raw FROM docs
-- PostgreSQL:
SELECT id, body->'a'->'b'->>0, body->>'name', null, raw::jsonb->'a'->>'b' FROM docs
| SELECT id, CASE WHEN JSONB_TYPEOF(JSONB_EXTRACT_PATH(body, 'a', 'b', '0')) IN ('object', 'array') THEN NULL ELSE JSONB_EXTRACT_PATH_TEXT(body, 'a', 'b', '0') END AS first, CASE WHEN JSONB_TYPEOF(JSONB_EXTRACT_PATH(body, 'name')) IN ('object', 'array') THEN NULL ELSE JSONB_EXTRACT_PATH_TEXT(body, 'name') END AS name, CASE WHEN JSONB_TYPEOF(JSONB_EXTRACT_PATH(body, 'a')) IN ('object', 'array') THEN NULL ELSE JSONB_EXTRACT_PATH_TEXT(body, 'a') END AS whole, CASE WHEN JSONB_TYPEOF(JSONB_EXTRACT_PATH(CAST(raw AS JSONB), 'a', 'b')) IN ('object', 'array') THEN NULL ELSE JSONB_EXTRACT_PATH_TEXT(CAST(raw AS JSONB), 'a', 'b') END AS raw FROM docs
| WARNING: a text that is no JSON is an error here

SELECT JSON_VALUE(body, '$.*') FROM docs
| ERROR 0A000 at 8: the function json_value of BigQuery can't be translated
| DETAIL: What is not translated is a path that is not a constant of names and numbers.

SELECT SAFE_CAST(id AS STRING) AS s, SAFE_CAST(ordered AS DATETIME) AS at FROM orders
-- PostgreSQL:
SELECT id::text, ordered::timestamp FROM orders
| SELECT CAST(id AS TEXT) AS s, CAST(ordered AS TIMESTAMP) AS at FROM orders

SELECT * FROM (SELECT customer_id, region, quantity FROM orders) PIVOT(SUM(quantity) AS q, COUNT(*) AS n FOR region IN ('north', 'south' AS s))
-- PostgreSQL:
SELECT customer_id, sum(quantity) FILTER (WHERE region = 'north'), count(*) FILTER (WHERE region = 'north'),
 sum(quantity) FILTER (WHERE region = 'south'), count(*) FILTER (WHERE region = 'south') FROM orders GROUP BY customer_id
| SELECT * FROM (SELECT customer_id, SUM(quantity) FILTER(WHERE region = 'north') AS q_north, COUNT(*) FILTER(WHERE region = 'north') AS n_north, SUM(quantity) FILTER(WHERE region = 'south') AS q_s, COUNT(*) FILTER(WHERE region = 'south') AS n_s FROM (SELECT customer_id, region, quantity FROM orders) AS _query_2 GROUP BY customer_id) AS _pivot

SELECT id, CAST(ordered AS DATETIME) AS at, EXTRACT(HOUR FROM CAST(created AS DATETIME)) AS h FROM orders WHERE CAST(created AS DATETIME) > DATETIME '2024-01-08'
-- PostgreSQL:
SELECT id, ordered::timestamp, extract(hour FROM created) FROM orders WHERE created > '2024-01-08'
| SELECT id, CAST(ordered AS TIMESTAMP) AS at, CAST(EXTRACT(HOUR FROM CAST(created AS TIMESTAMP)) AS INT) AS h FROM orders WHERE CAST(created AS TIMESTAMP) > CAST('2024-01-08' AS TIMESTAMP)
