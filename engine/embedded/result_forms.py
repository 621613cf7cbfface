"""An engine's Arrow answer in the forms of `views.model.arrow_schema`: same values, exact types,
the client's column names.

Columns are taken by position. A cast that would lose anything is a bug and raises.
"""

from __future__ import annotations

import pyarrow as pa

from sql.tree.relations import Schema
from views.model.arrow_schema import arrow_schema


def in_forms(table: pa.Table, schema: Schema) -> pa.Table:
    """Return `table` with the Arrow schema of `schema`."""
    target = arrow_schema(schema)
    if not target:
        return table.select([])
    assert table.num_columns == len(target), (table.schema, target)
    columns = [
        column if column.type == wanted.type else column.cast(wanted.type)
        for column, wanted in zip(table.columns, target, strict=True)
    ]
    return pa.table(columns, schema=target)
