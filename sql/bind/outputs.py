"""The select list, and the items of GROUP BY, ORDER BY and DISTINCT ON that mean one of its columns by name or number."""

from __future__ import annotations

from dataclasses import dataclass

from sql.bind.expressions import Binder, settle
from sql.bind.naming import output_name
from sql.bind.scope import Scope, brought
from sql.errors import SqlError
from sql.parse.syntax import Constant, Name, SortItem, Star, Target
from sql.parse.syntax import Expression as Syntax
from sql.tree.expressions import Expression, SortKey


@dataclass(frozen=True, slots=True)
class Output:
    """One output column while its SELECT is bound. syntax None: it came from a star."""

    name: str
    expression: Expression
    syntax: Syntax | None
    position: int


def bind_target(target: Target, binder: Binder, untyped: bool = False) -> list[Output]:
    """Return the output columns of one item of the target list; untyped: a constant needs no type yet."""
    node = target.expression
    if isinstance(node, Star):
        return expand_star(node, binder.scope)
    expression = binder.bind(node)
    if not untyped:
        expression = settle(expression, binder.context)
    return [Output(target.alias or output_name(node), expression, node, target.position)]


def expand_star(node: Star, scope: Scope) -> list[Output]:
    """Return the columns of * or table.*."""
    if node.qualifier:
        table, closures = scope.table(node.qualifier, node.position)
        columns = [column for column in table.columns if not column.hidden]
    else:
        if not scope.tables:
            raise SqlError("42601", "SELECT * with no tables specified is not valid", node.position)
        columns, closures = scope.visible, ()
    return [Output(column.name, brought(column, closures, node.position), None, node.position) for column in columns]


def column_outputs(scope: Scope) -> list[Output]:
    """Return the visible columns of a scope as output columns."""
    return [Output(column.name, column.expression, None, 0) for column in scope.visible]


def bare_name(node: Syntax) -> str | None:
    """Return the one word that an expression consists of, else None."""
    return node.parts[0] if isinstance(node, Name) and len(node.parts) == 1 else None


def output_named(wanted: str, position: int, outputs: list[Output], clause: str) -> Expression | None:
    """Return the output column that a bare name means, None when there is none."""
    found = [output.expression for output in outputs if output.name == wanted]
    if any(expression != found[0] for expression in found[1:]):
        raise SqlError("42702", f'{clause} "{wanted}" is ambiguous', position)
    return found[0] if found else None


def ordinal_place(item: Constant, count: int, clause: str) -> int:
    """Return the index of the output column that a number stands for."""
    if item.kind != "integer":
        raise SqlError("42601", f"non-integer constant in {clause}", item.position)
    if not 1 <= int(item.value) <= count:
        raise SqlError("42P10", f"{clause} position {item.value} is not in select list", item.position)
    return int(item.value) - 1


def output_item(node: Syntax, position: int, outputs: list[Output], binder: Binder) -> Expression:
    """Return an item of ORDER BY or DISTINCT ON; an output column wins over an input column of the same name."""
    wanted = bare_name(node)
    found = None if wanted is None else output_named(wanted, position, outputs, binder.clause)
    if found is not None:
        return found
    if isinstance(node, Constant):
        return outputs[ordinal_place(node, len(outputs), binder.clause)].expression
    return binder.bind_value(node)


def bind_order(item: SortItem, outputs: list[Output], binder: Binder) -> SortKey:
    """Return the sort key of an ORDER BY item."""
    expression = output_item(item.expression, item.position, outputs, binder)
    if expression.type.family == "json":
        raise no_order(expression, item.position)
    nulls_first = item.descending if item.nulls_first is None else item.nulls_first
    return SortKey(expression, item.descending, nulls_first)


def no_order(expression: Expression, position: int) -> SqlError:
    """Return the error about a type whose values have no order."""
    hint = "Use an explicit ordering operator or modify the query."
    what = f"could not identify an ordering operator for type {expression.type.sql_name}"
    return SqlError("42883", what, position, hint=hint)
