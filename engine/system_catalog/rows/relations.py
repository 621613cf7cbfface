"""Rows of pg_class, pg_attribute, pg_attrdef, pg_sequence, pg_rewrite and pg_foreign_table:
relations and their parts.

A stream is a foreign table of server `stream`, a view over a stream is a view like any other. The
relations of the catalog itself are among them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from engine.catalog.image import (
    CatalogImage,
    DisabledViewEntry,
    Entry,
    SequenceEntry,
    StreamEntry,
    TableEntry,
    ViewEntry,
    states_of,
)
from engine.catalog.kept_properties import parameters_of
from engine.catalog.privileges import access_texts
from engine.catalog.stream_output import StreamOutput
from engine.system_catalog.deparse.definitions import STORED, default_text
from engine.system_catalog.object_oids import (
    HEAP,
    METHODS,
    OWN_ARRAY,
    OWN_TYPE,
    OWNER,
    SERVER,
    part_oid,
)
from engine.system_catalog.operator_classes import stored_key_type
from engine.system_catalog.static_rows import (
    CATALOG_SCHEMA,
    CatalogRelation,
    Row,
    relations,
    static_rows,
)
from engine.tables.table_expressions import index_columns
from sql.bind.readers import has_open_zone
from sql.catalog.catalog import ColumnDescription, ConstraintDescription
from sql.names.relation_keys import in_temporary_schema, name_of, quoted, schema_of
from sql.types.datatypes import BOOL, INT8, TEXT, SqlType
from sql.types.records import row_type_oid

KINDS: dict[type, str] = {
    **dict.fromkeys((ViewEntry, DisabledViewEntry), "v"),
    StreamEntry: "f",
    TableEntry: "r",
    SequenceEntry: "S",
}
INFORMATION_SCHEMA = "information_schema"
SECOND_US = 1_000_000
SEQUENCE_COLUMNS = (("last_value", INT8), ("log_cnt", INT8), ("is_called", BOOL))


def indexes_of(entry: TableEntry) -> list[tuple[ConstraintDescription, str]]:
    """Return a table's indexes, each with the inner name, which a renaming does not change."""
    constraints = entry.description.constraints
    return [(one, entry.indexes[one.name]) for one in constraints if one.is_key or one.is_index]


def class_rows(image: CatalogImage) -> list[Row]:
    """Return the rows of pg_class."""
    rows = [_catalog_class(relation) for relation in relations().values()]
    linked = tables_of_foreign_keys(image)
    for entry in image.entries.values():
        description = entry.description
        kind = KINDS[type(entry)]
        columns = len(SEQUENCE_COLUMNS) if kind == "S" else len(columns_of(entry)) + len(dropped_numbers(entry))
        schema = image.schema_oid(description.name)
        row = _class(description.oid, name_of(description.name), kind, schema, columns)
        owner = image.privileges.owner(description.oid)
        persistence = "t" if in_temporary_schema(description.name) else "p"
        row |= {"relowner": owner, "relacl": access_texts(image.roles, image.privileges, description.oid)}
        row["relpersistence"] = persistence
        if kind != "S":
            row["reltype"] = row_type_oid(description.oid)
        if kind == "v":
            row["reloptions"] = options_of(entry, image)
        if isinstance(entry, TableEntry):
            keys = indexes_of(entry)
            row["relreplident"] = entry.properties.get("replica identity") or "d"
            row["reloptions"] = parameters_of(entry.properties)
            row["relhasindex"] = bool(keys)
            # psql looks for foreign keys only where PostgreSQL would have triggers for them.
            row["relhastriggers"] = description.oid in linked
            row["relchecks"] = sum(one.kind == "check" for one in entry.description.constraints)
            for key, index in keys:
                place, count = part_oid("index", description.oid, index), len(key.columns) + len(key.included)
                made = _class(place, key.name, "i", schema, count) | {"relam": METHODS[key.method]}
                made |= {"reloptions": list(key.parameters) or None}
                rows.append(made | {"relowner": owner, "relpersistence": persistence})
        rows.append(row)
    return rows


def options_of(entry: Entry, image: CatalogImage) -> list[str] | None:
    """Return the options of a continuous view or a transform as CREATE VIEW takes them, those that
    are not the default; and the zone that its groups or rows depend on.
    """
    if isinstance(entry, ViewEntry) and entry.output is not None:
        return transform_options(entry, entry.output, image)
    found: dict[str, None] = {}
    for definition in (state.chain.definition for state in states_of(entry)):
        options = {
            "on_error": (definition.on_error, "reject"),
            "eager_grouping": (str(definition.joins.eager_grouping).lower(), "true"),
            "stream_join": (definition.joins.stream_join, "frozen"),
            "freeze_tables": (str(definition.joins.freeze_tables).lower(), "false"),
            "upper_maintenance": (definition.upper_maintenance, "auto"),
            "refresh_every": (f"{definition.refresh_us / SECOND_US:g} s", "0 s"),
            "max_groups": (f"{definition.caps.groups_max}", "0"),
            "max_bytes": (f"{definition.caps.bytes_max}", "0"),
            "output": (str(definition.emits).lower(), "false"),
        }
        found |= {f"{name}={value}": None for name, (value, usual) in options.items() if value != usual}
    zones = sorted({state.zone for state in states_of(entry) if state.zone})
    return [*found, *(f"time_zone={zone}" for zone in zones)] or None


