"""The rows of durable tables in memory, by the keys that are sought in them.

Enters: keys of tables that are read. Leaves: places of rows, and rows, as of the last commit; None
where the embedded engine has to read the table. Rows are read, and their messages made, in the
background once a key was sought often enough to be worth it; they hold until a commit changes the
table. Must not know sessions or the protocol.
"""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from engine.catalog.image import CatalogImage, TableEntry
from engine.tables.table_source import CommittedTables
from engine.tables.table_store import version_of
from ringbuffer.encode.columns import binary_column, text_column
from ringbuffer.encode.output_forms import Forms
from ringbuffer.encode.rows import row_messages
from ringbuffer.groups.found_groups import find_places
from ringbuffer.groups.hash_table import GroupTable
from sql.errors import SqlError
from sql.types.datatypes import SqlType
from views.model.arrow_schema import encoded_family
from views.upkeep.export.one_group import BINARY_FORMAT, UnreadableError
from views.upkeep.point_reads import KeyProgram, OneKey, key_program

log = logging.getLogger(__name__)

# A read in the embedded engine takes as long as to bring so many rows into memory.
ROWS_PER_READ = 2_000
READS_MIN = 2
KEYS_KEPT_MAX = 64
# Keys whose words a stream's kernel makes.
KEY_FAMILIES = frozenset({
    "int2", "int4", "int8", "text", "varchar", "bpchar", "numeric", "date", "bool", "float4", "float8", "uuid", "timestamp",
    "timestamptz", "interval", "bytea", "time",
})  # fmt: skip
# Types that kernels encode, so that a large column does not keep the interpreter.
ENCODED_FAMILIES = frozenset(
    {"int2", "int4", "int8", "text", "varchar", "bpchar", "numeric", "date", "bool", "float4", "float8", "timestamp", "timestamptz"}
)  # fmt: skip
TEXT_FAMILIES = ENCODED_FAMILIES | {"uuid", "json", "jsonb"}

# Choices of columns of a table, and of their forms, whose rows are kept as messages.
FORMS_KEPT_MAX = 8
# The columns of a row, and the forms of their values: format codes and time zones.
RowForm = tuple[tuple[int, int, str], ...]
# Messages one after another, and where each ends.
Messages = tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]


@dataclass(frozen=True)
class TableKey:
    """A key of a table.

    Attributes:
        entry: the table as a catalog image has it.
        places: the columns of the key, counted from 0.
    """

    entry: TableEntry
    places: tuple[int, ...]


@dataclass(eq=False)
class TableRows:
    """The rows of a table at one commit, but those with a NULL in the key.

    Attributes:
        version: of the table when it was read.
        index: the keys: row i of `rows` is group i.
        encoded: the rows as DataRow messages.
        used_at: when the rows were read last, as a number that grows with each read.
    """

    entry: TableEntry
    version: Hashable
    rows: pa.Table
    index: GroupTable
    encoded: dict[RowForm, Messages] = field(default_factory=dict)
    used_at: int = 0

    @property
    def bytes_count(self) -> int:
        """Bytes of memory."""
        encoded = sum(data.nbytes + ends.nbytes for data, ends in list(self.encoded.values()))
        return int(self.rows.nbytes) + self.index.bytes_count + encoded

    def found(self, keys: GroupTable) -> pa.Table:
        """Return the rows with one of the keys."""
        places = np.empty(keys.groups_count, dtype=np.int64)
        find_places(self.index, keys, places)
        return self.rows.take(pa.array(places[places >= 0]))


@dataclass(eq=False)
class SoughtTable:
    """How often a table was read by a key in the embedded engine since its rows were last brought
    into memory, or that was tried.

    Attributes:
        reads_min: so many such reads are worth another try.
        wanted: forms in which rows are to be encoded.
    """

    rows: TableRows | None = None
    reads: int = 0
    reads_min: int = READS_MIN
    is_being_read: bool = False
    wanted: set[RowForm] = field(default_factory=set)


