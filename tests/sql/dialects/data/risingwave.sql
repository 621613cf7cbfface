CREATE MATERIALIZED VIEW per_window AS
SELECT window_start, window_end, kind, count(*) AS n FROM TUMBLE(events, ts, INTERVAL '5 MINUTES') GROUP BY window_start, window_end, kind
-- PostgreSQL:
SELECT date_bin('5 minutes', ts, '2001-01-01'), date_bin('5 minutes', ts, '2001-01-01') + interval '5 minutes', kind, count(*) FROM events GROUP BY 1, 2, 3
| CREATE VIEW per_window AS SELECT window_start, window_end, kind, COUNT(*) AS n FROM (SELECT *, DATE_BIN(INTERVAL '5 minute', ts, '1970-01-01') AS window_start, DATE_BIN(INTERVAL '5 minute', ts, '1970-01-01') + INTERVAL '5 minute' AS window_end FROM events) AS events GROUP BY window_start, window_end, kind
| WARNING: CREATE MATERIALIZED VIEW is CREATE VIEW: over a stream it is kept up to date

CREATE MATERIALIZED VIEW IF NOT EXISTS x AS SELECT 1 AS one
| ERROR 0A000 at 40: IF NOT EXISTS of a view of RisingWave can't be translated

CREATE MATERIALIZED VIEW spend AS
SELECT c.country, date_trunc('month', o.created) AS month, sum(o.amount) AS total, count(*) FILTER (WHERE o.status = 'paid') AS paid, quantity_max.m
FROM orders o JOIN customers c ON c.id = o.customer_id CROSS JOIN (SELECT max(quantity) AS m FROM orders) quantity_max GROUP BY 1, 2, quantity_max.m
-- PostgreSQL:
SELECT c.country, date_trunc('month', o.created), sum(o.amount), count(*) FILTER (WHERE o.status = 'paid'), 11 FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY 1, 2
| CREATE VIEW spend AS SELECT c.country, DATE_TRUNC('month', o.created) AS month, SUM(o.amount) AS total, COUNT(*) FILTER(WHERE o.status = 'paid') AS paid, quantity_max.m FROM orders AS o JOIN customers AS c ON c.id = o.customer_id CROSS JOIN (SELECT MAX(quantity) AS m FROM orders) AS quantity_max GROUP BY 1, 2, quantity_max.m
| WARNING: CREATE MATERIALIZED VIEW is CREATE VIEW: over a stream it is kept up to date

SELECT id, quantity / 2 AS half, amount::int AS a, coalesce(region, 'none') AS region, email_like.x FROM orders, LATERAL (SELECT status LIKE 'p%' AS x) email_like
-- PostgreSQL:
SELECT id, quantity / 2, amount::int, coalesce(region, 'none'), status LIKE 'p%' FROM orders
| SELECT id, quantity / 2 AS half, CAST(amount AS INT) AS a, COALESCE(region, 'none') AS region, email_like.x FROM orders, LATERAL (SELECT status LIKE 'p%' AS x) AS email_like

SELECT * FROM (SELECT dept, name, row_number() OVER (PARTITION BY dept ORDER BY salary DESC) AS r FROM employees) q WHERE r <= 2
-- PostgreSQL:
SELECT dept, name, r FROM (SELECT dept, name, row_number() OVER (PARTITION BY dept ORDER BY salary DESC) AS r FROM employees) q WHERE r <= 2
| SELECT * FROM (SELECT dept, name, ROW_NUMBER() OVER (PARTITION BY dept ORDER BY salary DESC) AS r FROM employees) AS q WHERE r <= 2

SELECT * FROM HOP(events, events.ts + INTERVAL '1 day', INTERVAL '1 MINUTE', INTERVAL '5 MINUTES')
| ERROR 0A000 at 15: HOP of what is not a relation, a column and intervals of RisingWave can't be translated
