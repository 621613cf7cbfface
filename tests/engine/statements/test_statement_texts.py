"""Statements beside what they declare of themselves, in statements.txt: kind, tag, whether they
write or define, names and rights.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.declaration import Naming, Right, Statement
from tests.golden import Golden, error_lines, texts

FILE = Path(__file__).with_name("statements.txt")


@pytest.mark.golden
def test_statements_declare_what_they_did(golden: Golden) -> None:
    golden(FILE, declared_lines)


def test_every_kind_and_every_declaration_is_there() -> None:
    statements = [statement for text in texts(FILE) for statement in parsed(text)]
    kinds = {kind for kind in Statement.__subclasses__() if kind.__module__.startswith("sql.parse.")}
    assert kinds - {type(statement) for statement in statements} == set()
    assert set(Naming) - {naming for statement in statements for _, naming in statement.named} == set()
    assert set(Right) - {right for statement in statements for _, right in statement.rights} == set()


def parsed(text: str) -> tuple[Statement, ...]:
    try:
        return parse(text)
    except SqlError:
        return ()


def declared_lines(text: str) -> list[str]:
    """Return what the statements of a text say of themselves."""
    try:
        statements = parse(text)
    except SqlError as error:
        return error_lines(error)
    return [line for statement in statements for line in lines_of(statement)]


def lines_of(statement: Statement) -> list[str]:
    words = [word for word in ("writes", "defines") if getattr(statement, word)]
    return [
        " ".join([type(statement).__name__, f"'{statement.tag}'", *words]),
        *said(statement),
        *(f"name {naming.name} {field}{value(statement, field)}" for field, naming in statement.named),
        *(f"right {right.name} {field}{value(statement, field)}" for field, right in statement.rights),
    ]


def said(statement: Statement) -> list[str]:
    """Return the line of the words, numbers and switches in a statement, and of the actions in it,
    if it has any.
    """
    names = {field for field, _ in (*statement.named, *statement.rights)}
    found = []
    for name, item in ((field.name, getattr(statement, field.name)) for field in fields(statement)):
        if isinstance(item, str | int) and item and name != "text" and name not in names and "position" not in name:
            found.append(f"{name} {item}")
        actions = [one.action for one in (item if isinstance(item, tuple) else (item,)) if hasattr(one, "action")]
        found += [f"{name} {', '.join(actions)}"] if actions else []
    return [f"says {'; '.join(found)}"] if found else []


def value(statement: Statement, field: str) -> str:
    """Return the value of a field that is a name or names."""
    found = getattr(statement, field)
    if found is None or isinstance(found, str):
        return f" {found}"
    if isinstance(found, tuple) and all(isinstance(item, str | tuple) for item in found):
        return " " + ", ".join(item if isinstance(item, str) else f"{item[0]} at {item[1]}" for item in found)
    return ""
