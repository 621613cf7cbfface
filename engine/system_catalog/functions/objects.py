"""Functions that show an object: format_type, pg_get_viewdef, pg_get_constraintdef, descriptions,
names of owners, visibility.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from engine.catalog.image import (
    DisabledViewEntry,
    SequenceEntry,
    StreamEntry,
    TableEntry,
    ViewEntry,
)
from engine.embedded.functions.text import quote_ident as quoted_name
from engine.embedded.functions.text import quote_literal as quoted_literal
from engine.system_catalog.catalog_functions import catalog_function, constant, named
from engine.system_catalog.deparse.definitions import index_texts, view_text
from engine.system_catalog.deparse.layout import Style
from engine.system_catalog.object_oids import part_oid
from engine.system_catalog.rows.relations import indexes_of
from engine.system_catalog.static_rows import Row, relations
from engine.tables.table_expressions import index_columns
from sql.errors import SqlError
from sql.names.relation_keys import name_of, schema_of
from sql.types.datatypes import SqlType

if TYPE_CHECKING:
    from engine.system_catalog.session_context import SessionContext

VISIBLE = {
    "pg_table_is_visible": "pg_class",
    "pg_type_is_visible": "pg_type",
    "pg_function_is_visible": "pg_proc",
    "pg_operator_is_visible": "pg_operator",
    "pg_collation_is_visible": "pg_collation",
}
ACTION_WORDS = {"r": "RESTRICT", "c": "CASCADE", "n": "SET NULL"}
# Kinds of objects of which there are none, or only PostgreSQL's own.
NEVER_HIDDEN = """
pg_opclass_is_visible pg_opfamily_is_visible pg_conversion_is_visible pg_statistics_obj_is_visible pg_ts_config_is_visible
pg_ts_dict_is_visible pg_ts_parser_is_visible pg_ts_template_is_visible
"""


@catalog_function
def format_type(context: SessionContext, oid: int | None, modifier: int | None) -> str | None:
    """Return a type's name."""
    if oid is None:
        return None
    return context.type_shown(oid, modifier)


@catalog_function
def pg_get_viewdef(context: SessionContext, view: str | None, form: str | None) -> str | None:
    """Return a view's query.

    form: 'true' or 'false', whether parentheses that are not needed are left out; a number: they
    are, and lines end before this column.
    """
    if view is None:
        return None
    oid = int(view[1:]) if view.startswith("#") else context.registered("regclass", view[1:])
    entry = context.snapshot.image.by_oid(oid)
    if not isinstance(entry, ViewEntry | DisabledViewEntry):
        return None
    is_wrapped = form is not None and form.lstrip("-").isdigit()
    style = style_of(context, is_wrapped or form in ("true", "t"), int(form or 0) if is_wrapped else 0)
    return view_text(entry, context.snapshot.image, style, context.settings.time_zone)


def style_of(context: SessionContext, pretty: bool, wrap: int = 0) -> Style:
    """Return how definitions are printed for a session."""

    def relation_name(schema: str, name: str) -> str:
        oid = context.snapshot.relation_oid(schema, name)
        visible = oid is not None and context.is_visible("pg_class", oid)
        return quoted_name(name) if visible else f"{quoted_name(schema)}.{quoted_name(name)}"

    def type_name(kind: SqlType) -> str:
        return kind.sql_name if kind.enum is None else context.type_shown(kind.oid, None)

    def object_name(kind: str, oid: int) -> str:
        return context.shown_as(kind, oid) or ""

    def function_name(schema: str, name: str) -> str:
        return quoted_name(name) if schema in context.path else f"{quoted_name(schema)}.{quoted_name(name)}"

    return Style(pretty, wrap, relation_name, type_name, function_name, object_name)


@catalog_function
def pg_get_expr(context: SessionContext, text: str | None, relation: int | None, pretty: bool | None) -> str | None:
    """Return an expression of a relation."""
    if text is None or relation is None:
        return None
    entry = context.snapshot.image.by_oid(relation)
    if not isinstance(entry, TableEntry | StreamEntry):
        return text
    show, style = context.snapshot.expressions(entry).get(text), style_of(context, bool(pretty))
    return text if show is None else show(context.snapshot.image, style, context.settings.time_zone)


