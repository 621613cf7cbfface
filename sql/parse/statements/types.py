"""CREATE, ALTER and DROP TYPE, of enum types alone."""

from __future__ import annotations

from sql.errors import SqlError, not_supported
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.objects import AlterType, CreateType, DropType

# What ALTER TYPE can do to other types.
OTHER_CHANGES = ("add", "alter", "drop", "set")


def create_type(cursor: Cursor) -> CreateType:
    """Read CREATE TYPE name AS ENUM ([label, ...])."""
    first, position = cursor.index, cursor.position
    cursor.expect("create", "type")
    name_position = cursor.position
    name = cursor.relation_name()
    if cursor.at_end_of_statement() or cursor.at_operator("("):
        raise not_supported("CREATE TYPE of a base type", position)
    cursor.expect("as")
    if cursor.at("range"):
        raise not_supported("CREATE TYPE ... AS RANGE", position)
    if cursor.at_operator("("):
        raise not_supported("CREATE TYPE of a composite type", position)
    cursor.expect("enum")
    cursor.expect_operator("(")
    labels: list[str] = []
    if not cursor.at_operator(")"):
        labels.append(cursor.string())
        while cursor.accept_operator(","):
            labels.append(cursor.string())
    cursor.expect_operator(")")
    return CreateType(cursor.text_since(first), name, name_position, tuple(labels))


def alter_type(cursor: Cursor) -> AlterType:
    """Read ALTER TYPE name ADD VALUE | RENAME VALUE | RENAME TO | SET SCHEMA."""
    first, position = cursor.index, cursor.position
    cursor.expect("alter", "type")
    name = cursor.relation_name()
    if cursor.accept("add", "value"):
        return added_value(cursor, first, name)
    if cursor.accept("rename"):
        if cursor.accept("value"):
            label = cursor.string()
            cursor.expect("to")
            new_label = cursor.string()
            return AlterType(cursor.text_since(first), name, "rename value", label, new_label)
        if cursor.at("attribute"):
            raise other_change(cursor, position)
        cursor.expect("to")
        new_name = cursor.name()
        return AlterType(cursor.text_since(first), name, "rename", new_name=new_name)
    if cursor.accept("set", "schema"):
        return AlterType(cursor.text_since(first), name, "set schema", new_name=cursor.name())
    if not cursor.at(*OTHER_CHANGES):
        cursor.fail()
    raise other_change(cursor, position)


def added_value(cursor: Cursor, first: int, name: str) -> AlterType:
    """Read [IF NOT EXISTS] label [BEFORE | AFTER label]."""
    if_not_exists = cursor.accept_if_not_exists()
    label = cursor.string()
    place = cursor.accept_any("before", "after")
    neighbor = None if place is None else cursor.string()
    text = cursor.text_since(first)
    return AlterType(
        text, name, "add value", label, neighbor=neighbor, is_after=place == "after", if_not_exists=if_not_exists
    )


def other_change(cursor: Cursor, position: int) -> SqlError:
    """Return the refusal of what is next."""
    return not_supported(f"ALTER TYPE ... {cursor.token.value.upper()}", position)


def drop_type(cursor: Cursor) -> DropType:
    """Read DROP TYPE [IF EXISTS] names [CASCADE | RESTRICT]."""
    first = cursor.index
    cursor.expect("drop", "type")
    if_exists = cursor.accept("if", "exists")
    names = [cursor.relation_name()]
    while cursor.accept_operator(","):
        names.append(cursor.relation_name())
    cascade = cursor.accept_any("cascade", "restrict") == "cascade"
    return DropType(cursor.text_since(first), tuple(names), if_exists, cascade)
