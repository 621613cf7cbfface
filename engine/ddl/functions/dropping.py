"""DROP FUNCTION, and functions whose schema is dropped or renamed.

Enters: statements whose functions are found, a `TableWork`. Leaves: the work's image. Raises
PostgreSQL's errors.
"""

from __future__ import annotations

from dataclasses import replace

from engine.catalog.image import CatalogImage
from engine.ddl.dependents import SEVERAL, Dependent, cascade_notice, naming, refusal_of, shown, with_dependents
from engine.ddl.dropping import drop_with
from engine.ddl.functions.replacing import put
from engine.ddl.table_work import TableWork
from sql.catalog.functions import FunctionDescription
from sql.names.relation_keys import name_of, relation_key, schema_of, written_schema
from sql.parse.statements.functions import DropFunction


def drop_function(statement: DropFunction, work: TableWork) -> None:
    """Do DROP FUNCTION. Raises 2BP01, and 0A000 for CASCADE to a default or a check."""
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
    drop_functions(gone, statement.cascade, work)


def drop_functions(gone: list[FunctionDescription], cascade: bool, work: TableWork) -> None:
    """Drop functions, with what calls them if CASCADE is said."""
    found: dict[str, Dependent] = {}
    leaving = {one.oid for one in gone}
    for function in reversed(gone):
        direct = naming(work.image, function.oid, shown(function))
        for one in with_dependents(work.image, direct, leaving):
            found.setdefault(one.text, one)
    if found and not cascade:
        what = f"function {gone[0].signature}" if len(gone) == 1 else SEVERAL
        raise refusal_of(what, (f"{one.text} depends on {one.on}" for one in found.values()))
    if found:
        text, detail = cascade_notice(list(found))
        work.notice(text, detail=detail)
        drop_with([], list(found.values()), work)
    put(work, [one for one in work.image.functions.values() if one.oid not in leaving])
    work.image = work.tables.image = work.image.without(())


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
