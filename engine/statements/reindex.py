"""REINDEX: tables are built anew with their indexes, as DuckDB has no other way to do that.

Enters: the statement, and the work. Leaves: an outcome; the tables' rows lie in new places from
COMMIT on.
"""

from __future__ import annotations

from engine.catalog.image import CatalogImage, TableEntry
from engine.ddl.table_alterations import columns_of
from engine.ddl.table_names import index_names
from engine.ddl.table_work import TableWork
from engine.execution.defining import with_tables
from engine.execution.registry import handles
from engine.execution.rights import denied
from engine.execution.work import Work
from sql.errors import SqlError
from sql.names.relation_keys import is_temporary, name_of, schema_of
from sql.parse.statements.reindex import Reindex


@handles(Reindex)
async def reindex(statement: Reindex, work: Work) -> None:
    """Build the indexes of the statement anew.

    Raises 25001, 42P01, 42809, 3F000, 0A000 and 42501.
    """
    if statement.concurrently:
        work.require_alone("REINDEX CONCURRENTLY")
    if statement.kind not in ("index", "table"):
        work.require_alone(f"REINDEX {statement.kind.upper()}")
    for entry in meant(statement, work):
        await with_tables(work, build_anew, entry)


def meant(statement: Reindex, work: Work) -> list[TableEntry]:
    """Return the tables that have the indexes of the statement."""
    match statement.kind:
        case "index":
            return [table_of_index(statement, work.image)]
        case "table":
            return indexed_table(statement, work)
        case "schema":
            return tables_of_schema(statement.name, work)
    if statement.name != work.settings.database:
        raise SqlError("0A000", "can only reindex the currently open database")
    if not work.identity.bypasses():
        raise denied(f"must be owner of database {statement.name}")
    if statement.kind == "system":
        if statement.concurrently:
            raise SqlError("0A000", "cannot reindex system catalogs concurrently")
        # The catalog is an image in memory.
        return []
    return [one for name in work.image.schemas if not is_temporary(name) for one in tables_in(name, work.image)]


def table_of_index(statement: Reindex, image: CatalogImage) -> TableEntry:
    """Return the table of the index."""
    name = statement.name
    for entry in tables_in(schema_of(name), image):
        if any(one.name == name_of(name) and (one.is_key or one.is_index) for one in entry.description.constraints):
            return entry
    if name in image.entries:
        raise SqlError("42809", f'"{name}" is not an index')
    raise SqlError("42P01", f'relation "{name}" does not exist')


def indexed_table(statement: Reindex, work: Work) -> list[TableEntry]:
    """Return the table, if it has indexes; else give the client a notice."""
    name = statement.name
    entry = None if name in index_names(work.image) else work.image.existing(name)
    if not isinstance(entry, TableEntry):
        raise SqlError("42809", f'"{name}" is not a table or materialized view')
    if entry.indexes:
        return [entry]
    what = "that can be reindexed concurrently" if statement.concurrently else "to reindex"
    work.notice("00000", f'table "{name}" has no indexes {what}')
    return []


def tables_of_schema(name: str, work: Work) -> list[TableEntry]:
    """Return the tables with indexes of a schema."""
    image, roles = work.image, work.image.roles
    if name not in image.schemas:
        raise SqlError("3F000", f'schema "{name}" does not exist')
    if not roles.has_privileges_of(work.identity.current(roles), image.privileges.owner(image.schemas[name])):
        raise denied(f"must be owner of schema {name}")
    return tables_in(name, image)


def tables_in(schema: str, image: CatalogImage) -> list[TableEntry]:
    """Return the tables of a schema that have indexes."""
    entries = (one for one in image.entries.values() if isinstance(one, TableEntry) and one.indexes)
    return [one for one in entries if schema_of(one.description.name) == schema]


def build_anew(entry: TableEntry, work: TableWork) -> None:
    """Build a table with its indexes anew."""
    work.put(work.rebuild(entry, entry, columns_of(entry)))
