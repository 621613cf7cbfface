"""Texts of definitions bound for the notes about what they mean.

Enters: syntax, a catalog, the settings with which the text was written. Leaves: `Notes`. Raises
what binding raises.
"""

from __future__ import annotations

from collections.abc import Sequence

from sql.bind.expressions.binder import Binder
from sql.bind.expressions.context import DEFAULTS, BindContext, ParameterTypes, References
from sql.bind.expressions.scope import Scope, noted_scope, table_scope
from sql.bind.expressions.user_functions import BodyParameters, bound_body
from sql.bind.notes import NotedColumn, Notes
from sql.bind.queries.query import QUERIES, bind_relation
from sql.catalog.catalog import Catalog, SessionSettings
from sql.catalog.functions import FunctionDescription
from sql.names.relation_keys import name_of
from sql.parse.syntax import Expression, Query


def noted_query(query: Query, catalog: Catalog, settings: SessionSettings) -> Notes:
    """Return what a query means."""
    references = References(notes=Notes())
    bind_relation(query, BindContext(catalog, settings, ParameterTypes(), QUERIES, references=references))
    return _notes(references)


def noted_body(function: FunctionDescription, catalog: Catalog, settings: SessionSettings) -> Notes:
    """Return what the body of a function means."""
    kinds = [one.type for one in function.inputs]
    references = References(running=[function.oid], in_body=True, notes=Notes())
    context = BindContext(catalog, settings, BodyParameters(kinds), QUERIES, references=references)
    bound_body(function, kinds, Binder(Scope(), context))
    return _notes(references)


def noted_expression(
    node: Expression, key: str, columns: Sequence[NotedColumn], catalog: Catalog, settings: SessionSettings
) -> Notes:
    """Return what an expression means over the columns of a relation, an item of the id 0."""
    references = References(notes=Notes())
    scope = table_scope(name_of(key), [(column.name, column.type) for column in columns], key)
    scope = noted_scope(scope, 0, references.notes)
    context = BindContext(catalog, settings.shared(), ParameterTypes(), QUERIES, references=references)
    Binder(scope, context, DEFAULTS).bind(node)
    return _notes(references)


def _notes(references: References) -> Notes:
    assert references.notes is not None, "notes are taken"
    return references.notes