def transform_options(entry: ViewEntry, output: StreamOutput, image: CatalogImage) -> list[str]:
    """Return the options of a transform."""
    target, query = image.by_oid(output.oid), entry.description.query
    assert target is not None and query is not None, entry
    zone = [f"time_zone={entry.source.time_zone}"] if has_open_zone(query.root) else []
    key = target.description.name
    skips = ["on_error=skip"] if output.skips else []
    return ["action=transform", f"outputstream={quoted(schema_of(key))}.{quoted(name_of(key))}", *skips, *zone]


def tables_of_foreign_keys(image: CatalogImage) -> set[int]:
    """Return the oids of the tables that have foreign keys or are referred to."""
    return {
        oid
        for entry in image.entries.values()
        for one in entry.description.constraints
        if one.reference is not None
        for oid in (entry.description.oid, one.reference.oid)
    }


def _catalog_class(relation: CatalogRelation) -> Row:
    schema = CATALOG_SCHEMA if relation.schema == "pg_catalog" else _information_schema()
    return _class(relation.oid, relation.name, relation.kind, schema, len(relation.columns)) | {
        "reltype": relation.row_type
    }


def _information_schema() -> int:
    return next(int(row["oid"]) for row in static_rows("pg_namespace") if row["nspname"] == INFORMATION_SCHEMA)


def _class(oid: int, name: str, kind: str, schema: int, columns_count: int) -> Row:
    stored = kind in ("r", "i")
    return {
        "oid": oid, "relname": name, "relnamespace": schema, "reltype": 0, "reloftype": 0, "relowner": OWNER,
        "relam": HEAP if kind == "r" else 0, "relfilenode": oid if stored or kind == "S" else 0,
        "reltablespace": 0, "relpages": 0, "reltuples": 0.0 if kind in "Si" else -1.0, "relallvisible": 0, "reltoastrelid": 0,
        "relhasindex": False, "relisshared": False, "relpersistence": "p", "relkind": kind, "relnatts": columns_count,
        "relchecks": 0, "relhasrules": kind == "v", "relhastriggers": False, "relhassubclass": False,
        "relrowsecurity": False, "relforcerowsecurity": False, "relispopulated": True,
        "relreplident": "d" if kind == "r" else "n", "relispartition": False, "relrewrite": 0, "relfrozenxid": 0,
        "relminmxid": 0, "relacl": None, "reloptions": None, "relpartbound": None,
    }  # fmt: skip


def columns_of(entry: Entry) -> tuple[ColumnDescription, ...]:
    """Return the columns of a relation with their numbers."""
    columns = entry.description.columns
    return tuple(
        column if column.number else ColumnDescription(column.name, column.type, column.not_null, None, index)
        for index, column in enumerate(columns, 1)
    )


def attribute_rows(image: CatalogImage) -> list[Row]:
    """Return the rows of pg_attribute."""
    rows = []
    for relation in relations().values():
        for number, known in enumerate(relation.columns, 1):
            rows.append(_attribute(relation.oid, known.name, number, known.type_oid, -1, known.not_null))
    for entry in image.entries.values():
        oid = entry.description.oid
        if isinstance(entry, SequenceEntry):
            for number, (name, kind) in enumerate(SEQUENCE_COLUMNS, 1):
                rows.append(_typed(oid, name, number, kind, not_null=True))
            continue
        columns = columns_of(entry)
        defaults = entry.defaults if isinstance(entry, StreamEntry | TableEntry) else {}
        for column in columns:
            row = _typed(oid, column.name, column.number, column.type, column.not_null)
            row["atthasdef"] = column.number in defaults and column.identity is None
            if isinstance(entry, TableEntry):
                row |= _kept(entry.properties, column.number)
            row["attidentity"] = {"always": "a", "by default": "d"}.get(column.identity or "", "")
            rows.append(row)
        rows += [_dropped(oid, number) for number in dropped_numbers(entry)]
        if isinstance(entry, TableEntry):
            for key, index in indexes_of(entry):
                place = part_oid("index", oid, index)
                for number, column in enumerate(index_columns(entry, key), 1):
                    row = _typed(place, column.name, number, column.type, not_null=False)
                    kept = stored_key_type(key, number, column.type) if number <= len(key.columns) else None
                    rows.append(row if kept is None else row | {"atttypid": kept, "atttypmod": -1})
    return rows


