"""DROP FUNCTION, and functions whose schema is dropped or renamed.

Enters: statements whose functions are found, a `TableWork`. Leaves: the work's image. Raises
PostgreSQL's errors.
"""

from __future__ import annotations

from dataclasses import replace

from engine.catalog.image import CatalogImage
from engine.ddl.dropping import drop_all
from engine.ddl.functions.replacing import put
from engine.ddl.table_work import TableWork
from sql.catalog.functions import FunctionDescription
from sql.names.relation_keys import name_of, relation_key, schema_of, written_schema
from sql.parse.statements.functions import DropFunction


def drop_function(statement: DropFunction, work: TableWork) -> None:
    """Do DROP FUNCTION. Raises 2BP01."""
    gone: list[FunctionDescription] = []
    for named in statement.functions:
        if named.oid:
            gone.append(work.image.functions[named.oid])
            continue
        schema = schema_of(named.name)
        if written_schema(named.name) is not None and schema not in work.image.schemas:
            work.notice(f'schema "{schema}" does not exist, skipping')
            continue
        types = "" if named.arguments is None else f"({', '.join(one.row.sql_name for one in named.arguments)})"
        work.notice(f"function {name_of(named.name)}{types} does not exist, skipping")
    drop_all(gone, statement.cascade, work)


def functions_of(schema: str, image: CatalogImage) -> list[FunctionDescription]:
    """Return the functions in a schema."""
    return [one for one in image.functions.values() if schema_of(one.name) == schema]


def rename_functions(schema: str, new_name: str, work: TableWork) -> None:
    """Give the functions of a schema that is renamed their new keys."""
    put(
        work,
        [
            replace(one, name=relation_key(new_name, name_of(one.name))) if schema_of(one.name) == schema else one
            for one in work.image.functions.values()
        ],
    )
