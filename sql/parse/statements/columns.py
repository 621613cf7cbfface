"""A column of CREATE TABLE or ADD COLUMN: its type and the constraints written at it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sql.errors import SqlError
from sql.parse.grammar import expressions as grammar
from sql.parse.grammar.cursor import Cursor
from sql.parse.grammar.types import type_name
from sql.parse.statements.constraints import (
    check_condition,
    column_timing,
    generated_column,
    index_options,
    misplaced_attribute,
    nulls_treatment,
    refuse_waiting,
    timed,
)
from sql.parse.statements.foreign_key import reference
from sql.parse.statements.options import generic_options
from sql.parse.statements.parts import Constraint, SequenceOptions, TableColumn
from sql.parse.statements.sequences import sequence_options
from sql.parse.syntax import Expression, TypeName
from sql.parse.type_names import open_type
from sql.types.datatypes import INT2, INT4, INT8, TEXT, SqlType

UNCOLLATED = frozenset(
    "int2 int4 int8 float4 float8 numeric bool date time timestamp timestamptz interval uuid bytea json jsonb inet cidr".split()
)
SERIALS = {
    "smallserial": INT2,
    "serial2": INT2,
    "serial": INT4,
    "serial4": INT4,
    "bigserial": INT8,
    "serial8": INT8,
}


@dataclass
class ColumnConstraints:
    """The constraints of one column that have been read so far.

    Attributes:
        null: the NULL or NOT NULL that was written.
        collated: the position of COLLATE.
    """

    name: str
    position: int
    table: str
    null: bool | None = None
    serial: bool = False
    default: Expression | None = None
    default_text: str = ""
    has_default: bool = False
    identity: str | None = None
    identity_options: SequenceOptions = field(default_factory=SequenceOptions)
    constraints: list[Constraint] = field(default_factory=list)
    collated: int | None = None

    def where(self) -> str:
        """The column and its table as PostgreSQL names them in errors."""
        return f'column "{self.name}" of table "{self.table}"'


def table_column(cursor: Cursor, table: str) -> TableColumn:
    """Read name type constraints."""
    position = cursor.position
    found = ColumnConstraints(cursor.name(), position, table)
    written = type_name(cursor)
    serial = found.serial = is_serial(cursor, written)
    kind = SERIALS[written.name] if serial else resolved(cursor, written)
    if serial:
        found.has_default = True
        found.null = False
    refuse_storage(cursor)
    while column_constraint(cursor, found):
        pass
    if found.identity is not None:
        check_identity(cursor, kind)
    if found.collated is not None:
        check_collated(cursor, kind, found.collated)
    return TableColumn(
        found.name,
        kind,
        found.null is False,
        found.default,
        found.default_text,
        serial,
        found.identity,
        found.identity_options,
        tuple(found.constraints),
        position,
    )


def check_collated(cursor: Cursor, kind: SqlType, position: int) -> None:
    """Defer PostgreSQL's error for COLLATE at a column whose values are no texts."""
    if (kind.element if kind.is_array else kind).family in UNCOLLATED:
        cursor.defer(SqlError("42804", f"collations are not supported by type {kind.sql_name}", position))


def resolved(cursor: Cursor, written: TypeName, resolve: Callable[[TypeName], SqlType] = open_type) -> SqlType:
    """Return the type as written.

    The error of a type that does not exist waits, as in PostgreSQL, for the end of the text.
    """
    try:
        return resolve(written)
    except SqlError as error:
        cursor.defer(error)
        return TEXT


def is_serial(cursor: Cursor, written: TypeName) -> bool:
    if written.name not in SERIALS or not written.text.lower().startswith(written.name):
        return False
    if written.array:
        cursor.defer(SqlError("0A000", "array of serial is not implemented", written.position))
    return True


def refuse_storage(cursor: Cursor) -> None:
    """Read COMPRESSION method, to refuse it: a client can't choose how columns are kept."""
    position = cursor.position
    if cursor.at("compression") and (cursor.ahead(1).kind in ("word", "quoted")):
        cursor.advance()
        if not cursor.accept("default"):
            cursor.name()
        cursor.refuse("COMPRESSION", position)
    position = cursor.position
    if cursor.accept("options"):
        generic_options(cursor)
        cursor.refuse("OPTIONS of a table's column", position)