@catalog_function
def pg_get_constraintdef(context: SessionContext, oid: int | None, pretty: bool | None) -> str | None:
    """Return a constraint as ALTER TABLE takes it."""
    row = None if oid is None else context.snapshot.row("pg_constraint", oid)
    if row is None:
        return None
    if row["contype"] == "c":
        return f"CHECK ({pg_get_expr(context, row['conbin'], row['conrelid'], pretty)})"
    columns = ", ".join(_column_names(context, row["conrelid"], row["conkey"]))
    if row["contype"] == "f":
        return f"FOREIGN KEY ({columns}) {_reference_text(context, row)}"
    return f"{'PRIMARY KEY' if row['contype'] == 'p' else 'UNIQUE'} ({columns})"


def _reference_text(context: SessionContext, row: Row) -> str:
    parent = context.snapshot.row("pg_class", row["confrelid"])
    assert parent is not None, "a table goes with the keys that refer to it"
    name = quoted_name(str(parent["relname"]))
    if not context.is_visible("pg_class", row["confrelid"]):
        name = f"{quoted_name(context.snapshot.schema_name(parent['relnamespace']) or '')}.{name}"
    columns = ", ".join(_column_names(context, row["confrelid"], row["confkey"]))
    actions = ((" ON UPDATE ", row["confupdtype"]), (" ON DELETE ", row["confdeltype"]))
    shown = "".join(event + ACTION_WORDS[code] for event, code in actions if code != "a")
    timing = " DEFERRABLE" * bool(row["condeferrable"]) + " INITIALLY DEFERRED" * bool(row["condeferred"])
    return f"REFERENCES {name}({columns}){shown}{timing}"


def _column_names(context: SessionContext, relation: int, numbers: list[int]) -> list[str]:
    entry = context.snapshot.image.by_oid(relation)
    assert entry is not None, "a constraint has a table"
    names = {column.number: column.name for column in entry.description.columns}
    return [quoted_name(names[number]) for number in numbers]


# By the bits of pg_index.indoption.
SHOWN_ORDERS = ("", " DESC NULLS LAST", " NULLS FIRST", " DESC")


@catalog_function
def pg_get_indexdef(context: SessionContext, oid: int | None, column: int | None, pretty: bool | None) -> str | None:
    """Return the CREATE INDEX of an index, or the name of one of its columns, which count from 1.

    pretty: without the table's schema where the search_path leads there.
    """
    row = next((one for one in context.snapshot.rows("pg_index") if one["indexrelid"] == oid), None)
    if row is None:
        return None
    entry = context.snapshot.image.by_oid(row["indrelid"])
    assert isinstance(entry, TableEntry), "an index has a table"
    made = next(one for one, inner in indexes_of(entry) if part_oid("index", row["indrelid"], inner) == oid)
    shown = index_texts(
        entry, made, context.snapshot.image, style_of(context, bool(pretty)), context.settings.time_zone
    )
    texts = iter(text if is_call else f"({text})" for text, is_call in shown)
    names = [
        next(texts) if number == 0 else _column_names(context, row["indrelid"], [number])[0] for number in row["indkey"]
    ]
    if column:
        return names[column - 1] if 0 < column <= len(names) else ""
    index, table = (
        context.snapshot.row("pg_class", row["indexrelid"]),
        context.snapshot.row("pg_class", row["indrelid"]),
    )
    assert index is not None and table is not None, "an index is a relation"
    name = quoted_name(table["relname"])
    if not (pretty and context.is_visible("pg_class", table["oid"])):
        name = f"{quoted_name(context.snapshot.schema_name(table['relnamespace']) or '')}.{name}"
    unique = "UNIQUE " * bool(row["indisunique"])
    keys = zip_longest(
        names[: row["indnkeyatts"]],
        _collations(context, row, [one.type.oid for one in index_columns(entry, made)][: row["indnkeyatts"]]),
        [f" {quoted_name(name)}" if name else "" for name in made.classes],
        [SHOWN_ORDERS[option] for option in row["indoption"]],
        fillvalue="",
    )
    columns = ", ".join("".join(parts) for parts in keys)
    method = context.snapshot.row("pg_am", index["relam"])
    assert method is not None, "an index has an access method"
    included = names[row["indnkeyatts"] :]
    tail = f" INCLUDE ({', '.join(included)})" if included else ""
    tail += f" WITH ({', '.join(map(_parameter, made.parameters))})" * bool(made.parameters)
    tail += "".join(f" WHERE {text}" for text, _ in shown[made.columns.count(0) :])
    return f"CREATE {unique}INDEX {quoted_name(index['relname'])} ON {name} USING {method['amname']} ({columns}){tail}"


