"""Small inputs that failed once, each with the right output: `<name>.sql` for psql or `<name>.py`
for psycopg, and `<name>.expected`.

Every case makes what it needs in a schema of its own and drops it. What a case prints is compared
byte for byte; the outputs are PostgreSQL 15's, or follow from it. A new case is two files here,
nothing else.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.shares import share

HERE = Path(__file__).parent
CASES = sorted(path for path in HERE.iterdir() if path.with_suffix(".expected").exists() and path.suffix != ".expected")
CASE_S_MAX = 120.0
# Twenty and forty-five seconds of a processor; k06a is of their kind.
LONG = {"k06b_who_does_not_ask_for_a_group_that_fails", "k06c_bad_groups_beside_tables_and_limits"}


def test_every_expectation_has_its_case() -> None:
    expected = {path.stem for path in HERE.glob("*.expected")}
    assert expected == {path.stem for path in CASES}


@pytest.mark.turns(6)
@pytest.mark.parametrize("case", share(CASES, lambda path: path.stem not in LONG), ids=lambda path: path.stem)
def test_case(case: Path, server: AntumbraServer) -> None:
    done = subprocess.run(
        command(case, server.port),
        capture_output=True,
        text=True,
        timeout=CASE_S_MAX,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.stdout == case.with_suffix(".expected").read_text(), done.stderr


def command(case: Path, port: int) -> list[str]:
    """Return how a user runs the case against the server at `port`."""
    if case.suffix == ".py":
        return [sys.executable, str(case), str(port)]
    return ["psql", "-X", "-q", "-A", "-t", "-h", "127.0.0.1", "-p", str(port), "-f", str(case), "antumbra"]
