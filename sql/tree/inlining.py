"""The body of a function in the place of its call: parameters give way to the arguments.

Enters: bound bodies in which `Parameter` n is argument n, and the arguments, expressions over the
row where the call stands. Leaves: trees over that row. A subquery or the right side of a lateral
join inside of the body is a closure: it takes an argument that is no constant as one more
`OuterColumn`. Nodes of the body get the place of the call, since their own is in another text. Must
not know catalogs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from sql import interrupts
from sql.errors import SqlError, not_supported
from sql.tree.expressions import Call, Case, Cast, Column, Expression, Literal, OuterColumn, Parameter, Subquery
from sql.tree.relations import Join, Limit, Recursive, Relation, Shared
from sql.tree.walks import all_relations, children, inputs, map_parts, walk, with_inputs


def parameter_uses(relation: Relation) -> Counter[int]:
    """Return how often each parameter stands in a tree, subqueries included."""
    return Counter(
        node.number
        for part in all_relations(relation)
        for item in children(part)
        for node in walk(item)
        if isinstance(node, Parameter)
    )


def nodes_count(relation: Relation) -> int:
    """Return the number of operators and expressions of a tree, subqueries included."""
    return sum(1 + sum(1 for item in children(part) for _ in walk(item)) for part in all_relations(relation))


def with_arguments(node: Expression, arguments: Sequence[Expression], position: int) -> Expression:
    """Return an expression of a body with arguments in the place of its parameters."""
    interrupts.check()
    match node:
        case Parameter():
            return arguments[node.number - 1]
        case Column() | OuterColumn() | Literal():
            return node if node.position is None else replace(node, position=position)
        case Call():
            operands = tuple(with_arguments(one, arguments, position) for one in node.arguments)
            return replace(node, arguments=operands, position=position)
        case Cast():
            return replace(node, operand=with_arguments(node.operand, arguments, position), position=position)
        case Case():
            branches = tuple(
                (with_arguments(condition, arguments, position), with_arguments(value, arguments, position))
                for condition, value in node.branches
            )
            return Case(branches, with_arguments(node.default, arguments, position), node.type)
        case Subquery():
            taken = [with_arguments(one, arguments, position) for one in node.arguments]
            operands = tuple(with_arguments(one, arguments, position) for one in node.operands)
            relation = _inside(node.relation, arguments, taken, position)
            return replace(node, relation=relation, arguments=tuple(taken), operands=operands, position=position)


def relation_with_arguments(relation: Relation, arguments: Sequence[Expression], position: int) -> Relation:
    """Return the relation of a body with arguments in the place of its parameters.

    No argument depends on a row of the body: it is a constant, or made of `OuterColumn`s.
    """
    interrupts.check()
    if isinstance(relation, Shared) and parameter_uses(relation):
        # It is another one at each call.
        return relation_with_arguments(relation.input, arguments, position)
    if isinstance(relation, Recursive):
        for number in parameter_uses(relation):
            if not is_fixed(arguments[number - 1]):
                raise not_supported("WITH RECURSIVE over an argument that is no constant, in a function,", position)
    if isinstance(relation, Limit):
        relation = _limited(relation, arguments, position)
    if isinstance(relation, Join) and relation.lateral is not None:
        taken = [with_arguments(one, arguments, position) for one in relation.lateral]
        right = _inside(relation.right, arguments, taken, position)
        left = relation_with_arguments(relation.left, arguments, position)
        relation = replace(relation, left=left, right=right, lateral=None)
        joined = map_parts(relation, lambda one: with_arguments(one, arguments, position))
        assert isinstance(joined, Join)
        return replace(joined, lateral=tuple(taken))
    below = [relation_with_arguments(one, arguments, position) for one in inputs(relation)]
    return map_parts(with_inputs(relation, below), lambda one: with_arguments(one, arguments, position))


def is_fixed(argument: Expression) -> bool:
    """Tell whether an argument means the same inside of every closure."""
    return isinstance(argument, Literal | Parameter)


def _inside(relation: Relation, arguments: Sequence[Expression], taken: list[Expression], position: int) -> Relation:
    """Return the relation of a closure, whose arguments, `taken`, grow by those that it uses."""
    inner = list(arguments)
    for number in sorted(parameter_uses(relation)):
        argument = arguments[number - 1]
        if not is_fixed(argument):
            if argument not in taken:
                taken.append(argument)
            inner[number - 1] = OuterColumn(taken.index(argument), "", argument.type, position)
    return relation_with_arguments(relation, inner, position)


def _limited(relation: Limit, arguments: Sequence[Expression], position: int) -> Limit:
    """Return LIMIT and OFFSET with their counts. Raises 2201W and 2201X."""
    found: list[Expression | None] = []
    for count, word, state in ((relation.limit, "LIMIT", "2201W"), (relation.offset, "OFFSET", "2201X")):
        value = None if count is None else with_arguments(count, arguments, position)
        if isinstance(value, Cast) and isinstance(value.operand, Literal):
            # An integer of another size.
            value = replace(value.operand, type=value.type)
        if count is not None and value is not count and not is_fixed(value or count):
            raise not_supported(f"{word} of an argument that is no constant, in a function,", position)
        if isinstance(value, Literal):
            if isinstance(value.value, int) and value.value < 0:
                raise SqlError(state, f"{word} must not be negative")
            value = None if value.value is None else value
        found.append(value)
    return Limit(relation.input, found[0], found[1])
