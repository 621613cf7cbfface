"""The catalog as it is stored: plain values that JSON can hold, and the way back without binding.

Enters: entries. Leaves: dictionaries, and the checked dictionaries of stored text. Views are stored
as the statements that made them; streams, tables and sequences as they are now. Must not bind or
build anything: `engine.ddl.restore` does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from engine.catalog.functions import objects_of, plain_function
from engine.catalog.image import (
    CatalogImage,
    DisabledViewEntry,
    Entry,
    SequenceEntry,
    SourceText,
    StateEntry,
    StreamEntry,
    TableEntry,
    ViewEntry,
)
from engine.catalog.plain_types import DAMAGED, plain_type
from engine.catalog.privileges import plain_privileges
from engine.catalog.roles import plain_roles
from engine.catalog.sequences import SequenceDefinition
from engine.catalog.stream_output import StreamOutput
from ringbuffer.pages.log_rows import encode_rows
from sql.catalog.catalog import KeyReference
from sql.errors import SqlError
from sql.names.relation_keys import PUBLIC
from sql.parse.statements.create_view import CreateView
from sql.types.datatypes import SqlType
from sql.types.enums import EnumLabel, EnumType

SHOWN_CHARACTERS_MAX = 60
WORDS = {str: "text", int: "number", list: "list", dict: "object"}
FORMS: dict[str, Mapping[str, type]] = {
    "stream": {"name": str, "oid": int},
    "view": {
        "name": str,
        "oid": int,
        "text": str,
        "query_text": str,
        "query_offset": int,
        "column_names": list,
        "time_zone": str,
        "search_path": str,
        "on_error": str,
    },
    "table": {
        "name": str,
        "oid": int,
        "physical": str,
        "next_number": int,
        "columns": list,
        "constraints": list,
    },
    "sequence": {"name": str, "oid": int, "number": int, "definition": dict},
    "query": {"name": str, "oid": int, "text": str, "time_zone": str, "columns": list, "used": list},
}


# What states of an older catalog repeat of the view that keeps them.
OF_THE_VIEW = ("kind", "name", "whole", "text", "query_text", "query_offset", "time_zone", "search_path")


def catalog_text(image: CatalogImage) -> str:
    """Return the text of the catalog for the file of the tables."""
    form = plain_form(image)
    # One by one: the writer of JSON keeps the interpreter while it writes.
    texts = {name: json.dumps(value) for name, value in form.items() if name != "relations"}
    relations = form["relations"]
    assert isinstance(relations, list)
    texts["relations"] = f"[{', '.join(json.dumps(one) for one in relations)}]"
    return f"{{{', '.join(f'{json.dumps(name)}: {text}' for name, text in texts.items())}}}"


def plain_form(image: CatalogImage) -> dict[str, object]:
    """Return the next oid, the roles, each relation in order of creation, and the comments."""
    return {
        "next_oid": image.next_oid,
        "schemas": dict(image.schemas),
        "access": {**plain_roles(image.roles), **plain_privileges(image.privileges)},
        "types": [asdict(one) for one in image.types.values()],
        "functions": [plain_function(one) for one in image.functions.values()],
        "relations": [plain_entry(entry) for entry in image.entries.values()],
        "comments": [[oid, number, text] for (oid, number), text in image.comments.items()],
    }


def plain_entry(entry: Entry) -> dict[str, object]:
    """Return the stored form of one relation."""
    description = entry.description
    head: dict[str, object] = {"name": description.name, "oid": description.oid}
    match entry:
        case StreamEntry():
            return {"kind": "stream", **head, **_stream(entry)}
        case ViewEntry(is_state=True):
            (state,), own = entry.states, {"named": sorted(entry.named), "objects": entry.source.objects}
            return {"kind": "view", **state.chain.definition.to_dict(), **_state(state), **own}
        case TableEntry():
            return {"kind": "table", **head, **_table(entry)}
        case SequenceEntry():
            return {
                "kind": "sequence",
                **head,
                "number": entry.counter.number,
                "definition": {**asdict(entry.definition), "type": entry.definition.type.family},
                "owner": entry.owner,
                "identity": entry.identity,
            }
        case DisabledViewEntry():
            return dict(entry.plain)
        case ViewEntry():
            # The definition is the same in all states.
            definition = (state.chain.definition.to_dict() for state in entry.states)
            return {
                "kind": "query",
                **next(definition, {}),
                **head,
                "text": entry.source.text,
                "time_zone": entry.source.time_zone,
                "search_path": entry.source.search_path,
                "objects": entry.source.objects,
                "columns": [{"name": column.name, "type": plain_type(column.type)} for column in description.columns],
                "used": [asdict(used) for used in entry.used],
                "states": [_state(state) for state in entry.states],
                "output": None
                if entry.output is None
                else {
                    "oid": entry.output.oid,
                    "columns": list(entry.output.columns),
                    "skips": entry.output.skips,
                },
            }


def _state(entry: StateEntry) -> dict[str, object]:
    """Return the stored form of a state of a view: what the view itself does not say."""
    used = [asdict(one) for one in entry.used]
    return {**entry.chain.identity.to_dict(), "used": used, "active": entry.active}


def view_form(relation: Mapping[str, Any], statement: CreateView) -> dict[str, Any]:
    """Return the stored form of a view's definition from that of a view with states.

    Older catalogs have the options in the states. statement: in the view's text.
    """
    (first, *_) = relation["states"]
    own = {"query_text": statement.query_text, "query_offset": statement.query_offset, "search_path": PUBLIC}
    return {**first, **own, **relation, "column_names": []}


def with_states(relations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return stored relations in which each view has its states.

    A catalog of an older server has them as relations of their own, and their oids in the view.
    """
    parts = {relation["oid"]: relation for relation in relations if relation.get("part") is not None}

    def moved(relation: dict[str, Any]) -> dict[str, Any]:
        if not relation.get("parts"):
            return relation
        if not parts.keys() >= set(relation["parts"]):
            raise SqlError(DAMAGED, f'is damaged: parts of "{relation["name"]}" are missing')
        states = [parts[oid].items() for oid in relation["parts"]]
        own = [{name: value for name, value in state if name not in OF_THE_VIEW} for state in states]
        return {**{name: value for name, value in relation.items() if name != "parts"}, "states": own}

    return [moved(relation) for relation in relations if relation["oid"] not in parts]


