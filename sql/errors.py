"""The failures of a client: one exception that carries every field of a PostgreSQL ErrorResponse.

The exception is raised anywhere between the socket and the rings for a client's mistake; never for
our own bugs (those are asserts). Must not know of sockets or of the rooms that raise it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sql.names.relation_keys import shown

# The error of a transaction that another one has got in the way of.
CONFLICT = "40001"
RETRY_HINT = "The transaction might succeed if retried."


@dataclass
class SqlError(Exception):
    """A failure that is reported to the client.

    Texts may have keys of relations in them, which are sent as names.

    Attributes:
        sqlstate: five characters (PostgreSQL's appendix A).
        position: 1-based character offset in the statement's text, or None.
        table_name, column_name, constraint_name: of the object that a constraint error is about.
        routine: PostgreSQL's function that reports the error, for drivers that tell by it what to
            do.
        read_oid: of the relation whose values are in `detail`, 0 where there are none.
        detail_without: the detail for a role that may not read that relation.
    """

    sqlstate: str
    message: str
    position: int | None = None
    detail: str | None = None
    hint: str | None = None
    context: str | None = None
    severity: str = "ERROR"
    table_name: str | None = None
    column_name: str | None = None
    constraint_name: str | None = None
    routine: str | None = None
    read_oid: int = 0
    detail_without: str | None = None

    def __post_init__(self) -> None:
        if self.sqlstate == CONFLICT and self.hint is None:
            self.hint = RETRY_HINT

    def __str__(self) -> str:
        return f"{self.sqlstate}: {shown(self.message)}"


def not_supported(what: str, position: int | None = None, hint: str | None = None) -> SqlError:
    """Return the 0A000 error that names a construct that Antumbra does not have yet."""
    return SqlError("0A000", f"{what} is not supported yet", position=position, hint=hint)
