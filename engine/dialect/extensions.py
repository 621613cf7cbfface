"""CREATE EXTENSION and DROP EXTENSION."""

from __future__ import annotations

from engine.execution.registry import handles
from engine.execution.work import Work
from sql.errors import SqlError, not_supported
from sql.parse.statements.extensions import CreateExtension, DropExtension

# What every PostgreSQL has, and the one that has the objects of every database here.
PRESENT = ("plpgsql", "antumbra")


@handles(CreateExtension)
def create_extension(statement: CreateExtension, work: Work) -> None:
    """Tell that the extension is there. Raises 42710, and 0A000 for one that can't be made."""
    if statement.name not in PRESENT:
        raise SqlError("0A000", f'extension "{statement.name}" is not available')
    message = f'extension "{statement.name}" already exists'
    if not statement.if_not_exists:
        raise SqlError("42710", message)
    detail = "No function can be written in its language." if statement.name == "plpgsql" else None
    work.notice("42710", f"{message}, skipping", detail=detail)


@handles(DropExtension)
def drop_extension(statement: DropExtension, work: Work) -> None:
    """Drop none. Raises 42704 for an extension that is not there, 0A000 for one that is."""
    for name in statement.names:
        if name in PRESENT:
            raise not_supported(f'DROP EXTENSION "{name}"')
        if not statement.if_exists:
            raise SqlError("42704", f'extension "{name}" does not exist')
        work.notice("00000", f'extension "{name}" does not exist, skipping')
