CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE c (
    k int PRIMARY KEY, s2 int2, n numeric, f numeric(8,2), d8 float8, b char(4), e text, v varchar(9), nm name, y bytea, o boolean, day date,
    t time, z timetz, ts timestamp, i interval, j jsonb, a inet, u uuid, arr int[], ta text[], na numeric[], m mood
);
INSERT INTO c SELECT
    k, k::int2, k * 1.25, k + 0.5, k * 0.5, 'b' || k, 'e', 'ab', 'nn', 'ab', true, date '2020-01-01' + k,
    '10:00', '10:00+01', timestamp '2020-01-01 10:00' + k * interval '1 day', k * interval '1 day', '{"a":1}', '10.0.0.1',
    '00000000-0000-0000-0000-000000000001', array[k, 2], array['a' || k, 'b'], array[k * 1.5, 2], 'ok'
FROM generate_series(1, 4) AS g(k);
INSERT INTO c (k) VALUES (5);
INSERT INTO c VALUES (
    6, 3, 3, 3, 'NaN', 'x', 'x', 'x', 'x', 'x', false, '2021-01-01',
    '11:00', '11:00+01', 'infinity', '3 days', '[1]', '::1',
    '00000000-0000-0000-0000-000000000009', '{7}', '{x}', '{1.50,2}', 'sad'
);
CREATE TABLE one AS SELECT * FROM c WHERE k = 2;
CREATE TABLE filled AS SELECT * FROM c WHERE k <> 5;
