"""ALTER [FOREIGN] TABLE [IF EXISTS] name: several actions, or one renaming."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NoReturn

from sql.errors import SqlError, not_supported
from sql.parse.grammar import expressions as grammar
from sql.parse.grammar.cursor import Cursor
from sql.parse.grammar.types import type_name
from sql.parse.statements.columns import check_collated, generated_when, identity_options, resolved, table_column
from sql.parse.statements.constraints import at_table_constraint, attributes, table_constraint
from sql.parse.statements.declaration import Naming, Right, Statement
from sql.parse.statements.kept_properties import kept_action, kept_column_action
from sql.parse.statements.owners import or_owner
from sql.parse.statements.parts import OptionChange, TableChange, TableColumn
from sql.parse.statements.rules import begins
from sql.parse.statements.update import written_name
from sql.parse.syntax import TypeName
from sql.parse.type_names import open_type
from sql.types.datatypes import UNKNOWN, SqlType


@dataclass(frozen=True)
class AlterTable(
    Statement,
    defines=True,
    named=(
        ("name", Naming.KNOWN),
        ("changes", Naming.CHANGES),
        ("changes", Naming.TYPES),
    ),
    rights=(
        ("name", Right.OWN),
        ("new_schema", Right.MOVE),
        ("changes", Right.REFER),
    ),
):
    """The statement ALTER [FOREIGN] TABLE [IF EXISTS] name actions.

    Attributes:
        foreign: the statement says FOREIGN, so that the relation must be a stream.
    """

    name: str
    name_position: int
    if_exists: bool
    changes: tuple[TableChange, ...]
    foreign: bool = False

    @property
    def tag(self) -> str:
        """See Statement."""
        return "ALTER FOREIGN TABLE" if self.foreign else "ALTER TABLE"

    @property
    def new_schema(self) -> str:
        """The schema into which the statement moves the relation, or the empty text."""
        return next((change.new_name for change in self.changes if change.action == "set schema"), "")


# First words of PostgreSQL's actions that change nothing that Antumbra has.
REFUSED = frozenset(
    """
    attach detach inherit no not of owner reset set
    """.split()
)


@begins("alter foreign", "alter table")
@or_owner
def alter_table(cursor: Cursor) -> AlterTable:
    """Read the statement from its first word."""
    cursor.expect("alter")
    foreign = cursor.accept("foreign")
    cursor.expect("table")
    if_exists = cursor.accept("if", "exists")
    name, position = written_name(cursor)
    if cursor.at_words("set", "schema"):
        changes: list[TableChange | None] = [new_schema(cursor)]
    else:
        changes = [renaming(cursor, foreign)] if cursor.at("rename") else actions(cursor, name, foreign)
    return AlterTable(
        cursor.statement_text, name, position, if_exists, tuple(change for change in changes if change), foreign
    )


def new_schema(cursor: Cursor) -> TableChange:
    """Read SET SCHEMA name."""
    cursor.expect("set", "schema")
    name, position = cursor.placed_name()
    return TableChange("set schema", new_name=name, position=position)


def renaming(cursor: Cursor, foreign: bool) -> TableChange:
    """Read RENAME TO name or RENAME [COLUMN] name TO name.

    If not `foreign`, also RENAME CONSTRAINT name TO name.
    """
    cursor.expect("rename")
    if cursor.accept("to"):
        name, position = cursor.placed_name()
        return TableChange("rename", new_name=name, position=position)
    action = "rename constraint" if not foreign and cursor.accept("constraint") else "rename column"
    if action == "rename column":
        cursor.accept("column")
    name, position = cursor.placed_name()
    cursor.expect("to")
    return TableChange(action, name, cursor.name(), position=position)


def actions(cursor: Cursor, table: str, foreign: bool) -> list[TableChange | None]:
    """Read the actions; an action that is refused is None."""
    return list(cursor.several(lambda cursor: action(cursor, table, foreign)))


def action(cursor: Cursor, table: str, foreign: bool) -> TableChange | None:
    """Read one action."""
    position = cursor.position
    if cursor.accept("add"):
        return addition(cursor, table, position)
    if cursor.accept("drop"):
        return removal(cursor)
    if cursor.accept("alter"):
        if cursor.accept("constraint"):
            name, place = cursor.placed_name()
            timing = attributes(cursor)
            deferred = bool(timing.deferred)
            return TableChange("alter constraint", name, deferrable=timing.can_wait, deferred=deferred, position=place)
        cursor.accept("column")
        return column_change(cursor)
    if cursor.accept("options"):
        return TableChange("options", options=cursor.listed(option_change), position=position)
    if (kept := kept_action(cursor)) is not None:
        return kept
    if cursor.at(*REFUSED):
        statement = "ALTER FOREIGN TABLE" if foreign else "ALTER TABLE"
        raise not_supported(f"{statement} ... {cursor.token.value.upper()}", position)
    raise cursor.syntax_error()


def option_change(cursor: Cursor) -> OptionChange:
    """Read [ADD | SET | DROP] name ['value'].

    Without a word the option is added, and each of the words may be the name of an option.
    """
    action = "add"
    if cursor.at("add", "set", "drop") and cursor.ahead(1).kind != "string":
        action = cursor.advance().value
    name, position = cursor.placed(Cursor.label)
    return OptionChange(action, name, "" if action == "drop" else cursor.string(), position)


def addition(cursor: Cursor, table: str, position: int) -> TableChange | None:
    """Read the rest of ADD: a constraint, or [COLUMN] [IF NOT EXISTS] a column."""
    if at_table_constraint(cursor):
        constraint = table_constraint(cursor)
        if constraint is None:
            return None
        return TableChange("add constraint", constraint.name or "", constraint=constraint, position=position)
    cursor.accept("column")
    if_not_exists = cursor.accept_if_not_exists()
    place = cursor.position
    column = table_column(cursor, table)
    return TableChange("add column", column.name, column=column, if_exists=if_not_exists, position=place)


def removal(cursor: Cursor) -> TableChange:
    """Read the rest of DROP: [COLUMN | CONSTRAINT] [IF EXISTS] name [CASCADE | RESTRICT]."""
    kind = "drop constraint" if cursor.accept("constraint") else "drop column"
    if kind == "drop column":
        cursor.accept("column")
    if_exists = cursor.accept("if", "exists")
    name, position = cursor.placed_name()
    return TableChange(kind, name, if_exists=if_exists, cascade=cursor.cascade(), position=position)


def column_change(cursor: Cursor) -> TableChange | None:
    """Read the rest of ALTER [COLUMN]: the name of a column and the change."""
    position = cursor.position
    change = TableChange("", cursor.name(), position=position)
    place = cursor.position
    if (kept := kept_column_action(cursor, change)) is not None:
        return kept
    if cursor.accept("set"):
        if cursor.accept("default"):
            default, text = cursor.with_text(grammar.expression)
            return replace(change, action="set default", default=default, default_text=text)
        if cursor.accept("not"):
            cursor.expect("null")
            return replace(change, action="set not null")
        if not cursor.accept("data"):
            refuse_setting(cursor, place)
        if not cursor.at("type"):
            cursor.fail()
    elif cursor.accept("drop"):
        if cursor.accept("default"):
            return replace(change, action="drop default")
        if cursor.accept("not"):
            cursor.expect("null")
            return replace(change, action="drop not null")
        if cursor.at("identity", "expression"):
            raise not_supported(f"ALTER COLUMN ... DROP {cursor.token.value.upper()}", place)
        cursor.fail()
    elif cursor.accept("add"):
        cursor.expect("generated")
        identity = generated_when(cursor)
        cursor.expect("as", "identity")
        column = TableColumn(
            change.name, UNKNOWN, identity=identity, identity_options=identity_options(cursor), position=position
        )
        return replace(change, action="add identity", column=column)
    elif cursor.at("restart", "options"):
        raise not_supported(f"ALTER COLUMN ... {cursor.token.value.upper()}", place)
    cursor.expect("type")
    kind = resolved(cursor, type_name(cursor), unplaced_type)
    if cursor.at("collate"):
        collated = cursor.position
        grammar.collation(cursor)
        check_collated(cursor, kind, collated)
    using = grammar.expression(cursor) if cursor.accept("using") else None
    return replace(change, action="set type", type=kind, using=using)


def unplaced_type(written: TypeName) -> SqlType:
    """Return the type; for a type that does not exist PostgreSQL gives no position."""
    try:
        return open_type(written)
    except SqlError as error:
        raise replace(error, position=None) from None


def refuse_setting(cursor: Cursor, position: int) -> NoReturn:
    """Refuse a property of columns that PostgreSQL can set and Antumbra does not keep."""
    if not (cursor.at("generated", "start", "increment", "cache", "no", "cycle") or cursor.at("maxvalue", "minvalue")):
        cursor.fail()
    raise not_supported(f"ALTER COLUMN ... SET {cursor.token.value.upper()}", position)
