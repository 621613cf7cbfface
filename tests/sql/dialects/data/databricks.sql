CREATE OR REPLACE VIEW revenue COMMENT 'by month' AS
SELECT region, DATE_TRUNC('MONTH', created) AS month, SUM(amount) AS total, SUM(amount) / COUNT(*) AS mean FROM orders GROUP BY ALL
-- PostgreSQL:
SELECT region, date_trunc('month', created), sum(amount), sum(amount) / count(*) FROM orders GROUP BY 1, 2
| CREATE OR REPLACE VIEW revenue AS SELECT region, DATE_TRUNC('month', created) AS month, SUM(amount) AS total, SUM(amount) / COUNT(*) AS mean FROM orders GROUP BY region, DATE_TRUNC('month', created)
| WARNING: COMMENT 'by month' is left out

SELECT id, DATEDIFF(HOUR, created, shipped) AS hours, DATEDIFF(DAY, created, shipped) AS days, TIMESTAMPDIFF(MONTH, created, shipped) AS months, DATEADD(DAY, 3, ordered) AS later FROM orders
-- PostgreSQL:
SELECT id, trunc(extract(epoch from shipped - created) / 3600), trunc(extract(epoch from shipped - created) / 86400), extract(month from age(shipped, created)) + 12 * extract(year from age(shipped, created)), ordered + 3 FROM orders
| SELECT id, CAST(TRUNC(EXTRACT(EPOCH FROM shipped - created) / 3600) AS BIGINT) AS hours, CAST(TRUNC(EXTRACT(EPOCH FROM shipped - created) / 86400) AS BIGINT) AS days, CAST(TRUNC((CASE WHEN shipped >= created THEN EXTRACT(YEAR FROM AGE(shipped, created)) * 12 + EXTRACT(MONTH FROM AGE(shipped, created)) ELSE -(EXTRACT(YEAR FROM AGE(created, shipped)) * 12 + EXTRACT(MONTH FROM AGE(created, shipped))) END) / 1) AS BIGINT) AS months, ordered + 3 AS later FROM orders

SELECT * FROM events QUALIFY ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY ts DESC) = 1
-- PostgreSQL:
SELECT id, user_id, kind, ts, url, ms, value, flag FROM (SELECT *, row_number() OVER (PARTITION BY user_id ORDER BY ts DESC NULLS LAST) AS n FROM events) q WHERE n = 1
| SELECT DISTINCT ON (user_id) * FROM events ORDER BY user_id, ts DESC NULLS LAST

SELECT dept, name, salary FROM employees QUALIFY DENSE_RANK() OVER (PARTITION BY dept ORDER BY salary DESC) <= 2 ORDER BY dept, salary DESC
-- PostgreSQL:
SELECT dept, name, salary FROM (SELECT *, dense_rank() OVER (PARTITION BY dept ORDER BY salary DESC NULLS LAST) AS r FROM employees) q WHERE r <= 2
| SELECT dept, name, salary FROM (SELECT dept, name, salary, DENSE_RANK() OVER (PARTITION BY dept ORDER BY salary DESC NULLS LAST) AS _hidden_3 FROM employees) AS _rows WHERE _hidden_3 <= 2 ORDER BY dept NULLS FIRST, salary DESC NULLS LAST

SELECT COUNT_IF(status = 'paid') AS paid, TRY_DIVIDE(SUM(amount), SUM(quantity)) AS unit, ANY_VALUE(status) AS s FROM orders WHERE status = 'paid' GROUP BY status
-- PostgreSQL:
SELECT count(*) filter (where status = 'paid'), sum(amount) / nullif(sum(quantity), 0), status FROM orders WHERE status = 'paid' GROUP BY status
| SELECT COUNT(*) FILTER(WHERE status = 'paid') AS paid, SUM(amount) * 1.0 / NULLIF(SUM(quantity), 0) AS unit, MIN(status) AS s FROM orders WHERE status = 'paid' GROUP BY status
| WARNING: ANY_VALUE takes the smallest value

SELECT dept, SUM(salary) FILTER (WHERE hired >= DATE '2020-01-01') AS recent, MEDIAN(salary) AS med, MAX(salary) - MIN(salary) AS spread FROM employees GROUP BY dept
-- PostgreSQL:
SELECT dept, sum(salary) FILTER (WHERE hired >= '2020-01-01'), percentile_cont(0.5) within group (order by salary), max(salary) - min(salary) FROM employees GROUP BY dept
| SELECT dept, SUM(salary) FILTER(WHERE hired >= CAST('2020-01-01' AS DATE)) AS recent, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY salary) AS med, MAX(salary) - MIN(salary) AS spread FROM employees GROUP BY dept

SELECT url:a.b FROM events
| ERROR 0A000 at 8: a path into JSON without a cast of Databricks can't be translated
| HINT: Cast it: v:a.b::text.

SELECT TRY_CAST(phone AS INT) FROM customers
| ERROR 0A000 at 17: TRY_CAST of Databricks can't be translated
| DETAIL: It is NULL for what can't be cast, where CAST is an error.
| HINT: Cast what a CASE has found to be castable.

SELECT id, body:a.b[1]::int AS cut, body:name::string AS name FROM docs WHERE id < 3
-- PostgreSQL:
SELECT id, trunc((body->'a'->'b'->>1)::numeric)::int, body->>'name' FROM docs WHERE id < 3
| SELECT id, CAST(TRUNC(CAST(JSONB_EXTRACT_PATH_TEXT(body, 'a', 'b', '1') AS DECIMAL)) AS INT) AS cut, CAST(JSONB_EXTRACT_PATH_TEXT(body, 'name') AS TEXT) AS name FROM docs WHERE id < 3

SELECT * FROM (SELECT dept, salary, manager_id FROM employees) PIVOT (COUNT(salary) AS n FOR dept IN ('eng', 'ops'))
-- PostgreSQL:
SELECT manager_id, count(salary) FILTER (WHERE dept = 'eng'), count(salary) FILTER (WHERE dept = 'ops') FROM employees GROUP BY manager_id
| SELECT * FROM (SELECT manager_id, COUNT(salary) FILTER(WHERE dept = 'eng') AS eng, COUNT(salary) FILTER(WHERE dept = 'ops') AS ops FROM (SELECT dept, salary, manager_id FROM employees) AS _query_2 GROUP BY manager_id) AS _pivot
