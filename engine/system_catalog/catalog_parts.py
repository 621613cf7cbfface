"""Queries that read the catalog beside users' relations: their parts on the catalog are answered
first, and read like relations.

Enters: a query's syntax. Leaves: the same query, in which rows that are there stand for relations
of the catalog, for subqueries on nothing else, and for calls and casts of constants; it is bound
and run like any other query then. The binder refuses the rest of the catalog in it, such as one of
its functions on a user's column.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from engine.catalog.image import CatalogImage
from engine.system_catalog.catalog_engine import CatalogEngine
from engine.system_catalog.printed import REGISTERED
from engine.system_catalog.queries.calls import SEQUENCE_FUNCTIONS
from engine.system_catalog.queries.result_forms import result
from engine.system_catalog.routing import is_of_catalog
from engine.system_catalog.session_context import SessionContext
from engine.system_catalog.syntax_nodes import nodes
from sql.bind.queries.outputs import output_name
from sql.catalog.catalog import ColumnDescription, RelationDescription, SessionSettings
from sql.catalog.functions import FunctionDescription
from sql.catalog.schemas import find_relation
from sql.errors import SqlError, not_supported
from sql.parse.grammar.cursor import relation_of
from sql.parse.syntax import (
    CommonTable,
    Constant,
    Expression,
    FromItem,
    FunctionCall,
    FunctionTable,
    Name,
    ParameterNumber,
    Query,
    SelectBody,
    Star,
    Subquery,
    Table,
    Target,
    TypeCast,
    TypeName,
)
from sql.tree.relations import OutputColumn
from sql.types.datatypes import OID, TEXT
from sql.types.enums import EnumType
from views.model.arrow_schema import arrow_schema

# A subquery with a name that only the query around it knows is not answered by itself.
CORRELATED = frozenset({"42P01", "42703"})
# Types of constants that are written as a text.
PLAIN = frozenset("text name oid int2 int4 int8 bool".split())


def reads_others(query: Query, image: CatalogImage, settings: SessionSettings) -> bool:
    """Tell whether a query on the catalog reads relations of users, too, or takes values of
    sequences.

    Raises 42501 for a schema that the user may not use.
    """
    return any(
        (isinstance(node, FunctionCall) and node.name in SEQUENCE_FUNCTIONS)
        or (isinstance(node, Table) and not is_of_catalog(node) and is_of_users(node, image, settings))
        for node in nodes(query)
    )


def is_of_users(node: Table, image: CatalogImage, settings: SessionSettings) -> bool:
    """Tell whether a name in FROM means a relation that users have made."""
    found = find_relation(relation_of(node.name, node.position), image, settings, node.position)
    return found is not None and found.name in image.entries


@dataclass(frozen=True)
class CatalogParts:
    """The catalog (`sql.catalog.catalog.Catalog`) of one such query: users' relations, and the
    parts that were answered.

    Attributes:
        rows: of each part, by its name.
    """

    engine: CatalogEngine
    context: SessionContext
    token: Hashable
    image: CatalogImage
    descriptions: dict[str, RelationDescription]
    rows: dict[str, pa.Table]

    def relation(self, name: str) -> RelationDescription | None:
        """See Catalog."""
        return self.descriptions.get(name) or self.image.relation(name)

    def relation_names(self) -> Iterable[str]:
        """See Catalog."""
        return self.image.relation_names()

    def type(self, key: str) -> EnumType | None:
        """See KnowsTypes."""
        return self.image.type(key)

    def functions_called(self, key: str) -> tuple[FunctionDescription, ...]:
        """See KnowsFunctions."""
        return self.image.functions_called(key)

    def without(self, query: Query) -> Query:
        """Return the query with its parts of the catalog as relations.

        Raises the errors of the parts.
        """
        return self._rebuilt(query)  # type: ignore[no-any-return]

    def _rebuilt(self, node: Any) -> Any:
        """Return a syntax tree with all nodes below its top replaced."""
        if isinstance(node, tuple):
            return tuple(self._replaced(item) for item in node)
        if not dataclasses.is_dataclass(node) or isinstance(node, type):
            return node
        found = {field.name: self._replaced(getattr(node, field.name)) for field in dataclasses.fields(node)}
        changed = {name: value for name, value in found.items() if value is not getattr(node, name)}
        return replace(node, **changed) if changed else node

    def _replaced(self, node: Any) -> Any:
        match node:
            case Table() if is_of_catalog(node):
                star = every_row(node, node.position)
                name = self._part(star, names_oids=False)
                return Table((name,), node.alias or node.name[-1], node.column_aliases, node.position)
            case Query() if is_alone(node):
                return self._answered(node) or self._rebuilt(node)
            case Target():
                made = self._constant(node.expression, names_oids=False) or self._replaced(node.expression)
                if made is node.expression:
                    return node
                return Target(made, node.alias or output_name(node.expression), node.position)
            case FunctionTable() if any(is_of_catalog(call) and is_constant(call) for call in node.calls):
                name = self._part(every_row(node, node.position), names_oids=False)
                return Table((name,), node.alias or node.calls[0].name, (), node.position)
            case FunctionCall() if node.name in SEQUENCE_FUNCTIONS:
                # These functions take names, not OIDs.
                arguments = (self._constant(one, names_oids=False) or self._replaced(one) for one in node.arguments)
                return replace(node, arguments=tuple(arguments))
            case FunctionCall() | TypeCast():
                return self._constant(node, names_oids=True) or self._rebuilt(node)
        return self._rebuilt(node)

    def _answered(self, query: Query) -> Query | None:
        """Return the query of a subquery's rows, None where the subquery can't be answered by
        itself.
        """
        try:
            name = self._part(query, names_oids=False)
        except SqlError as error:
            if error.sqlstate in CORRELATED:
                return None
            raise
        return every_row(Table((name,), None, (), query.position), query.position)

    def _constant(self, node: Any, names_oids: bool) -> Expression | None:
        """Return the expression for a constant of the catalog, None for another node.

        names_oids: names in the place of OIDs that stand for them.
        """
        if not isinstance(node, FunctionCall | TypeCast) or not is_constant(node):
            return None
        target = Target(node, None, node.position)
        query = Query((), select((target,), (), node.position), (), None, None, node.position)
        try:
            name = self._part(query, names_oids)
        except SqlError as error:
            if error.sqlstate == "42883":
                return None
            raise
        (column,), (value,) = self.descriptions[name].columns, self.rows[name].column(0).to_pylist()
        if value is not None and column.type.family in PLAIN:
            literal = Constant("string", str(value), node.position)
            kind = column.type.family
            if kind in ("text", "name"):
                return literal
            return TypeCast(literal, TypeName(kind, (), node.position, kind), node.position, str(value))
        rows = every_row(Table((name,), None, (), node.position), node.position)
        return Subquery("scalar", rows, None, "", node.position, node.text if isinstance(node, FunctionCall) else "")

    def _part(self, query: Query, names_oids: bool) -> str:
        """Run a query on the catalog, keep its rows, and return the name of their relation."""
        printed, table = self.engine.run(query, self.context, (), (), "", self.token)
        schema, found = result(printed.columns, table)
        if len({column.name for column in schema}) < len(schema):
            raise not_supported("two columns of one name in a subquery on the catalog", query.position)
        name = f"pg_catalog part {len(self.rows) + 1}"
        columns, arrays = [], []
        for number, (column, values) in enumerate(zip(schema, found.columns, strict=True), 1):
            kind = column.type
            if kind.family in REGISTERED:
                key, kind = ("oid", OID) if names_oids else ("name", TEXT)
                values = pa.array([item and item[key] for item in values.to_pylist()])
            elif kind.is_array and kind.element.family in REGISTERED:
                raise not_supported("an array of names beside relations of users", query.position)
            columns.append(ColumnDescription(column.name, kind, False, None, number))
            arrays.append(values)
        self.descriptions[name] = RelationDescription(name, "statistics", 0, tuple(columns), "pg_catalog")
        told = arrow_schema(tuple(OutputColumn(column.name, column.type) for column in columns))
        self.rows[name] = pa.Table.from_arrays(arrays, told.names).cast(told)
        return name


def select(targets: tuple[Target, ...], items: tuple[FromItem, ...], position: int) -> SelectBody:
    """Return a plain SELECT."""
    return SelectBody(targets, False, items, None, (), None, (), position)


def every_row(item: Table | FunctionTable, position: int) -> Query:
    """Return SELECT * FROM a relation, or from functions with their names."""
    if isinstance(item, Table):
        item = replace(item, alias=None, column_aliases=())
    body = select((Target(Star((), position), None, position),), (item,), position)
    return Query((), body, (), None, None, position)


def is_alone(query: Query) -> bool:
    """Tell whether a query reads the catalog and nothing else, and has no parameter."""
    found = list(nodes(query))
    own = {node.name for node in found if isinstance(node, CommonTable)}
    tables = [node for node in found if isinstance(node, Table)]
    known = all(is_of_catalog(node) or (len(node.name) == 1 and node.name[0] in own) for node in tables)
    return known and not any(isinstance(node, ParameterNumber) for node in found) and any(map(is_of_catalog, found))


def is_constant(node: FunctionCall | TypeCast) -> bool:
    """Tell whether an expression asks the catalog, and depends on nothing else."""
    found = list(nodes(node))
    varying = Name | Star | Subquery | ParameterNumber
    return any(map(is_of_catalog, found)) and not any(
        isinstance(one, varying) or (isinstance(one, FunctionCall) and (one.over is not None or one.star))
        for one in found
    )
