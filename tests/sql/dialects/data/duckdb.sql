CREATE OR REPLACE VIEW per_day AS
SELECT date_trunc('day', ts) AS day, kind, count(*) AS n, count_if(flag) AS flagged, median(ms) AS med FROM events GROUP BY ALL
-- PostgreSQL:
SELECT date_trunc('day', ts), kind, count(*), count(*) filter (where flag), percentile_cont(0.5) within group (order by ms) FROM events GROUP BY 1, 2
| CREATE OR REPLACE VIEW per_day AS SELECT DATE_TRUNC('day', ts) AS day, kind, COUNT(*) AS n, COUNT(*) FILTER(WHERE flag) AS flagged, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY ms) AS med FROM events GROUP BY DATE_TRUNC('day', ts), kind

SELECT id, quantity / 2 AS half, quantity // 2 AS whole, quantity % 3 AS m, date_diff('day', created, shipped) AS days, date_diff('month', created, shipped) AS months, ordered + INTERVAL 1 MONTH AS later,
 datepart('year', ordered) AS y, dayofweek(ordered) AS dow, ifnull(region, 'none') AS region, greatest(amount, discount) AS g FROM orders
-- PostgreSQL:
SELECT id, quantity / 2.0, trunc(quantity / 2.0), quantity % 3, shipped::date - created::date, (extract(year from shipped) - extract(year from created)) * 12 + extract(month from shipped) - extract(month from created),
 ordered + interval '1 month', extract(year from ordered), extract(dow from ordered), coalesce(region, 'none'), greatest(amount, discount) FROM orders
| SELECT id, quantity * 1.0 / 2 AS half, CAST(DIV(quantity, 2) AS BIGINT) AS whole, quantity % 3 AS m, CAST(shipped AS DATE) - CAST(created AS DATE) AS days, CAST((EXTRACT(YEAR FROM shipped) - EXTRACT(YEAR FROM created)) * 12 + (EXTRACT(MONTH FROM shipped) - EXTRACT(MONTH FROM created)) AS INT) AS months, ordered + INTERVAL '1 month' AS later, CAST(EXTRACT(YEAR FROM ordered) AS INT) AS y, CAST(EXTRACT(DOW FROM ordered) AS INT) AS dow, COALESCE(region, 'none') AS region, GREATEST(amount, discount) AS g FROM orders

SELECT amount * (1 - coalesce(discount, 0)) AS net, net * 2 AS twice FROM orders WHERE net > 10 ORDER BY net DESC
-- PostgreSQL:
SELECT amount * (1 - coalesce(discount, 0)), amount * (1 - coalesce(discount, 0)) * 2 FROM orders WHERE amount * (1 - coalesce(discount, 0)) > 10
| SELECT amount * (1 - COALESCE(discount, 0)) AS net, (amount * (1 - COALESCE(discount, 0))) * 2 AS twice FROM orders WHERE (amount * (1 - COALESCE(discount, 0))) > 10 ORDER BY net DESC NULLS LAST
| WARNING: "net" in the select list is taken for the output column of this name
| WARNING: "net" in WHERE is taken for the output column of this name

SELECT region, arg_max(id, amount) AS top, list(id ORDER BY id) AS ids, string_agg(status, '|' ORDER BY id) AS s, sum(amount > 50) AS big, quantile_cont(amount, 0.9) AS p90 FROM orders GROUP BY region
-- PostgreSQL:
SELECT region, (array_agg(id order by amount desc nulls last) filter (where amount is not null))[1], array_agg(id order by id), string_agg(status, '|' order by id), sum((amount > 50)::int), percentile_cont(0.9) within group (order by amount) FROM orders GROUP BY region
| SELECT region, ARG_MAX(id, amount) FILTER(WHERE id IS NOT NULL) AS top, ARRAY_AGG(id ORDER BY id) AS ids, STRING_AGG(status, '|' ORDER BY id) AS s, SUM(CAST(amount > 50 AS INT)) AS big, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY amount) AS p90 FROM orders GROUP BY region
| WARNING: arg_max takes any of the rows that are alike in its second argument

