"""INSERT, UPDATE and DELETE printed as SQL again, as `tests.sql.syntax_text` prints queries."""

from __future__ import annotations

from sql.parse.statements.delete import Delete
from sql.parse.statements.insert import Insert
from sql.parse.statements.parts import Assignment, OnConflict
from sql.parse.statements.update import Update
from sql.parse.syntax import Expression, FromItem, Target
from tests.sql.syntax_text import (
    columns_text,
    expression_text,
    from_text,
    identifier,
    query_text,
    target_text,
    with_text,
)


def statement_text(statement: Insert | Update | Delete) -> str:
    """Return the statement as SQL."""
    alias = "" if statement.alias is None else f"AS {identifier(statement.alias)}"
    relation = identifier(statement.name)
    parts = [with_text(statement.common_tables)]
    match statement:
        case Insert():
            parts += ["INSERT INTO", relation, alias, *source(statement), conflict(statement.on_conflict)]
        case Update():
            parts += ["UPDATE", relation, alias, "SET", assigned(statement.assignments)]
            parts += [items("FROM", statement.from_items), condition(statement.where)]
        case Delete():
            parts += ["DELETE FROM", relation, alias, items("USING", statement.using), condition(statement.where)]
    parts.append(returning(statement.returning))
    return " ".join(part for part in parts if part)


def source(statement: Insert) -> list[str]:
    """Return the columns of an INSERT and what goes into them."""
    columns = "" if statement.columns is None else columns_text(tuple(name for name, _ in statement.columns))
    overriding = f"OVERRIDING {statement.overriding} VALUE" if statement.overriding else ""
    if statement.query is not None:
        return [columns, overriding, query_text(statement.query)]
    if statement.rows == ((),):
        return ["DEFAULT VALUES"]
    rows = ", ".join(f"({', '.join(value(item) for item in row)})" for row in statement.rows)
    return [columns, overriding, f"VALUES {rows}"]


def value(item: Expression | None) -> str:
    return "DEFAULT" if item is None else expression_text(item)


def assigned(assignments: tuple[Assignment, ...]) -> str:
    return ", ".join(assignment(item) for item in assignments)


def assignment(item: Assignment) -> str:
    names = [identifier(name) for name, _ in item.columns]
    if item.row is not None:
        return f"({', '.join(names)}) = ROW({', '.join(value(one) for one in item.row)})"
    target = names[0] if len(names) == 1 else f"({', '.join(names)})"
    return f"{target} = {value(item.value)}"


def conflict(clause: OnConflict | None) -> str:
    if clause is None:
        return ""
    parts = ["ON CONFLICT"]
    if clause.columns is not None:
        parts.append(f"({', '.join(identifier(name) for name, _ in clause.columns)})")
    if clause.constraint is not None:
        parts.append(f"ON CONSTRAINT {identifier(clause.constraint)}")
    if clause.assignments is None:
        return " ".join([*parts, "DO NOTHING"])
    return " ".join([*parts, "DO UPDATE SET", assigned(clause.assignments), condition(clause.where)])


def items(word: str, from_items: tuple[FromItem, ...]) -> str:
    return f"{word} {', '.join(from_text(item) for item in from_items)}" if from_items else ""


def condition(where: Expression | None) -> str:
    return "" if where is None else f"WHERE {expression_text(where)}"


def returning(targets: tuple[Target, ...]) -> str:
    return f"RETURNING {', '.join(target_text(item) for item in targets)}" if targets else ""
