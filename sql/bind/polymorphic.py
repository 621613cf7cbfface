"""Operands and results of a chosen overload, also of one that takes any type: what 'any', 'element' and 'array' stand for in a call."""

from __future__ import annotations

from collections.abc import Sequence

from sql.bind.coerce import coerce
from sql.bind.context import BindContext
from sql.functions.overloads import element_family
from sql.functions.signatures import Signature
from sql.tree.expressions import Expression
from sql.tree.numeric_scale import result_scale
from sql.types.datatypes import TEXT, SqlType, array_of, scaled_numeric


def converted(signature: Signature, operands: Sequence[Expression], context: BindContext) -> list[Expression]:
    """Return the operands with the types that the overload takes."""
    wanted = signature.cast_to
    element = element_type(signature, operands)
    found = []
    for index, operand in enumerate(operands):
        family = wanted[min(index, len(wanted) - 1)]
        if family == "any":
            found.append(coerce(operand, TEXT, context) if operand.type.family == "unknown" else operand)
        elif family in ("element", "enum"):
            found.append(coerce(operand, element, context))
        elif family == "record":
            found.append(coerce(operand, next(one.type for one in operands if one.type.is_record), context))
        elif family == "array":
            found.append(coerce(operand, array_of(element), context))
        else:
            found.append(coerce(operand, SqlType(family), context))
    return found


def element_type(signature: Signature, operands: Sequence[Expression]) -> SqlType:
    """Return the common type of the elements that a polymorphic call means."""
    if not signature.is_polymorphic:
        return TEXT
    family = element_family(signature, [operand.type.family for operand in operands])
    assert family is not None, "an overload is chosen for elements that agree"
    return SqlType(family)


def result_type(signature: Signature, arguments: Sequence[Expression], position: int | None) -> SqlType:
    """Return the type of a call over converted arguments; numerics get their display scale."""
    if signature.result == "numeric":
        return scaled_numeric(result_scale(signature.canonical, arguments, position))
    if signature.result not in ("element", "enum", "array"):
        return SqlType(signature.result)
    for wanted, argument in zip(signature.cast_to, arguments, strict=True):
        if wanted == "array":
            return argument.type if signature.result == "array" else argument.type.element
        if wanted in ("element", "enum") and "array" not in signature.arguments:
            plain = argument.type.without_modifier()
            return array_of(plain) if signature.result == "array" else plain
    raise AssertionError(signature)
