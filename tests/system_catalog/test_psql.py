"""psql's backslash commands show what they show for PostgreSQL 15 with the same relations; what differs is listed with the reason.

golden/psql.json is made by `python -m tests.system_catalog.write_golden`; differences.json is ours: command -> reason. A command that is
listed and does not differ fails, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.system_catalog.write_golden import FOLDER, GOLDEN, commands, psql, schema

SHOWN = {row["command"]: row["shown"] for row in json.loads((GOLDEN / "psql.json").read_text())}
DIFFERENCES: dict[str, str] = json.loads((FOLDER / "differences.json").read_text())


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a server that has the relations of schema.sql, and no others."""
    server = AntumbraServer(tmp_path_factory.mktemp("psql") / "data", "--set", "spark_preload=off").start()
    dsn = f"host=127.0.0.1 port={server.port} user=antumbra dbname=antumbra"
    with psycopg.connect(dsn, autocommit=True) as connection:
        for text in schema():
            connection.execute(text)
    yield server.port
    assert server.stop() == 0


@pytest.mark.parametrize("command", commands())
def test_a_command_shows_what_it_does_for_postgres(port: int, command: str) -> None:
    shown = psql(port, command)
    if command in DIFFERENCES:
        assert shown != SHOWN[command], "it does not differ: take it out of differences.json"
        assert "ERROR" not in shown or "ERROR" in SHOWN[command]
    else:
        assert shown == SHOWN[command]


def test_every_difference_is_of_a_command() -> None:
    assert DIFFERENCES.keys() <= set(commands())


def test_fifty_four_commands_and_more() -> None:
    words = {command.split()[0] for command in commands()}
    assert len(words) >= 54
