-- Dates beyond the last one, and escapes of json that are no text: errors, wherever they are computed.
-- Run: psql -X -q -A -t -h 127.0.0.1 -p PORT -f k13l_last_dates_and_escapes.sql antumbra
\set VERBOSITY sqlstate
\o /dev/null
SET client_min_messages = error;
DROP SCHEMA IF EXISTS k13l CASCADE;
CREATE SCHEMA k13l;
SET search_path = k13l;
CREATE TABLE t (d date, i int);
INSERT INTO t VALUES ('5874897-12-31', 1), ('4714-11-24 BC', -1), ('infinity', 5);
\o
\pset null N
SELECT '{"a":"\u0000"}'::json->>'a';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT '{"a":"\u0000","b":1}'::json->>'b';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT '{"a":"\ud800"}'::json->>'a';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT '["\u0000"]'::json->>0;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT '["\u0000"]'::json->0;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT json_array_length('["\u0000"]');
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT '5874897-12-31'::date + 0;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT 1 + '5874897-12-31'::date;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT '5874897-12-31'::date - (-1);
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT '4714-11-24 BC'::date - 1;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT '4714-11-24 BC'::date;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT 'infinity'::date + 1;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT '-infinity'::date - 1;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT '5874897-12-31'::date + interval '1 day';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT '2020-01-01'::date + 2147483647;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT '2020-01-01'::date - 2147483647;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT '5874897-12-31'::date::timestamp;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT '294277-01-01'::date::timestamp;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT d + i FROM t WHERE i > 0;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT d + i FROM t WHERE i < 0;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT i + d FROM t WHERE i > 0;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT d - i FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT d - (-i) FROM t WHERE i > 0;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT d + 5 FROM t WHERE i > 0;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT d + interval '1 day' FROM t WHERE i > 0;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT max(d) + 1 FROM t;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT * FROM json_each('{"a":"\u0000"}');
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT * FROM json_each_text('{"a":"\u0000"}');
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT * FROM json_each_text('{"a":"\ud800"}');
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT * FROM json_array_elements('["\u0000"]');
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT * FROM json_array_elements_text('["\u0000"]');
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT * FROM json_array_elements_text('["\ud800"]');
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT * FROM json_object_keys('{"\u0000":1}');
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT * FROM json_object_keys('{"\ud800":1}');
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT json_extract_path_text('{"a":"\u0000"}', 'a');
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT json_typeof('"\u0000"');
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT '{"a":"\u0000"}'::json::jsonb;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT '{"a":"\u0000"}'::json::text;
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT json_strip_nulls('{"a":"\u0000"}');
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT '{"\u0061":1}'::json->'a', '{"a":"\\u0000"}'::json->>'a', '{"a":"\\\u0041"}'::json->>'a';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT '{"a":"\ude00"}'::json->>'a';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT '{"a":"\ud83d\ud83d"}'::json->>'a';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT '{"a":"\ud83dx"}'::json->>'a';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELECT '{"a":"\ud83d\n\ude00"}'::json->>'a';
\echo :SQLSTATE :LAST_ERROR_MESSAGE
DROP SCHEMA k13l CASCADE;
