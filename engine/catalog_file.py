"""The catalog file: definitions of streams and views, written whole at each commit of DDL and read once at start.

Enters: an image. Leaves: JSON text in `catalog.json`, replaced atomically. Contents of streams and views are not in it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.catalog import CatalogImage, StreamEntry, plain_form
from engine.definitions import build_stream, restore_continuous_view
from engine.storage import Storage
from sql.catalog import SessionSettings
from sql.errors import SqlError
from sql.parse import parse
from sql.statements.statement import CreateStream
from views.definition import ViewDefinition

if TYPE_CHECKING:
    from engine.database import Database

FILE_NAME = "catalog.json"
FORMAT_VERSION = 1


def save_catalog(storage: Storage, folder: Path, image: CatalogImage) -> None:
    """Replace the catalog file. Raises SqlError 53100 or 58030 when the disk does not take it; the old file is then whole."""
    text = json.dumps(plain_form(image), indent=1) + "\n"
    try:
        storage.write_atomic(folder / FILE_NAME, text.encode())
    except OSError as error:
        raise SqlError("58030", f"could not write the catalog: {error.strerror}") from None


def load_catalog(database: Database) -> CatalogImage:
    """Return the image of the file; an empty one when there is none. Raises SqlError when a definition can't be restored."""
    path = database.config.data_dir / FILE_NAME
    if not path.exists():
        return CatalogImage()
    plain: dict[str, Any] = json.loads(path.read_bytes())
    if plain.get("format") != FORMAT_VERSION:
        raise SqlError("XX001", f"{path} has format {plain.get('format')}, this server reads format {FORMAT_VERSION}")
    image = CatalogImage()
    for relation in plain["relations"]:
        if relation["kind"] == "stream":
            image = image.with_entry(_restore_stream(database, image, relation))
        else:
            definition = ViewDefinition.from_dict(relation["definition"])
            image = image.with_entry(restore_continuous_view(definition, image, database.kernels_dir, database.upper))
    return CatalogImage(image.entries, image.version, plain["next_oid"])


def _restore_stream(database: Database, image: CatalogImage, relation: dict[str, Any]) -> StreamEntry:
    (statement,) = parse(relation["text"])
    if not isinstance(statement, CreateStream):
        raise SqlError("XX001", f'the catalog holds no stream definition for "{relation["name"]}"')
    settings = SessionSettings(time_zone=relation["time_zone"])
    return build_stream(statement, image, settings, relation["oid"], database.config.stream_capacity_default)