def column_constraint(cursor: Cursor, found: ColumnConstraints) -> bool:
    """Read one constraint of a column; return False when none is next."""
    position = cursor.position
    name: str | None = None
    if cursor.accept("constraint"):
        name = cursor.name()
        if not cursor.at("not", "null", "unique", "primary", "check", "default", "generated", "references"):
            cursor.fail()
    elif cursor.at("collate"):
        found.collated = cursor.position
        grammar.collation(cursor)
        return True
    elif misplaced_attribute(cursor):
        return True
    word = cursor.accept_any("not", "null", "unique", "primary", "check", "default", "generated", "references")
    match word:
        case "not" | "null":
            null_constraint(cursor, found, word == "null", position)
        case "default":
            default_value(cursor, found, position)
        case "check":
            condition, text = check_condition(cursor)
            found.constraints.append(Constraint("check", name, (), condition, text, position))
        case "unique" | "primary":
            kind = "unique"
            if word == "primary":
                cursor.expect("key")
                kind = "primary key"
                if any(item.kind == kind for item in found.constraints):
                    message = f'multiple primary keys for table "{found.table}" are not allowed'
                    cursor.defer(SqlError("42P16", message, position))
            else:
                nulls_treatment(cursor)
            parameters = index_options(cursor)
            refuse_waiting(cursor, column_timing(cursor))
            columns = ((found.name, found.position),)
            found.constraints.append(Constraint(kind, name, columns, position=position, parameters=parameters))
        case "generated":
            generated(cursor, found, position)
        case "references":
            columns = ((found.name, found.position),)
            target = timed(reference(cursor), column_timing(cursor))
            found.constraints.append(Constraint("foreign key", name, columns, position=position, reference=target))
        case _:
            return False
    return True


def null_constraint(cursor: Cursor, found: ColumnConstraints, null: bool, position: int) -> None:
    if not null:
        cursor.expect("null")
    if found.null is not None and found.null != null:
        place = None if found.serial else position
        cursor.defer(SqlError("42601", f"conflicting NULL/NOT NULL declarations for {found.where()}", place))
    found.null = null


def default_value(cursor: Cursor, found: ColumnConstraints, position: int) -> None:
    """Read the value of DEFAULT, after which NOT NULL is another constraint."""
    value, text = cursor.with_text(grammar.plain_expression)
    if found.has_default:
        place = None if found.serial else position
        cursor.defer(SqlError("42601", f"multiple default values specified for {found.where()}", place))
    if found.identity is not None:
        refuse_both(cursor, found, position)
    found.default, found.default_text, found.has_default = value, text, True


def generated(cursor: Cursor, found: ColumnConstraints, start: int) -> None:
    """Read GENERATED ALWAYS | BY DEFAULT AS IDENTITY [(options)], or AS (expression) STORED, which
    is refused.
    """
    position = cursor.position
    identity = generated_when(cursor)
    cursor.expect("as")
    if not cursor.accept("identity"):
        generated_column(cursor, identity, position)
        return
    options = identity_options(cursor)
    if found.identity is not None:
        cursor.defer(SqlError("42601", f"multiple identity specifications for {found.where()}", start))
    if found.null is True:
        cursor.defer(SqlError("42601", f"conflicting NULL/NOT NULL declarations for {found.where()}", start))
    if found.has_default:
        refuse_both(cursor, found, start)
    found.identity, found.identity_options, found.null = identity, options, False


def identity_options(cursor: Cursor) -> SequenceOptions:
    """Read [(options)] of the sequence of an identity column."""
    options = SequenceOptions()
    if cursor.accept_operator("("):
        options = sequence_options(cursor, typed=True)
        if options == SequenceOptions():
            cursor.fail()
        cursor.expect_operator(")")
    return options


def refuse_both(cursor: Cursor, found: ColumnConstraints, position: int) -> None:
    message = f"both default and identity specified for {found.where()}"
    cursor.defer(SqlError("42601", message, None if found.serial else position))


def generated_when(cursor: Cursor) -> str:
    """Read ALWAYS or BY DEFAULT."""
    if cursor.accept("always"):
        return "always"
    cursor.expect("by", "default")
    return "by default"


def check_identity(cursor: Cursor, kind: SqlType) -> None:
    """Defer PostgreSQL's error for an identity column of another type."""
    if kind.family not in ("int2", "int4", "int8"):
        message = "identity column type must be smallint, integer, or bigint"
        cursor.defer(SqlError("22023", message))
