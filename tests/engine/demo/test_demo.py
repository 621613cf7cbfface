"""The demo's parts that need no server: data, recomputation, comparison, display."""

from __future__ import annotations

from decimal import Decimal

import pytest

from engine.demo.demo import Progress, due_count, table
from engine.demo.flights import COLUMNS, TABLES, VIEWS, comparable, load_lines, recompute, table_data


def test_the_file_has_the_streams_columns() -> None:
    lines = load_lines()
    assert len(lines) == 336_776 + 1
    assert lines[0].decode().strip().split(",") == [column.split()[0] for column in COLUMNS.split(", ")]


def test_recomputation_on_a_few_flights() -> None:
    lines = [line.encode() + b"\n" for line in FLIGHTS.splitlines()]
    assert recompute(lines) == {
        "delays_by_airline": [("American Airlines Inc.", 2, 1, 33.0, 33), ("United Air Lines Inc.", 2, 0, 15.5, 20)],
        "delays_by_visibility": [(10, 3, 2.33, 0)],
        "busiest_routes": [
            ("EWR", "IAH", "George Bush Intercontinental", 2, 2800),
            ("EWR", "MIA", "Miami Intl", 1, 1089),
            ("LGA", "IAH", "George Bush Intercontinental", 1, 1416),
        ],
    }
    assert [view.name for view in VIEWS] == ["delays_by_airline", "delays_by_visibility", "busiest_routes"]


def test_each_table_has_the_columns_of_its_file() -> None:
    for demo_table in TABLES:
        header = table_data(demo_table).split(b"\n", 1)[0].decode().strip()
        assert header.split(",") == [column.split()[0] for column in demo_table.columns.split(", ")]


FLIGHTS = """\
year,month,day,dep_time,sched_dep_time,dep_delay,arr_time,sched_arr_time,arr_delay,carrier,flight,tailnum,origin,dest,air_time,distance,hour,minute,time_hour
2013,1,1,517,515,2,830,819,11,UA,1545,N14228,EWR,IAH,227,1400,5,15,2013-01-01T10:00:00Z
2013,1,1,533,529,4,850,830,20,UA,1714,N24211,LGA,IAH,227,1416,6,29,2013-01-01T10:00:00Z
2013,1,1,542,540,1,923,850,33,AA,1141,N619AA,EWR,MIA,160,1089,6,40,2013-01-01T10:00:00Z
2013,1,1,NA,600,NA,NA,901,NA,AA,791,N3EHAA,EWR,IAH,NA,1400,6,0,2013-01-01T11:00:00Z
"""


def test_numbers_compare_by_value() -> None:
    assert comparable([("UA", 3.5, 2, None)]) == comparable([("UA", Decimal("3.50"), 2, None)])
    assert comparable([(Decimal("3.51"),)]) != comparable([(3.5,)])


@pytest.mark.parametrize(("rate", "due"), [(0, 10), (2, 4), (1000, 10)])
def test_the_rate_decides_how_many_are_due(monkeypatch: pytest.MonkeyPatch, rate: int, due: int) -> None:
    monkeypatch.setattr("engine.demo.demo.time.monotonic", lambda: 102.0)
    assert due_count(Progress(total_count=10, started_s=100.0), rate) == due


def test_a_table_aligns_numbers_to_the_right() -> None:
    assert table(["name", "n"], [("a", 10), ("bcdef", 2)]) == ["  name    n", "  a      10", "  bcdef   2"]
    assert table(["n"], []) == ["  n"]