def _parameter(text: str) -> str:
    """Return a storage parameter as pg_get_indexdef shows it."""
    name, _, value = text.partition("=")
    return f"{quoted_name(name)}={value if quoted_name(value) == value else quoted_literal(value)}"


def _collations(context: SessionContext, row: Row, kinds: Sequence[int]) -> list[str]:
    """Return the COLLATE clause of each column of an index, '' for a column's own collation."""
    clauses = []
    for kind_oid, oid in zip(kinds, row["indcollation"], strict=False):
        kind = context.snapshot.row("pg_type", kind_oid)
        own = kind is None or oid == kind["typcollation"]
        collation = None if own else context.snapshot.row("pg_collation", oid)
        clauses.append("" if collation is None else f" COLLATE {quoted_name(collation['collname'])}")
    return clauses


@catalog_function
def pg_get_userbyid(context: SessionContext, oid: int | None) -> str | None:
    """Return a role's name."""
    if oid is None:
        return None
    row = context.snapshot.row("pg_authid", oid)
    return f"unknown (OID={oid})" if row is None else str(row["rolname"])


def _visible(relation: str) -> None:
    def run(context: SessionContext, oid: int | None) -> bool | None:
        return None if oid is None else context.is_visible(relation, oid)

    name = next(name for name, known in VISIBLE.items() if known == relation)
    named(name)(run)


for _relation in VISIBLE.values():
    _visible(_relation)
constant(True, NEVER_HIDDEN)


@catalog_function
def obj_description(context: SessionContext, oid: int | None, catalog: str | None) -> str | None:
    """Return the comment on an object."""
    return _description(context, oid, catalog, 0)


@catalog_function
def col_description(context: SessionContext, oid: int | None, number: int | None) -> str | None:
    """Return the comment on a column."""
    return _description(context, oid, "pg_class", number)


@catalog_function
def shobj_description(context: SessionContext, oid: int | None, catalog: str | None) -> str | None:
    """Return the comment on an object that all databases share."""
    rows = context.snapshot.rows("pg_shdescription")
    number = _class_oid(catalog)
    return next((str(row["description"]) for row in rows if (row["objoid"], row["classoid"]) == (oid, number)), None)


def _class_oid(catalog: str | None) -> int | None:
    relation = relations().get(("pg_catalog", catalog or ""))
    return None if relation is None else relation.oid


def _description(context: SessionContext, oid: int | None, catalog: str | None, number: int | None) -> str | None:
    wanted = _class_oid(catalog)
    found = context.snapshot.descriptions.get((oid or 0, number or 0), ())
    return next((text for class_oid, text in found if catalog is None or class_oid == wanted), None)


# Sequences.


@catalog_function
def pg_get_serial_sequence(context: SessionContext, table: str | None, column: str | None) -> str | None:
    """Return the sequence of a serial or identity column."""
    if table is None or column is None:
        return None
    entry = context.snapshot.image.by_oid(context.registered("regclass", table))
    numbers = {} if entry is None else {one.name: one.number for one in entry.description.columns}
    if column not in numbers:
        raise SqlError("42703", f'column "{column}" of relation "{table}" does not exist')
    assert entry is not None, "it has columns"
    for other in context.snapshot.image.entries.values():
        if isinstance(other, SequenceEntry) and other.owner == (entry.description.oid, numbers[column]):
            key = other.description.name
            return f"{quoted_name(schema_of(key))}.{quoted_name(name_of(key))}"
    return None


@catalog_function
def pg_sequence_last_value(context: SessionContext, oid: int | None) -> int | None:
    """Return the last value of a sequence, NULL before the first. Raises 42501."""
    image = context.snapshot.image
    entry = None if oid is None else image.by_oid(oid)
    if not isinstance(entry, SequenceEntry):
        return None
    if not image.privileges.may(image.roles, context.role, entry.description.oid, "rU"):
        raise SqlError("42501", f"permission denied for sequence {entry.description.name}")
    return entry.counter.last if entry.counter.called else None
