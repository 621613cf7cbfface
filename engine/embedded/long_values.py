"""Constants of many characters are rows that the embedded engine reads, and no text of its SQL.

Enters: a relation tree. Leaves: the tree with each of them as a scalar subquery, and the rows by
the name of what is scanned. As text, a parameter of 100 MB was quoted, copied at each level of the
tree, and looked at by DuckDB's parser, under the interpreter's lock.
"""

from __future__ import annotations

import pyarrow as pa

from sql.tree.expressions import Expression, Literal, Subquery
from sql.tree.relations import OutputColumn, Relation, Scan
from sql.tree.walks import map_relation

# Characters or bytes; shorter ones are copied in microseconds.
LONG_VALUE_MIN = 1 << 16
COLUMN = "value"
FAMILIES = {"text": pa.string(), "varchar": pa.string(), "json": pa.string(), "bytea": pa.binary()}


def without_long_values(root: Relation) -> tuple[Relation, dict[str, pa.Table]]:
    """Return the tree without long constants, and one row for each."""
    found: dict[str, pa.Table] = {}

    def change(node: Expression) -> Expression | None:
        if not isinstance(node, Literal) or not isinstance(node.value, str | bytes) or len(node.value) < LONG_VALUE_MIN:
            return None
        kind = FAMILIES.get(str(node.type.family))
        if kind is None or node.type.is_array:
            return None
        # Longer than any name of a client.
        name = f"{f'long value {len(found)} ':->70}"
        found[name] = pa.table({COLUMN: pa.array([node.value], kind)})
        scan = Scan(name, "rows", (OutputColumn(COLUMN, node.type),))
        return Subquery("scalar", scan, (), node.type, position=node.position)

    changed = map_relation(root, change)
    return (changed, found) if found else (root, found)