def dropped_numbers(entry: Entry) -> Sequence[int]:
    """Return the numbers of the columns that a relation had: pg_dump wants all numbers to be
    there.
    """
    if isinstance(entry, StreamEntry):
        return sorted(entry.stream.dropped)
    if not isinstance(entry, TableEntry):
        return ()
    left = {column.number for column in entry.description.columns}
    return [number for number in range(1, entry.next_number) if number not in left]


def _dropped(relation: int, number: int) -> Row:
    row = _attribute(relation, f"........pg.dropped.{number}........", number, TEXT.oid, -1, False)
    return row | {"atttypid": 0, "attisdropped": True, "attcollation": 0}


def _kept(properties: Mapping[str, str], number: int) -> Row:
    """Return what ALTER TABLE has said of how a column is kept."""
    storage = properties.get(f"storage {number}")
    return {
        "attstattarget": int(properties.get(f"statistics {number}", -1)),
        "attcompression": properties.get(f"compression {number}", ""),
        "attoptions": parameters_of(properties, number),
    } | ({"attstorage": storage} if storage else {})


def _typed(relation: int, name: str, number: int, kind: SqlType, not_null: bool) -> Row:
    if kind.enum is None:
        return _attribute(relation, name, number, kind.oid, kind.typmod, not_null)
    like = OWN_ARRAY if kind.is_array else OWN_TYPE
    return _attribute(relation, name, number, like, kind.typmod, not_null) | {"atttypid": kind.oid}


def _attribute(relation: int, name: str, number: int, kind: int, modifier: int, not_null: bool) -> Row:
    described = _types()[kind]
    return {
        "attrelid": relation, "attname": name, "atttypid": kind, "attstattarget": -1, "attlen": described["typlen"],
        "attnum": number, "attndims": 1 if described["typcategory"] == "A" else 0, "attcacheoff": -1, "atttypmod": modifier,
        "attbyval": described["typbyval"], "attalign": described["typalign"], "attstorage": described["typstorage"],
        "attcompression": "", "attnotnull": not_null, "atthasdef": False, "atthasmissing": False, "attidentity": "",
        "attgenerated": "", "attisdropped": False, "attislocal": True, "attinhcount": 0,
        "attcollation": described["typcollation"], "attacl": None, "attoptions": None, "attfdwoptions": None, "attmissingval": None,
    }  # fmt: skip


@cache
def _types() -> dict[int, Row]:
    return {row["oid"]: row for row in static_rows("pg_type")}


def default_rows(image: CatalogImage) -> list[Row]:
    """Return the rows of pg_attrdef."""
    rows = []
    for entry in image.entries.values():
        if not isinstance(entry, StreamEntry | TableEntry):
            continue
        oid = entry.description.oid
        for column in columns_of(entry):
            if column.number in entry.defaults and column.identity is None:
                text = default_text(entry.defaults[column.number], column, image, STORED, "UTC")
                number = part_oid("default", oid, column.number)
                rows.append({"oid": number, "adrelid": oid, "adnum": column.number, "adbin": text})
    return rows


def sequence_rows(image: CatalogImage) -> list[Row]:
    """Return the rows of pg_sequence."""
    rows = []
    for entry in image.entries.values():
        if isinstance(entry, SequenceEntry):
            one = entry.definition
            rows.append({
                "seqrelid": entry.description.oid, "seqtypid": one.type.oid, "seqstart": one.start, "seqincrement": one.increment,
                "seqmax": one.maximum, "seqmin": one.minimum, "seqcache": one.cache, "seqcycle": one.cycle,
            })  # fmt: skip
    return rows


def rule_rows(image: CatalogImage) -> list[Row]:
    """Return the rows of pg_rewrite: a view is a relation with a rule."""
    return [
        {
            "oid": part_oid("rule", entry.description.oid, "_RETURN"), "rulename": "_RETURN", "ev_class": entry.description.oid,
            "ev_type": "1", "ev_enabled": "O", "is_instead": True, "ev_qual": "<>", "ev_action": "<>",
        }
        for entry in image.entries.values()
        if isinstance(entry, ViewEntry | DisabledViewEntry)
    ]  # fmt: skip


def foreign_table_rows(image: CatalogImage) -> list[Row]:
    """Return the rows of pg_foreign_table: the streams."""
    return [
        {
            "ftrelid": entry.description.oid,
            "ftserver": SERVER,
            "ftoptions": [f"{name}={value}" for name, value in entry.options.items()] or None,
        }
        for entry in image.entries.values()
        if isinstance(entry, StreamEntry)
    ]


RELATION_ROWS: dict[str, Callable[[CatalogImage], list[Row]]] = {
    "pg_class": class_rows,
    "pg_attribute": attribute_rows,
    "pg_attrdef": default_rows,
    "pg_sequence": sequence_rows,
    "pg_rewrite": rule_rows,
    "pg_foreign_table": foreign_table_rows,
}
