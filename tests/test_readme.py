"""The README's session, and what the guide adds to it, pasted into psql line by line: each block of
SQL gives the text that follows it.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.oracle.antumbra import AntumbraServer

HOUSE = Path(__file__).parents[1]
README = HOUSE / "README.md"
GUIDE = sorted((HOUSE / "docs" / "guide").glob("*.md"))
BLOCKS = [
    block
    for page in (README, *GUIDE)
    for block in re.findall(r"```sql\n(.*?)```\n\n```text\n(.*?)```", page.read_text(), re.DOTALL)
]


@pytest.mark.slow
def test_the_session_can_be_pasted(server: AntumbraServer) -> None:
    assert len(BLOCKS) >= 3
    for commands, answer in BLOCKS:
        assert psql(server, commands) == answer
    assert psql(server, "DROP FOREIGN TABLE readings CASCADE;\n").splitlines()[-1] == "DROP FOREIGN TABLE"


def psql(server: AntumbraServer, commands: str) -> str:
    """Return what psql prints for `commands`, errors included."""
    process = subprocess.run(
        ["psql", "--no-psqlrc", "-h", "127.0.0.1", "-p", str(server.port), "-U", "reader", "antumbra"],
        input=commands,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=60,
    )
    return process.stdout
