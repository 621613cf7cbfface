"""PostgreSQL's polymorphic types in users' functions: what the types of a call's arguments make of
them (check_generic_type_consistency, enforce_generic_type_consistency).

Those of the family of anyelement are all of one type; those of anycompatible have a common type.
"""

from __future__ import annotations

from collections.abc import Sequence

from sql.errors import SqlError
from sql.types.casts import common_family, plain_name
from sql.types.datatypes import SqlType, array_of
from sql.types.datatypes import element_family as scalar_family
from sql.types.enums import EnumFamily

ANY, COMPATIBLE = "any", "anycompatible"
# By type the family that it belongs to. Antumbra has no ranges.
GROUPS = {
    **dict.fromkeys(("anyelement", "anyarray", "anynonarray", "anyenum"), ANY),
    **dict.fromkeys(("anycompatible", "anycompatiblearray", "anycompatiblenonarray"), COMPATIBLE),
}
# Types of arrays, and those of their elements.
ELEMENTS = {"anyarray": "anyelement", "anycompatiblearray": "anycompatible"}
NONARRAYS = frozenset({"anynonarray", "anycompatiblenonarray"})
REQUIRED = {
    ANY: "anyelement, anyarray, anynonarray, anyenum, anyrange, or anymultirange",
    COMPATIBLE: "anycompatible, anycompatiblearray, anycompatiblenonarray, anycompatiblerange, or anycompatiblemultirange",
}


def fits(wanted: str, family: str) -> bool:
    """Tell whether one argument of a polymorphic type takes a value of `family`, others aside."""
    if family == "unknown":
        return True
    if wanted == "anyenum":
        return isinstance(family, EnumFamily) and not family.is_array
    return family.endswith("[]") is (wanted in ELEMENTS) or (wanted not in ELEMENTS and wanted not in NONARRAYS)


def elements(declared: Sequence[str], given: Sequence[str]) -> dict[str, str | None] | None:
    """Return for each family of polymorphic types the type that a call gives it, None where all its
    arguments are untyped; None altogether where the arguments do not agree.
    """
    found: dict[str, str | None] = {}
    for group in {GROUPS[wanted] for wanted in declared if wanted in GROUPS}:
        known = [
            scalar_family(family) if wanted in ELEMENTS else family
            for wanted, family in zip(declared, given, strict=True)
            if GROUPS.get(wanted) == group and family != "unknown"
        ]
        if group == COMPATIBLE:
            found[group] = common_family(known)
            if found[group] is None:
                return None
        elif len(set(known)) > 1:
            return None
        else:
            found[group] = known[0] if known else None
    return found


def settled(kind: SqlType, known: dict[str, str | None]) -> SqlType:
    """Return what a type of a definition means in a call, by `elements` of the call. Raises 42804
    and 42704.
    """
    group = GROUPS.get(kind.family)
    if group is None:
        return kind
    element = known[group]
    if element is None:
        raise SqlError("42804", "could not determine polymorphic type because input has type unknown")
    if kind.family not in ELEMENTS:
        return SqlType(element)
    if element.endswith("[]"):
        raise SqlError("42704", f"could not find array type for data type {plain_name(SqlType(element))}")
    return array_of(SqlType(element))


def not_alike(arguments: Sequence[tuple[str, str]]) -> SqlError:
    """Return the error about a call whose arguments and defaults, as they are declared and as they
    are, do not agree.
    """
    by_kind: dict[str, list[str]] = {}
    for wanted, family in arguments:
        if wanted in GROUPS and family != "unknown":
            kind = "anyarray" if wanted in ELEMENTS else "anyelement" if GROUPS[wanted] == ANY else COMPATIBLE
            by_kind.setdefault(kind, []).append(plain_name(SqlType(family)))
    for kind in ("anyelement", "anyarray"):
        names = by_kind.get(kind, [])
        if len(set(names)) > 1:
            other = next(name for name in names if name != names[0])
            message, pair = f'arguments declared "{kind}" are not all alike', (names[0], other)
            return SqlError("42804", message, detail=" versus ".join(pair))
    if COMPATIBLE in by_kind:
        names = list(dict.fromkeys(name.removesuffix("[]") for found in by_kind.values() for name in found))
        return SqlError("42804", f"argument types {names[0]} and {names[1]} cannot be matched")
    message = "argument declared anyarray is not consistent with argument declared anyelement"
    return SqlError("42804", message, detail=f"{by_kind['anyarray'][0]} versus {by_kind['anyelement'][0]}")


def require_input(result: str, inputs: Sequence[str]) -> None:
    """Raise 42P13 for a result of a polymorphic type that no argument decides."""
    group = GROUPS.get(result)
    if group is not None and not any(GROUPS.get(one) == group for one in inputs):
        detail = f"A result of type {result} requires at least one input of type {REQUIRED[group]}."
        raise SqlError("42P13", "cannot determine result data type", detail=detail)
