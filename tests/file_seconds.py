"""How long each file took in the last run that it was in: the longest come first, so that no worker
is left alone with one at the end.

The seconds are kept in pytest's cache folder. Where there are none yet, files that start something
come first, those of many tests first.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

KEY = "antumbra/file_seconds"
KEY_OF_CHECK = "antumbra/file_seconds_of_check"
# Of a test that starts something, before it was measured.
SECONDS_GUESSED = 1.0


class FileSeconds:
    """Adds up the time of the tests of each file, in the process that hands out the tests."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add what a test, its setup or its teardown has taken."""
        self._seconds[report.location[0]] += report.duration  # type: ignore[assignment]  # a Counter of floats

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Keep the seconds of a run of all files."""
        is_whole = self._config.args_source is pytest.Config.ArgsSource.TESTPATHS and not self._config.getoption("-k")
        if is_whole and not hasattr(self._config, "workerinput"):
            assert self._config.cache is not None
            self._config.cache.set(key(self._config), {name: round(found, 1) for name, found in self._seconds.items()})


def key(config: pytest.Config) -> str:
    """Return under which key the seconds of this kind of run are."""
    return KEY_OF_CHECK if config.getoption("--check") else KEY


def put_longest_first(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Sort tests by how long their files take; those of one file stay in their order."""
    assert config.cache is not None
    known: dict[str, float] = config.cache.get(key(config), {})
    guessed = Counter(item.path for item in items if item.get_closest_marker("slow") is not None)

    def seconds(path: Path) -> float:
        return known.get(path.relative_to(config.rootpath).as_posix(), guessed[path] * SECONDS_GUESSED)

    items.sort(key=lambda item: -seconds(item.path))
