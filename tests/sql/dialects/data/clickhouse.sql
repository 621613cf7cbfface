CREATE MATERIALIZED VIEW hourly AS
SELECT toStartOfHour(ts) AS hour, countIf(kind = 'buy') AS buys, uniqExact(user_id) AS users, avg(value) AS mean FROM events GROUP BY hour
-- PostgreSQL:
SELECT date_trunc('hour', ts), count(*) filter (where kind = 'buy'), count(distinct user_id), avg(value) FROM events GROUP BY 1
| CREATE VIEW hourly AS SELECT DATE_TRUNC('hour', ts) AS hour, COUNT(*) FILTER(WHERE kind = 'buy') AS buys, COUNT(DISTINCT user_id) AS users, AVG(value) AS mean FROM events GROUP BY DATE_TRUNC('hour', ts)
| WARNING: CREATE MATERIALIZED VIEW is CREATE VIEW: over a stream it is kept up to date

SELECT toStartOfMonth(created) AS month, toYYYYMM(created) AS ym, sum(amount) AS total, sumIf(amount, status = 'paid') AS paid, round(avg(amount), 2) AS mean
FROM orders WHERE created >= toDate('2024-01-01') GROUP BY month, ym ORDER BY month
-- PostgreSQL:
SELECT date_trunc('month', created)::date, to_char(created, 'YYYYMM')::int, sum(amount), coalesce(sum(amount) filter (where status = 'paid'), 0), round(avg(amount), 2) FROM orders WHERE created >= '2024-01-01' GROUP BY 1, 2
| SELECT CAST(DATE_TRUNC('month', created) AS DATE) AS month, CAST(TO_CHAR(created, 'YYYYMM') AS INT) AS ym, SUM(amount) AS total, COALESCE(SUM(amount) FILTER(WHERE status = 'paid'), 0) AS paid, ROUND(AVG(amount), 2) AS mean FROM orders WHERE created >= CAST('2024-01-01' AS DATE) GROUP BY CAST(DATE_TRUNC('month', created) AS DATE), CAST(TO_CHAR(created, 'YYYYMM') AS INT) ORDER BY month
| WARNING: sumIf of no row is 0, as for columns that are not Nullable

SELECT user_id, argMax(kind, ts) AS last_kind, quantile(0.5)(ms) AS med, groupArray(id) AS ids, any(kind) AS k FROM events WHERE kind = 'view' GROUP BY user_id
-- PostgreSQL:
SELECT user_id, (array_agg(kind order by ts desc))[1], percentile_cont(0.5) within group (order by ms), array_agg(id), 'view' FROM events WHERE kind = 'view' GROUP BY user_id
| SELECT user_id, ARG_MAX(kind, ts) FILTER(WHERE kind IS NOT NULL) AS last_kind, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY ms) AS med, ARRAY_AGG(id) FILTER(WHERE id IS NOT NULL) AS ids, MIN(kind) AS k FROM events WHERE kind = 'view' GROUP BY user_id
| WARNING: argmax takes any of the rows that are alike in its second argument
| WARNING: quantile is computed exactly
| WARNING: ANY takes the smallest value

SELECT id, quantity / 2 AS half, intDiv(quantity, 2) AS whole, quantity % 3 AS m, if(amount > 50, 'a', 'b') AS x, ifNull(region, 'none') AS region, dateDiff('day', created, shipped) AS days,
 dateDiff('hour', created, shipped) AS hours, toDayOfWeek(ordered) AS dow, amount > 50 ? 1 : 0 AS big FROM orders
-- PostgreSQL:
SELECT id, quantity / 2.0, trunc(quantity / 2.0), quantity % 3, case when amount > 50 then 'a' else 'b' end, coalesce(region, 'none'), shipped::date - created::date,
 extract(epoch from date_trunc('hour', shipped) - date_trunc('hour', created)) / 3600, extract(isodow from ordered), case when amount > 50 then 1 else 0 end FROM orders
| SELECT id, quantity * 1.0 / 2 AS half, CAST(DIV(quantity, 2) AS BIGINT) AS whole, quantity % 3 AS m, CASE WHEN amount > 50 THEN 'a' ELSE 'b' END AS x, COALESCE(region, 'none') AS region, CAST(shipped AS DATE) - CAST(created AS DATE) AS days, CAST(EXTRACT(EPOCH FROM DATE_TRUNC('hour', shipped) - DATE_TRUNC('hour', created)) / 3600 AS BIGINT) AS hours, CAST(EXTRACT(ISODOW FROM ordered) AS INT) AS dow, CASE WHEN amount > 50 THEN 1 ELSE 0 END AS big FROM orders

