CREATE MATERIALIZED VIEW active AS
SELECT user_id, max(ts) AS last_seen, count(*) AS n, sum(value) FILTER (WHERE kind = 'buy') AS spent FROM events WHERE url IS NOT NULL GROUP BY user_id
-- PostgreSQL:
SELECT user_id, max(ts), count(*), sum(value) FILTER (WHERE kind = 'buy') FROM events WHERE url IS NOT NULL GROUP BY user_id
| CREATE VIEW active AS SELECT user_id, MAX(ts) AS last_seen, COUNT(*) AS n, SUM(value) FILTER(WHERE kind = 'buy') AS spent FROM events WHERE NOT url IS NULL GROUP BY user_id
| WARNING: CREATE MATERIALIZED VIEW is CREATE VIEW: over a stream it is kept up to date

CREATE VIEW best AS
SELECT DISTINCT ON (customer_id) customer_id, id, amount FROM orders ORDER BY customer_id, amount DESC NULLS LAST, id
-- PostgreSQL:
SELECT DISTINCT ON (customer_id) customer_id, id, amount FROM orders ORDER BY customer_id, amount DESC NULLS LAST, id
| CREATE VIEW best AS SELECT DISTINCT ON (customer_id) customer_id, id, amount FROM orders ORDER BY customer_id, amount DESC NULLS LAST, id

SELECT c.name, o.amount FROM customers c, LATERAL (SELECT amount FROM orders WHERE customer_id = c.id ORDER BY amount DESC LIMIT 2) o
-- PostgreSQL:
SELECT c.name, o.amount FROM customers c, LATERAL (SELECT amount FROM orders WHERE customer_id = c.id ORDER BY amount DESC LIMIT 2) o
| SELECT c.name, o.amount FROM customers AS c, LATERAL (SELECT amount FROM orders WHERE customer_id = c.id ORDER BY amount DESC LIMIT 2) AS o

SELECT country, string_agg(name, ', ' ORDER BY name) AS names, count(DISTINCT tier) AS tiers FROM customers WHERE email ~ '@' GROUP BY country HAVING count(*) > 0
-- PostgreSQL:
SELECT country, string_agg(name, ', ' ORDER BY name), count(DISTINCT tier) FROM customers WHERE email ~ '@' GROUP BY country
| SELECT country, STRING_AGG(name, ', ' ORDER BY name) AS names, COUNT(DISTINCT tier) AS tiers FROM customers WHERE email ~ '@' GROUP BY country HAVING COUNT(*) > 0

SELECT extract(epoch FROM ts) AS e, ts + INTERVAL '1' HOUR AS later, date_bin('15 minutes', ts, '2001-01-01') AS bin FROM events
-- PostgreSQL:
SELECT extract(epoch FROM ts), ts + INTERVAL '1' HOUR, date_bin('15 minutes', ts, '2001-01-01') FROM events
| SELECT EXTRACT(EPOCH FROM ts) AS e, ts + INTERVAL '1 hour' AS later, DATE_BIN('15 minutes', ts, '2001-01-01') AS bin FROM events

SELECT * FROM events WHERE mz_now() <= ts
| ERROR 0A000 at 28: the function mz_now of Materialize can't be translated
| HINT: Antumbra has no function of this name.
