"""The statement SET CONSTRAINTS.

Enters: the statement and its transaction. Leaves: the time at which foreign keys of this
transaction are checked from now on; keys that no longer wait are checked before the statement ends.
"""

from __future__ import annotations

from engine.catalog.image import CatalogImage, TableEntry
from engine.execution.registry import handles
from engine.execution.work import Work
from engine.tables.deferral import Key
from sql.catalog.catalog import SessionSettings
from sql.catalog.schemas import keys_of
from sql.errors import SqlError
from sql.names.relation_keys import name_of, schema_of, written_schema
from sql.parse.statements.variables import SetConstraints


@handles(SetConstraints)
async def set_constraints(statement: SetConstraints, work: Work) -> None:
    """Do SET CONSTRAINTS.

    Raises 3F000, 42704, 42809, and 23503 for rows that have waited so far.
    """
    if not work.in_block:
        work.notice("25P01", f"{statement.tag} can only be used in transaction blocks", "WARNING")
    tables = await work.threads.in_worker(work.server.transactions.begin_tables, work.transaction)
    keys = None if statement.names is None else named_keys(statement, tables.image, work.settings.captured())
    await work.threads.in_worker(tables.references.set_mode, keys, statement.deferred)


def named_keys(statement: SetConstraints, image: CatalogImage, settings: SessionSettings) -> set[Key]:
    """Return the deferrable constraints of the names: all of that name in the first schema that has
    one.
    """
    found: set[Key] = set()
    for written in statement.names or ():
        schema = written_schema(written)
        if schema is not None and schema not in image.schemas:
            raise SqlError("3F000", f'schema "{schema}" does not exist')
        named = next((keys for key in keys_of(written, settings) if (keys := constraints_of(key, image))), None)
        if named is None:
            raise SqlError("42704", f'constraint "{name_of(written)}" does not exist')
        if statement.deferred and not all(named.values()):
            raise SqlError("42809", f'constraint "{name_of(written)}" is not deferrable')
        found |= named.keys()
    return found


def constraints_of(key: str, image: CatalogImage) -> dict[Key, bool]:
    """Return the constraints of a name in a schema, and whether each is deferrable.

    key: schema and name, as of a relation.
    """
    return {
        (entry.description.oid, one.name): one.reference is not None and one.reference.deferrable
        for entry in image.entries.values()
        if isinstance(entry, TableEntry) and schema_of(entry.description.name) == schema_of(key)
        for one in entry.description.constraints
        if one.name == name_of(key) and not one.is_index
    }
