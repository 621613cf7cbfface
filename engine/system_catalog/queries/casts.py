"""Casts in catalog queries: OIDs and the names that are shown for them, arrays, texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.system_catalog.printed import (
    ARRAYS_FROM_0,
    DOMAINS,
    ENGINE_TYPES,
    INTEGERS,
    OIDS,
    REGISTERED,
    UNKNOWN,
    VECTORS,
    Printed,
    element_of,
    engine_type,
    is_text,
)
from engine.system_catalog.queries import ordinary
from engine.system_catalog.queries.printing import Printing, common_type
from sql.errors import SqlError, not_supported
from sql.parse.syntax import TypeCast, TypeName
from sql.parse.type_names import REFUSED

FUNCTION_PREFIX = "catalog_"


def type_named(written: TypeName) -> str:
    """Return the type of a cast. Raises 42704, and 0A000 for a type that no value here has."""
    name = DOMAINS.get(written.name, written.name)
    if name not in ENGINE_TYPES and (name not in VECTORS or name in ARRAYS_FROM_0):
        if name in REFUSED:
            raise not_supported(f"the type {written.text} in a query on the catalog", written.position)
        raise SqlError("42704", f'type "{written.name}" does not exist', written.position)
    return f"{name}[]" if written.array else name


def print_cast(printing: Printing, value: Printed, written: TypeName, position: int) -> Printed:
    """Return a value cast to the type that is written.

    Raises 42846 and 0A000 for casts that do not exist.
    """
    kind = type_named(written)
    if value.type == UNKNOWN and not is_known_cast(kind):
        return printing.coerced(value, kind, position)
    if is_known_cast(value.type) and is_known_cast(kind):
        name = DOMAINS.get(written.name, written.name)
        node = replace(written, name=name, schema="")
        return ordinary.ordinary(printing, (value,), lambda operand: TypeCast(operand, node, position, ""), position)
    if is_text(kind) and is_known_cast(kind) and kind != "char":
        return print_cast(printing, as_text(printing, value, position), written, position)
    found = _of_oids(printing, value, kind, position) or _of_arrays(printing, value, kind)
    if found is None and value.type == kind:
        found = value
    if found is None:
        names = f"a cast of {'a row' if value.type.startswith('record') else value.type} to {kind}"
        raise not_supported(f"{names} in a query on the catalog", position)
    return found


def is_known_cast(kind: str) -> bool:
    """Tell whether casts from and to the type are those of any other query."""
    return ordinary.is_ordinary(kind) and ordinary.ordinary_type(kind) != "char[]"


def _of_oids(printing: Printing, value: Printed, kind: str, position: int) -> Printed | None:
    """Return a cast from or to OIDs, or names of them, None where there is no such cast."""
    if kind in REGISTERED and is_text(value.type):
        text = as_text(printing, value, position).text
        return Printed(f"{FUNCTION_PREFIX}{kind}_in({printing.key}, {text})", kind)
    numbers = REGISTERED | {"oid"}
    if kind in numbers and value.type in numbers:
        return Printed(value.text, kind)
    if kind in numbers and value.type in INTEGERS:
        return Printed(ordinary.converted(printing, value, "oid", position).text, kind)
    if value.type in numbers and kind in ("int4", "int8"):
        return ordinary.converted(printing, ordinary.as_plain_oids(value), kind, position)
    if kind in OIDS and is_text(value.type):
        return Printed(ordinary.converted(printing, as_text(printing, value, position), "oid", position).text, kind)
    return None


def _of_arrays(printing: Printing, value: Printed, kind: str) -> Printed | None:
    """Return a cast between arrays of OIDs, of names of them, of texts, and vectors, None where
    there is no such cast.
    """
    target, source = element_of(kind), element_of(value.type)
    if target is None or source is None or kind in VECTORS:
        return None
    if value.type in VECTORS:
        from_0 = f"{target}[0]"
        alike = target == source or {source, target} <= INTEGERS
        return Printed(f"CAST({value.text} AS {engine_type(kind)})", from_0) if alike else None
    if is_text(target) and ordinary.is_ordinary(target) and value.type not in VECTORS:
        return Printed(print_list_as_texts(printing, value), kind)
    if (target in OIDS and source in OIDS) or target == source:
        return Printed(value.text, kind)
    if target in REGISTERED and is_text(source):
        item = printing.name("item")
        change = f"lambda {item}: {FUNCTION_PREFIX}{target}_in({printing.key}, {item})"
        return Printed(f"list_transform({value.text}, {change})", kind)
    return None


def as_text(printing: Printing, value: Printed, position: int) -> Printed:
    """Return a value as its text."""
    if value.type == UNKNOWN:
        return printing.coerced(value, "text", position)
    if is_text(value.type) and value.type != "bpchar":
        return value
    if is_known_cast(value.type):
        return ordinary.converted(printing, value, "text", position)
    if value.type.startswith("record"):
        raise not_supported("a row as a text in a query on the catalog", position)
    return Printed(output(printing, value), "text")


def plain(printing: Printing, value: Printed, position: int) -> Printed:
    """Return a value as an ordinary one: its text if its type is one of the catalog alone."""
    return value if ordinary.is_ordinary(value.type) else as_text(printing, value, position)


def output(printing: Printing, value: Printed) -> str:
    """Return the text for a value that is no text, as its output function prints it."""
    if value.type in REGISTERED:
        return f"{FUNCTION_PREFIX}{value.type}_out({printing.key}, {value.text})"
    if value.type in ARRAYS_FROM_0:
        items = f"array_to_string({value.text}, ',')"
        bounds = f"'[0:' || (len({value.text}) - 1) || ']='"
        return f"CASE WHEN len({value.text}) > 0 THEN {bounds} || '{{' || {items} || '}}' ELSE '{{}}' END"
    if value.type in VECTORS:
        return f"array_to_string({value.text}, ' ')"
    if element_of(value.type) is not None:
        return f"{FUNCTION_PREFIX}array_out({printing.key}, {print_list_as_texts(printing, value)})"
    return f"CAST({value.text} AS VARCHAR)"


def print_list_as_texts(printing: Printing, value: Printed) -> str:
    """Return an array as a list of the texts of its elements."""
    element = element_of(value.type)
    if element not in REGISTERED:
        return f"CAST({value.text} AS VARCHAR[])"
    item = printing.name("item")
    return f"list_transform({value.text}, lambda {item}: {FUNCTION_PREFIX}{element}_out({printing.key}, {item}))"


def unified(printing: Printing, values: Sequence[Printed], what: str, position: int) -> tuple[str, list[Printed]]:
    """Return the type of several values that become one column, and the values as of that type.

    Raises 42804, and 0A000 as `as_common`.
    """
    kind = ordinary.common_of([value.type for value in values], what, position)
    if kind is None:
        kind = common_type(list(values))
    return kind, [as_common(printing, value, kind, position) for value in values]


def as_common(printing: Printing, value: Printed, kind: str, position: int) -> Printed:
    """Return one of several values that become one column of type `kind`.

    Raises 0A000 for types that do not go together here.
    """
    if value.type == UNKNOWN:
        return printing.coerced(value, kind, position)
    if value.type == kind:
        return value
    if is_text(kind) and is_text(value.type):
        return Printed(as_text(printing, value, position).text, kind)
    if is_known_cast(value.type) and is_known_cast(kind):
        return ordinary.converted(printing, value, kind, position)
    found = _of_oids(printing, value, kind, position) or _of_arrays(printing, value, kind)
    if found is None or {value.type, kind} <= REGISTERED or is_text(value.type):
        raise not_supported(f"{value.type} beside {kind} in one column of a query on the catalog", position)
    return found
