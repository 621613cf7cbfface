"""CREATE TABLE, ALTER TABLE and sequences printed as SQL again: two texts define the same if
PostgreSQL's catalog says so.

Defaults and checks are kept twice, as trees and as texts for the catalog; `texts` says from which
of them to print.
"""

from __future__ import annotations

from dataclasses import replace

from sql.parse.statements.alter_table import AlterTable
from sql.parse.statements.create_table import CreateTable
from sql.parse.statements.parts import Constraint, SequenceOptions, TableChange, TableColumn
from sql.parse.statements.sequences import AlterSequence, CreateSequence
from sql.parse.syntax import Expression
from tests.sql.syntax_text import columns_text, expression_text, identifier, query_text

SERIALS = {"int2": "smallserial", "int4": "serial", "int8": "bigserial"}


def definition_text(statement: CreateTable | AlterTable | CreateSequence | AlterSequence, texts: bool) -> str:
    """Return the statement as SQL."""
    name = identifier(statement.name)
    match statement:
        case CreateTable():
            return (
                f"CREATE TABLE {'IF NOT EXISTS ' if statement.if_not_exists else ''}{name} {contents(statement, texts)}"
            )
        case AlterTable():
            changes = ", ".join(change_text(change, texts) for change in statement.changes)
            return f"ALTER TABLE {'IF EXISTS ' if statement.if_exists else ''}{name} {changes}"
        case CreateSequence():
            return f"CREATE SEQUENCE {name} {options_text(statement.options)}"
        case AlterSequence():
            return f"ALTER SEQUENCE {name} {options_text(statement.options)}"


def contents(statement: CreateTable, texts: bool) -> str:
    """Return what stands after the table's name."""
    if statement.query is not None:
        data = "" if statement.with_data else " WITH NO DATA"
        return f"{columns_text(statement.column_names)} AS {query_text(statement.query)}{data}"
    columns = [column_text(column, texts) for column in statement.columns]
    return f"({', '.join([*columns, *(constraint_text(item, texts) for item in statement.constraints)])})"


def column_text(column: TableColumn, texts: bool) -> str:
    kind = SERIALS[column.type.family] if column.serial else column.type.sql_name
    parts = [identifier(column.name), kind, "NOT NULL" if column.not_null else ""]
    if column.default is not None:
        parts.append(f"DEFAULT ({either(column.default, column.default_text, texts)})")
    if column.identity is not None:
        options = options_text(column.identity_options)
        parts.append(f"GENERATED {column.identity} AS IDENTITY" + (f" ({options})" if options else ""))
    # A key that is written at a column has that column alone.
    assert all(item.columns in ((), ((column.name, column.position),)) for item in column.constraints)
    parts += [constraint_text(replace(item, columns=()), texts) for item in column.constraints]
    return " ".join(part for part in parts if part)


def either(tree: Expression, text: str, texts: bool) -> str:
    return text if texts else expression_text(tree)


def constraint_text(item: Constraint, texts: bool) -> str:
    """Return a constraint; those of a column are written as those of its table are."""
    name = f"CONSTRAINT {identifier(item.name)} " if item.name else ""
    if item.condition is not None:
        return f"{name}CHECK ({either(item.condition, item.text, texts)})"
    return f"{name}{item.kind}{columns_text(tuple(column for column, _ in item.columns))}"


def options_text(options: SequenceOptions) -> str:
    """Return the options of a sequence."""
    parts = [
        ("AS {}", options.type.sql_name if options.type else None),
        ("INCREMENT {}", options.increment),
        ("MINVALUE {}", options.minimum),
        ("MAXVALUE {}", options.maximum),
        ("START {}", options.start),
        ("CACHE {}", options.cache),
    ]
    words = [text.format(value) for text, value in parts if value is not None]
    words += ["NO MINVALUE"] if options.no_minimum else []
    words += ["NO MAXVALUE"] if options.no_maximum else []
    words += [] if options.cycle is None else ["CYCLE" if options.cycle else "NO CYCLE"]
    words += ["OWNED BY NONE"] if options.not_owned else []
    if options.owned_by is not None:
        words.append("OWNED BY " + ".".join(identifier(part) for part in options.owned_by))
    if options.restart is not None:
        words.append("RESTART" if options.restart is True else f"RESTART {options.restart}")
    return " ".join(words)


def change_text(change: TableChange, texts: bool) -> str:
    """Return one action of ALTER TABLE."""
    name, new = identifier(change.name), identifier(change.new_name)
    if_exists = "IF EXISTS " if change.if_exists else ""
    cascade = " CASCADE" if change.cascade else ""
    match change.action:
        case "add column":
            assert change.column is not None
            return f"ADD COLUMN {'IF NOT EXISTS ' if change.if_exists else ''}{column_text(change.column, texts)}"
        case "drop column" | "drop constraint":
            return f"{change.action} {if_exists}{name}{cascade}"
        case "rename":
            return f"RENAME TO {new}"
        case "rename column" | "rename constraint":
            return f"{change.action} {name} TO {new}"
        case "add constraint":
            assert change.constraint is not None
            return f"ADD {constraint_text(change.constraint, texts)}"
        case "set type":
            assert change.type is not None
            using = "" if change.using is None else f" USING {expression_text(change.using)}"
            return f"ALTER COLUMN {name} TYPE {change.type.sql_name}{using}"
        case "set default":
            assert change.default is not None
            return f"ALTER COLUMN {name} SET DEFAULT ({either(change.default, change.default_text, texts)})"
    return f"ALTER COLUMN {name} {change.action}"
