"""Interval constants, compared with PostgreSQL."""

from __future__ import annotations

import psycopg

from sql.errors import SqlError
from sql.times.interval_input import interval_value
from tests.oracle.postgres import PostgresCluster

TEXTS = """
1 day|2 hours 30 minutes|1 year 2 mons 3 days 04:05:06.789|-1 day|1 day -2 hours|1-2|-1-2|01:02|01:02:03.5|-01:30|1.5 days
0.5 month|1.5 months|1.5 years|2 weeks|1 week 1 day|1 decade|1 century|1 millennium|3 days ago|@ 1 minute|5|1.25|1 2:03:04
100 ms|250 us|1e2 seconds||foo|1 foo|2020-01-01|1 2|1 day 5|day|1 h 2 m 3 s|1d|1y2mon|1 hr|999999999999 days|.5 hour
"""


def theirs(connection: psycopg.Connection[tuple[object, ...]], text: str) -> object:
    query = """SELECT extract(year FROM i) * 12 + extract(month FROM i), extract(day FROM i),
        (extract(hour FROM i) * 3600 + extract(minute FROM i) * 60) * 1000000 + extract(microseconds FROM i)
        FROM (SELECT %s::text::interval AS i) AS x"""
    try:
        row = connection.execute(query, [text]).fetchone()
    except psycopg.Error as error:
        return error.sqlstate
    assert row is not None
    return tuple(int(str(part).split(".")[0]) for part in row)


def ours(text: str) -> object:
    try:
        return interval_value(text)
    except SqlError as error:
        return error.sqlstate


def test_intervals_are_those_of_postgres(postgres: PostgresCluster) -> None:
    with postgres.connect() as connection:
        wrong = {
            text: (ours(text), theirs(connection, text))
            for text in TEXTS.strip().replace("\n", "|").split("|")
            if ours(text) != theirs(connection, text)
        }
    assert not wrong
