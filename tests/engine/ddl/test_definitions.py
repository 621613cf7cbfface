"""DDL against PostgreSQL: the same statements, and every answer, error, DETAIL and NOTICE compared.

`definitions.sql` holds scripts, each under a comment, for a database that is empty at its start.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.raw_client import Answer, RawClient
from tests.engine.session_client import World
from tests.oracle.postgres import PostgresCluster


def scripts() -> dict[str, list[str]]:
    """Return the statements of each script by its title."""
    found: dict[str, list[str]] = {}
    for part in Path(__file__).with_name("definitions.sql").read_text().split("\n\n"):
        title, *lines = part.strip().split("\n")
        found[title.removeprefix("-- ")] = [line.removesuffix(";") for line in lines]
    return found


SCRIPTS = scripts()


@pytest.mark.turns(2)
@pytest.mark.parametrize("title", SCRIPTS)
def test_script(title: str, world: World, postgres: PostgresCluster) -> None:
    oracle = RawClient(postgres.port, "postgres", "postgres")
    oracle.ask_in_full('DROP SCHEMA IF EXISTS public, s, s2, s3, "S", "a b" CASCADE; CREATE SCHEMA public')
    client = world.client()
    mismatches = []
    for statement in SCRIPTS[title]:
        expected, found = oracle.ask_in_full(statement), client.ask_in_full(statement)
        if comparable(expected, expected) != comparable(found, expected):
            mismatches.append(f"{statement}\n  expected {expected}\n  found    {found}")
    oracle.hang_up()
    assert not mismatches, "\n".join(mismatches)


def comparable(answers: list[Answer], expected: list[Answer]) -> list[object]:
    """Return what two servers must agree on: we may give a hint or a position where PostgreSQL
    gives none, and no key of ours changes rows by statements, which PostgreSQL's contexts show.
    """
    found: list[object] = []
    if any(text.startswith("E") for text, _ in answers):
        # PostgreSQL describes the rows before it runs into the error.
        answers, expected = without_rows(answers), without_rows(expected)
    for index, (text, fields) in enumerate(answers):
        kept = expected[index][1] if index < len(expected) else {}
        named = {name: value for name, value in fields.items() if name != "context"}
        wanted = {name: value for name, value in named.items() if name in kept or name not in ("hint", "position")}
        found.append((text, wanted))
    return found


def without_rows(answers: list[Answer]) -> list[Answer]:
    return [answer for answer in answers if answer[0][0] not in "TD"]
