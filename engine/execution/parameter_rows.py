"""A prepared INSERT whose values are parameters and constants: decoded from Bind's bytes in one
kernel call. All its rows are alike but for the numbers of their parameters.

Enters: a bound INSERT, then Bind payloads. Leaves: whole rows. Constants of the rows are kept like
defaults; a parameter that is a number of another type is converted by column, and the bytes of a
text that is cast to the column's type are read as those of the column. Every other value (an
expression, a value that does not fit) is left to the general way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from engine.catalog.image import CatalogImage, StreamEntry, TableEntry
from engine.embedded.query_engine import QueryEngine
from engine.execution.computed_rows import ComputedValues, computed_values
from engine.execution.outcome import expand
from engine.execution.prepared import Prepared
from engine.ingest.field_readers import FieldReader, arriving_layout, has_kernel
from engine.ingest.insert import InsertTarget, default_row, is_now, now_columns
from engine.streams.stream import Stream
from ringbuffer.decode.parameters import RAW_BYTES, TEXT_VALUES, decode_parameters
from ringbuffer.memory.arrow import morsel_to_arrow
from ringbuffer.memory.columns import ColumnLayout, Layout, Morsel, PhysicalType
from ringbuffer.scalar.numbers.assigned import assigned
from sql.bind.writes.insert import BoundInsert
from sql.catalog.catalog import ColumnDescription
from sql.parse.statements.insert import Insert
from sql.tree.expressions import Cast, Expression, Literal, Parameter
from sql.tree.relations import Project, Values
from sql.types.datatypes import FAMILIES, SqlType
from sql.wire.messages import Bind

TEXT_FAMILIES = frozenset({"text", "varchar"})
INTEGERS, FLOATS = frozenset({"int2", "int4", "int8"}), frozenset({"float4", "float8"})
# Conversions without a way to fail, of which `OneRow` knows, too.
WIDENINGS = frozenset(
    {("int2", "int4"), ("int2", "int8"), ("int4", "int8"), ("int2", "float8"), ("int4", "float8"), ("float4", "float8")}
)
# Of one image of the catalog.
CONSTANT_ROWS_MAX = 256
FLOAT4_NUMERIC = ("float4", "numeric")


@dataclass(frozen=True, eq=False)
class ArrivingRow:
    """The parameters of a row, by number.

    Attributes:
        layout: of the parameters as they arrive.
        wanted: of the columns that they are for.
        read: which of them are read after they have been decoded.
        texts: which of them are cast from a text, and so are texts in both formats.
    """

    layout: Layout
    wanted: Layout
    read: tuple[bool, ...]
    texts: tuple[bool, ...]

    def codes(self, formats: Sequence[int]) -> tuple[int, ...]:
        """Return the formats in which the values are read that arrive in some formats."""
        return tuple(TEXT_VALUES if text else code for text, code in zip(self.texts, formats, strict=True))

    def as_columns(self, given: Morsel) -> Morsel:
        """Return parameters that have been decoded as their columns, but for those that are read
        afterwards.

        Raises RowError.
        """
        return given if self.layout is self.wanted else replace(given, data=tuple(self._columns(given)))

    def _columns(self, given: Morsel) -> Iterator[npt.NDArray[Any]]:
        columns = zip(given.data, self.layout, self.wanted, self.read, strict=True)
        for index, (data, arriving, wanted, is_read) in enumerate(columns):
            yield data if is_read or arriving.physical == wanted.physical else assigned(data, wanted, index)


@dataclass(frozen=True, eq=False)
class ParameterRow(ArrivingRow):
    """The shape of a row of a stream.

    Attributes:
        target: the columns of the parameters, constants as defaults.
        fits_one_row: true if all can be decoded by a `OneRow`.
        packets: the session's known packets with the statement, by the bytes before the values;
            forgotten with the shape.
    """

    target: InsertTarget
    fits_one_row: bool
    # Filled and read at once, on the event loop.
    starts: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    packets: dict[bytes, Any] = field(default_factory=dict)

    def decode_one(self, payload: bytes, start: int, formats: Sequence[int], reader: FieldReader) -> Morsel:
        """Do what `decode` does, for one Bind. start: offset of its first length word."""
        self.starts[0] = start
        return self.decode(payload, self.starts, formats, reader)

    def decode(
        self, payload: bytes | memoryview, starts: npt.NDArray[np.int64], formats: Sequence[int], reader: FieldReader
    ) -> Morsel:
        """Return the target's columns of some Binds. starts: offset of the first length word of
        each.

        Raises RowError and ColumnError.
        """
        codes = _format_codes(self.codes(formats), self.read)
        given = decode_parameters(payload, starts, codes, self.layout, reader.time_zone)
        if any(self.read):
            given = reader.rows(given, self.target.columns, self.target.layout, [bool(code) for code in codes])
        return self.as_columns(given)


@dataclass(frozen=True, eq=False)
class ParameterRows:
    """The shape of the rows of an INSERT of several rows, all of which are as `row` is.

    Attributes:
        starts: int64[rows], the places of the rows in the bytes of a Bind, but for the first.
    """

    row: ParameterRow
    starts: npt.NDArray[np.int64]

    @property
    def target(self) -> InsertTarget:
        """The columns of the parameters; see ParameterRow."""
        return self.row.target

    @property
    def layout(self) -> Layout:
        """The layout of all parameters, by number."""
        return self.row.layout * len(self.starts)

    def decode_one(self, payload: bytes, start: int, formats: Sequence[int], reader: FieldReader) -> Morsel | None:
        """Return the target's columns of a Bind; see ParameterRow.

        None: the formats of the rows differ.
        """
        given = tuple(formats[: len(self.row.layout)])
        if tuple(formats) != given * len(self.starts):
            return None
        self.starts[0] = start
        return self.row.decode(payload, self.starts, given, reader)


@dataclass(frozen=True, eq=False)
class TableRows:
    """The shape of the rows of an INSERT into a table, all of which are as `row` is.

    Attributes:
        columns: that the statement gives.
        starts: int64[rows], the places of the rows in the bytes of a Bind, but for the first.
    """

    entry: TableEntry
    columns: tuple[ColumnDescription, ...]
    row: ArrivingRow
    starts: npt.NDArray[np.int64]

    def decode(self, message: Bind, reader: FieldReader) -> pa.Table | None:
        """Return the rows of a Bind; None where the formats of the rows differ.

        Raises RowError and ColumnError.
        """
        width, count = len(self.columns), len(self.starts)
        formats = expand(message.parameter_formats, width * count)
        given = tuple(formats[:width])
        if tuple(formats) != given * count:
            return None
        self.starts[0] = message.parameters_offset
        codes, row = _format_codes(self.row.codes(given), self.row.read), self.row
        morsel = decode_parameters(message.payload, self.starts, codes, row.layout, reader.time_zone)
        arrays = []
        for column, values, code in zip(
            self.columns, morsel_to_arrow(row.as_columns(morsel), row.wanted).columns, codes, strict=True
        ):
            array = values.combine_chunks()
            arrays.append(array if has_kernel(column.type) else reader.column(column, array, bool(code)))
        return pa.Table.from_arrays(arrays, names=[column.name for column in self.columns])


@dataclass(frozen=True, eq=False)
class LiteralRows:
    """The rows of an INSERT without parameters, whose text was decoded: whenever it runs, they are
    the same.
    """

    target: InsertTarget
    given: Morsel
    layout: Layout = ()

    def decode_one(self, *_: object) -> Morsel:
        """Return the target's columns; see ParameterRow."""
        return self.given


