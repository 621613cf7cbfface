"""WITH RECURSIVE as it is written: which items refer to themselves, and the references that
PostgreSQL refuses (42P19).

Enters: the syntax of queries. Must not know types: all of this is decided before anything is bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass

from sql.errors import SqlError, not_supported
from sql.parse.syntax import CommonTable, JoinClause, Query, SetOperation, Subquery, Table

WITHIN = {
    "start": "its non-recursive term",
    "subquery": "a subquery",
    "outer join": "an outer join",
    "intersect": "INTERSECT",
    "except": "EXCEPT",
}


def references(node: object, names: frozenset[str]) -> Iterator[Table]:
    """Yield the places below `node` that name one of the relations `names`.

    An inner WITH hides what it defines anew.
    """
    if isinstance(node, Table):
        if node.bare_name in names:
            yield node
        return
    if isinstance(node, Query):
        defined: set[str] = set()
        recursive = any(item.recursive for item in node.common_tables)
        inner = names - {item.name for item in node.common_tables}
        for item in node.common_tables:
            yield from references(item.query, inner if recursive else names - defined)
            defined.add(item.name)
        for part in parts(node, without="common_tables"):
            yield from references(part, inner)
        return
    for part in parts(node):
        yield from references(part, names)


def parts(node: object, without: str = "") -> Iterator[object]:
    """Yield the nodes directly below a node of the syntax, or in a tuple."""
    if isinstance(node, tuple):
        yield from node
    elif is_dataclass(node) and not isinstance(node, type):
        for item in fields(node):
            if item.name != without:
                yield getattr(node, item.name)


def is_recursive(common: CommonTable) -> bool:
    """Tell whether an item of WITH refers to itself."""
    return any(True for _ in references(common.query, frozenset({common.name})))


def check_order(items: tuple[CommonTable, ...]) -> None:
    """Raise 0A000 where items of WITH RECURSIVE need each other."""
    if not items[0].recursive:
        return
    names = frozenset(item.name for item in items)
    needed = {item.name: {table.name[0] for table in references(item.query, names)} - {item.name} for item in items}
    left = list(items)
    while left:
        known = {item.name for item in left}
        ready = [item for item in left if not needed[item.name] & known]
        if not ready:
            raise SqlError("0A000", "mutual recursion between WITH items is not implemented", left[0].position)
        left = [item for item in left if item not in ready]


def check_recursion(common: CommonTable) -> None:
    """Raise what PostgreSQL says about a recursive item that it can't run."""
    query, name = common.query, common.name
    if not isinstance(query.body, SetOperation) or query.body.operator != "union":
        message = f'recursive query "{name}" does not have the form non-recursive-term UNION [ALL] recursive-term'
        raise SqlError("42P19", message, common.position)
    checker = ReferenceChecker(name)
    for item in query.common_tables:
        checker.check(item.query, "subquery")
    hidden = any(item.name == name for item in query.common_tables)
    if not hidden:
        checker.check(query.body.left, "start")
        checker.check(query.body.right, "")
    for present, what, position in (
        (query.order_by, "ORDER BY", query.order_by[0].position if query.order_by else None),
        (query.offset, "OFFSET", query.offset.position if query.offset else None),
        (query.limit, "LIMIT", query.limit.position if query.limit else None),
    ):
        if present:
            raise SqlError("0A000", f"{what} in a recursive query is not implemented", position)
    if hidden:
        raise not_supported("a recursive query that hides its own name", common.position)


@dataclass
class ReferenceChecker:
    """Looks at every reference of a recursive item to itself.

    Attributes:
        found: how many there were so far.
    """

    name: str
    found: int = 0

    def check(self, node: object, within: str) -> None:
        """Raise 42P19 for a reference that may not be below `node`; within: a key of WITHIN, ''
        where one is allowed.
        """
        match node:
            case Table():
                self.check_table(node, within)
            case Query():
                self.check_query(node, within)
            case Subquery():
                self.check(node.operand, within)
                self.check(node.query, within or "subquery")
            case JoinClause():
                self.check(node.left, within or ("outer join" if node.kind in ("right", "full") else ""))
                self.check(node.right, within or ("outer join" if node.kind in ("left", "full") else ""))
                self.check(node.condition, within)
            case SetOperation():
                left = "intersect" if node.operator == "intersect" and node.all else ""
                left = "except" if node.operator == "except" and node.all else left
                right = "except" if node.operator == "except" else left
                self.check(node.left, within or left)
                self.check(node.right, within or right)
            case _:
                for part in parts(node):
                    self.check(part, within)

    def check_table(self, node: Table, within: str) -> None:
        if node.name != (self.name,):
            return
        if within:
            message = f'recursive reference to query "{self.name}" must not appear within {WITHIN[within]}'
            raise SqlError("42P19", message, node.position)
        self.found += 1
        if self.found > 1:
            message = f'recursive reference to query "{self.name}" must not appear more than once'
            raise SqlError("42P19", message, node.position)

    def check_query(self, node: Query, within: str) -> None:
        hidden = False
        recursive = any(item.recursive for item in node.common_tables)
        inside = recursive and any(item.name == self.name for item in node.common_tables)
        for item in node.common_tables:
            if not hidden and not inside:
                self.check(item.query, within)
            hidden = hidden or item.name == self.name
        if not hidden:
            for part in parts(node, without="common_tables"):
                self.check(part, within)
