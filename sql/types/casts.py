"""The conversions between types, and the contexts in which they are done, as PostgreSQL's pg_cast
has them.

Contexts: 'implicit' (anywhere), 'assignment' (storing into a column), 'explicit' (CAST). Must not
know expressions.
"""

from __future__ import annotations

from collections.abc import Iterable

from sql.errors import SqlError
from sql.types.datatypes import FAMILIES, OIDS_OF_NAMES, VECTORS, SqlType, array_family, element_family, family_row
from sql.types.enums import EnumFamily
from sql.types.records import RecordFamily

OIDS = frozenset({"oid", *OIDS_OF_NAMES})
# Pairs of types of names that are functions, or operators, with and without their arguments.
ALIKE = {"regproc": "regprocedure", "regprocedure": "regproc", "regoper": "regoperator", "regoperator": "regoper"}

IMPLICIT: dict[str, frozenset[str]] = {
    "int2": OIDS | {"int4", "int8", "numeric", "float4", "float8"},
    "int4": OIDS | {"int8", "numeric", "float4", "float8"},
    "int8": OIDS | {"numeric", "float4", "float8"},
    "oid": OIDS,
    **{name: frozenset({"oid", ALIKE.get(name, "oid")}) for name in OIDS_OF_NAMES},
    "numeric": frozenset({"float4", "float8"}),
    "float4": frozenset({"float8"}),
    "date": frozenset({"timestamp", "timestamptz"}),
    "timestamp": frozenset({"timestamptz"}),
    "varchar": frozenset({"text", "bpchar", "name", "regclass"}),
    "text": frozenset({"varchar", "bpchar", "name", "regclass"}),
    "bpchar": frozenset({"text", "varchar", "name"}),
    "name": frozenset({"text"}),
    "char": frozenset({"text"}),
    "time": frozenset({"interval", "timetz"}),
    "cidr": frozenset({"inet"}),
    **{name: frozenset({"text"}) for name in ("pg_node_tree", "pg_ndistinct", "pg_dependencies", "pg_mcv_list")},
}

ASSIGNMENT: dict[str, frozenset[str]] = {
    "int4": frozenset({"int2"}),
    "int8": frozenset({"int2", "int4"}),
    "numeric": frozenset({"int2", "int4", "int8"}),
    "float4": frozenset({"int2", "int4", "int8", "numeric"}),
    "float8": frozenset({"int2", "int4", "int8", "numeric", "float4"}),
    "timestamp": frozenset({"date", "time"}),
    "timestamptz": frozenset({"date", "timestamp", "time", "timetz"}),
    "timetz": frozenset({"time"}),
    "interval": frozenset({"time"}),
    "inet": frozenset({"cidr"}),
    "json": frozenset({"jsonb"}),
    "jsonb": frozenset({"json"}),
    **{name: frozenset({"int4", "int8"}) for name in OIDS},
    "name": frozenset({"varchar", "bpchar"}),
    "char": frozenset({"varchar", "bpchar"}),
    **dict.fromkeys(("text", "varchar", "bpchar"), frozenset({"char"})),
}

EXPLICIT: dict[str, frozenset[str]] = {
    "int4": frozenset({"bool", "char"}),
    "char": frozenset({"int4"}),
    "bool": frozenset({"int4"}),
    "xid8": frozenset({"xid"}),
    "jsonb": frozenset({"bool", "int2", "int4", "int8", "float4", "float8", "numeric"}),
}

CONTEXTS = ("implicit", "assignment", "explicit")
STRINGS = frozenset({"text", "varchar", "bpchar", "name"})


def cast_context(source: str, target: str) -> str | None:
    """Return the widest context in which family `source` becomes family `target`, None if there is
    none.
    """
    if source == target or source == "unknown" or target in IMPLICIT.get(source, ()):
        return "implicit"
    if target in ASSIGNMENT.get(source, ()):
        return "assignment"
    if target in EXPLICIT.get(source, ()):
        return "explicit"
    if source in VECTORS and target.endswith("[]"):
        source = array_family(VECTORS[source])
    if source.endswith("[]") and target.endswith("[]"):
        return cast_context(element_family(source), element_family(target))
    # Conversion through text: to a string in assignments, from a string only by an explicit cast.
    if target in STRINGS and is_known(source):
        return "assignment"
    if source in STRINGS and is_known(target):
        return "explicit"
    return None


def is_known(family: str) -> bool:
    """Tell whether values of the family have a text."""
    return family in FAMILIES or isinstance(family, EnumFamily | RecordFamily)


def can_cast(source: str, target: str, context: str) -> bool:
    """Tell whether `source` becomes `target` in `context`."""
    needed = cast_context(source, target)
    return needed is not None and CONTEXTS.index(needed) <= CONTEXTS.index(context)


def plain_name(kind: SqlType) -> str:
    """Return the name of a type without modifier, as error messages have it."""
    return kind.row.sql_name


def category(family: str) -> str:
    """Return PostgreSQL's type category of a family."""
    return family_row(family).category


def preferred(family: str) -> bool:
    """Tell whether a family is the preferred one of its category."""
    return family_row(family).preferred


def has_equality(family: str) -> bool:
    """Tell whether values of a family can be compared, grouped and ordered."""
    if isinstance(family, RecordFamily):
        return all(has_equality(kind.family) for kind in family.record.types)
    return family.removesuffix("[]") not in ("json", "tid", "pg_node_tree", "anyarray", "refcursor")


def require_equality(kinds: Iterable[SqlType], position: int | None = None) -> None:
    """Raise 42883 unless values of all types can be compared."""
    for kind in kinds:
        if not has_equality(kind.family):
            raise SqlError("42883", f"could not identify an equality operator for type {plain_name(kind)}", position)


def require_order(kind: SqlType, position: int | None = None) -> None:
    """Raise 42883 unless values of a type can be sorted."""
    if not has_equality(kind.family):
        hint = "Use an explicit ordering operator or modify the query."
        message = f"could not identify an ordering operator for type {plain_name(kind)}"
        raise SqlError("42883", message, position, hint=hint)


def needs_zone(source: str, target: str) -> bool:
    """Tell whether the session's TimeZone decides the result of the conversion."""
    if isinstance(source, RecordFamily):
        return any(needs_zone(kind.family, "text") for kind in source.record.types)
    zoned = {source.removesuffix("[]"), target.removesuffix("[]")}
    if target.removesuffix("[]") == "timetz" and source != target:
        return True
    return "timestamptz" in zoned and bool(zoned & {"date", "time", "timestamp", *STRINGS})


def common_family(families: list[str]) -> str | None:
    """Return the common family of operands of CASE, COALESCE, IN and VALUES, as PostgreSQL chooses
    it.

    None is returned when the families do not match.
    """
    known = [family for family in families if family != "unknown"]
    if not known:
        return "text"
    chosen = known[0]
    for family in known[1:]:
        if family == chosen:
            continue
        if category(family) != category(chosen):
            return None
        if not preferred(chosen) and can_cast(chosen, family, "implicit") and not can_cast(family, chosen, "implicit"):
            chosen = family
    if all(can_cast(family, chosen, "implicit") for family in known):
        return chosen
    return None


def same_modifier(types: list[SqlType]) -> bool:
    """Tell whether all types have the same length or (p,s)."""
    return len({(kind.length, kind.precision, kind.scale, kind.fields) for kind in types}) == 1
