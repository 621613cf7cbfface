"""CREATE, ALTER and DROP SCHEMA.

Enters: statements, the role that says them. Leaves: the changed image, notices, PostgreSQL's
errors. A schema is a name with an oid in the image, and the beginning of the keys of its relations.
"""

from __future__ import annotations

from engine.ddl.schemas import drop_schemas, rename_schema, with_schema
from engine.dialect.access import RoleWork, changes_access, named_role, role_work, tell
from engine.dialect.privileges import require_owner, schema_target
from engine.execution.defining import with_tables
from engine.execution.registry import handles
from engine.execution.rights import denied
from engine.execution.work import Work
from sql.errors import SqlError
from sql.parse.statements.schemas import CreateSchema, DropSchema, RenameSchema

SYSTEM = ("pg_catalog", "information_schema", "pg_toast")


@changes_access(CreateSchema)
def create_schema(statement: CreateSchema, work: RoleWork) -> None:
    """Make a schema. Raises 42P06, 42939, 42704 and 42501."""
    owner = None if statement.role is None else named_role(statement.role, work)
    name = statement.name if statement.name is not None else "" if owner is None else owner.name
    if not work.roles.is_superuser(work.current):
        # Nobody was given CREATE on the database: there is no GRANT ON DATABASE.
        raise denied(f"permission denied for database {work.database}")
    _require_usual(name)
    if name in work.image.schemas or name in SYSTEM:
        if not statement.if_not_exists:
            raise SqlError("42P06", f'schema "{name}" already exists')
        work.notice("42P06", f'schema "{name}" already exists, skipping', "NOTICE")
        return
    work.image = with_schema(work.image, name, work.current if owner is None else owner.oid)


@handles(RenameSchema)
async def change_name(statement: RenameSchema, work: Work) -> None:
    """Give a schema another name."""
    rename_checked(statement, role_work(work.image, work))
    await with_tables(work, rename_schema, statement.name, statement.new_name)


@handles(DropSchema)
async def drop(statement: DropSchema, work: Work) -> None:
    """Drop schemas, with CASCADE all objects in them."""
    access = role_work(work.image, work)
    names = dropped_schemas(statement, access)
    tell(access, work)
    await with_tables(work, drop_schemas, names, statement.cascade)


def rename_checked(statement: RenameSchema, work: RoleWork) -> None:
    """Raise 3F000, 42P06, 42939 and 42501 for a schema that can't be renamed."""
    name, new_name = statement.name, statement.new_name
    if name in SYSTEM:
        raise denied(f"must be superuser to rename schema {name}")
    if name not in work.image.schemas:
        raise SqlError("3F000", f'schema "{name}" does not exist')
    if new_name in work.image.schemas or new_name in SYSTEM:
        raise SqlError("42P06", f'schema "{new_name}" already exists')
    require_owner(schema_target(name, work.image), work)
    if not work.roles.is_superuser(work.current):
        raise denied(f"permission denied for database {work.database}")
    _require_usual(new_name)


def dropped_schemas(statement: DropSchema, work: RoleWork) -> list[str]:
    """Return the schemas that are to be dropped. Raises 3F000, 42501 and 2BP01."""
    found = []
    for name in statement.names:
        if name in SYSTEM:
            raise SqlError("2BP01", f"cannot drop schema {name} because it is required by the database system")
        if name in work.image.schemas:
            require_owner(schema_target(name, work.image), work)
            found.append(name)
        elif statement.if_exists:
            work.notice("00000", f'schema "{name}" does not exist, skipping', "NOTICE")
        else:
            raise SqlError("3F000", f'schema "{name}" does not exist')
    return list(dict.fromkeys(found))


def _require_usual(name: str) -> None:
    if name.startswith("pg_") and name not in SYSTEM:
        detail = 'The prefix "pg_" is reserved for system schemas.'
        raise SqlError("42939", f'unacceptable schema name "{name}"', detail=detail)
