CREATE OR REPLACE FORCE VIEW order_totals AS
SELECT TRUNC(created, 'MM') AS month, NVL(region, 'none') AS region, SUM(amount) AS total, COUNT(*) AS n FROM orders GROUP BY TRUNC(created, 'MM'), NVL(region, 'none')
-- PostgreSQL:
SELECT date_trunc('month', created), coalesce(region, 'none'), sum(amount), count(*) FROM orders GROUP BY 1, 2
| CREATE OR REPLACE VIEW order_totals AS SELECT DATE_TRUNC('month', created) AS month, COALESCE(region, 'none') AS region, SUM(amount) AS total, COUNT(*) AS n FROM orders GROUP BY DATE_TRUNC('month', created), COALESCE(region, 'none')
| WARNING: FORCE is left out

SELECT id, DECODE(status, 'paid', 1, 'open', 2, NULL, 0, 9) AS code, NVL2(shipped, 'yes', 'no') AS is_shipped, quantity / 2 AS half, MOD(quantity, 3) AS m, MOD(quantity, 0) AS same, GREATEST(amount, discount) AS g FROM orders
-- PostgreSQL:
SELECT id, case when status = 'paid' then 1 when status = 'open' then 2 when status is null then 0 else 9 end, case when shipped is null then 'no' else 'yes' end, quantity / 2.0, mod(quantity, 3), quantity,
 case when amount is not null and discount is not null then greatest(amount, discount) end FROM orders
| SELECT id, CASE WHEN status = 'paid' THEN 1 WHEN status = 'open' THEN 2 WHEN status IS NULL THEN 0 ELSE 9 END AS code, CASE WHEN shipped IS NOT NULL THEN 'yes' ELSE 'no' END AS is_shipped, quantity * 1.0 / 2 AS half, CASE WHEN 3 = 0 THEN quantity ELSE quantity % NULLIF(3, 0) END AS m, CASE WHEN 0 = 0 THEN quantity ELSE quantity % NULLIF(0, 0) END AS same, CASE WHEN amount IS NULL OR discount IS NULL THEN NULL ELSE GREATEST(amount, discount) END AS g FROM orders

SELECT name || ' ' || phone AS label, SUBSTR(name, 1, 3) AS s, SUBSTR(email, -4) AS tail, INSTR(email, '@') AS at_sign, LENGTH(TRIM(phone)) AS n, INITCAP(name) AS i, LPAD(id, 3, '0') AS p, REPLACE(name, 'b', 'd') AS r FROM customers WHERE name IS NOT NULL
-- PostgreSQL:
SELECT nullif(coalesce(name, '') || ' ' || coalesce(phone, ''), ''), nullif(left(name, 3), ''), case when length(email) >= 4 then right(email, 4) end, strpos(email, '@'), length(nullif(trim(phone), '')),
 initcap(name), lpad(id::text, 3, '0'), nullif(replace(name, 'b', 'd'), '') FROM customers WHERE name IS NOT NULL
| SELECT NULLIF(CONCAT(NULLIF(CONCAT(name, ' '), ''), phone), '') AS label, NULLIF(SUBSTR(name, 1, 3), '') AS s, CASE WHEN LENGTH(email) >= 4 THEN RIGHT(email, 4) WHEN email IS NOT NULL THEN NULL END AS tail, STRPOS(email, '@') AS at_sign, LENGTH(NULLIF(BTRIM(phone), '')) AS n, INITCAP(name) AS i, LPAD(CAST(id AS TEXT), CAST(3 AS INT), '0') AS p, NULLIF(REPLACE(name, 'b', 'd'), '') AS r FROM customers WHERE NOT name IS NULL

SELECT * FROM (SELECT name, salary FROM employees ORDER BY salary DESC) WHERE ROWNUM <= 3
-- PostgreSQL:
SELECT name, salary FROM employees ORDER BY salary DESC LIMIT 3
| SELECT * FROM (SELECT name, salary FROM employees ORDER BY salary DESC) AS _query_1 LIMIT 3

SELECT dept, LISTAGG(name, ', ') WITHIN GROUP (ORDER BY name) AS names, MEDIAN(salary) AS med, RANK() OVER (ORDER BY SUM(salary) DESC) AS r FROM employees GROUP BY dept
-- PostgreSQL:
SELECT dept, string_agg(name, ', ' order by name), percentile_cont(0.5) within group (order by salary), rank() over (order by sum(salary) desc) FROM employees GROUP BY dept
| SELECT dept, STRING_AGG(name, ', ' ORDER BY name) AS names, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY salary) AS med, RANK() OVER (ORDER BY SUM(salary) DESC) AS r FROM employees GROUP BY dept

