"""The rows of the catalog for one image of it: the rows that every database has, and those of this
one.

Enters: a `CatalogImage`. Leaves: rows of each relation of pg_catalog, as dicts and as Arrow tables,
made when they are asked for and kept as long as the image is. Must not know sessions.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import pyarrow as pa

from engine.catalog.image import CatalogImage, StreamEntry, TableEntry
from engine.system_catalog.deparse.definitions import Show, stored_expressions
from engine.system_catalog.rows.constraints import CONSTRAINT_ROWS
from engine.system_catalog.rows.functions import FUNCTION_ROWS
from engine.system_catalog.rows.relations import RELATION_ROWS
from engine.system_catalog.rows.server import SERVER_ROWS
from engine.system_catalog.rows.types import TYPE_ROWS
from engine.system_catalog.static_rows import CATALOG_SCHEMA, HIDDEN, CatalogRelation, Row, column_type, static_rows
from engine.system_catalog.type_texts import type_text
from sql.names.relation_keys import is_output
from views.model.arrow_schema import arrow_type

# Relation of pg_catalog -> its rows beside the static ones.
LIVE_ROWS: dict[str, Callable[[CatalogImage], list[Row]]] = {
    **RELATION_ROWS,
    **CONSTRAINT_ROWS,
    **TYPE_ROWS,
    **FUNCTION_ROWS,
    **SERVER_ROWS,
}
FIRST_WRITER = 1
# The columns by which an object is found: its name, and its schema.
NAMES = {
    "pg_class": ("relname", "relnamespace"),
    "pg_type": ("typname", "typnamespace"),
    "pg_proc": ("proname", "pronamespace"),
    "pg_operator": ("oprname", "oprnamespace"),
    "pg_collation": ("collname", "collnamespace"),
    "pg_namespace": ("nspname", ""),
    "pg_authid": ("rolname", ""),
    "pg_database": ("datname", ""),
    "pg_language": ("lanname", ""),
    "pg_tablespace": ("spcname", ""),
    "pg_foreign_server": ("srvname", ""),
    "pg_foreign_data_wrapper": ("fdwname", ""),
    "pg_extension": ("extname", ""),
}


def shown(image: CatalogImage) -> CatalogImage:
    """Return an image without the relations of views' outputs, which nobody can name."""
    hidden = [key for key in image.entries if is_output(key)]
    return image.without(hidden) if hidden else image


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One image of the catalog as rows.

    Attributes:
        held: the image, weakly: the statement that reads the rows holds it.
    """

    held: weakref.ref[CatalogImage]

    @property
    def image(self) -> CatalogImage:
        """The image."""
        image = self.held()
        assert image is not None, "a statement holds its image"
        return image

    @cached_property
    def _rows(self) -> dict[str, list[Row]]:
        return {}

    @cached_property
    def _tables(self) -> dict[str, pa.Table]:
        return {}

    @cached_property
    def _by_oid(self) -> dict[str, dict[int, Row]]:
        return {}

    @cached_property
    def _by_name(self) -> dict[str, dict[tuple[int, str], int]]:
        return {}

    def rows(self, name: str) -> list[Row]:
        """Return the rows of a relation of pg_catalog."""
        return [*static_rows(name), *self._live_rows(name)]

    def _live_rows(self, name: str) -> list[Row]:
        """Return the rows that not every database has."""
        found = self._rows.get(name)
        if found is None:
            live = LIVE_ROWS.get(name)
            found = self._rows[name] = [] if live is None else live(shown(self.image))
        return found

    def table(self, relation: CatalogRelation) -> pa.Table:
        """Return the rows of a relation as Arrow."""
        found = self._tables.get(relation.key)
        if found is None:
            found = static_table(relation)
            live = self._live_rows(relation.name) if relation.schema == "pg_catalog" else []
            if live:
                found = pa.concat_tables([found, whole_table(relation, live)])
            self._tables[relation.key] = found
        return found

    def row(self, name: str, oid: int) -> Row | None:
        """Return the row of an object, None where there is none."""
        found = self._by_oid.get(name)
        if found is None:
            found = {row["oid"]: row for row in self.rows(name)}
            self._by_oid[name] = found
        return found.get(oid)

    def named(self, name: str, schema: str, wanted: str) -> int | None:
        """Return the OID of the object of relation `name` that is called `wanted`, in a schema if
        it has one.
        """
        found = self._by_name.get(name)
        column, namespace = NAMES[name]
        if found is None:
            found = {}
            for row in self.rows(name):
                found.setdefault((row[namespace] if namespace else 0, row[column]), row["oid"])
            self._by_name[name] = found
        number = self.schema_oid(schema) if namespace else 0
        return None if number is None else found.get((number, wanted))

    def called(self, name: str, column: str, wanted: str) -> list[Row]:
        """Return the rows of relation `name` whose `column` is `wanted`."""
        found = self._called.get(name)
        if found is None:
            found = self._called[name] = {}
            for row in self.rows(name):
                found.setdefault(row[column], []).append(row)
        return found.get(wanted, [])

    @cached_property
    def _called(self) -> dict[str, dict[str, list[Row]]]:
        return {}

    def columns(self, oid: int) -> list[Row]:
        """Return the rows of pg_attribute of a relation."""
        return self._columns.get(oid, [])

    @cached_property
    def _columns(self) -> dict[int, list[Row]]:
        found: dict[int, list[Row]] = {}
        for row in self.rows("pg_attribute"):
            found.setdefault(row["attrelid"], []).append(row)
        return found

    @cached_property
    def descriptions(self) -> dict[tuple[int, int], list[tuple[int, str]]]:
        """Comments by OID and number of the column (0: the object's own), each with the OID of the
        object's catalog relation.
        """
        found: dict[tuple[int, int], list[tuple[int, str]]] = {}
        for row in self.rows("pg_description"):
            found.setdefault((row["objoid"], row["objsubid"]), []).append((row["classoid"], row["description"]))
        return found

    def expressions(self, entry: TableEntry | StreamEntry) -> dict[str, Show]:
        """Return the defaults and checks of a relation by their texts in the catalog's rows."""
        oid = entry.description.oid
        if oid not in self._expressions:
            self._expressions[oid] = stored_expressions(entry, self.image)
        return self._expressions[oid]

    @cached_property
    def _expressions(self) -> dict[int, dict[str, Show]]:
        return {}

    def schema_oid(self, name: str) -> int | None:
        """Return the OID of a schema."""
        if name == "pg_catalog":
            return CATALOG_SCHEMA
        return self.named("pg_namespace", "", name)

    def schema_name(self, oid: int) -> str | None:
        """Return the name of a schema."""
        row = self.row("pg_namespace", oid)
        return None if row is None else str(row["nspname"])

    def relation_oid(self, schema: str, name: str) -> int | None:
        """Return the OID of a relation."""
        return self.named("pg_class", schema, name)

    def type_text(self, oid: int, modifier: int | None) -> str:
        """Return a type as format_type prints it."""
        return type_text(oid, modifier, lambda number: self.row("pg_type", number))


@cache
def static_table(relation: CatalogRelation) -> pa.Table:
    """Return the rows of a relation that every database has as Arrow: the same object each time."""
    return whole_table(relation, static_rows(relation.name) if relation.schema == "pg_catalog" else [])


def whole_table(relation: CatalogRelation, rows: list[dict[str, Any]]) -> pa.Table:
    """Return rows as the Arrow table of a relation's columns, and of its hidden ones.

    A column that a row does not name is NULL.
    """
    columns = (*relation.columns, *HIDDEN)
    always = {"tableoid": relation.oid, "xmin": FIRST_WRITER, "xmax": 0}
    arrays = [
        pa.array([row.get(one.name, always.get(one.name)) for row in rows], arrow_type(column_type(one)))
        for one in columns
    ]
    return pa.Table.from_arrays(arrays, names=[column.name for column in columns])


SNAPSHOTS_KEPT = 4
# The rows of the last few images, by the ids of these. They go with their image, so that no other
# one can have its id.
_snapshots: dict[int, Snapshot] = {}
_lock = threading.Lock()


def snapshot_of(image: CatalogImage) -> Snapshot:
    """Return the rows of an image; the rows of the last few images are kept."""
    with _lock:
        key = id(image)
        found = _snapshots.get(key)
        if found is None:
            found = _snapshots[key] = Snapshot(weakref.ref(image, lambda _: _snapshots.pop(key, None)))
            # An image that goes meanwhile takes its rows out without the lock.
            for oldest in list(_snapshots)[:-SNAPSHOTS_KEPT]:
                _snapshots.pop(oldest, None)
        return found
