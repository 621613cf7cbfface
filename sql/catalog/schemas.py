"""The way from a relation's name as written to its key, along the session's search_path.

Enters: names as the grammar reads them, the settings that bind captures. Leaves: keys
(`sql.names.relation_keys`), and PostgreSQL's errors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sql.catalog.catalog import Catalog, KnowsSchemas, KnowsSystem, KnowsTypes, RelationDescription, SessionSettings
from sql.errors import SqlError, not_supported
from sql.names.relation_keys import (
    DESCRIBED,
    TEMPORARY,
    dotted,
    name_of,
    quoted,
    relation_key,
    temporary_schema,
    unknown,
    unquoted,
    written_schema,
)
from sql.types.enums import EnumType

SYSTEM = "pg_catalog"
SYSTEM_SCHEMAS = frozenset({SYSTEM, "information_schema"})


def meant_schema(schema: str, settings: SessionSettings) -> str:
    """Return the name of a schema that a client has written: pg_temp is the session's own."""
    return temporary_schema(settings.process_id) if schema == TEMPORARY else schema


def keys_of(written: str, settings: SessionSettings, position: int | None = None) -> Iterator[str]:
    """Yield the keys that a name as written may mean; the first key that exists counts.

    Raises 42501 for a schema that the user may not use.
    """
    schema = written_schema(written)
    if schema is not None and schema in settings.unusable:
        raise SqlError("42501", f"permission denied for schema {schema}", position)
    schemas = settings.path if schema is None else (schema,)
    for one in schemas:
        if one != SYSTEM:
            yield relation_key(meant_schema(one, settings), name_of(written))


def find_relation(
    written: str, catalog: Catalog, settings: SessionSettings, position: int | None = None
) -> RelationDescription | None:
    """Return the relation that a name as written means in a session.

    The server's own views come after all others. Raises 42501 for a schema that the user may not
    use.
    """
    if isinstance(catalog, KnowsSystem):
        found = system_relation(written, catalog, settings)
        if found is not None:
            return found
    for key in keys_of(written, settings, position):
        found = catalog.relation(key)
        if found is not None and found.schema_name != SYSTEM:
            return found
    if written_schema(written) in (None, SYSTEM):
        found = catalog.relation(name_of(written))
        return found if found is not None and found.schema_name == SYSTEM else None
    return None


def system_relation(written: str, catalog: KnowsSystem, settings: SessionSettings) -> RelationDescription | None:
    """Return the relation of pg_catalog or information_schema that a name as written means.

    pg_catalog comes after temporary relations and before all others, unless the search_path names
    it.
    """
    schema, name = written_schema(written), name_of(written)
    if schema is not None:
        return catalog.system_relation(schema, name) if schema in SYSTEM_SCHEMAS else None
    if not name.startswith("pg_") and not SYSTEM_SCHEMAS.intersection(settings.path):
        return None
    path = settings.path
    if SYSTEM not in path:
        path = (TEMPORARY, SYSTEM, *path[1:]) if path[:1] == (TEMPORARY,) else (SYSTEM, *path)
    for one in path:
        if one in SYSTEM_SCHEMAS:
            found = catalog.system_relation(one, name)
            if found is not None:
                return found
        elif catalog.relation(relation_key(meant_schema(one, settings), name)) is not None:
            return None
    return None


def find_type(
    written: str, catalog: Catalog, settings: SessionSettings, noted: set[tuple[str, int]] | None = None
) -> EnumType | None:
    """Return the type of the database that a name as written means.

    noted: gets the key and the oid of the type.

    Raises 3F000 for a schema that does not exist, 0A000 for the type of a relation's rows.
    """
    if not isinstance(catalog, KnowsTypes):
        return None
    schema = written_schema(written)
    if schema is not None and isinstance(catalog, KnowsSchemas) and not catalog.has_schema(schema):
        raise SqlError("3F000", f'schema "{schema}" does not exist')
    for key in keys_of(written, settings):
        found = catalog.type(key)
        if found is not None:
            if noted is not None:
                noted.add((key, found.oid))
            return found
        if catalog.relation(key) is not None:
            raise not_supported(f"the type of the rows of {written} in a cast or a definition")
    return None


def found_key(written: str, settings: SessionSettings, is_there: Callable[[str], object]) -> str:
    """Return the key that a name as written means; for an unknown name a key that nothing has."""
    return next((key for key in keys_of(written, settings) if is_there(key)), unknown(dotted(written)))


def found_names(text: str, is_there: Callable[[str], object], settings: SessionSettings) -> str:
    """Return a text for a client in which objects have their schemas only where the search_path
    does not find them by their names.

    is_there: tells whether anything has a key.
    """

    def name(found: re.Match[str]) -> str:
        schema, written = found[1], found[2]
        for one in settings.path:
            meant = meant_schema(one, settings)
            if meant == schema:
                return written
            if is_there(relation_key(meant, unquoted(written))):
                break
        return f"{quoted(schema)}.{written}"

    return DESCRIBED.sub(name, text)