SELECT id, ADD_MONTHS(created, 1) AS later, LAST_DAY(created) AS ends, TO_CHAR(created, 'YYYY-MM-DD HH24:MI:SS') AS txt, EXTRACT(YEAR FROM created) AS y, created + 1 AS tomorrow, shipped - created AS days FROM orders
-- PostgreSQL:
SELECT id, case when extract(day from created + interval '1 day') = 1 then date_trunc('month', created) + interval '2 months -1 day' + (created - date_trunc('day', created)) else created + interval '1 month' end,
 date_trunc('month', created) + interval '1 month -1 day' + (created - date_trunc('day', created)), to_char(created, 'YYYY-MM-DD HH24:MI:SS'), extract(year from created), created + interval '1 day',
 extract(epoch from shipped - created) / 86400 FROM orders
| SELECT id, CASE WHEN EXTRACT(DAY FROM CAST(created AS TIMESTAMP) + INTERVAL '1 DAY') = 1 THEN DATE_TRUNC('month', created + INTERVAL '1 month') + INTERVAL '1 MONTH' - INTERVAL '1 DAY' + (CAST(created AS TIMESTAMP) - DATE_TRUNC('day', CAST(created AS TIMESTAMP))) ELSE created + INTERVAL '1 month' END AS later, DATE_TRUNC('month', created) + INTERVAL '1 MONTH' - INTERVAL '1 DAY' + (created - DATE_TRUNC('day', created)) AS ends, TO_CHAR(created, 'YYYY-MM-DD HH24:MI:SS') AS txt, CAST(EXTRACT(YEAR FROM created) AS INT) AS y, created + INTERVAL '1 day' AS tomorrow, EXTRACT(EPOCH FROM shipped - created) / 86400 AS days FROM orders

SELECT 1 AS one FROM dual
-- PostgreSQL:
SELECT 1
| SELECT 1 AS one

SELECT id FROM orders WHERE created >= TO_DATE('2024-02-01', 'YYYY-MM-DD') AND created < DATE '2024-04-01' ORDER BY amount DESC FETCH FIRST 2 ROWS ONLY
-- PostgreSQL:
SELECT id FROM orders WHERE created >= '2024-02-01' AND created < '2024-04-01' ORDER BY amount DESC LIMIT 2
| SELECT id FROM orders WHERE created >= CAST(TO_TIMESTAMP('2024-02-01', 'YYYY-MM-DD') AS TIMESTAMP) AND created < CAST('2024-04-01' AS DATE) ORDER BY amount DESC LIMIT 2

SELECT o.id, c.name FROM orders o, customers c WHERE o.customer_id = c.id(+)
| ERROR 0A000 at 72: the outer join sign (+) of Oracle can't be translated

SELECT id FROM customers WHERE name = ''
| ERROR 0A000 at 39: the empty text '' of Oracle can't be translated
| DETAIL: It is NULL there.
| HINT: Write NULL, or IS NULL.

SELECT id, LEVEL FROM employees CONNECT BY PRIOR id = manager_id
| ERROR 0A000 at 8: CONNECT BY of Oracle can't be translated

SELECT MONTHS_BETWEEN(shipped, created) FROM orders
| ERROR 0A000 at 8: the function months_between of Oracle can't be translated
| DETAIL: It is refused because it counts the days of a month as 31.

SELECT id, JSON_VALUE(body, '$.name') AS name FROM docs
-- PostgreSQL:
SELECT id, nullif(body->>'name', '') FROM docs
| SELECT id, NULLIF(CASE WHEN JSONB_TYPEOF(JSONB_EXTRACT_PATH(body, 'name')) IN ('object', 'array') THEN NULL ELSE JSONB_EXTRACT_PATH_TEXT(body, 'name') END, '') AS name FROM docs

SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (SUM(amount) FOR status IN ('paid' AS paid, 'open' AS open))
-- PostgreSQL:
SELECT customer_id, sum(amount) FILTER (WHERE status = 'paid'), sum(amount) FILTER (WHERE status = 'open') FROM orders GROUP BY customer_id
| SELECT * FROM (SELECT customer_id, SUM(amount) FILTER(WHERE status = 'paid') AS paid, SUM(amount) FILTER(WHERE status = 'open') AS open FROM (SELECT customer_id, status, amount FROM orders) AS _query_2 GROUP BY customer_id) AS _pivot
