"""DETAIL of errors about rows and keys: values of columns that the role may read, or has given
itself, and no others, as in PostgreSQL.
"""

from __future__ import annotations

from tests.end_to_end.raw_client import SYNC, RawClient, bind, copy_data, execute, frame, parse
from tests.engine.session_client import SessionClient, World
from tests.oracle.postgres import PostgresCluster

SCRIPT = """
su CREATE ROLE de_ann LOGIN
su CREATE TABLE de_t (id int PRIMARY KEY, secret text NOT NULL, n int CHECK (n < 5), UNIQUE (secret, n))
su INSERT INTO de_t VALUES (1, 'hidden', 1)
su CREATE TABLE de_c (a int REFERENCES de_t (id), b int)
su CREATE TABLE de_d (x text, y int, FOREIGN KEY (x, y) REFERENCES de_t (secret, n))
su CREATE TABLE de_l (a int REFERENCES de_t (id) DEFERRABLE INITIALLY DEFERRED)
su CREATE TABLE de_s (id serial, secret text DEFAULT 'hidden', n int CHECK (n > 0) DEFAULT 0)
su CREATE TABLE de_p (id int PRIMARY KEY)
su CREATE TABLE de_k (a int REFERENCES de_p ON DELETE CASCADE, b text UNIQUE)
su INSERT INTO de_c VALUES (1, 1)
su INSERT INTO de_d VALUES ('hidden', 1)
su INSERT INTO de_p VALUES (1)
su GRANT INSERT, UPDATE, DELETE ON de_t, de_c, de_d, de_l, de_s, de_p, de_k TO de_ann
su GRANT USAGE ON SEQUENCE de_s_id_seq TO de_ann
ann INSERT INTO de_t VALUES (1, 'x', 1)
ann INSERT INTO de_t VALUES (2, 'hidden', 1)
ann INSERT INTO de_t VALUES (2, 'twice', 1), (2, 'thrice', 1)
ann INSERT INTO de_t VALUES (3, NULL, 1)
ann INSERT INTO de_t VALUES (3, 'abc', 9)
ann INSERT INTO de_t (n, id) VALUES (9, 7)
ann INSERT INTO de_t (n, secret, id) VALUES (9, 'abc', 7)
ann INSERT INTO de_t SELECT 3, NULL, 1
ann INSERT INTO de_t (id) VALUES (DEFAULT)
ann INSERT INTO de_t DEFAULT VALUES
ann INSERT INTO de_s DEFAULT VALUES
ann INSERT INTO de_s (secret) VALUES ('mine')
ann INSERT INTO de_s (secret, n) VALUES ('mine', DEFAULT)
ann UPDATE de_t SET n = 9
ann UPDATE de_t SET secret = NULL
ann UPDATE de_t SET n = 8, id = 1
ann INSERT INTO de_c VALUES (77, 1)
ann INSERT INTO de_d VALUES ('nope', 1)
ann DELETE FROM de_t
ann UPDATE de_t SET id = 5
ann INSERT INTO de_t VALUES (1, 'x', 1) ON CONFLICT DO NOTHING
ann BEGIN
ann INSERT INTO de_l VALUES (88)
ann COMMIT
ann INSERT INTO de_l VALUES (88)
su GRANT SELECT ON de_t TO de_ann
ann INSERT INTO de_t VALUES (1, 'x', 9) ON CONFLICT (id) DO UPDATE SET n = 9
ann INSERT INTO de_t VALUES (1, 'x', 1) ON CONFLICT (id) DO UPDATE SET n = 9
ann INSERT INTO de_t VALUES (1, 'x', 1)
ann INSERT INTO de_t VALUES (2, 'hidden', 1)
ann INSERT INTO de_t VALUES (3, NULL, 1)
ann UPDATE de_t SET n = 9
ann DELETE FROM de_t
ann INSERT INTO de_c VALUES (77, 1)
su REVOKE SELECT ON de_t FROM de_ann
su GRANT SELECT ON de_c, de_d, de_l TO de_ann
ann INSERT INTO de_c VALUES (77, 1)
ann INSERT INTO de_d VALUES ('nope', 1)
ann INSERT INTO de_l VALUES (88)
ann DELETE FROM de_t
ann INSERT INTO de_t VALUES (1, 'x', 1)
su SET ROLE de_ann
su INSERT INTO de_t VALUES (1, 'x', 1)
su UPDATE de_t SET n = 9
su RESET ROLE
su INSERT INTO de_t VALUES (1, 'x', 1)
su UPDATE de_t SET n = 9
su BEGIN
su SET LOCAL ROLE de_ann
su UPDATE de_t SET n = 9
su ROLLBACK
su GRANT CREATE ON SCHEMA public TO de_ann
su ALTER TABLE de_s OWNER TO de_ann
ann INSERT INTO de_s DEFAULT VALUES
ann REVOKE SELECT ON de_s FROM de_ann
ann INSERT INTO de_s (secret, n) VALUES ('b', 1), ('b', 1)
ann INSERT INTO de_s (secret, n) VALUES ('b', 0)
ann ALTER TABLE de_s ADD UNIQUE (secret)
ann GRANT SELECT ON de_s TO de_ann
ann ALTER TABLE de_s ADD UNIQUE (secret)
su DROP TABLE de_c, de_d, de_l, de_t, de_s, de_k, de_p
su REVOKE CREATE ON SCHEMA public FROM de_ann
su DROP ROLE de_ann
"""


