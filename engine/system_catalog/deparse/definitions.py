"""Definitions as this session sees them: of views, defaults and checks, printed from what their
texts meant when they were made, by the names that everything has today.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from engine.catalog.as_then import AsThen, ObjectsAsThen, StreamsAsThen
from engine.catalog.image import (
    CatalogImage,
    DisabledViewEntry,
    SourceText,
    StreamEntry,
    TableEntry,
    ViewEntry,
)
from engine.ddl.query_views import statement_of
from engine.system_catalog.deparse.layout import Style, qualified
from engine.system_catalog.deparse.queries import body_text, expression_text, query_text, returned_text
from engine.system_catalog.deparse.sources import Meaning
from engine.tables.table_expressions import parsed_expression
from sql.bind.expressions.user_functions import body_query
from sql.bind.notes import NotedColumn, Notes
from sql.bind.queries.noted import noted_body, noted_expression, noted_query
from sql.catalog.catalog import ColumnDescription, ConstraintDescription, RelationDescription, SessionSettings
from sql.catalog.functions import FunctionDescription
from sql.errors import SqlError
from sql.names.relation_keys import name_of
from sql.parse.syntax import Expression, FunctionCall, Row
from sql.types.datatypes import BOOL, SqlType

View = ViewEntry | DisabledViewEntry
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
    if entry.is_state:
        then = StreamsAsThen(image, entry.source.objects, entry.used, entry.named)
        settings = entry.states[0].chain.definition.settings
    else:
        then = AsThen(image, entry.source.objects, {used.name: used for used in entry.used})
        settings = entry.source.settings
    query = statement_of(entry.source.text).query
    meaning = _meaning(noted_query(query, then, settings), then, settings, zone)
    return query_text(query, meaning, style, [column.name for column in entry.description.columns])


def default_text(source: SourceText, column: ColumnDescription, image: CatalogImage, style: Style, zone: str) -> str:
    """Return a column's default as pg_get_expr shows it."""
    return _expression_text(source, "", (), (), column.type, image, style, zone)


def check_text(source: SourceText, relation: RelationDescription, image: CatalogImage, style: Style, zone: str) -> str:
    """Return a check's condition as pg_get_expr shows it: columns by their present names."""
    noted, names = _columns_then(source, relation)
    return _expression_text(source, relation.name, noted, names, BOOL, image, style, zone)


def index_texts(
    entry: TableEntry, index: ConstraintDescription, image: CatalogImage, style: Style, zone: str
) -> list[tuple[str, bool]]:
    """Return what an index computes as pg_get_expr shows it: expressions, each with whether it is a
    call, which needs no parentheses around it, then the condition of an index of a part of the
    rows.
    """
    source = entry.checks.get(index.source_key)
    if source is None:
        return []
    noted, names = _columns_then(source, entry.description)
    whole = parsed_expression(source.text)
    assert isinstance(whole, Row), source.text
    meaning = _row_meaning(source, whole, entry.description.name, noted, image, zone)
    own = name_of(entry.description.name)
    return [
        (expression_text(item, meaning, style, names, bound.type, own), isinstance(item, FunctionCall))
        for item, bound in zip(whole.items, index.expressions, strict=True)
    ]


def _columns_then(source: SourceText, relation: RelationDescription) -> tuple[list[NotedColumn], list[str]]:
    """Return the columns of a relation as a text calls them, and their present names."""
    today = {column.number: column for column in relation.columns}
    known = [(name, today[number]) for name, number in source.names if number in today]
    return [NotedColumn(name, column.type) for name, column in known], [column.name for _, column in known]


def _row_meaning(
    source: SourceText, node: Expression, relation: str, columns: Sequence[NotedColumn], image: CatalogImage, zone: str
) -> Meaning:
    then = ObjectsAsThen(image, source.objects)
    notes = noted_expression(node, source.table or relation, columns, then, source.settings)
    return replace(_meaning(notes, then, source.settings, zone), oids=dict(source.sequences))


def _expression_text(
    source: SourceText,
    relation: str,
    columns: Sequence[NotedColumn],
    names: Sequence[str],
    kind: SqlType,
    image: CatalogImage,
    style: Style,
    zone: str,
) -> str:
    """Return an expression over columns, as its text calls them, by their present names."""
    node = parsed_expression(source.text)
    meaning = _row_meaning(source, node, relation, columns, image, zone)
    return expression_text(node, meaning, style, names, kind, name_of(relation))


def function_text(function: FunctionDescription, image: CatalogImage, style: Style, zone: str) -> str:
    """Return the body of RETURN or BEGIN ATOMIC as a definition has it, by what it means now.

    A body that means nothing any more is shown as it was written.
    """
    query, catalog = body_query(function), image.body_catalog(function)
    then = catalog if isinstance(catalog, ObjectsAsThen) else ObjectsAsThen(image, None)
    settings = SessionSettings(time_zone=function.time_zone, search_path=function.search_path)
    try:
        notes = noted_body(function, then, settings)
    except SqlError:
        return body_around(function, function.body if function.form == "return" else f" {function.body}")
    meaning = replace(_meaning(notes, then, replace(settings, is_shared=True), zone), function=function)
    return body_around(function, (returned_text if function.form == "return" else body_text)(query, meaning, style))


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
    for one in entry.description.constraints if isinstance(entry, TableEntry) else ():
        assert isinstance(entry, TableEntry), "a stream has no constraints"
        shows: list[Show] = []
        if one.kind == "check":
            shows = [partial(check_text, entry.checks[one.name], entry.description)]
        elif one.condition is not None:
            shows = [partial(index_expressions, entry, one), partial(index_condition, entry, one)]
        found |= {show(image, STORED, "UTC"): show for show in shows}
    return found


def index_expressions(
    entry: TableEntry, index: ConstraintDescription, image: CatalogImage, style: Style, zone: str
) -> str:
    """Return the expressions of an index as pg_get_expr shows them, '' for one of columns alone."""
    return ", ".join(text for text, _ in index_texts(entry, index, image, style, zone)[: index.columns.count(0)])


def index_condition(
    entry: TableEntry, index: ConstraintDescription, image: CatalogImage, style: Style, zone: str
) -> str:
    """Return the condition of an index as pg_get_expr shows it, '' for one of all rows."""
    return "".join(text for text, _ in index_texts(entry, index, image, style, zone)[index.columns.count(0) :])


def _meaning(notes: Notes, then: ObjectsAsThen, settings: SessionSettings, zone: str) -> Meaning:
    image = then.image

    def today(oid: int) -> RelationDescription | None:
        entry = image.by_oid(oid)
        return None if entry is None else entry.description

    return Meaning(notes, then, today, image.functions.get, settings, zone)
