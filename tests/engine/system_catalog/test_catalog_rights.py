"""A role without rights, what it learns of the catalog and can say about others' objects: as
in PostgreSQL, in every answer.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.end_to_end.raw_client import RawClient, describe, parse, query
from tests.engine.session_client import SessionClient, World
from tests.oracle.postgres import PostgresCluster

SETUP = """
CREATE ROLE cr_eve LOGIN
CREATE ROLE cr_all LOGIN
CREATE ROLE cr_own
GRANT pg_read_all_data TO cr_all
CREATE SCHEMA cr
CREATE TABLE cr_open (a int PRIMARY KEY, b text DEFAULT 'secret' CHECK (b <> 'x'))
CREATE TABLE cr_shut (a int PRIMARY KEY, b text DEFAULT 'secret' CHECK (b <> 'x') NOT NULL, c int REFERENCES cr_open)
CREATE TABLE cr_own (a serial UNIQUE, b int NOT NULL CHECK (b > 0), c int REFERENCES cr_open)
CREATE VIEW cr_view AS SELECT a FROM cr_shut
CREATE VIEW cr_seen AS SELECT a FROM cr_shut
CREATE SEQUENCE cr_q
SELECT nextval('cr_q')
CREATE SEQUENCE cr_seen_q
SELECT nextval('cr_seen_q')
GRANT SELECT ON cr_open, cr_seen TO cr_eve
GRANT USAGE ON SEQUENCE cr_seen_q TO cr_eve
ALTER TABLE cr_own OWNER TO cr_eve
GRANT cr_own TO cr_eve
CREATE SCHEMA cr_mine AUTHORIZATION cr_eve
CREATE TABLE cr_in (a int)
GRANT INSERT ON cr_in TO cr_eve
CREATE TABLE cr_del (a int)
GRANT DELETE ON cr_del TO cr_eve
CREATE ROLE "cr""; --"
CREATE ROLE "cr=a*/b"
GRANT SELECT ON cr_del TO "cr""; --" WITH GRANT OPTION
GRANT DELETE ON cr_del TO "cr=a*/b"
GRANT "cr""; --", "cr=a*/b" TO cr_eve
"""

# The relations that only superusers read, and views above them that everybody reads.
CLOSED = """
pg_authid pg_shadow pg_statistic pg_statistic_ext_data pg_file_settings pg_hba_file_rules pg_ident_file_mappings pg_config
pg_shmem_allocations pg_backend_memory_contexts pg_user_mapping pg_replication_origin_status pg_largeobject
""".split()
OPEN = "pg_roles pg_user pg_group pg_user_mappings pg_subscription pg_class pg_proc pg_settings pg_stats".split()
QUERIES = """
SELECT count(*) > 9 FROM pg_authid, pg_class
SELECT (SELECT count(*) FROM pg_authid) > 9
SELECT 1 WHERE EXISTS (SELECT 1 FROM pg_catalog.pg_authid)
SELECT 1 FROM pg_class WHERE 'x' IN (SELECT rolname FROM pg_authid)
WITH x AS (SELECT * FROM pg_authid) SELECT count(*) > 9 FROM x
SELECT usename FROM pg_shadow WHERE usename = 'cr_eve'
COPY (SELECT rolname FROM pg_authid WHERE rolname = 'cr_eve') TO STDOUT
EXPLAIN SELECT rolname FROM pg_authid
SELECT o.a FROM pg_authid, cr_open o
SELECT 1 UNION ALL SELECT 1 FROM pg_shadow
SELECT rolname FROM pg_roles WHERE rolname = 'cr_eve'
SELECT rolpassword FROM pg_roles WHERE rolname = 'cr_eve'
SELECT pg_get_userbyid(0) IS NULL
SELECT pg_sequence_last_value('cr_q'::regclass)
SELECT pg_sequence_last_value('cr_seen_q'::regclass)
SELECT sequencename, last_value FROM pg_sequences WHERE sequencename LIKE 'cr_%' ORDER BY 1
SELECT table_name, table_type FROM information_schema.tables WHERE table_name LIKE 'cr_%' ORDER BY 1
SELECT table_name, view_definition IS NULL FROM information_schema.views WHERE table_name LIKE 'cr_%' ORDER BY 1
SELECT table_name, column_name FROM information_schema.columns WHERE table_name LIKE 'cr_%' ORDER BY 1, 2
SELECT table_name, constraint_type FROM information_schema.table_constraints WHERE table_name LIKE 'cr_%' ORDER BY 1, 2
SELECT constraint_name FROM information_schema.check_constraints WHERE constraint_name LIKE 'cr_%' ORDER BY 1
SELECT table_name, column_name FROM information_schema.key_column_usage WHERE table_name LIKE 'cr_%' ORDER BY 1, 2
SELECT table_name, column_name FROM information_schema.constraint_column_usage WHERE table_name LIKE 'cr_%' ORDER BY 1, 2
SELECT table_name FROM information_schema.constraint_table_usage WHERE table_name LIKE 'cr_%' ORDER BY 1
SELECT constraint_name FROM information_schema.referential_constraints WHERE constraint_name LIKE 'cr_%' ORDER BY 1
SELECT sequence_name FROM information_schema.sequences WHERE sequence_name LIKE 'cr_%' ORDER BY 1
SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE 'cr%' ORDER BY 1
SELECT view_name, table_name FROM information_schema.view_table_usage WHERE table_name LIKE 'cr_%' ORDER BY 1
SELECT count(*) FROM information_schema.tables WHERE table_name IN ('pg_authid', 'pg_class')
SELECT count(*) FROM information_schema.columns WHERE table_name IN ('pg_shadow', 'pg_user')
SELECT grantee, privilege_type FROM information_schema.table_privileges WHERE table_name = 'cr_del' AND grantee LIKE 'cr%' ORDER BY 1
SELECT count(*) FROM information_schema.role_table_grants WHERE table_name = 'cr_del' AND grantee = 'PUBLIC'
SET search_path = 'cr_mine,public'
SHOW search_path
SELECT current_schemas(false)
RESET search_path
SET session_replication_role = replica
SET LOCAL lc_messages = 'C'
SELECT set_config('session_replication_role', 'local', false)
ALTER SCHEMA cr_mine OWNER TO cr_own
CREATE SEQUENCE cr_mine.q OWNED BY cr_shut.a
CREATE SEQUENCE cr_mine.q OWNED BY cr_own.a
CREATE SEQUENCE cr_mine.q
ALTER SEQUENCE cr_mine.q OWNED BY cr_open.a
ALTER SEQUENCE cr_mine.q OWNED BY cr_own.a
ALTER SEQUENCE cr_own_a_seq OWNED BY cr_open.a
CREATE TYPE cr_mine.cr_mood AS ENUM ('sad')
ALTER TYPE cr_mine.cr_mood OWNER TO cr_own
BEGIN; LOCK TABLE cr_in IN ACCESS SHARE MODE
ROLLBACK
BEGIN; LOCK TABLE cr_in IN ROW SHARE MODE
ROLLBACK
BEGIN; LOCK TABLE cr_in IN ROW EXCLUSIVE MODE
ROLLBACK
BEGIN; LOCK TABLE cr_in IN SHARE MODE
ROLLBACK
BEGIN; LOCK TABLE cr_in IN ACCESS EXCLUSIVE MODE
ROLLBACK
BEGIN; LOCK TABLE cr_open IN ACCESS SHARE MODE
ROLLBACK
BEGIN; LOCK TABLE cr_open IN ROW SHARE MODE
ROLLBACK
BEGIN; LOCK TABLE cr_open IN ROW EXCLUSIVE MODE
ROLLBACK
BEGIN; LOCK TABLE cr_open IN SHARE MODE
ROLLBACK
BEGIN; LOCK TABLE cr_open IN ACCESS EXCLUSIVE MODE
ROLLBACK
BEGIN; LOCK TABLE cr_del IN ACCESS SHARE MODE
ROLLBACK
BEGIN; LOCK TABLE cr_del IN ROW SHARE MODE
ROLLBACK
BEGIN; LOCK TABLE cr_del IN ROW EXCLUSIVE MODE
ROLLBACK
BEGIN; LOCK TABLE cr_del IN SHARE MODE
ROLLBACK
BEGIN; LOCK TABLE cr_del IN ACCESS EXCLUSIVE MODE
ROLLBACK
DROP TYPE cr_mine.cr_mood
"""


def asked_of(ask: Callable[[bytes], list[str]], text: str) -> list[str]:
    """Return what an answer says, but for positions, and the database's name in errors."""
    kept = [line for line in ask(query(text)) if line[0] in "EDC" and "QUERY PLAN" not in line]
    return [line.partition(" at ")[0] if line[0] == "E" and " at " in line else line for line in kept]


