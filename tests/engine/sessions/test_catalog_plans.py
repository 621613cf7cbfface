"""Queries on the catalog whose plans are kept, after changes of what they tell: answered as by an
engine that keeps no plans.
"""

from __future__ import annotations

import pytest

from bench.small_selects import CATALOG
from engine.embedded import kept_plans
from tests.engine.session_client import SessionClient, World

SETUP = (
    "CREATE TABLE items (id integer PRIMARY KEY, name text DEFAULT 'x', price bigint)",
    "CREATE SCHEMA o",
    "CREATE TABLE o.other (id integer UNIQUE)",
    "CREATE VIEW shown AS SELECT id, name FROM items",
    "CREATE SEQUENCE numbers",
    "CREATE ROLE reader",
)
TEXTS = (
    *CATALOG.values(),
    (
        "SELECT c.relname, pg_table_is_visible(c.oid), c.oid::regclass, 'numbers'::regclass::text, c.relkind "
        "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname IN ('o', 'public') ORDER BY 1, 2"
    ),
    (
        "SELECT relname, has_table_privilege(oid, 'SELECT'), has_table_privilege('items', 'SELECT'), "
        "obj_description(oid), pg_get_userbyid(relowner) FROM pg_class WHERE relname IN ('items', 'other', 'shown') ORDER BY 1"
    ),
    (
        "SELECT relname, pg_relation_size(oid) > 0, current_user::text, current_setting('work_mem'), "
        "pg_sequence_last_value('numbers'::regclass) FROM pg_class WHERE relname IN ('items', 'numbers') ORDER BY 1"
    ),
    "SELECT name, setting, source FROM pg_settings WHERE name IN ('work_mem', 'search_path') AND setting IS NOT NULL ORDER BY 1",
    "SELECT last_value FROM pg_sequences WHERE schemaname = 'public' AND sequencename = 'numbers' ORDER BY 1",
    (
        "SELECT table_name, column_name, data_type, column_default FROM information_schema.columns "
        "WHERE table_schema IN ('public', 'o') ORDER BY 1, 2"
    ),
    "SELECT pg_get_viewdef('shown'::regclass, true), (SELECT count(*) FROM pg_attribute WHERE attrelid = 'items'::regclass)",
    "SELECT name, statement FROM pg_prepared_statements WHERE name <> '' AND statement IS NOT NULL AND name <> 'x' ORDER BY name",
)
CHANGES = (
    "SET search_path = o",
    "RESET search_path",
    "INSERT INTO items SELECT i, 'n', i FROM generate_series(1, 5000) AS g(i)",
    "SELECT nextval('numbers')",
    "SELECT nextval('numbers')",
    "COMMENT ON TABLE items IS 'told'",
    "SET ROLE reader",
    "RESET ROLE",
    "GRANT SELECT ON items TO reader",
    "SET ROLE reader",
    "RESET ROLE",
    "PREPARE p AS SELECT 1",
    "BEGIN",
    "ALTER TABLE items ADD COLUMN kind integer",
    "ROLLBACK",
    "ALTER TABLE items RENAME COLUMN name TO title",
    "DROP TABLE o.other",
    "CREATE TABLE o.items (id text)",
    "SET search_path = o, public",
    "SET TimeZone = 'Asia/Tokyo'",
    "DROP SEQUENCE numbers",
)

# Of the texts, `make test` takes one of so many parts.
PARTS = 8


@pytest.fixture
def client(world: World) -> SessionClient:
    return world.client().after(*SETUP)


@pytest.mark.slow
@pytest.mark.turns(PARTS)
@pytest.mark.parametrize("texts", [TEXTS[part::PARTS] for part in range(PARTS)], ids=range(PARTS))
def test_answers_are_those_without_kept_plans(
    texts: tuple[str, ...], client: SessionClient, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    neighbour = world.client()
    for change in ("SELECT 1", *CHANGES):
        client.run(change)
        for text in texts:
            answers = [client.ask(text) for _ in range(3)]
            neighbour.ask(text)
            answers.append(client.ask(text))
            with monkeypatch.context() as patched:
                patched.setattr(kept_plans, "CHARACTERS_MIN", 1 << 30)
                assert answers == [client.ask(text)] * 4, (change, text)


def test_a_cursor_keeps_a_bounded_number_of_plans() -> None:
    run: list[str] = []
    plans = kept_plans.KeptPlans(run.append)
    for number in range(3 * kept_plans.PLANS_MAX):
        text = f"SELECT {number} AS {'x' * kept_plans.CHARACTERS_MIN}"
        assert plans.statement(text, 1, ()) == text
        assert plans.statement(text, 1, ()).startswith("EXECUTE ")
    made = sum(text.startswith("PREPARE ") for text in run)
    assert made - sum(text.startswith("DEALLOCATE ") for text in run) == kept_plans.PLANS_MAX


def test_a_plan_is_made_anew_for_another_state() -> None:
    run: list[str] = []
    plans = kept_plans.KeptPlans(run.append)
    text = "SELECT " + "x" * kept_plans.CHARACTERS_MIN
    assert [plans.statement(text, 1, ()) for _ in range(3)] == [text, "EXECUTE plan_1", "EXECUTE plan_1"]
    assert [plans.statement(text, 2, ()) for _ in range(2)] == [text, "EXECUTE plan_2"]
    assert [one.partition(" AS ")[0] for one in run] == ["PREPARE plan_1", "DEALLOCATE plan_1", "PREPARE plan_2"]
