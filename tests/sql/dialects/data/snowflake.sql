CREATE OR REPLACE VIEW monthly_sales AS
SELECT DATE_TRUNC('MONTH', ordered) AS month, region, SUM(amount) AS total, COUNT_IF(status = 'paid') AS paid
FROM orders GROUP BY ALL
-- PostgreSQL:
SELECT date_trunc('month', ordered)::date, region, sum(amount), count(*) FILTER (WHERE status = 'paid') FROM orders GROUP BY 1, 2
| CREATE OR REPLACE VIEW monthly_sales AS SELECT CAST(DATE_TRUNC('month', ordered) AS DATE) AS month, region, SUM(amount) AS total, COUNT(*) FILTER(WHERE status = 'paid') AS paid FROM orders GROUP BY CAST(DATE_TRUNC('month', ordered) AS DATE), region

CREATE VIEW latest_order AS
SELECT * FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY created DESC, id DESC) = 1
-- PostgreSQL:
SELECT id, customer_id, status, amount, quantity, discount, ordered, created, shipped, region, weight FROM
 (SELECT *, row_number() OVER (PARTITION BY customer_id ORDER BY created DESC, id DESC) AS n FROM orders) q WHERE n = 1
| CREATE VIEW latest_order AS SELECT DISTINCT ON (customer_id) * FROM orders ORDER BY customer_id, created DESC, id DESC

SELECT id, IFF(amount > 50, 'big', 'small') AS size, NVL(region, 'none') AS region, ZEROIFNULL(amount) AS a,
 NVL2(shipped, 1, 0) AS is_shipped, DIV0(amount, quantity) AS per_item, amount / NULLIFZERO(quantity) AS q
FROM orders
-- PostgreSQL:
SELECT id, case when amount > 50 then 'big' else 'small' end, coalesce(region, 'none'), coalesce(amount, 0),
 case when shipped is null then 0 else 1 end, case when quantity = 0 and amount is not null then 0 else amount / nullif(quantity, 0) end,
 amount / nullif(quantity, 0) FROM orders
| SELECT id, CASE WHEN amount > 50 THEN 'big' ELSE 'small' END AS size, COALESCE(region, 'none') AS region, COALESCE(amount, 0) AS a, CASE WHEN shipped IS NOT NULL THEN 1 ELSE 0 END AS is_shipped, CASE WHEN quantity = 0 AND amount IS NOT NULL THEN 0 ELSE amount * 1.0 / NULLIF(quantity, 0) END AS per_item, amount / NULLIF(quantity, 0) AS q FROM orders

SELECT id, quantity / 2 AS half, DATEDIFF('day', created, shipped) AS days, DATEDIFF(hour, created, shipped) AS hours,
 DATEDIFF(month, created, shipped) AS months, DATEDIFF(week, created, shipped) AS weeks, DATEDIFF(year, created, shipped) AS years
FROM orders
-- PostgreSQL:
SELECT id, quantity::numeric / 2, shipped::date - created::date,
 extract(epoch from date_trunc('hour', shipped) - date_trunc('hour', created)) / 3600,
 (extract(year from shipped) * 12 + extract(month from shipped)) - (extract(year from created) * 12 + extract(month from created)),
 (date_trunc('week', shipped)::date - date_trunc('week', created)::date) / 7, extract(year from shipped) - extract(year from created) FROM orders
| SELECT id, quantity * 1.0 / 2 AS half, CAST(shipped AS DATE) - CAST(created AS DATE) AS days, CAST(EXTRACT(EPOCH FROM DATE_TRUNC('hour', shipped) - DATE_TRUNC('hour', created)) / 3600 AS BIGINT) AS hours, CAST((EXTRACT(YEAR FROM shipped) - EXTRACT(YEAR FROM created)) * 12 + (EXTRACT(MONTH FROM shipped) - EXTRACT(MONTH FROM created)) AS INT) AS months, (CAST(DATE_TRUNC('week', shipped) AS DATE) - CAST(DATE_TRUNC('week', created) AS DATE)) / 7 AS weeks, CAST(EXTRACT(YEAR FROM shipped) - EXTRACT(YEAR FROM created) AS INT) AS years FROM orders

