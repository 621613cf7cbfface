"""Signatures of functions that return rows: one column of them, or two."""

from __future__ import annotations

from sql.functions.catalog import CATALOG_SETS
from sql.functions.signatures import Signature, one, text_function

# Functions of two columns, with the call that makes each column. A client can't write the names
# with a blank.
JSON_MEMBERS: dict[str, dict[str, tuple[Signature, ...]]] = {
    f"{family}_each{form}": {
        f"{family}_each{form} key": one(f"{family}_each{form} key", family, result="text"),
        f"{family}_each{form} value": one(f"{family}_each{form} value", family, result="text" if form else family),
    }
    for family in ("json", "jsonb")
    for form in ("", "_text")
}
# Set-returning functions: where they stand in FROM or in a select list, bind makes a
# `TableFunction` of them.
TABLE_FUNCTIONS: dict[str, tuple[Signature, ...]] = {
    **{
        name: one(name, family, result=result)
        for family in ("json", "jsonb")
        for name, result in (
            (f"{family}_array_elements", family),
            (f"{family}_array_elements_text", "text"),
            (f"{family}_object_keys", "text"),
        )
    },
    # In a select list the results would be rows.
    **{name: one("", name.split("_")[0], result="text") for name in JSON_MEMBERS},
    "generate_series": (
        *(
            Signature("generate_series", (family,) * count, family)
            for family in ("int4", "int8", "numeric")
            for count in (2, 3)
        ),
        Signature("generate_series", ("timestamp", "timestamp", "interval"), "timestamp"),
        Signature("generate_series", ("timestamptz", "timestamptz", "interval"), "timestamptz"),
    ),
    **CATALOG_SETS,
    # The elements of an array with their places, as rows (x, n).
    "_pg_expandarray": one("_pg_expandarray", "array", result="element"),
    "unnest": one("unnest", "array", result="element"),
    "generate_subscripts": (
        *one("generate_subscripts", "array", "int4", result="int4"),
        *one("", "array", "int4", "bool", result="int4"),
    ),
    "string_to_table": (
        *text_function("string_to_table", "text"),
        *text_function("string_to_table", "text", "text"),
    ),
    "regexp_split_to_table": (
        *text_function("regexp_split_to_table", "text"),
        *text_function("regexp_split_to_table", "text", "text"),
    ),
    "regexp_matches": (
        *text_function("regexp_matches", "text", result="text[]"),
        *text_function("regexp_matches", "text", "text", result="text[]"),
    ),
}