def test_everybody_sees_what_postgres_shows_them(world: World, postgres: PostgresCluster) -> None:
    ours = world.client()
    theirs = RawClient(postgres.port, "postgres", "postgres")
    for text in filter(None, SETUP.split("\n")):
        for client in (ours, theirs):
            assert not any(line[0] == "E" for line in client.ask(query(text))), text
    ours.ask(query("SET session_replication_role = replica"))
    queries = [f"SELECT count(*) >= 0 FROM {name}" for name in (*CLOSED, *OPEN)]
    queries += [
        f"SELECT has_table_privilege('{name}', 'SELECT')" for name in (*CLOSED, *OPEN) if name != "pg_subscription"
    ]
    queries += [f"SELECT has_any_column_privilege('{name}', 'SELECT, INSERT')" for name in CLOSED]
    differing = []
    for name in ("cr_eve", "cr_all"):
        role = world.database.catalog.image.roles.by_name[name].oid
        pair = (
            SessionClient(world, {"user": name, "database": "antumbra"}, role),
            RawClient(postgres.port, name, "postgres"),
        )
        for text in (*queries, *filter(None, QUERIES.split("\n"))):
            found = [asked_of(client.ask, text) for client in pair]
            found = [
                [line.replace("postgres", "antumbra") for line in one if not line.startswith("D [b'Seq Scan")]
                for one in found
            ]
            if found[0] != found[1] and not (text.startswith("EXPLAIN") and found[1][:1] != found[0][:1]):
                differing.append((name, text, *found))
        pair[1].hang_up()
    theirs.hang_up()
    print(*differing, sep="\n")
    assert not differing


def test_to_describe_a_query_asks_for_no_right_and_says_nothing(world: World) -> None:
    superuser = world.client()
    superuser.run("CREATE ROLE eve", "CREATE TABLE t (a int)", "CREATE SEQUENCE q", "GRANT SELECT ON t TO eve")
    superuser.run("SELECT setval('q', 7)")
    eve = SessionClient(
        world, {"user": "eve", "database": "antumbra"}, world.database.catalog.image.roles.by_name["eve"].oid
    )
    for number, text in enumerate((
        "SELECT rolname FROM pg_authid",
        "SELECT rolname, a FROM pg_authid, t",
        "SELECT a / (pg_sequence_last_value('q'::regclass) - 7) FROM t",
    )):  # fmt: skip
        for client in (superuser, eve):
            found = client.ask(parse(text, f"p{number}"), describe("S", f"p{number}"), b"S\x00\x00\x00\x04")
            assert not any(line[0] == "E" for line in found), (text, found)
    superuser.ask(query("SELECT rolname, a FROM pg_authid, t"))
