"""Processes that a test run may start: `--check` leaves out the tests that start a JVM, a
PostgreSQL or a server, and refuses to start one.

A test that starts one through a fixture is known by what its fixtures return; any other is marked
`slow`, or fails under `--check`.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest

STARTED = ("AntumbraServer", "PostgresCluster", "SparkRuntime", "SparkUpperExecutor")
REFUSED = frozenset({"java", "spark-submit", "postgres", "initdb", "pg_ctl"})
SERVING = frozenset({"serve", "demo"})


def starts_something(item: pytest.Item) -> bool:
    """Tell whether a fixture of a test is a server, PostgreSQL or Spark, or of a module that makes
    one itself.
    """
    if not isinstance(item, pytest.Function):
        return False
    fixtures = item._fixtureinfo.name2fixturedefs.values()
    returned = (str(found[-1].func.__annotations__.get("return", "")) for found in fixtures)
    return any(name in annotation for annotation in returned for name in STARTED)


def refuse_to_start() -> None:
    """Let starting one of them fail for the rest of this process."""
    sys.addaudithook(_refuse)


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event != "subprocess.Popen":
        return
    words = arguments[1]
    command = [words] if isinstance(words, str) else [str(word) for word in words if word is not None]  # type: ignore[attr-defined]  # a sequence
    if is_refused(command):
        raise AssertionError(f"a test that starts {' '.join(command)[:200]} is to be marked slow")


def is_refused(command: Iterable[str]) -> bool:
    """Tell whether a command is one of those; what a test has written itself is what the test says
    it is.
    """
    program, *words = command
    if Path(program).is_relative_to(tempfile.gettempdir()):
        return False
    return Path(program).name in REFUSED or ("-m" in words and bool(SERVING & set(words)))
