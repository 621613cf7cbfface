"""The system catalog for the binder: descriptions of its relations, its views as bound queries,
oids and names of objects.

All of it but the names is the same for every database.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from engine.catalog.image import CatalogImage, TableEntry
from engine.catalog.system import provides_system
from engine.system_catalog.deparse.definitions import STORED, index_texts
from engine.system_catalog.descriptions import description
from engine.system_catalog.operator_classes import operator_class
from engine.system_catalog.session_context import Names
from engine.system_catalog.snapshot import snapshot_of
from engine.system_catalog.static_rows import column_type, relations
from engine.system_catalog.view_queries import view_query
from sql.bind.queries.query import bind_query
from sql.catalog.catalog import ConstraintDescription, RelationDescription, SessionSettings
from sql.names.relation_keys import name_of, schema_of
from sql.tree.expressions import Column, Expression
from sql.tree.relations import BoundQuery, project
from sql.types.datatypes import SqlType

EMPTY = CatalogImage()


@lru_cache(maxsize=512)
def bound_view(key: str, settings: SessionSettings) -> BoundQuery | None:
    """Return the query of a view, with the types of the columns that the view has."""
    schema, name = schema_of(key), name_of(key)
    query = view_query(f"{schema}.{name}")
    if query is None:
        return None
    bound = bind_query(query, EMPTY, settings)
    declared = relations()[schema, name].columns
    items: list[tuple[str, Expression]] = []
    for index, (column, known) in enumerate(zip(declared, bound.root.schema, strict=True)):
        # Types of texts have one form.
        kind = column_type(column)
        same = kind.row.duckdb == known.type.row.duckdb and known.type.family != "numeric"
        items.append((column.name, Column(index, column.name, kind if same else known.type)))
    return BoundQuery(project(bound.root, tuple(items)), (), bound.relations, True)


class SystemRelations:
    """The answers about the system catalog (`engine.catalog.system.System`)."""

    def relation(self, schema: str, name: str) -> RelationDescription | None:
        """See System."""
        return description(schema, name)

    def view(self, key: str, settings: SessionSettings) -> BoundQuery | None:
        """See System."""
        own = SessionSettings(
            time_zone=settings.time_zone,
            search_path="pg_catalog",
            user=settings.user,
            database=settings.database,
            process_id=settings.process_id,
            session_user=settings.session_user,
        )
        return bound_view(key, own)

    def oid(self, image: CatalogImage, kind: str, text: str, settings: SessionSettings, position: int | None) -> int:
        """See System."""
        return Names(snapshot_of(image), settings).registered(kind, text, position)

    def name(self, image: CatalogImage, kind: str, oid: int, settings: SessionSettings) -> str:
        """See System."""
        return Names(snapshot_of(image), settings).shown_as(kind, oid) or ""

    def operator_class(self, method: str, name: str, kind: SqlType) -> str:
        """See System."""
        return "" if operator_class(method, name, kind)["opcdefault"] else name

    def named(self, image: CatalogImage, relation: str, name: str) -> int | None:
        """See System."""
        return snapshot_of(image).named(relation, "pg_catalog", name)

    def index_texts(self, image: CatalogImage, entry: TableEntry, index: ConstraintDescription) -> list[str]:
        """See System."""
        shown = index_texts(entry, index, image, replace(STORED, pretty=True), "UTC")
        return [text if is_call else f"({text})" for text, is_call in shown]


provides_system(SystemRelations())