@dataclass(frozen=True, eq=False)
class ComputedRow:
    """The shape of one row with values that are computed of parameters.

    Attributes:
        row: that of the values.
    """

    row: ParameterRow
    computed: ComputedValues

    @property
    def target(self) -> InsertTarget:
        """The columns of the values; see ParameterRow."""
        return self.row.target


Shape = ParameterRow | ParameterRows | TableRows | LiteralRows | ComputedRow


def parameter_row(prepared: Prepared, image: CatalogImage, engine: QueryEngine) -> Shape | None:
    """Return the shape of a prepared INSERT, or None when it takes the general way.

    Kept while the catalog stays the same.
    """
    row = prepared.insert_row.find(image)
    if row is None and prepared.insert_row.image is not image:
        row = prepared.insert_row.keep(image, _make_shape(prepared, image, engine))
    return row


def _make_shape(prepared: Prepared, image: CatalogImage, engine: QueryEngine) -> Shape | None:
    statement, bound = prepared.statement, prepared.bound
    if not isinstance(statement, Insert) or not isinstance(bound, BoundInsert):
        return None
    entry = image.entries.get(bound.relation.name)
    if isinstance(entry, TableEntry):
        return _make_table_rows(bound, entry, len(prepared.parameter_types))
    if not isinstance(entry, StreamEntry) or not isinstance(bound.source, Values) or bound.returning is not None:
        return None
    rows = bound.source.rows
    if bound.stable and any(item.type.family == "oid" for item in rows[0] if isinstance(item, Literal)):
        # The number of what had a name when the statement was bound.
        return None
    row = _make_row(rows[0], entry, bound.targets, image, engine)
    if row is None and len(rows) == 1 and not bound.functions:
        return _make_computed(rows[0], prepared.parameter_types, entry, bound.targets, image, engine)
    if row is None or len(row.layout) * len(rows) != len(prepared.parameter_types):
        return None
    if not _are_alike(rows, len(row.layout)):
        return None
    return row if len(rows) == 1 else ParameterRows(row, np.full(len(rows), -1, dtype=np.int64))


