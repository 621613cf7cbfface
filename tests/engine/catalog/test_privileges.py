"""GRANT, REVOKE and OWNER TO, and what a role may do then: the same words as PostgreSQL's; streams,
views, and the rows' fast ways.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.catalog.privileges import access_texts
from tests.end_to_end.raw_client import SYNC, Answer, RawClient, bind, execute, parse
from tests.engine.session_client import SessionClient, World
from tests.oracle.postgres import PostgresCluster

SCRIPT = r"""
CREATE ROLE p_a LOGIN
CREATE ROLE p_b LOGIN
CREATE ROLE p_g
GRANT p_g TO p_b
CREATE TABLE t (a int PRIMARY KEY, b int)
CREATE TABLE u (a int)
CREATE VIEW w AS SELECT a, b FROM t
CREATE SEQUENCE q
INSERT INTO t VALUES (1, 2)
SET SESSION AUTHORIZATION p_a
SELECT * FROM t
SELECT * FROM w
SELECT (SELECT max(a) FROM t)
WITH x AS (SELECT * FROM t) SELECT * FROM x
INSERT INTO t VALUES (2, 2)
UPDATE t SET b = 1
DELETE FROM t
TRUNCATE t
COPY t TO STDOUT
COPY (SELECT * FROM t) TO STDOUT
EXPLAIN SELECT * FROM t
PREPARE pp AS SELECT * FROM t
EXECUTE pp
PREPARE ii AS INSERT INTO t VALUES ($1, $2)
EXECUTE ii(7, 8)
BEGIN
DECLARE c CURSOR FOR SELECT * FROM t
ROLLBACK
SELECT set_config('role', 'p_b', false)
SELECT set_config('session_authorization', 'p_b', false)
ALTER TABLE t ADD COLUMN c int
DROP TABLE t
DROP VIEW w
DROP SEQUENCE q
ALTER SEQUENCE q CACHE 5
ALTER VIEW w RENAME TO ww
COMMENT ON TABLE t IS 'x'
CREATE INDEX ON t (b)
DROP INDEX t_pkey
ALTER INDEX t_pkey RENAME TO tt
CREATE OR REPLACE VIEW w AS SELECT 1 AS one
CREATE TABLE own (a int)
CREATE VIEW own AS SELECT 1 AS one
CREATE SEQUENCE own
GRANT SELECT ON t TO p_b
REVOKE SELECT ON t FROM p_b
SELECT * FROM nowhere
ALTER TABLE t OWNER TO p_a
RESET SESSION AUTHORIZATION
GRANT SELECT ON t TO p_a
GRANT INSERT, UPDATE ON TABLE t TO p_a WITH GRANT OPTION
SET SESSION AUTHORIZATION p_a
SELECT * FROM t
INSERT INTO t VALUES (2, 2)
INSERT INTO t VALUES (2, 3) ON CONFLICT DO NOTHING
INSERT INTO t VALUES (2, 3) ON CONFLICT (a) DO UPDATE SET b = 4
UPDATE t SET b = b + 1 WHERE a = 2 RETURNING *
DELETE FROM t WHERE a = 2
INSERT INTO u SELECT a FROM t
INSERT INTO t SELECT a, 1 FROM u
GRANT INSERT ON t TO p_b
GRANT SELECT ON t TO p_b
GRANT SELECT, INSERT ON t TO p_b
GRANT ALL ON t TO p_b
SET SESSION AUTHORIZATION p_b
INSERT INTO t VALUES (3, 3)
INSERT INTO t VALUES (4, 3) RETURNING a
SELECT * FROM t
GRANT INSERT ON t TO p_g
RESET SESSION AUTHORIZATION
REVOKE INSERT ON t FROM p_a
REVOKE GRANT OPTION FOR INSERT ON t FROM p_a
REVOKE INSERT ON t FROM p_a CASCADE
SET SESSION AUTHORIZATION p_b
INSERT INTO t VALUES (5, 3)
RESET SESSION AUTHORIZATION
GRANT SELECT ON w TO PUBLIC
SET SESSION AUTHORIZATION p_b
SELECT count(*) FROM w
SELECT * FROM t
RESET SESSION AUTHORIZATION
GRANT SELECT ON t TO p_g
SET SESSION AUTHORIZATION p_b
SELECT count(*) FROM t
RESET SESSION AUTHORIZATION
ALTER ROLE p_b NOINHERIT
SET SESSION AUTHORIZATION p_b
SELECT count(*) FROM t
SET ROLE p_g
SELECT count(*) FROM t
RESET SESSION AUTHORIZATION
ALTER ROLE p_b INHERIT
GRANT SELECT, DELETE ON t TO p_b
SET SESSION AUTHORIZATION p_b
DELETE FROM t WHERE a > 100
DELETE FROM t RETURNING zzz
TRUNCATE t
RESET SESSION AUTHORIZATION
GRANT TRUNCATE ON u TO p_b
SET SESSION AUTHORIZATION p_b
TRUNCATE u
RESET SESSION AUTHORIZATION
ALTER VIEW w OWNER TO p_a
SET SESSION AUTHORIZATION p_b
SELECT count(*) FROM w
RESET SESSION AUTHORIZATION
REVOKE SELECT ON t FROM p_a
SET SESSION AUTHORIZATION p_b
SELECT count(*) FROM w
RESET SESSION AUTHORIZATION
GRANT CREATE ON SCHEMA public TO p_a
SET SESSION AUTHORIZATION p_a
CREATE TABLE own AS SELECT * FROM t
CREATE TABLE like_u (LIKE u)
CREATE TABLE like_t (LIKE t INCLUDING ALL)
DROP TABLE like_t
COMMENT ON CONSTRAINT t_pkey ON t IS 'x'
COMMENT ON COLUMN t.a IS 'x'
CREATE TABLE own (a int, s serial)
INSERT INTO own (a) VALUES (1)
GRANT SELECT ON own TO p_b
CREATE TABLE f (a int REFERENCES t)
ALTER TABLE own ADD FOREIGN KEY (a) REFERENCES t
ALTER TABLE own OWNER TO p_b
ALTER TABLE own ADD COLUMN b int
DROP ROLE p_b
RESET SESSION AUTHORIZATION
DROP ROLE p_a
DROP ROLE p_g
ALTER TABLE own OWNER TO p_g
ALTER TABLE own OWNER TO p_b
ALTER TABLE q OWNER TO p_b
ALTER VIEW t OWNER TO p_b
ALTER SEQUENCE t OWNER TO p_b
ALTER TABLE nowhere OWNER TO p_b
ALTER TABLE IF EXISTS nowhere OWNER TO p_b
ALTER SEQUENCE own_s_seq OWNER TO p_b
ALTER TABLE t OWNER TO nobody
SET SESSION AUTHORIZATION p_a
ALTER TABLE own ADD COLUMN d int
SELECT a FROM own
RESET SESSION AUTHORIZATION
REASSIGN OWNED BY p_b, p_a TO p_g
REASSIGN OWNED BY nobody TO p_g
GRANT SELECT ON nowhere TO p_a
GRANT SELECT ON t TO nobody
GRANT USAGE ON t TO p_a
GRANT NONSENSE ON t TO p_a
GRANT EXECUTE ON t TO p_a
GRANT INSERT ON q TO p_a
GRANT INSERT ON SEQUENCE q TO p_a
GRANT USAGE, SELECT ON SEQUENCE q TO p_a
GRANT USAGE ON SEQUENCE t TO p_a
GRANT SELECT ON SCHEMA public TO p_a
GRANT CREATE ON SCHEMA nowhere TO p_a
GRANT SELECT ON t TO PUBLIC WITH GRANT OPTION
GRANT SELECT ON ALL TABLES IN SCHEMA public TO p_a
GRANT ALL PRIVILEGES ON ALL SEQUENCES IN SCHEMA public TO p_a
GRANT SELECT ON ALL TABLES IN SCHEMA nowhere TO p_a
GRANT SELECT, UPDATE t TO p_a
GRANT SELECT ON t p_a
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM p_a, p_b, p_g
REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM p_a, p_b, p_g
REVOKE ALL ON SCHEMA public FROM p_a, PUBLIC
SET SESSION AUTHORIZATION p_a
SELECT * FROM t
RESET SESSION AUTHORIZATION
GRANT USAGE ON SCHEMA public TO PUBLIC
CREATE TABLE z (a serial, b int)
CREATE TABLE y (a int GENERATED ALWAYS AS IDENTITY, b int)
GRANT INSERT ON z, y TO p_a
SET ROLE p_a
INSERT INTO y (b) VALUES (1)
INSERT INTO z (b) VALUES (1)
SELECT nextval('q')
SELECT setval('q', 5)
RESET ROLE
GRANT USAGE ON SEQUENCE z_a_seq, q TO p_a
SET ROLE p_a
INSERT INTO z (b) VALUES (1)
SELECT nextval('q')
SELECT currval('q')
SELECT setval('q', 5)
RESET ROLE
DROP TABLE z, y
BEGIN
GRANT SELECT ON t TO p_a
SET ROLE p_a
SELECT count(*) FROM t
ROLLBACK
SET ROLE p_a
SELECT count(*) FROM t
CHECKPOINT
RESET ROLE
GRANT pg_read_all_data, pg_write_all_data TO p_a
SET ROLE p_a
SELECT count(*) FROM t
INSERT INTO t VALUES (99, 1)
TRUNCATE t
RESET ROLE
CREATE SCHEMA public
CREATE SCHEMA IF NOT EXISTS public
CREATE SCHEMA IF NOT EXISTS public AUTHORIZATION p_a
CREATE SCHEMA IF NOT EXISTS information_schema
CREATE SCHEMA pg_mine
CREATE SCHEMA mine AUTHORIZATION nobody
CREATE SCHEMA
DROP SCHEMA nowhere
DROP SCHEMA IF EXISTS nowhere, elsewhere CASCADE
DROP SCHEMA pg_catalog
SET ROLE p_a
DROP SCHEMA public
CREATE SCHEMA mine
RESET ROLE
COMMENT ON ROLE p_a IS 'somebody'
COMMENT ON ROLE nobody IS 'nobody'
COMMENT ON SCHEMA public IS 'all of it'
COMMENT ON SCHEMA nowhere IS 'nothing'
SET ROLE p_a
COMMENT ON ROLE p_b IS 'other'
COMMENT ON SCHEMA public IS 'mine'
DROP OWNED BY p_g
RESET ROLE
GRANT CREATE ON SCHEMA public TO p_a
GRANT SELECT ON t TO p_a
ALTER TABLE u OWNER TO p_a
SET ROLE p_a
CREATE VIEW uu AS SELECT * FROM u
CREATE SEQUENCE uuu
RESET ROLE
CREATE VIEW mine AS SELECT * FROM u
DROP OWNED BY nobody
DROP OWNED BY p_a
DROP OWNED BY p_a CASCADE
SELECT * FROM u
SELECT * FROM uu
DROP OWNED BY p_g, p_b CASCADE
DROP ROLE p_g
CREATE ROLE p_g
DROP TABLE t
DROP SEQUENCE q
DROP ROLE p_a, p_b, p_g
"""


def test_the_same_words_as_postgresql(world: World, postgres: PostgresCluster) -> None:
    ours, theirs = world.client(), RawClient(postgres.port, "postgres", "postgres")
    theirs.ask_in_full("GRANT USAGE ON SCHEMA public TO PUBLIC")
    differing = []
    for text in filter(None, SCRIPT.split("\n")):
        pair = [said(client.ask_in_full(text)) for client in (ours, theirs)]
        if pair[0] != pair[1] and not text.startswith("EXPLAIN"):
            differing.append((text, *pair))
    theirs.hang_up()
    print(*differing, sep="\n")
    assert not differing


def said(answers: list[Answer]) -> list[Answer]:
    """Return what is compared.

    We also tell of names that are alike, and not where one is that nobody may see; PostgreSQL
    describes rows before one of them fails.
    """
    fails = any(line.startswith("E") for line, _ in answers)
    found = []
    for line, fields in answers:
        ignored = ("table", "hint", "position" if "42P01" in line else "")
        kept = {name: "\n".join(sorted(value.split("\n"))) for name, value in fields.items() if name not in ignored}
        if line[0] not in "SdH" + "T" * fails:
            found.append((line.replace("for database postgres", "for database antumbra"), kept))
    return found


def member(world: World, name: str = "ann") -> SessionClient:
    """Return a session that was let in under the name of a role."""
    return SessionClient(
        world, {"user": name, "database": "antumbra"}, world.database.catalog.image.roles.by_name[name].oid
    )


@pytest.fixture
def streams(world: World) -> World:
    world.client().run(
        "CREATE ROLE ann LOGIN",
        "CREATE FOREIGN TABLE s (a int, b text) SERVER stream",
        "CREATE VIEW v AS SELECT a, count(*) AS n FROM s GROUP BY a",
    )
    return world


DENIED = "E ERROR 42501: permission denied for foreign table s"


def test_streams_and_continuous_views(streams: World) -> None:
    superuser, ann = streams.client(), member(streams)
    assert ann.ask("INSERT INTO s VALUES (1, 'x')")[0] == DENIED
    assert ann.ask("COPY s FROM STDIN")[0] == DENIED
    assert ann.ask("SELECT * FROM s")[0] == DENIED
    assert ann.ask("SELECT * FROM v")[0] == "E ERROR 42501: permission denied for view v"
    assert (
        ann.ask("ALTER FOREIGN TABLE s OPTIONS (SET capacity '64')")[0]
        == "E ERROR 42501: must be owner of foreign table s"
    )
    assert ann.ask("DROP FOREIGN TABLE s CASCADE")[0] == "E ERROR 42501: must be owner of foreign table s"
    superuser.run("GRANT INSERT ON s TO ann", "GRANT SELECT ON v TO ann")
    ann.run("INSERT INTO s VALUES (1, 'x')")
    assert ann.rows("SELECT * FROM v") == ["D [b'1', b'1']"]
    assert ann.ask("SELECT * FROM s")[0] == DENIED
    superuser.run("GRANT CREATE ON SCHEMA public TO ann")
    assert ann.ask("CREATE VIEW mine AS SELECT b, count(*) AS n FROM s GROUP BY b")[0] == DENIED
    superuser.run("GRANT SELECT ON s TO ann")
    ann.run("CREATE VIEW mine AS SELECT b, count(*) AS n FROM s GROUP BY b", "DROP VIEW mine")
    superuser.run("ALTER FOREIGN TABLE s OWNER TO ann")
    ann.run("ALTER FOREIGN TABLE s RENAME COLUMN b TO c")


def test_the_fast_ways_of_an_insert_ask_too(streams: World) -> None:
    superuser, ann = streams.client(), member(streams)
    packet = query_packet("INSERT INTO s VALUES (1, 'x')")
    prepared = [parse("INSERT INTO s VALUES ($1, $2)", "p", (23, 25)), SYNC]
    superuser.run("GRANT INSERT ON s TO ann")
    assert ann.at_once(packet) == ["C INSERT 0 1", "Z I"]
    ann.ask(*prepared)
    bound = bind([b"2", b"y"], "p") + execute() + SYNC
    ann.ask(bound)
    assert ann.at_once(bound) == ["2", "C INSERT 0 1", "Z I"]
    superuser.run("REVOKE INSERT ON s FROM ann")
    assert ann.at_once(packet) is None
    assert ann.at_once(bound) is None
    assert ann.ask(packet)[0] == DENIED
    assert DENIED in ann.ask(bound)
    assert superuser.rows("SELECT sum(n) FROM v") == ["D [b'3']"]
    # The same session as another role.
    superuser.run("GRANT INSERT ON s TO ann")
    acting = streams.client()
    acting.run("SET ROLE ann")
    assert acting.at_once(packet) is not None
    superuser.run("REVOKE INSERT ON s FROM ann")
    assert acting.at_once(packet) is None
    acting.run("RESET ROLE")
    assert acting.at_once(packet) is not None


def test_an_answer_that_is_kept_is_not_for_everybody(streams: World) -> None:
    superuser, ann = streams.client(), member(streams)
    superuser.run("INSERT INTO s VALUES (1, 'x')", "GRANT SELECT ON v TO ann")
    for _ in range(3):
        assert ann.rows("SELECT * FROM v") == superuser.rows("SELECT * FROM v")
    superuser.run("REVOKE SELECT ON v FROM ann")
    assert superuser.rows("SELECT * FROM v")
    assert ann.ask("SELECT * FROM v")[0] == "E ERROR 42501: permission denied for view v"
    superuser.run("SET ROLE ann")
    assert superuser.ask("SELECT * FROM v")[0] == "E ERROR 42501: permission denied for view v"


def test_prepared_statements_ask_each_time(streams: World) -> None:
    superuser, ann = streams.client(), member(streams)
    superuser.run("GRANT SELECT ON v TO ann")
    ann.ask(parse("SELECT n FROM v WHERE a = $1", "p"), SYNC)
    run = (bind([b"1"], "p"), execute(), SYNC)
    assert "C SELECT 0" in ann.ask(*run)
    superuser.run("REVOKE SELECT ON v FROM ann")
    assert any("42501" in line for line in ann.ask(*run))


def test_files_of_the_server(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    world = World(tmp_path / "data", copy_directory=folder)
    superuser = world.client()
    superuser.run("CREATE ROLE ann LOGIN", "CREATE TABLE t (a int)", "GRANT SELECT, INSERT ON t TO ann")
    ann = member(world)
    (answer,) = ann.ask_in_full("COPY t TO 'out'")
    assert answer[0] == (
        "E 42501: must be superuser or have privileges of the pg_write_server_files role to COPY to a file"
    )
    assert "\\copy" in answer[1]["hint"]
    (answer,) = ann.ask_in_full("COPY t FROM 'out'")
    assert "pg_read_server_files role to COPY from a file" in answer[0]
    superuser.run("GRANT pg_read_server_files, pg_write_server_files TO ann")
    ann.run("COPY t TO 'out'", "COPY t FROM 'out'")
    assert ann.ask("COPY t TO '/etc/passwd'")[0].startswith("E ERROR 42501")
    world.close()


def test_what_is_granted_survives(tmp_path: Path) -> None:
    world = World(tmp_path / "data")
    superuser = world.client()
    superuser.run("CREATE ROLE ann LOGIN", 'CREATE ROLE "bob\'s"', "CREATE TABLE t (a int)", "CREATE TABLE u (a int)")
    superuser.run(
        "GRANT SELECT, INSERT ON t TO ann WITH GRANT OPTION", "GRANT ALL ON t TO PUBLIC", "ALTER TABLE u OWNER TO ann"
    )
    before = world.database.catalog.image
    texts = access_texts(before.roles, before.privileges, before.entries["t"].description.oid)
    assert texts == ["antumbra=arwdDxt/antumbra", "ann=a*r*/antumbra", "=arwdDxt/antumbra"]
    world.abandon()
    again = World(tmp_path / "data")
    after = again.database.catalog.image
    assert (dict(after.privileges.owners), dict(after.privileges.grants)) == (
        dict(before.privileges.owners),
        dict(before.privileges.grants),
    )
    again.client().run("DROP TABLE t, u")
    assert set(again.database.catalog.image.privileges.owners) == {2200}
    again.close()


def query_packet(text: str) -> bytes:
    body = text.encode() + b"\0"
    return b"Q" + (len(body) + 4).to_bytes(4, "big") + body
