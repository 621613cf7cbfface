"""The life of the JVM: it starts with the classes that set-up has archived, or without; stopped
while it starts, it leaves no process.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import pytest

from engine.spark.classes import ARCHIVE_NAME, own_classes, shared_folder
from engine.spark.runtime import SparkRuntime
from sql.errors import SqlError

pytestmark = pytest.mark.slow

STOP_S_MAX = 20.0


def in_a_process(check: Callable[[Path], None], folder: Path) -> int | None:
    """Return the exit status of a check in another process: one has one JVM at most, and this one
    has that of all other tests.
    """
    process = get_context("spawn").Process(target=check, args=(folder,))
    process.start()
    process.join()
    return process.exitcode


def test_stop_while_starting(tmp_path: Path) -> None:
    assert in_a_process(stop_while_starting, tmp_path / "spark") == 0


def stop_while_starting(folder: Path) -> None:
    runtime = SparkRuntime(512, 1, folder)
    runtime.start()
    start = time.monotonic()
    runtime.stop()
    assert time.monotonic() - start < STOP_S_MAX
    with pytest.raises(SqlError, match="58000: Spark is not running"):
        runtime.session()


def test_spark_starts_with_the_archive_of_set_up(spark: SparkRuntime) -> None:
    spark.session()
    assert str(shared_folder() / ARCHIVE_NAME) in Path(f"/proc/{spark.process_id}/maps").read_text()


@pytest.mark.turns(4, 1)
def test_idle_priority_is_that_of_all_threads_of_spark(tmp_path: Path) -> None:
    assert in_a_process(start_with_idle_priority, tmp_path / "spark") == 0


def start_with_idle_priority(folder: Path) -> None:
    runtime = SparkRuntime(512, 1, folder, is_idle_priority=True)
    try:
        assert runtime.session().sql("SELECT count(*) AS n FROM range(10)").toArrow().to_pylist() == [{"n": 10}]
        threads = [int(name) for name in os.listdir(f"/proc/{runtime.process_id}/task")]
        assert len(threads) > 10
        assert {os.sched_getscheduler(thread) for thread in threads} == {os.SCHED_IDLE}
        assert {frozenset(os.sched_getaffinity(thread)) for thread in threads} == {
            frozenset({min(os.sched_getaffinity(0))})
        }
        assert os.sched_getscheduler(0) == os.SCHED_OTHER
    finally:
        runtime.stop()


@pytest.mark.turns(4, 3)
def test_without_an_archive_the_functions_are_compiled_in_the_data_folder(tmp_path: Path) -> None:
    assert in_a_process(start_without_archive, tmp_path / "spark") == 0
    assert list((tmp_path / "spark" / "classes").glob("*.compiled"))


def start_without_archive(folder: Path) -> None:
    runtime = SparkRuntime(512, 1, folder, own_classes(folder))
    try:
        rows = runtime.session().sql("SELECT float8_total(3.5D, 3.5D, false) AS total").toArrow().to_pylist()
        assert rows == [{"total": 3.5}]
    finally:
        runtime.stop()


def test_stop_without_start(tmp_path: Path) -> None:
    SparkRuntime(512, 1, tmp_path / "spark").stop()
    assert not (tmp_path / "spark").exists()
