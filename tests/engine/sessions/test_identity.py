"""Identity of a session: the roles that it was let in as and became, whatever their names mean to
others meanwhile.
"""

from __future__ import annotations

from engine.catalog.roles import BOOTSTRAP_OID
from tests.end_to_end.raw_client import query
from tests.engine.session_client import SessionClient, World

DENIED = "42501"


def let_in(world: World, name: str) -> SessionClient:
    """Return a session of a role, or of a name that is none's while there are no roles."""
    role = world.database.catalog.image.roles.by_name.get(name)
    return SessionClient(world, {"user": name, "database": "antumbra"}, BOOTSTRAP_OID if role is None else role.oid)


def ended(client: SessionClient, text: str) -> str:
    """Return the SQLSTATE with which a statement ends, or nothing."""
    failed = [line for line in client.ask(query(text)) if line.startswith("E ")]
    return failed[-1].split()[2].rstrip(":") if failed else ""


def test_a_name_that_others_get_gives_nothing_to_whoever_had_it(world: World) -> None:
    superuser = world.client()
    superuser.run("CREATE ROLE ann", "CREATE ROLE bob", "GRANT bob TO ann", "CREATE TABLE t (a int)")
    clients = [let_in(world, "ann") for _ in range(4)]
    clients[0].run("SET ROLE bob")
    clients[1].run("SET ROLE bob", "RESET ROLE")
    clients[2].run("SET SESSION AUTHORIZATION ann", "SET ROLE bob")
    for texts in (
        ("ALTER ROLE bob RENAME TO other", "CREATE ROLE bob SUPERUSER"),
        ("DROP ROLE other", "ALTER ROLE ann RENAME TO ann2", "CREATE ROLE ann SUPERUSER"),
    ):
        superuser.run(*texts)
        for client in clients:
            for text in ("SELECT * FROM t", "CREATE ROLE more", "SHOW data_directory", "SET ROLE bob"):
                assert ended(client, text) == DENIED, (texts, text)
            assert ended(client, "SET SESSION AUTHORIZATION bob") == DENIED
    for client in clients:
        assert ended(client, "SET ROLE ann") == DENIED
    superuser.run("GRANT SELECT ON t TO ann2")
    assert [ended(client, "SELECT * FROM t") for client in clients] == [DENIED, "", DENIED, ""]
    for client in clients:
        assert ended(client, "RESET ROLE") == ""
        assert ended(client, "SELECT * FROM t") == ""


def test_whose_role_is_gone_is_nobody_and_sees_nothing_of_others(world: World) -> None:
    superuser = world.client()
    superuser.run("CREATE ROLE ann", "CREATE ROLE bob", "GRANT bob TO ann", "CREATE TABLE t (a int)", "CREATE SCHEMA s")
    superuser.run("GRANT SELECT ON t TO bob", "GRANT ALL ON SCHEMA s TO bob")
    member, bob = let_in(world, "ann"), let_in(world, "bob")
    member.run("SET ROLE bob", "SELECT * FROM t")
    superuser.run("DROP OWNED BY bob", "DROP ROLE bob")
    for client in (member, bob):
        for text in (
            "SELECT * FROM t",
            "CREATE TABLE s.x (a int)",
            "CREATE ROLE more",
            "COPY t TO STDOUT",
            "TABLE pg_authid",
        ):
            assert ended(client, text) == DENIED, text
        # The rows of others are there, without what they do.
        (line,) = [one for one in client.ask(query("SELECT count(query), count(*) FROM pg_stat_activity WHERE query NOT LIKE '<%'"))
                   if one.startswith("D ")]  # fmt: skip
        assert line == "D [b'0', b'0']"
        assert ended(client, "CREATE TEMP TABLE mine (a int)") == "42704"
        assert ended(client, "SELECT count(*) FROM pg_class") == ""
    superuser.run("SELECT relname, relowner, pg_get_userbyid(relowner) FROM pg_class")


def test_who_came_in_under_a_name_that_becomes_a_role_s_is_that_role_when_it_says_so(world: World) -> None:
    stranger, other = let_in(world, "eve"), let_in(world, "eve")
    stranger.run("CREATE TABLE t (a int)", "CREATE ROLE eve", "CREATE ROLE ann")
    # It was let in as a superuser, and may end what it has begun.
    stranger.run("TABLE t")
    for become in ("SET ROLE eve", "SET SESSION AUTHORIZATION eve", "SELECT set_config('role', 'eve', false)"):
        other.run("RESET ROLE", become)
        assert ended(other, "TABLE t") == DENIED, become
        assert ended(other, "CREATE ROLE more") == DENIED, become
        assert "off" in str(other.ask(query("SHOW is_superuser")))
    assert ended(other, "SET ROLE ann") == DENIED
    stranger.run("ALTER ROLE eve SUPERUSER")
    other.run("TABLE t")
    asked = SessionClient(world, {"user": "eve", "database": "antumbra", "options": "-c role=eve"}, BOOTSTRAP_OID)
    stranger.run("ALTER ROLE eve NOSUPERUSER")
    assert ended(asked, "TABLE t") == DENIED


def test_who_is_no_superuser_any_more_may_look_at_nothing_of_theirs(world: World) -> None:
    superuser = world.client()
    superuser.run("CREATE ROLE sup SUPERUSER")
    sup = let_in(world, "sup")
    sup.run("SHOW data_directory", "SELECT current_setting('hba')", "SET session_replication_role = replica")
    superuser.run("ALTER ROLE sup NOSUPERUSER")
    for text in (
        "SHOW data_directory",
        "SELECT current_setting('data_directory')",
        "SET session_replication_role = local",
        "TABLE pg_authid",
        "RESET session_replication_role",
    ):
        assert ended(sup, text) == DENIED, text
    assert "data_directory" not in str(sup.ask(query("SHOW ALL")))
    assert "D [b'0']" in sup.ask(query("SELECT count(*) FROM pg_settings WHERE name = 'data_directory'"))
