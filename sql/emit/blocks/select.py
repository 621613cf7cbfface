"""A relation tree as one SQL text: operators are merged into SELECT blocks where the order of
evaluation allows it.

Enters: a bound relation and the names under which an engine knows its scans. Leaves: readable SQL
whose output columns are named by `column_names` and meant to be read by position. The two engines
differ only in their `Dialect`. Must not know what the functions mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from sql.emit.blocks.aggregates import aggregate_text, window_text
from sql.emit.blocks.alike_rows import alike_rows
from sql.emit.blocks.block import Block, Dialect, row_count
from sql.emit.blocks.computed_below import arguments_below, keys_below
from sql.emit.blocks.conjuncts import conjunct_texts
from sql.emit.blocks.float_windows import float_windows, is_added_in_order
from sql.emit.blocks.laterals import check_laterals, without_lateral
from sql.emit.blocks.set_operations import every_column, has_own_order, recursive, recursive_scan, set_operation
from sql.emit.blocks.subqueries import subquery_text
from sql.emit.expressions import ExpressionPrinter
from sql.emit.names import StoredTable, column_names
from sql.errors import not_supported
from sql.functions.volatility import is_volatile
from sql.tree.expressions import AggregateCall, Column, Expression, Literal, OuterColumn, Subquery
from sql.tree.grouping_sets import spread_sets
from sql.tree.relations import (
    Aggregate,
    Distinct,
    Filter,
    Join,
    Limit,
    OutputColumn,
    Project,
    Recursive,
    Relation,
    Scan,
    Schema,
    SetOperation,
    Shared,
    Sort,
    TableFunction,
    Values,
    Window,
)
from sql.tree.walks import all_relations, children, columns_of, subqueries_of, walk
from sql.types.datatypes import INT8, SqlType

# A key of an ORDER BY that is the same for all rows.
CONSTANT_KEY = re.compile(r"\(*(-?[\d.]+|'(?:[^']|'')*'|NULL|TRUE|FALSE)\)*( DESC)? NULLS (FIRST|LAST)")


@dataclass
class SelectPrinter:
    """The printer of relations; one instance per statement and scope.

    Attributes:
        letter: the begin of aliases, with which no column begins (`alias_letter`).
        outer: the texts of the arguments of the scope's closure.
        shared: names and texts of relations that are computed once, by their name.
    """

    dialect: Dialect
    sources: Mapping[str, str | StoredTable]
    letter: str
    outer: tuple[str, ...] = ()
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    shared: dict[str, tuple[str, str]] = field(default_factory=dict)

    def whole(self, root: Relation) -> str:
        """Return the SQL text of `root`, with the texts of shared relations before it."""
        text = self.statement(root)
        if not self.shared:
            return text
        items = (f"{name} AS MATERIALIZED (\n{query}\n)" for name, query in self.shared.values())
        return f"WITH {', '.join(items)}\n{text}"

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
            case SetOperation():
                return set_operation(self, node)
            case Recursive():
                return recursive(self, node)
            case TableFunction():
                return self.table_function(node)
            case Shared():
                return self.shared_scan(node)

    def inside(self, outer: tuple[str, ...]) -> SelectPrinter:
        """Return the printer of a subquery's relation, whose arguments have these texts."""
        return replace(self, outer=outer)

    def printer(self, columns: Sequence[str]) -> ExpressionPrinter:
        """Return the printer of expressions over `columns`."""

        def nested(printer: ExpressionPrinter, node: Subquery) -> str:
            return subquery_text(self, printer, node)

        return self.dialect.printer(columns, self.outer, nested)

    def scan(self, node: Scan) -> Block:
        if node.kind == "recursive":
            return recursive_scan(self, node)
        alias = self.next_alias()
        name = self.sources[node.name]
        if isinstance(name, StoredTable):
            columns = tuple(f"{alias}.{self.dialect.identifier(one)}" for one in name.columns[: len(node.schema)])
            return Block(f"{name.text} AS {alias}", columns, node.schema)
        source = f"{self.dialect.identifier(name)} AS {alias}"
        return Block(source, self.references(alias, node.schema), node.schema)

    def shared_scan(self, node: Shared) -> Block:
        """Return the rows of a shared relation.

        Its text comes after the texts of relations that it reads.
        """
        if node.name not in self.shared:
            text = self.inside(()).statement(node.input)
            self.shared[node.name] = self.dialect.identifier(f"shared {len(self.shared) + 1}"), text
        alias = self.next_alias()
        return Block(f"{self.shared[node.name][0]} AS {alias}", self.references(alias, node.schema), node.schema)

    def table_function(self, node: TableFunction) -> Block:
        source, columns = self.dialect.table_function(self.printer(()), node, self.next_alias())
        return Block(source, columns, node.schema)

    def values(self, node: Values) -> Block:
        printer = self.printer(())
        if not node.schema and len(node.rows) == 1:
            return Block("", (), ())
        if (alike := alike_rows(node)) is not None:
            return self.block(alike)
        alias = self.next_alias()
        names = ", ".join(self.dialect.identifier(name) for name in column_names(node.schema))
        if not node.rows:
            nulls = ", ".join(
                f"{printer.literal(Literal(None, column.type))} AS {self.dialect.identifier(name)}"
                for column, name in zip(node.schema, column_names(node.schema), strict=True)
            )
            source = f"(SELECT {nulls} WHERE FALSE) AS {alias}"
        elif (columns := self.dialect.constant_columns(node.rows, node.schema)) is not None:
            source = f"(SELECT {', '.join(columns)}) AS {alias}({names})"
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
        block = self.around_subqueries(block, node)
        texts = conjunct_texts(self.printer(block.columns), node.predicate)
        if block.stage == "groups":
            return replace(block, having=(*block.having, *texts))
        return replace(block, where=(*block.where, *texts))

    def around_subqueries(self, block: Block, node: Relation) -> Block:
        """Return `block` in a form in which the values of it that subqueries in `node` read are
        columns, not aggregates and the like.
        """
        has_subqueries = any(True for item in children(node) for _ in subqueries_of(item))
        return self.wrap(block) if has_subqueries and block.stage != "rows" else block

    def project(self, node: Project) -> Block:
        block = self.block(node.input)
        bare = all(isinstance(item, Column) for _, item in node.items)
        if block.distinct or (block.stage == "items" and not bare) or (block.order and not block.plain):
            block = self.wrap(block)
        places = [column.index for _, item in node.items for column in columns_of(item)]
        used = set(places)
        if block.drawn and len(places) > len(used):
            # A volatile value that is shown twice is drawn once.
            block = self.wrap(block)
        if block.one_group and len(used) < (len(block.columns) if block.stage == "items" else 1):
            # Without its aggregates the SELECT would not be one of a single group.
            block = self.wrap(block)
        block = self.around_subqueries(block, node)
        if block.order:
            # The keys stay, though their columns may go.
            texts = tuple(f"{block.columns[index]}{direction}" for index, direction in block.order)
            block = replace(block, order=(), order_texts=texts)
        printer = self.printer(block.columns)
        columns = tuple(printer.text(item) for _, item in node.items)
        # The value of a subquery or a volatile function is ordered by its name, not computed again.
        drawn = block.drawn or any(is_volatile(item) for _, item in node.items)
        plain = block.plain and not drawn and not any(True for _, item in node.items for _ in subqueries_of(item))
        return replace(block, columns=columns, schema=node.schema, stage="items", plain=plain, drawn=drawn)

    def aggregate(self, node: Aggregate) -> Block:
        if node.sets is not None and self.dialect.is_limited:
            return self.block(spread_sets(node))
        if not node.keys and not node.aggregates:
            # An aggregate is what makes one row of all.
            counted = replace(node, aggregates=(("?rows?", AggregateCall("count_star", (), INT8)),))
            return self.project(Project(counted, ()))
        if not self.dialect.is_limited:
            node = arguments_below(node)
        return self.grouped(self.rows(node.input), node)

    def grouped(self, block: Block, node: Aggregate, rank: str | None = None) -> Block:
        """Return the rows of `block` grouped as `node` says; the input of `node` is not looked at.

        rank: of keys that are equal and look different, such as 1.5 and 1.50, the one of the lowest
        rank is shown; None: any.
        """
        keys = [item for _, item in node.keys]
        if not all(isinstance(item, Column) for item in keys):
            block, keys = self.with_key_columns(block, node, keys)
        printer = self.printer(block.columns)
        groups, columns = [], []
        for key in keys:
            text = printer.text(key)
            group = printer.comparable_text(text, key.type)
            if key.type.has_own_order and not (self.dialect.keeps_keys and rank is None and group == text):
                text = printer.picked(text, key.type, lambda one: self.dialect.first_value(one, rank))
                text = text if node.sets is None else f"CASE WHEN grouping({group}) = 0 THEN {text} END"
            groups.append(group)
            columns.append(text)
        by_key = dict(zip((item for _, item in node.keys), groups, strict=True))
        for _, call in node.aggregates:
            is_grouping = call.function == "grouping"
            columns.append(
                grouping_text(printer, call.type, [by_key[item] for item in call.arguments])
                if is_grouping
                else aggregate_text(printer, call)
            )
        if node.sets is not None:
            sets = (f"({', '.join(groups[index] for index in chosen)})" for chosen in node.sets)
            groups = [f"GROUPING SETS ({', '.join(sets)})"]
        return replace(
            block,
            columns=tuple(columns),
            schema=node.schema,
            stage="groups",
            plain=False,
            group_by=tuple(groups),
            one_group=not groups,
        )

    def with_key_columns(self, block: Block, node: Aggregate, keys: list[Expression]) -> tuple[Block, list[Expression]]:
        """Compute the keys in a subquery of their own: each engine reads a GROUP BY of expressions
        in another way.
        """
        used: set[int] = set()
        for _, call in node.aggregates:
            if call.function != "grouping":
                used.update(column.index for part in children(call) for column in columns_of(part))
        kept = sorted(used)
        printer = self.printer(block.columns)
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
        below, over = (node.input, node) if self.dialect.is_limited else keys_below(node)
        block = self.rows(below)
        printer = self.printer(block.columns)
        block = replace(block, columns=block.columns[: len(node.input.schema)])
        if not self.dialect.is_limited and is_added_in_order(node):
            return float_windows(block, printer, over, self.next_alias())
        calls = tuple(window_text(printer, call) for _, call in over.calls)
        return replace(block, columns=(*block.columns, *calls), schema=node.schema, stage="windows", plain=False)

    def distinct(self, node: Distinct) -> Block:
        if has_own_order(node.schema):
            return self.aggregate(Aggregate(node.input, every_column(node.schema), ()))
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
        if all(isinstance(key, Column) and not key.type.has_own_order for key in keys):
            order = tuple(
                (key.index, way) for key, way in zip(keys, directions, strict=True) if isinstance(key, Column)
            )
            return replace(block, order=order)
        if not block.plain:
            block = self.wrap(block)
        block = self.around_subqueries(block, node)
        if self.dialect.is_limited and any(True for key in keys for _ in subqueries_of(key)):
            raise not_supported("ORDER BY a subquery in the upper part of a continuous view")
        printer = self.printer(block.columns)
        texts = tuple(f"{printer.comparable(key)}{way}" for key, way in zip(keys, directions, strict=True))
        return replace(block, order_texts=texts)

    def limit(self, node: Limit) -> Block:
        block = self.block(node.input)
        if block.is_cut:
            block = self.wrap(block)

        def computed(count: Expression, word: str) -> str:
            if any(isinstance(part, OuterColumn) for part in walk(count)):
                raise not_supported(f"a {word} that depends on a row of the query outside")
            return self.dialect.computed_count(self.printer(()).text(count), word)

        limit, offset = row_count(node.limit, "LIMIT", computed), row_count(node.offset, "OFFSET", computed)
        return replace(block, limit=limit, offset=offset)

    def join(self, node: Join) -> Block:
        if (projected := without_lateral(node)) is not None:
            return self.block(projected)
        left = self.join_side(node.left)
        if node.lateral is None:
            right = self.join_side(node.right)
            if not right.single:
                right = self.wrap(right)
        else:
            printer = self.printer(left.columns)
            check_laterals(node)
            inner = self.inside(tuple(printer.text(item) for item in node.lateral))
            right = inner.wrap(inner.block(node.right))
            right = replace(right, source=f"LATERAL {right.source}", order=())
        columns = (*left.columns, *right.columns)
        if node.kind in ("inner", "cross") and node.condition is None:
            source = f"{left.source}\nCROSS JOIN {right.source}"
        else:
            word = "INNER" if node.kind == "cross" else node.kind.upper()
            texts = () if node.condition is None else conjunct_texts(self.printer(columns), node.condition)
            source = f"{left.source}\n{word} JOIN {right.source} ON {' AND '.join(texts) or 'TRUE'}"
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
        """Return a new SELECT over `block` as a subquery.

        Its order is repeated outside, where it counts.
        """
        alias = self.next_alias()
        columns = self.references(alias, block.schema)
        source = f"(\n{self.render(block)}\n) AS {alias}"
        return Block(source, columns, block.schema, order=block.order)

    def retyped(
        self, block: Block, columns: tuple[str, ...], types: Sequence[SqlType], names: Schema | None = None
    ) -> Block:
        """Return `block` with other texts, types and names of its columns."""
        schema = tuple(
            OutputColumn(column.name, kind) for column, kind in zip(names or block.schema, types, strict=True)
        )
        stage = block.stage if columns == block.columns else "items"
        return replace(block, columns=columns, schema=schema, stage=stage)

    def rehaving(self, block: Block, having: tuple[str, ...]) -> Block:
        """Return `block` with further conditions on its groups."""
        return replace(block, having=(*block.having, *having))

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
        # The engines take a constant for a column's number, or refuse it.
        keys = tuple(key for key in keys if not CONSTANT_KEY.fullmatch(key))
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
        return f"{self.letter}{next(self.numbers)}"


def alias_letter(root: Relation) -> str:
    """Return the begin of aliases: an inner column called t1 would hide the outer alias of that
    name.
    """
    names = {column.name.lower() for relation in all_relations(root) for column in relation.schema}
    letter = "t"
    while any(name.startswith(letter) and name[len(letter) :].isdigit() for name in names):
        letter += "t"
    return letter


def grouping_text(printer: ExpressionPrinter, kind: SqlType, keys: Sequence[str]) -> str:
    """Return GROUPING(...): one bit per key, the last key's is the lowest."""
    bits = (
        f"CAST(grouping({key}) AS {printer.type_name(kind)}) * {1 << index}" for index, key in enumerate(reversed(keys))
    )
    return f"CAST({' + '.join(bits)} AS {printer.type_name(kind)})"
