"""Constraints: of a table, and the parts that a column's have in common with them. What is not kept is refused by name."""

from __future__ import annotations

from sql.errors import SqlError, not_supported
from sql.grammar import expressions as grammar
from sql.grammar.cursor import Cursor
from sql.statements.foreign_key import reference
from sql.statements.options import storage_parameters
from sql.statements.statement import Constraint
from sql.syntax import Expression


def at_table_constraint(cursor: Cursor) -> bool:
    """Tell whether a constraint of the table is next, and not a column."""
    if cursor.at("constraint", "check", "unique", "primary", "foreign"):
        return True
    return cursor.at("exclude") and (cursor.ahead(1).value == "using" or cursor.ahead(1).value == "(")


def table_constraint(cursor: Cursor) -> Constraint | None:
    """Read [CONSTRAINT name] PRIMARY KEY | UNIQUE | CHECK (...) | FOREIGN KEY (...); None for what is refused."""
    position = cursor.position
    name = cursor.name() if cursor.accept("constraint") else None
    word = cursor.accept_any("check", "unique", "primary", "foreign", "exclude")
    if word is None:
        cursor.fail()
    if word == "check":
        condition, text = check_condition(cursor)
        attributes(cursor)
        return Constraint("check", name, (), condition, text, position)
    if word == "foreign":
        cursor.expect("key")
        columns = cursor.names_in_parentheses()
        cursor.expect("references")
        target = reference(cursor)
        attributes(cursor)
        return Constraint("foreign key", name, columns, position=position, reference=target)
    if word == "exclude":
        raise not_supported("an EXCLUDE constraint", position)
    if word == "primary":
        cursor.expect("key")
    else:
        nulls_treatment(cursor)
    if cursor.at("using"):
        cursor.expect("using", "index")
        cursor.name()
        attributes(cursor)
        cursor.refuse("a constraint USING INDEX", position)
        return None
    columns = cursor.names_in_parentheses()
    include_position = cursor.position
    if cursor.accept("include"):
        cursor.names_in_parentheses()
        cursor.refuse("INCLUDE", include_position)
    index_options(cursor)
    attributes(cursor)
    return Constraint("primary key" if word == "primary" else "unique", name, columns, position=position)


def check_condition(cursor: Cursor) -> tuple[Expression, str]:
    """Read (condition) [NO INHERIT], with the condition's text."""
    cursor.expect_operator("(")
    first = cursor.index
    condition = grammar.expression(cursor)
    text = cursor.text_since(first)
    cursor.expect_operator(")")
    # No table inherits from another here, so that NO INHERIT says nothing.
    cursor.accept("no", "inherit")
    return condition, text


def nulls_treatment(cursor: Cursor) -> None:
    """Read NULLS [NOT] DISTINCT; NULLs that are equal are refused."""
    position = cursor.position
    if not cursor.accept("nulls"):
        return
    negated = cursor.accept("not")
    cursor.expect("distinct")
    if negated:
        cursor.refuse("NULLS NOT DISTINCT", position)


def index_options(cursor: Cursor) -> None:
    """Read WITH (parameters) and USING INDEX TABLESPACE name of a key, to refuse them."""
    position = cursor.position
    if cursor.accept("with"):
        storage_parameters(cursor)
        cursor.refuse("a storage parameter", position)
    position = cursor.position
    if cursor.at_words("using", "index", "tablespace"):
        cursor.expect("using", "index", "tablespace")
        cursor.name()
        cursor.refuse("TABLESPACE", position)


def constraint_attributes(cursor: Cursor) -> bool:
    """Read [NOT] DEFERRABLE or INITIALLY DEFERRED | IMMEDIATE; constraints are checked at once, so that others are refused."""
    position = cursor.position
    if cursor.accept("not", "deferrable") or cursor.accept("initially", "immediate"):
        return True
    if cursor.accept("deferrable") or cursor.accept("initially", "deferred"):
        cursor.refuse("a deferrable constraint", position)
        return True
    if cursor.accept("initially"):
        cursor.fail()
    return False


def attributes(cursor: Cursor) -> None:
    """Read the attributes after a constraint of the table."""
    while True:
        position = cursor.position
        if cursor.accept("not", "valid"):
            cursor.refuse("NOT VALID", position)
        elif not (constraint_attributes(cursor) or cursor.accept("no", "inherit")):
            return


def refuse_inheritance(cursor: Cursor) -> None:
    """Read INHERITS (...), to refuse it."""
    position = cursor.position
    if not cursor.accept("inherits"):
        return
    cursor.expect_operator("(")
    cursor.qualified_name()
    while cursor.accept_operator(","):
        cursor.qualified_name()
    cursor.expect_operator(")")
    cursor.refuse("INHERITS", position)


def generated_column(cursor: Cursor, identity: str, position: int) -> None:
    """Read (expression) STORED of a generated column, to refuse it."""
    cursor.expect_operator("(")
    grammar.expression(cursor)
    cursor.expect_operator(")")
    cursor.expect("stored")
    if identity != "always":
        raise SqlError("42601", "for a generated column, GENERATED ALWAYS must be specified", position)
    cursor.refuse("a generated column", position, "Compute it in a view.")
