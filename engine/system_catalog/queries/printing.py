"""The state of the printing of one catalog query: the names in reach, the relations used, and the
types of parameters.

Enters: a catalog of relations and names, the session. Leaves: texts of constants by type. Must not
know the syntax tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from engine.system_catalog.printed import (
    DOMAINS,
    INTEGERS,
    OIDS,
    REGISTERED,
    UNKNOWN,
    Printed,
    element_of,
    engine_type,
    string,
)
from engine.system_catalog.queries import ordinary
from engine.system_catalog.session_context import SessionContext
from engine.system_catalog.static_rows import CatalogRelation
from sql.errors import SqlError
from sql.tree.expressions import Literal
from sql.values.array_text import array_elements
from sql.values.literal_output import output_text

OID_LIMIT = 1 << 32


@dataclass
class Printing:
    """One query that is being printed.

    Attributes:
        key: the number by which our functions find their session.
        declared: the types of the parameters as the client gave them.
        values: the parameters, when the query is to be run.
        used: the catalog relations that are read.
        named: the relations that the query itself names.
        depth: the number of views of the catalog around the present place.
        parameter_types: the types that were found.
        constants: texts that may fail, and fail the query before it reads a row.
        unsure: the number of places around the present one that PostgreSQL may never compute:
            queries below the outermost one, and what a constant may decide.
    """

    context: SessionContext
    key: int
    declared: tuple[str | None, ...] = ()
    values: tuple[Literal, ...] | None = None
    used: set[str] = field(default_factory=set)
    named: dict[str, CatalogRelation] = field(default_factory=dict)
    depth: int = 0
    parameter_types: dict[int, str] = field(default_factory=dict)
    counter: int = 0
    is_measured: bool = False
    constants: list[str] = field(default_factory=list)
    unsure: int = -1

    @contextmanager
    def perhaps(self) -> Iterator[None]:
        """Print meanwhile what PostgreSQL may never compute."""
        self.unsure += 1
        try:
            yield
        finally:
            self.unsure -= 1

    def note_constant(self, text: str) -> None:
        """Keep a constant that may fail, where PostgreSQL computes it while it plans."""
        if self.unsure <= 0:
            self.constants.append(text)

    def name(self, stem: str) -> str:
        """Return a quoted name that nothing else in the statement has."""
        self.counter += 1
        return f'"{stem.replace(chr(34), "")} {self.counter}"'

    def parameter(self, number: int, position: int) -> Printed:
        """Return $number: a NULL while the query is only described, its value when it runs.

        Raises 42P02 where a query that runs has no such parameter.
        """
        declared = self.declared[number - 1] if number <= len(self.declared) else None
        self.parameter_types.setdefault(number, declared or UNKNOWN)
        if self.values is None:
            kind = declared or UNKNOWN
            return Printed("NULL", kind, parameter=number) if declared is None else Printed(null(kind), kind)
        if number > len(self.values):
            raise SqlError("42P02", f"there is no parameter ${number}", position)
        value = self.values[number - 1]
        text = output_text(value.value, value.type)
        untyped = Printed("NULL", UNKNOWN, parameter=number) if text is None else literal(text)
        return untyped if declared is None else self.coerced(untyped, declared, None)

    def coerced(self, value: Printed, kind: str, position: int | None) -> Printed:
        """Return a value as one of type `kind`; an untyped literal is read by that type's input.

        Raises the errors of the input.
        """
        if value.type != UNKNOWN:
            return value
        if value.parameter is not None and self.parameter_types.get(value.parameter, UNKNOWN) == UNKNOWN:
            self.parameter_types[value.parameter] = kind
        if value.constant is None:
            return Printed(null(kind), kind)
        return Printed(self.constant(value.constant, kind, position), kind)

    def constant(self, text: str, kind: str, position: int | None) -> str:
        """Return the constant of `text` as a value of type `kind`."""
        kind = DOMAINS.get(kind, kind)
        element = element_of(kind)
        if (element is not None and ordinary.ordinary_type(kind) != kind) or element in OIDS:
            items = text.split() if kind.endswith("vector") else array_elements(text, position)
            printed = ", ".join("NULL" if item is None else self.constant(item, element, position) for item in items)
            return f"CAST([{printed}] AS {engine_type(kind)})"
        if kind in REGISTERED:
            return f"CAST({self.context.registered(kind, text, position)} AS BIGINT)"
        if kind in OIDS:
            return f"CAST({oid_value(text, kind, position)} AS BIGINT)"
        if ordinary.ordinary_type(kind) == kind:
            return ordinary.constant_as(self, text, kind, position or 0)
        return string(text)

    def pair(self, left: Printed, right: Printed, position: int) -> tuple[Printed, Printed]:
        """Return two values that are compared, an untyped one as of the other's type."""
        if left.type == UNKNOWN and right.type == UNKNOWN:
            return self.coerced(left, "text", position), self.coerced(right, "text", position)
        if left.type == UNKNOWN:
            return self.coerced(left, right.type, position), right
        if right.type == UNKNOWN:
            return left, self.coerced(right, left.type, position)
        return left, right


def literal(text: str) -> Printed:
    """Return an untyped string literal."""
    return Printed(string(text), UNKNOWN, constant=text)


def null(kind: str) -> str:
    """Return the NULL of a type."""
    return "NULL" if kind == UNKNOWN else f"CAST(NULL AS {engine_type(kind)})"


def oid_value(text: str, kind: str, position: int | None) -> int:
    """Return the number of an OID as it is written. Raises 22P02 and 22003."""
    try:
        number = int(text)
    except ValueError:
        raise SqlError("22P02", f'invalid input syntax for type {kind}: "{text}"', position) from None
    if not -(OID_LIMIT >> 1) <= number < OID_LIMIT:
        raise SqlError("22003", f'value "{text}" is out of range for type {kind}', position)
    return number % OID_LIMIT


def common_type(values: list[Printed]) -> str:
    """Return the type of the values of one column, where not all of them are ordinary: the type of
    the first one that has one.
    """
    found = UNKNOWN
    for value in values:
        if found == UNKNOWN or (value.type in OIDS and found in INTEGERS):
            found = value.type
        elif value.type == "text" and (found == "char" or found in DOMAINS):
            found = "text"
    return found
