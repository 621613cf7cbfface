"""Where no JVM can start, tries come in pauses that grow, and nobody waits for one of them."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from engine.spark import runtime as runtime_module
from engine.spark.runtime import SparkRuntime
from sql.errors import SqlError
from tests.engine.session_client import World

SECONDS = 0.7
# After 0, 0.1, 0.3 and 0.7 seconds, and one more on a machine that is late.
STARTS_MAX = 5
VIEW = (
    "CREATE VIEW v WITH (upper_maintenance = spark) AS "
    "SELECT n, count(*) AS keys FROM (SELECT k, count(*) AS n FROM s GROUP BY k) g GROUP BY n"
)


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The times at which a JVM was started, none of which comes up."""
    started: list[float] = []

    def launch(*_: object) -> None:
        started.append(time.monotonic())
        raise OSError("no JVM here")

    monkeypatch.setattr(runtime_module, "launch_java", launch)
    return started


def test_small_refreshes_do_not_start_a_jvm_each(tmp_path: Path, starts: list[float]) -> None:
    spark = SparkRuntime(runtime_module.HEAP_MB_MIN, 1, tmp_path / "spark")
    world = World(tmp_path / "data", spark=spark, cold_upper_groups=10)
    try:
        client = world.client()
        client.run("CREATE FOREIGN TABLE s (k integer) SERVER stream", VIEW)
        end_s, count = time.monotonic() + SECONDS, 0
        while time.monotonic() < end_s:
            count += 1
            client.run("INSERT INTO s VALUES (1)")
            assert client.rows("SELECT n, keys FROM v") == [f"D [b'{count}', b'1']"]
        assert count > len(starts)
        assert 1 < len(starts) <= STARTS_MAX
    finally:
        world.close()
        spark.stop()


def test_who_needs_a_jvm_is_told_why_there_is_none(
    tmp_path: Path, starts: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime_module, "PAUSE_WAIT_S_MAX", 0.3)
    spark = SparkRuntime(runtime_module.HEAP_MB_MIN, 1, tmp_path / "spark")
    try:
        with pytest.raises(SqlError, match="58000: Spark is not running") as failure:
            spark.session()
        assert failure.value.detail == "no JVM here"
        tried = len(starts)
        assert tried > 1, "a JVM that fails once is no reason to fail"
        with pytest.raises(SqlError, match="58000"):
            spark.session()
        assert len(starts) <= tried + 1
    finally:
        spark.stop()


@pytest.mark.parametrize("bug", [TypeError("'JavaPackage' object is not callable"), AttributeError("jvm")])
def test_a_bug_in_the_start_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bug: Exception
) -> None:
    """A class of ours that the JVM does not find is a TypeError of its gateway."""
    traced: list[object] = []

    def launch(*_: object) -> None:
        raise bug

    monkeypatch.setattr(runtime_module, "launch_java", launch)
    monkeypatch.setattr(runtime_module, "PAUSE_WAIT_S_MAX", 0.15)
    monkeypatch.setattr(threading, "excepthook", lambda told: traced.append(told.exc_value))
    spark = SparkRuntime(runtime_module.HEAP_MB_MIN, 1, tmp_path / "spark", wait_s_max=SECONDS)
    try:
        with pytest.raises(SqlError, match="58000: Spark is not running"):
            spark.pipelines()
        assert not spark.is_ready
        assert traced and set(traced) == {bug}
    finally:
        spark.stop()
