"""Casts in catalog queries: OIDs and the names that they are shown as, arrays, texts."""

from __future__ import annotations

from engine.system_catalog.printed import (
    DOMAINS,
    ENGINE_TYPES,
    OIDS,
    REGISTERED,
    UNKNOWN,
    VECTORS,
    Printed,
    element_of,
    engine_type,
    is_text,
)
from engine.system_catalog.printing import Printing
from sql.errors import SqlError, not_supported
from sql.syntax import TypeName
from sql.type_names import REFUSED

FUNCTION_PREFIX = "catalog_"


def type_named(written: TypeName) -> str:
    """Return the type that a cast names. Raises 42704, and 0A000 for one that no value here has."""
    name = DOMAINS.get(written.name, written.name)
    if name not in ENGINE_TYPES and name not in VECTORS:
        if name in REFUSED:
            raise not_supported(f"the type {written.text} in a query on the catalog", written.position)
        raise SqlError("42704", f'type "{written.name}" does not exist', written.position)
    return f"{name}[]" if written.array else name


def print_cast(printing: Printing, value: Printed, written: TypeName, position: int) -> Printed:
    """Return a value cast to the type that is written."""
    kind = type_named(written)
    modifiers = written.modifiers
    if value.type == UNKNOWN:
        found = printing.coerced(value, kind, position)
    elif kind in REGISTERED and is_text(value.type):
        found = Printed(f"{FUNCTION_PREFIX}{kind}_in({printing.key}, {value.text})", kind)
    elif is_text(kind):
        found = Printed(as_text(printing, value, position).text, kind)
        if kind == "char":
            found = Printed(f"left({found.text}, 1)", kind)
    elif engine_type(kind) == (engine_type(value.type) if value.type != "record" else ""):
        found = Printed(value.text, kind)
    elif element_of(kind) is not None and element_of(value.type) is None and is_text(value.type):
        raise not_supported(f"a cast of {value.type} to {kind} in a query on the catalog", position)
    elif is_text(element_of(kind) or "") and element_of(value.type) is not None:
        found = Printed(print_list_as_texts(printing, value), kind)
    elif kind in OIDS and is_text(value.type):
        found = Printed(f"CAST({value.text} AS BIGINT)", kind)
    else:
        found = Printed(f"CAST({value.text} AS {engine_type(kind)})", kind)
    if modifiers and kind in ("varchar", "bpchar"):
        return Printed(f"left({found.text}, {modifiers[0]})", kind)
    if modifiers and kind == "numeric" and len(modifiers) == 2:
        return Printed(f"CAST({found.text} AS DECIMAL({modifiers[0]}, {modifiers[1]}))", kind)
    return found


def as_text(printing: Printing, value: Printed, position: int) -> Printed:
    """Return a value as its text."""
    if value.type == UNKNOWN:
        return printing.coerced(value, "text", position)
    if is_text(value.type):
        return value
    return Printed(output(printing, value), "text")


def output(printing: Printing, value: Printed) -> str:
    """Return the text of what prints a value that is no text."""
    if value.type in REGISTERED:
        return f"{FUNCTION_PREFIX}{value.type}_out({printing.key}, {value.text})"
    if value.type == "bool":
        return f"CAST({value.text} AS VARCHAR)"
    if value.type in VECTORS:
        return f"array_to_string({value.text}, ' ')"
    if element_of(value.type) is not None:
        return f"{FUNCTION_PREFIX}array_out({printing.key}, {print_list_as_texts(printing, value)})"
    if value.type == "timestamptz":
        return f"{FUNCTION_PREFIX}timestamptz_out({printing.key}, epoch_us({value.text}))"
    return f"CAST({value.text} AS VARCHAR)"


def print_list_as_texts(printing: Printing, value: Printed) -> str:
    """Return an array as a list of the texts of its elements."""
    element = element_of(value.type)
    if element not in REGISTERED:
        return f"CAST({value.text} AS VARCHAR[])"
    item = printing.name("item")
    return f"list_transform({value.text}, lambda {item}: {FUNCTION_PREFIX}{element}_out({printing.key}, {item}))"


def as_common(printing: Printing, value: Printed, kind: str, position: int) -> Printed:
    """Return one of several values that become one column of type `kind`."""
    if value.type == UNKNOWN:
        return printing.coerced(value, kind, position)
    if value.type in REGISTERED and is_text(kind):
        return as_text(printing, value, position)
    return value
