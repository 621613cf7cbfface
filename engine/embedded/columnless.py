"""Rows without columns, which PostgreSQL has and DuckDB does not have.

An Arrow table counts such rows by itself, as long as nothing makes the table anew from its columns.
In DuckDB a column that nothing reads stands for them: a column of NULLs in an input, and the column
that `sql.emit.blocks.select` prints for an empty list in an answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

STAND_IN = "column"


def rows_alone(rows_count: int) -> pa.Table:
    """Return that many rows without columns."""
    return pa.table({STAND_IN: pa.nulls(rows_count)}).select([])


def for_duckdb(rows: pa.Table) -> pa.Table:
    """Return rows with at least one column."""
    return rows if rows.num_columns else pa.table({STAND_IN: pa.nulls(rows.num_rows)})


def concatenated(pieces: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of several tables that have the same columns."""
    if pieces[0].num_columns:
        return pa.concat_tables(pieces)
    return rows_alone(sum(piece.num_rows for piece in pieces))
