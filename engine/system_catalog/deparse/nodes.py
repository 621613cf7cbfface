"""Queries and expressions with every name resolved: which column of which item of FROM, which
operator, which cast, as PostgreSQL keeps them.

Made from the text of a definition by `reading` and `query_reading`, printed by `expression_text`
and `query_text`. Types are those that PostgreSQL gives, implicit casts are nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sql.types.datatypes import BOOL, UNKNOWN, SqlType


@dataclass(frozen=True)
class SourceColumn:
    """A column of an item of FROM.

    Attributes:
        called: its name in the text, None for a column that is newer than the text.
        name: its name today.
        hidden: no star stands for it.
    """

    called: str | None
    name: str
    type: SqlType
    hidden: bool = False


@dataclass(eq=False)
class Source:
    """An item of FROM that is no join.

    Attributes:
        kind: 'relation', 'query', 'function', 'item' (of WITH), 'values', or
            'parameters' (of the function around the text).
        called: its name in the text.
        name: its name today, without an alias.
        schema: of a relation, its schema today.
        called_schema: its schema in the text, written there or not.
        alias: as written, None without one.
        column_aliases: as written.
        query: of a query.
        rows: of values.
        calls: of a function, the calls.
        has_ordinality: WITH ORDINALITY was written.
        lateral: LATERAL was written.
        only: ONLY was written.
        shown: the alias that a printed query uses; set while it is printed.
        shown_columns: the names of its columns in a printed query, likewise.
        shows_columns: the printed query lists these names, likewise.
    """

    kind: str
    called: str
    name: str
    schema: str
    alias: str | None
    column_aliases: tuple[str, ...]
    columns: list[SourceColumn]
    called_schema: str = ""
    query: SelectQuery | None = None
    rows: tuple[tuple[Node, ...], ...] = ()
    calls: tuple[Node, ...] = ()
    has_ordinality: bool = False
    lateral: bool = False
    only: bool = False
    shown: str = ""
    shown_columns: list[str] = field(default_factory=list)
    shows_columns: bool = False


@dataclass(frozen=True, eq=False)
class Var:
    """A column of an item of FROM.

    Attributes:
        index: None means the whole row.
    """

    source: Source
    index: int | None
    type: SqlType


@dataclass(eq=False)
class Merged:
    """A column of JOIN USING that is no column of one side alone.

    Attributes:
        shown: its name in a printed query.
    """

    name: str
    type: SqlType
    shown: str = ""


@dataclass(frozen=True, eq=False)
class Constant:
    """A value as PostgreSQL's output of its type writes it.

    Attributes:
        text: None means NULL.
        oid: of the object that a constant of regclass and the like names, which is shown by its
            present name.
    """

    text: str | None
    type: SqlType
    oid: int | None = None


@dataclass(frozen=True, eq=False)
class CastNode:
    """A cast.

    Attributes:
        implicit: the text has none.
        method: 'function', 'relabel' or 'text' (by output and input).
    """

    operand: Node
    type: SqlType
    implicit: bool
    method: str


@dataclass(frozen=True, eq=False)
class OperatorNode:
    """An operator with one operand or two."""

    operator: str
    operands: tuple[Node, ...]
    type: SqlType


@dataclass(frozen=True, eq=False)
class LogicNode:
    """The operators 'and', 'or' and 'not'."""

    operator: str
    operands: tuple[Node, ...]
    type: SqlType = BOOL


@dataclass(frozen=True, eq=False)
class TestNode:
    """The test operand IS ..., or operand IS DISTINCT FROM another one.

    Attributes:
        words: what follows IS.
    """

    operand: Node
    words: str
    other: Node | None = None
    type: SqlType = BOOL


@dataclass(frozen=True, eq=False)
class SortNode:
    """An item of ORDER BY."""

    expression: Node
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, eq=False)
class WindowNode:
    """A window.

    Attributes:
        name: of the WINDOW clause.
        base: the window that it begins with.
        frame: words, and offsets between them.
    """

    name: str | None
    base: str | None
    partition_by: tuple[Node, ...]
    order_by: tuple[SortNode, ...]
    frame: tuple[str | Node, ...]


@dataclass(frozen=True, eq=False)
class CallNode:
    """A call.

    Attributes:
        name: as it is printed, quoted where needed.
        schema: of a user's function; '' for PostgreSQL's.
        columns: of the rows of a user's function that returns several.
        kind: 'function', 'words' (COALESCE and the like), 'syntax' (SQL's own form), 'bare'
            (without parentheses), 'aggregate', or 'window'.
    """

    name: str
    arguments: tuple[Node, ...]
    type: SqlType
    kind: str = "function"
    star: bool = False
    distinct: bool = False
    order_by: tuple[SortNode, ...] = ()
    within_group: bool = False
    condition: Node | None = None
    over: WindowNode | None = None
    schema: str = ""
    columns: tuple[tuple[str, SqlType], ...] = ()


@dataclass(frozen=True, eq=False)
class NamedNode:
    """The argument name => operand of a call."""

    name: str
    operand: Node
    type: SqlType


@dataclass(frozen=True, eq=False)
class CaseNode:
    """A CASE."""

    operand: Node | None
    branches: tuple[tuple[Node, Node], ...]
    default: Node
    type: SqlType


@dataclass(frozen=True, eq=False)
class ListNode:
    """The array ARRAY[...] or the row ROW(...)."""

    kind: str
    items: tuple[Node, ...]
    type: SqlType


@dataclass(frozen=True, eq=False)
class SubscriptNode:
    """A subscript, or a slice of two bounds."""

    operand: Node
    bounds: tuple[Node | None, ...]
    type: SqlType


@dataclass(frozen=True, eq=False)
class FieldNode:
    """A field of a record."""

    operand: Node
    name: str
    type: SqlType


@dataclass(frozen=True, eq=False)
class ArrayTestNode:
    """The comparison operand operator ANY | ALL (array)."""

    operand: Node
    operator: str
    quantifier: str
    array: Node
    type: SqlType = BOOL


@dataclass(frozen=True, eq=False)
class SubqueryNode:
    """A query in an expression: 'scalar', 'row', 'exists', 'array', 'any' or 'all'.

    Attributes:
        operands: what is compared with its columns.
    """

    kind: str
    operands: tuple[Node, ...]
    operator: str
    query: SelectQuery
    type: SqlType = UNKNOWN


@dataclass(frozen=True, eq=False)
class CollateNode:
    """The clause operand COLLATE name."""

    operand: Node
    name: str
    type: SqlType


Node = (
    Var | Merged | Constant | CastNode | OperatorNode | LogicNode | TestNode | CallNode | CaseNode | ListNode | SubscriptNode
    | FieldNode | ArrayTestNode | SubqueryNode | CollateNode | NamedNode
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class TargetNode:
    """An item of a select list.

    Attributes:
        name: of the column that it makes.
    """

    expression: Node
    name: str


@dataclass(frozen=True, eq=False)
class JoinNode:
    """A join.

    Attributes:
        using: (name, left column, right column, merged column) of each.
    """

    kind: str
    left: FromNode
    right: FromNode
    condition: Node | None
    using: tuple[tuple[str, Node, Node, Node], ...]


FromNode = Source | JoinNode


@dataclass(frozen=True, eq=False)
class GroupNode:
    """An item of GROUP BY: 'key' of one expression, or 'list', 'rollup', 'cube', 'sets'."""

    kind: str
    items: tuple[GroupNode, ...] = ()
    expression: Node | None = None


@dataclass(frozen=True, eq=False)
class SelectBlock:
    """A SELECT without the clauses that follow set operations; VALUES is a SELECT of all columns of
    its rows.

    Attributes:
        sources: all items of FROM, in order.
    """

    targets: tuple[TargetNode, ...]
    distinct: bool = False
    distinct_on: tuple[Node, ...] = ()
    items: tuple[FromNode, ...] = ()
    where: Node | None = None
    groups: tuple[GroupNode, ...] = ()
    group_distinct: bool = False
    having: Node | None = None
    windows: tuple[WindowNode, ...] = ()
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, eq=False)
class SetNode:
    """A set operation."""

    operator: str
    left: SetNode | SelectQuery
    right: SetNode | SelectQuery


@dataclass(frozen=True, eq=False)
class ItemNode:
    """An item of WITH."""

    name: str
    column_aliases: tuple[str, ...]
    query: SelectQuery
    materialized: str = ""


@dataclass(frozen=True, eq=False)
class SelectQuery:
    """A whole query.

    Attributes:
        columns: (name, type) of each column.
        order_by: over a set operation, with the numbers of columns in the place of expressions.
        locking: the words of each FOR UPDATE and the like, with its relations.
    """

    body: SelectBlock | SetNode
    columns: tuple[tuple[str, SqlType], ...]
    items: tuple[ItemNode, ...] = ()
    recursive: bool = False
    order_by: tuple[SortNode, ...] = ()
    order_numbers: tuple[int, ...] = ()
    limit: Node | None = None
    offset: Node | None = None
    with_ties: bool = False
    locking: tuple[tuple[str, tuple[Source, ...], str], ...] = ()
