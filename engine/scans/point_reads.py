"""Reads by key that are answered from the groups of a continuous view, without a refresh, or from
the rows of a table in memory.

Enters: bound queries. Leaves: rows, which are those that the general way would give at the same
moment. A query is one of these if it only picks columns of one view or table, and gives every key
of the view's grouping, or every column of a unique key of the table, a value, or some. Must not
know sessions or the protocol.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product

import pyarrow as pa

from engine.catalog.image import CatalogImage, TableEntry
from engine.scans.table_rows import QuickRow, TableKey, TablesByKey, key_types, table_key
from engine.tables.arrow_values import column_array
from ringbuffer.encode.output_forms import Forms
from ringbuffer.groups.hash_table import GroupTable
from ringbuffer.memory.columns import NUMERIC_DIGITS_MAX
from sql.errors import SqlError
from sql.tree.expressions import Call, Cast, Column, Expression, Literal, Parameter
from sql.tree.relations import BoundQuery, Filter, Project, Relation, Scan
from sql.tree.walks import conjuncts
from sql.types.datatypes import LiteralValue, SqlType
from views.upkeep.chain import Chain
from views.upkeep.point_reads import KeyProgram, QuickRead, found_rows, key_columns, key_program
from views.upkeep.refresh import DATA_ERRORS

# How many groups a read may name, and one that is answered on the event loop.
KEYS_MAX = 1024
KEYS_AT_ONCE_MAX = 64
INTEGERS = {"int2": 1 << 15, "int4": 1 << 31, "int8": 1 << 63}
TEXTS = frozenset({"text", "varchar"})
CONSTANTS = Literal | Parameter


@dataclass(frozen=True)
class SoughtKey:
    """The values that a query gives one key.

    Attributes:
        type: of the key.
        values: constants; one array of them if `is_array`.
    """

    type: SqlType
    values: tuple[CONSTANTS, ...]
    is_array: bool = False


@dataclass(frozen=True, eq=False)
class PointRead:
    """A query that is answered from the groups of a view, or from the rows of a table.

    Attributes:
        keys: what is sought, for each key.
        places: the columns of the view or table that show the keys.
        items: the columns of the view or table that the answer has.
    """

    source: Chain | TableKey
    keys: tuple[SoughtKey, ...]
    places: tuple[int, ...]
    items: tuple[int, ...]

    @property
    def types(self) -> tuple[SqlType, ...]:
        """The types of the keys, as `key_program` takes them."""
        return tuple(key.type for key in self.keys)


class PointReads:
    """The reads by key of one server."""

    def __init__(self, commit_lock: threading.Lock, tables: TablesByKey) -> None:
        self._commit_lock = commit_lock
        self.tables = tables

    def quick(self, read: PointRead, formats: Sequence[int], forms: Forms) -> QuickRead | QuickRow:
        """Return how a read is answered on the event loop.

        Raises UnreadableError where the general way has to.
        """
        program = key_program(read.types)
        if isinstance(read.source, TableKey):
            return QuickRow(self.tables, read.source, program, read.items, formats, forms)
        return QuickRead(read.source, program, read.items, formats, forms, self._commit_lock)

    def rows(
        self,
        read: PointRead,
        parameters: Sequence[Literal],
        now_us: int,
        check_cancelled: Callable[[], None] | None = None,
    ) -> pa.Table | None:
        """Return the answer, after the last commit; None where only the general way knows it.

        check_cancelled: of a worker thread, which waits for merges and files; None: the event loop
        reads, and gets None for what takes long. Raises what `check_cancelled` raises.
        """
        table = self.tables.rows(read.source) if isinstance(read.source, TableKey) else None
        if isinstance(read.source, TableKey) and table is None:
            if check_cancelled is not None:
                self.tables.note(read.source)
            return None
        keys_max = KEYS_AT_ONCE_MAX if check_cancelled is None else KEYS_MAX
        keys = wanted_keys(read, parameters, key_program(read.types), keys_max)
        if keys is None:
            return None
        if table is not None:
            return table.found(keys).select(list(read.items))
        assert not isinstance(read.source, TableKey)
        try:
            rows = found_rows(read.source, keys, now_us, self._commit_lock, check_cancelled)
        except SqlError as failure:
            if not failure.sqlstate.startswith(DATA_ERRORS):
                raise
            # An aggregate or an expression of a group can't be evaluated: the query perhaps reads
            # other columns.
            return None
        return None if rows is None else rows.select(list(read.items))


def point_read(bound: BoundQuery, image: CatalogImage) -> PointRead | None:
    """Return how a query is answered from the groups of a view, or the rows of a table, None: it is
    not.
    """
    if len(bound.relations) != 1 or bound.stable or bound.locked or bound.functions:
        return None
    name = next(iter(bound.relations))
    state, entry = image.state(name), image.entries.get(name)
    picked = picked_columns(bound.root) if state is not None or isinstance(entry, TableEntry) else None
    if picked is None:
        return None
    items, predicate = picked
    given = sought(predicate)
    if given is None:
        return None
    source: Chain | TableKey
    if isinstance(entry, TableEntry):
        key = table_key(entry, given.keys())
        if key is None or not all(item < len(entry.description.columns) for item in items):
            return None
        source, places, types = key, key.places, key_types(key)
    else:
        assert state is not None
        shown = key_columns(state.chain)
        if shown is None or given.keys() != set(shown.places):
            return None
        source, places, types = state.chain, shown.places, shown.types
    keys = tuple(given[place] for place in places)
    if not all(map(is_comparable, keys, types)):
        return None
    keys = tuple(SoughtKey(kind, one.values, one.is_array) for one, kind in zip(keys, types, strict=True))
    return PointRead(source, keys, places, items)


def picked_columns(root: Relation) -> tuple[tuple[int, ...], Expression] | None:
    """Return the columns of a scan that a query picks, and the condition on its rows; None for
    other queries.
    """
    below = root.input if isinstance(root, Project) else root
    if not isinstance(below, Filter) or not isinstance(below.input, Scan):
        return None
    if not isinstance(root, Project):
        return tuple(range(len(root.schema))), below.predicate
    items = tuple(item.index for _, item in root.items if isinstance(item, Column))
    return (items, below.predicate) if len(items) == len(root.items) > 0 else None


def sought(predicate: Expression) -> dict[int, SoughtKey] | None:
    """Return what a condition says of each column, if it only says which values they have."""
    found: dict[int, SoughtKey] = {}
    for part in conjuncts(predicate):
        one = compared(part)
        if one is None or one[0] in found:
            return None
        found[one[0]] = one[1]
    return found


def compared(part: Expression) -> tuple[int, SoughtKey] | None:
    """Return the column that a condition compares, and the values to which it may be equal."""
    if not isinstance(part, Call) or part.function not in ("eq", "in_list", "any_eq"):
        return None
    first, *rest = part.arguments
    if part.function == "eq" and isinstance(first, CONSTANTS):
        first, rest = rest[0], [first]
    place = widened_column(first)
    values = tuple(value for value in rest if isinstance(value, CONSTANTS))
    if place is None or len(values) != len(rest) or len({value.type for value in values}) != 1:
        return None
    return place, SoughtKey(values[0].type, values, part.function == "any_eq")


def widened_column(expression: Expression) -> int | None:
    """Return the column that an expression is, if need be as a larger integer or another text."""
    if isinstance(expression, Cast) and isinstance(expression.operand, Column):
        kind, wider = expression.operand.type, expression.type
        is_integer = INTEGERS.get(kind.family, 0) and INTEGERS[kind.family] < INTEGERS.get(wider.family, 0)
        if not is_integer and not ({kind.family, wider.family} <= TEXTS and wider.length is None):
            return None
        expression = expression.operand
    return expression.index if isinstance(expression, Column) else None


def is_comparable(key: SoughtKey, kind: SqlType) -> bool:
    """Tell whether the values of a key are equal to those that are sought where their words are."""
    given = key.type.element if key.is_array else key.type
    return is_same_domain(kind, given)


def is_same_domain(kind: SqlType, given: SqlType) -> bool:
    """Tell whether values of two types are of one domain, in which they are compared."""
    if kind.family in INTEGERS:
        return given.family in INTEGERS
    if kind.family in TEXTS:
        return given.family in TEXTS
    return kind.family == given.family and kind.enum == given.enum


def wanted_keys(
    read: PointRead, parameters: Sequence[Literal], program: KeyProgram, keys_max: int
) -> GroupTable | None:
    """Return the keys that a read names, None where there are too many, or one that no group can
    tell.
    """
    lists: list[list[LiteralValue]] = []
    count = 1
    for key in read.keys:
        values = key_values(key, parameters)
        if values is None:
            return None
        lists.append(values)
        count *= len(values)
    if count > keys_max:
        return None
    columns = zip(*product(*lists), strict=True) if count else ([] for _ in lists)
    arrays = [column_array(list(column), key.type) for column, key in zip(columns, read.keys, strict=True)]
    return program.of_table(pa.table(arrays, names=[column.name for column in program.schema]))


def key_values(key: SoughtKey, parameters: Sequence[Literal]) -> list[LiteralValue] | None:
    """Return the values of a key that can be equal to one that is sought; None: nobody knows."""
    given: list[LiteralValue] = []
    for value in key.values:
        given.append(parameters[value.number - 1].value if isinstance(value, Parameter) else value.value)
    if key.is_array:
        (array,) = given
        if array is None:
            return []
        assert isinstance(array, tuple), array
        given = list(array)
    if any(isinstance(value, tuple) and not key.type.is_array and key.is_array for value in given):
        # An array of more than one dimension.
        return None
    return [value for value in given if is_possible(value, key.type)]


def is_possible(value: LiteralValue, kind: SqlType) -> bool:
    """Tell whether a key of a type can be equal to a value."""
    if value is None:
        return False
    if kind.family in INTEGERS:
        assert isinstance(value, int)
        return -INTEGERS[kind.family] <= value < INTEGERS[kind.family]
    if kind.family == "numeric" and kind.display_scale is not None:
        return has_scale(Decimal(str(value)), kind.display_scale)
    return True


def has_scale(number: Decimal, scale: int) -> bool:
    """Tell whether a number is a decimal of a scale."""
    _, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int):
        return False
    text = "".join(map(str, digits)).lstrip("0")
    zeros = len(text) - len(text.rstrip("0"))
    return not text or (exponent + zeros >= -scale and len(text) + exponent + scale <= NUMERIC_DIGITS_MAX)
