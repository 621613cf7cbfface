"""The names of a session: its prepared statements, and its portals, among which SQL's cursors are.

Enters: names as messages and statements give them. Leaves: statements and portals. This file
decides which of them end with a transaction.
"""

from __future__ import annotations

from typing import Any

from engine.execution.kept import Kept, portal_bytes, require_room, statement_bytes
from engine.execution.prepared import Portal, Prepared
from sql.errors import SqlError

# Of `Names.plans`.
PLANS_BYTES_MAX = 4 << 20


class Names:
    """The names of one session.

    Attributes:
        plans: statements of texts that come again, without a name; they make room for all others.
        bytes_max: the bytes of all values, but for rows of portals.
    """

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self.statements: Kept[Prepared] = Kept()
        self.portals: Kept[Portal] = Kept()
        self.plans: Kept[Prepared] = Kept()
        self._held: frozenset[str] = frozenset()

    def drop_unnamed(self) -> None:
        """Forget the unnamed statement and portal, as a Query does."""
        self.statements.pop("", None)
        self.portals.pop("", None)

    def drop(self, kind: str, name: str) -> None:
        """Forget a statement ('S') or a portal, if there is one of the name."""
        (self.statements if kind == "S" else self.portals).pop(name, None)

    def statement(self, name: str) -> Prepared:
        """Return a prepared statement. Raises 26000."""
        prepared = self.statements.get(name)
        if prepared is None:
            shown = f'prepared statement "{name}"' if name else "unnamed prepared statement"
            raise SqlError("26000", f"{shown} does not exist")
        return prepared

    def portal(self, name: str, word: str = "portal") -> Portal:
        """Return a portal. Raises 34000, whose text calls the portal `word`."""
        portal = self.portals.get(name)
        if portal is None:
            raise SqlError("34000", f'{word} "{name}" does not exist')
        return portal

    def keep_statement(self, name: str, prepared: Prepared) -> None:
        """Give a statement its name. Raises 42P05 when another statement has it, and 53200."""
        if name in self.statements:
            raise SqlError("42P05", f'prepared statement "{name}" already exists')
        if name:
            prepared.kept_bytes = statement_bytes(name, prepared.shown_text)
            self._require_room(prepared.kept_bytes)
        self.statements[name] = prepared

    def keep_portal(self, name: str, portal: Portal) -> None:
        """Give a portal its name, which is free.

        Raises 08P01 for formats of columns that the portal does not have, and 53200.
        """
        portal.check_result_formats()
        if name:
            portal.message = portal.message.alone()
            portal.kept_bytes = portal_bytes(name, portal.message.payload, len(portal.values))
            # A portal of a statement that has a name of its own shares its text.
            if portal.prepared.kept_bytes == 0:
                portal.kept_bytes += statement_bytes("", portal.prepared.shown_text)
            self._require_room(portal.kept_bytes)
        self.portals[name] = portal

    def note_rows(self, portal: Portal, bytes_count: int) -> bool:
        """Count the rows that a portal has in memory, if it still has its name.

        False if there is no room for them.
        """
        name, more = portal.message.portal, bytes_count - portal.rows_bytes
        if self.portals.get(name) is not portal:
            return True
        # One half is for statements and portals without rows.
        if more > 0 and more > self._room(more, self._bytes_max // 2):
            return False
        self.portals.grow(name, more)
        portal.rows_bytes = bytes_count
        return True

    def keep_plan(self, text: str, plan: Prepared) -> None:
        """Keep the statement of a text, if there is room for several of its size."""
        plan.kept_bytes = statement_bytes(text, plan.text)
        taken = self.statements.bytes_count + self.portals.bytes_count
        bytes_max = min(PLANS_BYTES_MAX, self._bytes_max - taken)
        if plan.kept_bytes > bytes_max // 2:
            return
        if self.plans.bytes_count + plan.kept_bytes > bytes_max:
            self.plans.clear()
        self.plans[text] = plan

    def _room(self, more: int, bytes_max: int) -> int:
        """Return the bytes that are left of so many, without the plans if they are in the way."""
        left = bytes_max - self.statements.bytes_count - self.portals.bytes_count
        if self.plans and more > left - self.plans.bytes_count:
            self.plans.clear()
        return left

    def _require_room(self, more: int) -> None:
        require_room(self._bytes_max - self._room(more, self._bytes_max), more, self._bytes_max)

    def require_free_portal(self, name: str) -> None:
        """Raise 42P03 when a portal other than the unnamed one has this name."""
        if name and name in self.portals:
            raise SqlError("42P03", f'cursor "{name}" already exists')

    def deallocate(self, name: str | None) -> None:
        """Do DEALLOCATE name, or ALL."""
        if name is None:
            self.statements.clear()
        elif self.statements.pop(name, None) is None:
            raise SqlError("26000", f'prepared statement "{name}" does not exist')

    def end_transaction(self, committed: bool) -> None:
        """End the portals of a transaction: only cursors WITH HOLD of a transaction that has
        committed stay.
        """
        if not self.portals:
            return
        self._held = frozenset(
            name for name, portal in self.portals.items() if portal.holds and (committed or name in self._held)
        )
        self.portals.keep(self._held)

    def keep_portals(self, names: frozenset[str]) -> None:
        """Forget the portals that were made after a savepoint, when there were `names`."""
        for name in self.portals.keys() - names - self._held:
            del self.portals[name]

    def statement_rows(self) -> list[dict[str, Any]]:
        """Return the rows of pg_prepared_statements."""
        return [
            {
                "name": name,
                "statement": prepared.shown_text,
                "prepare_time": prepared.made_us,
                "parameter_types": [kind.oid for kind in prepared.parameter_types],
                "from_sql": prepared.from_sql,
                "generic_plans": 0,
                "custom_plans": 0,
            }
            for name, prepared in self.statements.items()
            if name
        ]

    def cursor_rows(self) -> list[dict[str, Any]]:
        """Return the rows of pg_cursors."""
        return [
            {
                "name": name,
                "statement": portal.prepared.shown_text,
                "is_holdable": portal.holds,
                "is_binary": portal.result_formats == (1,),
                "is_scrollable": portal.scroll is not False,
                "creation_time": portal.prepared.made_us,
            }
            for name, portal in self.portals.items()
            if name
        ]

    def close_portal(self, name: str | None) -> None:
        """Do CLOSE name, or ALL. Raises 34000."""
        if name is None:
            self.portals.clear()
        else:
            self.portal(name, "cursor")
            del self.portals[name]
