"""The syntax tree of queries: the text of the client, before names and types are known.

The nodes are frozen dataclasses that `sql.parse.grammar` makes. Every node has `position`, the
1-based character where PostgreSQL would point an error at the node (the place of an operator, of a
function's name). Composite nodes keep `text`, their piece of the client's SQL. Words are
case-folded unless they were quoted. Must not know types or relations.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Name:
    """A column reference: column, relation.column, or schema.relation.column."""

    parts: tuple[str, ...]
    position: int


@dataclass(frozen=True, slots=True)
class Star:
    """`*` or `relation.*` in a target list."""

    qualifier: tuple[str, ...]
    position: int


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal.

    The kind 'default' is the word DEFAULT, which the grammar takes out wherever it means something,
    and refuses everywhere else.

    Attributes:
        kind: 'integer', 'decimal' (digits with point or exponent), 'string', 'bool', 'null' or
            'default'.
        value: the text of the literal.
    """

    kind: str
    value: str
    position: int


@dataclass(frozen=True, slots=True)
class ParameterNumber:
    """$number."""

    number: int
    position: int


@dataclass(frozen=True, slots=True)
class TypeName:
    """A type as it is written.

    Attributes:
        name: folded and normalised to one word.
        fields: of an interval, as 'day' or 'day to second'; the modifier is then the number of
            digits of a second.
        schema: as written, '' without one.
    """

    name: str
    modifiers: tuple[int, ...]
    position: int
    text: str
    array: bool = False
    fields: str = ""
    schema: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """A unary (one operand) or binary operator, including comparison, arithmetic and ||."""

    operator: str
    operands: tuple[Expression, ...]
    position: int
    text: str


@dataclass(frozen=True, slots=True)
class Logic:
    """The operators AND and OR over two or more operands, and NOT over one.

    Attributes:
        operator: 'and', 'or' or 'not'.
    """

    operator: str
    operands: tuple[Expression, ...]
    position: int
    text: str


@dataclass(frozen=True, slots=True)
class Test:
    """The test operand IS [NOT] kind.

    Attributes:
        kind: 'null', 'true', 'false' or 'unknown'.
    """

    kind: str
    operand: Expression
    negated: bool
    position: int
    text: str


@dataclass(frozen=True, slots=True)
class Distinctness:
    """left IS [NOT] DISTINCT FROM right."""

    left: Expression
    right: Expression
    negated: bool
    position: int
    text: str


@dataclass(frozen=True, slots=True)
class Between:
    """operand [NOT] BETWEEN [SYMMETRIC] low AND high."""

    operand: Expression
    low: Expression
    high: Expression
    negated: bool
    symmetric: bool
    position: int
    text: str


@dataclass(frozen=True, slots=True)
class InList:
    """operand [NOT] IN (items)."""

    operand: Expression
    items: tuple[Expression, ...]
    negated: bool
    position: int
    text: str


@dataclass(frozen=True, slots=True)
class Like:
    """operand [NOT] LIKE | ILIKE pattern [ESCAPE escape]."""

    operand: Expression
    pattern: Expression
    escape: Expression | None
    case_insensitive: bool
    negated: bool
    position: int
    text: str


@dataclass(frozen=True, slots=True)
class TypeCast:
    """CAST(operand AS type), operand::type, or type 'literal'.

    Attributes:
        fields: of an interval type, as 'day' or 'day to second'.
    """

    operand: Expression
    type: TypeName
    position: int
    text: str
    fields: str = ""


@dataclass(frozen=True, slots=True)
class Collation:
    """The clause operand COLLATE name, where the name means the order of bytes, which every text
    has.
    """

    operand: Expression
    name: str
    position: int


@dataclass(frozen=True, slots=True)
class CaseWhen:
    """CASE [operand] WHEN ... THEN ... [ELSE default] END."""

    operand: Expression | None
    branches: tuple[tuple[Expression, Expression], ...]
    default: Expression | None
    position: int
    text: str


@dataclass(frozen=True, slots=True)
class SortItem:
    """One item of ORDER BY.

    Attributes:
        nulls_first: None when not written.
    """

    expression: Expression
    descending: bool
    nulls_first: bool | None
    position: int


@dataclass(frozen=True, slots=True)
class FrameBound:
    """One end of a window frame.

    Attributes:
        kind: 'unbounded_preceding', 'preceding', 'current', 'following' or 'unbounded_following'.
    """

    kind: str
    offset: Expression | None
    position: int


