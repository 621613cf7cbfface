"""Versions of views that are kept, by number and bytes, and the errors of those that are not."""

from __future__ import annotations

import pyarrow as pa
import pytest

from engine.scans.view_versions import ViewVersions
from sql.errors import SqlError
from sql.tree.relations import OutputColumn, Schema
from sql.types.datatypes import INT8

SCHEMA: Schema = (OutputColumn("n", INT8),)
OTHER: Schema = (OutputColumn("m", INT8),)


class StoppedClock:
    """The clock of a machine on which no time passes."""

    def now_us(self) -> int:
        return 1000

    def monotonic_s(self) -> float:
        return 1.0


def rows(*numbers: int) -> pa.Table:
    return pa.table({"n": pa.array(numbers, pa.int64())})


def test_numbers_rise_and_equal_rows_are_one_version() -> None:
    versions = ViewVersions(StoppedClock(), 10, 1000)
    assert [versions.number(1, SCHEMA, rows(at)) for at in (1, 1, 2)] == [1000, 1000, 1001]
    assert versions.number(2, SCHEMA, rows(1)) == 1002
    assert versions.number(1, SCHEMA, rows(1)) == 1003, "it was something else in between"
    assert versions.find(1, SCHEMA, 1000, "v").equals(rows(1))


def test_the_oldest_go_first() -> None:
    versions = ViewVersions(StoppedClock(), 2, 40)
    for at in range(3):
        versions.number(1, SCHEMA, rows(at))
    with pytest.raises(SqlError) as failure:
        versions.find(1, SCHEMA, 1000, "v")
    assert failure.value.sqlstate == "55000" and failure.value.detail == "The oldest version that is kept is 1001."
    versions.number(2, SCHEMA, rows(1, 2, 3))
    assert versions.find(1, SCHEMA, 1002, "v") is not None, "16 and 24 bytes"
    large = versions.number(2, SCHEMA, rows(*range(10)))
    for of, number in ((1, 1002), (2, 1003), (2, large)):
        with pytest.raises(SqlError) as failure:
            versions.find(of, SCHEMA, number, "v")
        assert failure.value.detail == "No version of it is kept."


def test_a_version_is_one_of_its_view_and_its_columns() -> None:
    versions = ViewVersions(StoppedClock(), 10, 1000)
    number = versions.number(1, SCHEMA, rows(1))
    for of, schema in ((2, SCHEMA), (1, OTHER)):
        with pytest.raises(SqlError):
            versions.find(of, schema, number, "v")
