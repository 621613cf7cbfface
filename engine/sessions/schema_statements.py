"""CREATE SCHEMA and DROP SCHEMA: there is schema public, and no other can be made yet.

Enters: statements, who says them. Leaves: notices and PostgreSQL's errors; 0A000 for what would need a second schema.
"""

from __future__ import annotations

from engine.privileges import PUBLIC_SCHEMA_OID
from engine.sessions.checks import denied
from engine.sessions.role_statements import RoleWork, named_role
from sql.errors import SqlError, not_supported
from sql.statements.access import CreateSchema, DropSchema

SYSTEM = ("pg_catalog", "information_schema")
HINT = "All relations are in schema public; leave the schema out of their names."


def create_schema(statement: CreateSchema, work: RoleWork) -> str:
    """Do CREATE SCHEMA for a schema that is there, and return the tag. Raises 42P06, 42939, 42704 and 0A000."""
    owner = None if statement.role is None else named_role(statement.role, work)
    name = statement.name if statement.name is not None else "" if owner is None else owner.name
    if not work.roles.is_superuser(work.current):
        raise denied(f"permission denied for database {work.database}")
    if name.startswith("pg_") and name != "pg_catalog":
        detail = 'The prefix "pg_" is reserved for system schemas.'
        raise SqlError("42939", f'unacceptable schema name "{name}"', detail=detail)
    if name != "public" and name not in SYSTEM:
        raise not_supported(f'a schema such as "{name}" beside public', hint=HINT)
    if not statement.if_not_exists:
        raise SqlError("42P06", f'schema "{name}" already exists')
    work.notice("42P06", f'schema "{name}" already exists, skipping', "NOTICE")
    return "CREATE SCHEMA"


def drop_schema(statement: DropSchema, work: RoleWork) -> str:
    """Do DROP SCHEMA of schemas that are not there, and return the tag. Raises 3F000, 42501, 2BP01 and 0A000."""
    for name in statement.names:
        if name in SYSTEM:
            raise SqlError("2BP01", f"cannot drop schema {name} because it is required by the database system")
        if name == "public":
            owner = work.image.privileges.owner(PUBLIC_SCHEMA_OID)
            if not work.roles.has_privileges_of(work.current, owner):
                raise denied("must be owner of schema public")
            raise not_supported("DROP SCHEMA public", hint=HINT)
        if not statement.if_exists:
            raise SqlError("3F000", f'schema "{name}" does not exist')
        work.notice("00000", f'schema "{name}" does not exist, skipping', "NOTICE")
    return "DROP SCHEMA"
