"""Names of a definition's text: the columns and items of FROM that they mean, level by level.

Enters: items of FROM with their columns as the text calls them. Leaves: `Var`s and `Merged`
columns. The text has been bound before, so that no name is wrong or ambiguous.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from engine.system_catalog.deparse.nodes import Merged, Node, Source, Var
from sql.types.datatypes import SqlType, record_type
from sql.types.records import RecordType, field_type

# The meaning of a bare name, and whether stars pass over it.
Visible = tuple[str, Node, bool]


@dataclass
class Level:
    """The names of one query.

    Attributes:
        visible: the columns that a bare name may mean, in the order of a star.
    """

    sources: list[Source] = field(default_factory=list)
    visible: list[Visible] = field(default_factory=list)

    def beside(self, other: Level) -> Level:
        """Return the names of both."""
        return Level([*self.sources, *other.sources], [*self.visible, *other.visible])


Levels = tuple[Level, ...]


def level_of(source: Source) -> Level:
    """Return the names of one item of FROM."""
    return Level([source], [(name, var, hidden) for name, var, hidden in columns_of(source)])


def columns_of(source: Source) -> Iterator[Visible]:
    """Yield the columns that the text knows, by their names in it."""
    place = 0
    for index, column in enumerate(source.columns):
        if column.called is None:
            continue
        name = column.called
        if place < len(source.column_aliases) and not column.hidden:
            name = source.column_aliases[place]
        place += 1
        yield name, Var(source, index, column.type), column.hidden


def named(parts: Sequence[str], levels: Levels) -> Node | None:
    """Return what a name means, innermost level first; None for what is no column."""
    if len(parts) == 1:
        for level in levels:
            for name, node, _ in level.visible:
                if name == parts[0]:
                    return node
    else:
        source = source_called(parts[:-1], levels)
        if source is not None:
            return next((var for name, var, _ in columns_of(source) if name == parts[-1]), None)
    source = source_called(parts[-1:], levels) if len(parts) == 1 else None
    return None if source is None else whole_row(source)


def source_called(parts: Sequence[str], levels: Levels) -> Source | None:
    """Return the item of FROM that a qualifier means."""
    for level in levels:
        for source in level.sources:
            by_schema = len(parts) == 1 or (source.alias is None and source.called_schema == parts[-2])
            if source.called == parts[-1] and by_schema:
                return source
    return None


def whole_row(source: Source) -> Node:
    """Return the row of an item of FROM as a value; a function's one value is itself."""
    if source.kind == "function" and len(source.columns) == 1:
        return Var(source, 0, source.columns[0].type)
    fields = tuple((column.name, field_type(column.type)) for column in source.columns if not column.hidden)
    return Var(source, None, record_type(RecordType(fields)))


def star(parts: Sequence[str], levels: Levels) -> list[tuple[str, Node]]:
    """Return the columns for which `*` or `relation.*` stands."""
    if parts:
        source = source_called(parts, levels)
        return [] if source is None else [(name, var) for name, var, hidden in columns_of(source) if not hidden]
    return [(name, node) for name, node, hidden in levels[0].visible if not hidden]


def merged(name: str, kind: str, left: Node, right: Node, common: SqlType) -> Node:
    """Return the column that JOIN USING makes of two: one of them, where that is all that it is.

    common: the type of both together.
    """
    if kind in ("inner", "left") and left.type.oid == common.oid:
        return left
    if kind in ("inner", "right") and right.type.oid == common.oid:
        return right
    return Merged(name, common)
