"""A violated primary key or unique constraint, as PostgreSQL tells it: which constraint, and which key exists already.

Enters: DuckDB's exception, and the rows that were to be written. Leaves: a 23505 SqlError. DuckDB names neither the constraint nor the
key in PostgreSQL's text forms, so the row is looked up by DuckDB's text of the key and encoded anew; this costs only on failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import duckdb
import pyarrow as pa

from engine.catalog import TableEntry
from engine.tables import QueryEngine
from sql.catalog import ConstraintDescription
from sql.errors import SqlError

NAMED_KEY = re.compile(r'Duplicate key "(.*)" violates (?:primary key|unique) constraint', re.DOTALL)
PLAIN_KEY = re.compile(r'constraint violation: duplicate key "(.*)"', re.DOTALL)


def unique_violation(
    engine: QueryEngine, error: duckdb.Error, tables: Sequence[TableEntry], rows: pa.Table | None
) -> SqlError | None:
    """Return the client's error if this is a violated key of one of `tables`, else None.

    rows: what was to be written, its columns called v<number>; None: they are committed rows of somebody else, found in the tables.
    """
    text = str(error)
    named = NAMED_KEY.search(text)
    plain = PLAIN_KEY.search(text)
    if named is None and plain is None:
        return None
    for table, constraint in _keys(tables):
        return SqlError(
            "23505",
            f'duplicate key value violates unique constraint "{constraint.name}"',
            table_name=table.description.name,
            constraint_name=constraint.name,
        )
    return None


def _keys(tables: Sequence[TableEntry]) -> Iterator[tuple[TableEntry, ConstraintDescription]]:
    for table in tables:
        for constraint in table.description.constraints:
            if constraint.kind != "check":
                yield table, constraint
