"""CREATE, ALTER and DROP TYPE for enum types; other types are refused."""

from __future__ import annotations

from dataclasses import dataclass

from sql.errors import SqlError, not_supported
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.declaration import Naming, Right, Statement
from sql.parse.statements.owners import or_owner
from sql.parse.statements.rules import begins


@dataclass(frozen=True)
class CreateType(
    Statement,
    tag="CREATE TYPE",
    defines=True,
    named=(("name", Naming.NEW),),
    rights=(("name", Right.CREATE),),
):
    """CREATE TYPE name AS ENUM (labels)."""

    name: str
    name_position: int
    labels: tuple[str, ...]


@dataclass(frozen=True)
class AlterType(
    Statement,
    tag="ALTER TYPE",
    defines=True,
    named=(("name", Naming.TYPE),),
    rights=(
        ("name", Right.OWN_TYPE),
        ("new_schema", Right.MOVE),
    ),
):
    """The statement ALTER TYPE name action.

    Attributes:
        action: 'add value', 'rename value', 'rename' or 'set schema'.
        label: the value that is added or renamed.
        new_name: of a renaming, or the new schema.
        neighbor: the label after (is_after) or before which a value is added; None: after all
            labels.
    """

    name: str
    action: str
    label: str = ""
    new_name: str = ""
    neighbor: str | None = None
    is_after: bool = False
    if_not_exists: bool = False

    @property
    def new_schema(self) -> str:
        """The schema into which the statement moves the type, or the empty text."""
        return self.new_name if self.action == "set schema" else ""


@dataclass(frozen=True)
class DropType(
    Statement,
    tag="DROP TYPE",
    defines=True,
    named=(("names", Naming.DROPPED_TYPES),),
    rights=(("names", Right.OWN_TYPES),),
):
    """DROP TYPE [IF EXISTS] names [CASCADE | RESTRICT]."""

    names: tuple[str, ...]
    if_exists: bool
    cascade: bool


TypeStatement = CreateType | AlterType | DropType

# Changes of other types that ALTER TYPE has in PostgreSQL.
OTHER_CHANGES = ("add", "alter", "drop", "set")


@begins("create type")
def create_type(cursor: Cursor) -> CreateType:
    """Read CREATE TYPE name AS ENUM ([label, ...])."""
    position = cursor.position
    cursor.expect("create", "type")
    name, name_position = cursor.placed_relation()
    if cursor.at_end_of_statement() or cursor.at_operator("("):
        raise not_supported("CREATE TYPE of a base type", position)
    cursor.expect("as")
    if cursor.at("range"):
        raise not_supported("CREATE TYPE ... AS RANGE", position)
    if cursor.at_operator("("):
        raise not_supported("CREATE TYPE of a composite type", position)
    cursor.expect("enum")
    labels = cursor.listed_or_none(Cursor.string)
    return CreateType(cursor.statement_text, name, name_position, labels)


@begins("alter type")
@or_owner
def alter_type(cursor: Cursor) -> AlterType:
    """Read ALTER TYPE name ADD VALUE | RENAME VALUE | RENAME TO | SET SCHEMA."""
    position = cursor.position
    cursor.expect("alter", "type")
    name = cursor.relation_name()
    if cursor.accept("add", "value"):
        return added_value(cursor, name)
    if cursor.accept("rename"):
        if cursor.accept("value"):
            label = cursor.string()
            cursor.expect("to")
            new_label = cursor.string()
            return AlterType(cursor.statement_text, name, "rename value", label, new_label)
        if cursor.at("attribute"):
            raise other_change(cursor, position)
        cursor.expect("to")
        new_name = cursor.name()
        return AlterType(cursor.statement_text, name, "rename", new_name=new_name)
    if cursor.accept("set", "schema"):
        return AlterType(cursor.statement_text, name, "set schema", new_name=cursor.name())
    if not cursor.at(*OTHER_CHANGES):
        cursor.fail()
    raise other_change(cursor, position)


def added_value(cursor: Cursor, name: str) -> AlterType:
    """Read [IF NOT EXISTS] label [BEFORE | AFTER label]."""
    if_not_exists = cursor.accept_if_not_exists()
    label = cursor.string()
    place = cursor.accept_any("before", "after")
    neighbor = None if place is None else cursor.string()
    text = cursor.statement_text
    return AlterType(
        text, name, "add value", label, neighbor=neighbor, is_after=place == "after", if_not_exists=if_not_exists
    )


def other_change(cursor: Cursor, position: int) -> SqlError:
    """Return the refusal of the next words."""
    return not_supported(f"ALTER TYPE ... {cursor.token.value.upper()}", position)


@begins("drop type")
def drop_type(cursor: Cursor) -> DropType:
    """Read DROP TYPE [IF EXISTS] names [CASCADE | RESTRICT]."""
    cursor.expect("drop", "type")
    if_exists = cursor.accept("if", "exists")
    names = cursor.several(Cursor.relation_name)
    cascade = cursor.cascade()
    return DropType(cursor.statement_text, names, if_exists, cascade)
