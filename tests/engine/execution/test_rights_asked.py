"""Statements beside the rights that a session asks for while it does them, in rights.txt, and what
it says when it has none.

The session is one in this process, without Spark; its questions are written down and answered with
yes, then with no. That the answers are PostgreSQL's is what
tests/engine/catalog/test_rights_of_reads.py tries for tables.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.catalog.image import CatalogImage
from engine.execution.identity import Identity
from engine.execution.rights import Checks
from tests.end_to_end.raw_client import COPY_DONE
from tests.engine.session_client import SessionClient, World
from tests.golden import Golden

FILE = Path(__file__).with_name("rights.txt")
SETUP = """
CREATE ROLE other
CREATE ROLE reader
CREATE SCHEMA rr
GRANT USAGE ON SCHEMA rr TO reader
CREATE SCHEMA shut
CREATE TABLE shut.box (a int)
CREATE TABLE rr.pay (id int PRIMARY KEY, name text, salary int)
CREATE TABLE rr.bonus (id int, amount int)
CREATE TABLE rr.child (id int REFERENCES rr.pay)
CREATE INDEX pay_name ON rr.pay (name)
CREATE TABLE rr.own (id int PRIMARY KEY, note text)
CREATE SEQUENCE rr.q
CREATE TABLE rr.counted (id serial, a int)
CREATE TYPE rr.mood AS ENUM ('sad', 'happy')
CREATE VIEW rr.paid AS SELECT name FROM rr.pay
CREATE VIEW rr.hollow AS SELECT name FROM rr.pay
ALTER VIEW rr.hollow OWNER TO other
CREATE FOREIGN TABLE rr.s (a int, b text) SERVER stream
CREATE TABLE rr.t (a int PRIMARY KEY, c text)
CREATE VIEW rr.v AS SELECT a, count(*) AS n FROM rr.s GROUP BY a
CREATE VIEW rr.j AS SELECT t.c, count(*) AS n FROM rr.s s JOIN rr.t t ON t.a = s.a GROUP BY t.c
CREATE VIEW rr.above AS SELECT n FROM rr.v
CREATE VIEW rr.deep AS SELECT n FROM rr.above
ALTER VIEW rr.above OWNER TO other
"""


class Asked:
    """Questions that `Checks` is asked, and one answer to all of them."""

    def __init__(self) -> None:
        self.questions: list[str] = []
        self.answer = True

    def note(self, question: str) -> bool:
        """Write down a question, once."""
        if question not in self.questions:
            self.questions.append(question)
        return self.answer


@pytest.fixture
def asked(world: World, monkeypatch: pytest.MonkeyPatch) -> Asked:
    found = Asked()

    def may(checks: Checks, oid: int, letters: str) -> bool:
        name = name_of(checks.image, oid)
        is_allowed = found.note(f"{letters} on {name} by {role_of(checks)}")
        # Else nobody would come further than the schema.
        return is_allowed or letters == "U"

    def may_use(identity: Identity, oid: int, letters: str) -> bool:
        return found.note(f"{letters} on {name_of(identity._current_image(), oid)}")

    def owns(checks: Checks, oid: int) -> bool:
        return found.note(f"owner of {name_of(checks.image, oid)}")

    def has(checks: Checks, group: str) -> bool:
        return found.note(f"member of {group}")

    monkeypatch.setattr(Checks, "_may", may)
    monkeypatch.setattr(Checks, "_owns", owns)
    monkeypatch.setattr(Checks, "_has", has)
    monkeypatch.setattr(Identity, "may", may_use)
    return found


def role_of(checks: Checks) -> str:
    role = checks.roles.by_oid(checks.role)
    assert role is not None
    return role.name


def name_of(image: CatalogImage, oid: int) -> str:
    """Return what has an oid: a relation, a schema or a type."""
    entry = image.by_oid(oid)
    if entry is not None:
        return entry.description.name.strip("\0").replace("\0", ".")
    schemas = {number: f"schema {name}" for name, number in image.schemas.items()}
    types = {enum.oid: f"type {enum.shown}" for enum in image.types.values()}
    return (schemas | types).get(oid, "nothing")


@pytest.fixture
def client(world: World) -> SessionClient:
    return world.client().after(*filter(None, SETUP.split("\n")))


@pytest.mark.golden
def test_statements_ask_for_the_rights_that_they_did(golden: Golden, client: SessionClient, asked: Asked) -> None:
    def made(text: str) -> list[str]:
        # A session remembers that it may insert.
        refused = ends(text, client, asked, answer=False, word="refused")
        failed = ends(text, client, asked, answer=True, word="fails")
        return [*asked.questions, *failed, *refused]

    golden(FILE, made)


def ends(text: str, client: SessionClient, asked: Asked, answer: bool, word: str) -> list[str]:
    """Return how a statement fails, if it does; nothing of it stays but the questions."""
    client.run("BEGIN", "SET LOCAL ROLE reader")
    asked.questions, asked.answer = [], answer
    *before, last = text.split("; ")
    for one in before:
        client.ask(one)
    answers = client.ask(last)
    if answers[-1].startswith("G "):
        answers += client.ask(COPY_DONE)
    errors = [line for line in answers if line.startswith("E ")]
    kept = asked.questions
    asked.questions, asked.answer = [], True
    client.ask("ROLLBACK")
    client.ask("DEALLOCATE ALL")
    asked.questions = kept
    return [f"{word} {line[2:]}" for line in errors]
