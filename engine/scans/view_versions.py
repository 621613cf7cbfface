"""The kept versions of views, and what has changed since one of them.

Enters: rows of views as statements read them. Leaves: numbers of versions, and rows of changes. A
version is kept once somebody has asked for its number; the oldest go first. Numbers are
microseconds since 1970 at which the version was asked for, and rise, so that none from before a
restart means another version. Must not read views.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.embedded.query_engine import QueryEngine
from engine.scans.subscriptions import AFTER, BEFORE, compared
from sql.bind.queries.view_versions import changes_schema
from sql.errors import SqlError
from sql.tree.expressions import Call, Column, WindowCall
from sql.tree.relations import Filter, Join, OutputColumn, Project, Relation, Scan, Schema, Window
from sql.types.datatypes import BOOL, INT8
from views.model.arrow_schema import arrow_schema
from views.model.protocols import Clock

PLACE = OutputColumn("place", INT8)
SAME = OutputColumn("same", INT8)


@dataclass(frozen=True, eq=False)
class KeptVersion:
    """The rows of a view at one moment.

    Attributes:
        of: the view's oid, and who reads it where that changes its rows.
    """

    of: Hashable
    number: int
    schema: Schema
    table: pa.Table


class ViewVersions:
    """The versions of one server's views.

    Arguments:
        versions_max: of one view that are kept. bytes_max: of the rows of all.
    """

    def __init__(self, clock: Clock, versions_max: int, bytes_max: int) -> None:
        self._clock = clock
        self._versions_max = versions_max
        self._bytes_max = bytes_max
        self._lock = threading.Lock()
        # In order of their numbers.
        self._kept: dict[int, KeptVersion] = {}
        self._newest = 0

    def number(self, of: Hashable, schema: Schema, table: pa.Table) -> int:
        """Return the number of the version with these rows, which is kept from now on."""
        known = [one for one in tuple(self._kept.values()) if one.of == of and one.schema == schema]
        for one in reversed(known):
            if one.table is table or (one is known[-1] and one.table.equals(table)):
                return one.number
        with self._lock:
            self._newest = max(self._newest + 1, self._clock.now_us())
            self._kept[self._newest] = KeptVersion(of, self._newest, schema, table)
            self._forget(of)
            return self._newest

    def find(self, of: Hashable, schema: Schema, number: int, view: str) -> pa.Table:
        """Return the rows of a version. Raises 55000 where it is not kept."""
        found = self._kept.get(number)
        if found is not None and found.of == of and found.schema == schema:
            return found.table
        kept = [one.number for one in tuple(self._kept.values()) if one.of == of and one.schema == schema]
        detail = f"The oldest version that is kept is {kept[0]}." if kept else "No version of it is kept."
        hint = "version_of() tells a version and keeps it; kept_versions_max and kept_versions_bytes bound how many."
        raise SqlError("55000", f'version {number} of view "{view}" is not kept', detail=detail, hint=hint)

    def _forget(self, of: Hashable) -> None:
        """Drop versions beyond the limits, the oldest first."""
        own = [one.number for one in self._kept.values() if one.of == of]
        for number in own[: max(len(own) - self._versions_max, 0)]:
            del self._kept[number]
        sizes = {number: one.table.nbytes for number, one in self._kept.items()}
        bytes_count = sum(sizes.values())
        for number, size in sizes.items():
            if bytes_count <= self._bytes_max:
                break
            del self._kept[number]
            bytes_count -= size


def changes(
    engine: QueryEngine,
    schema: Schema,
    keys: tuple[int, ...] | None,
    before: pa.Table,
    after: pa.Table,
    token: Hashable,
) -> pa.Table:
    """Return what has changed, with the columns of `changes_schema`. Raises 57014.

    keys: the places of columns by which rows are matched, None: all, and equal rows are counted.
    """
    if before is after:
        return arrow_schema(changes_schema(schema, keys)).empty_table()
    old, new = changed_rows(engine, schema, keys, before, after, token)
    return told_changes(schema, keys, before, after, old, new)


def told_changes(
    schema: Schema, keys: tuple[int, ...] | None, before: pa.Table, after: pa.Table, old: pa.Array, new: pa.Array
) -> pa.Table:
    """Return the changes between the rows at some places, with the columns of `changes_schema`.

    old, new: places as `changed_rows` returns them.
    """
    told = range(len(schema)) if keys is None else keys
    names = pc.if_else(pc.is_null(old), "insert", pc.if_else(pc.is_null(new), "delete", "update"))
    both, shown = pa.concat_tables([after, before]), pc.coalesce(new, pc.add(old, after.num_rows))
    columns = [names, *(both.column(key).take(shown) for key in told)]
    for place in range(len(schema)):
        if place not in told:
            columns += [before.column(place).take(old), after.column(place).take(new)]
    return pa.Table.from_arrays(columns, schema=arrow_schema(changes_schema(schema, keys)))


def changed_rows(
    engine: QueryEngine, told: Schema, keys: tuple[int, ...] | None, before: pa.Table, after: pa.Table, token: Hashable
) -> tuple[pa.Array, pa.Array]:
    """Return the places of rows that have changed, in the order of both tables: NULL where a table
    has no row with the key of a row of the other one.

    keys: None: rows are matched by all columns, each of several equal ones with another one.
    """
    kinds, tables = compared(told, (before, after))
    schema = (*kinds, SAME, PLACE)
    inputs = {name: _placed(rows, schema) for name, rows in zip((BEFORE, AFTER), tables, strict=True)}
    left, right = (numbered(name, schema, keys) for name in (BEFORE, AFTER))
    schema = left.schema
    width, by = len(schema), range(len(told)) if keys is None else keys

    def pair(at: int) -> tuple[Column, Column]:
        return Column(at, "", schema[at].type), Column(width + at, "", schema[at].type)

    # That one of equal rows which it is, or 0 in all.
    same = pair(width - 1) if keys is None else pair(len(told))
    alike = [Call("eq", same, BOOL), *(Call("is_not_distinct", pair(key), BOOL) for key in by)]
    other = [Call("is_distinct", pair(place), BOOL) for place in range(len(told)) if place not in by]
    # The place of a row that is not there is NULL.
    missing = [Call("is_null", (place,), BOOL) for place in pair(len(told) + 1)]
    condition = alike[0] if len(alike) == 1 else Call("and", tuple(alike), BOOL)
    changed = Filter(Join(left, right, "full", condition), Call("or", (*missing, *other), BOOL))
    places = tuple(zip((BEFORE, AFTER), pair(len(told) + 1), strict=True))
    found = engine.run(Project(changed, places), inputs, token)
    return found.column(0).combine_chunks(), found.column(1).combine_chunks()


def numbered(name: str, schema: Schema, keys: tuple[int, ...] | None) -> Relation:
    """Return one of the compared tables, without keys with numbers of its equal rows at the end."""
    rows = Scan(name, "rows", schema)
    if keys is not None:
        return rows
    values = tuple(Column(place, one.name, one.type) for place, one in enumerate(schema[:-2]))
    return Window(rows, (("number", WindowCall("row_number", (), INT8, values)),))


def _placed(rows: pa.Table, schema: Schema) -> pa.Table:
    """Return rows with a column of zeros, so that rows without keys match, and their places."""
    added = [pa.array(np.zeros(rows.num_rows, dtype=np.int64)), pa.array(np.arange(rows.num_rows))]
    return pa.Table.from_arrays([*rows.columns, *added], schema=arrow_schema(schema))
