"""The typed scalar expressions that `bind` yields: immutable, hashable, self-contained.

Every node has its `type`. Operators have operands of equal type family after binding (bind puts the
casts in), so a printer or a kernel never guesses a conversion. A session value (time zone) is a
literal inside the tree; only `now` stays a call, and `parameters` are replaced by literals before
anything runs. Positions, texts and names for people take no part in equality and hashing, so that
equal expressions are equal wherever they were written. Must not know how anything is evaluated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from sql.types.datatypes import LiteralValue, SqlType

if TYPE_CHECKING:
    from sql.tree.relations import Relation

# Of a longer text or piece of bytes the beginning tells enough.
HASHED_MAX = 1 << 16


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the input relation.

    Attributes:
        index: the place in the schema of the input, from 0.
        name: for people only.
    """

    index: int
    name: str = field(compare=False)
    type: SqlType
    position: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A constant.

    Only constants that print alike are equal: 1.0 is not 1.00, nor 0 a float's -0, but NaN is NaN.

    Attributes:
        value: None is NULL.
    """

    value: LiteralValue
    type: SqlType
    position: int | None = field(default=None, compare=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal):
            return NotImplemented
        return self.type == other.type and _printed(self.value) == _printed(other.value)

    def __hash__(self) -> int:
        value = self.value
        if isinstance(value, str | bytes) and len(value) > HASHED_MAX:
            return hash((self.type, len(value), value[:HASHED_MAX]))
        return hash((self.type, _printed(value)))


@dataclass(frozen=True, slots=True)
class Parameter:
    """The parameter $number (from 1) of the extended protocol."""

    number: int
    type: SqlType
    position: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function or an operator.

    Attributes:
        function: a canonical name of `sql.functions.table`, resolved with the types of the
            operands.
        position: 1-based character offset in the statement, for errors.
        text: the piece of the client's SQL, for CONTEXT lines.
    """

    function: str
    arguments: tuple[Expression, ...]
    type: SqlType
    position: int | None = field(default=None, compare=False)
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Cast:
    """A conversion to `type`.

    Attributes:
        explicit: true where varchar(n) cuts a value that is too long; otherwise such a value is
            22001.
        zone: the session's TimeZone where the conversion depends on it (timestamptz to and from
            date, timestamp, text), else "".
    """

    operand: Expression
    type: SqlType
    explicit: bool = False
    zone: str = ""
    position: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Case:
    """A searched CASE (a simple CASE is bound as equalities).

    Branches after the first true condition are not evaluated.
    """

    branches: tuple[tuple[Expression, Expression], ...]
    default: Expression
    type: SqlType


@dataclass(frozen=True, slots=True)
class OuterColumn:
    """An argument of the nearest closure: a value of the row outside, in a `Subquery` or the right
    side of a lateral `Join`.

    A value from further outside is passed on from argument to argument.

    Attributes:
        index: the number of the argument, from 0.
    """

    index: int
    name: str = field(compare=False)
    type: SqlType
    position: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Subquery:
    """A relation inside an expression.

    Attributes:
        kind: 'scalar' (NULL for no row, 21000 for several), 'exists', 'array', or 'any' | 'all',
            which compare `operands` with the columns of the relation, in pairs.
        arguments: expressions over the row outside, the values of the relation's `OuterColumn`s.
        comparison: the canonical function ('eq', 'lt', ...) of 'any' and 'all'; operands and
            columns have equal type families.
    """

    kind: str
    relation: Relation
    arguments: tuple[Expression, ...]
    type: SqlType
    operands: tuple[Expression, ...] = ()
    comparison: str = ""
    position: int | None = field(default=None, compare=False)
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """An aggregate over the rows that pass `filter`: count_star, sum, ...

    Attributes:
        order_by: the order in which the aggregate takes the rows, where that matters; of
            percentile_cont and the like the key of WITHIN GROUP.
    """

    function: str
    arguments: tuple[Expression, ...]
    type: SqlType
    filter: Expression | None = None
    distinct: bool = False
    position: int | None = field(default=None, compare=False)
    text: str = field(default="", compare=False)
    order_by: tuple[SortKey, ...] = ()


@dataclass(frozen=True, slots=True)
class SortKey:
    """One key of an ORDER BY.

    PostgreSQL's default for NULLs (last when ascending) is already resolved.
    """

    expression: Expression
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True)
class WindowFrame:
    """A frame in ROWS, RANGE or GROUPS between two bounds.

    Attributes:
        start, end: ('unbounded'|'preceding'|'current'|'following', offset or None); the offset of
            RANGE is a constant of the type that is added to the one sort key, that of ROWS and
            GROUPS a number; either is an expression while a parameter is open.
        exclusion: '', 'current row', 'group' or 'ties'.
    """

    unit: str
    start: tuple[str, int | Expression | None]
    end: tuple[str, int | Expression | None]
    exclusion: str = ""


@dataclass(frozen=True, slots=True)
class WindowCall:
    """A window function or an aggregate with OVER.

    Attributes:
        frame: None is PostgreSQL's default.
    """

    function: str
    arguments: tuple[Expression, ...]
    type: SqlType
    partition_by: tuple[Expression, ...] = ()
    order_by: tuple[SortKey, ...] = ()
    frame: WindowFrame | None = None
    filter: Expression | None = None
    position: int | None = field(default=None, compare=False)
    text: str = field(default="", compare=False)


Expression = Column | OuterColumn | Literal | Parameter | Call | Cast | Case | Subquery


def _printed(value: LiteralValue) -> LiteralValue:
    return str(value) if isinstance(value, float | Decimal | tuple) else value
