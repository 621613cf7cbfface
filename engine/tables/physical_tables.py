"""Tables as DuckDB has them: types of columns, columns that no client sees, what stands in FROM.

Enters: table entries, types, scans. Leaves: parts of DuckDB's SQL.
"""

from __future__ import annotations

from engine.catalog.image import TableEntry
from sql.emit.duckdb import DuckDbExpressions
from sql.emit.names import StoredTable
from sql.tree.relations import OutputColumn, Scan
from sql.types.datatypes import INT8, SqlType

# The pseudo column of a table's scan that says which row it is, for UPDATE and DELETE of the same
# transaction; never shown to a client.
ROWID = OutputColumn("?rowid?", INT8)
# A column of every physical table beside the client's: how often a row was written.
TOUCHED = "touched"


def physical_type(kind: SqlType) -> str:
    """Return the DuckDB type of a column's values: the form in which `sql.emit.duckdb` computes."""
    return DuckDbExpressions(()).type_name(kind)


def table_source(table: TableEntry, scan: Scan) -> StoredTable:
    """Return what stands in DuckDB's FROM for a scan of `table`."""
    columns = table.description.columns
    schema = (*(OutputColumn(column.name, column.type) for column in columns), ROWID)
    assert scan.schema in (schema, schema[:-1]), f"{scan} is no scan of {table.description}"
    return StoredTable(f"stored.{table.physical}", (*(f"c{column.number}" for column in columns), "rowid"))
