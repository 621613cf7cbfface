"""GROUP BY: its keys by expression, output name or number, and GROUPING SETS, ROLLUP and CUBE as sets of keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

from sql.bind.expressions import Binder
from sql.bind.grouping import check_key
from sql.bind.naming import output_name
from sql.bind.outputs import Output, bare_name, ordinal_place, output_named
from sql.errors import SqlError
from sql.parse.syntax import Constant, GroupingSets, GroupItem, SelectBody
from sql.parse.syntax import Expression as Syntax
from sql.tree.expressions import Expression

GROUPING_SETS_MAX = 4096
CUBE_ITEMS_MAX = 12

Sets = list[tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a GROUP BY. written: there is one, though it may have no keys. sets: as `sql.tree.relations.Aggregate` has them."""

    items: tuple[tuple[str, Expression], ...]
    sets: tuple[tuple[int, ...], ...] | None
    written: bool

    def place(self, expression: Expression) -> int | None:
        """Return the index of a key, None for what is no key."""
        return next((index for index, (_, known) in enumerate(self.items) if known == expression), None)


@dataclass
class KeyList:
    """The keys that were found so far, each once."""

    outputs: list[Output]
    binder: Binder
    items: list[tuple[str, Expression]] = field(default_factory=list)

    def place(self, item: Syntax) -> int:
        """Return the index of an item of GROUP BY among the keys."""
        expression = group_item(item, self.outputs, self.binder)
        check_key(expression, item.position)
        for index, (_, known) in enumerate(self.items):
            if known == expression:
                return index
        named = next((output.name for output in self.outputs if output.expression == expression), output_name(item))
        self.items.append((named, expression))
        return len(self.items) - 1


def bind_group_by(body: SelectBody, outputs: list[Output], binder: Binder) -> Keys:
    """Return the grouping keys; each combination of the items' sets is a set."""
    plain = Binder(binder.scope, binder.context, "GROUP BY", binder.virtual)
    keys = KeyList(outputs, plain)
    each = [item_sets(item, keys) for item in body.group_by]
    count = 1
    for sets in each:
        count *= len(sets)
        if count > GROUPING_SETS_MAX:
            message = f"too many grouping sets present (maximum {GROUPING_SETS_MAX})"
            raise SqlError("54001", message, body.group_by[0].position)
    found: Sets = [tuple(dict.fromkeys(place for chosen in choice for place in chosen)) for choice in product(*each)]
    if body.group_distinct:
        found = list({frozenset(chosen): chosen for chosen in found}.values())
    items = tuple(keys.items)
    if len(found) == 1 and set(found[0]) == set(range(len(items))):
        return Keys(items, None, bool(body.group_by))
    return Keys(items, tuple(tuple(sorted(chosen)) for chosen in found), True)


def item_sets(item: GroupItem, keys: KeyList) -> Sets:
    """Return the sets that an item stands for."""
    if not isinstance(item, GroupingSets):
        return [(keys.place(item),)]
    match item.kind:
        case "list":
            return [list_places(item, keys)]
        case "rollup":
            parts = [list_places(part, keys) for part in item.items]
            return [joined(parts[:count]) for count in range(len(parts), -1, -1)]
        case "cube":
            parts = [list_places(part, keys) for part in item.items]
            if len(parts) > CUBE_ITEMS_MAX:
                message = f"CUBE is limited to {CUBE_ITEMS_MAX} elements"
                raise SqlError("54011", message, item.position)
            return [joined(chosen) for count in range(len(parts), -1, -1) for chosen in combinations(parts, count)]
    return [chosen for part in item.items for chosen in item_sets(part, keys)]


def list_places(item: GroupItem, keys: KeyList) -> tuple[int, ...]:
    """Return the keys of one expression, or of a list in parentheses."""
    if not isinstance(item, GroupingSets):
        return (keys.place(item),)
    return joined([list_places(part, keys) for part in item.items])


def joined(parts: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(place for part in parts for place in part))


def group_item(item: Syntax, outputs: list[Output], binder: Binder) -> Expression:
    """Return a key; an input column wins over an output column of the same name."""
    wanted = bare_name(item)
    if wanted is not None:
        column = binder.scope.bare(wanted, item.position)
        if column is not None:
            return column
        found = output_named(wanted, item.position, outputs, "GROUP BY")
        if found is not None:
            return found
    if isinstance(item, Constant):
        return outputs[ordinal_place(item, len(outputs), "GROUP BY")].expression
    return binder.bind_value(item)
