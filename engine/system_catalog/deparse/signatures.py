"""The types that PostgreSQL's operator or function takes for operands of given types, and how it
does a cast.

Enters: names and types, 'unknown' for an untyped constant. The choice is that of
`sql.functions.overloads`, among the rows of pg_operator and pg_proc that
`engine.system_catalog.static_rows` has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from engine.system_catalog.static_rows import Row, static_rows
from sql.functions import overloads
from sql.functions.signatures import Signature
from sql.types.datatypes import SqlType, array_of, by_oid

# The pseudo-types as `sql.functions` has them: any, anyelement, anynonarray, anyenum, anyarray,
# record, anycompatible and its like.
PSEUDO = {
    2276: "any", 2283: "element", 2776: "element", 3500: "enum", 2277: "array", 2249: "record",
    5077: "element", 5078: "array", 5079: "element",
}  # fmt: skip
NONARRAYS = frozenset({2776, 5079})


@cache
def _casts() -> dict[tuple[int, int], Row]:
    return {(row["castsource"], row["casttarget"]): row for row in static_rows("pg_cast")}


@cache
def _by_name(relation: str, column: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in static_rows(relation):
        found.setdefault(row[column], []).append(row)
    return found


def cast_method(source: SqlType, target: SqlType) -> str:
    """Return how a cast is done: by 'function', by 'relabel', or by 'text'."""
    row = _casts().get((source.oid, target.oid))
    if row is not None:
        return {"f": "function", "b": "relabel"}.get(row["castmethod"], "text")
    if source.is_array and target.is_array:
        return "array" if cast_method(source.element, target.element) != "relabel" else "relabel"
    return "text"


def operator(name: str, given: Sequence[SqlType]) -> list[SqlType | None] | None:
    """Return what the operator of this name takes for one operand or two; see `taken`."""
    rows = _by_name("pg_operator", "oprname").get("<>" if name == "!=" else name, [])
    known = (tuple(oid for oid in (row["oprleft"], row["oprright"]) if oid) for row in rows)
    return taken((types for types in known if len(types) == len(given)), given, is_operator=True)


def function(name: str, given: Sequence[SqlType]) -> list[SqlType | None] | None:
    """Return what the function of this name takes for arguments of these types; see `taken`."""
    fitting = (
        argument_types(row, len(given))
        for row in _by_name("pg_proc", "proname").get(name, [])
        if row["pronargs"] - row["pronargdefaults"] <= len(given) <= row["pronargs"]
        or (row["provariadic"] and len(given) >= row["pronargs"] - 1)
    )
    return taken(fitting, given)


def argument_types(row: Row, count: int) -> tuple[int, ...]:
    """Return the types of `count` arguments of a function."""
    types = [int(one) for one in row["proargtypes"]]
    if row["provariadic"] and count >= len(types):
        types = [*types[:-1], *[int(row["provariadic"])] * (count - len(types) + 1)]
    return tuple(types[:count])


def taken(
    candidates: Iterable[tuple[int, ...]], given: Sequence[SqlType], is_operator: bool = False
) -> list[SqlType | None] | None:
    """Return the types of the candidate that fits best, those of its elements in the place of
    pseudo-types, and None for one that takes anything; None for no candidate or several.
    """
    known = dict.fromkeys(
        Signature("", tuple(map(_wanted, types)), "")
        for types in candidates
        if not any(oid in NONARRAYS and kind.is_array for oid, kind in zip(types, given, strict=True))
    )
    families = [kind.family for kind in given]
    try:
        best = overloads.choose((one for one in known if "" not in one.arguments), families, is_operator)
    except overloads.AmbiguousError:
        return None
    if best is None:
        return None
    family = overloads.element_family(best, families) if best.is_polymorphic else None
    element = None if family is None else SqlType(family)
    pseudo = {"any": None, "record": None, "element": element, "enum": element}
    if element is not None and "array" in best.arguments:
        pseudo["array"] = array_of(element)
    return [pseudo[wanted] if wanted in pseudo else SqlType(wanted) for wanted in best.arguments]


def _wanted(oid: int) -> str:
    """Return a declared type as signatures have it, '' for one that no value has here."""
    kind = by_oid(oid)
    return PSEUDO.get(oid) or ("" if kind is None else kind.family)
