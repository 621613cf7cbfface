"""UNION, INTERSECT, EXCEPT and WITH RECURSIVE: both sides in one physical form.

Values with keys compare by the keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sql.emit.blocks.block import Block
from sql.emit.blocks.subqueries import fitted
from sql.emit.names import column_names
from sql.errors import not_supported
from sql.tree.counted_rows import by_counts
from sql.tree.expressions import Column
from sql.tree.relations import Aggregate, OutputColumn, Recursive, Relation, Scan, Schema, SetOperation
from sql.types.datatypes import INT4

if TYPE_CHECKING:
    from sql.emit.blocks.select import SelectPrinter

SIDE = "side"


def set_operation(select: SelectPrinter, node: SetOperation) -> Block:
    """Return a set operation as a FROM item."""
    if node.all or not has_own_order(node.schema):
        words = f"{node.kind.upper()}{' ALL' if node.all else ''}"
        if node.kind != "union" and has_own_order(node.schema):
            return select.block(by_counts(node, lambda groups: groups))
        return chain(select, words, [side(select, part, node.schema) for part in united(node)], node)
    return _by_keys(select, node)


def chain(select: SelectPrinter, words: str, sides: list[str], node: SetOperation) -> Block:
    """Return a chain of one operation as DuckDB plans it in a time that grows with its length
    alone.

    UNION stays flat. EXCEPT takes away all later operands at once. INTERSECT is the same in any
    order: halves of halves.
    """
    if node.kind == "except" and len(sides) > 2:
        sides = [sides[0], "\nUNION ALL\n".join(f"({text})" for text in sides[1:])]
    while node.kind == "intersect" and len(sides) > 2:
        pairs = [sides[place : place + 2] for place in range(0, len(sides), 2)]
        sides = [f"\n{words}\n".join(f"({text})" for text in pair) if len(pair) > 1 else pair[0] for pair in pairs]
    return combined(select, words, sides, node.schema)


def _by_keys(select: SelectPrinter, node: SetOperation) -> Block:
    """Group the rows of both sides, marked by their side, by their keys.

    Of equal rows the left side's is shown.
    """
    schema = (*node.schema, OutputColumn(SIDE, INT4))
    sides = []
    for number, part in ((1, node.left), (2, node.right)):
        block = select.wrap(fitted(select, select.block(part), [column.type for column in node.schema]))
        marked = Block(block.source, (*block.columns, str(number)), schema, stage="items")
        sides.append(select.render(marked))
    both = combined(select, "UNION ALL", sides, schema)
    mark = both.columns[-1]
    grouped = select.grouped(both, Aggregate(node, every_column(node.schema), ()), mark)
    if node.kind == "union":
        return grouped
    word = ">" if node.kind == "intersect" else "="
    having = (f"min({mark}) = 1", f"max({mark}) {word} 1")
    return select.rehaving(grouped, having)


def united(node: SetOperation) -> list[Relation]:
    """Return the operands of a chain of one operation, from left to right."""
    found: list[Relation] = [node.right]
    left = node.left
    while isinstance(left, SetOperation) and is_alike(left, node):
        found.append(left.right)
        left = left.left
    return [left, *reversed(found)]


def is_alike(one: SetOperation, other: SetOperation) -> bool:
    """Tell whether two set operations are of one kind, and their columns of the same types."""
    return (one.kind, one.all) == (other.kind, other.all) and all(
        a.type == b.type for a, b in zip(one.schema, other.schema, strict=True)
    )


def combined(select: SelectPrinter, words: str, sides: list[str], schema: Schema) -> Block:
    """Return printed SELECTs put together."""
    alias = select.next_alias()
    text = f"\n{words}\n".join(f"({text})" for text in sides)
    return Block(f"(\n{text}\n) AS {alias}", select.references(alias, schema), schema)


def side(select: SelectPrinter, part: Relation, schema: Schema) -> str:
    """Return one operand, with the names and physical forms of the whole."""
    types = [column.type for column in schema]
    block = fitted(select, select.block(part), types)
    return select.render(select.retyped(block, block.columns, types, schema))


def recursive(select: SelectPrinter, node: Recursive) -> Block:
    """Return a recursive query as a FROM item."""
    words = select.dialect.recursive_word()
    if not node.all and has_own_order(node.schema):
        raise not_supported("a recursive UNION of numerics with digits of their own")
    name = recursive_name(select, node.name)
    start, step = (side(select, part, node.schema) for part in (node.start, node.step))
    union = "UNION ALL" if node.all else "UNION"
    alias = select.next_alias()
    body = f"({start})\n{union}\n({step})"
    source = f"(\n{words} {name}{column_list(select, node.schema)} AS (\n{body}\n)\nSELECT * FROM {name}\n) AS {alias}"
    return Block(source, select.references(alias, node.schema), node.schema)


def recursive_scan(select: SelectPrinter, node: Scan) -> Block:
    """Return the rows that the last step has found."""
    alias = select.next_alias()
    source = f"{recursive_name(select, node.name)} AS {alias}{column_list(select, node.schema)}"
    return Block(source, select.references(alias, node.schema), node.schema)


def column_list(select: SelectPrinter, schema: Schema) -> str:
    """Return the names of columns in parentheses, nothing where there are none."""
    names = ", ".join(select.dialect.identifier(column) for column in column_names(schema))
    return f"({names})" if names else ""


def recursive_name(select: SelectPrinter, name: str) -> str:
    """Return the name of a recursive query, which no registered relation has."""
    return select.dialect.identifier(f"recursive {name}")


def has_own_order(schema: Schema) -> bool:
    """True when a column's values compare by keys."""
    return any(column.type.has_own_order for column in schema)


def every_column(schema: Schema) -> tuple[tuple[str, Column], ...]:
    """Return the columns of a schema as grouping keys."""
    return tuple((column.name, Column(index, column.name, column.type)) for index, column in enumerate(schema))
