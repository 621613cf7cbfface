"""SQLAlchemy's own suite for dialects, over psycopg: nothing fails but what is expected to, and
that does fail.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.oracle.antumbra import AntumbraServer

FOLDER = Path(__file__).parent
EXPECTED = FOLDER / "expected_failures.txt"
# Of everything that is collected: what is skipped or switched off counts as not passed.
PASSED_SHARE_MIN = 0.7
# The parts that ask the system catalog; `make test-long` runs the whole suite.
# Of the many ways to ask for many tables at once, those for columns and indexes.
AT_ONCE = "test_get_multi_columns or test_get_multi_indexes"
# What asks for the options of many tables is skipped for PostgreSQL.
ONE_BY_ONE = "ComponentReflectionTest and not test_get_multi and not test_multi_get_table_options_tables"
OF_THE_CATALOG = f"({ONE_BY_ONE}) or TableDDLTest or HasTableTest or HasIndexTest"
DIALECT = "_postgresql+psycopg_15_0"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[AntumbraServer]:
    """A server without any relations, with the schemas that the suite wants."""
    running = AntumbraServer(tmp_path / "data").start()
    with running.connect() as connection:
        connection.execute("CREATE SCHEMA test_schema")
        connection.execute("CREATE SCHEMA test_schema_2")
    yield running
    assert running.stop() == 0


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "part",
    [
        # system_catalog/test_tools.py asks what SQLAlchemy does, in other turns as well.
        pytest.param(OF_THE_CATALOG, marks=pytest.mark.turns(3, 0), id="catalog"),
        pytest.param(AT_ONCE, marks=pytest.mark.turns(3, 1), id="at once"),
        pytest.param("", marks=pytest.mark.long, id="whole"),
    ],
)
def test_the_suite_passes_but_for_what_is_expected(server: AntumbraServer, tmp_path: Path, part: str) -> None:
    report = tmp_path / "report.xml"
    uri = f"postgresql+psycopg://antumbra@127.0.0.1:{server.port}/antumbra"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        "setup.cfg",
        "--rootdir",
        ".",
        "--confcutdir=.",
        "-q",
        "suite.py",
        "--dburi",
        uri,
        *(("-k", part) if part else ()),
    ]
    subprocess.run([*command, f"--junitxml={report}"], cwd=FOLDER, env=environment(), capture_output=True, check=False)
    passed, failed, count = results(report)
    expected = expected_failures()
    assert failed - expected.keys() == set(), "these fail, and should not"
    assert expected.keys() & passed == set(), "these pass: take them out of expected_failures.txt"
    assert len(passed) / count >= PASSED_SHARE_MIN, f"{len(passed)} of {count}"


def test_every_expected_failure_has_a_reason() -> None:
    assert all(reason for reason in expected_failures().values())


def environment() -> dict[str, str]:
    """Return the environment in which the suite finds its plugins."""
    return {**os.environ, "PYTHONPATH": str(FOLDER.parent.parent), "PYTEST_ADDOPTS": ""}


def results(report: Path) -> tuple[set[str], set[str], int]:
    """Return the names of the tests that passed and of those that failed, and how many there are in
    all.
    """
    passed: set[str] = set()
    failed: set[str] = set()
    cases = list(ElementTree.parse(report).iter("testcase"))
    for case in cases:
        name = f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}".replace(DIALECT, "")
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            failed.add(name)
        elif "skipped" not in kinds:
            passed.add(name)
    return passed, failed, len(cases)


def expected_failures() -> dict[str, str]:
    """Return the reason of each test that is expected to fail: in the file, a line with # and the
    reason stands above its tests.
    """
    found: dict[str, str] = {}
    reason = ""
    for line in EXPECTED.read_text().splitlines():
        if line.startswith("# "):
            reason = line[2:]
        elif line:
            found[line] = reason
    return found