SELECT user_id, kind, ts FROM events ORDER BY ts DESC, id LIMIT 1 BY user_id
-- PostgreSQL:
SELECT user_id, kind, ts FROM (SELECT *, row_number() OVER (PARTITION BY user_id ORDER BY ts DESC NULLS LAST, id) AS n FROM events) q WHERE n = 1
| SELECT user_id, kind, ts FROM (SELECT user_id, kind, ts, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY ts DESC NULLS LAST, id) AS _hidden_3, id AS _hidden_4 FROM events) AS _rows WHERE _hidden_3 <= 1 ORDER BY ts DESC NULLS LAST, _hidden_4

SELECT length(name) AS bytes, lengthUTF8(name) AS chars, position(email, '@') AS at_sign, startsWith(email, 'a') AS s, concat(name, '-', country) AS c, lower(name) AS l, empty(name) AS e, match(email, '^[a-z]+@') AS m FROM customers
-- PostgreSQL:
SELECT octet_length(name), char_length(name), strpos(email, '@'), email like 'a%', name || '-' || country, lower(name), name = '', email ~ '^[a-z]+@' FROM customers
| SELECT OCTET_LENGTH(name) AS bytes, LENGTH(name) AS chars, STRPOS(email, '@') AS at_sign, STARTS_WITH(email, 'a') AS s, name || '-' || country AS c, LOWER(name) AS l, name = '' AS e, email ~ '^[a-z]+@' AS m FROM customers

SELECT toStartOfFiveMinutes(ts) AS bin, toStartOfInterval(ts, INTERVAL 15 MINUTE) AS quarter, toMonday(ts) AS monday, toStartOfWeek(ts) AS sunday, count() AS n FROM events GROUP BY bin, quarter, monday, sunday
-- PostgreSQL:
SELECT date_bin('5 minutes', ts, '2001-01-01'), date_bin('15 minutes', ts, '2001-01-01'), date_trunc('week', ts)::date, (date_trunc('week', ts + interval '1 day') - interval '1 day')::date, count(*) FROM events GROUP BY 1, 2, 3, 4
| SELECT DATE_BIN(INTERVAL '5 MINUTES', ts, '1970-01-01') AS bin, DATE_BIN(INTERVAL '15 minute', ts, '1970-01-01') AS quarter, CAST(DATE_TRUNC('week', ts) AS DATE) AS monday, CAST(DATE_TRUNC('week', ts + INTERVAL '1 DAY') - INTERVAL '1 DAY' AS DATE) AS sunday, COUNT(*) AS n FROM events GROUP BY DATE_BIN(INTERVAL '5 MINUTES', ts, '1970-01-01'), DATE_BIN(INTERVAL '15 minute', ts, '1970-01-01'), CAST(DATE_TRUNC('week', ts) AS DATE), CAST(DATE_TRUNC('week', ts + INTERVAL '1 DAY') - INTERVAL '1 DAY' AS DATE)

SELECT * FROM orders FINAL
| ERROR 0A000 at 15: FINAL of ClickHouse can't be translated

SELECT arrayMap(x -> x + 1, [1, 2])
| ERROR 0A000 at 8: the function arraymap of ClickHouse can't be translated
| HINT: Write it with functions of PostgreSQL: SET antumbra.sql_dialect = 'postgres'.

SELECT o.id, c.name FROM orders o ANY LEFT JOIN customers c ON o.customer_id = c.id
| ERROR 0A000 at 49: ANY JOIN of ClickHouse can't be translated

SELECT toUInt64OrZero(phone) FROM customers
| ERROR 0A000 at 8: the function touint64orzero of ClickHouse can't be translated
| HINT: Write it with functions of PostgreSQL: SET antumbra.sql_dialect = 'postgres'.

SELECT name FROM customers ORDER BY name WITH FILL
| ERROR 0A000 at 37: WITH FILL of ClickHouse can't be translated

SELECT user_id, argMin(url, ms) AS u FROM events GROUP BY user_id
-- PostgreSQL:
SELECT user_id, (array_agg(url ORDER BY ms) FILTER (WHERE ms IS NOT NULL AND url IS NOT NULL))[1] FROM events GROUP BY user_id
| SELECT user_id, ARG_MIN(url, ms) FILTER(WHERE url IS NOT NULL) AS u FROM events GROUP BY user_id
| WARNING: argmin takes any of the rows that are alike in its second argument
