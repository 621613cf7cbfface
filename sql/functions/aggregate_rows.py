"""Rows of aggregates and window functions, and the texts of which their rules make a call.

An aggregate begins with a state for no rows, updates the state for a row, merges two states and
reads a result from the last one. The engines do all of that by a rule; where the groups of a stream
keep states, the row names the state (`ringbuffer.groups.aggregates` begins, updates and merges a
state) and what reads the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sql.errors import SqlError, not_supported
from sql.functions.printing import Printer, form_of
from sql.functions.rows import Row
from sql.functions.signatures import FLOATS
from sql.tree.expressions import AggregateCall, SortKey, WindowCall
from sql.tree.numeric_scale import ScaleRule
from sql.types.datatypes import SqlType

Wrap = Callable[[str], str]
"""Completes one engine aggregate, such as 'sum(x)', with its OVER clause."""


@dataclass(frozen=True)
class AggregateText:
    """One aggregate call that is being printed.

    Attributes:
        texts: the arguments, NULL for rows that the filter leaves out.
        condition: the filter.
        word: 'DISTINCT ' or ''.
        wrap: completes each of the engine's aggregates, with OVER.
    """

    printer: Printer
    call: AggregateCall | WindowCall
    texts: tuple[str, ...]
    condition: str | None
    word: str
    wrap: Wrap

    @property
    def kind(self) -> SqlType:
        """The type of the first argument."""
        return self.call.arguments[0].type

    @property
    def compared(self) -> str:
        """The text that orders and groups values of the first argument."""
        return self.printer.comparable_text(self.texts[0], self.kind)

    @property
    def keys(self) -> Sequence[SortKey]:
        """The order of the rows that the call itself asks for."""
        return self.call.order_by if isinstance(self.call, AggregateCall) else ()

    @property
    def has_order(self) -> bool:
        """True where a call has an order of its own for its rows."""
        return isinstance(self.call, WindowCall) or bool(self.call.order_by)

    def ordered(self) -> str:
        """Return ' ORDER BY ...' for inside of the parentheses, or ''."""
        keys = ", ".join(self._key(key) for key in self.keys)
        return f" ORDER BY {keys}" if keys else ""

    def _key(self, key: SortKey) -> str:
        """Return a sort key; with DISTINCT the key has to be an argument as that is printed."""
        if self.word and self.condition is not None and key.expression == self.call.arguments[0]:
            return self.texts[0] + sort_way(key)
        return sort_key(self.printer, key)

    def filtered(self, text: str) -> str:
        """Complete an aggregate that counts NULLs as values: rows outside of the filter must not
        reach it at all.
        """
        return self.wrap(text if self.condition is None else f"{text} FILTER (WHERE {self.condition})")

    def taken(self, name: str, change: Callable[[str], str]) -> str:
        """Return the engine's aggregate of a change of the values; with DISTINCT of one of those
        that are equal.
        """
        if not self.word:
            return self.wrap(f"{name}({change(self.texts[0])})")
        return f"list_aggregate({self.printer.mapped(self.printer.one_of_each(self), change)}, '{name}')"

    def refuse_distinct(self) -> None:
        """Raise 0A000 for DISTINCT."""
        if self.word:
            raise not_supported(f"{self.call.function}(DISTINCT {self.kind.sql_name})", self.call.position)

    def refused(self) -> SqlError:
        """Return the error for an argument that the engine has no rule for."""
        return not_supported(f"aggregate {self.call.function}({self.kind.sql_name})", self.call.position)


AggregateRule = Callable[[AggregateText], str]
WindowRule = Callable[[Printer, WindowCall, Wrap], str]


@dataclass(frozen=True)
class Aggregate(Row):
    """The row of an aggregate.

    Attributes:
        both: the rule of the engines.
        duckdb: the rule of DuckDB alone.
        spark: the rule of Spark alone.
        states: the states that groups of a stream keep (names of
            `ringbuffer.groups.aggregates.State`), by the forms of the argument.
        final: what reads the result from a state: 'count', 'value', 'total', 'average', 'variance'
            or 'floats'.
        distinct_free: DISTINCT changes nothing, and without it states merge.
        ordered: the value depends on the order of the rows.
        adds_floats: the last digits of floats depend on the order of the rows.
        within_group: the one sort key stands in WITHIN GROUP, and is the last of the arguments.
        as_json: bind makes the call of array_agg's array, written as JSON.
        is_made: bind makes the call of others (`sql.bind.expressions.aggregates`).
        is_own: PostgreSQL has no such aggregate.
        is_sketch: makes a sketch; combine() makes one of several.
        can_fail: may raise for arguments that have values.
        scale: the display scale of a numeric result, where it is one for all values.
        constants: SQL of arguments that some engine takes only as constants, by their places.
    """

    both: AggregateRule | None = None
    duckdb: AggregateRule | None = None
    spark: AggregateRule | None = None
    states: Mapping[str, str] = field(default_factory=dict)
    final: str = "value"
    distinct_free: bool = False
    ordered: bool = False
    adds_floats: bool = False
    within_group: bool = False
    as_json: bool = False
    is_made: bool = False
    is_own: bool = False
    is_sketch: bool = False
    can_fail: bool = True
    scale: ScaleRule | None = None
    constants: Mapping[int, str] = field(default_factory=dict)

    def state(self, kind: SqlType | None = None) -> str | None:
        """Return the state that groups of a stream keep for an argument of a type (None: no
        argument).
        """
        form = "any" if kind is None else form_of(kind)
        found = (state for forms, state in self.states.items() if form in forms.split() or forms == "any")
        return next(found, None)

    @property
    def duckdb_rule(self) -> AggregateRule | None:
        """The rule of DuckDB."""
        return self.duckdb or self.both

    @property
    def spark_rule(self) -> AggregateRule | None:
        """The rule of Spark."""
        return self.spark or self.both

    def adds_in_order(self, family: str) -> bool:
        """Tell whether the last digits of the result depend on the order of the rows."""
        return self.adds_floats and family in FLOATS


@dataclass(frozen=True)
class WindowFunction(Row):
    """The row of a function that needs OVER.

    Attributes:
        rule: makes the text of a call in both engines.
        takes_frame: the frame of the window matters.
        hypothetical: PostgreSQL has an aggregate of the name as well, with WITHIN GROUP.
        constants: SQL of arguments that some engine takes only as constants, by their places.
    """

    rule: WindowRule | None = None
    takes_frame: bool = False
    hypothetical: bool = False
    constants: Mapping[int, str] = field(default_factory=dict)


def sort_key(printer: Printer, key: SortKey) -> str:
    """Return one key of an ORDER BY."""
    return printer.comparable(key.expression) + sort_way(key)


def sort_way(key: SortKey) -> str:
    """Return the words after the expression of a key of an ORDER BY."""
    return (" DESC" if key.descending else "") + (" NULLS FIRST" if key.nulls_first else " NULLS LAST")
