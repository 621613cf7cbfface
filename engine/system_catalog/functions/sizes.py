"""Functions of sizes: the bytes of relations and of the database, and sizes as people write them.

A relation's bytes are those of its rows: a stream's ring and string buffers, a continuous view's
states, a table's blocks in the file and rows that are not in a block yet, as of the last commit. An
index has keys and the numbers of their rows.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING

from engine.catalog.image import Entry, StreamEntry, TableEntry, states_of
from engine.system_catalog.catalog_functions import catalog_function
from engine.system_catalog.functions.privileges import object_oid
from sql.errors import SqlError

if TYPE_CHECKING:
    from engine.system_catalog.session_context import SessionContext

SIZE_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")
SIZE_LIMIT = 10 * 1024
SIZE_EXPONENTS = {"b": 0, **{unit.lower(): index for index, unit in enumerate(SIZE_UNITS)}}
SIZE_TEXT = re.compile(r"\s*+([-+]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][-+]?\d++)?+)\s*+(\S*+)\s*+")
FORKS = ("main", "fsm", "vm", "init")


@catalog_function
def pg_table_size(context: SessionContext, oid: int | None) -> int | None:
    """Return the bytes of a relation without its indexes; NULL for no relation."""
    if oid is None or context.snapshot.row("pg_class", oid) is None:
        return None
    entry = context.snapshot.image.by_oid(oid)
    return index_bytes(context, "indexrelid", oid) if entry is None else bytes_of(context, entry)


@catalog_function
def pg_relation_size(context: SessionContext, oid: int | None, fork: str | None) -> int | None:
    """Return the bytes of a relation, all of which are in the fork main. Raises 22023."""
    if fork not in (None, *FORKS):
        hint = 'Valid fork names are "main", "fsm", "vm", and "init".'
        raise SqlError("22023", "invalid fork name", hint=hint)
    found = pg_table_size(context, oid)
    return found if fork in (None, "main") or found is None else 0


@catalog_function
def pg_indexes_size(context: SessionContext, oid: int | None) -> int | None:
    """Return the bytes of the indexes of a relation; NULL for no relation."""
    if oid is None or context.snapshot.row("pg_class", oid) is None:
        return None
    return index_bytes(context, "indrelid", oid)


@catalog_function
def pg_total_relation_size(context: SessionContext, oid: int | None) -> int | None:
    """Return the bytes of a relation with its indexes; NULL for no relation."""
    own = pg_table_size(context, oid)
    return None if own is None or oid is None else own + index_bytes(context, "indrelid", oid)


def index_bytes(context: SessionContext, column: str, oid: int) -> int:
    """Return the bytes of the indexes whose row in pg_index has an oid in a column.

    An index that holds no key is a name alone.
    """
    total = 0
    for row in context.snapshot.rows("pg_index"):
        if row[column] == oid and row["indisunique"]:
            entry = context.snapshot.image.by_oid(row["indrelid"])
            if isinstance(entry, TableEntry):
                total += context.index_bytes(entry.physical, row["indkey"][: row["indnkeyatts"]])
    return total


def bytes_of(context: SessionContext, entry: Entry) -> int:
    """Return the bytes of a relation's rows; 0 for a relation that has none of its own."""
    if isinstance(entry, StreamEntry):
        ring = entry.stream.ring
        return ring.bytes_count + sum(ring.string_bytes_counts)
    if isinstance(entry, TableEntry):
        return context.table_bytes(entry.physical)
    return sum(one.chain.state.bytes_count for one in states_of(entry))


@catalog_function
def pg_database_size(context: SessionContext, database: str | None) -> int | None:
    """Return the bytes of the data folder's files, and of what streams and views have in memory.

    Raises 3D000.
    """
    return whole_size(context, "database", database)


@catalog_function
def pg_tablespace_size(context: SessionContext, tablespace: str | None) -> int | None:
    """Return the bytes of all relations, which are in pg_default. Raises 42704."""
    return whole_size(context, "tablespace", tablespace)


def whole_size(context: SessionContext, kind: str, name: str | None) -> int | None:
    """Return the bytes of a database or tablespace; NULL for the oid of none."""
    if name is None:
        return None
    oid = object_oid(context, kind, name)
    row = context.snapshot.row(f"pg_{kind}", oid)
    if row is None:
        return None
    if row.get("spcname") == "pg_global" or row.get("datistemplate"):
        return 0
    entries = context.snapshot.image.entries.values()
    memory = sum(bytes_of(context, entry) for entry in entries if not isinstance(entry, TableEntry))
    return context.folder_bytes() + memory


@catalog_function
def pg_size_pretty(_: SessionContext, size: str | None) -> str | None:
    """Return a size with its unit: the largest unit that leaves few enough."""
    if size is None:
        return None
    value = Decimal(size)
    if not value.is_finite():
        return f"{size} {SIZE_UNITS[-1]}"
    if abs(value) < SIZE_LIMIT:
        return f"{size} bytes"
    # As in PostgreSQL: a bit more than is shown is kept, to round the half away from zero.
    halves, unit = int(abs(value)) // 512, 1
    while halves >= SIZE_LIMIT * 2 - 1 and unit < len(SIZE_UNITS) - 1:
        halves //= 1024
        unit += 1
    return f"{'-' if value < 0 else ''}{(halves + 1) // 2} {SIZE_UNITS[unit]}"


@catalog_function
def pg_size_bytes(_: SessionContext, text: str | None) -> int | None:
    """Return the bytes of a size with a unit. Raises 22023."""
    if text is None:
        return None
    match = SIZE_TEXT.fullmatch(text)
    unit = "" if match is None else (match[2] or "bytes").lower()
    if match is None or unit not in SIZE_EXPONENTS:
        detail = None if match is None else f'Invalid size unit: "{match[2]}".'
        hint = None if match is None else 'Valid units are "bytes", "B", "kB", "MB", "GB", "TB", and "PB".'
        raise SqlError("22023", f'invalid size: "{text}"', detail=detail, hint=hint)
    size = Decimal(match[1]) * 1024 ** SIZE_EXPONENTS[unit]
    return int(size.quantize(Decimal(1), ROUND_HALF_UP))
