"""Rows without columns, which PostgreSQL has and DuckDB has not.

An Arrow table counts them by itself, as long as nothing makes it anew from its columns. In DuckDB a column that nobody reads stands for
them: one of NULLs in what it is given, and what `sql.emit.blocks.select` prints for an empty list in what it answers.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

STAND_IN = "column"


def rows_alone(rows_count: int) -> pa.Table:
    """Return so many rows without columns."""
    return pa.table({STAND_IN: pa.nulls(rows_count)}).select([])


def for_duckdb(rows: pa.Table) -> pa.Table:
    """Return rows with at least one column."""
    return rows if rows.num_columns else pa.table({STAND_IN: pa.nulls(rows.num_rows)})


def concatenated(pieces: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of several tables that have the same columns."""
    if pieces[0].num_columns:
        return pa.concat_tables(pieces)
    return rows_alone(sum(piece.num_rows for piece in pieces))