SELECT name, concat(name, '-', phone) AS c, name || phone AS d, split_part(email, '@', 2) AS domain, strftime(signup, '%Y/%m') AS ym, contains(email, 'example') AS e, regexp_matches(email, '^[a-z]+@') AS r,
 regexp_replace(email, '[aeiou]', '*', 'g') AS masked, regexp_extract(email, '@(\w+)', 1) AS host, substr(name, 2, 3) AS s FROM customers
-- PostgreSQL:
SELECT name, concat(name, '-', phone), name || phone, split_part(email, '@', 2), to_char(signup, 'YYYY/MM'), email like '%example%', email ~ '^[a-z]+@', regexp_replace(email, '[aeiou]', '*', 'g'),
 case when email is not null then coalesce(substring(email from '@(\w+)'), '') end, substr(name, 2, 3) FROM customers
| SELECT name, CONCAT(name, '-', phone) AS c, name || phone AS d, SPLIT_PART(email, '@', 2) AS domain, TO_CHAR(signup, 'YYYY/MM') AS ym, STRPOS(email, 'example') > 0 AS e, email ~ '^[a-z]+@' AS r, REGEXP_REPLACE(email, '[aeiou]', '*', 'g') AS masked, CASE WHEN email IS NOT NULL THEN COALESCE(REGEXP_SUBSTR(email, '@(\w+)', 1, 1, '', 1), '') END AS host, SUBSTR(name, 2, 3) AS s FROM customers

FROM orders SELECT region, count(*) AS n WHERE amount > 0 GROUP BY region ORDER BY n DESC, region
-- PostgreSQL:
SELECT region, count(*) FROM orders WHERE amount > 0 GROUP BY region
| SELECT region, COUNT(*) AS n FROM orders WHERE amount > 0 GROUP BY region ORDER BY n DESC NULLS LAST, region

SELECT id, kind FROM events QUALIFY row_number() OVER (PARTITION BY kind ORDER BY ts DESC, id) <= 2 ORDER BY id
-- PostgreSQL:
SELECT id, kind FROM (SELECT *, row_number() OVER (PARTITION BY kind ORDER BY ts DESC NULLS LAST, id) AS n FROM events) q WHERE n <= 2
| SELECT id, kind FROM (SELECT id, kind, ROW_NUMBER() OVER (PARTITION BY kind ORDER BY ts DESC NULLS LAST, id) AS _hidden_2 FROM events) AS _rows WHERE _hidden_2 <= 2 ORDER BY id

SELECT * EXCLUDE (email) FROM customers
-- PostgreSQL:
SELECT id, name, country, tier, signup, phone FROM customers
| SELECT id, name, country, tier, signup, phone FROM customers

PIVOT orders ON region USING sum(amount)
| ERROR 42601: syntax error at or near "PIVOT" (in the translated statement)
| DETAIL: PIVOT orders ON region USING sum(amount)

SELECT TRY_CAST(phone AS INT) FROM customers
| ERROR 0A000 at 17: TRY_CAST of DuckDB can't be translated
| DETAIL: It is NULL for what can't be cast, where CAST is an error.
| HINT: Cast what a CASE has found to be castable.

SELECT list_transform([1, 2], x -> x + 1)
| ERROR 0A000 at 8: the function list_transform of DuckDB can't be translated
| HINT: Write it with functions of PostgreSQL: SET antumbra.sql_dialect = 'postgres'.

SELECT * EXCLUDE (url, flag) REPLACE (upper(kind) AS kind) FROM (SELECT * FROM events WHERE ms > 0)
-- PostgreSQL:
SELECT id, user_id, upper(kind), ts, ms, value FROM events WHERE ms > 0
| SELECT id, user_id, UPPER(kind) AS kind, ts, ms, value FROM (SELECT * FROM events WHERE ms > 0) AS _query_1
