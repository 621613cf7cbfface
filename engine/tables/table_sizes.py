"""The sizes of committed tables, as the embedded engine tells them: rows, bytes, bytes of indexes.

Enters: the engine, the name of a table in its file. A table that is not committed has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb

from engine.embedded.query_engine import QueryEngine

# A part of a column: kind, number of values, its blocks in the file, the bytes of its texts. Other
# statistics may be times, which DuckDB does not give to Python without another library.
SEGMENTS = (
    "SELECT segment_type, count, block_id, additional_block_ids, stats.total_string_length::BIGINT "
    "FROM pragma_storage_info(?)"
)
BLOCK_BYTES = "SELECT block_size FROM pragma_database_size() WHERE database_name = current_database()"
# Of a part whose values are all the same.
NO_BLOCK = -1
# Bytes of a value in memory, by its kind.
WIDTHS = {
    "VALIDITY": 1 / 8,
    "BOOLEAN": 1,
    "TINYINT": 1,
    "SMALLINT": 2,
    "INTEGER": 4,
    "FLOAT": 4,
    "DATE": 4,
} | dict.fromkeys(("BIGINT", "DOUBLE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"), 8)
WIDEST = 16
# Of an index for each row besides its key: measured over keys of 4 to 130 bytes in no order.
# Numbers that follow each other take a third of it.
INDEX_ROW_BYTES = 32


def rows_count(engine: QueryEngine, physical: str) -> int:
    """Return how many rows a table has."""
    found = _answer(engine, f"SELECT count(*) FROM stored.{physical}")
    return int(found[0][0]) if found else 0


def table_bytes(engine: QueryEngine, physical: str) -> int:
    """Return the bytes of a table: its blocks in the file, and the values of rows that a checkpoint
    has not moved to blocks yet.
    """
    blocks: set[int] = set()
    loose_bytes = 0
    for kind, count, block, others, text_bytes in _answer(engine, SEGMENTS, f"stored.{physical}"):
        if block is None:
            loose_bytes += int(count * WIDTHS.get(kind, WIDEST)) + (text_bytes or 0)
        else:
            blocks.update((block, *(others or ())))
    blocks.discard(NO_BLOCK)
    return len(blocks) * int(_answer(engine, BLOCK_BYTES)[0][0]) + loose_bytes


def index_bytes(engine: QueryEngine, physical: str, numbers: Sequence[int]) -> int:
    """Return about how many bytes the index over columns of a table has: the engine tells only
    those of all indexes together.
    """
    return _values_bytes(engine, physical, [f"c{number}" for number in numbers], INDEX_ROW_BYTES)


def memory_bytes(engine: QueryEngine, physical: str) -> int:
    """Return about how many bytes a table takes in memory, where nothing is compressed."""
    return _values_bytes(engine, physical, None, 0)


def _values_bytes(engine: QueryEngine, physical: str, columns: Sequence[str] | None, row_bytes: int) -> int:
    """Return the bytes of the values of columns, None: of all, and more for each row."""
    kinds = dict(_answer(engine, f"SELECT column_name, column_type FROM (DESCRIBE stored.{physical})"))
    if not kinds:
        return 0
    widths = [_width(column, kinds[column]) for column in (kinds if columns is None else columns)]
    found = _answer(engine, f"SELECT {' + '.join(widths)} + count(*) * {row_bytes} FROM stored.{physical}")
    return int(found[0][0]) if found else 0


def _width(column: str, kind: str) -> str:
    """Return the text of the bytes of all values of a column."""
    if kind == "BLOB":
        return f"coalesce(sum(octet_length({column})), 0)"
    # Arrays, too, about as long as their texts.
    if kind == "VARCHAR" or kind.endswith("]"):
        return f"coalesce(sum(strlen({column}::VARCHAR)), 0)"
    return f"count({column}) * {WIDTHS.get(kind, WIDEST)}"


def _answer(engine: QueryEngine, query: str, *values: object) -> list[tuple[Any, ...]]:
    """Return the rows of a query; none where its table is not committed."""
    cursor = engine.take_cursor()
    try:
        return cursor.connection.execute(query, values).fetchall()
    except duckdb.CatalogException:
        return []
    finally:
        engine.give_back(cursor)
