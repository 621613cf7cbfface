"""The life of the JVM: stopped while it starts, it leaves no process and fails its callers."""

from __future__ import annotations

import time
from multiprocessing import get_context
from pathlib import Path

import pytest

from engine.spark import SparkRuntime
from sql.errors import SqlError

pytestmark = pytest.mark.slow

STOP_S_MAX = 20.0


def test_stop_while_starting(tmp_path: Path) -> None:
    # A process has one JVM at most, and this one has that of all other tests.
    process = get_context("spawn").Process(target=stop_while_starting, args=(tmp_path / "spark",))
    process.start()
    process.join()
    assert process.exitcode == 0


def stop_while_starting(folder: Path) -> None:
    runtime = SparkRuntime(512, 1, folder)
    runtime.start()
    start = time.monotonic()
    runtime.stop()
    assert time.monotonic() - start < STOP_S_MAX
    with pytest.raises(SqlError, match="58000: Spark is not running"):
        runtime.session()


def test_stop_without_start(tmp_path: Path) -> None:
    SparkRuntime(512, 1, tmp_path / "spark").stop()
    assert not (tmp_path / "spark").exists()