def test_details_are_those_of_postgresql(world: World, postgres: PostgresCluster) -> None:
    ours, theirs = {"su": world.client()}, {"su": RawClient(postgres.port, "postgres", "postgres")}
    theirs["su"].ask_in_full("GRANT USAGE ON SCHEMA public TO PUBLIC")
    differing = []
    for line in SCRIPT.strip().splitlines():
        who, _, text = line.partition(" ")
        if who not in ours:
            ours[who] = member(world, f"de_{who}")
            theirs[who] = RawClient(postgres.port, f"de_{who}", "postgres")
        pair = [
            [(said, fields.get("detail")) for said, fields in client.ask_in_full(text) if said[0] in "EC"]
            for client in (ours[who], theirs[who])
        ]
        if pair[0] != pair[1]:
            differing.append((text, *pair))
    for client in theirs.values():
        client.hang_up()
    print(*differing, sep="\n")
    assert not differing


def member(world: World, name: str) -> SessionClient:
    return SessionClient(
        world, {"user": name, "database": "antumbra"}, world.database.catalog.image.roles.by_name[name].oid
    )


def test_no_other_way_tells_more(world: World) -> None:
    superuser = world.client()
    superuser.run(
        "CREATE ROLE ann",
        "CREATE TABLE t (id int PRIMARY KEY, secret text NOT NULL DEFAULT 'hidden', n int CHECK (n < 5))",
        "INSERT INTO t VALUES (1, 'hidden', 1)",
        "GRANT INSERT, UPDATE ON t TO ann",
    )
    ann = member(world, "ann")
    ways = (
        (parse("UPDATE t SET n = $1", "u"), bind([b"9"], "u"), execute(), SYNC),
        (parse("INSERT INTO t (id) VALUES ($1)", "i"), bind([b"1"], "i"), execute(), SYNC),
        ("SELECT 1; UPDATE t SET n = 9; SELECT 2",),
        ("COPY t (id, n) FROM STDIN", copy_data(b"5\t9\n"), frame(b"c", b"")),
        ("COPY t (id) FROM STDIN", copy_data(b"1\n"), frame(b"c", b"")),
    )
    details = []
    for way in ways:
        (fields,) = (fields for said, fields in ann.ask_in_full(*way) if said.startswith("E "))
        assert "hidden" not in str(fields), fields
        details.append(fields.get("detail"))
    row = "Failing row contains"
    assert details == [f"{row} (n) = (9).", None, f"{row} (n) = (9).", f"{row} (id, n) = (5, 9).", None]
