"""The statements on roles, privileges and owners: which file does which."""

from __future__ import annotations

from engine.dialect.privilege_statements import change_owner, comment_on, grant_privileges, reassign_owned
from engine.dialect.role_statements import RoleWork, run_role_statement
from engine.dialect.schema_statements import create_schema
from sql.parse.statements.declaration import Statement
from sql.parse.statements.grants import GrantPrivileges
from sql.parse.statements.owners import ChangeOwner, CommentOn, DropOwned, ReassignOwned
from sql.parse.statements.roles import AlterRole, CreateRole, DropRole, GrantRole
from sql.parse.statements.schemas import CreateSchema, DropSchema, RenameSchema


def run_access_statement(statement: Statement, work: RoleWork) -> str:
    """Do the statement and return its tag. Raises SqlError."""
    match statement:
        case GrantPrivileges():
            return grant_privileges(statement, work)
        case ChangeOwner():
            return change_owner(statement, work)
        case ReassignOwned():
            return reassign_owned(statement, work)
        case CommentOn():
            return comment_on(statement, work)
        case CreateSchema():
            return create_schema(statement, work)
        case DropOwned() | DropSchema() | RenameSchema():
            raise AssertionError("it needs the tables")
        case CreateRole() | AlterRole() | DropRole() | GrantRole():
            return run_role_statement(statement, work)
    raise AssertionError(statement.text)
