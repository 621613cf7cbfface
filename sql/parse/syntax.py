"""The syntax of queries: what the client wrote, before names and types are known. Frozen dataclasses that `sql.grammar` makes.

Every node has `position`, the 1-based character where PostgreSQL would point an error at it (an operator's own place, a function's
name). Composite nodes keep `text`, their piece of the user's SQL. Words are case-folded unless they were quoted. Must not know types
or relations.
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
    """A literal. kind: 'integer', 'decimal' (digits with point or exponent), 'string', 'bool', 'null'; value is its text.

    kind 'default' is the word DEFAULT, which the grammar takes out wherever it means something, and refuses everywhere else.
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
    """A type as written: `name` folded and normalised to one word, its modifiers, and array brackets if any.

    fields: of an interval, as 'day' or 'day to second'; its modifier is then the number of digits of a second. schema: as written, ''
    without one.
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
    """operator 'and' or 'or' over two or more operands, or 'not' over one."""

    operator: str
    operands: tuple[Expression, ...]
    position: int
    text: str


@dataclass(frozen=True, slots=True)
class Test:
    """operand IS [NOT] kind; kind: 'null', 'true', 'false', 'unknown'."""

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
    """CAST(operand AS type), operand::type, or type 'literal'. fields: those of an interval type, as 'day' or 'day to second'."""

    operand: Expression
    type: TypeName
    position: int
    text: str
    fields: str = ""


@dataclass(frozen=True, slots=True)
class Collation:
    """operand COLLATE name, where the name means the order of bytes, which every text has."""

    operand: Expression
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
    """One ORDER BY item; nulls_first None when not written."""

    expression: Expression
    descending: bool
    nulls_first: bool | None
    position: int


@dataclass(frozen=True, slots=True)
class FrameBound:
    """kind: 'unbounded_preceding', 'preceding', 'current', 'following', 'unbounded_following'."""

    kind: str
    offset: Expression | None
    position: int


@dataclass(frozen=True, slots=True)
class WindowDefinition:
    """The parentheses of OVER or WINDOW; `base` is a named window. exact: OVER base.

    frame: (unit, start, end, what EXCLUDE names: '', 'current row', 'group' or 'ties') or None.
    """

    base: str | None
    partition_by: tuple[Expression, ...]
    order_by: tuple[SortItem, ...]
    frame: tuple[str, FrameBound, FrameBound, str] | None
    position: int
    exact: bool = False


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """name(arguments). label: the output column's name that PostgreSQL gives. star: count(*).

    spelled: written in a form of SQL's own, such as EXTRACT(... FROM ...). within_group: the keys of WITHIN GROUP.
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


@dataclass(frozen=True, slots=True)
class Row:
    """ROW(items) or (item, item, ...): several values beside each other, as in (a, b) IN (SELECT ...)."""

    items: tuple[Expression, ...]
    position: int
    text: str


@dataclass(frozen=True, slots=True)
class ArrayItems:
    """ARRAY[items]; nested ones are arrays of more dimensions."""

    items: tuple[Expression, ...]
    position: int
    text: str


@dataclass(frozen=True, slots=True)
class Subscript:
    """operand[lower] or operand[lower:upper]; either bound of a slice may be left out (None)."""

    operand: Expression
    lower: Expression | None
    upper: Expression | None
    is_slice: bool
    position: int
    text: str


@dataclass(frozen=True, slots=True)
class FieldSelection:
    """(operand).name: a field of a composite value."""

    operand: Expression
    name: str
    position: int
    text: str


@dataclass(frozen=True, slots=True)
class ArrayComparison:
    """operand operator ANY | ALL (array expression). quantifier: 'any' (also written SOME) or 'all'."""

    operand: Expression
    operator: str
    quantifier: str
    array: Expression
    position: int
    text: str


