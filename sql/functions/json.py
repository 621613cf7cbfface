"""JSON: access, changes, and values as JSON, each by its type, down to the fields of rows and the
elements of arrays.
"""

from __future__ import annotations

from collections.abc import Sequence

from sql.functions.printing import Printer, Rule
from sql.functions.records import field_text
from sql.functions.rows import OWN_FORMS, Function, routines
from sql.functions.signatures import NUMBERS, TIMES
from sql.functions.type_casts import output_text
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
    if kind.element.record is None:
        return json_value(printer, printed[1], kind, _cast(node), ", ")
    items = printer.mapped(printed[1], lambda item: json_value(printer, item, kind.element, _cast(node)))
    return f"json_elements_text({items})"


def _of_arrays(printer: Printer, node: Call, printed: list[str]) -> str:
    """Return the JSON of a list of arrays, each the only field of a row."""
    record = node.arguments[1].type.element.record
    assert record is not None, node
    (kind,) = record.types
    items = printer.mapped(printed[1], lambda item: json_value(printer, field_text(item, 0), kind, _cast(node)))
    return f"json_elements_text({items})"


def _of_members(printer: Printer, node: Call, printed: list[str]) -> str:
    record = node.arguments[1].type.record
    assert record is not None, node
    key, value = record.types
    text = printed[1]
    keys = printer.mapped(text, lambda item: json_key(printer, field_text(item, 0), key, _cast(node)))
    values = printer.mapped(text, lambda item: json_value(printer, field_text(item, 1), value, _cast(node)))
    return f"json_members_text({keys}, {values})"


def _extracted(name: str) -> Rule:
    """Return the value at the path of the later arguments."""
    return lambda printer, node, printed: f"{name}({printed[0]}, {texts(printed[1:])})"


def _field_text(printer: Printer, node: Call, printed: list[str]) -> str:
    """Return ->>; of a text that is cast to json, in one step that reads the text once."""
    value = node.arguments[0]
    if isinstance(value, Cast) and value.operand.type.family == "text":
        return f"json_read_field_text({printer.text(value.operand)}, {printed[1]})"
    return f"json_field_text({printed[0]}, {printed[1]})"


