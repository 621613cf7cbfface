-- A constant without a type in an operand takes the type of the others, unless a clause of its own
-- operand names it.
SELECT timestamptz '2024-01-01' AS x UNION (SELECT NULL ORDER BY 1) ORDER BY 1;
SELECT timestamptz '2024-01-01' AS x, 1 UNION (SELECT NULL, 2 ORDER BY 2) ORDER BY 1, 2;
SELECT timestamptz '2024-01-01' AS x, 1 UNION (SELECT NULL, 2 ORDER BY 1) ORDER BY 1, 2;
SELECT 1 UNION SELECT DISTINCT NULL ORDER BY 1;
SELECT 1 UNION SELECT DISTINCT ON (1) NULL ORDER BY 1;
SELECT 1 UNION SELECT NULL GROUP BY 1 ORDER BY 1;
SELECT 1 AS x, 2 UNION (SELECT NULL AS x, g FROM generate_series(1,2) g GROUP BY g) ORDER BY 1, 2;
SELECT 1 AS x, 2 UNION (SELECT NULL AS x, g FROM generate_series(1,2) g ORDER BY g) ORDER BY 1, 2;
SELECT 1 AS x, 2 UNION (SELECT '7' AS x, g FROM generate_series(1,2) g ORDER BY g LIMIT 1) ORDER BY 1, 2;
SELECT 1 AS x, 2 UNION (SELECT '7' AS x, g FROM generate_series(1,2) g ORDER BY x LIMIT 1) ORDER BY 1, 2;
SELECT 1 AS x, 2 UNION (SELECT DISTINCT '7' AS x, g FROM generate_series(1,2) g) ORDER BY 1, 2;
SELECT 1 AS x, 2 UNION (SELECT DISTINCT ON (g) '7' AS x, g FROM generate_series(1,2) g) ORDER BY 1, 2;
SELECT 1 AS x, 2 UNION (SELECT 'a' AS x, g FROM generate_series(1,2) g GROUP BY g) ORDER BY 1, 2;
SELECT 1 AS x, 2 UNION (SELECT 'a' AS x, g FROM generate_series(1,2) g GROUP BY x, g) ORDER BY 1, 2;
SELECT 1 AS x, 2 UNION (SELECT NULL AS x, count(*) FROM generate_series(1,2) g) ORDER BY 1, 2;
SELECT 1 AS x UNION ALL (SELECT '5' FROM generate_series(1,3) g ORDER BY g DESC LIMIT 2) ORDER BY 1;
SELECT date '2024-01-01' UNION ALL (SELECT '2024-02-02' FROM generate_series(1,2) g ORDER BY g+1) ORDER BY 1;
SELECT 1, 2 UNION (SELECT '1' AS a, '2' ORDER BY 2 LIMIT 1) ORDER BY 1, 2;
SELECT 1 EXCEPT (SELECT '1' FROM generate_series(1,2) g GROUP BY g HAVING count(*) > 0) ORDER BY 1;
(SELECT NULL, 1 ORDER BY 2) UNION SELECT 1, 2 ORDER BY 1, 2;
(SELECT NULL ORDER BY 1) UNION SELECT 1 ORDER BY 1;
create table constants_of_insert(id serial, a int, b int);
insert into constants_of_insert(a, b) select '7', g from generate_series(1, 3) g order by g desc;
insert into constants_of_insert(a, b) select '7' as x, g from generate_series(1, 3) g order by x;
SELECT * FROM constants_of_insert ORDER BY id;
drop table constants_of_insert;
