"""Users' functions around their calls: in stream pipelines, through restarts, with rights, with
what depends on them.

What they compute is held to PostgreSQL in `tests/end_to_end/side_by_side/functions.sql`.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from engine.catalog.functions import plain_function
from sql.catalog.functions import FunctionDescription
from tests.engine.session_client import SessionClient, World

DEFINED = (
    "CREATE SCHEMA sales",
    "CREATE FOREIGN TABLE e (k int, amount numeric(10,2), p text) SERVER stream",
    "CREATE FUNCTION bucket(x int, w int) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS 'SELECT x / w * w'",
    "CREATE FUNCTION sales.net(x numeric, pct int DEFAULT 50) RETURNS numeric LANGUAGE sql AS 'SELECT x * (100 - pct)'",
    "CREATE FUNCTION label(x text) RETURNS text RETURN CASE WHEN x LIKE 'a%' THEN 'A' ELSE upper(x) END",
    "CREATE VIEW v AS SELECT bucket(k, 10) AS b, label(p) AS l, sum(sales.net(amount)) AS s FROM e GROUP BY 1, 2",
    "CREATE TABLE t (k int DEFAULT bucket(17, 5), v text CHECK (label(v) <> 'NO'))",
    "CREATE VIEW q AS SELECT k, label(v) AS l FROM t",
)
READ = "SELECT b, l, s FROM v ORDER BY b, l"


def rows(client: SessionClient, text: str) -> list[str]:
    """Return the rows of a SELECT, their values with commas between them."""
    found = [ast.literal_eval(line.removeprefix("D ")) for line in client.rows(text)]
    return [",".join("-" if value is None else value.decode() for value in row) for row in found]


def error_of(client: SessionClient, text: str) -> str:
    (found,) = [line for line in client.ask(text) if line.startswith("E ")]
    return found


def test_functions_last_with_all_that_calls_them(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client()
    client.run(
        *DEFINED, "INSERT INTO e VALUES (1, 2, 'abc'), (12, 3, 'x'), (NULL, 1, 'x')", "INSERT INTO t(v) VALUES ('b')"
    )
    before = rows(client, READ)
    assert before == ["0,A,100.00", "10,X,150.00", "-,X,50.00"]
    # Their names in the texts are those of then.
    client.run("ALTER FUNCTION bucket RENAME TO slot", "ALTER FUNCTION label(text) SET SCHEMA sales")
    client.run("CREATE FUNCTION label(x text) RETURNS text LANGUAGE sql AS $$SELECT 'another'$$")
    for checkpoint in (False, True):
        if checkpoint:
            world.database.checkpoints.make()
        world.abandon()
        world = World(tmp_path)
        client = world.client()
        assert rows(client, READ) == before
        client.run("INSERT INTO t(v) VALUES ('c')")
        assert rows(client, "SELECT * FROM q WHERE l = 'C' LIMIT 1") == ["15,C"]
        assert "23514" in error_of(client, "INSERT INTO t(v) VALUES ('no')")
        assert rows(client, "SELECT slot(7, 2), label('x'), sales.net(pct => 1, x => 2)") == ["6,another,198"]
    client.run("INSERT INTO e VALUES (2, 2, 'abd')")
    assert rows(client, READ)[0] == "0,A,200.00"
    world.close()


def test_calls_of_any_types_in_a_view_of_a_stream_last(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client()
    client.run(
        "CREATE FOREIGN TABLE e (k int, x float8, p text) SERVER stream",
        "CREATE FUNCTION largest(VARIADIC a anyarray) RETURNS anyelement LANGUAGE sql AS 'SELECT greatest(a[1], a[2])'",
        "CREATE FUNCTION first_of(a anycompatible, b anycompatible) RETURNS anycompatible LANGUAGE sql AS "
        "'SELECT coalesce(a, b)'",
        "CREATE VIEW v AS SELECT largest(k, 5) AS l, sum(first_of(x, k)) AS s, max(largest(p, 'm')) AS m "
        "FROM e GROUP BY 1",
        "INSERT INTO e VALUES (1, 0.5, 'a'), (7, NULL, 'z'), (3, NULL, 'n')",
    )
    for _ in range(2):
        assert rows(client, "SELECT * FROM v ORDER BY l") == ["5,3.5,n", "7,7,z"]
        world.close()
        world = World(tmp_path)
        client = world.client()
    assert "2BP01" in error_of(client, "DROP FUNCTION largest(VARIADIC anyarray)")
    world.close()


def test_a_view_of_a_stream_keeps_the_meaning_of_what_it_counted(world: World) -> None:
    client = world.client()
    client.run(*DEFINED, "INSERT INTO e VALUES (1, 2, 'abc')")
    again = "CREATE OR REPLACE FUNCTION bucket(x int, w int) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS "
    assert "0A000" in error_of(client, again + "'SELECT x / w'")
    client.run(again + "'SELECT  x/w * w'")
    assert rows(client, READ) == ["0,A,100.00"]
    replaced = "CREATE OR REPLACE FUNCTION label(x text) RETURNS text LANGUAGE sql AS 'SELECT lower(x)'"
    assert "0A000" in error_of(client, replaced)
    client.run("DROP VIEW v", "INSERT INTO t(v) VALUES ('b')", replaced)
    # Ordinary views, defaults and checks go on with the new body.
    assert rows(client, "SELECT l FROM q") == ["b"]
    client.run("INSERT INTO t(v) VALUES ('no')")


def test_what_calls_a_function_is_in_the_way_of_its_drop(world: World) -> None:
    client = world.client()
    client.run(*DEFINED)
    refused = error_of(client, "DROP FUNCTION label(text)")
    assert "2BP01" in refused
    client.run("DROP FUNCTION label CASCADE")
    assert rows(client, "SELECT count(*) FROM pg_class WHERE relname IN ('v', 'q')") == ["0"]
    client.run("INSERT INTO t(v) VALUES ('no')")
    assert "2BP01" in error_of(client, "DROP FUNCTION bucket")
    assert "2BP01" in error_of(client, "DROP SCHEMA sales")
    client.run("DROP SCHEMA sales CASCADE")
    assert "3F000" in error_of(client, "SELECT sales.net(1)")


def test_rights(world: World) -> None:
    client = world.client()
    client.run(*DEFINED, "CREATE TABLE secret (k int)", "CREATE ROLE ann", "GRANT SELECT ON q TO ann")
    client.run("CREATE FUNCTION told() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM secret'")
    client.run("REVOKE EXECUTE ON FUNCTION label(text) FROM PUBLIC", "SET ROLE ann")
    assert rows(client, "SELECT bucket(5, 2)") == ["4"]
    # A body reads with the rights of the role that calls it, and a view calls with its reader's.
    assert "42501" in error_of(client, "SELECT told()")
    assert "42501" in error_of(client, "SELECT label('x')")
    assert "42501" in error_of(client, "SELECT * FROM q")
    for change in (
        "DROP FUNCTION bucket",
        "ALTER FUNCTION bucket(int, int) RENAME TO mine",
        "ALTER FUNCTION bucket(int, int) OWNER TO ann",
        "COMMENT ON FUNCTION bucket IS 'mine'",
        "CREATE FUNCTION more() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    ):
        assert "42501" in error_of(client, change)
    client.run("RESET ROLE", "GRANT CREATE ON SCHEMA public TO ann", "SET ROLE ann")
    replaced = "CREATE OR REPLACE FUNCTION bucket(x int, w int) RETURNS int LANGUAGE sql AS 'SELECT 1'"
    assert "42501" in error_of(client, replaced)
    client.run("CREATE FUNCTION more() RETURNS int LANGUAGE sql AS 'SELECT 1'", "DROP FUNCTION more")
    client.run(
        "RESET ROLE", "GRANT EXECUTE ON FUNCTION label(text) TO ann", "GRANT SELECT ON secret TO ann", "SET ROLE ann"
    )
    assert rows(client, "SELECT label('x'), told()") == ["X,0"]


def test_inlining_is_bounded(world: World) -> None:
    client = world.client()
    client.run("CREATE FUNCTION f(x int) RETURNS int LANGUAGE sql AS 'SELECT x + x'")
    nested = "f(" * 14 + "1" + ")" * 14
    assert "54001" in error_of(client, f"SELECT {nested}")
    client.run("CREATE FUNCTION a(x int) RETURNS int LANGUAGE sql AS 'SELECT 1'")
    client.run("CREATE FUNCTION b(x int) RETURNS int LANGUAGE sql AS 'SELECT a(x)'")
    assert "0A000" in error_of(client, "CREATE OR REPLACE FUNCTION a(x int) RETURNS int LANGUAGE sql AS 'SELECT b(x)'")
    assert rows(client, "SELECT b(1)") == ["1"]
    client.run(
        "PREPARE p(int) AS SELECT f($1)", "CREATE OR REPLACE FUNCTION f(x int) RETURNS int LANGUAGE sql AS 'SELECT -x'"
    )
    assert rows(client, "EXECUTE p(4)") == ["-4"]


def test_a_new_body_may_name_what_the_old_one_did_not(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client()
    client.run(
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE FUNCTION one_more(x int) RETURNS int LANGUAGE sql AS 'SELECT x + 1'",
        "CREATE FUNCTION f(x int) RETURNS int LANGUAGE sql AS 'SELECT x'",
        "CREATE FUNCTION g(x int) RETURNS text LANGUAGE sql AS 'SELECT x::text'",
        "CREATE TABLE t (a int DEFAULT f(1), b text DEFAULT g(1), CHECK (f(a) > 0))",
        "CREATE VIEW v AS SELECT f(a) AS a, g(a) AS b FROM t",
        "CREATE OR REPLACE FUNCTION f(x int) RETURNS int LANGUAGE sql AS 'SELECT one_more(x)'",
        "CREATE OR REPLACE FUNCTION g(x int) RETURNS text LANGUAGE sql AS $$SELECT 'ok'::mood::text$$",
    )
    for _ in range(2):
        client.run("INSERT INTO t DEFAULT VALUES")
        assert set(client.rows("SELECT * FROM t")) == {"D [b'2', b'ok']"}
        assert set(client.rows("SELECT * FROM v")) == {"D [b'3', b'ok']"}
        world.close()
        world = World(tmp_path)
        client = world.client()
    world.close()


def test_bodies_follow_renames_also_of_a_folder_that_did_not_store_what_they_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path)
    client = world.client()

    def older(function: FunctionDescription) -> dict[str, object]:
        plain = plain_function(function)
        return {name: value for name, value in plain.items() if name not in ("needs", "used", "objects")}

    with monkeypatch.context() as patched:
        patched.setattr("engine.catalog.stored_form.plain_function", older)
        client.run(
            "CREATE SCHEMA s",
            "CREATE TABLE s.t (a int, b int)",
            "CREATE VIEW w AS SELECT a FROM s.t",
            "CREATE SEQUENCE n",
            "CREATE FUNCTION s.f() RETURNS bigint BEGIN ATOMIC SELECT sum(s.t.a) FROM s.t JOIN w USING (a); END",
            "CREATE FUNCTION g() RETURNS bigint RETURN s.f() + sign(nextval('n'))::bigint",
            "CREATE FUNCTION h() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM s.t'",
            "INSERT INTO s.t VALUES (5, 1)",
        )
    world.close()
    world = World(tmp_path)
    client = world.client()
    assert "2BP01" in error_of(client, "ALTER TABLE s.t DROP COLUMN a")
    client.run("ALTER TABLE s.t RENAME TO u", "ALTER TABLE s.u RENAME a TO c", "ALTER SCHEMA s RENAME TO z")
    client.run("ALTER TABLE z.u ADD COLUMN a int", "ALTER VIEW w RENAME TO x", "ALTER SEQUENCE n RENAME TO m")
    for _ in range(2):
        assert rows(client, "SELECT g()") == ["6"]
        assert "42P01" in error_of(client, "SELECT h()")
        world.close()
        world = World(tmp_path)
        client = world.client()
    world.close()


def test_a_type_that_is_dropped_takes_columns_of_streams_along(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client()
    client.run(
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE FUNCTION one() RETURNS int RETURN 1",
        "CREATE FOREIGN TABLE e (k int DEFAULT one(), m mood, ms mood[]) SERVER stream",
        "CREATE VIEW moods AS SELECT m, count(*) AS n FROM e GROUP BY 1",
        "CREATE VIEW keys AS SELECT k, count(*) AS n FROM e GROUP BY 1",
        "INSERT INTO e VALUES (5, 'ok', '{sad}')",
        "INSERT INTO e (m) VALUES ('sad')",
    )
    assert "2BP01" in error_of(client, "DROP TYPE mood")
    client.run("DROP TYPE mood CASCADE", "DROP FUNCTION one CASCADE", "INSERT INTO e DEFAULT VALUES")
    for checkpoint in (False, True):
        if checkpoint:
            world.database.checkpoints.make()
        assert "42P01" in error_of(client, "SELECT * FROM moods")
        assert rows(client, "SELECT * FROM keys ORDER BY k") == ["1,1", "5,1", "-,1"]
        assert rows(client, "SELECT * FROM e") == ["5", "1", "-"]
        world.abandon()
        world = World(tmp_path)
        client = world.client()
    assert rows(client, "SELECT * FROM keys ORDER BY k") == ["1,1", "5,1", "-,1"]
    world.close()


def test_defaults_of_arguments_are_evaluated_at_each_call(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client()
    client.run(
        "CREATE SEQUENCE n",
        "CREATE FUNCTION f(x bigint DEFAULT nextval('n')) RETURNS bigint LANGUAGE sql AS 'SELECT x'",
        "CREATE FUNCTION g(x timestamptz DEFAULT now()) RETURNS boolean LANGUAGE sql AS 'SELECT x = now()'",
    )
    assert [rows(client, "SELECT f(), g()") for _ in range(3)] == [["1,t"], ["2,t"], ["3,t"]]
    assert rows(client, "SELECT f() FROM generate_series(1, 2)") == ["4", "5"]
    world.close()
