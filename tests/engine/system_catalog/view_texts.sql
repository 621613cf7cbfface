CREATE TABLE t (a int, b text, c numeric(10,2), d date, e bool, f float8, g bigint, h varchar(20), i timestamp, j timestamptz, k int[], l jsonb, m char(3), n interval, o smallint, p numeric, q time, r uuid, x bytea, y text[], z json);
CREATE TABLE u (a int, g int, w text, PRIMARY KEY (a));
CREATE TABLE "Quoted Name" ("Col A" int, "select" text, lower int);
CREATE TABLE old (a int, n int);
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE people (name text, feeling mood, feelings mood[]);
