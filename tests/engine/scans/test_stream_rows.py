"""Rows of a stream that pass through the embedded engine: a piece of them can be interrupted while
it is computed.
"""

from __future__ import annotations

import threading

import numpy as np
import pytest

from engine.embedded.query_engine import QueryEngine
from engine.scans.rows import PassingRows
from engine.scans.scans import ScanSettings
from engine.streams.stream import make_stream
from ringbuffer.memory.columns import Morsel
from sql.bind import bind_query
from sql.catalog.catalog import ARRIVAL, ColumnDescription, RelationDescription, SessionSettings
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.relations import Relation
from sql.types.datatypes import INT4

COLUMNS = (ColumnDescription("k", INT4),)
ROWS_COUNT = 65_536
# Each is computed in Python, row by row.
SLOW = ", ".join(f"to_char(k + {number}, 'FM999,999') AS c{number}" for number in range(20))


class Catalog:
    """One stream."""

    def relation(self, name: str) -> RelationDescription | None:
        if name != "numbers":
            return None
        return RelationDescription(name, "stream", 16384, COLUMNS, hidden=(ARRIVAL,))

    def relation_names(self) -> tuple[str, ...]:
        return ("numbers",)


def bound(query: str) -> Relation:
    (statement,) = parse(query)
    assert isinstance(statement, Select)
    return bind_query(statement.query, Catalog(), SessionSettings()).root


def test_a_piece_can_be_interrupted() -> None:
    stream = make_stream("numbers", 16384, COLUMNS, ROWS_COUNT, None)
    values = (np.arange(ROWS_COUNT, dtype=np.int32), np.zeros(ROWS_COUNT, np.int64))
    nulls = tuple(np.zeros(ROWS_COUNT, np.uint8) for _ in values)
    stream.ring.append(Morsel(ROWS_COUNT, values, nulls, np.empty(0, np.uint8)))
    engine = QueryEngine(1 << 28)
    token = object()
    settings = ScanSettings(False, 0.0, 1 << 30, 0)
    rows = PassingRows(engine, stream, bound(f"SELECT {SLOW} FROM numbers"), settings, lambda: None, token)
    done = threading.Event()

    def interrupt() -> None:
        while not done.wait(0.01):
            engine.interrupt(token)

    canceller = threading.Thread(target=interrupt)
    canceller.start()
    try:
        with pytest.raises(SqlError) as failure:
            rows.next()
    finally:
        done.set()
        canceller.join()
    assert failure.value.sqlstate == "57014"
