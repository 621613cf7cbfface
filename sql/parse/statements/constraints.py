"""Constraints of a table, and the parts that they share with constraints of a column.

A constraint that Antumbra does not keep is refused by name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sql.errors import SqlError, not_supported
from sql.parse.grammar import expressions as grammar
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.foreign_key import reference
from sql.parse.statements.parts import Constraint, Reference
from sql.parse.statements.storage_parameters import OF_INDEX, storage_parameters, tablespace
from sql.parse.syntax import Expression


def at_table_constraint(cursor: Cursor) -> bool:
    """Tell whether a constraint of the table is next, and not a column."""
    if cursor.at("constraint", "check", "unique", "primary", "foreign"):
        return True
    return cursor.at("exclude") and (cursor.ahead(1).value == "using" or cursor.ahead(1).value == "(")


def table_constraint(cursor: Cursor) -> Constraint | None:
    """Read [CONSTRAINT name] PRIMARY KEY | UNIQUE | CHECK (...) | FOREIGN KEY (...).

    None for a refused constraint.
    """
    position = cursor.position
    name = cursor.name() if cursor.accept("constraint") else None
    word = cursor.accept_any("check", "unique", "primary", "foreign", "exclude")
    if word is None:
        cursor.fail()
    if word == "check":
        condition, text = check_condition(cursor)
        plain_attributes(cursor, "CHECK constraints cannot be marked DEFERRABLE")
        return Constraint("check", name, (), condition, text, position)
    if word == "foreign":
        cursor.expect("key")
        columns = cursor.names_in_parentheses()
        cursor.expect("references")
        target = reference(cursor)
        return Constraint("foreign key", name, columns, position=position, reference=timed(target, attributes(cursor)))
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
    found = index_options(cursor)
    plain_attributes(cursor)
    kind = "primary key" if word == "primary" else "unique"
    return Constraint(kind, name, columns, position=position, parameters=found)


def check_condition(cursor: Cursor) -> tuple[Expression, str]:
    """Read (condition) [NO INHERIT], with the text of the condition."""
    found = cursor.enclosed(lambda cursor: cursor.with_text(grammar.expression))
    # No table inherits from another here, so that NO INHERIT changes nothing.
    cursor.accept("no", "inherit")
    return found


def nulls_treatment(cursor: Cursor) -> None:
    """Read NULLS [NOT] DISTINCT; NULLS NOT DISTINCT is refused."""
    position = cursor.position
    if not cursor.accept("nulls"):
        return
    negated = cursor.accept("not")
    cursor.expect("distinct")
    if negated:
        cursor.refuse("NULLS NOT DISTINCT", position)


def index_options(cursor: Cursor) -> tuple[str, ...]:
    """Read WITH (parameters) and USING INDEX TABLESPACE name of a key; return the parameters."""
    found = storage_parameters(cursor, OF_INDEX) if cursor.accept("with") else ()
    if cursor.accept("using", "index", "tablespace"):
        tablespace(cursor)
    return found


# The words of each attribute, with its field and value in `Timing`, and PostgreSQL's names of the
# fields.
TIMINGS = (
    (("not", "deferrable"), "deferrable", False),
    (("deferrable",), "deferrable", True),
    (("initially", "immediate"), "deferred", False),
    (("initially", "deferred"), "deferred", True),
)
CLAUSES = {"deferrable": "DEFERRABLE/NOT DEFERRABLE", "deferred": "INITIALLY IMMEDIATE/DEFERRED"}


@dataclass
class Timing:
    """The attributes [NOT] DEFERRABLE and INITIALLY DEFERRED | IMMEDIATE as written, None where
    nothing is written.

    Attributes:
        position: of the first attribute that defers.
    """

    deferrable: bool | None = None
    deferred: bool | None = None
    position: int | None = None

    def read(self, cursor: Cursor) -> bool:
        """Read one of the attributes; return False when none is next."""
        position = cursor.position
        found = next((row for row in TIMINGS if cursor.accept(*row[0])), None)
        if found is None:
            if cursor.accept("initially"):
                cursor.fail()
            return False
        _, name, value = found
        if getattr(self, name) is not None:
            cursor.defer(SqlError("42601", f"multiple {CLAUSES[name]} clauses not allowed", position))
        setattr(self, name, value)
        if self.deferred and self.deferrable is False:
            cursor.defer(SqlError("42601", "constraint declared INITIALLY DEFERRED must be DEFERRABLE", position))
        if self.position is None and (self.deferrable or self.deferred):
            self.position = position
        return True

    @property
    def can_wait(self) -> bool:
        """True for a constraint that SET CONSTRAINTS may defer."""
        return bool(self.deferrable or self.deferred)


def attributes(cursor: Cursor) -> Timing:
    """Read the attributes after a constraint of the table."""
    timing = Timing()
    while True:
        position = cursor.position
        if cursor.accept("not", "valid"):
            cursor.refuse("NOT VALID", position)
        elif not (timing.read(cursor) or cursor.accept("no", "inherit")):
            return timing


def plain_attributes(cursor: Cursor, message: str = "") -> None:
    """Read the attributes after a constraint that is checked when a row is written, and refuse to
    defer it.
    """
    refuse_waiting(cursor, attributes(cursor), message)


def refuse_waiting(cursor: Cursor, timing: Timing, message: str = "") -> None:
    """Refuse to defer a key; with PostgreSQL's message where PostgreSQL does not defer it
    either.
    """
    if timing.position is None:
        return
    if message:
        cursor.defer(SqlError("0A000", message, timing.position))
    else:
        cursor.refuse("a deferrable key", timing.position)


def timed(target: Reference, timing: Timing) -> Reference:
    """Return the reference of a foreign key with the attributes that follow it."""
    return replace(target, deferrable=timing.can_wait, deferred=bool(timing.deferred))


def column_timing(cursor: Cursor) -> Timing:
    """Read the attributes that follow a key or a foreign key of a column."""
    timing = Timing()
    while timing.read(cursor):
        pass
    return timing


def misplaced_attribute(cursor: Cursor) -> bool:
    """Read an attribute that follows no constraint which could have it, an error.

    Return False when none is next.
    """
    position, first = cursor.position, cursor.index
    if not Timing().read(cursor):
        return False
    words = " ".join(cursor.text_since(first).upper().split())
    cursor.defer(SqlError("42601", f"misplaced {words} clause", position))
    return True


def refuse_inheritance(cursor: Cursor) -> None:
    """Read INHERITS (...), to refuse it."""
    position = cursor.position
    if not cursor.accept("inherits"):
        return
    cursor.listed(Cursor.qualified_name)
    cursor.refuse("INHERITS", position)


def generated_column(cursor: Cursor, identity: str, position: int) -> None:
    """Read (expression) STORED of a generated column, to refuse it."""
    cursor.enclosed(grammar.expression)
    cursor.expect("stored")
    if identity != "always":
        raise SqlError("42601", "for a generated column, GENERATED ALWAYS must be specified", position)
    cursor.refuse("a generated column", position, "Compute it in a view.")
