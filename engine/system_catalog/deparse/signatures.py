"""The operator, function or cast that PostgreSQL takes for operands of given types.

Enters: names and types, 'unknown' for an untyped constant. Leaves: rows of pg_operator and pg_proc,
and how a cast is done. The choice is that of `sql.functions.overloads`, among the rows that
`engine.system_catalog.static_rows` has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from engine.system_catalog.static_rows import Row, static_rows
from sql.functions import overloads
from sql.functions.signatures import Signature
from sql.types.datatypes import SqlType, array_of, by_oid

UNKNOWN_OID = 705
ANY, ANY_ELEMENT, ANY_ARRAY, ANY_NONARRAY, ANY_ENUM = 2276, 2283, 2277, 2776, 3500
RECORD = 2249
ANY_COMPATIBLE, ANY_COMPATIBLE_ARRAY, ANY_COMPATIBLE_NONARRAY = 5077, 5078, 5079
ELEMENTS = frozenset({ANY, ANY_ELEMENT, ANY_NONARRAY, ANY_ENUM, ANY_COMPATIBLE, ANY_COMPATIBLE_NONARRAY})
NONARRAYS = frozenset({ANY_NONARRAY, ANY_COMPATIBLE_NONARRAY})
ARRAYS = frozenset({ANY_ARRAY, ANY_COMPATIBLE_ARRAY})
# The pseudo-types as `sql.functions` has them.
PSEUDO = {
    **dict.fromkeys(ELEMENTS, "element"),
    **dict.fromkeys(ARRAYS, "array"),
    ANY: "any",
    ANY_ENUM: "enum",
    RECORD: "record",
}


@cache
def _types() -> dict[int, Row]:
    return {row["oid"]: row for row in static_rows("pg_type")}


@cache
def _casts() -> dict[tuple[int, int], Row]:
    return {(row["castsource"], row["casttarget"]): row for row in static_rows("pg_cast")}


@cache
def _by_name(relation: str, column: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in static_rows(relation):
        found.setdefault(row[column], []).append(row)
    return found


def category(oid: int) -> tuple[str, bool]:
    """Return the category of a type, and whether the type is its preferred one."""
    row = _types().get(oid)
    return ("U", False) if row is None else (row["typcategory"], row["typispreferred"])


def cast_method(source: SqlType, target: SqlType) -> str:
    """Return how a cast is done: by 'function', by 'relabel', or by 'text'."""
    row = _casts().get((source.oid, target.oid))
    if row is not None:
        return {"f": "function", "b": "relabel"}.get(row["castmethod"], "text")
    if source.is_array and target.is_array:
        return "array" if cast_method(source.element, target.element) != "relabel" else "relabel"
    return "text"


def is_implicit(kind: SqlType, target: int) -> bool:
    """Tell whether a value becomes one of another type without a cast in the text."""
    if kind.oid in (target, UNKNOWN_OID) or target == ANY:
        return True
    if target in ARRAYS:
        return kind.is_array
    if target in ELEMENTS:
        return (target != ANY_ENUM or kind.is_enum) and (target not in NONARRAYS or not kind.is_array)
    row = _casts().get((kind.oid, target))
    return row is not None and row["castcontext"] == "i"


def operator(name: str, given: Sequence[SqlType]) -> Row | None:
    """Return the operator of this name for one operand (given after the operator) or for two."""
    name = "<>" if name == "!=" else name
    rows = _by_name("pg_operator", "oprname").get(name, [])
    if len(given) == 1:
        return choose([row for row in rows if not row["oprleft"]], lambda row: (row["oprright"],), given)
    binary = [row for row in rows if row["oprleft"] and row["oprright"]]
    return choose(binary, lambda row: (row["oprleft"], row["oprright"]), given, is_operator=True)


def functions_named(name: str) -> list[Row]:
    """Return the rows of pg_proc of this name."""
    return _by_name("pg_proc", "proname").get(name, [])


def function(name: str, given: Sequence[SqlType]) -> Row | None:
    """Return the function of this name for arguments of these types."""
    fitting = [
        row
        for row in functions_named(name)
        if row["pronargs"] - row["pronargdefaults"] <= len(given) <= row["pronargs"]
        or (row["provariadic"] and len(given) >= row["pronargs"] - 1)
    ]
    return choose(fitting, lambda row: argument_types(row, len(given)), given)


def argument_types(row: Row, count: int) -> tuple[int, ...]:
    """Return the types of `count` arguments of a function."""
    types = [int(one) for one in row["proargtypes"]]
    if row["provariadic"] and count >= len(types):
        types = [*types[:-1], *[int(row["provariadic"])] * (count - len(types) + 1)]
    return tuple(types[:count])


def choose(
    rows: list[Row], types_of: Callable[[Row], tuple[int, ...]], given: Sequence[SqlType], is_operator: bool = False
) -> Row | None:
    """Return the row whose types fit best, None for no row or several.

    Of rows with the same types the first one counts: another one is variadic.
    """
    found: dict[Signature, Row] = {}
    for row in rows:
        types = types_of(row)
        wanted = tuple(map(_wanted, types))
        if "" not in wanted and all(map(is_implicit, given, types)):
            found.setdefault(Signature("", wanted, ""), row)
    try:
        best = overloads.choose(found, [kind.family for kind in given], is_operator)
    except overloads.AmbiguousError:
        return None
    return None if best is None else found[best]


def _wanted(oid: int) -> str:
    """Return a declared type as signatures have it, '' for one that no value has here."""
    kind = by_oid(oid)
    return PSEUDO.get(oid) or ("" if kind is None else kind.family)


def element_of(given: Sequence[tuple[int, SqlType]]) -> SqlType | None:
    """Return what a polymorphic function's elements are, from (declared type, type of the
    argument) of each argument.
    """
    for declared, kind in given:
        if kind.oid == UNKNOWN_OID or declared == ANY:
            continue
        if declared in ARRAYS and kind.is_array:
            return kind.element
        if declared in ELEMENTS:
            return kind
    return None


def common_type(kinds: Sequence[SqlType]) -> SqlType:
    """Return the type of CASE, UNION and the like, over branches of these types."""
    known = [kind for kind in kinds if kind.oid != UNKNOWN_OID]
    if not known:
        return SqlType("text")
    if all(kind == known[0] for kind in known):
        return known[0]
    found = known[0]
    for kind in known[1:]:
        same_category = category(kind.oid)[0] == category(found.oid)[0]
        if kind.oid != found.oid and same_category and not category(found.oid)[1] and is_implicit(found, kind.oid):
            if not is_implicit(kind, found.oid):
                found = kind
    return found if all(kind == found for kind in known) else found.without_modifier()


def declared_type(oid: int, element: SqlType | None) -> SqlType | None:
    """Return a declared type, where it is polymorphic by what its elements are here."""
    if oid in ELEMENTS:
        return None if oid == ANY else element
    if oid in ARRAYS:
        return None if element is None else array_of(element)
    return by_oid(oid)
