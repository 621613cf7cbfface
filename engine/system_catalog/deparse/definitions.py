"""Definitions as this session sees them: of views, defaults and checks, printed from what their
texts meant when they were made, by the names that everything has today.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from engine.catalog.as_then import AsThen, ObjectsAsThen, StreamsAsThen
from engine.catalog.image import (
    CatalogImage,
    DisabledViewEntry,
    QueryViewEntry,
    SourceText,
    StreamEntry,
    TableEntry,
    ViewEntry,
)
from engine.ddl.query_views import statement_of
from engine.system_catalog.deparse.layout import Style, qualified
from engine.system_catalog.deparse.nodes import SourceColumn
from engine.system_catalog.deparse.query_reading import DefinitionCatalog, read_body, read_expression, read_query
from engine.system_catalog.deparse.query_text import body_text, expression_text, query_text, returned_text
from engine.tables.table_expressions import parsed_expression
from sql.bind.expressions.user_functions import body_query
from sql.bind.queries.function_bodies import check_function
from sql.catalog.catalog import Catalog, ColumnDescription, RelationDescription, SessionSettings
from sql.catalog.functions import FunctionDescription
from sql.errors import SqlError
from sql.types.datatypes import BOOL

View = ViewEntry | QueryViewEntry | DisabledViewEntry
Show = Callable[[CatalogImage, Style, str], str]
# How expressions stand in the catalog's rows: the same for every session.
STORED = Style(False, 0, qualified, lambda kind: kind.sql_name, qualified, lambda kind, oid: f"{kind} {oid}")


def view_text(entry: View, image: CatalogImage, style: Style, zone: str) -> str:
    """Return a view's query as pg_get_viewdef shows it.

    A view that could not be built is shown as it was written.
    """
    if isinstance(entry, DisabledViewEntry):
        return f" {statement_of(str(entry.plain['text'])).query_text.strip()};"
    then: ObjectsAsThen
    if isinstance(entry, ViewEntry):
        definition = entry.chain.definition
        then = StreamsAsThen(image, entry.objects, entry.used, entry.named)
        text, settings = definition.text, definition.settings
    else:
        then = AsThen(image, entry.source.objects, {used.name: used for used in entry.used})
        text, settings = entry.source.text, entry.source.settings
    query = read_query(statement_of(text).query, _catalog(then, image, settings, zone))
    return query_text(query, style, [column.name for column in entry.description.columns])


def default_text(source: SourceText, column: ColumnDescription, image: CatalogImage, style: Style, zone: str) -> str:
    """Return a column's default as pg_get_expr shows it."""
    node = read_expression(parsed_expression(source.text), _source_catalog(source, image, zone), (), column.type)
    return expression_text(node, style)


def check_text(source: SourceText, relation: RelationDescription, image: CatalogImage, style: Style, zone: str) -> str:
    """Return a check's condition as pg_get_expr shows it: columns by their present names."""
    called = {number: name for name, number in source.names}
    columns = [SourceColumn(called.get(one.number), one.name, one.type) for one in relation.columns]
    node = read_expression(parsed_expression(source.text), _source_catalog(source, image, zone), columns, BOOL)
    return expression_text(node, style)


def function_text(function: FunctionDescription, image: CatalogImage, style: Style, zone: str) -> str:
    """Return the body of RETURN or BEGIN ATOMIC as a definition has it, by what it means now.

    A body that means nothing any more is shown as it was written.
    """
    catalog = image.body_catalog(function)
    if not has_meaning(function, catalog):
        return body_around(function, function.body if function.form == "return" else f" {function.body}")
    settings = replace(own_settings(function), is_shared=True)
    then = catalog if isinstance(catalog, ObjectsAsThen) else ObjectsAsThen(image, None)
    query = read_body(body_query(function), function, _catalog(then, image, settings, zone))
    return body_around(function, (returned_text if function.form == "return" else body_text)(query, style))


def has_meaning(function: FunctionDescription, catalog: Catalog) -> bool:
    """Tell whether the body of RETURN or BEGIN ATOMIC can be bound."""
    try:
        check_function(function, catalog, own_settings(function))
    except SqlError:
        return False
    return True


def own_settings(function: FunctionDescription) -> SessionSettings:
    """Return the settings with which a function was defined."""
    return SessionSettings(time_zone=function.time_zone, search_path=function.search_path)


def body_around(function: FunctionDescription, text: str) -> str:
    """Return the body of RETURN or BEGIN ATOMIC around its text."""
    return f"RETURN {text}" if function.form == "return" else f"BEGIN ATOMIC\n{text};\nEND"


def stored_expressions(entry: TableEntry | StreamEntry, image: CatalogImage) -> dict[str, Show]:
    """Return the defaults and checks of a relation by what stands for them in the catalog's rows,
    each with the function that shows it by an image, in a style and a zone.
    """
    found: dict[str, Show] = {}
    for column in entry.description.columns:
        if column.number in entry.defaults:
            show: Show = partial(default_text, entry.defaults[column.number], column)
            found[show(image, STORED, "UTC")] = show
    for source in entry.checks.values() if isinstance(entry, TableEntry) else ():
        show = partial(check_text, source, entry.description)
        found[show(image, STORED, "UTC")] = show
    return found


def _source_catalog(source: SourceText, image: CatalogImage, zone: str) -> DefinitionCatalog:
    then = ObjectsAsThen(image, source.objects)
    return replace(_catalog(then, image, source.settings, zone), oids=dict(source.sequences))


def _catalog(then: ObjectsAsThen, image: CatalogImage, settings: SessionSettings, zone: str) -> DefinitionCatalog:
    def today(oid: int) -> RelationDescription | None:
        entry = image.by_oid(oid)
        return None if entry is None else entry.description

    return DefinitionCatalog(then, today, settings, zone, image.functions.get)
