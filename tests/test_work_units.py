"""Units of work: a file each, but for the files that share one Spark."""

from __future__ import annotations

from pathlib import Path

from tests.work_units import SPARK_FIXTURES, work_unit


def test_what_has_the_fixture_of_spark_is_one_unit(tmp_path: Path) -> None:
    asking, executing, other = (tmp_path / f"test_{name}.py" for name in "abc")
    asking.write_text("def test_a(tmp_path: Path, spark: SparkRuntime) -> None: ...")
    executing.write_text("def test_b(upper: SparkUpperExecutor) -> None: ...")
    other.write_text("def test_c(server: AntumbraServer, spark: FakeSpark) -> None: ...")
    assert work_unit(str(asking)) == work_unit(str(executing)) == "spark"
    assert work_unit(str(other)) == str(other)


def test_the_fixtures_are_called_so() -> None:
    defined = Path(__file__).with_name("engine") / "conftest.py"
    assert SPARK_FIXTURES.findall(defined.read_text()) == ["spark: SparkRuntime"]
    assert "def upper(" in defined.read_text()
