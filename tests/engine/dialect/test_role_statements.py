"""CREATE, ALTER, DROP, GRANT and REVOKE of roles, SET ROLE: the same words as PostgreSQL's, and
what is there after a restart.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.catalog.roles import BOOTSTRAP_OID, PREDEFINED
from sql.wire.scram import make_verifier, read_verifier
from tests.end_to_end.raw_client import RawClient
from tests.engine.session_client import SessionClient, World
from tests.oracle.postgres import PostgresCluster

SCRIPT = r"""
CREATE ROLE r_a
CREATE ROLE r_a
CREATE USER r_b WITH CREATEDB CREATEROLE NOINHERIT CONNECTION LIMIT 3 VALID UNTIL '2100-01-01'
CREATE GROUP r_c ROLE r_a ADMIN r_b
CREATE ROLE r_d IN ROLE r_c, r_a PASSWORD NULL
CREATE ROLE r_e PASSWORD ''
CREATE ROLE r_x SUPERUSER NOSUPERUSER
CREATE ROLE r_x LOGIN LOGIN
CREATE ROLE r_x PASSWORD 'a' PASSWORD 'b'
CREATE ROLE r_x WITH NONSENSE
CREATE ROLE r_x WITH "NONSENSE"
CREATE ROLE r_x WITH SELECT
CREATE ROLE r_x PASSWORD
CREATE ROLE r_x UNENCRYPTED PASSWORD 'a'
CREATE ROLE r_x CONNECTION LIMIT -2
CREATE ROLE r_x VALID UNTIL 'tomorrow-ish'
CREATE ROLE r_x IN ROLE nobody
CREATE ROLE pg_mine
CREATE ROLE public
CREATE ROLE "public"
CREATE ROLE none
CREATE ROLE current_user
CREATE ROLE session_user
CREATE ROLE
CREATE ROLE "Mixed Case"
ALTER ROLE "Mixed Case" RENAME TO r_m
ALTER ROLE r_m RENAME TO r_a
ALTER ROLE r_m RENAME TO pg_m
ALTER ROLE nobody RENAME TO r_n
ALTER ROLE CURRENT_USER RENAME TO r_n
ALTER ROLE r_m NOLOGIN
ALTER USER r_m WITH LOGIN PASSWORD 'x'
ALTER ROLE nobody LOGIN
ALTER ROLE pg_monitor LOGIN
ALTER ROLE r_m IN ROLE r_a
ALTER ROLE r_m
GRANT r_a TO r_b
GRANT r_a TO r_b
GRANT r_a, r_c TO r_m WITH ADMIN OPTION
GRANT r_b TO r_a
GRANT r_a TO r_a
GRANT nobody TO r_a
GRANT r_a TO nobody
GRANT r_a TO PUBLIC
GRANT r_a TO
REVOKE ADMIN OPTION FOR r_a FROM r_m
REVOKE r_a FROM r_m
REVOKE r_a FROM r_m
REVOKE nobody FROM r_m
REVOKE r_c FROM r_m CASCADE
SET ROLE nobody
SET ROLE r_b
SELECT current_user::text
SHOW role
SHOW is_superuser
CREATE ROLE r_f
CREATE ROLE r_s SUPERUSER
CREATE ROLE r_s REPLICATION
CREATE ROLE r_s BYPASSRLS
ALTER ROLE r_f CREATEDB
ALTER ROLE r_f SUPERUSER
ALTER ROLE r_f REPLICATION
DROP ROLE r_b
DROP ROLE r_f
SET ROLE r_a
CREATE ROLE r_f
ALTER ROLE r_a PASSWORD 'mine'
ALTER ROLE r_b PASSWORD 'yours'
ALTER ROLE r_a CREATEDB
DROP ROLE r_c
GRANT r_c TO r_m
RESET ROLE
SET SESSION AUTHORIZATION r_a
SELECT current_user::text, session_user::text
SET ROLE r_c
SET ROLE r_b
SET SESSION AUTHORIZATION r_b
SET ROLE NONE
SHOW session_authorization
RESET SESSION AUTHORIZATION
SHOW is_superuser
BEGIN
SET LOCAL ROLE r_a
SELECT current_user::text
COMMIT
SELECT current_user = session_user
BEGIN
CREATE ROLE r_t
SET ROLE r_t
SELECT current_user::text
ROLLBACK
SET ROLE r_t
SELECT current_user = session_user
DROP ROLE r_a, nobody
DROP ROLE IF EXISTS nobody, r_e
DROP ROLE CURRENT_USER
DROP USER r_a, r_b, r_c, r_d, r_m
DROP ROLE r_a
"""


def test_the_same_words_as_postgresql(world: World, postgres: PostgresCluster) -> None:
    ours, theirs = world.client(), RawClient(postgres.port, "postgres", "postgres")
    found: list[object] = []
    expected: list[object] = []
    for text in filter(None, SCRIPT.split("\n")):
        found.append((text, [answer for answer in ours.ask_in_full(text) if not answer[0].startswith("S ")]))
        expected.append((text, [answer for answer in theirs.ask_in_full(text) if not answer[0].startswith("S ")]))
    theirs.hang_up()
    differing = [pair for pair in zip(found, expected, strict=True) if pair[0] != pair[1]]
    print(*differing, sep="\n")
    assert not differing


GRANTED = """
su CREATE ROLE g_adm CREATEROLE LOGIN
su CREATE ROLE g_bob
su CREATE ROLE g_ann
su CREATE TABLE g_t (a int)
su CREATE SCHEMA g_s
su GRANT SELECT ON g_t TO g_bob GRANTED BY nobody
su GRANT SELECT ON g_t TO g_bob GRANTED BY g_bob
su GRANT SELECT ON g_t TO g_bob GRANTED BY CURRENT_USER
su GRANT SELECT ON g_t TO g_bob GRANTED BY SESSION_USER
su GRANT SELECT ON ALL TABLES IN SCHEMA g_s TO g_bob GRANTED BY nobody
su REVOKE SELECT ON g_t FROM g_bob GRANTED BY g_bob
su REVOKE SELECT ON g_t FROM g_bob GRANTED BY nobody
su REVOKE SELECT ON g_t FROM g_bob GRANTED BY CURRENT_ROLE
su GRANT USAGE ON SCHEMA g_s TO g_bob GRANTED BY nobody
su GRANT USAGE ON SCHEMA g_s TO g_bob GRANTED BY g_ann
su GRANT g_bob TO g_adm GRANTED BY nobody
su GRANT g_bob TO g_adm GRANTED BY g_ann
su REVOKE g_bob FROM g_adm GRANTED BY nobody
adm GRANT g_bob TO g_ann GRANTED BY nobody
adm GRANT g_bob TO g_ann GRANTED BY g_bob
adm GRANT g_bob TO g_ann GRANTED BY g_adm
adm GRANT SELECT ON g_t TO g_bob GRANTED BY nobody
adm GRANT SELECT ON g_t TO g_bob GRANTED BY g_bob
adm GRANT pg_database_owner TO g_adm
adm GRANT pg_database_owner TO nobody
adm GRANT g_bob TO pg_database_owner
adm CREATE ROLE g_new IN ROLE pg_database_owner
adm CREATE ROLE g_new ROLE pg_database_owner
adm CREATE ROLE g_new ADMIN pg_database_owner
su GRANT pg_database_owner TO g_ann
su GRANT g_ann TO pg_database_owner
su DROP TABLE g_t
su DROP SCHEMA g_s
su DROP ROLE g_adm, g_bob, g_ann
"""


def test_who_has_granted_and_the_owner_of_the_database(world: World, postgres: PostgresCluster) -> None:
    ours, theirs = {"su": world.client()}, {"su": RawClient(postgres.port, "postgres", "postgres")}
    differing = []
    for line in GRANTED.strip().splitlines():
        who, _, text = line.partition(" ")
        if who not in ours:
            ours[who] = session_of(world, f"g_{who}")
            theirs[who] = RawClient(postgres.port, f"g_{who}", "postgres")
        pair = [client.ask_in_full(text) for client in (ours[who], theirs[who])]
        # PostgreSQL has no code of its own for this; XX000 is a bug here. It also lets repeated
        # memberships pass in silence.
        words = [
            [said.replace("XX000", "0LP01") for said, _ in answers if not said.startswith(("Z", "N 00000"))]
            for answers in pair
        ]
        if words[0] != words[1]:
            differing.append((text, *words))
    for client in theirs.values():
        client.hang_up()
    print(*differing, sep="\n")
    assert not differing


def session_of(world: World, role: str) -> SessionClient:
    return SessionClient(
        world, {"user": role, "database": "antumbra"}, world.database.catalog.image.roles.by_name[role].oid
    )


def test_createrole_gives_nothing_that_superusers_alone_can_give(world: World) -> None:
    superuser = world.client()
    superuser.run(
        "CREATE ROLE adm CREATEROLE LOGIN", "CREATE ROLE boss SUPERUSER", "CREATE ROLE files", "CREATE ROLE plain",
        "GRANT pg_read_server_files TO files", "CREATE ROLE heir", "GRANT boss TO heir", "CREATE ROLE below IN ROLE files",
    )  # fmt: skip
    adm = session_of(world, "adm")
    for role in (*PREDEFINED, "boss", "files", "heir", "below"):
        for text in (
            f"GRANT {role} TO adm",
            f"GRANT {role} TO adm WITH ADMIN OPTION",
            f"GRANT {role} TO adm GRANTED BY adm",
            f"CREATE ROLE mine IN ROLE {role}",
            f"ALTER ROLE {role} LOGIN PASSWORD 'x'",
            f"ALTER GROUP {role} ADD USER adm",
            f"SET ROLE {role}",
        ):
            (answer, *_) = adm.ask(text)
            assert answer.startswith("E "), (text, answer)
            assert role == "pg_database_owner" or answer.split()[2].strip(":") in ("42501", "42939", "0A000"), answer
    adm.run("GRANT plain TO adm", "ALTER ROLE plain PASSWORD 'x'", "SET ROLE plain", "RESET ROLE")
    assert "42501" in adm.ask("COPY (SELECT 1) TO '/tmp/x'")[0]
    assert adm.rows("SELECT pg_has_role('adm', 'pg_read_server_files', 'MEMBER')") == ["D [b'f']"]
    superuser.run("GRANT pg_read_all_data TO adm WITH ADMIN OPTION")
    adm.run("GRANT pg_read_all_data TO plain", "ALTER ROLE adm VALID UNTIL 'infinity'")


def test_roles_are_there_after_a_restart(tmp_path: Path) -> None:
    world = World(tmp_path / "data")
    client = world.client()
    client.run("CREATE ROLE ann LOGIN PASSWORD 'pencil'", "CREATE ROLE staff", "GRANT staff TO ann")
    client.run("BEGIN", "CREATE ROLE gone", "ROLLBACK")
    before = world.database.catalog.image.roles
    world.abandon()
    again = World(tmp_path / "data")
    after = again.database.catalog.image.roles
    assert dict(after.by_name) == dict(before.by_name)
    assert (after.memberships, after.mock_secret) == (before.memberships, before.mock_secret)
    verifier = read_verifier(after.by_name["ann"].verifier or "")
    assert verifier is not None
    assert verifier == make_verifier("pencil", verifier.salt)
    assert "gone" not in after.by_name
    assert after.by_oid(BOOTSTRAP_OID) is not None
    again.close()


def test_a_verifier_is_kept_as_it_is_given(world: World) -> None:
    client = world.client()
    given = str(make_verifier("pencil", b"0123456789abcdef", 5000))
    client.run(f"CREATE ROLE ann PASSWORD '{given}'")
    kept = [world.database.catalog.image.roles.by_name["ann"].verifier]
    client.run("ALTER ROLE ann PASSWORD NULL")
    kept.append(world.database.catalog.image.roles.by_name["ann"].verifier)
    assert kept == [given, None]
    (answer,) = client.ask_in_full("ALTER ROLE ann PASSWORD 'md5aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'")
    assert answer[0] == "E 0A000: an md5 password is not supported yet"


def test_passwords_that_would_be_kept_as_md5_are_refused(world: World) -> None:
    client = world.client()
    client.run("SET password_encryption = md5")
    (answer,) = client.ask_in_full("CREATE ROLE ann PASSWORD 'pencil'")
    assert answer[0] == "E 0A000: an md5 password is not supported yet"
    # What is a verifier already is kept as it is, whatever the setting.
    client.run(f"CREATE ROLE ann PASSWORD '{make_verifier('pencil', b'0123456789abcdef', 5000)}'")
    client.run("RESET password_encryption")
    client.run("ALTER ROLE ann PASSWORD 'pencil'")


def test_a_password_is_in_no_repr(world: World) -> None:
    world.client().run("CREATE ROLE ann PASSWORD 'verysecret'")
    assert "SCRAM" not in repr(world.database.catalog.image.roles)


def test_a_session_whose_role_is_gone_may_nothing(world: World) -> None:
    superuser = world.client()
    superuser.run("CREATE ROLE ann LOGIN CREATEROLE")
    session = ann(world)
    session.run("CREATE ROLE bob")
    superuser.run("DROP ROLE ann")
    assert session.ask("CREATE ROLE eve")[0] == "E ERROR 42501: permission denied to create role"
    # A name that is no role makes nobody a superuser.
    assert session.ask("SET SESSION AUTHORIZATION antumbra")[0].startswith("E ERROR 42501")


def test_what_a_session_asks_to_be_at_startup(world: World) -> None:
    world.client().run("CREATE ROLE ann LOGIN", "CREATE ROLE staff", "GRANT staff TO ann")
    assert ann(world, role="staff").rows("SELECT current_user, session_user") == ["D [b'staff', b'ann']"]
    for refused in ({"role": "antumbra"}, {"session_authorization": "antumbra"}, {"role": "nobody"}):
        with pytest.raises(Exception, match=r"42501|22023"):
            ann(world, **refused)


def ann(world: World, **parameters: str) -> SessionClient:
    """Return a session that was let in as ann."""
    role = world.database.catalog.image.roles.by_name["ann"].oid
    return SessionClient(world, {"user": "ann", "database": "antumbra", **parameters}, role)


WHO = """
SELECT current_setting('is_superuser')
SHOW is_superuser
SELECT current_setting('is_superuser') FROM pg_am LIMIT 1
SET ROLE w_boss
SELECT current_setting('is_superuser')
SET ROLE w_plain
SELECT current_setting('is_superuser')
RESET ROLE
SELECT current_setting('is_superuser')
SET SESSION AUTHORIZATION w_plain
SELECT current_setting('is_superuser')
SET ROLE w_boss
RESET SESSION AUTHORIZATION
SELECT current_setting('is_superuser')
BEGIN
SET LOCAL ROLE w_plain
SELECT current_setting('is_superuser'), current_user
SAVEPOINT a
SET LOCAL ROLE NONE
SELECT current_setting('is_superuser')
ROLLBACK TO a
SELECT current_setting('is_superuser'), current_user
COMMIT
SELECT current_setting('is_superuser')
SET is_superuser = on
SELECT set_config('is_superuser', 'on', false)
SET ROLE w_plain
RESET ALL
SELECT current_setting('is_superuser'), current_user
DISCARD ALL
SELECT current_setting('is_superuser')
"""


def test_is_superuser_is_the_roles_from_the_start(world: World, postgres: PostgresCluster) -> None:
    setup = (
        "CREATE ROLE w_boss SUPERUSER LOGIN", "CREATE ROLE w_plain LOGIN", "CREATE ROLE w_heir LOGIN", "GRANT w_boss, w_plain TO w_heir",
    )  # fmt: skip
    world.client().run(*setup)
    known = RawClient(postgres.port, "postgres", "postgres")
    for text in setup:
        known.ask_in_full(text)
    differing = []
    for role in ("w_boss", "w_plain", "w_heir"):
        for first in range(3):
            ours, theirs = session_of(world, role), RawClient(postgres.port, role, "postgres")
            for text in WHO.strip().splitlines()[first:]:
                pair = [
                    [
                        said
                        for said, _ in client.ask_in_full(text)
                        if not said.startswith(("T", "S application", "S TimeZone"))
                    ]
                    for client in (ours, theirs)
                ]
                if pair[0] != pair[1]:
                    differing.append((role, text, *pair))
                if first:
                    break
            theirs.hang_up()
    known.ask_in_full("DROP ROLE w_boss, w_plain, w_heir")
    known.hang_up()
    print(*differing, sep="\n")
    assert not differing


def test_where_the_files_are_is_for_superusers(world: World) -> None:
    superuser = world.client()
    superuser.run("CREATE ROLE ann LOGIN")
    assert superuser.rows("SHOW data_directory") == superuser.rows("SELECT current_setting('data_directory')")
    one = session_of(world, "ann")
    for name in ("data_directory", "data_dir", "hba", "copy_directory"):
        for text in (f"SHOW {name}", f"SELECT current_setting('{name}')", f"SELECT current_setting('{name}', true)"):
            assert one.ask(text)[0].startswith("E ERROR 42501: must be superuser"), text
    folder = str(world.config.data_dir)
    assert folder not in str(one.ask("SHOW ALL")) + str(one.ask("SELECT * FROM pg_settings"))
    assert folder in str(superuser.ask("SHOW ALL"))
    assert "42704" in one.ask("SELECT current_setting(relname) FROM (SELECT 'hba' AS relname FROM pg_am LIMIT 1) x")[0]


def test_the_schema_of_temporary_relations_is_no_object_of_its_role(world: World) -> None:
    superuser = world.client()
    superuser.run(
        "CREATE ROLE tess", "GRANT USAGE ON SCHEMA public TO tess", "SET ROLE tess", "CREATE TEMP TABLE t (a int)"
    )
    superuser.run("RESET ROLE")
    assert "2BP01" in superuser.ask("DROP ROLE tess")[0]
    superuser.run("DROP TABLE pg_temp.t", "REVOKE USAGE ON SCHEMA public FROM tess", "DROP ROLE tess")
    superuser.run("CREATE TEMP TABLE t (a int)", "INSERT INTO t VALUES (1)")
