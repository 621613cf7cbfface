"""Definitions of transactions that began before others' definitions were committed: only who
touches the same objects is told so.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.session_client import SessionClient, World

CONFLICT = "E ERROR 40001: could not serialize access due to concurrent update"
SETUP = (
    "CREATE SCHEMA q",
    "CREATE TABLE q.base (k int)",
    "CREATE TABLE q.other (k int)",
    "CREATE TABLE q.third (k int)",
    "INSERT INTO q.other VALUES (7)",
    "CREATE VIEW q.seen AS SELECT k FROM q.other",
    "CREATE FOREIGN TABLE q.s (k int) SERVER stream",
)


@pytest.fixture
def clients(world: World) -> tuple[SessionClient, SessionClient]:
    world.client().run(*SETUP)
    return world.client(), world.client()


# What another session commits, then what a transaction does that has written before.
GO_ON = [
    (["CREATE TABLE q.t1 (k int)"], ["CREATE TABLE q.t2 AS SELECT * FROM q.base"]),
    (["CREATE TABLE q.t1 AS SELECT 5 AS k"], ["CREATE VIEW q.v AS SELECT * FROM q.t1"]),
    (["CREATE TABLE q.t3 (k int)", "DROP TABLE q.t3"], ["CREATE TABLE q.t3 (a int)", "INSERT INTO q.t3 VALUES (1)"]),
    (["CREATE SCHEMA q2"], ["CREATE TABLE q2.x (k int)", "INSERT INTO q2.x VALUES (1)"]),
    (["CREATE VIEW q.v1 AS SELECT 1 AS one"], ["CREATE OR REPLACE VIEW q.v1 AS SELECT 2 AS one", "DROP VIEW q.v1"]),
    (["DROP VIEW q.seen"], ["DROP TABLE q.other"]),
    (["COMMENT ON TABLE q.other IS 'x'"], ["CREATE TABLE q.t2 (k int)", "COMMENT ON TABLE q.t2 IS 'y'"]),
    (
        ["GRANT SELECT ON q.other TO PUBLIC", "CREATE ROLE r"],
        ["CREATE TABLE q.t2 (k int)", "GRANT SELECT ON q.t2 TO r"],
    ),
    (["ALTER TABLE q.other ADD z int"], ["ALTER TABLE q.third ADD z int", "INSERT INTO q.third VALUES (1, 2)"]),
    (["ALTER TABLE q.other RENAME TO renamed"], ["CREATE TABLE q.other (a int)", "DROP TABLE q.base CASCADE"]),
    (["CREATE SEQUENCE q.n", "CREATE TYPE q.e AS ENUM ('a')"], ["CREATE TABLE q.t2 (k int DEFAULT 1, e q.e)"]),
    (
        ["CREATE VIEW q.c AS SELECT count(*) AS n FROM q.s"],
        ["CREATE VIEW q.d AS SELECT k, count(*) FROM q.s GROUP BY k"],
    ),
    (
        ["CREATE FOREIGN TABLE q.s2 (k int) SERVER stream"],
        ["CREATE INDEX i ON q.base (k)", "INSERT INTO q.s2 VALUES (1)"],
    ),
]


@pytest.mark.turns(2)
@pytest.mark.parametrize(("others", "own"), GO_ON)
def test_who_touches_other_objects_goes_on(
    world: World, clients: tuple[SessionClient, SessionClient], others: list[str], own: list[str]
) -> None:
    client, other = clients
    client.run("BEGIN", "INSERT INTO q.base VALUES (1)")
    other.run(*others)
    client.run(*own, "COMMIT")
    # The next one begins with both.
    other.run("BEGIN", "CREATE TABLE q.last (k int)", "COMMIT", "INSERT INTO q.last VALUES (1)")
    assert client.rows("SELECT k FROM q.last") == ["D [b'1']"], "both are committed"


@pytest.mark.turns(2)
@pytest.mark.parametrize(
    ("others", "own", "expected"),
    [
        (["CREATE TABLE q.t1 (k int)"], ["CREATE TABLE q.t1 (a int)"], 'E ERROR 42P07: relation "t1" already exists'),
        (["CREATE TABLE q.t1 (k int)"], ["CREATE VIEW q.t1 AS SELECT 1"], 'E ERROR 42P07: relation "t1" already exists'),
        (["CREATE TABLE q.t1 AS SELECT 5"], ["CREATE TABLE q.t2 (k int)", "SELECT * FROM q.t1"], CONFLICT),
        (["CREATE TABLE q.t1 AS SELECT 5"], ["CREATE TABLE q.t2 AS SELECT * FROM q.t1"], CONFLICT),
        (["CREATE TABLE q.t1 AS SELECT 5"], ["DROP TABLE q.t1"], CONFLICT),
        (["CREATE TABLE q.t1 AS SELECT 5"], ["ALTER TABLE q.t1 RENAME TO t2", "COMMIT"], CONFLICT),
        (["ALTER TABLE q.other ADD z int"], ["ALTER TABLE q.other ADD y int"], CONFLICT),
        (["ALTER TABLE q.other RENAME k TO kk"], ["CREATE TABLE q.t2 (k int)", "SELECT kk FROM q.other"], CONFLICT),
        (["ALTER TABLE q.other ADD CHECK (k > 0)"], ["CREATE TABLE q.t2 (k int)", "INSERT INTO q.other VALUES (1)"], CONFLICT),
        (["ALTER TABLE q.base ADD z int"], ["CREATE TABLE q.t2 (k int)", "COMMIT"], CONFLICT),
        (["DROP TABLE q.base"], ["CREATE TABLE q.t2 (k int)", "COMMIT"], CONFLICT),
        (["DROP TABLE q.third"], ["CREATE VIEW q.v AS SELECT * FROM q.third"], 'E ERROR 42P01: relation "q.third" does not exist'),
        (["DROP SCHEMA q CASCADE"], ["CREATE TABLE q.t2 (k int)"], 'E ERROR 3F000: schema "q" does not exist'),
        (["INSERT INTO q.third VALUES (3)"], ["ALTER TABLE q.third ADD w int", "COMMIT"], CONFLICT),
        (["CREATE VIEW q.c AS SELECT count(*) AS n FROM q.s"], ["CREATE TABLE q.t2 (k int)", "SELECT * FROM q.c"], CONFLICT),
    ],
)  # fmt: skip
def test_who_touches_the_same_object_is_told_so(
    clients: tuple[SessionClient, SessionClient], others: list[str], own: list[str], expected: str
) -> None:
    client, other = clients
    client.run("BEGIN", "INSERT INTO q.base VALUES (1)")
    other.run(*others)
    client.run(*own[:-1])
    answers = client.ask_in_full(own[-1])
    assert [answer[0].split(" at ")[0] for answer in answers] == [expected.replace("E ERROR ", "E ")]
    if expected == CONFLICT:
        assert answers[0][1]["hint"] == "The transaction might succeed if retried."
    client.run("ROLLBACK")
    other.run("CREATE TABLE after (k int)", "INSERT INTO after VALUES (1)")


def test_savepoints_before_and_after_the_first_definition(clients: tuple[SessionClient, SessionClient]) -> None:
    client, other = clients
    client.run("BEGIN", "INSERT INTO q.base VALUES (1)", "SAVEPOINT a")
    other.run("CREATE TABLE q.t1 (k int)", "ALTER TABLE q.other ADD z int")
    client.run("CREATE TABLE q.t2 (k int)", "SAVEPOINT b", "INSERT INTO q.t2 VALUES (1)")
    assert client.ask("SELECT * FROM q.other")[0] == CONFLICT
    client.run("ROLLBACK TO b", "INSERT INTO q.t2 VALUES (2)", "ROLLBACK TO a")
    # As at the beginning: what it sees is of one moment.
    assert client.rows("SELECT * FROM q.other") == ["D [b'7']"]
    other.run("CREATE TABLE q.t3 (k int)")
    client.run("CREATE TABLE q.t4 (k int)", "INSERT INTO q.t4 VALUES (4)", "COMMIT")
    assert other.rows("SELECT * FROM q.t4 UNION SELECT * FROM q.base ORDER BY 1") == ["D [b'1']", "D [b'4']"]


def test_the_newest_catalog_is_there_after_a_restart(tmp_path: Path) -> None:
    world = World(tmp_path / "data")
    client, other = world.client(), world.client()
    client.run("CREATE TABLE base (k int)")
    for at in range(5):
        client.run("BEGIN", "INSERT INTO base VALUES (1)")
        other.run(f"CREATE TABLE a{at} (k int)")
        client.run(f"CREATE TABLE b{at} AS SELECT count(*) AS n FROM base", "COMMIT")
        if at == 2:
            world.close()
            world = World(tmp_path / "data")
            client, other = world.client(), world.client()
        if at == 3:
            world.database.store._log.execute("CHECKPOINT")
    world.abandon()
    again = World(tmp_path / "data")
    names = {f"public.{letter}{at}" for letter in "ab" for at in range(5)}
    known = {name if "." in name else f"public.{name}" for name in again.database.catalog.image.entries}
    assert names <= known
    assert again.client().rows("SELECT n FROM b4") == ["D [b'5']"]
    assert len(again.database.store._log.execute("SELECT * FROM catalog.definitions").fetchall()) <= 2
    again.client().run("CREATE TABLE last (k int)")
    assert len(again.database.store._log.execute("SELECT * FROM catalog.definitions").fetchall()) == 1
    again.close()
