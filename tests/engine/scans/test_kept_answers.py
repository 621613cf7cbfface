"""Answers that are kept: found again while nothing they depend on has changed, and never after."""

from __future__ import annotations

import gc
import weakref
from functools import partial

import pytest

from engine.catalog.image import StreamEntry, ViewEntry
from engine.execution.reading import answer_key
from engine.scans.answer_cache import KEPT_ANSWER_BYTES_MAX, KEPT_ANSWERS_MAX, KeptAnswer, KeptAnswers
from engine.sessions.long_texts import done_at_once
from tests.end_to_end.raw_client import SYNC, bind, execute, parse
from tests.engine.session_client import SessionClient, World

READ = "SELECT k, n FROM counted ORDER BY k"


@pytest.fixture
def client(world: World) -> SessionClient:
    return world.client().after(
        "CREATE FOREIGN TABLE s (k int, at timestamptz) SERVER stream",
        "CREATE VIEW counted AS SELECT k, count(*) AS n, max(at) AS at FROM s GROUP BY k",
        "INSERT INTO s VALUES (1, '2020-01-01 00:00:00Z')",
    )


def is_kept(client: SessionClient, text: str) -> bool:
    session = client.session
    key = answer_key(text, (), session.settings, described=False)
    return session.server.engines.answers.find(key, session.runner.image(), None) is not None


def test_a_repeated_read_is_answered_alike(client: SessionClient) -> None:
    assert not is_kept(client, READ)
    first = client.ask(READ)
    assert is_kept(client, READ)
    assert client.ask(READ) == first
    # Who writes programs ends statements as in psql.
    image = client.session.runner.image()
    assert done_at_once(client.session, f"{READ} ;\n", image) == done_at_once(client.session, READ, image) is not None
    prepared = (parse(READ), bind(), execute(), SYNC)
    assert client.ask(*prepared) == client.ask(*prepared) == ["1", "2", first[1], first[2], "Z I"]


def test_a_commit_ends_it(client: SessionClient, world: World) -> None:
    client.ask(READ)
    writer = world.client()
    writer.run("BEGIN", "INSERT INTO s VALUES (1, NULL)")
    assert is_kept(client, READ)
    writer.run("COMMIT")
    assert not is_kept(client, READ)
    assert client.rows(READ) == ["D [b'1', b'2']"]


def test_ddl_ends_it(client: SessionClient) -> None:
    client.ask(READ)
    client.run("CREATE VIEW another AS SELECT count(*) AS n FROM s")
    assert not is_kept(client, READ)
    client.ask(READ)
    client.run("DROP VIEW counted", "CREATE VIEW counted AS SELECT k, count(*) AS n FROM s GROUP BY k")
    assert client.rows(READ) == []


def test_a_dropped_view_is_let_go_with_its_answers(client: SessionClient, world: World) -> None:
    client.ask(READ)
    entry = client.session.server.catalog.image.entries["counted"]
    assert isinstance(entry, ViewEntry)
    view = weakref.ref(entry.states[0].chain)
    del entry
    client.run("DROP VIEW counted", "INSERT INTO s VALUES (2, NULL)")
    gc.collect()
    assert view() is None


