"""Keys that tell equal values apart which are not the same: 1.0 and 1.00, a month and 30 days, 0
and -0.

A grouping by a value and by all of this keeps each of them.
"""

from __future__ import annotations

from sql.tree.expressions import Call, Case, Cast, Expression, Literal
from sql.types.datatypes import BOOL, INT4, TEXT
from views.codegen.values import FLOATS, KEYED, element_form


def differing(value: Expression) -> list[Expression]:
    """Return expressions that differ for equal values which look different."""
    kind = value.type
    if kind.is_array:
        return [Cast(value, TEXT, True)] if element_form(kind) in KEYED else []
    if kind.family == "bpchar" and kind.length is None:
        return [Call("octet_length", (Call("padded_text", (value,), TEXT),), INT4)]
    if kind.family in FLOATS:
        is_zero = Call("eq", (value, Cast(Literal(0, INT4), kind, True)), BOOL)
        return [Case(((is_zero, Cast(value, TEXT, True)),), Literal(None, TEXT), TEXT)]
    if kind.is_variable_numeric:
        return [Call("scale", (value,), INT4)]
    if kind.family == "interval":
        return [Call("interval_months", (value,), INT4), Call("interval_days", (value,), INT4)]
    return [Cast(value, TEXT, True)] if kind.family == "jsonb" else []
