"""One type for several expressions: CASE, COALESCE, GREATEST, IN, VALUES (PostgreSQL's select_common_type)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sql.bind.coerce import coerce, position_of
from sql.bind.context import BindContext
from sql.errors import SqlError
from sql.tree.expressions import Expression, Literal
from sql.tree.numeric_scale import common_scale
from sql.types.casts import can_cast, category, common_family, plain_name, preferred, same_modifier
from sql.types.datatypes import SqlType, scaled_numeric


def common_type(expressions: Sequence[Expression]) -> SqlType | None:
    """Return the common type, None when there is none."""
    families = [expression.type.family for expression in expressions]
    family = common_family(families)
    if family is None:
        return None
    typed = [expression.type for expression in expressions if not is_null(expression)]
    plain = SqlType(family)
    if not typed or family == "unknown":
        return plain
    kinds = [expression.type for expression in expressions]
    if all(kind.family == family for kind in kinds) and same_modifier(kinds):
        first = typed[0]
        plain = replace(plain, length=first.length, precision=first.precision, scale=first.scale, fields=first.fields)
    if family == "numeric":
        scales = [scaled_numeric(0) if kind.family.startswith("int") else kind for kind in typed]
        return replace(
            plain, display_scale=common_scale([kind for kind in scales if kind.family == "numeric"] or scales)
        )
    return plain


def is_null(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.value is None


def unify(
    expressions: Sequence[Expression], what: str, context: BindContext, positions: Sequence[int] = ()
) -> tuple[SqlType, list[Expression]]:
    """Return the common type and the expressions converted to it.

    what: the construct's name in PostgreSQL's error. positions: where each expression begins, for the error.
    """
    kind = common_type(expressions)
    if kind is None:
        raise mismatch(expressions, what, positions)
    # Untyped literals are read as the family first: their digits take part in the common scale.
    base = SqlType(kind.family)
    converted = [coerce(expression, base, context) for expression in expressions]
    final = common_type(converted)
    assert final is not None, "values of one family have a common type"
    aligned = [
        Literal(None, final, item.position) if isinstance(item, Literal) and item.value is None else item
        for item in converted
    ]
    return final, aligned


def mismatch(expressions: Sequence[Expression], what: str, positions: Sequence[int]) -> SqlError:
    """Return PostgreSQL's error about the first two types that do not match."""
    places: list[int | None] = [*positions] or [position_of(expression) for expression in expressions]
    typed = [
        (item.type, place) for item, place in zip(expressions, places, strict=True) if item.type.family != "unknown"
    ]
    first = typed[0][0]
    for other, place in typed[1:]:
        if category(other.family) != category(first.family):
            names = f"{plain_name(first)} and {plain_name(other)}"
            return SqlError("42804", f"{what} types {names} cannot be matched", place)
        if not preferred(first.family) and can_cast(first.family, other.family, "implicit"):
            first = other
    return SqlError(
        "42846", f"{what} could not convert type {plain_name(typed[0][0])} to {plain_name(first)}", typed[0][1]
    )
