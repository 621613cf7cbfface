"""Foreign keys between transactions, over a restart, and by COPY; what single statements do is in
`definitions.sql`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.engine.session_client import SessionClient, World
from tests.oracle.antumbra import AntumbraServer

CONFLICT = "E 40001"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    running = World(tmp_path)
    client = running.client()
    client.ask("CREATE TABLE p (id int PRIMARY KEY, name text)")
    client.ask("CREATE TABLE c (p_id int REFERENCES p)")
    client.ask("INSERT INTO p VALUES (1, 'a'), (2, 'b')")
    yield running
    running.close()


def answer(client: SessionClient, text: str) -> str:
    """Return the first answer to a statement, with its fields."""
    return " ".join(map(str, client.ask_in_full(text)[0]))


def count(client: SessionClient, text: str) -> str:
    """Return the one value of a query."""
    (row,) = client.rows(text)
    return row.removeprefix("D ")


@pytest.mark.parametrize(
    "removal", ["DELETE FROM p WHERE id = 1", "UPDATE p SET id = 3 WHERE id = 1", "TRUNCATE p CASCADE"]
)
@pytest.mark.parametrize("child_first", [True, False])
def test_of_two_that_contradict_each_other_the_second_fails(world: World, removal: str, child_first: bool) -> None:
    one, other = world.client(), world.client()
    for client in (one, other):
        client.ask("BEGIN")
        client.ask("SELECT * FROM p")
    assert "INSERT 0 1" in answer(one, "INSERT INTO c VALUES (1)")
    assert not answer(other, removal).startswith("E")
    first, second = (one, other) if child_first else (other, one)
    assert "COMMIT" in answer(first, "COMMIT")
    assert answer(second, "COMMIT").startswith(CONFLICT)
    assert count(world.client(), "SELECT count(*) FROM c WHERE p_id NOT IN (SELECT id FROM p)") == "[b'0']"


def test_others_do_not_meet(world: World) -> None:
    one, other = world.client(), world.client()
    for client in (one, other):
        client.ask("BEGIN")
        client.ask("SELECT * FROM p")
    one.ask("INSERT INTO c VALUES (1)")
    other.ask("UPDATE p SET name = 'x' WHERE id = 2")
    other.ask("INSERT INTO c VALUES (2)")
    assert "COMMIT" in answer(one, "COMMIT")
    assert "COMMIT" in answer(other, "COMMIT")


@pytest.mark.parametrize("added_first", [True, False])
def test_a_new_foreign_key_meets_a_removal(world: World, added_first: bool) -> None:
    client = world.client()
    client.ask("CREATE TABLE d (p_id int)")
    client.ask("INSERT INTO d VALUES (1)")
    maker, remover = world.client(), world.client()
    for one in (maker, remover):
        one.ask("BEGIN")
        one.ask("SELECT * FROM p")
    assert not answer(maker, "ALTER TABLE d ADD FOREIGN KEY (p_id) REFERENCES p").startswith("E")
    assert "DELETE 1" in answer(remover, "DELETE FROM p WHERE id = 1")
    first, second = (maker, remover) if added_first else (remover, maker)
    assert "COMMIT" in answer(first, "COMMIT")
    assert answer(second, "COMMIT").startswith(CONFLICT)


def test_foreign_keys_are_there_after_a_restart(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client()
    client.ask("CREATE TABLE p (id int PRIMARY KEY)")
    client.ask("CREATE TABLE c (p_id int REFERENCES p ON DELETE CASCADE)")
    client.ask("INSERT INTO p VALUES (1)")
    client.ask("INSERT INTO c VALUES (1)")
    world.close()
    again = World(tmp_path)
    client = again.client()
    assert answer(client, "INSERT INTO c VALUES (2)").startswith("E 23503")
    assert "DELETE 1" in answer(client, "DELETE FROM p")
    assert count(client, "SELECT count(*) FROM c") == "[b'0']"
    again.close()


def test_copy_is_checked_as_a_whole(server: AntumbraServer) -> None:
    with server.connect() as connection:
        connection.execute("CREATE TABLE fk_tree (id int PRIMARY KEY, up int REFERENCES fk_tree)")
        with connection.cursor() as cursor:
            with cursor.copy("COPY fk_tree FROM STDIN") as copy:
                copy.write("1\t2\n2\t3\n3\t\\N\n")
            with (
                pytest.raises(psycopg.errors.ForeignKeyViolation) as caught,
                cursor.copy("COPY fk_tree FROM STDIN") as copy,
            ):
                copy.write("4\t1\n5\t9\n")
        assert caught.value.diag.message_detail == 'Key (up)=(9) is not present in table "fk_tree".'
        assert connection.execute("SELECT count(*) FROM fk_tree").fetchone() == (3,)
        connection.execute("DROP TABLE fk_tree")


@pytest.mark.parametrize("child_first", [True, False])
def test_of_two_on_one_table_the_second_fails(world: World, child_first: bool) -> None:
    world.client().run("CREATE TABLE t (id int PRIMARY KEY, up int REFERENCES t)", "INSERT INTO t VALUES (1, NULL)")
    one, other = world.client(), world.client()
    one.run("BEGIN", "INSERT INTO t VALUES (2, 1)")
    other.run("BEGIN", "DELETE FROM t WHERE id = 1")
    first, second = (one, other) if child_first else (other, one)
    assert "COMMIT" in answer(first, "COMMIT")
    assert answer(second, "COMMIT").startswith(CONFLICT)