@dataclass(frozen=True, slots=True)
class Subquery:
    """A query inside an expression.

    kind: 'scalar', 'exists', 'array' (ARRAY(query)), or 'any' | 'all' for operand operator ANY | ALL (query); IN is = ANY, and NOT IN is
    NOT of it, as in PostgreSQL. operand: a `Row` where several columns are compared; None for the first three kinds.
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
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Target:
    """One item of a target list."""

    expression: Expression
    alias: str | None
    position: int


@dataclass(frozen=True, slots=True)
class Table:
    """A named relation in FROM. name has one to three parts."""

    name: tuple[str, ...]
    alias: str | None
    column_aliases: tuple[str, ...]
    position: int


@dataclass(frozen=True, slots=True)
class Derived:
    """[LATERAL] (query) AS alias in FROM."""

    query: Query
    alias: str | None
    column_aliases: tuple[str, ...]
    position: int
    lateral: bool = False


@dataclass(frozen=True, slots=True)
class FunctionTable:
    """[LATERAL] function(...) [WITH ORDINALITY] [AS alias (columns)] in FROM; ROWS FROM (...) has several calls.

    A function in FROM sees the items before it, whether LATERAL is written or not.
    """

    calls: tuple[FunctionCall, ...]
    ordinality: bool
    alias: str | None
    column_aliases: tuple[str, ...]
    position: int


@dataclass(frozen=True, slots=True)
class JoinClause:
    """left JOIN right. kind: 'inner', 'left', 'right', 'full', 'cross'. using: column names with their positions."""

    left: FromItem
    right: FromItem
    kind: str
    natural: bool
    using: tuple[tuple[str, int], ...]
    condition: Expression | None
    position: int


FromItem = Table | Derived | FunctionTable | JoinClause


@dataclass(frozen=True, slots=True)
class GroupingSets:
    """An item of GROUP BY. kind: 'sets' (GROUPING SETS), 'rollup', 'cube', or 'list' for (a, b), which is () when it is empty.

    items: expressions, 'list's, and in 'sets' also nested rollups, cubes and sets.
    """

    kind: str
    items: tuple[Expression | GroupingSets, ...]
    position: int


GroupItem = Expression | GroupingSets


@dataclass(frozen=True, slots=True)
class SelectBody:
    """SELECT [DISTINCT [ON (...)]] ... FROM ... WHERE ... GROUP BY [DISTINCT] ... HAVING ... WINDOW ...

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
    """VALUES (...), (...). An item is None for DEFAULT, which only INSERT takes."""

    rows: tuple[tuple[Expression | None, ...], ...]
    position: int


@dataclass(frozen=True, slots=True)
class SetOperation:
    """left UNION | INTERSECT | EXCEPT [ALL] right; operator in lower case. INTERSECT binds tighter; the rest is left-associative.

    An operand is a bare body, or a `Query` where parentheses give it clauses of its own.
    """

    operator: str
    all: bool
    left: Body
    right: Body
    position: int


@dataclass(frozen=True, slots=True)
class CommonTable:
    """One item of WITH. recursive: WITH RECURSIVE was written (the query need not refer to itself)."""

    name: str
    column_aliases: tuple[str, ...]
    query: Query
    position: int
    recursive: bool = False


@dataclass(frozen=True, slots=True)
class Locking:
    """FOR UPDATE | FOR NO KEY UPDATE | FOR SHARE | FOR KEY SHARE [OF tables]. wait: 'wait', 'nowait' or 'skip'."""

    strength: str
    tables: tuple[tuple[str, int], ...]
    wait: str
    position: int


@dataclass(frozen=True, slots=True)
class Query:
    """[WITH ...] body [ORDER BY ...] [LIMIT ...] [OFFSET ...] [FOR UPDATE ...]. with_ties: FETCH FIRST ... WITH TIES."""

    common_tables: tuple[CommonTable, ...]
    body: Body
    order_by: tuple[SortItem, ...]
    limit: Expression | None
    offset: Expression | None
    position: int
    with_ties: bool = False
    locking: tuple[Locking, ...] = ()


Body = SelectBody | ValuesBody | SetOperation | Query