class TablesByKey:
    """The tables of one server that are read by key.

    Arguments:
        image: returns the present catalog.
        submit: runs a function in the background.
        bytes_max: of all rows that are kept; 0: none are.
    """

    def __init__(
        self,
        tables: CommittedTables,
        image: Callable[[], CatalogImage],
        submit: Callable[[Callable[[], object]], None],
        bytes_max: int,
    ) -> None:
        self._tables, self._image, self._submit = tables, image, submit
        self._bytes_max = bytes_max
        self._sought: dict[tuple[int, tuple[int, ...]], SoughtTable] = {}
        self._lock = threading.Lock()
        self._reads = itertools.count(1)

    def rows(self, key: TableKey) -> TableRows | None:
        """Return the rows of a table, if they are in memory as of the last commit. Cheap."""
        sought = self._sought.get((key.entry.description.oid, key.places))
        rows = None if sought is None else sought.rows
        if rows is None or rows.version != version_of(rows.entry) or rows.entry is not key.entry:
            return None
        rows.used_at = next(self._reads)
        return rows

    def way(self, key: TableKey) -> str:
        """Return the words for people that tell how rows are found, none where they never are."""
        if not self._bytes_max or self._is_too_large(key.entry.physical):
            return ""
        return "in memory" if self.rows(key) is not None else "in memory once such reads are many"

    def note(self, key: TableKey, *wanted: RowForm) -> None:
        """Note that a key was sought for which the rows, or their messages, are not in memory."""
        if not self._bytes_max:
            return
        name = key.entry.description.oid, key.places
        with self._lock:
            sought = self._sought.get(name)
            if sought is None:
                if len(self._sought) >= KEYS_KEPT_MAX:
                    self._sought.clear()
                sought = self._sought[name] = SoughtTable()
            sought.wanted.update(wanted)
            sought.reads += 1
            if sought.is_being_read or sought.reads < sought.reads_min:
                return
            sought.is_being_read = True
        self._submit(lambda: self._bring(key, sought))

    def forget(self, image: CatalogImage) -> None:
        """Let go of the rows of tables that were dropped or altered."""
        with self._lock:
            for name, sought in list(self._sought.items()):
                rows = sought.rows
                if rows is not None and image.entries.get(rows.entry.description.name) is not rows.entry:
                    del self._sought[name]

    def _bring(self, key: TableKey, sought: SoughtTable) -> None:
        """Bring rows or columns into memory, on a thread of the background."""
        reads, sought.reads = sought.reads, 0
        # Whatever fails is not tried again at once.
        sought.reads_min = 2 * reads
        try:
            reads_min = max(READS_MIN, self._tables.rows_count(key.entry.physical) // ROWS_PER_READ)
            if reads < reads_min:
                sought.reads, sought.reads_min = reads, reads_min
                return
            rows = self.rows(key) or self._read(key)
            if rows is None:
                return
            for form in list(sought.wanted):
                if form not in rows.encoded and len(rows.encoded) < FORMS_KEPT_MAX:
                    rows.encoded[form] = encoded(rows, form)
            sought.wanted.clear()
            sought.rows, sought.reads, sought.reads_min = rows, 0, reads_min
            self._let_go()
        except SqlError as error:
            # The statements themselves tell what is wrong with the table.
            log.info("the rows of %s are not kept in memory: %s", key.entry.description.name, error.message)
        finally:
            sought.is_being_read = False

    def _read(self, key: TableKey) -> TableRows | None:
        """Return the rows as of the last commit, None where they are not kept.

        The size in the file is known without a look at the values.
        """
        name, physical = key.entry.description.name, key.entry.physical
        if self._is_too_large(physical) or self._image().entries.get(name) is not key.entry:
            return None
        program = key_program(key_types(key))
        read = self._tables.read_once(key.entry)
        rows = read.table
        if rows.nbytes > self._bytes_max:
            # They may be in a file, of which nothing was read yet.
            return None
        keys = rows.select(list(key.places)).rename_columns([column.name for column in program.schema])
        if any(column.null_count for column in keys.columns):
            is_whole = np.logical_and.reduce([pc.is_valid(column).to_numpy() for column in keys.columns])
            rows, keys = rows.filter(pa.array(is_whole)), keys.filter(pa.array(is_whole))
        rows = rows.combine_chunks()
        found = TableRows(key.entry, read.version, rows, program.of_table(keys), used_at=next(self._reads))
        # Keys are different where they are checked, so that each row has a group of its own.
        return found if found.index.groups_count == rows.num_rows and found.bytes_count <= self._bytes_max else None

    def _is_too_large(self, physical: str) -> bool:
        """Tell whether the rows of a table are known to be more than what is kept."""
        limit = self._bytes_max
        return self._tables.bytes_of(physical) > limit or self._tables.memory_bytes_of(physical) > limit

    def _let_go(self) -> None:
        """Let go of the rows that were not read for longest, until the others have room."""
        with self._lock:
            kept = [(rows.used_at, rows.bytes_count, one) for one in self._sought.values() if (rows := one.rows)]
            taken = sum(size for _, size, _ in kept)
            for _, size, one in sorted(kept, key=lambda each: each[0]):
                if taken <= self._bytes_max:
                    break
                one.rows, one.reads, one.reads_min = None, 0, 2 * one.reads_min
                # The table may be altered before it is read again.
                one.wanted.clear()
                taken -= size


class QuickRow:
    """A read of one row after the other, on one thread, without Arrow.

    Arguments:
        items: the columns of the table that are read.
        formats: of their fields, 0 text, 1 binary.
    """

    def __init__(
        self,
        tables: TablesByKey,
        key: TableKey,
        program: KeyProgram,
        items: Sequence[int],
        formats: Sequence[int],
        forms: Forms,
    ) -> None:
        """Raises UnreadableError where keys or columns need the general way."""
        columns = key.entry.description.columns
        types = [columns[item].type for item in items]
        if forms != Forms(forms.zone) or not all(map(is_encoded, types, formats)):
            raise UnreadableError
        self._tables, self._key = tables, key
        self._one = OneKey(program)
        self._place = np.zeros(1, dtype=np.int64)
        zones = [forms.zone if kind.family == "timestamptz" else "" for kind in types]
        self._form: RowForm = tuple(zip(items, formats, zones, strict=True))

    def data_row(self, key: Sequence[int | bytes]) -> bytes | None:
        """Return the DataRow of the row with a key, after the last commit; None: there is none.

        Raises UnreadableError where the rows or their messages are not in memory.
        """
        rows = self._tables.rows(self._key)
        if rows is None:
            # The general way notes the read.
            raise UnreadableError
        messages = rows.encoded.get(self._form)
        if messages is None:
            if len(rows.encoded) < FORMS_KEPT_MAX:
                self._tables.note(self._key, self._form)
            raise UnreadableError
        find_places(rows.index, self._one.table(key), self._place)
        place = self._place.item(0)
        if place < 0:
            return None
        data, ends = messages
        return data[ends.item(place - 1) if place else 0 : ends.item(place)].tobytes()


def encoded(rows: TableRows, form: RowForm) -> Messages:
    """Return the rows as messages."""
    columns = []
    for place, format_code, zone in form:
        column, family = rows.rows.column(place), encoded_family(rows.entry.description.columns[place].type)
        is_binary = format_code == BINARY_FORMAT
        columns.append(
            binary_column(column, family) if is_binary else text_column(column, family, Forms(zone or "UTC"))
        )
    return row_messages(columns, rows.rows.num_rows)


def is_encoded(kind: SqlType, format_code: int) -> bool:
    """Tell whether kernels encode values of a type."""
    families = ENCODED_FAMILIES if format_code == BINARY_FORMAT else TEXT_FAMILIES
    return kind.family in families and kind.enum is None and kind.record is None


def table_key(entry: TableEntry, places: Collection[int]) -> TableKey | None:
    """Return the key of a table that some columns are, None where they are none."""
    description = entry.description
    place_of = {column.number: place for place, column in enumerate(description.columns)}
    for constraint in description.constraints:
        key = tuple(place_of[number] for number in constraint.columns if number in place_of)
        if constraint.is_plain_key and len(key) == len(constraint.columns) and set(places) == set(key):
            types = key_types(TableKey(entry, key))
            return TableKey(entry, key) if all(map(has_words, types)) else None
    return None


def key_types(key: TableKey) -> tuple[SqlType, ...]:
    """Return the types of the columns of a key."""
    return tuple(key.entry.description.columns[place].type for place in key.places)


def has_words(kind: SqlType) -> bool:
    """Tell whether a stream's kernel makes the words of keys of a type."""
    return kind.family in KEY_FAMILIES and kind.enum is None
