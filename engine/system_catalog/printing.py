"""What the printing of one catalog query shares: what it may name, what it has used, and the types of its parameters.

Enters: a catalog of relations and names, the session. Leaves: texts of constants by type. Must not know the syntax tree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from engine.system_catalog.printed import (
    DOMAINS,
    ENGINE_TYPES,
    INTEGERS,
    NUMBERS,
    OIDS,
    REGISTERED,
    UNKNOWN,
    Column,
    Printed,
    element_of,
    engine_type,
    is_text,
    string,
)
from engine.system_catalog.session_context import SessionContext
from sql.array_text import array_elements
from sql.datatypes import BOOL, FLOAT8, INT2, INT4, INT8
from sql.errors import SqlError, not_supported
from sql.expressions import Literal
from sql.literal_output import output_text
from sql.literals import input_value

INPUT_TYPES = {"int2": INT2, "int4": INT4, "int8": INT8, "bool": BOOL, "float8": FLOAT8}
OID_LIMIT = 1 << 32


@dataclass
class Printing:
    """One query under way. used: the catalog relations that are read. key: what our functions find their session by.

    values: the parameters, when the query is to be run; declared: their types as the client gave them. parameter_types: what was found.
    """

    context: SessionContext
    key: int
    declared: tuple[str | None, ...] = ()
    values: tuple[Literal, ...] | None = None
    used: set[str] = field(default_factory=set)
    parameter_types: dict[int, str] = field(default_factory=dict)
    counter: int = 0

    def name(self, stem: str) -> str:
        """Return a quoted name that nothing else in the statement has."""
        self.counter += 1
        return f'"{stem.replace(chr(34), "")} {self.counter}"'

    def parameter(self, number: int) -> Printed:
        """Return $number: a NULL while the query is only described, its value when it runs."""
        declared = self.declared[number - 1] if number <= len(self.declared) else None
        self.parameter_types.setdefault(number, declared or UNKNOWN)
        if self.values is None:
            kind = declared or UNKNOWN
            return Printed("NULL", kind, parameter=number) if declared is None else Printed(null(kind), kind)
        value = self.values[number - 1]
        text = output_text(value.value, value.type)
        untyped = Printed("NULL", UNKNOWN, parameter=number) if text is None else literal(text)
        return untyped if declared is None else self.coerced(untyped, declared, None)

    def coerced(self, value: Printed, kind: str, position: int | None) -> Printed:
        """Return a value as one of type `kind`; an untyped literal is read by that type's input. Raises its errors."""
        if value.type != UNKNOWN:
            return value
        if value.parameter is not None and self.parameter_types.get(value.parameter, UNKNOWN) == UNKNOWN:
            self.parameter_types[value.parameter] = kind
        if value.constant is None:
            return Printed(null(kind), kind)
        return Printed(self.constant(value.constant, kind, position), kind)

    def constant(self, text: str, kind: str, position: int | None) -> str:
        """Return the constant that `text` is as a value of type `kind`."""
        kind = DOMAINS.get(kind, kind)
        element = element_of(kind)
        if element is not None:
            items = text.split() if kind.endswith("vector") else array_elements(text, position)
            printed = ", ".join("NULL" if item is None else self.constant(item, element, position) for item in items)
            return f"CAST([{printed}] AS {engine_type(kind)})"
        if kind in REGISTERED:
            return f"CAST({self.context.registered(kind, text, position)} AS BIGINT)"
        if kind in OIDS:
            return f"CAST({oid_value(text, kind, position)} AS BIGINT)"
        if kind in INPUT_TYPES:
            value = input_value(text, INPUT_TYPES[kind], position=position)
            return f"CAST('{output_text(value, INPUT_TYPES[kind])}' AS {engine_type(kind)})"
        if is_text(kind):
            return string(text[:1] if kind == "char" else text)
        return f"CAST({string(text)} AS {engine_type(kind)})"

    def pair(self, left: Printed, right: Printed, position: int) -> tuple[Printed, Printed]:
        """Return two values that are compared, an untyped one as of the other's type."""
        if left.type == UNKNOWN and right.type == UNKNOWN:
            return self.coerced(left, "text", position), self.coerced(right, "text", position)
        if left.type == UNKNOWN:
            return self.coerced(left, comparable_type(right.type), position), right
        if right.type == UNKNOWN:
            return left, self.coerced(right, comparable_type(left.type), position)
        return left, right


def comparable_type(kind: str) -> str:
    """Return the type by which a literal beside a value of type `kind` is read."""
    return "int8" if kind in ("int2", "int4") else kind


def literal(text: str) -> Printed:
    """Return an untyped string literal."""
    return Printed(string(text), UNKNOWN, constant=text)


def null(kind: str) -> str:
    """Return the NULL of a type."""
    return "NULL" if kind == UNKNOWN else f"CAST(NULL AS {engine_type(kind)})"


def oid_value(text: str, kind: str, position: int | None) -> int:
    """Return the number that an OID is written as. Raises 22P02 and 22003."""
    try:
        number = int(text)
    except ValueError:
        raise SqlError("22P02", f'invalid input syntax for type {kind}: "{text}"', position) from None
    if not -(OID_LIMIT >> 1) <= number < OID_LIMIT:
        raise SqlError("22003", f'value "{text}" is out of range for type {kind}', position)
    return number % OID_LIMIT


def common_type(values: list[Printed]) -> str:
    """Return the type of CASE, COALESCE, UNION and the like: that of the first value that has one, the larger of two numbers."""
    order = ["int2", "int4", "int8", "numeric", "float4", "float8"]
    found = UNKNOWN
    for value in values:
        if found == UNKNOWN:
            found = value.type
        elif value.type in NUMBERS and found in NUMBERS:
            found = max(found, value.type, key=order.index)
        elif value.type in OIDS and found in INTEGERS:
            found = value.type
        elif value.type == "text" and found in ("char", "sql_identifier", "character_data", "yes_or_no"):
            found = "text"
    return found


def known_type(name: str, position: int | None, text: str) -> str:
    """Return a type's name if values of it can be in a catalog query. Raises 42704 and 0A000."""
    element = element_of(name) if name.endswith("[]") else name
    if element in ENGINE_TYPES or element in VECTORS_AND_ARRAYS:
        return name
    raise not_supported(f"the type {text} in a query on the catalog", position)


VECTORS_AND_ARRAYS = frozenset({"int2vector", "oidvector"})
Columns = tuple[Column, ...]
Relations = Mapping[str, Columns]
Resolver = Callable[[str, str, int | None], int]
