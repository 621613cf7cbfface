"""An operand of a set operation: a bound query whose untyped constants may still take the type that the operation finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sql.bind.coerce import coerce
from sql.bind.context import BindContext
from sql.tree.expressions import Cast, Column, Expression, Literal
from sql.tree.relations import Limit, Project, Relation
from sql.types.datatypes import SqlType


@dataclass(frozen=True, slots=True)
class Operand:
    """A bound query. places: where each of its columns is written, for errors about its type."""

    relation: Relation
    places: tuple[int, ...]

    @property
    def columns(self) -> tuple[Expression, ...]:
        """The output columns; for an untyped constant the constant itself."""
        items = untyped_items(self.relation)
        return tuple(
            items.get(index, Column(index, column.name, column.type))
            for index, column in enumerate(self.relation.schema)
        )


def untyped_items(relation: Relation) -> dict[int, Expression]:
    """Return the constants and parameters of unknown type among the columns of a relation."""
    if isinstance(relation, Limit):
        return untyped_items(relation.input)
    if not isinstance(relation, Project):
        return {}
    return {index: item for index, (_, item) in enumerate(relation.items) if item.type.family == "unknown"}


def converted(operand: Operand, kinds: Sequence[SqlType], context: BindContext) -> Relation:
    """Return the operand's relation with columns of exactly these types."""
    return convert(operand.relation, kinds, context)


def convert(relation: Relation, kinds: Sequence[SqlType], context: BindContext) -> Relation:
    if all(column.type == kind for column, kind in zip(relation.schema, kinds, strict=True)):
        return relation
    if isinstance(relation, Project):
        pairs = zip(relation.items, kinds, strict=True)
        items = tuple((name, fitted(item, kind, context)) for (name, item), kind in pairs)
        return Project(relation.input, items)
    if isinstance(relation, Limit) and untyped_items(relation):
        return replace(relation, input=convert(relation.input, kinds, context))
    items = tuple(
        (column.name, fitted(Column(index, column.name, column.type), kind, context))
        for index, (column, kind) in enumerate(zip(relation.schema, kinds, strict=True))
    )
    return Project(relation, items)


def fitted(expression: Expression, kind: SqlType, context: BindContext) -> Expression:
    """Return the expression with exactly this type, its display scale included."""
    found = coerce(expression, kind.without_modifier(), context)
    if found.type == kind:
        return found
    if isinstance(found, Literal):
        return Literal(found.value, kind, found.position)
    return Cast(found, kind)