def _make_table_rows(bound: BoundInsert, entry: TableEntry, parameters_count: int) -> TableRows | None:
    """Return the shape of several rows for a table, whose values are all parameters."""
    source = bound.source
    values = source.input if isinstance(source, Project) else source
    if not isinstance(values, Values) or len(values.rows) < 2:
        return None
    columns = tuple(entry.description.columns[index] for index in bound.given)[: len(values.schema)]
    if len(columns) * len(values.rows) != parameters_count:
        return None
    layout: list[ColumnLayout] = []
    wanted: list[ColumnLayout] = []
    families: list[str] = []
    for number, (item, column) in enumerate(zip(values.rows[0], columns, strict=True), 1):
        parameter = item.operand if isinstance(item, Cast) else item
        if not isinstance(parameter, Parameter) or parameter.number != number:
            return None
        # NULLs are refused later, with the whole row in DETAIL.
        stored = replace(arriving_layout(column), not_null=False)
        arriving = _arrival_layout(item, parameter, column, stored)
        if arriving is None:
            return None
        layout.append(arriving)
        wanted.append(stored)
        families.append(parameter.type.family)
    if not _are_alike(values.rows, len(columns)):
        return None
    read = tuple(not has_kernel(column.type) for column in columns)
    row = ArrivingRow(tuple(layout), tuple(wanted), read, _texts(families, columns))
    return TableRows(entry, columns, row, np.full(len(values.rows), -1, dtype=np.int64))


def _are_alike(rows: Sequence[Sequence[Expression]], parameters_count: int) -> bool:
    """Tell whether rows differ in the numbers of their parameters alone; of each row, so many."""
    return all(
        _is_shifted(item, first, index * parameters_count)
        for index in range(1, len(rows))
        for item, first in zip(rows[index], rows[0], strict=True)
    )


def _texts(given: Sequence[str], columns: Sequence[ColumnDescription]) -> tuple[bool, ...]:
    """Return which parameters of these families are texts for columns of other types."""
    pairs = zip(given, columns, strict=True)
    return tuple(family in TEXT_FAMILIES and column.type.family not in TEXT_FAMILIES for family, column in pairs)


def _make_row(
    items: Sequence[Expression], entry: StreamEntry, targets: Sequence[int], image: CatalogImage, engine: QueryEngine
) -> ParameterRow | None:
    """Return the shape of a row whose parameters are the first of its statement."""
    stream = entry.stream
    places = stream.places_of(targets)
    now = now_columns(entry, places)
    if now is None or len(stream.layout) in places:
        return None
    constants: list[Expression | None] = [column.default for column in stream.stored]
    found: dict[int, tuple[int, ColumnLayout, tuple[str, str]]] = {}
    for index, item in zip(places, items, strict=True):
        is_time = is_now(item, stream.stored[index])
        if is_time or isinstance(item, Literal):
            constants[index] = item
            now += (index,) * is_time
            continue
        parameter = item.operand if isinstance(item, Cast) else item
        layout = _arrival_layout(item, parameter, stream.stored[index], stream.layout[index])
        if layout is None or not isinstance(parameter, Parameter) or parameter.number in found:
            return None
        found[parameter.number] = (index, layout, (parameter.type.family, stream.stored[index].type.family))
    numbers = sorted(found)
    if numbers != list(range(1, len(numbers) + 1)):
        return None
    given = tuple(found[number][0] for number in numbers)
    wanted = tuple(stream.layout[index] for index in given)
    arriving = tuple(found[number][1] for number in numbers)
    target = InsertTarget(entry, given, wanted, _constant_row(stream, constants, image, engine), now)
    read = tuple(not has_kernel(column.type) for column in target.columns)
    families = [found[number][2] for number in numbers]
    texts = _texts([given for given, _ in families], target.columns)
    fits_one_row = all(pair in WIDENINGS for pair in families if pair[0] != pair[1] and pair[0] in INTEGERS | FLOATS)
    return ParameterRow(wanted if arriving == wanted else arriving, wanted, read, texts, target, fits_one_row)


