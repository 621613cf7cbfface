-- version
SELECT current_setting('server_version_num')::int/100 as version

-- time scale
SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'

-- databases
SELECT datname FROM pg_database WHERE datistemplate = false AND datname = current_database()

-- tables
SELECT quote_ident(table_name) AS "table" FROM information_schema.tables
WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog', '_timescaledb_cache', '_timescaledb_config')
  AND table_type = 'BASE TABLE' AND quote_ident(table_schema) IN (
    SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
    FROM generate_series(array_lower(string_to_array(current_setting('search_path'), ','), 1),
      array_upper(string_to_array(current_setting('search_path'), ','), 1)) AS i,
      string_to_array(current_setting('search_path'), ',') s)

-- tables and views of any schema
SELECT CASE WHEN quote_ident(table_schema) IN (
    SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
    FROM generate_series(array_lower(string_to_array(current_setting('search_path'), ','), 1),
      array_upper(string_to_array(current_setting('search_path'), ','), 1)) AS i,
      string_to_array(current_setting('search_path'), ',') s)
  THEN quote_ident(table_name) ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table"
FROM information_schema.tables
WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog') ORDER BY 1

-- columns
SELECT quote_ident(column_name) AS "column", data_type AS "type" FROM information_schema.columns WHERE quote_ident(table_name) = 'trips'

-- columns by kind
SELECT quote_ident(column_name) FROM information_schema.columns
WHERE CASE WHEN array_length(parse_ident('public.trips'), 1) = 2
  THEN quote_ident(table_schema) = (parse_ident('public.trips'))[1] AND quote_ident(table_name) = (parse_ident('public.trips'))[2]
  ELSE quote_ident(table_name) = 'public.trips' AND quote_ident(table_schema) = 'public' END
  AND data_type IN ('timestamp without time zone', 'timestamp with time zone', 'bigint', 'integer', 'double precision', 'real')
ORDER BY 1

-- type of a column
SELECT udt_name FROM information_schema.columns
WHERE quote_ident(table_name) = 'trips' AND quote_ident(column_name) = 'at'

-- a table with a column for time
SELECT quote_ident(table_name) AS table_name,
  (SELECT quote_ident(column_name) AS column_name FROM information_schema.columns c
   WHERE c.table_schema = t.table_schema AND c.table_name = t.table_name
     AND udt_name IN ('timestamptz', 'timestamp') ORDER BY ordinal_position LIMIT 1) AS time_column,
  (SELECT quote_ident(column_name) AS column_name FROM information_schema.columns c
   WHERE c.table_schema = t.table_schema AND c.table_name = t.table_name
     AND udt_name = 'float8' ORDER BY ordinal_position LIMIT 1) AS value_column
FROM information_schema.tables t
WHERE table_schema = 'public' AND EXISTS (
    SELECT 1 FROM information_schema.columns c
    WHERE c.table_schema = t.table_schema AND c.table_name = t.table_name AND udt_name IN ('timestamptz', 'timestamp'))
  AND EXISTS (
    SELECT 1 FROM information_schema.columns c
    WHERE c.table_schema = t.table_schema AND c.table_name = t.table_name AND udt_name = 'float8')
LIMIT 1

-- a panel with a time filter
SELECT floor(extract(epoch from at)/60)*60 AS "time", avg(mark) AS "mark" FROM line
WHERE at BETWEEN '2026-05-01T10:00:00Z' AND '2026-05-01T16:00:00Z' GROUP BY 1 ORDER BY 1

-- a panel with alias and group
SELECT extract(epoch from at)::numeric::int8/300*300 AS "time", code AS metric, count(*) AS value FROM line
WHERE extract(epoch from at) >= 1777629600 AND extract(epoch from at) <= 1777651200 GROUP BY 1, 2 ORDER BY 1, 2

-- a panel with date_bin
SELECT date_bin('60.000s', at, timestamptz '2000-01-01 00:00:00+00') AS "time", max(mark) AS "mark" FROM line
WHERE at >= '2026-05-01T10:00:00Z' AND at <= '2026-05-01T16:00:00Z' GROUP BY 1 ORDER BY 1

-- a variable
SELECT DISTINCT name AS __text, id AS __value FROM city ORDER BY 1