SELECT name, CONCAT(name, ' <', email, '>') AS full_name, name || email AS both, SPLIT_PART(email, '@', 2) AS domain, LEN(name) AS n,
 CHARINDEX('@', email) AS at_sign, CONTAINS(email, 'example') AS has, UPPER(LEFT(name, 1)) AS initial, SUBSTR(email, -3) AS tail
FROM customers WHERE email ILIKE '%@%'
-- PostgreSQL:
SELECT name, name || ' <' || email || '>', name || email, split_part(email, '@', 2), length(name), strpos(email, '@'), email like '%example%',
 upper(left(name, 1)), right(email, 3) FROM customers WHERE email ILIKE '%@%'
| SELECT name, name || ' <' || email || '>' AS full_name, name || email AS "both", SPLIT_PART(email, '@', 2) AS domain, LENGTH(name) AS n, STRPOS(email, '@') AS at_sign, STRPOS(email, 'example') > 0 AS has, UPPER(LEFT(name, 1)) AS initial, RIGHT(email, 3) AS tail FROM customers WHERE email ILIKE '%@%'

SELECT customer_id, LISTAGG(DISTINCT status, ', ') WITHIN GROUP (ORDER BY status) AS statuses, MEDIAN(amount) AS med, GREATEST(MAX(amount), MAX(quantity)) AS g
FROM orders GROUP BY customer_id
-- PostgreSQL:
SELECT customer_id, coalesce(string_agg(distinct status, ', ' order by status), ''), percentile_cont(0.5) within group (order by amount),
 case when max(amount) is not null and max(quantity) is not null then greatest(max(amount), max(quantity)) end FROM orders GROUP BY customer_id
| SELECT customer_id, COALESCE(STRING_AGG(DISTINCT status, ', ' ORDER BY status), '') AS statuses, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY amount) AS med, CASE WHEN MAX(amount) IS NULL OR MAX(quantity) IS NULL THEN NULL ELSE GREATEST(MAX(amount), MAX(quantity)) END AS g FROM orders GROUP BY customer_id

WITH ranked AS (
  SELECT dept, name, salary, RANK() OVER (PARTITION BY dept ORDER BY salary DESC) AS r FROM employees
)
SELECT dept, name, salary FROM ranked WHERE r <= 2 ORDER BY dept, salary DESC
-- PostgreSQL:
SELECT dept, name, salary FROM (SELECT dept, name, salary, rank() OVER (PARTITION BY dept ORDER BY salary DESC NULLS FIRST) AS r FROM employees) q WHERE r <= 2
| WITH ranked AS (SELECT dept, name, salary, RANK() OVER (PARTITION BY dept ORDER BY salary DESC) AS r FROM employees) SELECT dept, name, salary FROM ranked WHERE r <= 2 ORDER BY dept, salary DESC

SELECT status, DECODE(region, 'north', 'N', 'south', 'S', NULL, '?', 'X') AS code, amount AS gross, gross * (1 - NVL(discount, 0)) AS net
FROM orders WHERE net > 10
-- PostgreSQL:
SELECT status, case when region = 'north' then 'N' when region = 'south' then 'S' when region is null then '?' else 'X' end, amount,
 amount * (1 - coalesce(discount, 0)) FROM orders WHERE amount * (1 - coalesce(discount, 0)) > 10
| SELECT status, CASE WHEN region = 'north' THEN 'N' WHEN region = 'south' THEN 'S' WHEN region IS NULL THEN '?' ELSE 'X' END AS code, amount AS gross, amount * (1 - COALESCE(discount, 0)) AS net FROM orders WHERE (amount * (1 - COALESCE(discount, 0))) > 10
| WARNING: "gross" in the select list is taken for the output column of this name
| WARNING: "net" in WHERE is taken for the output column of this name

SELECT name, ADD_MONTHS(hired, 1) AS later, LAST_DAY(hired) AS ends, DAYOFWEEK(hired) AS dow, TO_CHAR(hired, 'YYYY-MM-DD') AS txt, ROUND(bonus, 1) AS b
FROM employees
-- PostgreSQL:
SELECT name, case when extract(day from hired + 1) = 1 then (date_trunc('month', hired) + interval '2 months' - interval '1 day')::date else (hired + interval '1 month')::date end,
 (date_trunc('month', hired) + interval '1 month' - interval '1 day')::date, extract(dow from hired)::int, to_char(hired, 'YYYY-MM-DD'), round(bonus, 1) FROM employees
