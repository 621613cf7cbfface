"""Rows go into the JVM and come back as they were, and a pipeline leaves nothing, whether it
fails or not.
"""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from engine.spark.compilation import DIRECTIVES
from engine.spark.errors import sql_error
from engine.spark.pipelines import BATCH_BYTES_MAX, BATCH_ROWS_MAX, SparkPipelines
from engine.spark.prepared import NUMBERS
from engine.spark.runtime import EXCHANGE_NAME, SparkRuntime
from engine.storage.errors import disk_error
from tests.engine.in_spark import over
from views.model.arrow_schema import INTERVAL, TIMETZ, VARIABLE_NUMERIC

pytestmark = pytest.mark.slow

# A column of each form of `views.model.arrow_schema`, and one of an array.
FORMS: dict[str, tuple[pa.DataType, object]] = {
    "bool": (pa.bool_(), True),
    "int2": (pa.int16(), -(2**15)),
    "int4": (pa.int32(), 2**31 - 1),
    "int8": (pa.int64(), -(2**63)),
    "float4": (pa.float32(), 0.5),
    "float8": (pa.float64(), float("-inf")),
    "text": (pa.string(), "naïve ☃\n'\\"),
    "bytea": (pa.binary(), b"\0\xff"),
    "date": (pa.date32(), date(1, 1, 1)),
    "timestamp": (pa.timestamp("us"), datetime.fromisoformat("1969-12-31 23:59:59.999999")),
    "timestamptz": (pa.timestamp("us", tz="UTC"), datetime(2026, 3, 29, 1, 30, tzinfo=UTC)),
    "numeric": (pa.decimal128(38, 2), Decimal("-" + "9" * 36 + ".99")),
    "variable": (VARIABLE_NUMERIC, {"unscaled": Decimal(5), "scale": -1}),
    "interval": (INTERVAL, {"months": 1, "days": -1, "micros": 5}),
    "timetz": (TIMETZ, {"micros": 5, "west": -3600}),
    "array": (pa.list_(pa.int64()), [1, None, 3]),
}


@pytest.fixture
def pipelines(spark: SparkRuntime) -> SparkPipelines:
    return spark.pipelines()


def left_behind(spark: SparkRuntime) -> tuple[set[str], set[Path]]:
    """Return the views of SQL, and the files of exchanged rows."""
    names = {row.viewName for row in spark.session().sql("SHOW VIEWS").collect()}
    folder = Path(spark.pipelines()._folder)
    assert folder.name == EXCHANGE_NAME
    return names, set(folder.iterdir())


def test_values_come_back_as_they_were(spark: SparkRuntime, pipelines: SparkPipelines) -> None:
    before = left_behind(spark)
    columns = {name: pa.array([value, None], kind) for name, (kind, value) in FORMS.items()}
    rows = pa.table(columns)
    found = pipelines.run("all_forms", {"forms": rows}, over("SELECT * FROM {forms} ORDER BY int2 NULLS LAST")).rows
    assert found.to_pylist() == rows.to_pylist()
    assert left_behind(spark) == before


@pytest.mark.parametrize("count", [0, 1, 2 * BATCH_ROWS_MAX + 1])
def test_rows_keep_their_number_and_their_order(count: int, pipelines: SparkPipelines) -> None:
    rows = pa.table({"k": pa.array(range(count), pa.int64()), "t": pa.array(["some text"] * count)})
    found = pipelines.run("many", {"rows": rows}, over("SELECT k + 1 AS k, t FROM {rows} ORDER BY k DESC")).rows
    assert found.column("k").to_pylist() == list(range(count, 0, -1))
    assert found.column_names == ["k", "t"]


def test_long_values_come_in_batches_of_few_rows(pipelines: SparkPipelines) -> None:
    long = "x" * BATCH_BYTES_MAX
    rows = pa.table({"k": [1, 2, 3], "t": [long, None, long]})
    answer = pipelines.run("long", {"rows": rows}, over("SELECT sum(k) AS k, sum(length(t)) AS n FROM {rows}"))
    assert answer.rows.to_pylist() == [{"k": 6, "n": 2 * BATCH_BYTES_MAX}]


def test_two_inputs_and_a_view_that_stays(spark: SparkRuntime, pipelines: SparkPipelines) -> None:
    before = left_behind(spark)
    one, two = pa.table({"k": [1, 2]}), pa.table({"k": [2, 3]})
    pipelines.make_view("kept_view", pa.table({"k": [2], "name": ["two"]}))
    sql = "SELECT name FROM kept_view WHERE k IN (SELECT k FROM {a} INTERSECT SELECT k FROM {b})"
    for _ in range(2):
        answer = pipelines.run("both", {"a": one, "b": two}, over(sql), frozenset({"kept_view"}))
        assert answer.rows.to_pylist() == [{"name": "two"}]
    pipelines.drop_view("kept_view")
    assert left_behind(spark) == before


def test_a_failure_leaves_nothing_behind(spark: SparkRuntime, pipelines: SparkPipelines) -> None:
    before = left_behind(spark)
    rows = {"numbers": pa.table({"k": [1, 0]})}
    for sql in (
        "SELECT 1 div k FROM {numbers}",
        "SELECT sum(1 div k) FROM {numbers} GROUP BY k",
        "SELECT no_such FROM {numbers}",
    ):
        with pytest.raises((PySparkException, Py4JJavaError), match=r"DIVIDE_BY_ZERO|UNRESOLVED_COLUMN"):
            pipelines.run("failing", rows, over(sql))
        assert left_behind(spark) == before
    assert pipelines.run("after", rows, over("SELECT max(k) AS k FROM {numbers}")).rows.to_pylist() == [{"k": 1}]


def test_a_full_disk_is_told_as_such(spark: SparkRuntime, pipelines: SparkPipelines) -> None:
    before = left_behind(spark)
    folder, rows, sql = pipelines._folder, {"full_input": pa.table({"k": [1]})}, over("SELECT k FROM {full_input}")
    (folder / "full_job").symlink_to("/dev/full")
    with pytest.raises(Py4JJavaError) as failure:
        pipelines.run("full_job", rows, sql)
    assert getattr(sql_error(failure.value), "sqlstate", None) == "53100"
    (folder / f"query_{next(NUMBERS) + 1}_0_0").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left on device") as refused:
        pipelines.run("job", rows, sql)
    assert disk_error(refused.value, "hand rows to Spark").sqlstate == "53100"
    assert left_behind(spark) == before
    assert pipelines.run("job", rows, sql).rows.to_pylist() == [{"k": 1}]


def test_the_jvm_takes_what_is_said_about_compiling(spark: SparkRuntime) -> None:
    log = (Path(spark.pipelines()._folder).parent / "spark.log").read_text()
    assert f"{len(json.loads(DIRECTIVES))} compiler directives added" in log
