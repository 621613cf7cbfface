"""Rows of pg_stat_activity and pg_locks: who is connected, what each session does and holds.

Enters: the connections of a server. Leaves: rows of the catalog's relations; facts that are not
known of a session are NULL in them. A session notes its text and two times as it goes; an INSERT
that is answered in one go notes the packet and its commit, which know both.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from engine.sessions.session_registry import ClientConnection
from engine.system_catalog.object_oids import DATABASES
from engine.system_catalog.time_zones import moment
from engine.tables.locks import Key

if TYPE_CHECKING:
    from engine.catalog.image import CatalogImage
    from engine.commit.row_commit import RowCommit
    from engine.sessions.session import Session
    from views.model.protocols import Clock

STATES = {"I": "idle", "T": "idle in transaction", "E": "idle in transaction (aborted)"}
QUERY = ord("Q")
HEAD_BYTES = 5
# The place of the name in a Bind to the unnamed portal.
NAME_OFFSET = 6
# The bytes of a text that are shown, as track_activity_query_size has it.
TEXT_BYTES_MAX = 1024
# pg_class: all definitions are one object to lock.
CLASSES = 1259
# Of the numbers of advisory locks.
WORD_BITS = 32
WORD = (1 << WORD_BITS) - 1
HIDDEN = "<insufficient privilege>"


class Doing:
    """The present or last activity of one session.

    Attributes:
        packet: of the last INSERT that was answered in one go, with its commit.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.backend_us = clock.now_us()
        self._text = ""
        self._started_us = self._changed_us = self.backend_us
        self.packet: tuple[bytes, RowCommit] | None = None
        self.waits_for_definitions = self.waits_for_turn = False

    def begin(self, text: str) -> None:
        """Note that a statement begins."""
        self._text, self.packet = text, None
        self._started_us = self._changed_us = self._clock.now_us()

    def end(self) -> None:
        """Note that the client is told to go on."""
        self._changed_us = self._clock.now_us()

    def shown(self, session: Session) -> tuple[str, int, int]:
        """Return the text, when it began, and when the state was another one.

        Microseconds since 1970.
        """
        if self.packet is None:
            return clipped(self._text), self._started_us, self._changed_us
        data, commit = self.packet
        committed_us = int(commit.arrival[0])
        if data[0] == QUERY:
            return clipped(data[HEAD_BYTES:-1].decode()), committed_us, committed_us
        name = data[NAME_OFFSET : data.find(0, NAME_OFFSET)].decode(errors="replace")
        prepared = session.names.statements.get(name)
        return clipped("" if prepared is None else prepared.shown_text), committed_us, committed_us


def clipped(text: str) -> str:
    """Return the part of a text that is shown."""
    return text.encode()[:TEXT_BYTES_MAX].decode(errors="ignore")


def sessions_of(connections: Iterable[ClientConnection]) -> list[tuple[ClientConnection, Session]]:
    """Return the connections that have a session, with the session. On the event loop."""
    found = ((one, cast("Session | None", one.session)) for one in connections)
    return [(one, session) for one, session in found if session is not None]


def activity_rows(connections: Iterable[ClientConnection], image: CatalogImage, role: int) -> list[dict[str, Any]]:
    """Return a row for each session, as it is just now and as role `role` may see it.

    On the event loop.
    """
    names = {one.oid: name for name, one in image.roles.by_name.items()}
    rows: list[dict[str, Any]] = []
    for connection, session in sessions_of(connections):
        if not image.roles.has_privileges_of(role, connection.role):
            rows.append({
                "pid": connection.process_id, "datid": DATABASES.get(session.settings.database), "datname": session.settings.database,
                "usesysid": connection.role, "usename": names.get(connection.role), "query": HIDDEN,
            })  # fmt: skip
            continue
        text, started_us, changed_us = session.doing.shown(session)
        transaction = session.block.open
        waits = waited_for(session, connection)
        rows.append({
            "pid": connection.process_id, "datid": DATABASES.get(session.settings.database), "datname": session.settings.database,
            "usesysid": connection.role, "usename": names.get(connection.role),
            "application_name": session.settings.show("application_name"), "client_addr": connection.address,
            "client_port": connection.peer_port, "backend_start": moment(session.doing.backend_us),
            "xact_start": None if transaction is None else moment(transaction.now_us), "query_start": moment(started_us),
            "state_change": moment(changed_us), "wait_event_type": waits and waits[0], "wait_event": waits and waits[1],
            "state": STATES[session.block.status] if connection.is_idle else "active", "query": text,
            "backend_type": "client backend",
        })  # fmt: skip
    return rows


def waited_for(session: Session, connection: ClientConnection) -> tuple[str, str] | None:
    """Return the kind and the name of the event that a session waits for, None while the session
    works.
    """
    if connection.is_idle:
        return "Client", "ClientRead"
    if not connection.may_write.is_set():
        return "Client", "ClientWrite"
    if session.doing.waits_for_turn:
        return "IPC", "WorkerTurn"
    return ("Lock", "object") if session.doing.waits_for_definitions else None


def lock_rows(connections: Iterable[ClientConnection]) -> list[dict[str, Any]]:
    """Return what sessions hold and wait for: each transaction itself, the right to change
    definitions, locks on tables, advisory locks.

    One session at a time has the right to change definitions.
    """
    rows = []
    sessions = sessions_of(connections)
    told = sessions[0][1].backend.locks.locks.told()[0] if sessions else []
    for connection, session in sessions:
        transaction = session.block.open
        own, database = f"{connection.process_id}/1", DATABASES.get(session.settings.database)
        common = {
            "pid": connection.process_id, "virtualtransaction": own, "mode": "ExclusiveLock", "fastpath": False,
            "database": None, "granted": True,
        }  # fmt: skip
        rows += [
            common | lock_place(key, database) | {"mode": f"{mode.title().replace(' ', '')}Lock", "granted": is_held}
            for process_id, key, mode, is_held in told
            if process_id == connection.process_id
        ]
        if transaction is None:
            continue
        rows.append(common | {"locktype": "virtualxid", "virtualxid": own, "fastpath": True})
        if transaction.holds_ddl_lock or session.doing.waits_for_definitions:
            place = {"locktype": "object", "database": database, "classid": CLASSES, "objid": 0, "objsubid": 0}
            rows.append(common | place | {"granted": transaction.holds_ddl_lock})
    return rows


def lock_place(key: Key, database: int | None) -> dict[str, Any]:
    """Return the columns that say what is locked: a table, or one or two numbers."""
    kind, *numbers = key
    if kind == "table":
        return {"locktype": "relation", "database": database, "relation": numbers[0]}
    # One number of 64 bits, or two of 32.
    both = int(numbers[0]) if len(numbers) == 1 else int(numbers[0]) << WORD_BITS | int(numbers[1]) & WORD
    place = {"classid": both >> WORD_BITS & WORD, "objid": both & WORD, "objsubid": len(numbers)}
    return {"locktype": kind, "database": database} | place


def live_rows(session: Session, image: CatalogImage, role: int) -> dict[str, list[dict[str, Any]]]:
    """Return the rows that are only true at this moment. On the event loop."""
    neighbours = session.connection.neighbours.connections()
    return {
        "pg_stat_activity": activity_rows(neighbours, image, role),
        "pg_locks": lock_rows(neighbours),
        "blocking": [{"pid": pid, "by": by} for pid, by in session.backend.locks.locks.told()[1].items()],
        "server": [{"started": moment(session.shared.started_us)}],
    }
