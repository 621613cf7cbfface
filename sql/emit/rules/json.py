"""Values as JSON in DuckDB: each by its type, down to the fields of rows and the elements of
arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sql.emit.rules.record import field_text
from sql.emit.rules.type_casts import output_text
from sql.functions.printing import Printer, Rule
from sql.functions.signatures import NUMBERS, TIMES
from sql.tree.expressions import Call, Cast, Literal
from sql.types.datatypes import TEXT, SqlType
from sql.values.jsonb_text import string_text

SEPARATOR = ","
LINES = ",\n "


def json_value(printer: Printer, text: str, kind: SqlType, cast: Cast, separator: str = SEPARATOR) -> str:
    """Return the JSON text of a printed value.

    cast: a cast of the value to text, for its zone; separator: between the outermost items.
    """
    if kind.is_array:
        items = printer.mapped(text, lambda item: json_value(printer, item, kind.element, cast))
        return f"json_array_text({items}, {printer.quoted(separator)})"
    if kind.record is not None:
        names = texts([printer.quoted(string_text(name)) for name, _ in kind.record.fields])
        fields = enumerate(kind.record.types)
        values = texts([json_value(printer, field_text(text, place), field, cast) for place, field in fields])
        made = f"json_record_text({names}, {values}, {printer.quoted(separator)})"
        return f"CASE WHEN {text} IS NOT NULL THEN {made} END"
    if kind.family in ("json", "jsonb"):
        return text
    if kind.family == "bool":
        return f"CAST({text} AS VARCHAR)"
    printed = output_text(printer, text, kind, cast)
    if kind.family in NUMBERS:
        return f"json_number({printed})"
    return f"json_time({printed})" if kind.family in TIMES else f"json_quoted({printed})"


def json_key(printer: Printer, text: str, kind: SqlType, cast: Cast) -> str:
    """Return the JSON text of a printed value as the name of a member."""
    if kind.family == "bool":
        return f"json_quoted(CAST({text} AS VARCHAR))"
    if kind.family in NUMBERS:
        return f"json_quoted({output_text(printer, text, kind, cast)})"
    return json_value(printer, text, kind, cast)


def texts(items: Sequence[str]) -> str:
    """Return an array of texts, which may be empty."""
    return f"CAST([{', '.join(items)}] AS VARCHAR[])"


def _cast(node: Call) -> Cast:
    """Return a cast to text in the zone that is the call's first argument."""
    zone = node.arguments[0]
    assert isinstance(zone, Literal), node
    return Cast(zone, TEXT, zone=str(zone.value), position=node.position)


def _values(printer: Printer, node: Call, printed: Sequence[str], first: int, step: int) -> str:
    """Return the JSON texts of every `step`th argument from `first` on."""
    given = zip(node.arguments, printed, strict=True)
    items = [json_value(printer, text, item.type, _cast(node)) for item, text in given]
    return texts(items[first::step])


def _of_value(printer: Printer, node: Call, printed: list[str]) -> str:
    value, lines = node.arguments[1:]
    assert isinstance(lines, Literal), node
    return json_value(printer, printed[1], value.type, _cast(node), LINES if lines.value else SEPARATOR)


def _of_values(printer: Printer, node: Call, printed: list[str]) -> str:
    return f"json_array_text({_values(printer, node, printed, 1, 1)}, ', ')"


def _of_pairs(printer: Printer, node: Call, printed: list[str]) -> str:
    given = list(zip(node.arguments, printed, strict=True))[2::2]
    keys = texts([json_key(printer, text, key.type, _cast(node)) for key, text in given])
    return f"json_object_text({keys}, {_values(printer, node, printed, 3, 2)}, {printed[1]})"


def _of_elements(printer: Printer, node: Call, printed: list[str]) -> str:
    kind = node.arguments[1].type
    # Where an element has items itself, PostgreSQL begins a line for it.
    return json_value(printer, printed[1], kind, _cast(node), ", \n " if kind.element.record is not None else ", ")


def _of_members(printer: Printer, node: Call, printed: list[str]) -> str:
    record = node.arguments[1].type.record
    assert record is not None, node
    key, value = record.types
    text = printed[1]
    keys = printer.mapped(text, lambda item: json_key(printer, field_text(item, 0), key, _cast(node)))
    values = printer.mapped(text, lambda item: json_value(printer, field_text(item, 1), value, _cast(node)))
    return f"json_members_text({keys}, {values})"


def json_set(printer: Printer, name: str, text: str) -> str | None:
    """Return the list of the rows that a function returns; None for a function that is not of JSON.

    name: the canonical name.
    """
    function, _, column = name.partition(" ")
    found = SETS.get(column or function.partition("_")[2])
    if found is None:
        return None
    if function.endswith("_text") and column == "value":
        found = "json_value_texts"
    return f"{found}({text}, {printer.quoted(function)})"


# By the part of a function's name after json_ or jsonb_, and by the names of the columns of
# functions with two.
SETS = {
    "array_elements": "json_items",
    "array_elements_text": "json_item_texts",
    "object_keys": "json_names",
    "key": "json_names",
    "value": "json_values",
}
JSON_RULES: Mapping[str, Mapping[str, Rule]] = {
    "json_of_value": {"any": _of_value},
    "json_of_values": {"any": _of_values},
    "json_of_pairs": {"any": _of_pairs},
    "json_of_elements": {"any": _of_elements},
    "json_of_members": {"any": _of_members},
}
