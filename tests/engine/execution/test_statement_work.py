"""How statements are run: a query is bound once, names are found once, a client is told once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine.commit.transactions import Transactions
from sql.errors import SqlError
from tests.engine.session_client import World

STREAM = "CREATE FOREIGN TABLE s (a int, b int) SERVER stream"


BINDERS = (
    "engine.statements.create_view.bind_query",
    "engine.ddl.definitions.bind_query",
    "engine.ddl.query_views.bind_query",
)


def counted(monkeypatch: pytest.MonkeyPatch, *names: str) -> list[str]:
    """Return a list that gets the name of each function that is called, of those named."""
    calls: list[str] = []
    for name in names:
        module, _, function = name.rpartition(".")
        original = getattr(__import__(module, fromlist=[function]), function)
        monkeypatch.setattr(name, noted(calls, function, original))
    return calls


def noted(calls: list[str], name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        calls.append(name)
        return function(*arguments, **named)

    return call


def test_a_continuous_view_binds_its_query_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    client = world.client()
    client.ask(STREAM)
    calls = counted(monkeypatch, *BINDERS, "engine.execution.defining.resolved")
    client.ask("CREATE VIEW v AS SELECT a, sum(b) FROM s GROUP BY a")
    # Once more when the kernel has been compiled, with the catalog of that time.
    assert calls in (["resolved", "bind_query"], ["resolved", "bind_query", "bind_query"])


@pytest.mark.parametrize("has_temporary", [False, True])
def test_an_ordinary_view_binds_its_query_once(
    world: World, monkeypatch: pytest.MonkeyPatch, has_temporary: bool
) -> None:
    client = world.client()
    client.run("CREATE TABLE t (a int, b int)", "CREATE VIEW below AS SELECT a FROM t")
    if has_temporary:
        client.run("CREATE TEMP TABLE own (c int)")
    calls = counted(monkeypatch, *BINDERS)
    client.run("CREATE VIEW v AS SELECT below.a, t.b FROM t JOIN below ON t.a = below.a")
    assert calls == ["bind_query"]


def test_views_above_what_is_altered_are_not_bound_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    client = world.client()
    client.run("CREATE TABLE t (a int, b int)", "CREATE TABLE u (c int)", "CREATE VIEW on_u AS SELECT c FROM u")
    client.run("CREATE VIEW on_t AS SELECT a FROM t", "CREATE VIEW above AS SELECT a + 1 AS a FROM on_t")
    client.run("INSERT INTO t VALUES (1, 2)")
    calls = counted(monkeypatch, "engine.ddl.query_views.bind_query")
    client.run("ALTER TABLE t RENAME COLUMN a TO z")
    assert calls == []
    client.run("ALTER VIEW on_t RENAME COLUMN a TO y", "ALTER TABLE t RENAME TO tt")
    assert client.rows("SELECT * FROM on_t") == ["D [b'1']"] and client.rows("SELECT * FROM above") == ["D [b'2']"]
    assert client.rows("SELECT y FROM on_t") == ["D [b'1']"] and client.rows("SELECT c FROM on_u") == []


def test_a_view_of_a_temporary_view_is_temporary(world: World) -> None:
    client = world.client()
    client.run("CREATE TEMP VIEW one AS SELECT 1 AS a")
    assert 'N NOTICE 00000: view "two" will be a temporary view' in client.ask("CREATE VIEW two AS SELECT a FROM one")
    assert client.rows("SELECT a FROM two") == ["D [b'1']"]
    assert any("42P01" in line for line in world.client().ask("SELECT a FROM two"))


def test_what_is_said_of_a_statement_that_is_tried_again_is_said_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    conflicts = [SqlError("40001", "could not serialize access due to concurrent update")] * 2
    begin_tables = Transactions.begin_tables

    def begin(self: Transactions, *arguments: Any) -> Any:
        if conflicts:
            raise conflicts.pop()
        return begin_tables(self, *arguments)

    monkeypatch.setattr(Transactions, "begin_tables", begin)
    answers = world.client().ask_in_full("SET CONSTRAINTS ALL DEFERRED")
    assert not conflicts and [text[:1] for text, _ in answers] == ["N", "C"], answers


def test_what_was_said_before_an_error_is_said(world: World) -> None:
    client = world.client()
    answers = client.ask_in_full("SET CONSTRAINTS nothing DEFERRED")
    assert [text[:1] for text, _ in answers] == ["N", "E"], answers
