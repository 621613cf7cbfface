"""Fixtures that the suites of this folder share: the account of a long run, and that it keeps
nothing of the cases that are over.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator

import pytest

from tests.oracle.evidence import Evidence

# Threads of a database that do something by themselves.
OWN_THREADS = {"antumbra-log", "antumbra-checkpoints"}


@pytest.fixture(autouse=True)
def no_threads_left() -> Iterator[None]:
    """No thread of a dead process outlives its test: it would fail at a disk that is off, in the
    midst of another test.
    """
    before = set(threading.enumerate())
    yield
    assert not [thread for thread in threading.enumerate() if thread.name in OWN_THREADS and thread not in before]


@pytest.fixture(scope="session")
def evidence(pytestconfig: pytest.Config) -> Iterator[Evidence]:
    """Account of what the run has tried, kept if --write-evidence says so."""
    began_s = time.monotonic()
    account = Evidence("faults", pytestconfig.getoption("--seed"))
    yield account
    account.seconds = time.monotonic() - began_s
    if pytestconfig.getoption("--write-evidence"):
        account.write()


class WithoutFrames(logging.Filter):
    """Lets a record keep its text alone: pytest has all of them until a test ends, and one with an
    exception has a whole database.
    """

    def __init__(self) -> None:
        super().__init__()
        self._formatter = logging.Formatter()

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = record.getMessage(), None
        if record.exc_info:
            record.exc_text = self._formatter.formatException(record.exc_info)
            record.exc_info = None
        return True


@pytest.fixture(autouse=True)
def log_without_frames(request: pytest.FixtureRequest) -> Iterator[None]:
    """Without it a long run takes a gigabyte a minute."""
    plugin = request.config.pluginmanager.get_plugin("logging-plugin")
    handlers = [] if plugin is None else [plugin.caplog_handler, plugin.report_handler]
    without_frames = WithoutFrames()
    for handler in handlers:
        handler.addFilter(without_frames)
    yield
    for handler in handlers:
        handler.removeFilter(without_frames)
