CREATE VIEW order_report AS
SELECT `customer_id`, DATE_FORMAT(created, '%Y-%m') AS ym, IFNULL(SUM(amount), 0) AS total, SUM(status = 'paid') AS paid
FROM `orders` GROUP BY customer_id, ym HAVING total > 0
-- PostgreSQL:
SELECT customer_id, to_char(created, 'YYYY-MM'), coalesce(sum(amount), 0), sum((status = 'paid')::int) FROM orders GROUP BY 1, 2 HAVING coalesce(sum(amount), 0) > 0
| CREATE VIEW order_report AS SELECT "customer_id", TO_CHAR(created, 'YYYY-MM') AS ym, COALESCE(SUM(amount), 0) AS total, SUM(CAST(status = 'paid' AS INT)) AS paid FROM "orders" GROUP BY customer_id, ym HAVING COALESCE(SUM(amount), 0) > 0
| WARNING: "total" in HAVING is taken for the output column of this name
| WARNING: texts are compared exactly here; the default collation of MySQL is case-insensitive and leaves trailing blanks out

SELECT id, amount / quantity AS unit, quantity DIV 2 AS whole, quantity % 3 AS rest, IF(amount > 50, "big", "small") AS size, quantity / 2 AS half
FROM orders ORDER BY id LIMIT 2, 5
-- PostgreSQL:
SELECT id, amount / nullif(quantity, 0), trunc(quantity / 2.0), quantity % 3, case when amount > 50 then 'big' else 'small' end, quantity / 2.0 FROM orders ORDER BY id LIMIT 5 OFFSET 2
| SELECT id, amount / NULLIF(quantity, 0) AS unit, CAST(DIV(quantity, NULLIF(2, 0)) AS BIGINT) AS whole, quantity % 3 AS rest, CASE WHEN amount > 50 THEN 'big' ELSE 'small' END AS size, quantity * 1.0 / 2 AS half FROM orders ORDER BY id NULLS FIRST LIMIT 5 OFFSET 2

SELECT id, DATEDIFF(shipped, created) AS days, TIMESTAMPDIFF(HOUR, created, shipped) AS hours, TIMESTAMPDIFF(MONTH, created, shipped) AS months,
 DATE_ADD(ordered, INTERVAL 1 MONTH) AS later, DATE_SUB(created, INTERVAL 90 MINUTE) AS before, created + INTERVAL 1 DAY AS tomorrow
FROM orders
-- PostgreSQL:
SELECT id, shipped::date - created::date, trunc(extract(epoch from shipped - created) / 3600),
 extract(year from age(shipped, created)) * 12 + extract(month from age(shipped, created)), (ordered + interval '1 month')::date, created - interval '90 minutes', created + interval '1 day' FROM orders
| SELECT id, CAST(shipped AS DATE) - CAST(created AS DATE) AS days, CAST(TRUNC(EXTRACT(EPOCH FROM shipped - created) / 3600) AS BIGINT) AS hours, CAST(TRUNC((CASE WHEN shipped >= created THEN EXTRACT(YEAR FROM AGE(shipped, created)) * 12 + EXTRACT(MONTH FROM AGE(shipped, created)) ELSE -(EXTRACT(YEAR FROM AGE(created, shipped)) * 12 + EXTRACT(MONTH FROM AGE(created, shipped))) END) / 1) AS BIGINT) AS months, CAST(ordered + INTERVAL '1 month' AS DATE) AS later, created - INTERVAL '90 minute' AS before, created + INTERVAL '1 day' AS tomorrow FROM orders

SELECT country, GROUP_CONCAT(DISTINCT tier ORDER BY tier SEPARATOR '; ') AS tiers, COUNT(DISTINCT tier) AS n FROM customers GROUP BY country
-- PostgreSQL:
SELECT country, string_agg(distinct tier, '; ' order by tier), count(distinct tier) FROM customers GROUP BY country
| SELECT country, STRING_AGG(DISTINCT tier, '; ' ORDER BY tier NULLS FIRST) AS tiers, COUNT(DISTINCT tier) AS n FROM customers GROUP BY country

SELECT CONCAT(name, ' (', country, ')') AS label, CONCAT_WS('-', name, country) AS ws, CHAR_LENGTH(name) AS chars, LENGTH(name) AS bytes, SUBSTRING_INDEX(email, '@', 1) AS local,
 SUBSTRING_INDEX(email, '@', -1) AS domain, LEFT(name, 2) AS l, LPAD(id, 4, '0') AS padded, COALESCE(phone, 'none') AS p
