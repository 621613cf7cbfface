"""Definitions as texts: of defaults and checks, in the client's words with PostgreSQL's
punctuation.

A literal gets the type of its column, as PostgreSQL shows it; names are the present ones.
"""

from __future__ import annotations

from engine.catalog.image import SourceText
from engine.system_catalog.syntax_nodes import nodes
from sql.catalog.catalog import ColumnDescription, RelationDescription
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.parse.syntax import Constant, Expression, FunctionCall, Logic, Name, Operation, SelectBody, Test, TypeCast
from sql.tree.expressions import Call, Literal
from sql.tree.walks import walk


def default_text(source: SourceText, column: ColumnDescription) -> str:
    """Return a column's default as pg_get_expr shows it."""
    node = parsed(source.text)
    if isinstance(node, Constant) and node.kind == "string":
        shown = node.value.replace("'", "''")
        return f"'{shown}'::{column.type.without_modifier().sql_name}"
    if isinstance(node, FunctionCall) and node.name == "nextval" and column.default is not None:
        calls = (one for one in walk(column.default) if isinstance(one, Call) and one.function == "nextval")
        name = next(iter(next(calls).arguments))
        if isinstance(name, Literal):
            return f"nextval('{name.value!s}'::regclass)"
    shown_text = None if node is None else expression_text(node, {})
    return source.text if shown_text is None else shown_text


def check_text(source: SourceText, relation: RelationDescription) -> str:
    """Return a check's condition as pg_get_expr shows it: every operation in parentheses, columns
    by their present names.
    """
    today = {column.number: column for column in relation.columns}
    columns = {name: today[number] for name, number in source.names if number in today}
    node = parsed(source.text)
    shown = None if node is None else expression_text(node, columns)
    return f"({source.text})" if shown is None else shown


def used_numbers(source: SourceText, relation: RelationDescription) -> list[int]:
    """Return the numbers of the columns that a check names, in order."""
    numbers = dict(source.names)
    node = parsed(source.text)
    names = {one.parts[-1] for one in nodes(node) if isinstance(one, Name)}
    known = {column.number for column in relation.columns}
    return sorted(number for name, number in numbers.items() if name in names and number in known)


def parsed(text: str) -> Expression | None:
    """Return the expression of `text`, None for a text that is no expression by itself."""
    try:
        (statement,) = parse(f"SELECT {text}")
    except (SqlError, ValueError):
        return None
    if not isinstance(statement, Select) or not isinstance(statement.query.body, SelectBody):
        return None
    return statement.query.body.targets[0].expression


def expression_text(node: Expression, columns: dict[str, ColumnDescription]) -> str | None:
    """Return an expression as PostgreSQL prints it.

    None is returned for an expression with other parts than names, constants, operators and calls.
    """
    match node:
        case Name():
            column = columns.get(node.parts[-1])
            return node.parts[-1] if column is None else column.name
        case Constant():
            return "'" + node.value.replace("'", "''") + "'::text" if node.kind == "string" else node.value or "NULL"
        case Operation():
            parts = [_operand(operand, node, columns) for operand in node.operands]
            if None in parts:
                return None
            words = [part or "" for part in parts]
            return f"({node.operator}{words[0]})" if len(words) == 1 else f"({words[0]} {node.operator} {words[1]})"
        case Logic():
            parts = [expression_text(operand, columns) for operand in node.operands]
            if None in parts:
                return None
            words = [part or "" for part in parts]
            return f"(NOT {words[0]})" if node.operator == "not" else f"({f' {node.operator.upper()} '.join(words)})"
        case Test():
            operand = expression_text(node.operand, columns)
            return None if operand is None else f"({operand} IS {'NOT ' if node.negated else ''}{node.kind.upper()})"
        case FunctionCall() if not (node.spelled or node.star or node.over or node.filter or node.order_by):
            if not node.arguments and "(" not in node.text:
                return node.name.upper()
            if node.name == "nextval" and isinstance(node.arguments[0], Constant):
                return f"nextval('{node.arguments[0].value.replace(chr(34), '')}'::regclass)"
            arguments = [expression_text(argument, columns) for argument in node.arguments]
            return None if None in arguments else f"{node.name}({', '.join(argument or '' for argument in arguments)})"
        case TypeCast() if isinstance(node.operand, Constant) and node.operand.kind == "string":
            shown = node.operand.value.replace("'", "''")
            return f"'{shown}'::{node.type.text.lower()}"
    return None


def _operand(node: Expression, operation: Operation, columns: dict[str, ColumnDescription]) -> str | None:
    """Return an operand; a literal beside a column of text has the column's type."""
    if isinstance(node, Constant) and node.kind == "string":
        kinds = [
            columns[one.parts[-1]].type
            for one in operation.operands
            if isinstance(one, Name) and one.parts[-1] in columns
        ]
        if kinds and kinds[0].family != "varchar":
            shown = node.value.replace("'", "''")
            return f"'{shown}'::{kinds[0].without_modifier().sql_name}"
    return expression_text(node, columns)