def test_an_idle_session_does_not_hold_what_others_drop(client: SessionClient, world: World) -> None:
    reader, writer = world.client(), world.client()
    reader.run("CREATE TABLE d (a int DEFAULT 1)", "SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef")
    reader.run("BEGIN", "CREATE SEQUENCE q", "SELECT nextval('q'), pg_get_viewdef('counted'::regclass)", READ, "COMMIT")
    reader.ask("BEGIN", "SELECT n / 0, 'counted'::regclass FROM counted", "ROLLBACK")
    reader.run("PREPARE p AS " + READ, "EXECUTE p")
    reader.ask(parse(READ, "q"), bind(statement="q"), execute(), SYNC)
    writer.run("INSERT INTO s VALUES (1)", "INSERT INTO s VALUES (2)")
    for number in (b"1", b"2"):
        insert = parse("INSERT INTO s VALUES ($1)", "i") if number == b"1" else b""
        writer.ask(insert, bind([number], statement="i"), execute(), SYNC)
    image = client.session.server.catalog.image
    view, stream = image.entries["counted"], image.entries["s"]
    assert isinstance(view, ViewEntry) and isinstance(stream, StreamEntry)
    kept = weakref.ref(view.states[0].chain), weakref.ref(stream.stream), weakref.ref(image)
    del image, view, stream
    client.run("DROP VIEW counted", "DROP FOREIGN TABLE s")
    gc.collect()
    assert [one() for one in kept] == [None, None, None]
    assert reader.rows("SELECT lastval(), 'd'::regclass") == ["D [b'1', b'd']"]
    writer.run("INSERT INTO d VALUES (1)", "DELETE FROM d")


def test_settings_shape_it(client: SessionClient) -> None:
    text = "SELECT at FROM counted"
    assert client.rows(text) == ["D [b'2020-01-01 00:00:00+00']"]
    client.run("SET TimeZone = 'Asia/Tokyo'")
    assert not is_kept(client, text)
    assert client.rows(text) == ["D [b'2020-01-01 09:00:00+09']"]
    client.run("RESET TimeZone")
    assert client.rows(text) == ["D [b'2020-01-01 00:00:00+00']"]


def test_what_is_not_kept(client: SessionClient) -> None:
    for text in ("SELECT now() FROM counted", "SELECT * FROM counted WHERE at < now()"):
        client.ask(text)
        assert not is_kept(client, text)
    client.run("BEGIN", "CREATE VIEW mine AS SELECT count(*) AS n FROM s")
    client.ask("SELECT n FROM mine")
    assert not is_kept(client, "SELECT n FROM mine")
    client.run("ROLLBACK")
    assert client.ask("SELECT n FROM mine")[0].startswith("E ERROR 42P01")


def test_a_failed_transaction_gives_no_answer(client: SessionClient) -> None:
    client.ask(READ)
    client.ask("BEGIN", "SELECT 1/0")
    assert client.ask(READ)[0].startswith("E ERROR 25P02")


def test_a_row_limit_is_respected(client: SessionClient) -> None:
    client.run("INSERT INTO s VALUES (2, NULL)")
    whole = client.ask(parse(READ), bind(), execute(), SYNC)
    assert len(whole) == 6
    assert client.ask(parse(READ), bind(), execute("", 1), SYNC)[2:] == [whole[2], "s", "Z I"]


def test_how_many_are_kept(world: World) -> None:
    answers, image = KeptAnswers(), world.database.catalog.image
    for number in range(KEPT_ANSWERS_MAX + 1):
        answers.keep(number, KeptAnswer(image.version, (), (), partial(bytes, str(number), "ascii")))
    assert answers.find(0, image, None) is None and answers.find(KEPT_ANSWERS_MAX, image, None) == b"256"


def test_a_large_answer_is_not_kept(client: SessionClient) -> None:
    client.run(f"CREATE TABLE texts AS SELECT repeat('x', {KEPT_ANSWER_BYTES_MAX // 2}) AS t")
    for count, kept in ((1, True), (3, False)):
        text = f"SELECT t FROM texts, generate_series(1, {count})"
        client.ask(text)
        assert is_kept(client, text) is kept


def test_an_answer_is_encoded_when_it_is_asked_for_again(world: World) -> None:
    answers, image = KeptAnswers(), world.database.catalog.image
    encoded = []

    def encode() -> bytes:
        encoded.append(1)
        return b"x"

    answers.keep("text", KeptAnswer(image.version, (), (), encode))
    assert not encoded
    assert [answers.find("text", image, None) for _ in range(3)] == [b"x"] * 3 and len(encoded) == 1
