"""Definitions on disk: what was written is what is read, and a damaged file is named in one
line.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.catalog.image import StreamEntry, ViewEntry
from engine.catalog.stored_form import catalog_text
from engine.ddl.restore import restore_catalog
from engine.tables.table_store import FILE_NAME, FORMAT_VERSION
from sql.errors import SqlError
from tests.engine.session_client import World

STREAM = {
    "kind": "stream",
    "name": "s",
    "oid": 16384,
    "text": "CREATE FOREIGN TABLE s (k int) SERVER stream",
    "time_zone": "UTC",
}


def test_round_trip(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client()
    client.run(
        "SET TimeZone = 'Europe/Berlin'",
        'CREATE FOREIGN TABLE "Odd Name" (k int DEFAULT 1 + 1, t varchar(5) NOT NULL, n numeric(10,2))'
        " SERVER stream OPTIONS (capacity '100')",
        'CREATE VIEW days (day, total) WITH (on_error = skip) AS SELECT t, sum(n) FROM "Odd Name" WHERE k > 0 GROUP BY t',
        "CREATE FOREIGN TABLE gone (k int) SERVER stream",
        "DROP FOREIGN TABLE gone",
        'CREATE VIEW "Übersicht" AS SELECT count(*) AS "Zahl" FROM "Odd Name"',
    )
    before = world.database.catalog.image
    text = world.database.store.load()
    assert text is not None
    after = restore_catalog(world.database.builders, text)
    assert catalog_text(after) == catalog_text(before) == text
    assert [entry.description for entry in after.entries.values()] == [
        entry.description for entry in before.entries.values()
    ]
    assert after.next_oid == before.next_oid
    for name, entry in after.entries.items():
        old = before.entries[name]
        if isinstance(entry, ViewEntry):
            assert isinstance(old, ViewEntry)
            (state,), (old_state,) = entry.states, old.states
            assert state.chain is not old_state.chain
            # Only what a session captures is kept, not who the session was.
            assert state.chain.definition.to_dict() == old_state.chain.definition.to_dict()
        else:
            assert isinstance(entry, StreamEntry) and isinstance(old, StreamEntry)
            assert entry.stream.layout == old.stream.layout and entry.stream.ring.capacity == old.stream.ring.capacity
    world.close()


def test_round_trip_of_tables(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client()
    client.run(
        "SET TimeZone = 'Europe/Berlin'",
        'CREATE TABLE t (id serial PRIMARY KEY, "A" numeric(8,2) CHECK ("A" > 0), a text[] DEFAULT \'{x}\', at timestamptz'
        " DEFAULT '2020-01-01 00:00', b int GENERATED ALWAYS AS IDENTITY (START 5), UNIQUE (b, \"A\"))",
        "CREATE SEQUENCE later INCREMENT -2",
        "CREATE VIEW v (x) AS SELECT * FROM t WHERE id > 1",
        "CREATE VIEW w AS SELECT count(*) AS n FROM v",
        'ALTER TABLE t RENAME COLUMN "A" TO price',
        "ALTER TABLE t ALTER b SET DATA TYPE bigint, ADD COLUMN c int DEFAULT nextval('later'), DROP COLUMN a CASCADE",
        "ALTER TABLE t RENAME TO goods",
        "CREATE VIEW v (x) AS SELECT price, id FROM goods",
        "COMMENT ON CONSTRAINT t_pkey ON goods IS 'one number each'",
    )
    before = world.database.catalog.image
    text = world.database.store.load()
    assert text is not None
    after = restore_catalog(world.database.builders, text)
    assert catalog_text(after) == catalog_text(before) == text
    assert [entry.description for entry in after.entries.values()] == [
        entry.description for entry in before.entries.values()
    ]
    world.close()


def test_streams_as_they_were_stored_before_they_could_be_altered(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client()
    create = "CREATE FOREIGN TABLE s (k int DEFAULT 1 + 1, t text NOT NULL) SERVER stream OPTIONS (capacity '8')"
    # There were no schemas then.
    client.run("SET search_path = public", create, "CREATE VIEW v AS SELECT t, sum(k) FROM s GROUP BY t")
    before = world.database.catalog.image
    plain = json.loads(catalog_text(before))
    stream, view = plain["relations"]
    del view["used"]
    older = {**plain, "relations": [{**STREAM, "oid": stream["oid"], "text": create}, view]}
    after = restore_catalog(world.database.builders, json.dumps(older))
    assert catalog_text(after) == catalog_text(before)
    world.close()


def test_no_file_is_an_empty_catalog(tmp_path: Path) -> None:
    world = World(tmp_path)
    assert world.database.store.load() is None
    world.close()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"format": 1, "next', "is damaged: Unterminated string"),
        ("[]", "is damaged: [] stands where an object belongs"),
        ('{"next_oid": 1}', 'is damaged: "relations" is missing or no list'),
        (json.dumps({"next_oid": 1, "relations": [1]}), "is damaged: 1 stands where an object belongs"),
        (json.dumps({"next_oid": 1, "relations": [{**STREAM, "oid": "x"}]}), 'is damaged: "oid" is missing'),
        (json.dumps({"next_oid": 1, "relations": [{"kind": "view"}]}), 'is damaged: "name" is missing'),
        (json.dumps({"next_oid": 1, "relations": [{"kind": "index"}]}), "is damaged: a relation can't be a index"),
        (
            json.dumps({"next_oid": 1, "relations": [{**STREAM, "text": "CREATE VIEW v AS SELECT 1"}]}),
            "can't be restored: its text is not a definition of its kind",
        ),
        (json.dumps({"next_oid": 1, "relations": [{**STREAM, "text": "CREATE"}]}), "can't be restored: syntax error"),
    ],
)  # fmt: skip
def test_a_damaged_catalog(tmp_path: Path, content: str, said: str) -> None:
    world = World(tmp_path)
    with pytest.raises(SqlError) as caught:
        restore_catalog(world.database.builders, content)
    assert caught.value.sqlstate == "XX001"
    assert str(tmp_path / FILE_NAME) in caught.value.message and said in caught.value.message
    world.close()


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"no database" * 1000)
    with pytest.raises(SqlError, match="can't be opened") as caught:
        World(tmp_path)
    assert caught.value.sqlstate == "XX001" and str(tmp_path / FILE_NAME) in caught.value.message


def test_a_newer_format(tmp_path: Path) -> None:
    world = World(tmp_path)
    newer = FORMAT_VERSION + 1
    world.database.engines.tables.take_cursor().connection.execute(f"UPDATE catalog.definitions SET format = {newer}")
    with pytest.raises(SqlError, match=f"has format {newer}, but this server reads format {FORMAT_VERSION}"):
        world.database.store.load()
    world.close()
