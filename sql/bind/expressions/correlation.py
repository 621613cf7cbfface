"""Correlation: how a name of a query outside becomes an argument of the subquery or lateral join
that uses the name.

A relation is bound inside a `Closure` when its rows depend on a row outside. A value from there is
an argument, an expression over the row outside, and an `OuterColumn` inside. A value from further
out passes through every closure in between. A `Passage` is the surroundings of a relation that is
written in one place and used in another (an item of WITH), or that may not see its neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sql.tree.expressions import Column, Expression, OuterColumn, Parameter
from sql.tree.walks import walk

if TYPE_CHECKING:
    from sql.bind.expressions.binder import Binder
    from sql.bind.expressions.scope import Scope


@dataclass(eq=False)
class Closure:
    """A subquery, or the right side of a lateral join, while it is bound.

    Attributes:
        binder: of the expressions outside, where the arguments are evaluated.
        refused: nothing may be taken, because the join that would be lateral is a RIGHT or FULL
            one.
        arguments: the values that have been taken from outside so far.
    """

    binder: Binder
    refused: bool = False
    arguments: list[Expression] = field(default_factory=list)

    def take(self, expression: Expression, name: str, position: int | None) -> OuterColumn:
        """Return the column that stands for a value of the row outside."""
        if expression not in self.arguments:
            self.arguments.append(expression)
        return OuterColumn(self.arguments.index(expression), name, expression.type, position)

    def outside(self, node: Expression) -> Expression | None:
        """Return the meaning outside of an outer column inside, None for other expressions."""
        return self.arguments[node.index] if isinstance(node, OuterColumn) else None


@dataclass(eq=False)
class Passage:
    """Surroundings whose names are those of another place.

    Attributes:
        there: the surroundings of that place.
        closures: those between here and there, innermost first.
        hidden: tables that may not be named here.
    """

    there: Outer | None
    closures: tuple[Closure, ...] = ()
    hidden: Scope | None = None


Outer = Closure | Passage


def closures_between(here: Outer | None, there: Outer | None) -> tuple[Closure, ...]:
    """Return the closures that a value of `there` passes through on its way here, innermost
    first.
    """
    found: list[Closure] = []
    while here is not there:
        assert here is not None, "a place is inside of what surrounds it"
        if isinstance(here, Closure):
            found.append(here)
            here = here.binder.scope.outer
        else:
            found += here.closures
            here = here.there
    return tuple(found)


def nearest_closure(here: Outer | None) -> Closure | None:
    """Return the closure that OuterColumns mean here."""
    found = closures_between(here, None)
    return found[0] if found else None


def pass_in(expression: Expression, closures: tuple[Closure, ...], name: str, position: int | None) -> Expression:
    """Return a value of the outermost place as it is addressed inside all of the closures.

    A parameter means the same everywhere.
    """
    if isinstance(expression, Parameter):
        return expression
    for closure in reversed(closures):
        expression = closure.take(expression, name, position)
    return expression


@dataclass(frozen=True)
class Mark:
    """The numbers of arguments of the closures around a place."""

    counts: tuple[tuple[Closure, int], ...]

    @staticmethod
    def of(here: Outer | None) -> Mark:
        """Return the present counts."""
        return Mark(tuple((closure, len(closure.arguments)) for closure in closures_between(here, None)))

    def release(self, levels: int | None = None) -> None:
        """Forget arguments that the innermost closures have taken since, because nothing uses
        them.
        """
        for closure, count in self.counts[:levels]:
            del closure.arguments[count:]


def reads_row(expressions: tuple[Expression, ...]) -> bool:
    """Tell whether any of the expressions depends on the row where it stands."""
    return any(isinstance(node, Column) for item in expressions for node in walk(item))


def reads_outside(expressions: tuple[Expression, ...]) -> bool:
    """Tell whether any of the expressions depends on a row further out."""
    return any(isinstance(node, OuterColumn) for item in expressions for node in walk(item))
