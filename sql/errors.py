"""The client's failures: one exception that carries every field of a PostgreSQL ErrorResponse.

Raised anywhere between the socket and the rings for what a client did wrong; never for our own bugs (those are asserts).
Must not know of sockets or of the rooms that raise it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sql.names.relation_keys import shown

# Of a transaction that another one has got in the way of.
CONFLICT = "40001"
RETRY_HINT = "The transaction might succeed if retried."


@dataclass
class SqlError(Exception):
    """A failure that is reported to the client.

    sqlstate: five characters (PostgreSQL's appendix A). position: 1-based character offset in the statement's text, or None.
    table_name, column_name, constraint_name: of the object that a constraint error is about. routine: PostgreSQL's function that reports
    it, where a driver tells by it what to do. Texts may have keys of relations in them, which are sent as names.
    read_oid: of the relation whose values are in `detail`, 0: there are none; detail_without: what those are told who may not read it.
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
