CREATE VIEW dbo.OrderSummary AS
SELECT o.customer_id AS CustomerId, ISNULL(SUM(o.amount), 0) AS Total, COUNT_BIG(*) AS N, MAX(o.created) AS [Last Order]
FROM dbo.orders AS o WITH (NOLOCK) GROUP BY o.customer_id
-- PostgreSQL:
SELECT customer_id, coalesce(sum(amount), 0), count(*), max(created) FROM orders GROUP BY customer_id
| CREATE VIEW OrderSummary AS SELECT o.customer_id AS CustomerId, COALESCE(SUM(o.amount), 0) AS Total, COUNT(*) AS N, MAX(o.created) AS "Last Order" FROM orders AS o GROUP BY o.customer_id
| WARNING: hints for a table are left out
| WARNING: the schema dbo is left out

SELECT TOP 3 [id], quantity / 2 AS half, quantity % 3 AS m, IIF(amount > 50, 'big', 'small') AS size, ISNULL(region, 'none') AS region FROM orders ORDER BY amount DESC
-- PostgreSQL:
SELECT id, quantity / 2, quantity % 3, case when amount > 50 then 'big' else 'small' end, coalesce(region, 'none') FROM orders ORDER BY amount DESC NULLS LAST LIMIT 3
| SELECT "id", quantity / 2 AS half, quantity % 3 AS m, CASE WHEN amount > 50 THEN 'big' ELSE 'small' END AS size, COALESCE(region, 'none') AS region FROM orders ORDER BY amount DESC NULLS LAST LIMIT 3

SELECT id, DATEDIFF(day, created, shipped) AS days, DATEDIFF(hour, created, shipped) AS hours, DATEDIFF(month, created, shipped) AS months, DATEDIFF(week, created, shipped) AS weeks, DATEADD(month, 1, ordered) AS later,
 DATEADD(day, -1, created) AS yesterday, DATEPART(year, ordered) AS y, DATEPART(weekday, ordered) AS wd, EOMONTH(ordered) AS ends, DATENAME(month, ordered) AS name FROM orders
-- PostgreSQL:
SELECT id, shipped::date - created::date, extract(epoch from date_trunc('hour', shipped) - date_trunc('hour', created)) / 3600,
 (extract(year from shipped) - extract(year from created)) * 12 + extract(month from shipped) - extract(month from created),
 (date_trunc('week', shipped + interval '1 day')::date - date_trunc('week', created + interval '1 day')::date) / 7, (ordered + interval '1 month')::date,
 created - interval '1 day', extract(year from ordered), extract(dow from ordered) + 1, (date_trunc('month', ordered) + interval '1 month -1 day')::date, trim(to_char(ordered, 'Month')) FROM orders
| SELECT id, CAST(shipped AS DATE) - CAST(created AS DATE) AS days, CAST(EXTRACT(EPOCH FROM DATE_TRUNC('hour', shipped) - DATE_TRUNC('hour', created)) / 3600 AS BIGINT) AS hours, CAST((EXTRACT(YEAR FROM shipped) - EXTRACT(YEAR FROM created)) * 12 + (EXTRACT(MONTH FROM shipped) - EXTRACT(MONTH FROM created)) AS INT) AS months, (CAST(DATE_TRUNC('week', shipped + INTERVAL '1 DAY') AS DATE) - CAST(DATE_TRUNC('week', created + INTERVAL '1 DAY') AS DATE)) / 7 AS weeks, CAST(ordered + INTERVAL '1 month' AS DATE) AS later, created - INTERVAL '1 day' AS yesterday, CAST(EXTRACT(YEAR FROM ordered) AS INT) AS y, CAST(EXTRACT(DOW FROM ordered) + 1 AS INT) AS wd, CAST(DATE_TRUNC('month', ordered) + INTERVAL '1 MONTH' - INTERVAL '1 DAY' AS DATE) AS ends, TO_CHAR(ordered, 'FMMonth') AS name FROM orders

SELECT name + ' <' + email + '>' AS label, LEN(name) AS n, CHARINDEX('@', email) AS at_sign, SUBSTRING(name, 1, 3) AS s, CONCAT(name, '-', phone) AS c, CONVERT(VARCHAR(7), signup, 120) AS ym, LEFT(name, 1) AS initial,
 CAST(id AS VARCHAR(10)) + name AS k, REPLICATE('0', 2) + CAST(id AS VARCHAR) AS padded FROM customers
-- PostgreSQL:
SELECT name || ' <' || email || '>', length(rtrim(name)), strpos(email, '@'), left(name, 3), concat(name, '-', phone), to_char(signup, 'YYYY-MM'), left(name, 1), id::text || name, '00' || id FROM customers
| SELECT ((name || ' <') || email) || '>' AS label, LENGTH(RTRIM(name, ' ')) AS n, STRPOS(email, '@') AS at_sign, SUBSTR(name, 1, 3) AS s, CONCAT(name, '-', phone) AS c, CAST(TO_CHAR(signup, 'YYYY-MM-DD HH24:MI:SS') AS VARCHAR(7)) AS ym, LEFT(name, 1) AS initial, CAST(id AS VARCHAR(10)) || name AS k, REPEAT('0', 2) || CAST(id AS VARCHAR(30)) AS padded FROM customers
| WARNING: CHARINDEX compares exactly here; the default collation of T-SQL is case-insensitive

