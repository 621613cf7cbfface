"""Functions and operators of json and jsonb. A json is its text as it was written, a jsonb is
PostgreSQL's print of the value.

Functions that make json of values of any type are bound by `sql.bind.expressions.calls`.
"""

from __future__ import annotations

from sql.functions.printing import Printer, Rule
from sql.functions.rows import Function, routines
from sql.tree.expressions import Call


def _with_default(name: str, default: str) -> Rule:
    """Return a call whose fourth argument may be left out."""
    return lambda printer, node, texts: f"{name}({', '.join([*texts, default][:4])})"


def _extracted(name: str) -> Rule:
    """Return a call with the arguments after the first as one array."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        return f"{name}({texts[0]}, CAST([{', '.join(texts[1:])}] AS VARCHAR[]))"

    return rule


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
        python="json.field_text",
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
        ("""jsonb_extract_path('{"a": [5]}', 'a', '0')""", "5"), duckdb=_extracted("jsonb_json_path"),
    ),
    Function(
        "json_extract_path_text", "json_extract_path_text", "json text... > text",
        ("""json_extract_path_text('{"a": "b"}', 'a')""", "b"), duckdb=_extracted("json_path_text"),
    ),
    Function(
        "jsonb_extract_path_text", "jsonb_extract_path_text", "jsonb text... > text",
        ("""jsonb_extract_path_text('{"a": "b"}', 'a')""", "b"), duckdb=_extracted("jsonb_json_path_text"),
    ),
    Function("json_typeof", "json_typeof", "json > text", ("json_typeof(' [1]')", "array"), python="json.kind"),
    Function("jsonb_typeof", "jsonb_typeof", "jsonb > text", ("""jsonb_typeof('"a"')""", "string"), python="json.kind"),
    Function(
        "json_array_length", "json_array_length", "json > int4", ("json_array_length('[1, [2, 3]]')", "2"),
        duckdb="json_items_count({0})",
    ),
    Function(
        "jsonb_array_length", "jsonb_array_length", "jsonb > int4", ("jsonb_array_length('[]')", "0"),
        duckdb="json_items_count({0})",
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
        duckdb=_with_default("jsonb_set", "TRUE"), python="jsonb_changes.with_value",
    ),
    Function(
        "jsonb_insert", "jsonb_insert", "jsonb text[] jsonb > jsonb; jsonb text[] jsonb bool > jsonb",
        ("""jsonb_insert('[1, 2]', '{0}', '3', true)""", "[1, 3, 2]"),
        duckdb=_with_default("jsonb_insert", "FALSE"), python="jsonb_changes.with_inserted",
    ),
    Function(
        "jsonb_pretty", "jsonb_pretty", "jsonb > text", ("jsonb_pretty('[1]')", "[\n    1\n]"), python="jsonb_changes.pretty"
    ),
)  # fmt: skip

# Lists that become rows have the function's name as their second argument, for errors.
ROUTINES = routines(
    # DuckDB has a json_array_length of its own.
    json_items_count=("json > int4", "json.array_length"),
    json_items=("text text > text[]", "json_sets.items"),
    json_item_texts=("text text > text[]", "json_sets.item_texts"),
    json_names=("text text > text[]", "json_sets.names"),
    json_values=("text text > text[]", "json_sets.values"),
    json_value_texts=("text text > text[]", "json_sets.value_texts"),
)
