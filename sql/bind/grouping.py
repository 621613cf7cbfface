"""What GROUP BY does to expressions: keys and aggregates become columns of the Aggregate; other columns are 42803."""

from __future__ import annotations

from collections.abc import Sequence

from sql.bind.scope import Scope
from sql.bind.virtual import AGGREGATES, WINDOWS, VirtualColumns
from sql.casts import has_equality, plain_name
from sql.errors import SqlError
from sql.expressions import Column, Expression, Literal
from sql.trees import map_expression, walk


def check_key(expression: Expression, virtual: VirtualColumns, position: int) -> None:
    """Raise when a key (through an ordinal or an alias) holds an aggregate or a window call."""
    for node in walk(expression):
        if isinstance(node, Column) and node.index >= WINDOWS:
            raise SqlError("42P20", "window functions are not allowed in GROUP BY", node.position)
        if isinstance(node, Column) and node.index >= AGGREGATES:
            raise SqlError("42803", "aggregate functions are not allowed in GROUP BY", node.position)
    if not has_equality(expression.type.family):
        name = plain_name(expression.type)
        raise SqlError("42883", f"could not identify an equality operator for type {name}", position)


class Regrouping:
    """Maps expressions over the FROM clause's row (and virtual columns) to the Aggregate's output row."""

    def __init__(self, keys: Sequence[tuple[str, Expression]], scope: Scope) -> None:
        self.keys = {key: (index, name) for index, (name, key) in enumerate(keys)}
        self.scope = scope

    def expression(self, expression: Expression) -> Expression:
        """Return `expression` over the Aggregate's output."""
        return map_expression(expression, self.change)

    def change(self, node: Expression) -> Expression | None:
        """Return the output column for a key or an aggregate, None for what is computed above."""
        if isinstance(node, Literal):
            return None
        key = self.keys.get(node)
        if key is not None:
            position = node.position if isinstance(node, Column) else None
            return Column(key[0], key[1], node.type, position)
        if not isinstance(node, Column) or node.index >= WINDOWS:
            return None
        if node.index >= AGGREGATES:
            return Column(len(self.keys) + node.index - AGGREGATES, node.name, node.type, node.position)
        message = (
            f'column "{self.qualified(node)}" must appear in the GROUP BY clause or be used in an aggregate function'
        )
        raise SqlError("42803", message, node.position)

    def qualified(self, column: Column) -> str:
        """Return table.column as PostgreSQL names it."""
        for table in self.scope.tables:
            for known in table.columns:
                if known.expression == column:
                    return f"{table.alias}.{known.name}"
        return column.name