@dataclass(frozen=True, slots=True)
class WindowDefinition:
    """A window definition, in the parentheses of OVER or WINDOW.

    Attributes:
        base: the name of a window.
        frame: None, or (unit, start, end, exclusion); the exclusion is '', 'current row', 'group'
            or 'ties'.
        exact: the form is OVER base.
    """

    base: str | None
    partition_by: tuple[Expression, ...]
    order_by: tuple[SortItem, ...]
    frame: tuple[str, FrameBound, FrameBound, str] | None
    position: int
    exact: bool = False


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """The call name(arguments).

    Attributes:
        label: the name of the output column as PostgreSQL gives it.
        star: the form is count(*).
        spelled: the call is written in a form of SQL's own, such as EXTRACT(... FROM ...).
        within_group: the keys of WITHIN GROUP.
        schema: the schema of a function that is none of PostgreSQL's, as it is written.
        variadic: VARIADIC stands before the last argument.
    """

    name: str
    arguments: tuple[Expression, ...]
    position: int
    text: str
    label: str
    star: bool = False
    distinct: bool = False
    order_by: tuple[SortItem, ...] = ()
    filter: Expression | None = None
    over: WindowDefinition | None = None
    spelled: bool = False
    within_group: tuple[SortItem, ...] = ()
    schema: str | None = None
    variadic: bool = False


@dataclass(frozen=True, slots=True)
class NamedArgument:
    """The argument name => value of a call."""

    name: str
    value: Expression
    position: int


@dataclass(frozen=True, slots=True)
class Row:
    """The row ROW(items) or (item, item, ...): several values beside each other, as in (a, b) IN
    (SELECT ...).
    """

    items: tuple[Expression, ...]
    position: int
    text: str


@dataclass(frozen=True, slots=True)
class ArrayItems:
    """The array ARRAY[items]; arrays inside are arrays of more dimensions."""

    items: tuple[Expression, ...]
    position: int
    text: str


@dataclass(frozen=True, slots=True)
class Subscript:
    """The subscript operand[lower] or operand[lower:upper].

    Attributes:
        lower, upper: either bound of a slice may be left out (None).
    """

    operand: Expression
    lower: Expression | None
    upper: Expression | None
    is_slice: bool
    position: int
    text: str


@dataclass(frozen=True, slots=True)
class FieldSelection:
    """The selection (operand).name of a field of a composite value."""

    operand: Expression
    name: str
    position: int
    text: str


@dataclass(frozen=True, slots=True)
class ArrayComparison:
    """The comparison operand operator ANY | ALL (array expression).

    Attributes:
        quantifier: 'any' (also written SOME) or 'all'.
    """

    operand: Expression
    operator: str
    quantifier: str
    array: Expression
    position: int
    text: str


@dataclass(frozen=True, slots=True)
class Subquery:
    """A query inside an expression.

    IN is = ANY, and NOT IN is NOT of it, as in PostgreSQL.

    Attributes:
        kind: 'scalar', 'exists', 'array' (ARRAY(query)), or 'any' | 'all' for operand operator ANY
            | ALL (query).
        operand: a `Row` where several columns are compared; None for the first three kinds.
    """

    kind: str
    query: Query
    operand: Expression | None
    operator: str
    position: int
    text: str


Expression = (
    Name | Star | Constant | ParameterNumber | Operation | Logic | Test | Distinctness | Between | InList | Like | TypeCast
    | Collation | CaseWhen | FunctionCall | Row | ArrayItems | Subscript | FieldSelection | ArrayComparison | Subquery
    | NamedArgument
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Target:
    """One item of a target list."""

    expression: Expression
    alias: str | None
    position: int


@dataclass(frozen=True, slots=True)
class Table:
    """A named relation in FROM.

    Attributes:
        name: one to three parts.
        only: ONLY was written, which no relation is asked for: none has descendants.
        is_output: output_of('name') was written: the stream of the changes of that view.
    """

    name: tuple[str, ...]
    alias: str | None
    column_aliases: tuple[str, ...]
    position: int
    only: bool = False
    is_output: bool = False

    @property
    def bare_name(self) -> str | None:
        """The name that an item of WITH may have, None for one that only the catalog may have."""
        return None if self.is_output or len(self.name) > 1 else self.name[0]


@dataclass(frozen=True, slots=True)
class Derived:
    """[LATERAL] (query) AS alias in FROM."""

    query: Query
    alias: str
    column_aliases: tuple[str, ...]
    position: int
    lateral: bool = False


@dataclass(frozen=True, slots=True)
class FunctionTable:
    """[LATERAL] function(...) [WITH ORDINALITY] [AS alias (columns)] in FROM.

    ROWS FROM (...) has several calls.

    A function in FROM sees the items before it, whether LATERAL is written or not.
    """

    calls: tuple[FunctionCall, ...]
    ordinality: bool
    alias: str | None
    column_aliases: tuple[str, ...]
    position: int


@dataclass(frozen=True, slots=True)
class WindowedTable:
    """tumble(TABLE name, time, size [, offset]), hop(TABLE name, time, slide, size [, offset]) or
    session(TABLE name [PARTITION BY column, ...], time, gap) in FROM.

    Attributes:
        kind: 'tumble', 'hop' or 'session'.
        time: a column of the table.
        spans: the other arguments.
        partition_by: columns of the table.
    """

    kind: str
    source: Table
    time: Name
    spans: tuple[Expression, ...]
    alias: str | None
    column_aliases: tuple[str, ...]
    position: int
    partition_by: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True)
