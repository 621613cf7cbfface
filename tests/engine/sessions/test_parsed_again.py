"""A Parse without a name, like one that has come before, means what it means to a session that has
never seen it.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.catalog.image import CatalogImage
from engine.execution.prepared import Prepared, prepare
from engine.sessions import long_texts
from tests.end_to_end.raw_client import SYNC, bind, describe, execute, parse
from tests.engine.session_client import World

SETUP = (
    "CREATE TABLE items (id integer, at timestamptz, name text)",
    "INSERT INTO items VALUES (1, '2024-01-01 00:00:00Z', 'a'), (2, '2024-06-01 12:00:00Z', 'b')",
    "CREATE FOREIGN TABLE s (k integer, t text) SERVER stream",
    "CREATE VIEW counts AS SELECT k, count(*) AS n FROM s GROUP BY k",
)
TEXTS: tuple[tuple[str, tuple[int, ...], tuple[bytes, ...]], ...] = (
    ("SELECT * FROM items WHERE at > '2024-03-01' ORDER BY id", (), ()),
    ("SELECT $1", (), (b"7",)),
    ("SELECT $1", (23,), (b"7",)),
    ("SELECT '2024-06-01'::timestamptz, now() > '2020-01-01', $1 + 1", (20,), (b"7",)),
    ("INSERT INTO s VALUES ($1, $2)", (23, 25), (b"1", b"x")),
    ("SELECT * FROM counts ORDER BY k", (), ()),
    ("SELECT name FROM items WHERE id = $1", (), (b"2",)),
    ("EXECUTE other", (), ()),
    ("SHOW timezone", (), ()),
    ("SELECT E'a\\\\b', 'c'", (), ()),
)
CHANGES = (
    "SELECT 1",
    "SET TimeZone = 'Asia/Tokyo'",
    "SET DateStyle = 'German'",
    "PREPARE other AS SELECT 1 AS one",
    "DEALLOCATE other",
    "PREPARE other AS SELECT 'x' AS x, 2 AS y",
    "ALTER TABLE items ADD COLUMN more text DEFAULT 'm'",
    "ALTER TABLE items RENAME COLUMN name TO title",
    "ALTER TABLE items RENAME COLUMN title TO name",
    "SET search_path = nowhere",
    "RESET search_path",
    "SET standard_conforming_strings = off",
    "BEGIN",
    "SELECT 1 / 0",
    "ROLLBACK",
)


def packet(text: str, oids: tuple[int, ...], values: tuple[bytes, ...]) -> bytes:
    return parse(text, "", oids) + describe("S") + bind(values) + describe("P") + execute() + SYNC


@pytest.mark.slow
def test_it_means_what_it_means_the_first_time(world: World) -> None:
    client = world.client().after(*SETUP)
    done: list[str] = []
    for change in CHANGES:
        done.append(change)
        client.ask(change)
        fresh = world.client()
        for one in done:
            if not one.startswith("ALTER"):
                fresh.ask(one)
        for text, oids, values in TEXTS:
            answers = [client.ask(packet(text, oids, values)) for _ in range(3)]
            assert answers == [fresh.ask(packet(text, oids, values))] * 3, (change, text)
        fresh.ask("ROLLBACK")


def test_one_that_comes_often_is_parsed_twice(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    client = world.client().after(*SETUP)
    parsed: list[str] = []

    def noted(text: str, oids: Sequence[int], image: CatalogImage) -> Prepared:
        parsed.append(text)
        return prepare(text, oids, image)

    monkeypatch.setattr(long_texts, "prepare", noted)
    for number in range(20):
        client.ask(packet("INSERT INTO s VALUES ($1, $2)", (23, 25), (b"%d" % number, b"x")))
        client.ask(packet("SELECT name FROM items WHERE id = $1", (), (b"2",)))
    assert len(parsed) == 4
    assert client.rows("SELECT count(*) FROM s") == ["D [b'20']"]
