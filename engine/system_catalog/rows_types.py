"""pg_type: the types of the rows of relations, and of arrays of them; a sequence has none."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from engine.catalog import CatalogImage
from engine.system_catalog.object_oids import row_array_oid, row_type_oid
from engine.system_catalog.rows_relations import visible_entries
from engine.system_catalog.static_rows import Row, static_rows
from sql.relation_keys import name_of

RECORD, RECORD_ARRAY = 2249, 2287


def row_types(image: CatalogImage) -> list[Row]:
    """Return the types of the rows of all relations."""
    rows = []
    for entry in visible_entries(image):
        description = entry.description
        if description.kind == "sequence":
            continue
        name, schema = name_of(description.name), image.schema_oid(description.name)
        own, array = row_type_oid(description.oid), row_array_oid(description.oid)
        rows.append(
            _template(RECORD) | {
                "oid": own, "typname": name, "typnamespace": schema, "typtype": "c", "typcategory": "C",
                "typrelid": description.oid, "typarray": array,
            }
        )  # fmt: skip
        rows.append(
            _template(RECORD_ARRAY) | {
                "oid": array, "typname": f"_{name}", "typnamespace": schema, "typtype": "b", "typcategory": "A",
                "typelem": own, "typarray": 0,
            }
        )  # fmt: skip
    return rows


@cache
def _template(oid: int) -> Row:
    return next(row for row in static_rows("pg_type") if row["oid"] == oid)


TYPE_ROWS: dict[str, Callable[[CatalogImage], list[Row]]] = {"pg_type": row_types}
