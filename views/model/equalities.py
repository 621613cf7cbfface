"""Equalities of one value with many constants, found in OR, AND and CASE.

Generated code has one look-up for them. Enters: bound expressions. Leaves: IN lists in the place of
equalities; the branches of a CASE that one look-up decides. Must not change what fails: operands
that are moved are columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sql.functions.comparisons import EQUAL, UNEQUAL
from sql.tree.expressions import Call, Case, Cast, Column, Expression, Literal
from sql.types.datatypes import BOOL, SqlType
from views.model.trees import meaning

# From so many constants on looking up is shorter code than comparing with each, and no slower.
CONSTANTS_MIN = 6
SIZES = {"int2": 2, "int4": 4, "int8": 8}
FAMILIES = frozenset(
    {*SIZES, "float4", "float8", "numeric", "date", "timestamp", "timestamptz", "text", "varchar", "unknown"}
)


@dataclass(frozen=True, slots=True)
class Equality:
    """A condition that a value is equal to one of some constants, which are not NULL."""

    operand: Expression
    constants: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive branches of a CASE whose conditions compare one value with constants.

    Attributes:
        results: the result for each constant of `constants`.
    """

    operand: Expression
    constants: tuple[Literal, ...]
    results: tuple[Expression, ...]


Branch = tuple[Expression, Expression]


def equality(condition: Expression, function: str = EQUAL) -> Equality | None:
    """Return `x = constant`, `constant = x` or `x IN (constants)` as an equality.

    With UNEQUAL `x <> constant`.
    """
    if not isinstance(condition, Call):
        return None
    if condition.function == function:
        left, right = condition.arguments
        if isinstance(left, Literal):
            left, right = right, left
        items: tuple[Expression, ...] = (right,)
    elif condition.function == "in_list" and function == EQUAL:
        left, *rest = condition.arguments
        items = tuple(rest)
    else:
        return None
    constants = tuple(item for item in items if isinstance(item, Literal) and item.value is not None)
    if isinstance(left, Literal) or len(constants) < len(items) or not is_ordered(left.type):
        return None
    return Equality(_unwidened(left), constants)


def is_ordered(kind: SqlType) -> bool:
    """Tell whether the values of a type have words that can be looked up."""
    return kind.family in FAMILIES and not kind.is_enum


def _unwidened(operand: Expression) -> Expression:
    """Return an integer without casts to larger types, which change no value."""
    while (
        isinstance(operand, Cast)
        and operand.type.family in SIZES
        and operand.operand.type.family in SIZES
        and SIZES[operand.operand.type.family] <= SIZES[operand.type.family]
    ):
        operand = operand.operand
    return operand


def gathered(node: Call) -> tuple[Expression, ...]:
    """Return the operands of an OR or AND, with equalities of one column joined to an IN list.

    In an AND, inequalities are joined to a NOT IN.
    """
    function = EQUAL if node.function == "or" else UNEQUAL
    pairs = [(operand, _of_column(operand, function)) for operand in _flat(node)]
    listed: dict[Expression, list[Literal]] = {}
    for _, known in pairs:
        if known is not None:
            listed.setdefault(meaning(known.operand), []).extend(known.constants)
    if all(len(constants) < CONSTANTS_MIN for constants in listed.values()):
        return node.arguments
    result: list[Expression] = []
    for operand, known in pairs:
        constants = [] if known is None else listed[meaning(known.operand)]
        if known is None or 0 < len(constants) < CONSTANTS_MIN:
            result.append(operand)
        elif constants:
            within = Call("in_list", (known.operand, *constants), node.type, node.position, node.text)
            result.append(within if function == EQUAL else Call("not", (within,), node.type, node.position, node.text))
            # The first one stands for all.
            listed[meaning(known.operand)] = []
    return tuple(result)


def all_of(conditions: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """Return conditions that all must hold, with a NOT IN in the place of many inequalities of a
    column.
    """
    return gathered(Call("and", conditions, BOOL)) if len(conditions) >= CONSTANTS_MIN else conditions


def _of_column(operand: Expression, function: str) -> Equality | None:
    known = equality(operand, function)
    return known if known is not None and isinstance(known.operand, Column) else None


def _flat(node: Call) -> list[Expression]:
    found: list[Expression] = []
    waiting: list[Expression] = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Call) and part.function == node.function:
            waiting += reversed(part.arguments)
        else:
            found.append(part)
    return found


def runs(node: Case) -> list[Branch | Run]:
    """Return the branches of a CASE in order.

    Consecutive branches that one look-up decides are one.
    """
    found: list[Branch | Run] = []
    waiting: list[tuple[Branch, Equality]] = []

    def end() -> None:
        if sum(len(known.constants) for _, known in waiting) < CONSTANTS_MIN:
            found.extend(branch for branch, _ in waiting)
        else:
            found.append(_run(waiting))
        waiting.clear()

    for branch in node.branches:
        known = equality(branch[0])
        if waiting and (known is None or meaning(known.operand) != meaning(waiting[0][1].operand)):
            end()
        if known is None:
            found.append(branch)
        else:
            waiting.append((branch, known))
    end()
    return found


def _run(branches: Sequence[tuple[Branch, Equality]]) -> Run:
    constants = [(constant, result) for (_, result), known in branches for constant in known.constants]
    operand = branches[0][1].operand
    return Run(operand, tuple(constant for constant, _ in constants), tuple(result for _, result in constants))


def is_looked_up(node: Case) -> bool:
    """Tell whether one look-up decides some of the branches."""
    return any(isinstance(part, Run) for part in runs(node))