class JoinClause:
    """The join of left and right.

    Attributes:
        kind: 'inner', 'left', 'right', 'full' or 'cross'.
        using: column names with their positions.
    """

    left: FromItem
    right: FromItem
    kind: str
    natural: bool
    using: tuple[tuple[str, int], ...]
    condition: Expression | None
    position: int


FromItem = Table | Derived | FunctionTable | WindowedTable | JoinClause


@dataclass(frozen=True, slots=True)
class GroupingSets:
    """An item of GROUP BY with several keys.

    Attributes:
        kind: 'sets' (GROUPING SETS), 'rollup', 'cube', or 'list' for (a, b), which is () when it is
            empty.
        items: expressions, 'list's, and in 'sets' also nested rollups, cubes and sets.
    """

    kind: str
    items: tuple[Expression | GroupingSets, ...]
    position: int


GroupItem = Expression | GroupingSets


@dataclass(frozen=True, slots=True)
class SelectBody:
    """The body SELECT [DISTINCT [ON (...)]] ...

    FROM ... WHERE ... GROUP BY [DISTINCT] ... HAVING ... WINDOW ...

    Attributes:
        distinct_on: the expressions of DISTINCT ON, else empty; `distinct` is then False.
    """

    targets: tuple[Target, ...]
    distinct: bool
    from_items: tuple[FromItem, ...]
    where: Expression | None
    group_by: tuple[GroupItem, ...]
    having: Expression | None
    windows: tuple[tuple[str, WindowDefinition], ...]
    position: int
    distinct_on: tuple[Expression, ...] = ()
    group_distinct: bool = False


@dataclass(frozen=True, slots=True)
class ValuesBody:
    """The body VALUES (...), (...).

    Attributes:
        rows: an item is None for DEFAULT, which only INSERT takes.
    """

    rows: tuple[tuple[Expression | None, ...], ...]
    position: int


@dataclass(frozen=True, slots=True)
class SetOperation:
    """The body left UNION | INTERSECT | EXCEPT [ALL] right.

    INTERSECT binds tighter; the rest is left-associative. An operand is a bare body, or a `Query`
    where parentheses give it clauses of its own.

    Attributes:
        operator: in lower case.
    """

    operator: str
    all: bool
    left: Body
    right: Body
    position: int


@dataclass(frozen=True, slots=True)
class CommonTable:
    """One item of WITH.

    Attributes:
        recursive: WITH RECURSIVE was written (the query need not refer to itself).
        materialized: 'MATERIALIZED' or 'NOT MATERIALIZED', '' where neither was written.
    """

    name: str
    column_aliases: tuple[str, ...]
    query: Query
    position: int
    recursive: bool = False
    materialized: str = ""


@dataclass(frozen=True, slots=True)
class Locking:
    """The clause FOR UPDATE | FOR NO KEY UPDATE | FOR SHARE | FOR KEY SHARE [OF tables].

    Attributes:
        wait: 'wait', 'nowait' or 'skip'.
    """

    strength: str
    tables: tuple[tuple[str, int], ...]
    wait: str
    position: int


@dataclass(frozen=True, slots=True)
class Query:
    """A query: [WITH ...] body [ORDER BY ...] [LIMIT ...] [OFFSET ...] [FOR UPDATE ...].

    Attributes:
        with_ties: FETCH FIRST ... WITH TIES.
    """

    common_tables: tuple[CommonTable, ...]
    body: Body
    order_by: tuple[SortItem, ...]
    limit: Expression | None
    offset: Expression | None
    position: int
    with_ties: bool = False
    locking: tuple[Locking, ...] = ()


Body = SelectBody | ValuesBody | SetOperation | Query
