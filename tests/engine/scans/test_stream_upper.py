"""Spark runs what lies above the groups of a stream, for some statements."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, cast

import pyarrow as pa
import pytest

from engine.commit.transaction import Transaction
from engine.scans.upper import rows_above
from sql.bind import bind_query
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.relations import Relation
from tests.sql.sample_catalog import SETTINGS, SampleCatalog
from views.model.arrow_schema import arrow_schema
from views.model.protocols import COLD, PREPARED
from views.plan.stream_grouping import cut_groupings

ROWS = pa.table({"found": [1]})
ORDERED = "SELECT a, count(*) FROM s GROUP BY a ORDER BY 2 LIMIT 3"


class Upper:
    """Stands for Spark. error: what it raises; cold_groups_max: below so many groups it is not
    there.
    """

    def __init__(self, error: SqlError | None = None, cold_groups_max: int = 0) -> None:
        self.error = error
        self.cold_groups_max = cold_groups_max
        self.ran: list[tuple[Relation, set[str]]] = []

    def is_cold(self, inputs: Iterable[pa.Table]) -> bool:
        groups_count: int = sum(rows.num_rows for rows in inputs)
        return groups_count < self.cold_groups_max

    def run(
        self,
        token: Hashable,
        relation: Relation,
        inputs: dict[str, pa.Table],
        tables: dict[str, object],
        told: Callable[[str], None],
    ) -> pa.Table:
        self.ran.append((relation, set(inputs)))
        told(PREPARED)
        if self.error is not None:
            raise self.error
        return ROWS


class Shared:
    """Stands for the database."""

    def __init__(self, upper: Upper, spark_is_ready: bool = True) -> None:
        self.upper = upper
        self.spark_is_ready = spark_is_ready


def above(
    shared: Shared, query: str, groups_min: int, groups_count: int = 10, count: Callable[[str], None] | None = None
) -> pa.Table | None:
    (statement,) = parse(query)
    assert isinstance(statement, Select)
    root = bind_query(statement.query, SampleCatalog(), SETTINGS).root
    (rest,), groupings = cut_groupings([root], frozenset({"s"}))
    inputs = {}
    for grouping in groupings:
        schema = arrow_schema(grouping.relation.schema)
        inputs[grouping.name] = pa.Table.from_arrays(
            [pa.nulls(groups_count, field.type) for field in schema], schema=schema
        )
    return rows_above(
        cast(Any, shared.upper if shared.spark_is_ready else None),
        Transaction(0, False),
        rest,
        inputs,
        groups_min,
        object(),
        count,
    )


@pytest.mark.parametrize("groups_min", [0, 10])
def test_spark_runs_what_lies_above_many_groups(groups_min: int) -> None:
    upper = Upper()
    assert above(Shared(upper), ORDERED, groups_min) is ROWS
    assert [names for _, names in upper.ran] == [{"groups 0"}]


@pytest.mark.parametrize(
    ("query", "groups_min"),
    [
        (ORDERED, -1),
        (ORDERED, 11),
        ("SELECT a, count(*) + 1 FROM s GROUP BY a HAVING count(*) > 3", 0),
        ("SELECT b FROM s ORDER BY 1", 0),
        ("SELECT n FROM v JOIN (SELECT a, count(*) AS c FROM s GROUP BY a) q ON c = n", 0),
    ],
)
def test_the_embedded_engine_does_what_is_left(query: str, groups_min: int) -> None:
    upper = Upper()
    assert above(Shared(upper), query, groups_min) is None
    assert not upper.ran


def test_nobody_waits_for_the_start_of_spark() -> None:
    assert above(Shared(Upper(), spark_is_ready=False), ORDERED, 0) is None


@pytest.mark.parametrize(("groups_count", "how"), [(9, COLD), (10, PREPARED)])
def test_the_way_is_counted_and_few_groups_do_not_wait(groups_count: int, how: str) -> None:
    counted: list[str] = []
    found = above(Shared(Upper(cold_groups_max=10)), ORDERED, 0, groups_count, counted.append)
    assert (found is ROWS) == (how == PREPARED)
    assert counted == [how]


def test_what_spark_refuses_is_answered_all_the_same() -> None:
    assert above(Shared(Upper(SqlError("0A000", "no plan"))), ORDERED, 0) is None
    with pytest.raises(SqlError, match="division by zero"):
        above(Shared(Upper(SqlError("22012", "division by zero"))), ORDERED, 0)
