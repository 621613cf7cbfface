"""The context of a catalog query: the snapshot of the catalog, and the session that asks.

Enters: a snapshot and a session's settings. Leaves: OIDs for names and names for OIDs, with
PostgreSQL's errors and its rules of search_path. Made for one statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from engine.embedded.functions.text import quote_ident as quoted_name
from engine.system_catalog.registered_types import KINDS
from engine.system_catalog.snapshot import Snapshot, whole_table
from engine.system_catalog.static_rows import Row, relations
from sql.catalog.catalog import SessionSettings
from sql.catalog.schemas import SYSTEM, meant_schema
from sql.errors import SqlError
from sql.names.relation_keys import temporary_schema
from sql.parse.grammar.cursor import Cursor
from sql.parse.grammar.types import type_name
from sql.settings.settings import default_value

# Several objects of these kinds may have one name.
OVERLOADED = frozenset({"regproc", "regprocedure", "regoper", "regoperator"})
# The columns of a relation's rows that have their names and schemas.
NAME_COLUMNS = {relation: (column, namespace) for relation, column, namespace, *_ in reversed(KINDS.values())}
UNDEFINED = {"regclass": "42P01", "regtype": "42704", "regnamespace": "3F000", "regrole": "42704"}


@dataclass(frozen=True)
class Names:
    """The names of objects in a snapshot, as one session sees them."""

    snapshot: Snapshot
    settings: SessionSettings

    @cached_property
    def path(self) -> tuple[str, ...]:
        """The schemas of the search_path that exist."""
        return self._existing(self.settings.path)

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The schemas of `path` that the search_path names itself."""
        return self._existing(self.settings.named_path)

    def _existing(self, names: Sequence[str]) -> tuple[str, ...]:
        meant = (meant_schema(name, self.settings) for name in names)
        return tuple(name for name in meant if self.snapshot.schema_oid(name) is not None)

    @cached_property
    def searched(self) -> tuple[str, ...]:
        """The schemas in which an unqualified name is looked for.

        These are the temporary schema, then pg_catalog, then the path, unless the search_path names
        those two.
        """
        if SYSTEM in self.path:
            return self.path
        own = temporary_schema(self.settings.process_id)
        before = (own,) if own in self.path and own not in self.named else ()
        return (*before, SYSTEM, *(name for name in self.path if name not in before))

    # Names of objects.

    def registered(self, kind: str, text: str, position: int | None = None) -> int:
        """Return the OID of the object that `text` names, as the input of regclass and the like
        does.

        Raises 42P01, 42704 and others.
        """
        if text.isascii() and text.isdigit():
            return int(text)
        if text == "-":
            return 0
        found = self.registered_or_none(kind, text)
        if found is None and kind in ("regproc", "regoper") and self._overloads(kind, text):
            what = f'function named "{text}"' if kind == "regproc" else f"operator named {text}"
            raise SqlError("42725", f"more than one {what}", position)
        if found is None:
            code, what = UNDEFINED.get(kind, "42883"), KINDS[kind][3]
            if KINDS[kind][2]:
                self._require_schema(schema_parts(kind, text), position)
            shown = ".".join(name_parts(text)) if kind in ("regclass", "regnamespace", "regrole") else text
            missing = f'"{shown}" does not exist' if what != "operator" else f"does not exist: {shown}"
            raise SqlError(code, f"{what} {missing}", position)
        return found

    def _require_schema(self, parts: tuple[str, ...], position: int | None) -> None:
        if len(parts) > 1 and self.snapshot.schema_oid(meant_schema(parts[-2], self.settings)) is None:
            raise SqlError("3F000", f'schema "{parts[-2]}" does not exist', position)

    def registered_or_none(self, kind: str, text: str) -> int | None:
        """Return the OID of the object that `text` names, None where there is none, or several.

        Raises 42602 for a text that is no name, and 42501.
        """
        if kind == "regtype":
            return self._type(text)
        if kind in OVERLOADED:
            overloads = self._overloads(kind, text)
            return overloads[0] if len(overloads) == 1 else None
        parts = name_parts(text)
        if kind in ("regnamespace", "regrole"):
            return self._found(kind, parts[-1:])
        return self._found(kind, parts)

    def _overloads(self, kind: str, text: str) -> list[int]:
        """Return the OIDs of the functions or operators of a name, and of argument types where
        `kind` has those.
        """
        relation, column, namespace, _ = KINDS[kind]
        written, _, arguments = text.partition("(")
        schema, _, symbol = written.strip().rpartition(".")
        parts = name_parts(written) if relation == "pg_proc" else (*((schema,) if schema else ()), symbol)
        self._require_usable(parts[-2] if len(parts) > 1 else "")
        schemas = (meant_schema(parts[-2], self.settings),) if len(parts) > 1 else self.searched
        places = [self.snapshot.schema_oid(one) for one in schemas]
        rows = [row for row in self.snapshot.called(relation, column, parts[-1]) if row[namespace] in places]
        if kind in ("regprocedure", "regoperator"):
            types = [self._argument(one) for one in arguments.strip().removesuffix(")").split(",") if one.strip()]
            rows = [row for row in rows if types == argument_types(relation, row)]
        return [row["oid"] for row in rows]

    def _argument(self, text: str) -> int | None:
        """Return the OID of an argument's type; 0 for the side that a prefix operator has not."""
        return 0 if text.strip().upper() == "NONE" else self._type(text.strip())

    def _found(self, kind: str, parts: tuple[str, ...]) -> int | None:
        relation, _, namespace, _ = KINDS[kind]
        if not namespace:
            return self.snapshot.named(relation, "", parts[-1])
        self._require_usable(parts[-2] if len(parts) > 1 else "")
        for schema in (meant_schema(parts[-2], self.settings),) if len(parts) > 1 else self.searched:
            found = self.snapshot.named(relation, schema, parts[-1])
            if found is not None:
                return found
        return None

    def _require_usable(self, schema: str) -> None:
        if schema in self.settings.unusable:
            raise SqlError("42501", f"permission denied for schema {schema}")

    def _type(self, text: str) -> int | None:
        try:
            cursor = Cursor(text)
            first = cursor.token.value
            schema = first if cursor.ahead(1).value == "." else ""
            written = type_name(cursor)
        except SqlError:
            return None
        self._require_usable(schema)
        names = (f"_{written.name}", f"{written.name}[]") if written.array else (written.name,)
        for place in (schema,) if schema else self.searched:
            for name in names:
                found = self.snapshot.named("pg_type", place, name)
                if found is not None:
                    return found
        return None

    def type_shown(self, oid: int, modifier: int | None) -> str:
        """Return a type as format_type prints it, with its schema where the path does not lead
        there.
        """
        text, row = self.snapshot.type_text(oid, modifier), self.snapshot.row("pg_type", oid)
        if row is None or self.is_visible("pg_type", oid):
            return text
        return f"{quoted_name(self.snapshot.schema_name(row['typnamespace']) or '')}.{text}"

    def shown_as(self, kind: str, oid: int | None) -> str | None:
        """Return an OID as the output of regclass and the like shows it: a name, with its schema
        where the path does not lead there.
        """
        if oid is None:
            return None
        if oid == 0 and kind != "regnamespace":
            return "-"
        if kind == "regtype":
            return self.type_shown(oid, None) if self.snapshot.row("pg_type", oid) else str(oid)
        relation, column, namespace, _ = KINDS[kind]
        row = self.snapshot.row(relation, oid)
        if row is None:
            return str(oid)
        name = quoted_name(row[column]) if kind not in ("regoper", "regoperator") else row[column]
        if kind == "regprocedure":
            types = ",".join(self.snapshot.type_text(number, None) or "???" for number in row["proargtypes"])
            name += f"({types})"
        if kind == "regoperator":
            sides = (self.snapshot.type_text(row[one], None) if row[one] else "NONE" for one in ("oprleft", "oprright"))
            name += f"({','.join(sides)})"
        if namespace and not self.is_visible(relation, oid):
            name = f"{quoted_name(self.snapshot.schema_name(row[namespace]) or '')}.{name}"
        return name

    def is_visible(self, relation: str, oid: int) -> bool | None:
        """Tell whether the object's bare name means it in this session.

        None where there is no such object.
        """
        row = self.snapshot.row(relation, oid)
        if row is None:
            return None
        column, namespace = NAME_COLUMNS[relation]
        for schema in self.searched:
            if self.snapshot.schema_oid(schema) == row[namespace]:
                return True
            if relation != "pg_proc" and self.snapshot.named(relation, schema, row[column]) is not None:
                return False
        return False