def _constant_row(
    stream: Stream, constants: Sequence[Expression | None], image: CatalogImage, engine: QueryEngine
) -> Morsel:
    """Return the row of a statement's constants, which all that prepare the same have in common:
    the embedded engine takes milliseconds for it.
    """
    # Equal numbers need not be the same: -0 and 0, numerics of other scales.
    kept, place = image.constant_rows, (stream.oid, repr(constants))
    known = kept.get(place)
    if known is None or known[0] != constants:
        if len(kept) >= CONSTANT_ROWS_MAX:
            kept.clear()
        known = kept[place] = constants, default_row(stream, constants, engine, 0, "UTC")
    return known[1]


def _make_computed(
    items: Sequence[Expression],
    types: Sequence[SqlType],
    entry: StreamEntry,
    targets: Sequence[int],
    image: CatalogImage,
    engine: QueryEngine,
) -> ComputedRow | None:
    """Return the shape of a row whose parameters are the values that are given to its columns."""
    stream = entry.stream
    given: list[Expression | int] = []
    found: list[Expression] = []
    for index, item in zip(stream.places_of(targets), items, strict=True):
        if index >= len(stream.stored):
            return None
        column = stream.stored[index]
        parameter = item.operand if isinstance(item, Cast) else item
        if isinstance(item, Literal) or is_now(item, column):
            found.append(item)
        elif isinstance(parameter, Parameter) and _arrival_layout(item, parameter, column, stream.layout[index]):
            given.append(parameter.number - 1)
            placed = replace(parameter, number=len(given))
            found.append(replace(item, operand=placed) if isinstance(item, Cast) else placed)
        else:
            given.append(item)
            found.append(Parameter(len(given), column.type))
    computed = computed_values(given, types)
    row = None if computed is None else _make_row(found, entry, targets, image, engine)
    return None if computed is None or row is None else ComputedRow(row, computed)


def _is_shifted(item: Expression, first: Expression, shift: int) -> bool:
    """Tell whether an item is that of the first row, but for the number of its parameter."""
    if isinstance(item, Cast) and isinstance(first, Cast):
        alike = (item.type, item.explicit, item.zone) == (first.type, first.explicit, first.zone)
        return alike and _is_shifted(item.operand, first.operand, shift)
    if isinstance(item, Parameter) and isinstance(first, Parameter):
        return item.number == first.number + shift and item.type == first.type
    return item == first


def _arrival_layout(
    item: Expression, parameter: Expression, column: ColumnDescription, layout: ColumnLayout
) -> ColumnLayout | None:
    """Return the form in which the parameter's bytes are stored before they are widened to the
    column's; None if there is none.
    """
    given, wanted = parameter.type.family, column.type.family
    is_plain = item is parameter or item.type == column.type
    is_text = given in TEXT_FAMILIES and isinstance(item, Cast) and item.explicit
    if not has_kernel(column.type):
        is_plain &= given == wanted or is_text
        return replace(arriving_layout(column), not_null=layout.not_null) if is_plain else None
    if given == wanted or {given, wanted} <= TEXT_FAMILIES:
        return layout
    if is_plain and is_text:
        return layout
    if given in INTEGERS | FLOATS and wanted in INTEGERS | FLOATS | {"numeric"} and (given, wanted) != FLOAT4_NUMERIC:
        return replace(layout, physical=PhysicalType(FAMILIES[given].kernel)) if is_plain else None
    return None


@lru_cache(maxsize=256)
def _format_codes(formats: tuple[int, ...], read: tuple[bool, ...]) -> npt.NDArray[np.int8]:
    codes = (RAW_BYTES if code and is_read else code for code, is_read in zip(formats, read, strict=True))
    return np.array(list(codes), dtype=np.int8)