FUNCTIONS = (
    Function(
        "json_field", "->", "json text > json; jsonb text > jsonb", ("""'{"a": 1}'::json -> 'a'""", "1"), python="json.field"
    ),
    Function(
        "json_item", "->", "json int4 > json; jsonb int4 > jsonb", ("'[1, 2]'::json -> -1", "2"),
        python={"json": "json.item", "jsonb": "json.item_or_scalar"},
    ),
    Function(
        "json_field_text", "->>", "json text > text; jsonb text > text", ("""'{"a": "b"}'::json ->> 'a'""", "b"),
        python="json.field_text", duckdb={"json": _field_text, "jsonb": "jsonb_field_text({0}, {1})"},
    ),
    Function(
        "json_item_text", "->>", "json int4 > text; jsonb int4 > text", ("""'["b"]'::jsonb ->> 0""", "b"),
        python={"json": "json.item_text", "jsonb": "json.item_or_scalar_text"},
    ),
    Function(
        "json_path", "#>", "json text[] > json; jsonb text[] > jsonb", ("""'{"a": [5]}'::json #> '{a,0}'""", "5"),
        python="json.path",
    ),
    Function(
        "json_path_text", "#>>", "json text[] > text; jsonb text[] > text", ("""'{"a": ["b"]}'::jsonb #>> '{a,0}'""", "b"),
        python="json.path_text",
    ),
    Function(
        "json_extract_path", "json_extract_path", "json text... > json", ("""json_extract_path('{"a": [5]}', 'a', '0')""", "5"),
        duckdb=_extracted("json_path"),
    ),
    Function(
        "jsonb_extract_path", "jsonb_extract_path", "jsonb text... > jsonb",
        ("""jsonb_extract_path('{"a": [5]}', 'a', '0')""", "5"), duckdb=_extracted("jsonb_path"),
    ),
    Function(
        "json_extract_path_text", "json_extract_path_text", "json text... > text",
        ("""json_extract_path_text('{"a": "b"}', 'a')""", "b"), duckdb=_extracted("json_path_text"),
    ),
    Function(
        "jsonb_extract_path_text", "jsonb_extract_path_text", "jsonb text... > text",
        ("""jsonb_extract_path_text('{"a": "b"}', 'a')""", "b"), duckdb=_extracted("jsonb_path_text"),
    ),
    # Bytes in the order of values, by which the first rows of a stream are found.
    Function("jsonb_order", signatures="jsonb > bytea", python="jsonb_keys.jsonb_key", called="key", can_fail=False),
    Function("json_typeof", "json_typeof", "json > text", ("json_typeof(' [1]')", "array"), python="json.kind"),
    Function("jsonb_typeof", "jsonb_typeof", "jsonb > text", ("""jsonb_typeof('"a"')""", "string"), python="json.kind"),
    Function(
        "json_array_length", "json_array_length", "json > int4", ("json_array_length('[1, [2, 3]]')", "2"),
        python="json.array_length", called="items_count",
    ),
    Function(
        "jsonb_array_length", "jsonb_array_length", "jsonb > int4", ("jsonb_array_length('[]')", "0"),
        python="json.array_length", called="items_count",
    ),
    Function(
        "json_strip_nulls", "json_strip_nulls", "json > json", ("""json_strip_nulls('{"a": null, "b": 1}')""", '{"b":1}'),
        python="jsonb_changes.json_without_nulls",
    ),
    Function(
        "jsonb_strip_nulls", "jsonb_strip_nulls", "jsonb > jsonb", ("""jsonb_strip_nulls('{"a": null, "b": 1}')""", '{"b": 1}'),
        python="jsonb_changes.without_nulls",
    ),
    Function(
        "jsonb_contains", "@>", "jsonb jsonb > bool", ("""'{"a": 1, "b": [2, 3]}'::jsonb @> '{"b": [3]}'""", "t"),
        python="json.contains",
    ),
    Function(
        "jsonb_contained", "<@", "jsonb jsonb > bool", ("""'[1]'::jsonb <@ '[2, 1]'""", "t"), duckdb="jsonb_contains({1}, {0})"
    ),
    Function("jsonb_exists", "?", "jsonb text > bool", ("""'["a"]'::jsonb ? 'a'""", "t"), python="json.has"),
    Function("jsonb_exists_any", "?|", "jsonb text[] > bool", ("""'["a"]'::jsonb ?| '{a,b}'""", "t"), python="json.has_any"),
    Function("jsonb_exists_all", "?&", "jsonb text[] > bool", ("""'["a"]'::jsonb ?& '{a,b}'""", "f"), python="json.has_all"),
    Function(
        "jsonb_concat", "|| jsonb_concat", "jsonb jsonb > jsonb", ("""'{"a": 1}'::jsonb || '{"b": 2}'""", '{"a": 1, "b": 2}'),
        python="jsonb_changes.concatenated",
    ),
    Function(
        "jsonb_delete_name", "-", "jsonb text > jsonb", ("""'{"a": 1, "b": 2}'::jsonb - 'a'""", '{"b": 2}'),
        python="jsonb_changes.without_name",
    ),
    Function("jsonb_delete_item", "-", "jsonb int4 > jsonb", ("'[1, 2]'::jsonb - 0", "[2]"), python="jsonb_changes.without_item"),
    Function(
        "jsonb_delete_names", "-", "jsonb text[] > jsonb", ("""'["a", "b"]'::jsonb - '{a,b}'::text[]""", "[]"),
        python="jsonb_changes.without_names",
    ),
    Function(
        "jsonb_delete_path", "#-", "jsonb text[] > jsonb", ("""'{"a": [1, 2]}'::jsonb #- '{a,0}'""", '{"a": [2]}'),
        python="jsonb_changes.without_path",
    ),
    Function(
        "jsonb_set", "jsonb_set", "jsonb text[] jsonb > jsonb; jsonb text[] jsonb bool > jsonb",
        ("""jsonb_set('{"a": 1}', '{b}', '2')""", '{"a": 1, "b": 2}'),
        python="jsonb_changes.with_value", defaults={3: True}, parameters="jsonb_in path replacement create_if_missing",
    ),
    Function(
        "jsonb_insert", "jsonb_insert", "jsonb text[] jsonb > jsonb; jsonb text[] jsonb bool > jsonb",
        ("""jsonb_insert('[1, 2]', '{0}', '3', true)""", "[1, 3, 2]"),
        python="jsonb_changes.with_inserted", defaults={3: False}, parameters="jsonb_in path replacement insert_after",
    ),
    Function(
        "jsonb_pretty", "jsonb_pretty", "jsonb > text", ("jsonb_pretty('[1]')", "[\n    1\n]"), python="jsonb_changes.pretty"
    ),
    Function(
        "json_of_value", "",
        "to_json: element > json; to_jsonb: element > jsonb; row_to_json: record > json; row_to_json: record bool > json; "
        "array_to_json: array > json; array_to_json: array bool > json",
        ("to_jsonb('Fred said \"Hi.\"'::text)", "\"Fred said \\\"Hi.\\\"\""), strict=False, duckdb=_of_value,
        operands=OWN_FORMS, bound="json value", constants={1: "true"},
    ),
    Function(
        "json_of_values", "",
        "json_build_array: any... > json; json_build_array: > json; jsonb_build_array: any... > jsonb; jsonb_build_array: > jsonb",
        ("json_build_array(1, 'two', NULL)", "[1, \"two\", null]"), strict=False, duckdb=_of_values,
        operands=OWN_FORMS, bound="json values",
    ),
    Function(
        "json_of_pairs", "",
        "json_build_object: any... > json; json_build_object: > json; jsonb_build_object: any... > jsonb; jsonb_build_object: > jsonb",
        ("json_build_object('foo', 1, 2, true)", "{\"foo\" : 1, \"2\" : true}"), strict=False, duckdb=_of_pairs,
        operands=OWN_FORMS, bound="json pairs",
    ),
    Function("json_of_elements", strict=False, duckdb=_of_elements, operands=OWN_FORMS),
    Function("json_of_arrays", strict=False, duckdb=_of_arrays, operands=OWN_FORMS),
    Function("json_of_members", strict=False, duckdb=_of_members, operands=OWN_FORMS),
    Function(
        "json_object", "json_object", "text[] > json", ("json_object('{a,1,b,NULL}')", "{\"a\" : \"1\", \"b\" : null}"),
        python="json.object_of_pairs",
    ),
    Function(
        "json_object_lists", "json_object", "text[] text[] > json",
        ("json_object('{a,b}', '{1,2}')", "{\"a\" : \"1\", \"b\" : \"2\"}"), python="json.object_of",
    ),
    Function(
        "jsonb_object", "jsonb_object", "text[] > jsonb",
        ("jsonb_object('{b,1,a,2,b,3}')", "{\"a\": \"2\", \"b\": \"3\"}"), python="jsonb_changes.object_of_pairs",
    ),
    Function(
        "jsonb_object_lists", "jsonb_object", "text[] text[] > jsonb",
        ("jsonb_object('{b,a}', '{1,NULL}')", "{\"a\": null, \"b\": \"1\"}"), python="jsonb_changes.object_of",
    ),
    Function(
        "jsonb_set_lax", "jsonb_set_lax",
        "jsonb text[] jsonb > jsonb; jsonb text[] jsonb bool > jsonb; jsonb text[] jsonb bool text > jsonb",
        ("jsonb_set_lax('{\"a\":1}', '{a}', NULL, true, 'delete_key')", "{}"), strict=False,
        python="jsonb_changes.with_value_or_null", defaults={3: True, 4: "use_json_null"},
        parameters="jsonb_in path replacement create_if_missing null_value_treatment",
    ),
)  # fmt: skip

# Lists that become rows have the function's name as their second argument, for errors.
ROUTINES = routines(
    json_read_field_text=("text text > text", "json.read_field_text"),
    json_items=("text text > text[]", "json_sets.items"),
    json_item_texts=("text text > text[]", "json_sets.item_texts"),
    json_names=("text text > text[]", "json_sets.names"),
    json_values=("text text > text[]", "json_sets.values"),
    json_value_texts=("text text > text[]", "json_sets.value_texts"),
)
