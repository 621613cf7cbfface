"""The catalog image from what is stored: each relation bound or built again.

Enters: the checked plain form. Leaves: an image. Sequences come first and tables next, since
defaults name sequences; views follow in order of creation. What streams and continuous views hold
comes later, from checkpoint and log. Raises SqlError XX001 that names what can't be restored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from engine.catalog.disabled_views import restored_or_disabled
from engine.catalog.functions import function_of, objects_of, used_of, with_functions
from engine.catalog.image import (
    CatalogImage,
    Entry,
    SequenceEntry,
    SourceText,
    StateEntry,
    StreamEntry,
    TableData,
    TableEntry,
    ViewEntry,
)
from engine.catalog.plain_types import DAMAGED, type_of
from engine.catalog.privileges import PUBLIC_SCHEMA_OID, Privileges, privileges_of
from engine.catalog.roles import Roles, roles_of
from engine.catalog.sequences import SequenceCounter
from engine.catalog.stored_form import (
    definition_of,
    enum_of,
    output_of,
    read_plain,
    reference_of,
    source_of,
    view_form,
)
from engine.ddl.definitions import (
    ViewDraft,
    ViewEngines,
    build_stream,
    state_draft,
    stored_draft,
    stream_description,
)
from engine.ddl.functions.naming import with_names
from engine.ddl.query_views import bound_as_then, prepared_states, query_view, with_output
from engine.spark.upper import SparkUpperExecutor
from engine.storage.kernel_files import KernelFiles
from engine.streams.options import StreamOptions, read_options
from engine.streams.stream import make_stream
from engine.tables.snapshot_pool import FOUND
from engine.tables.table_expressions import bound_defaults, bound_description, sequence_description
from engine.tables.table_source import CommittedTables
from engine.tables.table_store import TableStore
from ringbuffer.pages.log_rows import decode_rows
from sql.catalog.catalog import ColumnDescription, ConstraintDescription, RelationDescription, SessionSettings
from sql.errors import SqlError
from sql.names.relation_keys import PUBLIC
from sql.parse.parse import parse
from sql.parse.statements.create_foreign_table import CreateStream
from sql.parse.statements.create_view import CreateView
from sql.types.datatypes import SqlType, array_of, enum_type
from sql.types.enums import new_enum
from views.model.definition import StateDefinition, ViewDefinition
from views.model.properties import scans

RANKS = {"sequence": 0, "table": 1}

Wanted = TypeVar("Wanted", CreateStream, CreateView)


@dataclass(frozen=True)
class Engines:
    """The engines with which relations are built.

    Attributes:
        store: the file of the tables.
        stream_options: of streams that have none of their own.
        kernels: the folder of views' kernels.
        upper: runs static and upper pipelines.
    """

    store: TableStore
    stream_options: StreamOptions
    kernels: KernelFiles
    upper: SparkUpperExecutor


def restore_catalog(engines: Engines, text: str) -> CatalogImage:
    """Return the image of a stored catalog."""
    path = engines.store.path
    try:
        plain = read_plain(text)
    except SqlError as error:
        raise SqlError(DAMAGED, f"{path} {error.message}") from None
    records = engines.store.sequence_records()
    types = [enum_of(one) for one in plain.get("types", ())]
    image = CatalogImage(
        schemas=plain.get("schemas", {PUBLIC: PUBLIC_SCHEMA_OID}), types={one.name: one for one in types}
    )
    image = with_functions(image, [function_of(one, image) for one in plain.get("functions", ())])
    restored: dict[str, Entry] = {}
    for relation in sorted(plain["relations"], key=lambda relation: RANKS.get(relation["kind"], 2)):
        try:
            entry = _restored(engines, image, relation, records)
        except SqlError as error:
            raise SqlError(
                DAMAGED, f'the {relation["kind"]} "{relation["name"]}" in {path} can\'t be restored: {error.message}'
            ) from None
        image = image.with_entry(entry)
        restored[relation["name"]] = entry
    order = {relation["name"]: restored[relation["name"]] for relation in plain["relations"]}
    access = plain.get("access")
    roles = Roles() if access is None else roles_of(access)
    privileges = Privileges() if access is None else privileges_of(access)
    comments = {(oid, number): text for oid, number, text in plain.get("comments", ())}
    image = with_functions(image, [with_names(one, image) for one in image.functions.values()])
    return replace(
        image, entries=order, next_oid=plain["next_oid"], roles=roles, comments=comments, privileges=privileges
    )


def _restored(
    engines: Engines, image: CatalogImage, relation: dict[str, Any], records: Mapping[int, tuple[int, bool]]
) -> Entry:
    match relation["kind"]:
        case "stream":
            return _restored_stream(engines, image, relation)
        case "view":
            return _restored_view(engines, image, relation)
        case "sequence":
            return _restored_sequence(engines, relation, records)
        case "table":
            return _restored_table(image, relation)
    used = tuple(used_of(one) for one in relation["used"])
    path, objects = relation.get("search_path", PUBLIC), objects_of(relation, image)
    source = SourceText(relation["text"], relation["time_zone"], search_path=path, objects=objects)
    names = tuple(column["name"] for column in relation["columns"])
    statement = _only_statement(source.text, CreateView)

    def build() -> ViewEntry:
        bound = bound_as_then(statement, source, used, image)
        plains = relation.get("states", ())
        name, oid = relation["name"], relation["oid"]
        if not plains:
            return with_output(query_view(name, names, bound, source, used, oid, (), None), output_of(relation))
        definition = ViewDefinition.from_dict(view_form(relation, statement))
        over = prepared_states(bound, definition.joins, len(plains))
        states: list[StateEntry] = []
        for number, plain in enumerate(plains):
            identity = StateDefinition.from_dict(plain, definition, number)
            draft = state_draft(identity, bound, over, image)
            (stream,) = scans(draft.bound.root, "stream")
            own = next(one for one in used if one.oid == image.entries[stream].description.oid)
            known = tuple(used_of(one) for one in plain["used"]) if "used" in plain else (own,)
            states.append(_state(engines, image, plain, draft.as_known(known, own), states))
        return query_view(name, names, bound, source, used, oid, tuple(states), over)

    return restored_or_disabled(build, relation, image)


def _restored_stream(engines: Engines, image: CatalogImage, relation: dict[str, Any]) -> StreamEntry:
    if "columns" not in relation:
        # As it was stored before streams could be altered.
        statement = _only_statement(relation["text"], CreateStream)
        settings = SessionSettings(time_zone=relation["time_zone"], search_path=PUBLIC)
        return build_stream(statement, image, settings, relation["oid"], engines.stream_options)
    sources = {number: source_of(column["default"], image) for number, column in enumerate(relation["columns"], 1)}
    defaults = {number: source for number, source in sources.items() if source is not None}
    columns = [
        ColumnDescription(column["name"], _stored_type(column, image), column["not_null"], number=number)
        for number, column in enumerate(relation["columns"], 1)
    ]
    described, defaults = bound_defaults(columns, defaults, image)
    dropped = frozenset(number for number, column in enumerate(relation["columns"], 1) if column["dropped"])
    options = read_options(relation["options"], engines.stream_options)
    made = make_stream(
        relation["name"], relation["oid"], described, options.capacity, options.timeout_ms, options.string_capacity
    )
    missing = made.missing
    if relation["missing"] is not None:
        missing = decode_rows(bytes.fromhex(relation["missing"]), made.layout)
    stream = replace(made, dropped=dropped, missing=missing)
    return StreamEntry(stream_description(stream), stream, relation["options"], defaults)


def _stored_type(column: dict[str, Any], image: CatalogImage) -> SqlType:
    """Return the type of a column of a stream; a dropped column may be of an enum that is dropped,
    too, of which only the oid is known.
    """
    try:
        return type_of(column["type"], image)
    except SqlError:
        if not column["dropped"]:
            raise
        family = column["type"]["family"]
        kind = enum_type(new_enum(column["name"], int(family.removesuffix("[]").split()[-1]), ()))
        return array_of(kind) if family.endswith("[]") else kind


def _restored_view(engines: Engines, image: CatalogImage, relation: dict[str, Any]) -> Entry:
    statement = _only_statement(relation["text"], CreateView)
    used = tuple(used_of(one) for one in relation["used"]) if "used" in relation else None
    named = frozenset(relation["named"]) if "named" in relation else None

    def build() -> ViewEntry:
        identity = StateDefinition.from_dict(relation, ViewDefinition.from_dict(relation))
        draft = stored_draft(identity, statement, image, used, named, objects_of(relation, image))
        return draft.view(_state(engines, image, relation, draft, ()))

    return restored_or_disabled(build, relation, image)


def _state(
    engines: Engines, image: CatalogImage, plain: dict[str, Any], draft: ViewDraft, others: Sequence[StateEntry]
) -> StateEntry:
    """Return a continuous view, or a state of a view, from its stored form.

    others: states that are not in the image yet.
    """
    tables = CommittedTables(engines.store, lambda: image)
    entry = draft.restore(ViewEngines(engines.kernels, engines.upper, tables, engines.store.engine), others)
    return replace(entry, active=plain.get("active", True))


def _restored_sequence(
    engines: Engines, relation: dict[str, Any], records: Mapping[int, tuple[int, bool]]
) -> SequenceEntry:
    number = relation["number"]
    if number not in records:
        raise SqlError(DAMAGED, "its record is missing")
    last, called = records[number]
    owner = relation.get("owner")
    return SequenceEntry(
        sequence_description(relation["name"], relation["oid"]),
        definition_of(relation["definition"]),
        SequenceCounter(number, last, called, log=engines.store.log_sequence),
        None if owner is None else (owner[0], owner[1]),
        bool(relation.get("identity")),
    )


def _restored_table(image: CatalogImage, relation: dict[str, Any]) -> TableEntry:
    columns = tuple(
        ColumnDescription(
            column["name"],
            type_of(column["type"], image),
            column["not_null"],
            number=column["number"],
            identity=column["identity"],
        )
        for column in relation["columns"]
    )
    constraints = tuple(
        ConstraintDescription(
            constraint["name"],
            constraint["kind"],
            tuple(constraint["columns"]),
            reference=reference_of(constraint.get("reference")),
            comment=constraint.get("comment", ""),
            index_comment=constraint.get("index_comment", ""),
            options=tuple(constraint.get("options", ())),
            method=constraint.get("method", "btree"),
            included=tuple(constraint.get("included", ())),
            collations=tuple(constraint.get("collations", ())),
            classes=tuple(constraint.get("classes", ())),
            parameters=tuple(constraint.get("parameters", ())),
            stored=tuple(constraint.get("stored", ())),
            marks=frozenset(constraint.get("marks", ())),
        )
        for constraint in relation["constraints"]
    )
    defaults = {column["number"]: source_of(column["default"], image) for column in relation["columns"]}
    checks = {
        one.source_key: source_of(plain["source"], image)
        for one, plain in zip(constraints, relation["constraints"], strict=True)
    }
    entry = TableEntry(
        RelationDescription(relation["name"], "table", relation["oid"], columns, constraints=constraints),
        relation["physical"],
        relation["next_number"],
        {number: source for number, source in defaults.items() if source is not None},
        {name: source for name, source in checks.items() if source is not None},
        {constraint["name"]: constraint["index"] for constraint in relation["constraints"] if constraint["index"]},
        TableData(FOUND),
        relation.get("properties", {}),
    )
    return bound_description(entry, image)


def _only_statement(text: str, kind: type[Wanted]) -> Wanted:
    statements = parse(text)
    if len(statements) != 1 or not isinstance(statements[0], kind):
        raise SqlError(DAMAGED, "its text is not a definition of its kind")
    return statements[0]
