"""The catalog file: definitions of streams and views, written whole at each commit of DDL and read once at start.

Enters: an image. Leaves: JSON text in `catalog.json`, replaced atomically. Contents of streams and views are not in it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from engine.catalog import CatalogImage, StreamEntry, ViewEntry, plain_form
from engine.definitions import build_stream, restore_continuous_view
from engine.storage import Storage
from sql.catalog import SessionSettings
from sql.errors import SqlError
from sql.parse import parse
from sql.statements.statement import CreateStream, CreateView
from views.definition import ViewDefinition

if TYPE_CHECKING:
    from engine.database import Database

FILE_NAME = "catalog.json"
FORMAT_VERSION = 1
DAMAGED = "XX001"
SHOWN_CHARACTERS_MAX = 60
STREAM_FORM = {"name": str, "oid": int, "text": str, "time_zone": str}
VIEW_FORM = {
    "name": str,
    "oid": int,
    "text": str,
    "query_text": str,
    "query_offset": int,
    "column_names": list,
    "time_zone": str,
    "search_path": str,
    "on_error": str,
}
WORDS = {str: "text", int: "number", list: "list", dict: "object"}

Wanted = TypeVar("Wanted", CreateStream, CreateView)


def save_catalog(storage: Storage, folder: Path, image: CatalogImage) -> None:
    """Replace the catalog file. Raises SqlError 53100 or 58030 when the disk does not take it; the old file is then whole."""
    text = json.dumps(plain_form(image), indent=1) + "\n"
    try:
        storage.write_atomic(folder / FILE_NAME, text.encode())
    except OSError as error:
        raise SqlError("58030", f"could not write the catalog: {error.strerror}") from None


def load_catalog(database: Database) -> CatalogImage:
    """Return the image of the file; an empty one when there is none.

    Raises SqlError XX001 for a damaged file, one of another version, or a definition that can't be restored.
    """
    path = database.config.data_dir / FILE_NAME
    try:
        plain = read_plain(path.read_bytes())
    except FileNotFoundError:
        return CatalogImage()
    except SqlError as error:
        raise SqlError(DAMAGED, f"{path} {error.message}") from None
    image = CatalogImage()
    for relation in plain["relations"]:
        is_stream = relation["kind"] == "stream"
        try:
            entry = (
                _restored_stream(database, image, relation) if is_stream else _restored_view(database, image, relation)
            )
        except SqlError as error:
            name = relation["name"] if is_stream else relation["definition"]["name"]
            raise SqlError(
                DAMAGED, f'the {relation["kind"]} "{name}" in {path} can\'t be restored: {error.message}'
            ) from None
        image = image.with_entry(entry)
    return CatalogImage(image.entries, image.version, plain["next_oid"])


def read_plain(data: bytes) -> dict[str, Any]:
    """Return the plain form in the file's bytes, checked in every part. Raises SqlError, whose message continues the file's name."""
    try:
        plain = json.loads(data)
    except ValueError as error:
        raise SqlError(DAMAGED, f"is damaged: {error}") from None
    _require(plain, {"format": int})
    if plain["format"] != FORMAT_VERSION:
        raise SqlError(DAMAGED, f"has format {plain['format']}, but this server reads format {FORMAT_VERSION}")
    _require(plain, {"next_oid": int, "relations": list})
    for relation in plain["relations"]:
        _require(relation, {"kind": str})
        if relation["kind"] == "stream":
            _require(relation, STREAM_FORM)
        else:
            _require(relation, {"definition": dict})
            _require(relation["definition"], VIEW_FORM)
    return plain  # type: ignore[no-any-return]  # JSON has no types; what is used of it was just checked


def _require(plain: object, form: Mapping[str, type]) -> None:
    if not isinstance(plain, dict):
        raise SqlError(
            DAMAGED, f"is damaged: {json.dumps(plain)[:SHOWN_CHARACTERS_MAX]} stands where an object belongs"
        )
    for key, kind in form.items():
        if not isinstance(plain.get(key), kind):
            shown = json.dumps(plain)[:SHOWN_CHARACTERS_MAX]
            raise SqlError(DAMAGED, f'is damaged: "{key}" is missing or no {WORDS[kind]} in {shown}')


def _restored_stream(database: Database, image: CatalogImage, relation: dict[str, Any]) -> StreamEntry:
    statement = _only_statement(relation["text"], CreateStream)
    settings = SessionSettings(time_zone=relation["time_zone"])
    return build_stream(statement, image, settings, relation["oid"], database.config.stream_capacity_default)


def _restored_view(database: Database, image: CatalogImage, relation: dict[str, Any]) -> ViewEntry:
    definition = ViewDefinition.from_dict(relation["definition"])
    statement = _only_statement(definition.text, CreateView)
    return restore_continuous_view(definition, statement, image, database.kernels_dir, database.upper)


def _only_statement(text: str, kind: type[Wanted]) -> Wanted:
    statements = parse(text)
    if len(statements) != 1 or not isinstance(statements[0], kind):
        raise SqlError(DAMAGED, "its text is not a definition of its kind")
    return statements[0]