SELECT c.name, q.amount FROM customers c CROSS APPLY (SELECT TOP 1 o.amount FROM orders o WHERE o.customer_id = c.id ORDER BY o.created DESC, o.id) q
-- PostgreSQL:
SELECT c.name, q.amount FROM customers c, LATERAL (SELECT o.amount FROM orders o WHERE o.customer_id = c.id ORDER BY o.created DESC NULLS LAST, o.id LIMIT 1) q
| SELECT c.name, q.amount FROM customers AS c CROSS JOIN LATERAL (SELECT o.amount FROM orders AS o WHERE o.customer_id = c.id ORDER BY o.created DESC NULLS LAST, o.id NULLS FIRST LIMIT 1) AS q

SELECT c.name, q.n FROM customers c OUTER APPLY (SELECT MAX(o.id) AS n FROM orders o WHERE o.customer_id = c.id HAVING COUNT(*) > 0) q
-- PostgreSQL:
SELECT c.name, (SELECT max(o.id) FROM orders o WHERE o.customer_id = c.id) FROM customers c
| SELECT c.name, q.n FROM customers AS c LEFT JOIN LATERAL (SELECT MAX(o.id) AS n FROM orders AS o WHERE o.customer_id = c.id HAVING COUNT(*) > 0) AS q ON TRUE

SELECT dept, AVG(salary) AS mean, AVG(salary * 1.0) AS exact, STDEV(salary) AS sd, STRING_AGG(name, ',') WITHIN GROUP (ORDER BY name) AS names FROM employees GROUP BY dept
-- PostgreSQL:
SELECT dept, trunc(avg(salary)), avg(salary), stddev_samp(salary), string_agg(name, ',' order by name) FROM employees GROUP BY dept
| SELECT dept, CAST(TRUNC(AVG(salary)) AS BIGINT) AS mean, AVG(salary * 1.0) AS exact, STDDEV_SAMP(salary) AS sd, STRING_AGG(name, ',' ORDER BY name NULLS FIRST) AS names FROM employees GROUP BY dept

WITH totals AS (SELECT customer_id, SUM(amount) AS total FROM orders GROUP BY customer_id)
SELECT t.customer_id, t.total, SUM(t.total) OVER (ORDER BY t.customer_id ROWS UNBOUNDED PRECEDING) AS running FROM totals t WHERE t.total IS NOT NULL
-- PostgreSQL:
SELECT customer_id, sum(amount), sum(sum(amount)) OVER (ORDER BY customer_id NULLS FIRST ROWS UNBOUNDED PRECEDING) FROM orders GROUP BY customer_id HAVING sum(amount) IS NOT NULL
| WITH totals AS (SELECT customer_id, SUM(amount) AS total FROM orders GROUP BY customer_id) SELECT t.customer_id, t.total, SUM(t.total) OVER (ORDER BY t.customer_id NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS running FROM totals AS t WHERE NOT t.total IS NULL

SELECT id, CAST(weight AS INT) AS w, ROUND(amount, 1) AS r, ROUND(amount, 1, 1) AS t FROM orders
-- PostgreSQL:
SELECT id, trunc(weight)::int, round(amount, 1), trunc(amount, 1) FROM orders
| SELECT id, CAST(TRUNC(CAST(weight AS DECIMAL)) AS INT) AS w, ROUND(amount, 1) AS r, TRUNC(CAST(amount AS DECIMAL), 1) AS t FROM orders

SELECT TRY_CAST(phone AS int) FROM customers
| ERROR 0A000 at 17: TRY_CAST of T-SQL can't be translated
| DETAIL: It is NULL for what can't be cast, where CAST is an error.
| HINT: Cast what a CASE has found to be castable.

SELECT TOP 10 PERCENT * FROM orders ORDER BY amount
| ERROR 0A000 at 23: TOP with PERCENT or WITH TIES of T-SQL can't be translated

SELECT name FROM customers WHERE name LIKE '[a-c]%'
| ERROR 0A000 at 44: LIKE with [ ] in its pattern of T-SQL can't be translated

SELECT @total = SUM(amount) FROM orders
| ERROR 0A000: a variable of T-SQL can't be translated

SELECT * FROM (SELECT customer_id, status, amount FROM orders) AS o PIVOT (MAX(amount) FOR status IN ([paid], [open])) AS p
-- PostgreSQL:
SELECT customer_id, max(amount) FILTER (WHERE status = 'paid'), max(amount) FILTER (WHERE status = 'open') FROM orders GROUP BY customer_id
| SELECT * FROM (SELECT customer_id, MAX(amount) FILTER(WHERE status = 'paid') AS paid, MAX(amount) FILTER(WHERE status = 'open') AS open FROM (SELECT customer_id, status, amount FROM orders) AS o GROUP BY customer_id) AS p
| WARNING: texts are compared exactly here; the default collation of T-SQL is case-insensitive and leaves trailing blanks out

SELECT id, JSON_VALUE(raw, '$.a.b') AS b, TRY_CAST(id AS bigint) AS big FROM docs
-- PostgreSQL:
SELECT id, raw::jsonb->'a'->>'b', id::bigint FROM docs
| SELECT id, CASE WHEN JSONB_TYPEOF(JSONB_EXTRACT_PATH(CAST(raw AS JSONB), 'a', 'b')) IN ('object', 'array') THEN NULL ELSE JSONB_EXTRACT_PATH_TEXT(CAST(raw AS JSONB), 'a', 'b') END AS b, CAST(id AS BIGINT) AS big FROM docs
| WARNING: a text that is no JSON is an error here
