"""Fixtures that all tests share: one PostgreSQL as oracle, one Antumbra server, and how large the
random suites are.

--cases and --seconds bound each random suite (whichever is reached first), --seed re-runs one,
--write-evidence keeps its account.
"""

from __future__ import annotations

import gc
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.file_seconds import FileSeconds, put_longest_first
from tests.golden import Golden
from tests.kept_kernels import VARIABLE, kept_kernels, kernels_folder, remove_unused
from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster
from tests.shares import is_whole, mark_what_has_no_turn
from tests.started import refuse_to_start, starts_something
from tests.work_units import OneSpark, import_own_share

# A share of what `make test-long` tries: all of `make test` has twenty-five minutes of processor.
CASES_DEFAULT = 16
SECONDS_DEFAULT = 240.0
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)
SEED_DEFAULT = 20_261_120
GARBAGE_THRESHOLDS = (50_000, 20, 20)

# Every JVM of a test run is short: its second compiler would take a third of the run's processor
# time and never earn it back.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("antumbra")
    group.addoption("--cases", type=int, default=CASES_DEFAULT, help="cases of each random suite")
    group.addoption("--seconds", type=float, default=SECONDS_DEFAULT, help="time of each random suite at most")
    group.addoption("--seed", type=int, default=SEED_DEFAULT, help="first seed of the random suites")
    group.addoption(
        "--rewrite", action="store_true", help="write what is made today into the data files of the tests that are run"
    )
    group.addoption(
        "--check", action="store_true", help="only what starts no server, no PostgreSQL and no JVM; starting one fails"
    )
    group.addoption("--long", action="store_true", help="what is marked long, too")
    group.addoption("--turn", type=int, default=0, help="a number: of tests marked turns, its share; 0")
    group.addoption("--write-evidence", action="store_true", help="write tests/evidence/<suite>.json")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to measure, tell servers where kernels are kept, and let --check be what it
    promises.
    """
    # What is imported and collected stays to the end: looking for garbage in it takes a twentieth
    # of the run.
    gc.disable()
    config.pluginmanager.register(FileSeconds(config), "file seconds")
    folder = kernels_folder(config)
    if not hasattr(config, "workerinput"):
        remove_unused(folder)
    # More cases make gigabytes of kernels that nobody asks for again.
    if config.getoption("--cases") <= CASES_DEFAULT:
        os.environ[VARIABLE] = str(folder)
    if config.getoption("--check"):
        refuse_to_start()
    if hasattr(config, "workerinput") and is_whole(config):
        import_own_share(config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneSpark:
    """Share out what `--dist loadfile` does, but all that needs Spark to one worker."""
    return OneSpark(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Whatever starts a server of either kind or Spark is slow. The longest files come first."""
    for item in items:
        if starts_something(item) or "end_to_end" in item.path.parts:
            item.add_marker(pytest.mark.slow)
    if is_whole(config):
        mark_what_has_no_turn(items, config.getoption("--turn"))
    left_out = {
        name
        for name, is_left_out in (("slow", config.getoption("--check")), ("long", not config.getoption("--long")))
        if is_left_out
    }
    deselected = [item for item in items if any(mark.name in left_out for mark in item.iter_markers())]
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        gone = set(deselected)
        items[:] = [item for item in items if item not in gone]
    put_longest_first(config, items)


def pytest_report_header(config: pytest.Config) -> str:
    """Say which turn it is."""
    return f"turn: {config.getoption('--turn')}"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import what --check leaves out as a whole."""
    return True if config.getoption("--check") and collection_path.name == "end_to_end" else None


def pytest_collection_finish() -> None:
    """Look for garbage again, in what tests make, but seldom: with Python's own thresholds a test
    that makes many objects takes three times as long.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    gc.enable()


@pytest.fixture(scope="session")
def golden(request: pytest.FixtureRequest) -> Golden:
    """Return the comparer of data files with what is made today."""
    return Golden(rewrite=request.config.getoption("--rewrite"))


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresCluster]:
    """The oracle, started once per test run."""
    # Not below pytest's private folder: the cluster runs as a user of its own.
    with tempfile.TemporaryDirectory(prefix="antumbra-oracle-") as folder:
        Path(folder).chmod(0o755)
        cluster = PostgresCluster(Path(folder) / "postgres", autovacuum=False)
        cluster.start()
        yield cluster
        cluster.stop()


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of this run share, for kernels: what one has compiled the others
    find.
    """
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="module", autouse=True)
def _kept_kernels(request: pytest.FixtureRequest) -> Iterator[None]:
    """Find the kernels of earlier runs in each file that is not about compiling."""
    if request.node.get_closest_marker("compiles") is not None:
        with pytest.MonkeyPatch.context() as patch:
            # For servers that the file starts.
            patch.delenv(VARIABLE, raising=False)
            yield
        return
    with kept_kernels(kernels_folder(request.config)):
        yield


@pytest.fixture(scope="module", autouse=True)
def _signals_stay() -> Iterator[None]:
    """Let no file change what signals do: a later one that raises a signal would end its worker."""
    before = [(number, signal.getsignal(number)) for number in SIGNALS]
    yield
    for number, handler in before:
        signal.signal(number, handler)
    signal.set_wakeup_fd(-1)


@pytest.fixture(scope="module", autouse=True)
def _empty_servers(request: pytest.FixtureRequest) -> None:
    """Empty both servers before each file that asks them: files come in any order, and one that
    failed leaves things.
    """
    file_items = [item for item in request.session.items if item.path == request.path]
    asked = {name for item in file_items if isinstance(item, pytest.Function) for name in item.fixturenames}
    # A file may have a server of its own.
    shared = {"postgres", "server"} - vars(request.module).keys()
    for name in sorted(asked & shared):
        running: PostgresCluster | AntumbraServer = request.getfixturevalue(name)
        with running.connect() as connection:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
            connection.execute("GRANT USAGE ON SCHEMA public TO PUBLIC")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AntumbraServer]:
    """The server under test, started once per test run; tests drop what they create."""
    running = AntumbraServer(tmp_path_factory.mktemp("antumbra") / "data").start()
    yield running
    assert running.stop() == 0
