"""Typed trees as SQL-like text that people read, for EXPLAIN, notices and error messages.

Enters: expressions. Leaves: one line of text. Nothing parses or executes the text; `sql.emit`
prints what is executed.
"""

from __future__ import annotations

from decimal import Decimal

from sql.functions.table import AGGREGATE_ROWS, ROWS
from sql.names.relation_keys import shown
from sql.tree.expressions import (
    AggregateCall,
    Call,
    Case,
    Cast,
    Column,
    Expression,
    Literal,
    OuterColumn,
    Parameter,
    SortKey,
    Subquery,
    WindowCall,
)
from sql.tree.walks import relation_names
from sql.values.literal_output import output_text

INFIX = {row.canonical: row.infix for row in ROWS.values() if row.infix}
SUFFIX = {row.canonical: row.suffix for row in ROWS.values() if row.suffix}


def expression_text(expression: Expression) -> str:
    """Return an expression as PostgreSQL-like SQL."""
    if isinstance(expression, Column | OuterColumn):
        return identifier(expression.name)
    if isinstance(expression, Subquery):
        return _subquery(expression)
    if isinstance(expression, Parameter):
        return f"${expression.number}"
    if isinstance(expression, Literal):
        return _literal(expression)
    if isinstance(expression, Cast):
        zone = f" AT TIME ZONE {_quoted(expression.zone)}" if expression.zone else ""
        return f"{_operand(expression.operand)}::{expression.type.sql_name}{zone}"
    if isinstance(expression, Case):
        branches = (
            f"WHEN {expression_text(condition)} THEN {expression_text(value)}"
            for condition, value in expression.branches
        )
        return f"CASE {' '.join(branches)} ELSE {expression_text(expression.default)} END"
    return _call(expression)


def aggregate_text(call: AggregateCall) -> str:
    """Return an aggregate as SQL."""
    row = AGGREGATE_ROWS.get(call.function)
    arguments = ", ".join(expression_text(part) for part in call.arguments)
    if row is not None and not row.overloads[0].arguments:
        arguments = "*"
    name = call.function if row is None else row.shown_name
    distinct = "DISTINCT " if call.distinct else ""
    condition = "" if call.filter is None else f" FILTER (WHERE {expression_text(call.filter)})"
    order = " ORDER BY " + ", ".join(key_text(key) for key in call.order_by) if call.order_by else ""
    return f"{name}({distinct}{arguments}{order}){condition}"


def window_text(call: WindowCall) -> str:
    """Return a window call as SQL."""
    plain = aggregate_text(AggregateCall(call.function, call.arguments, call.type, call.filter))
    pieces = []
    if call.partition_by:
        pieces.append("PARTITION BY " + ", ".join(expression_text(part) for part in call.partition_by))
    if call.order_by:
        pieces.append("ORDER BY " + ", ".join(key_text(key) for key in call.order_by))
    if call.frame is not None:
        start, end = _bound(call.frame.start, "PRECEDING"), _bound(call.frame.end, "FOLLOWING")
        left_out = f" EXCLUDE {call.frame.exclusion.upper()}" if call.frame.exclusion else ""
        pieces.append(f"{call.frame.unit.upper()} BETWEEN {start} AND {end}{left_out}")
    return f"{plain} OVER ({' '.join(pieces)})"


def key_text(key: SortKey) -> str:
    """Return a sort key as SQL, with the options that are not PostgreSQL's default."""
    descending = " DESC" if key.descending else ""
    nulls = "" if key.nulls_first == key.descending else (" NULLS FIRST" if key.nulls_first else " NULLS LAST")
    return f"{expression_text(key.expression)}{descending}{nulls}"


def identifier(name: str) -> str:
    """Return a name as it must be written: quoted if it is no plain name, or would be folded."""
    name = shown(name)
    plain = name and (name[0].isalpha() or name[0] == "_") and all(letter.isalnum() or letter == "_" for letter in name)
    return name if plain and name == name.lower() else '"' + name.replace('"', '""') + '"'


def _call(call: Call) -> str:
    function, arguments = call.function, call.arguments
    row = ROWS.get(function)
    if row is None:
        return f"{function}({', '.join(expression_text(part) for part in arguments)})"
    if callable(row.shown):
        return row.shown(call, expression_text)
    if row.shown:
        # Two signs beside each other would begin a comment.
        signed = "({0})" if row.shown.startswith("-") else "{0}"
        parts = map(_operand, arguments)
        return row.shown.format(*(signed.format(part) if part.startswith("-") else part for part in parts))
    if row.third:
        given = arguments[2:] and not (isinstance(arguments[2], Literal) and arguments[2].value == row.defaults[2])
        tail = f" {row.third} {expression_text(arguments[2])}" if given else ""
        return f" {row.infix} ".join(_operand(part) for part in arguments[:2]) + tail
    if row.infix:
        return f" {row.infix} ".join(_operand(part) for part in arguments)
    if row.suffix:
        return f"{_operand(arguments[0])} {row.suffix}"
    if function == "in_list":
        return f"{_operand(arguments[0])} IN ({', '.join(expression_text(part) for part in arguments[1:])})"
    return f"{function}({', '.join(expression_text(part) for part in arguments)})"


def _operand(expression: Expression) -> str:
    """Return an expression, in parentheses where an operator beside it would make it unclear."""
    text = expression_text(expression)
    infix = isinstance(expression, Call) and (
        expression.function in INFIX or expression.function in SUFFIX or expression.function in ("not", "in_list")
    )
    return f"({text})" if infix else text


def _literal(literal: Literal) -> str:
    value, family = literal.value, literal.type.family
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bytes):
        return f"'\\x{value.hex()}'"
    if family in ("date", "timestamp", "timestamptz", "interval"):
        return f"{family} '{output_text(value, literal.type)}'"
    if isinstance(value, Decimal) and not value.is_finite():
        return f"'{value}'::numeric"
    return str(value)


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _bound(bound: tuple[str, int | Expression | None], side: str) -> str:
    word, offset = bound
    if word == "current":
        return "CURRENT ROW"
    shown = expression_text(offset) if isinstance(offset, Literal) else str(offset)
    return f"UNBOUNDED {side}" if word == "unbounded" else f"{shown} {word.upper()}"


def _subquery(subquery: Subquery) -> str:
    """Return the kind of a subquery and what it reads; the tree does not keep its text."""
    tables = ", ".join(identifier(name) for name in sorted(relation_names(subquery.relation)))
    query = f"(SELECT ... FROM {tables})" if tables else "(SELECT ...)"
    if subquery.kind == "scalar":
        return query
    if not subquery.operands:
        return f"{subquery.kind.upper()} {query}"
    operands = ", ".join(expression_text(part) for part in subquery.operands)
    row = operands if len(subquery.operands) == 1 else f"({operands})"
    return f"{row} {INFIX.get(subquery.comparison, subquery.comparison)} {subquery.kind.upper()} {query}"