@dataclass(frozen=True)
class SessionContext(Names):
    """A snapshot as one session's statement sees it.

    Attributes:
        role: the oid of the role that the session acts as.
        shown: the rows of SHOW ALL.
        activity: the rows of a relation that are this session's own, None for other relations.
        transaction_number: the number of the transaction; None where it has none yet and need not
            have one, unless told to assign it.
        now_us: the time of the transaction, in microseconds since 1970.
        table_bytes: the bytes of a table by its name in the file, as of the last commit.
        index_bytes: about the bytes of the index over columns of such a table.
        folder_bytes: the bytes of all files of the data folder.
    """

    role: int
    shown: Callable[[], Sequence[Sequence[str]]]
    activity: Callable[[str], list[dict[str, Any]] | None]
    transaction_number: Callable[[bool], int | None]
    now_us: int
    table_bytes: Callable[[str], int]
    index_bytes: Callable[[str, Sequence[int]], int]
    folder_bytes: Callable[[], int]

    def setting(self, name: str) -> str | None:
        """Return a setting as SHOW prints it, None where there is none."""
        known = {row[0].lower(): row[1] for row in self.shown()}
        return known.get(name.lower(), default_value(name.lower()))

    def table(self, schema: str, name: str) -> pa.Table:
        """Return the rows of a relation of the catalog, with its hidden columns."""
        described = relations()[schema, name]
        rows = self.activity(name) if schema == SYSTEM else None
        return self.snapshot.table(described) if rows is None else whole_table(described, rows)


def argument_types(relation: str, row: Row) -> list[int]:
    """Return the types of the arguments of a function, or of the two sides of an operator."""
    return [row["oprleft"], row["oprright"]] if relation == "pg_operator" else list(row["proargtypes"])


def schema_parts(kind: str, text: str) -> tuple[str, ...]:
    """Return the parts of a name with arguments or a modifier after it, none for what is no name
    of an identifier. Raises 42602 for a class.
    """
    if kind == "regclass":
        return name_parts(text)
    with suppress(SqlError):
        return name_parts(re.split(r"[(\[]", text)[0].strip())
    return ()


def name_parts(text: str) -> tuple[str, ...]:
    """Return the parts of a dotted name as text, folded unless quoted. Raises 42602."""
    try:
        cursor = Cursor(text)
        parts = [cursor.label()]
        while cursor.accept_operator("."):
            parts.append(cursor.label())
        ended = cursor.token.kind == "end"
    except SqlError:
        ended = False
    if not ended:
        raise SqlError("42602", "invalid name syntax")
    return tuple(parts)
