"""The meaning of names inside a catalog query: the relations of FROM, in this query and in those
around it.

Every relation is printed under an alias that nothing else in the statement has, and every column
with that alias, so that no inner query captures a name. Raises PostgreSQL's errors for unknown and
for ambiguous names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from engine.system_catalog.printed import Column, Printed, quoted
from sql.errors import SqlError
from sql.parse.syntax import Name, Star


@dataclass(frozen=True, slots=True)
class Source:
    """An item of FROM.

    Attributes:
        alias: as the client wrote it.
        text: as it is printed.
        oid: of the relation, for its tableoid.
    """

    alias: str
    columns: tuple[Column, ...]
    text: str
    schema: str = ""
    oid: int | None = None


@dataclass
class Scope:
    """The items of one FROM.

    Attributes:
        merged: columns of USING by name; each means the column of the given source.
        outer: the query around.
        outputs: the values of the select list.
    """

    sources: list[Source] = field(default_factory=list)
    outer: Scope | None = None
    merged: dict[str, str] = field(default_factory=dict)
    common: dict[str, CommonTable] = field(default_factory=dict)
    outputs: list[Printed] = field(default_factory=list)

    def common_table(self, name: str) -> CommonTable | None:
        """Return the item of WITH that is called `name`, here or further out."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.common:
                return scope.common[name]
            scope = scope.outer
        return None


@dataclass(slots=True)
class CommonTable:
    """An item of WITH.

    Attributes:
        text: the printed name.
        uses_count: how often the item was named.
    """

    text: str
    columns: tuple[Column, ...]
    uses_count: int = 0


def column(scope: Scope, node: Name) -> Printed | Star:
    """Return the column of a name, or all columns of the row that the name means.

    Raises 42703, 42P01 and 42702.
    """
    if len(node.parts) == 1:
        found = _unqualified(scope, node)
        if found is not None:
            return found
        raise SqlError("42703", f'column "{node.parts[0]}" does not exist', node.position)
    *path, name = node.parts
    source = _source(scope, tuple(path), node.position)
    printed = _of_source(source, name)
    if printed is None:
        raise SqlError("42703", f"column {source.alias}.{name} does not exist", node.position)
    return printed


def star_columns(scope: Scope, node: Star) -> Iterator[tuple[str, Printed]]:
    """Yield names and columns of * or relation.*."""
    if node.qualifier:
        source = _source(scope, node.qualifier, node.position)
        for item in source.columns:
            yield item.name, Printed(f"{source.text}.{item.text}", item.type)
        return
    if not scope.sources:
        raise SqlError("42601", "SELECT * with no tables specified is not valid", node.position)
    for source in scope.sources:
        for item in source.columns:
            owner = scope.merged.get(item.name)
            if owner is None or owner == source.text:
                yield item.name, Printed(f"{source.text}.{item.text}", item.type)


def _unqualified(scope: Scope | None, node: Name) -> Printed | Star | None:
    name = node.parts[0]
    while scope is not None:
        found: list[Printed] = []
        for source in scope.sources:
            owner = scope.merged.get(name)
            printed = None if owner is not None and owner != source.text else _of_source(source, name)
            if printed is not None and (name != "tableoid" or not found):
                found.append(printed)
        if len(found) > 1:
            raise SqlError("42702", f'column reference "{name}" is ambiguous', node.position)
        if found:
            return found[0]
        for source in scope.sources:
            if source.alias == name:
                if len(source.columns) == 1:
                    return Printed(f"{source.text}.{source.columns[0].text}", source.columns[0].type)
                return Star(node.parts, node.position)
        scope = scope.outer
    return None


def _of_source(source: Source, name: str) -> Printed | None:
    for item in source.columns:
        if item.name == name:
            return Printed(f"{source.text}.{item.text}", item.type)
    if source.oid is not None and name == "tableoid":
        # Not a constant: an outer join makes it NULL.
        first = f"{source.text}.{source.columns[0].text}"
        return Printed(f"CASE WHEN {first} IS NOT NULL THEN CAST({source.oid} AS BIGINT) END", "oid")
    if source.oid is not None and name in ("xmin", "xmax"):
        return Printed("CAST(1 AS BIGINT)" if name == "xmin" else "CAST(0 AS BIGINT)", "xid")
    return None


def _source(scope: Scope, path: tuple[str, ...], position: int) -> Source:
    place: Scope | None = scope
    while place is not None:
        for source in place.sources:
            if source.alias == path[-1] and (len(path) == 1 or source.schema == path[-2]):
                return source
        place = place.outer
    raise SqlError("42P01", f'missing FROM-clause entry for table "{path[-1]}"', position)


def output_columns(names: list[str], types: list[str]) -> tuple[Column, ...]:
    """Return the columns of a query's result; printed names differ, whatever the case."""
    taken: set[str] = set()
    found = []
    for name, kind in zip(names, types, strict=True):
        printed, number = name, 1
        while printed.lower() in taken:
            number += 1
            printed = f"{name} {number}"
        taken.add(printed.lower())
        found.append(Column(name, kind, quoted(printed)))
    return tuple(found)