FROM customers
-- PostgreSQL:
SELECT name || ' (' || country || ')', concat_ws('-', name, country), char_length(name), octet_length(name), split_part(email, '@', 1), split_part(email, '@', -1), left(name, 2),
 lpad(id::text, 4, '0'), coalesce(phone, 'none') FROM customers
| SELECT name || ' (' || country || ')' AS label, CONCAT_WS('-', name, country) AS ws, CHAR_LENGTH(name) AS chars, OCTET_LENGTH(name) AS bytes, SPLIT_PART(email, '@', 1) AS local, SPLIT_PART(email, '@', -1) AS domain, LEFT(name, 2) AS l, LPAD(CAST(id AS TEXT), CAST(4 AS INT), '0') AS padded, COALESCE(phone, 'none') AS p FROM customers

SELECT region, status, SUM(quantity) AS q FROM orders GROUP BY region, status WITH ROLLUP
-- PostgreSQL:
SELECT region, status, sum(quantity) FROM orders GROUP BY ROLLUP (region, status)
| SELECT region, status, SUM(quantity) AS q FROM orders GROUP BY ROLLUP (region, status)

SELECT c.name, COUNT(o.id) AS n, ROUND(AVG(o.amount), 2) AS mean FROM customers c LEFT JOIN orders o ON o.customer_id = c.id AND NOT o.status <=> 'void'
GROUP BY c.id, c.name ORDER BY n DESC, c.name
-- PostgreSQL:
SELECT c.name, count(o.id), round(avg(o.amount), 2) FROM customers c LEFT JOIN orders o ON o.customer_id = c.id AND o.status IS DISTINCT FROM 'void' GROUP BY c.id, c.name
| SELECT c.name, COUNT(o.id) AS n, ROUND(AVG(o.amount), 2) AS mean FROM customers AS c LEFT JOIN orders AS o ON o.customer_id = c.id AND NOT o.status IS NOT DISTINCT FROM 'void' GROUP BY c.id, c.name ORDER BY n DESC NULLS LAST, c.name NULLS FIRST

SELECT DAYOFWEEK(ordered) AS d, WEEKDAY(ordered) AS w, YEAR(ordered) AS y, MONTH(ordered) AS m, DAYNAME(ordered) AS name, LAST_DAY(ordered) AS ends, HOUR(created) AS h, DATE(created) AS day
FROM orders WHERE created BETWEEN '2024-01-01' AND '2024-12-31'
-- PostgreSQL:
SELECT extract(dow from ordered) + 1, extract(isodow from ordered) - 1, extract(year from ordered), extract(month from ordered), trim(to_char(ordered, 'Day')),
 (date_trunc('month', ordered) + interval '1 month -1 day')::date, extract(hour from created), created::date FROM orders WHERE created BETWEEN '2024-01-01' AND '2024-12-31'
| SELECT CAST(EXTRACT(DOW FROM ordered) + 1 AS INT) AS d, CAST(EXTRACT(ISODOW FROM ordered) - 1 AS INT) AS w, CAST(EXTRACT(YEAR FROM ordered) AS INT) AS y, CAST(EXTRACT(MONTH FROM ordered) AS INT) AS m, TO_CHAR(ordered, 'FMDay') AS name, CAST(DATE_TRUNC('month', ordered) + INTERVAL '1 MONTH' - INTERVAL '1 DAY' AS DATE) AS ends, CAST(EXTRACT(HOUR FROM created) AS INT) AS h, CAST(created AS DATE) AS day FROM orders WHERE created BETWEEN '2024-01-01' AND '2024-12-31'

SELECT name FROM customers WHERE name LIKE 'b%' AND email REGEXP '@example'
-- PostgreSQL:
SELECT name FROM customers WHERE name ILIKE 'b%' AND email ~* '@example'
| SELECT name FROM customers WHERE name ILIKE 'b%' AND (email ~* '@example')
| WARNING: LIKE is ILIKE, since the default collation of MySQL is case-insensitive
| WARNING: REGEXP is case-insensitive, as MySQL's default collation is

SELECT name || email FROM customers
| ERROR 0A000 at 13: || of MySQL is OR, and can't be translated
| HINT: Write CONCAT(a, b), or a OR b.

SELECT YEARWEEK(ordered), COUNT(*) FROM orders GROUP BY 1
| ERROR 0A000 at 8: the function yearweek of MySQL can't be translated
| DETAIL: It is refused because its weeks begin on Sunday.

SELECT name FROM customers WHERE id = ? AND STRCMP(name, 'a') = 0
| ERROR 0A000 at 45: the function strcmp of MySQL can't be translated
| DETAIL: It is refused because it compares as the collation does.
