"""Rows of pg_constraint, pg_index, pg_depend and pg_description: keys, checks, foreign keys,
indexes, owners of sequences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import zip_longest

from engine.catalog.image import CatalogImage, DisabledViewEntry, SequenceEntry, TableEntry, ViewEntry
from engine.ddl.dependents import reads, used_by
from engine.system_catalog.deparse.definitions import STORED, check_text, index_condition, index_expressions
from engine.system_catalog.object_oids import (
    EXTENSION,
    OWN_TYPE,
    SERVER,
    SHARED_CLASSES,
    WHOLE_CLASSES,
    WRAPPER,
    part_oid,
)
from engine.system_catalog.operator_classes import operator_class
from engine.system_catalog.rows.relations import columns_of, indexes_of
from engine.system_catalog.static_rows import Row, relations, static_rows
from engine.tables.table_expressions import index_columns
from sql.catalog.catalog import KeyReference
from sql.tree.walks import columns_of as columns_of_tree

CODES = {"primary key": "p", "unique": "u"}
ACTIONS = {"no action": "a", "restrict": "r", "cascade": "c", "set null": "n"}
TEXT_OID = 25
# The number of a btree's operator =.
EQUAL = 3


def tables(image: CatalogImage) -> list[TableEntry]:
    """Return the durable tables."""
    return [entry for entry in image.entries.values() if isinstance(entry, TableEntry)]


def constraint_rows(image: CatalogImage) -> list[Row]:
    """Return the rows of pg_constraint. conbin holds the text of a check."""
    rows = []
    for entry in tables(image):
        oid, schema = entry.description.oid, image.schema_oid(entry.description.name)
        for key, index in indexes_of(entry):
            if key.kind not in CODES:
                continue
            row = _constraint(
                part_oid("constraint", oid, index), key.name, CODES[key.kind], oid, list(key.columns), schema
            )
            rows.append(row | {"conindid": part_oid("index", oid, index), "connoinherit": True})
        for one in entry.description.constraints:
            if one.kind == "check":
                text = check_text(entry.checks[one.name], entry.description, image, STORED, "UTC")
                assert one.condition is not None, "a check has a condition"
                used = (entry.description.columns[column.index].number for column in columns_of_tree(one.condition))
                named = list(dict.fromkeys(used))
                row = _constraint(part_oid("constraint", oid, one.name), one.name, "c", oid, named, schema)
                rows.append(row | {"conbin": text})
            if one.reference is not None:
                row = _constraint(part_oid("constraint", oid, one.name), one.name, "f", oid, list(one.columns), schema)
                types = {
                    column.number: OWN_TYPE if column.type.is_enum else column.type.oid for column in columns_of(entry)
                }
                equals = [_equality(types[number]) for number in one.columns]
                operators = dict.fromkeys(("conpfeqop", "conppeqop", "conffeqop"), equals)
                rows.append(row | _reference(one.reference, image) | operators | {"connoinherit": True})
    return rows


@cache
def _equality(kind: int) -> int:
    """Return the OID of the operator = of a type, 0 where values compare as those of another
    type.
    """
    rows = (row for row in static_rows("pg_amop") if row["amopstrategy"] == EQUAL)
    return next((int(row["amopopr"]) for row in rows if row["amoplefttype"] == kind == row["amoprighttype"]), 0)


def _reference(reference: KeyReference, image: CatalogImage) -> Row:
    parent = image.by_oid(reference.oid)
    assert isinstance(parent, TableEntry), "a table goes with the keys that refer to it"
    covering = {frozenset(key.columns): index for key, index in indexes_of(parent) if key.is_plain_key}
    return {
        "confrelid": reference.oid, "confkey": list(reference.columns), "confupdtype": ACTIONS[reference.on_update],
        "confdeltype": ACTIONS[reference.on_delete], "confmatchtype": "s",
        "condeferrable": reference.deferrable, "condeferred": reference.deferred,
        "conindid": part_oid("index", reference.oid, covering[frozenset(reference.columns)]),
    }  # fmt: skip


def _constraint(oid: int, name: str, kind: str, relation: int, columns: list[int], schema: int) -> Row:
    return {
        "oid": oid, "conname": name, "connamespace": schema, "contype": kind, "condeferrable": False, "condeferred": False,
        "convalidated": True, "conrelid": relation, "contypid": 0, "conindid": 0, "conparentid": 0, "confrelid": 0,
        "confupdtype": " ", "confdeltype": " ", "confmatchtype": " ", "conislocal": True, "coninhcount": 0,
        "connoinherit": False, "conkey": columns, "confkey": None, "conpfeqop": None, "conppeqop": None, "conffeqop": None,
        "confdelsetcols": None, "conexclop": None, "conbin": None,
    }  # fmt: skip


def index_rows(image: CatalogImage) -> list[Row]:
    """Return the rows of pg_index."""
    collations = {row["oid"]: row["typcollation"] for row in static_rows("pg_type")}
    named = {row["collname"]: row["oid"] for row in static_rows("pg_collation")}
    rows = []
    for entry in tables(image):
        oid = entry.description.oid
        for key, index in indexes_of(entry):
            numbers, both = key.columns, (*key.columns, *key.included)
            kinds = [column.type for column in index_columns(entry, key)][: len(numbers)]
            rows.append({
                "indexrelid": part_oid("index", oid, index), "indrelid": oid, "indnatts": len(both), "indnkeyatts": len(numbers),
                "indisunique": key.is_key, "indnullsnotdistinct": False, "indisprimary": key.kind == "primary key",
                "indisexclusion": False,
                "indimmediate": True, "indisclustered": "clustered" in key.marks,
                "indisvalid": True, "indcheckxmin": False, "indisready": True,
                "indislive": True, "indisreplident": "replica identity" in key.marks, "indkey": list(both),
                "indcollation": [
                    named.get(collation, collations.get(kind, 0))
                    for kind, collation in zip_longest((one.oid for one in kinds), key.collations)
                ],
                "indclass": [
                    operator_class(key.method, name or "", kind)["oid"] for kind, name in zip_longest(kinds, key.classes)
                ],
                "indoption": list(key.options or [0] * len(numbers)),
                "indexprs": index_expressions(entry, key, image, STORED, "UTC") or None,
                "indpred": index_condition(entry, key, image, STORED, "UTC") or None,
            })  # fmt: skip
    return rows


def depend_rows(image: CatalogImage) -> list[Row]:
    """Return the rows of pg_depend that tools look at: a sequence depends on the column that owns
    it, an index on its constraint, a function on the relations in its body.
    """
    class_oid = relations()["pg_catalog", "pg_class"].oid
    constraint_class = relations()["pg_catalog", "pg_constraint"].oid
    default_class = relations()["pg_catalog", "pg_attrdef"].oid
    rule_class = relations()["pg_catalog", "pg_rewrite"].oid
    extension = (relations()["pg_catalog", "pg_extension"].oid, EXTENSION, 0)
    made_first = (("pg_foreign_data_wrapper", WRAPPER), ("pg_foreign_server", SERVER))
    rows = [_depend((relations()["pg_catalog", name].oid, oid, 0), extension, "e") for name, oid in made_first]
    for entry in image.entries.values():
        oid = entry.description.oid
        if isinstance(entry, SequenceEntry) and entry.owner is not None:
            table, number = entry.owner
            kind = "i" if entry.identity else "a"
            rows.append(_depend((class_oid, oid, 0), (class_oid, table, number), kind))
            if not entry.identity:
                default = part_oid("default", table, number)
                rows.append(_depend((default_class, default, 0), (class_oid, oid, 0), "n"))
                rows.append(_depend((default_class, default, 0), (class_oid, table, number), "a"))
        if isinstance(entry, ViewEntry | DisabledViewEntry):
            rule = (rule_class, part_oid("rule", oid, "_RETURN"), 0)
            read = [one.description.oid for one in image.entries.values() if reads(entry, one)]
            rows += [_depend(rule, (class_oid, other, 0), "n") for other in read]
            rows.append(_depend(rule, (class_oid, oid, 0), "i"))
        if isinstance(entry, TableEntry):
            for key, index in indexes_of(entry):
                if key.kind not in CODES:
                    made = (class_oid, part_oid("index", oid, index), 0)
                    numbers = sorted(used_by(key, entry.description.columns))
                    rows += [_depend(made, (class_oid, oid, number), "a") for number in numbers]
                    continue
                constraint = (constraint_class, part_oid("constraint", oid, index), 0)
                rows.append(_depend((class_oid, part_oid("index", oid, index), 0), constraint, "i"))
                rows += [_depend(constraint, (class_oid, oid, number), "a") for number in key.columns]
            for one in entry.description.constraints:
                if one.reference is not None:
                    rows += _needs_of_reference(image, entry, one.name, one.reference, one.columns)
    return [*rows, *_needs_of_bodies(image)]


def _needs_of_bodies(image: CatalogImage) -> Iterator[Row]:
    """Yield what the bodies of RETURN and BEGIN ATOMIC need: a dump makes the relations first."""
    function_class, class_oid = (relations()["pg_catalog", name].oid for name in ("pg_proc", "pg_class"))
    for function in image.functions.values():
        for oid, number in function.needs:
            if oid in image.functions:
                yield _depend((function_class, function.oid, 0), (function_class, oid, 0), "n")
            elif image.by_oid(oid) is not None:
                yield _depend((function_class, function.oid, 0), (class_oid, oid, number), "n")


def _needs_of_reference(
    image: CatalogImage, entry: TableEntry, name: str, reference: KeyReference, columns: tuple[int, ...]
) -> list[Row]:
    """Return the dependencies of a foreign key: its columns, the columns that it refers to, and the
    index of these.
    """
    class_oid = relations()["pg_catalog", "pg_class"].oid
    oid = entry.description.oid
    constraint = (relations()["pg_catalog", "pg_constraint"].oid, part_oid("constraint", oid, name), 0)
    rows = [_depend(constraint, (class_oid, oid, number), "a") for number in columns]
    rows += [_depend(constraint, (class_oid, reference.oid, number), "n") for number in reference.columns]
    return [*rows, _depend(constraint, (class_oid, _reference(reference, image)["conindid"], 0), "n")]


def _depend(thing: tuple[int, int, int], needed: tuple[int, int, int], kind: str) -> Row:
    return {
        "classid": thing[0], "objid": thing[1], "objsubid": thing[2],
        "refclassid": needed[0], "refobjid": needed[1], "refobjsubid": needed[2], "deptype": kind,
    }  # fmt: skip


def description_rows(image: CatalogImage) -> list[Row]:
    """Return the rows of pg_description: the comments."""
    class_oid, schema_oid, type_oid, constraint_oid, function_oid = (
        relations()["pg_catalog", name].oid
        for name in ("pg_class", "pg_namespace", "pg_type", "pg_constraint", "pg_proc")
    )
    classes = dict.fromkeys(image.schemas.values(), schema_oid) | dict.fromkeys(image.types_by_oid, type_oid)
    classes |= dict.fromkeys(image.functions, function_oid)
    classes |= {oid: relations()["pg_catalog", name].oid for oid, name in WHOLE_CLASSES.items()}
    found = [
        (oid, classes.get(oid, class_oid), number, text)
        for (oid, number), text in image.comments.items()
        if oid not in SHARED_CLASSES
    ]
    for entry in tables(image):
        for one in entry.description.constraints:
            oid = entry.description.oid
            on_index = one.comment if one.is_index else one.index_comment
            if on_index:
                found.append((part_oid("index", oid, entry.indexes[one.name]), class_oid, 0, on_index))
            if one.comment and not one.is_index:
                by = entry.indexes[one.name] if one.is_key else one.name
                found.append((part_oid("constraint", oid, by), constraint_oid, 0, one.comment))
    names = ("objoid", "classoid", "objsubid", "description")
    return [dict(zip(names, values, strict=True)) for values in found]


CONSTRAINT_ROWS: dict[str, Callable[[CatalogImage], list[Row]]] = {
    "pg_constraint": constraint_rows,
    "pg_index": index_rows,
    "pg_depend": depend_rows,
    "pg_description": description_rows,
}
