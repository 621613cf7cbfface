"""psql's backslash commands show what they show for PostgreSQL 15 with the same relations; what
differs is listed with the reason.

golden/psql.json is made by `python -m tests.system_catalog.write_golden`; differences.json is ours:
command -> reason. A command that is listed and does not differ fails, too.
"""

from __future__ import annotations

import json

import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.system_catalog.write_golden import FOLDER, GOLDEN, commands, psql

SHOWN = {row["command"]: row["shown"] for row in json.loads((GOLDEN / "psql.json").read_text())}
DIFFERENCES: dict[str, str] = json.loads((FOLDER / "differences.json").read_text())


@pytest.mark.turns(4)
@pytest.mark.parametrize("command", commands())
def test_a_command_shows_what_it_does_for_postgres(schema_server: AntumbraServer, command: str) -> None:
    shown = psql(schema_server.port, command)
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