def enum_of(plain: Mapping[str, Any]) -> EnumType:
    """Return a stored type."""
    labels = tuple(EnumLabel(**label) for label in plain["labels"])
    return EnumType(**{**plain, "labels": labels})


def definition_of(plain: Mapping[str, Any]) -> SequenceDefinition:
    """Return a stored sequence's definition."""
    return SequenceDefinition(**{**plain, "type": SqlType(plain["type"])})


def read_plain(text: str) -> dict[str, Any]:
    """Return the plain form in a stored text, checked in every part.

    Raises SqlError, whose message continues the name of the file.
    """
    try:
        plain = json.loads(text)
    except ValueError as error:
        raise SqlError(DAMAGED, f"is damaged: {error}") from None
    _require(plain, {"next_oid": int, "relations": list})
    for relation in plain["relations"]:
        _require(relation, {"kind": str})
        if relation["kind"] not in FORMS:
            raise SqlError(DAMAGED, f"is damaged: a relation can't be a {relation['kind']}")
        _require(relation, FORMS[relation["kind"]])
    plain["relations"] = with_states(plain["relations"])
    return plain  # type: ignore[no-any-return]  # JSON has no types; what is used of it was just checked


def output_of(plain: Mapping[str, Any]) -> StreamOutput | None:
    """Return the stream that gets the rows of a stored view, if it is a transform."""
    output = plain.get("output")
    return None if output is None else StreamOutput(output["oid"], tuple(output["columns"]), bool(output.get("skips")))


def source_of(plain: Mapping[str, Any] | None, image: CatalogImage) -> SourceText | None:
    """Return a stored expression."""
    if plain is None:
        return None
    names = tuple((name, number) for name, number in plain["names"])
    sequences = tuple((name, oid) for name, oid in plain.get("sequences", ()))
    objects = objects_of(plain, image)
    path, table = plain.get("search_path", PUBLIC), plain.get("table", "")
    return SourceText(plain["text"], plain["time_zone"], names, path, sequences, objects, table)


def reference_of(plain: Mapping[str, Any] | None) -> KeyReference | None:
    """Return the reference of a stored foreign key."""
    return None if plain is None else KeyReference(**{**plain, "columns": tuple(plain["columns"])})


def _stream(entry: StreamEntry) -> dict[str, object]:
    stream = entry.stream
    missing = None if all(null[0] for null in stream.missing.nulls) else encode_rows(stream.missing, stream.layout)
    return {
        "columns": [
            {
                "name": column.name,
                "type": plain_type(column.type),
                "not_null": column.not_null,
                "default": _source(entry.defaults.get(column.number)),
                "dropped": column.number in stream.dropped,
            }
            for column in stream.stored
        ],
        "missing": None if missing is None else b"".join(missing).hex(),
        "options": dict(entry.options),
    }


def _table(entry: TableEntry) -> dict[str, object]:
    return {
        "physical": entry.physical,
        "next_number": entry.next_number,
        "properties": dict(entry.properties),
        "columns": [
            {
                "name": column.name,
                "number": column.number,
                "type": plain_type(column.type),
                "not_null": column.not_null,
                "identity": column.identity,
                "default": _source(entry.defaults.get(column.number)),
            }
            for column in entry.description.columns
        ],
        "constraints": [
            {
                "name": constraint.name,
                "kind": constraint.kind,
                "columns": list(constraint.columns),
                "source": _source(entry.checks.get(constraint.source_key)),
                "index": entry.indexes.get(constraint.name),
                "comment": constraint.comment,
                "index_comment": constraint.index_comment,
                "options": list(constraint.options),
                "method": constraint.method,
                "classes": list(constraint.classes),
                "parameters": list(constraint.parameters),
                "stored": list(constraint.stored),
                "marks": sorted(constraint.marks),
                "included": list(constraint.included),
                "collations": list(constraint.collations),
                "reference": None if constraint.reference is None else asdict(constraint.reference),
            }
            for constraint in entry.description.constraints
        ],
    }


def _source(source: SourceText | None) -> dict[str, object] | None:
    return None if source is None else asdict(source)


def _require(plain: object, form: Mapping[str, type]) -> None:
    if not isinstance(plain, dict):
        raise SqlError(
            DAMAGED, f"is damaged: {json.dumps(plain)[:SHOWN_CHARACTERS_MAX]} stands where an object belongs"
        )
    for key, kind in form.items():
        if not isinstance(plain.get(key), kind):
            shown = json.dumps(plain)[:SHOWN_CHARACTERS_MAX]
            raise SqlError(DAMAGED, f'is damaged: "{key}" is missing or no {WORDS[kind]} in {shown}')