| SELECT name, CAST(CASE WHEN EXTRACT(DAY FROM CAST(hired AS TIMESTAMP) + INTERVAL '1 DAY') = 1 THEN DATE_TRUNC('month', CAST(hired + INTERVAL '1 month' AS DATE)) + INTERVAL '1 MONTH' - INTERVAL '1 DAY' + (CAST(hired AS TIMESTAMP) - DATE_TRUNC('day', CAST(hired AS TIMESTAMP))) ELSE CAST(hired + INTERVAL '1 month' AS DATE) END AS DATE) AS later, CAST(CAST(DATE_TRUNC('month', hired) AS DATE) + INTERVAL '1 MONTH' - INTERVAL '1 DAY' AS DATE) AS ends, CAST(EXTRACT(DOW FROM hired) AS INT) AS dow, TO_CHAR(hired, 'YYYY-MM-DD') AS txt, ROUND(bonus, 1) AS b FROM employees

SELECT dept, name, LAST_VALUE(name) OVER (PARTITION BY dept ORDER BY salary, id) AS top FROM employees
-- PostgreSQL:
SELECT dept, name, last_value(name) OVER (PARTITION BY dept ORDER BY salary, id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM employees
| SELECT dept, name, LAST_VALUE(name) OVER (PARTITION BY dept ORDER BY salary, id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS top FROM employees

SELECT TRY_CAST(phone AS INT) FROM customers
| ERROR 0A000 at 17: TRY_CAST of Snowflake can't be translated
| DETAIL: It is NULL for what can't be cast, where CAST is an error.
| HINT: Cast what a CASE has found to be castable.

SELECT kind, v.value FROM events, LATERAL FLATTEN(input => url) v
| ERROR 0A000 at 43: the function flatten of Snowflake can't be translated
| HINT: Write it with functions of PostgreSQL: SET antumbra.sql_dialect = 'postgres'.

SELECT * FROM orders PIVOT (SUM(amount) FOR region IN ('north', 'south'))
-- PostgreSQL:
SELECT id, customer_id, status, quantity, discount, ordered, created, shipped, weight, sum(amount) FILTER (WHERE region = 'north'),
 sum(amount) FILTER (WHERE region = 'south') FROM orders GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
| SELECT * FROM (SELECT id, customer_id, status, quantity, discount, ordered, created, shipped, weight, SUM(amount) FILTER(WHERE region = 'north') AS "'north'", SUM(amount) FILTER(WHERE region = 'south') AS "'south'" FROM orders GROUP BY id, customer_id, status, quantity, discount, ordered, created, shipped, weight) AS _pivot

SELECT id, MAX_BY(status, amount) FROM orders GROUP BY id, my_udf(id)
| ERROR 0A000 at 60: the function my_udf of Snowflake can't be translated
| HINT: Write it with functions of PostgreSQL: SET antumbra.sql_dialect = 'postgres'.

SELECT * EXCLUDE (discount, ordered, created, shipped, weight) REPLACE (amount * 2 AS amount) FROM orders WHERE id < 9
-- PostgreSQL:
SELECT id, customer_id, status, amount * 2, quantity, region FROM orders WHERE id < 9
| SELECT id, customer_id, status, amount * 2 AS amount, quantity, region FROM orders WHERE id < 9

SELECT c.*, o.* EXCLUDE customer_id RENAME id AS order_id FROM customers c JOIN orders o ON o.customer_id = c.id
-- PostgreSQL:
SELECT c.*, o.id, o.status, o.amount, o.quantity, o.discount, o.ordered, o.created, o.shipped, o.region, o.weight
 FROM customers c JOIN orders o ON o.customer_id = c.id
| SELECT c.*, o.id AS order_id, o.status, o.amount, o.quantity, o.discount, o.ordered, o.created, o.shipped, o.region, o.weight FROM customers AS c JOIN orders AS o ON o.customer_id = c.id

SELECT * FROM orders QUALIFY RANK() OVER (PARTITION BY region ORDER BY amount DESC) <= 2 AND COUNT(*) OVER (PARTITION BY region) > 1
-- PostgreSQL:
SELECT id, customer_id, status, amount, quantity, discount, ordered, created, shipped, region, weight FROM
 (SELECT *, rank() OVER (PARTITION BY region ORDER BY amount DESC NULLS FIRST) r, count(*) OVER (PARTITION BY region) n FROM orders) q WHERE r <= 2 AND n > 1
| SELECT id, customer_id, status, amount, quantity, discount, ordered, created, shipped, region, weight FROM (SELECT id, customer_id, status, amount, quantity, discount, ordered, created, shipped, region, weight, RANK() OVER (PARTITION BY region ORDER BY amount DESC) AS _hidden_11, COUNT(*) OVER (PARTITION BY region) AS _hidden_12 FROM orders) AS _rows WHERE _hidden_11 <= 2 AND _hidden_12 > 1

SELECT * EXCLUDE nothing FROM orders
| ERROR 0A000 at 8: "nothing" in a change of *, which has 0 columns of this name of Snowflake can't be translated

SELECT * EXCLUDE id FROM orders JOIN customers USING (id)
| ERROR 0A000 at 8: * with EXCEPT of Snowflake can't be translated
| HINT: Name the columns: those of the relations in FROM are not known.

SELECT id, body:a.b[0]::int AS first, body:a.b[1]::int AS rounded, body:name::string AS name, body:ok::boolean AS ok, body:day::date AS day,
 body:gone::string AS gone, body:Name::varchar AS other, raw:name::string AS raw_name FROM docs
-- PostgreSQL:
SELECT id, (body->'a'->'b'->>0)::int, round((body->'a'->'b'->>1)::numeric)::int, body->>'name', (body->>'ok')::boolean, (body->>'day')::date,
 null, body->>'Name', raw::jsonb->>'name' FROM docs
| SELECT id, CAST(ROUND(CAST(JSONB_EXTRACT_PATH_TEXT(body, 'a', 'b', '0') AS DECIMAL)) AS INT) AS first, CAST(ROUND(CAST(JSONB_EXTRACT_PATH_TEXT(body, 'a', 'b', '1') AS DECIMAL)) AS INT) AS rounded, CAST(JSONB_EXTRACT_PATH_TEXT(body, 'name') AS TEXT) AS name, CAST(JSONB_EXTRACT_PATH_TEXT(body, 'ok') AS BOOLEAN) AS ok, CAST(JSONB_EXTRACT_PATH_TEXT(body, 'day') AS DATE) AS day, CAST(JSONB_EXTRACT_PATH_TEXT(body, 'gone') AS TEXT) AS gone, CAST(JSONB_EXTRACT_PATH_TEXT(body, 'Name') AS TEXT) AS other, CAST(JSONB_EXTRACT_PATH_TEXT(CAST(raw AS JSONB), 'name') AS TEXT) AS raw_name FROM docs
| WARNING: a text that is no JSON is an error here

SELECT id, body:a FROM docs
| ERROR 0A000 at 12: a path into JSON without a cast of Snowflake can't be translated
| HINT: Cast it: v:a.b::text.

SELECT id, TRY_CAST(id AS BIGINT) AS b, TRY_CAST(quantity AS SMALLINT) AS s, TRY_CAST(amount AS DOUBLE) AS d, TRY_CAST(status AS VARCHAR) AS t FROM orders
-- PostgreSQL:
SELECT id, id::bigint, quantity::smallint, amount::float8, status FROM orders
| SELECT id, CAST(id AS BIGINT) AS b, CASE WHEN quantity BETWEEN -32768 AND 32767 THEN CAST(quantity AS SMALLINT) END AS s, CAST(amount AS DOUBLE PRECISION) AS d, CAST(status AS TEXT) AS t FROM orders

SELECT * FROM (SELECT region, status, amount FROM orders) PIVOT(SUM(amount) FOR status IN ('paid', 'open')) AS p (region, paid, open)
-- PostgreSQL:
SELECT region, sum(amount) FILTER (WHERE status = 'paid'), sum(amount) FILTER (WHERE status = 'open') FROM orders GROUP BY region
| SELECT * FROM (SELECT region, SUM(amount) FILTER(WHERE status = 'paid') AS "'paid'", SUM(amount) FILTER(WHERE status = 'open') AS "'open'" FROM (SELECT region, status, amount FROM orders) AS _query_2 GROUP BY region) AS p(region, paid, open)

SELECT * FROM unknown_table PIVOT(SUM(amount) FOR status IN ('paid', 'open'))
| ERROR 0A000 at 35: PIVOT of a relation whose columns are not known of Snowflake can't be translated
| HINT: Write GROUP BY with an aggregate FILTER (WHERE ...) for each value.
