"""A SELECT that is being built, and the differences between the SELECTs of the engines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sql.emit.expressions import ExpressionPrinter, SubqueryRule
from sql.errors import SqlError
from sql.tree.expressions import Cast, Expression, Literal
from sql.tree.relations import Schema, TableFunction

# The errors of a negative number.
NEGATIVE_COUNTS = {"LIMIT": "2201W", "OFFSET": "2201X"}


class Dialect(Protocol):
    """The differences between the SELECTs of the engines.

    Attributes:
        is_limited: subqueries see only the SELECT around them, IN knows no NULL but as a condition,
            GROUPING SETS of nothing are nothing.
        keeps_keys: a key of a grouping has the value of one of its rows, -0 among them.
    """

    is_limited: bool
    keeps_keys: bool

    def printer(
        self, columns: Sequence[str], outer: Sequence[str] = (), nested: SubqueryRule | None = None
    ) -> ExpressionPrinter:
        """Return the printer of expressions over `columns`."""

    def identifier(self, name: str) -> str:
        """Return a quoted name."""

    def constant_columns(self, rows: Sequence[Sequence[Expression]], schema: Schema) -> tuple[str, ...] | None:
        """Return the columns of many rows of constants as items of a SELECT that yields the rows,
        in order.

        None: the rows are written out.
        """

    def first_value(self, text: str, rank: str | None) -> str:
        """Return an aggregate that yields the value of a row, of the lowest rank if there is one:
        all of a group are equal.
        """

    def checked_scalar(self, query: str, column: str) -> str:
        """Return a scalar subquery that raises 21000 only where the subquery is evaluated."""

    def array_query(self, query: str) -> str:
        """Return a subquery's one column as an array."""

    def any_query(self, operand: str, comparison: str, query: str) -> str:
        """Return a comparison of an operand with any row of a subquery."""

    def computed_count(self, text: str, word: str) -> str:
        """Return a LIMIT or OFFSET that the engine computes; a negative one is 2201W or 2201X.

        Raises 0A000 where the engine can't.
        """

    def recursive_word(self) -> str:
        """Return the words that begin a recursive query."""

    def table_function(
        self, printer: ExpressionPrinter, node: TableFunction, alias: str
    ) -> tuple[str, tuple[str, ...]]:
        """Return a FROM item that calls set-returning functions, and the texts of its columns."""


@dataclass(frozen=True)
class Block:
    """A SELECT that is being built.

    Attributes:
        columns: the texts of its output in terms of its FROM clause.
        stage: 'rows' (FROM and WHERE), 'groups' (GROUP BY and HAVING), 'windows' or 'items' (a
            select list is fixed).
        order: keys by output column.
        order_texts: keys in terms of FROM, only for blocks whose items are expressions over rows.
        one_group: an aggregate among the columns makes one row of all.
        drawn: a column calls a volatile function.
    """

    source: str
    columns: tuple[str, ...]
    schema: Schema
    stage: str = "rows"
    plain: bool = True
    single: bool = True
    distinct: bool = False
    where: tuple[str, ...] = ()
    group_by: tuple[str, ...] = ()
    having: tuple[str, ...] = ()
    order: tuple[tuple[int, str], ...] = ()
    order_texts: tuple[str, ...] = ()
    limit: str | None = None
    offset: str | None = None
    one_group: bool = False
    drawn: bool = False

    @property
    def is_cut(self) -> bool:
        return self.limit is not None or self.offset is not None

    @property
    def is_ordered(self) -> bool:
        return bool(self.order or self.order_texts)


def row_count(node: Expression | None, word: str, computed: Callable[[Expression, str], str]) -> str | None:
    """Return the number of a LIMIT or OFFSET, or the text that `computed` makes of an expression.

    NULL is no limit.
    """
    value = node
    while isinstance(value, Cast):
        value = value.operand
    if node is None or (isinstance(value, Literal) and value.value is None):
        return None
    if not isinstance(value, Literal) or not isinstance(value.value, int):
        return computed(node, word)
    if value.value < 0:
        raise SqlError(NEGATIVE_COUNTS[word], f"{word} must not be negative")
    # Spark takes 32 bits; no result here is longer.
    return str(min(value.value, 2**31 - 1))
