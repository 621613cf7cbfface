"""Rows of pg_type and pg_enum: the database's own types.

The row types of relations, of which a sequence has none; arrays of both.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from engine.catalog.image import CatalogImage
from engine.system_catalog.object_oids import OWN_ARRAY, OWN_TYPE
from engine.system_catalog.static_rows import Row, static_rows
from sql.names.relation_keys import name_of
from sql.types.enums import STEP
from sql.types.records import ARRAY_OID as RECORD_ARRAY
from sql.types.records import OID as RECORD
from sql.types.records import row_array_oid, row_type_oid

# enum_in, enum_out, enum_recv, enum_send.
ENUM_FUNCTIONS = {"typinput": 3506, "typoutput": 3507, "typreceive": 3532, "typsend": 3533}


def row_types(image: CatalogImage) -> list[Row]:
    """Return the types of the rows of all relations."""
    rows = []
    for entry in image.entries.values():
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


def own_types(image: CatalogImage) -> list[Row]:
    """Return the database's own types, and those of arrays of them."""
    rows = []
    for enum in image.types.values():
        name, common = (
            name_of(enum.name),
            {"typnamespace": image.schema_oid(enum.name), "typowner": image.privileges.owner(enum.oid)},
        )
        rows.append(
            _template(OWN_TYPE) | common | ENUM_FUNCTIONS | {
                "oid": enum.oid, "typname": name, "typtype": "e", "typcategory": "E", "typarray": enum.array_oid,
            }
        )  # fmt: skip
        rows.append(_template(OWN_ARRAY) | common | {"oid": enum.array_oid, "typname": f"_{name}", "typelem": enum.oid})
    return rows


def label_rows(image: CatalogImage) -> list[Row]:
    """Return the labels of all enums.

    Their order is that of their numbers, in steps of one as they were made.
    """
    return [
        {"oid": label.oid, "enumtypid": enum.oid, "enumsortorder": label.number / STEP, "enumlabel": label.text}
        for enum in image.types.values()
        for label in enum.labels
    ]


@cache
def _template(oid: int) -> Row:
    return next(row for row in static_rows("pg_type") if row["oid"] == oid)


TYPE_ROWS: dict[str, Callable[[CatalogImage], list[Row]]] = {
    "pg_type": lambda image: [*row_types(image), *own_types(image)],
    "pg_enum": label_rows,
}
