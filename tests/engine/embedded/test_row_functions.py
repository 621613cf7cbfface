"""Functions on the values of a few rows, without the embedded engine."""

from __future__ import annotations

from engine.embedded.row_functions import row_function
from sql.tree.expressions import Call, Column, Expression, Literal
from sql.types.datatypes import INT4, TEXT

TEXT_COLUMN = Column(0, "t", TEXT)


def left_of(operand: Expression) -> Call:
    return Call("left", (operand, Literal(2, INT4)), TEXT)


def test_a_python_function_takes_values() -> None:
    run = row_function(Call("initcap", (TEXT_COLUMN,), TEXT))
    assert run is not None
    assert (run(("ab cd",)), run((None,))) == ("Ab Cd", None)


def test_a_kernel_takes_vectors_alone() -> None:
    """The engine computes it, also among the operands of a Python function."""
    assert row_function(left_of(TEXT_COLUMN)) is None
    assert row_function(Call("initcap", (left_of(TEXT_COLUMN),), TEXT)) is None
