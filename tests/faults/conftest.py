"""What the suites of this folder share: the account of a long run."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from tests.oracle.evidence import Evidence

# Threads of a database that do something by themselves.
OWN_THREADS = {"antumbra-log", "antumbra-checkpoints"}


@pytest.fixture(autouse=True)
def no_threads_left() -> Iterator[None]:
    """No thread of a dead process outlives its test: it would fail at a disk that is off, in the midst of another test."""
    before = set(threading.enumerate())
    yield
    assert not [thread for thread in threading.enumerate() if thread.name in OWN_THREADS and thread not in before]


@pytest.fixture(scope="session")
def evidence(pytestconfig: pytest.Config) -> Iterator[Evidence]:
    """What the run has tried, kept if --write-evidence says so."""
    began_s = time.monotonic()
    account = Evidence("faults", pytestconfig.getoption("--seed"))
    yield account
    account.seconds = time.monotonic() - began_s
    if pytestconfig.getoption("--write-evidence"):
        account.write()
