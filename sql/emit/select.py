"""A relation tree as one SQL text: operators are merged into SELECT blocks where the order of evaluation allows it.

Enters: a bound relation and the names under which an engine knows its scans. Leaves: readable SQL whose output columns are named by
`column_names` and meant to be read by position. The two engines differ only in their `Dialect`. Must not know what the functions mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from textwrap import indent
from typing import Protocol

from sql.emit.aggregates import aggregate_text, window_text
from sql.emit.expressions import ExpressionPrinter
from sql.emit.names import column_names
from sql.errors import SqlError, not_supported
from sql.expressions import Call, Case, Cast, Column, Expression, Literal
from sql.relations import (
    Aggregate,
    Distinct,
    Filter,
    Join,
    Limit,
    OutputColumn,
    Project,
    Relation,
    Scan,
    Schema,
    Sort,
    Values,
    Window,
)


class Dialect(Protocol):
    """What differs between the engines' SELECTs."""

    def printer(self, columns: Sequence[str]) -> ExpressionPrinter:
        """Return the printer of expressions over `columns`."""

    def identifier(self, name: str) -> str:
        """Return a quoted name."""

    def first_value(self, text: str) -> str:
        """Return an aggregate that yields some row's value: all of a group are equal."""


@dataclass(frozen=True)
class Block:
    """A SELECT being built. columns: the texts of its output in terms of its FROM clause.

    stage: 'rows' (FROM and WHERE), 'groups' (GROUP BY and HAVING), 'windows', 'items' (a select list is fixed).
    order: keys by output column; order_texts: keys in terms of FROM, only for blocks whose items are expressions over rows.
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

    @property
    def is_cut(self) -> bool:
        return self.limit is not None or self.offset is not None

    @property
    def is_ordered(self) -> bool:
        return bool(self.order or self.order_texts)


@dataclass
class SelectPrinter:
    """Prints relations; one instance per statement, since it numbers the subqueries."""

    dialect: Dialect
    sources: Mapping[str, str]
    aliases_count: int = field(default=0)

    def statement(self, root: Relation) -> str:
        """Return the SQL text of `root`."""
        return self.render(self.block(root))

    def block(self, node: Relation) -> Block:
        """Return `node` as a SELECT that can still grow."""
        match node:
            case Scan():
                return self.scan(node)
            case Values():
                return self.values(node)
            case Filter():
                return self.filter(node)
            case Project():
                return self.project(node)
            case Aggregate():
                return self.aggregate(node)
            case Window():
                return self.window(node)
            case Distinct():
                return self.distinct(node)
            case Sort():
                return self.sort(node)
            case Limit():
                return self.limit(node)
            case Join():
                return self.join(node)

    def scan(self, node: Scan) -> Block:
        alias = self.next_alias()
        source = f"{self.dialect.identifier(self.sources[node.name])} AS {alias}"
        return Block(source, self.references(alias, node.schema), node.schema)

    def values(self, node: Values) -> Block:
        printer = self.dialect.printer(())
        if not node.schema and len(node.rows) == 1:
            return Block("", (), ())
        alias = self.next_alias()
        names = ", ".join(self.dialect.identifier(name) for name in column_names(node.schema))
        if not node.rows:
            nulls = ", ".join(
                f"{printer.literal(Literal(None, column.type))} AS {self.dialect.identifier(name)}"
                for column, name in zip(node.schema, column_names(node.schema), strict=True)
            )
            source = f"(SELECT {nulls} WHERE FALSE) AS {alias}"
        else:
            rows = (
                "("
                + ", ".join(printer.fit(item, column.type) for item, column in zip(row, node.schema, strict=True))
                + ")"
                for row in node.rows
            )
            source = f"(VALUES {', '.join(rows)}) AS {alias}({names})"
        return Block(source, self.references(alias, node.schema), node.schema)

    def filter(self, node: Filter) -> Block:
        block = self.block(node.input)
        if block.is_cut or block.distinct or block.stage in ("windows", "items"):
            block = self.wrap(block)
        text = self.dialect.printer(block.columns).text(node.predicate)
        if block.stage == "groups":
            return replace(block, having=(*block.having, text))
        return replace(block, where=(*block.where, text))

    def project(self, node: Project) -> Block:
        block = self.block(node.input)
        bare = all(isinstance(item, Column) for _, item in node.items)
        if block.distinct or (block.stage == "items" and not bare) or (block.order and not block.plain):
            block = self.wrap(block)
        if block.order:
            # The keys stay, though their columns may go.
            texts = tuple(f"{block.columns[index]}{direction}" for index, direction in block.order)
            block = replace(block, order=(), order_texts=texts)
        printer = self.dialect.printer(block.columns)
        return replace(
            block, columns=tuple(printer.text(item) for _, item in node.items), schema=node.schema, stage="items"
        )

    def aggregate(self, node: Aggregate) -> Block:
        block = self.rows(node.input)
        keys = [item for _, item in node.keys]
        if not all(isinstance(item, Column) for item in keys):
            block, keys = self.with_key_columns(block, node, keys)
        printer = self.dialect.printer(block.columns)
        group_by, columns = [], []
        for key in keys:
            text = printer.text(key)
            group_by.append(printer.comparable_text(text, key.type))
            columns.append(self.dialect.first_value(text) if key.type.is_variable_numeric else text)
        columns += [aggregate_text(printer, call) for _, call in node.aggregates]
        if not columns:
            raise not_supported("grouping that yields no column")
        return replace(
            block, columns=tuple(columns), schema=node.schema, stage="groups", plain=False, group_by=tuple(group_by)
        )

    def with_key_columns(self, block: Block, node: Aggregate, keys: list[Expression]) -> tuple[Block, list[Expression]]:
        """Compute the keys in a subquery of their own: a GROUP BY of expressions is read differently by each engine."""
        used: set[int] = set()
        for _, call in node.aggregates:
            for argument in (*call.arguments, *((call.filter,) if call.filter is not None else ())):
                collect_columns(argument, used)
        kept = sorted(used)
        printer = self.dialect.printer(block.columns)
        schema = (
            *(block.schema[index] for index in kept),
            *(OutputColumn(name, item.type) for name, item in node.keys),
        )
        texts = (*(block.columns[index] for index in kept), *(printer.text(item) for item in keys))
        wrapped = self.wrap(replace(block, columns=texts, schema=schema, stage="items"))
        by_index = dict(zip(kept, wrapped.columns, strict=False))
        columns = tuple(by_index.get(index, "") for index in range(len(block.columns)))
        start = len(columns)
        renamed: list[Expression] = [Column(start + index, "", item.type) for index, item in enumerate(keys)]
        return replace(wrapped, columns=(*columns, *wrapped.columns[len(kept) :])), renamed

    def window(self, node: Window) -> Block:
        block = self.rows(node.input)
        printer = self.dialect.printer(block.columns)
        calls = tuple(window_text(printer, call) for _, call in node.calls)
        return replace(block, columns=(*block.columns, *calls), schema=node.schema, stage="windows", plain=False)

    def distinct(self, node: Distinct) -> Block:
        if any(column.type.is_variable_numeric for column in node.schema):
            keys = tuple(
                (column.name, Column(index, column.name, column.type)) for index, column in enumerate(node.schema)
            )
            return self.aggregate(Aggregate(node.input, keys, ()))
        block = self.block(node.input)
        if block.is_cut or block.distinct or block.is_ordered:
            block = self.wrap(block)
        return replace(block, distinct=True, plain=False, stage="items")

    def sort(self, node: Sort) -> Block:
        block = self.block(node.input)
        if block.is_cut or block.is_ordered:
            block = replace(self.wrap(block), order=())
        directions = [
            (" DESC" if key.descending else "") + (" NULLS FIRST" if key.nulls_first else " NULLS LAST")
            for key in node.keys
        ]
        keys = [key.expression for key in node.keys]
        if all(isinstance(key, Column) and not key.type.is_variable_numeric for key in keys):
            order = tuple(
                (key.index, way) for key, way in zip(keys, directions, strict=True) if isinstance(key, Column)
            )
            return replace(block, order=order)
        if not block.plain:
            block = self.wrap(block)
        printer = self.dialect.printer(block.columns)
        texts = tuple(f"{printer.comparable(key)}{way}" for key, way in zip(keys, directions, strict=True))
        return replace(block, order_texts=texts)

    def limit(self, node: Limit) -> Block:
        block = self.block(node.input)
        if block.is_cut:
            block = self.wrap(block)
        return replace(block, limit=row_count(node.limit, "LIMIT"), offset=row_count(node.offset, "OFFSET"))

    def join(self, node: Join) -> Block:
        left, right = self.join_side(node.left), self.join_side(node.right)
        if not right.single:
            right = self.wrap(right)
        columns = (*left.columns, *right.columns)
        condition = None if node.condition is None else self.dialect.printer(columns).text(node.condition)
        if node.kind in ("inner", "cross") and condition is None:
            source = f"{left.source}\nCROSS JOIN {right.source}"
        else:
            word = "INNER" if node.kind == "cross" else node.kind.upper()
            source = f"{left.source}\n{word} JOIN {right.source} ON {condition or 'TRUE'}"
        return Block(source, columns, node.schema, single=False)

    def join_side(self, node: Relation) -> Block:
        block = self.block(node)
        simple = (
            block.stage == "rows" and not block.where and not block.is_cut and not block.is_ordered and block.source
        )
        return block if simple else self.wrap(block)

    def rows(self, node: Relation) -> Block:
        """Return `node` as a block that has nothing after its WHERE clause."""
        block = self.block(node)
        if block.stage != "rows" or block.is_cut or block.is_ordered:
            return replace(self.wrap(block), order=())
        return block

    def wrap(self, block: Block) -> Block:
        """Return a new SELECT over `block` as a subquery; its order is repeated outside, where it counts."""
        alias = self.next_alias()
        columns = self.references(alias, block.schema)
        source = f"(\n{indent(self.render(block), '  ')}\n) AS {alias}"
        return Block(source, columns, block.schema, order=block.order)

    def render(self, block: Block) -> str:
        """Return the SELECT's text."""
        identifier = self.dialect.identifier
        names = column_names(block.schema)
        items = [f"{text} AS {identifier(name)}" for text, name in zip(block.columns, names, strict=True)]
        if not items:
            items = [f"TRUE AS {identifier('column')}"]
        lines = [f"SELECT {'DISTINCT ' if block.distinct else ''}{', '.join(items)}"]
        if block.source:
            lines.append(f"FROM {block.source}")
        if block.where:
            lines.append(f"WHERE {' AND '.join(block.where)}")
        if block.group_by:
            lines.append(f"GROUP BY {', '.join(block.group_by)}")
        if block.having:
            lines.append(f"HAVING {' AND '.join(block.having)}")
        keys = block.order_texts or tuple(
            f"{block.columns[index] if block.plain else identifier(names[index])}{way}" for index, way in block.order
        )
        if keys:
            lines.append(f"ORDER BY {', '.join(keys)}")
        if block.limit is not None:
            lines.append(f"LIMIT {block.limit}")
        if block.offset is not None:
            lines.append(f"OFFSET {block.offset}")
        return "\n".join(lines)

    def references(self, alias: str, schema: Schema) -> tuple[str, ...]:
        """Return the qualified names of a FROM item's columns."""
        return tuple(f"{alias}.{self.dialect.identifier(name)}" for name in column_names(schema))

    def next_alias(self) -> str:
        self.aliases_count += 1
        return f"t{self.aliases_count}"


def collect_columns(node: Expression, into: set[int]) -> None:
    """Add the indexes of the columns that `node` reads."""
    match node:
        case Column():
            into.add(node.index)
        case Call():
            for argument in node.arguments:
                collect_columns(argument, into)
        case Cast():
            collect_columns(node.operand, into)
        case Case():
            for branch in node.branches:
                for part in branch:
                    collect_columns(part, into)
            collect_columns(node.default, into)


def row_count(node: Expression | None, word: str) -> str | None:
    """Return the number of a LIMIT or OFFSET; NULL is no limit."""
    while isinstance(node, Cast):
        node = node.operand
    if node is None or (isinstance(node, Literal) and node.value is None):
        return None
    if not isinstance(node, Literal) or not isinstance(node.value, int):
        raise not_supported(f"a {word} that is not a constant integer")
    if node.value < 0:
        raise SqlError("2201W" if word == "LIMIT" else "2201X", f"{word} must not be negative")
    # Spark takes 32 bits; no result here is longer.
    return str(min(node.value, 2**31 - 1))
