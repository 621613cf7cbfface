"""Definitions as this session sees them: of views, defaults and checks, printed from what their
texts meant when they were made, by the names that everything has today.
"""

from __future__ import annotations

from engine.catalog.image import CatalogImage, DisabledViewEntry, QueryViewEntry, SourceText, ViewEntry
from engine.ddl.query_views import AsThen, StreamsAsThen, statement_of
from engine.system_catalog.deparse.nodes import SourceColumn
from engine.system_catalog.deparse.query_reading import DefinitionCatalog, read_expression, read_query
from engine.system_catalog.deparse.query_text import Style, expression_text, query_text
from sql.catalog.catalog import Catalog, RelationDescription, SessionSettings
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.parse.syntax import Expression, SelectBody

View = ViewEntry | QueryViewEntry | DisabledViewEntry


def view_text(entry: View, image: CatalogImage, style: Style, zone: str) -> str:
    """Return a view's query as pg_get_viewdef shows it.

    A view that could not be built is shown as it was written.
    """
    if isinstance(entry, DisabledViewEntry):
        return f" {statement_of(str(entry.plain['text'])).query_text.strip()};"
    then: Catalog
    if isinstance(entry, ViewEntry):
        definition = entry.view.definition
        then = StreamsAsThen(image, entry.used, entry.named, entry.functions)
        text, settings = definition.text, definition.settings
    else:
        then = AsThen(image, {used.name: used for used in entry.used}, entry.source.functions)
        text, settings = entry.source.text, entry.source.settings
    query = read_query(statement_of(text).query, _catalog(then, image, settings, zone))
    return query_text(query, style, [column.name for column in entry.description.columns])


def source_expression_text(
    source: SourceText, relation: RelationDescription, image: CatalogImage, style: Style, zone: str
) -> str:
    """Return a default or a check."""
    node = parsed(source.text)
    called = {number: name for name, number in source.names}
    columns = [
        SourceColumn(called.get(column.number, column.name), column.name, column.type) for column in relation.columns
    ]
    return expression_text(read_expression(node, _catalog(image, image, source.settings, zone), columns), style)


def _catalog(then: Catalog, image: CatalogImage, settings: SessionSettings, zone: str) -> DefinitionCatalog:
    def today(oid: int) -> RelationDescription | None:
        entry = image.by_oid(oid)
        return None if entry is None else entry.description

    return DefinitionCatalog(then, today, settings, zone)


def parsed(text: str) -> Expression:
    """Return the expression of a stored text."""
    (statement,) = parse(f"SELECT {text}")
    assert isinstance(statement, Select) and isinstance(statement.query.body, SelectBody), text
    return statement.query.body.targets[0].expression
