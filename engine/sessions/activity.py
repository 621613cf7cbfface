"""pg_stat_activity: who is connected, and what each session does.

Enters: the connections of a server. Leaves: rows of the catalog's relation; what is not known of a session is NULL in them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from engine.catalog import CatalogImage
    from engine.connection import Connection
    from engine.sessions.session import Session

STATES = {"I": "idle", "T": "idle in transaction", "E": "idle in transaction (aborted)"}


def activity_rows(connections: Iterable[Connection], image: CatalogImage) -> list[dict[str, Any]]:
    """Return a row for each session, as it is just now. On the event loop."""
    names = {role.oid: name for name, role in image.roles.by_name.items()}
    rows = []
    for connection in connections:
        session = cast("Session | None", connection.session)
        if session is not None:
            rows.append({
                "pid": connection.process_id, "datname": session.settings.database, "usesysid": connection.role,
                "usename": names.get(connection.role), "application_name": session.settings.show("application_name"),
                "client_addr": connection.address, "state": STATES[session.block.status] if connection.is_idle else "active",
                "backend_type": "client backend",
            })  # fmt: skip
    return rows
