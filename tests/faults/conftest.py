"""What the suites of this folder share: the account of a long run."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.oracle.evidence import Evidence


@pytest.fixture(scope="session")
def evidence(pytestconfig: pytest.Config) -> Iterator[Evidence]:
    """What the run has tried, kept if --write-evidence says so."""
    began_s = time.monotonic()
    account = Evidence("faults", pytestconfig.getoption("--seed"))
    yield account
    account.seconds = time.monotonic() - began_s
    if pytestconfig.getoption("--write-evidence"):
        account.write()
