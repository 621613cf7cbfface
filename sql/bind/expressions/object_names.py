"""Names of objects of the catalog beside their oids: the types regclass and the like; and vectors,
the arrays of the catalog that count from 0.

A constant name is looked up at once. All other casts between a text and such a type become calls of
`sql.functions.catalog.NAME_FORMS`, which the session answers. A vector is an array for all
operators and functions, but for places in it.
"""

from __future__ import annotations

from dataclasses import replace

from sql.bind.expressions.context import BindContext
from sql.catalog.catalog import Catalog, KnowsSystem, SessionSettings, name_in_text
from sql.errors import not_supported
from sql.functions.catalog import BY_CANONICAL, NAME_FORMS, is_text
from sql.tree.expressions import Call, Case, Cast, Expression, Literal
from sql.types.datatypes import INT4, OIDS_OF_NAMES, TEXT, VECTORS, SqlType, array_of, by_oid, record_type
from sql.types.records import RecordType
from sql.values.array_text import array_elements

TEXTS = frozenset({"text", "varchar", "bpchar", "name"})
# Functions of an array that yield a place, or the bounds of places.
PLACES = frozenset({"array_lower", "array_upper", "array_position"})


def names_objects(kind: SqlType) -> bool:
    """Tell whether values of the type, or the elements of its arrays, are shown as names."""
    return scalar(kind).family in OIDS_OF_NAMES


def scalar(kind: SqlType) -> SqlType:
    """Return the type of the elements of an array, for a scalar its own type."""
    return kind.element if kind.is_array else kind


def constant_oids(text: str, kind: SqlType, context: BindContext, position: int | None) -> Literal:
    """Return the value of a name, or of an array of names, in a statement's text, which notes it.

    Raises the error of a name of nothing.
    """
    value = known_oids(text, kind, context.catalog, context.settings, position)
    if isinstance(value.value, int) and context.references.is_text:
        context.references.texts.add((name_in_text(kind.family, text), value.value))
    return value


def known_oids(
    text: str, kind: SqlType, catalog: Catalog | None, settings: SessionSettings, position: int | None = None
) -> Literal:
    """Return the value of a name, or of an array of names, as the input of `kind` reads it.

    Raises the error of a name of nothing.
    """
    system, element = _system(catalog, kind, position), scalar(kind).family
    if not kind.is_array:
        return Literal(system.object_oid(element, text, settings, position), kind, position)
    names = array_elements(text, position)
    oids = (None if name is None else system.object_oid(element, name, settings, position) for name in names)
    return Literal(tuple(oids), kind, position)


def _system(catalog: Catalog | None, kind: SqlType, position: int | None) -> KnowsSystem:
    if not isinstance(catalog, KnowsSystem):
        raise not_supported(f"a value of type {kind.sql_name} here", position)
    return catalog


def to_texts(value: Expression, context: BindContext, position: int | None) -> Expression:
    """Return oids as the texts by which their type shows them: a text, or an array of texts."""
    kind = value.type
    if isinstance(value, Literal) and isinstance(value.value, int) and keeps_name(value, context):
        shown = _system(context.catalog, kind, position).object_name(kind.family, value.value, context.settings)
        return Literal(shown, TEXT, value.position)
    form = NAME_FORMS[f"{scalar(kind).family} out{'s' if kind.is_array else ''}"]
    context.stable = True
    return Call(form.canonical, (value,), array_of(TEXT) if kind.is_array else TEXT, position, "")


def keeps_name(value: Literal, context: BindContext) -> bool:
    """Tell whether an oid has the name of now whenever a statement or definition is run: a
    definition shows the names of the day on which it is read.
    """
    is_built_in = value.type.family == "regtype" and isinstance(value.value, int) and by_oid(value.value) is not None
    return is_built_in or not context.settings.is_shared


def from_texts(value: Expression, target: SqlType, context: BindContext, position: int | None) -> Expression:
    """Return names as oids; the value is a text or, for an array of oids, an array of texts."""
    if isinstance(value, Literal) and isinstance(value.value, str) and not target.is_array:
        if target.family != "regclass" or not value.value.isdecimal():
            return constant_oids(value.value, target, context, position)
    form = NAME_FORMS[f"{scalar(target).family} in{'s' if target.is_array else ''}"]
    context.stable = True
    return Call(form.canonical, (value,), target, position, "")


def catalog_call(
    canonical: str, values: list[Expression], kind: SqlType, context: BindContext, position: int, text: str
) -> Call:
    """Return a call of a function of the catalog; what was left out is NULL."""
    known = BY_CANONICAL[canonical]
    context.stable = True
    for left_out in known.arguments[len(values) :]:
        values.append(Literal(None, TEXT if is_text(left_out) else SqlType(left_out)))
    return Call(canonical, tuple(values), kind, position, text)


def as_array(value: Expression) -> Expression:
    """Return a vector as an array, any other value as it is."""
    if value.type.family not in VECTORS:
        return value
    return Cast(value, array_of(SqlType(VECTORS[value.type.family])))


def as_shown(value: Expression, context: BindContext) -> Expression:
    """Return oids that are shown as names as these, a vector as an array, any other value as it
    is.
    """
    value = as_array(value)
    return to_texts(value, context, None) if names_objects(value.type) else value


def placed_element(element: SqlType) -> SqlType:
    """Return the type of the rows of _pg_expandarray: an element and its place."""
    return record_type(RecordType((("x", element), ("n", INT4))))


def place_in(name: str, found: Expression) -> Expression:
    """Return what a function of arrays says of a vector, whose places are one less."""
    if name not in PLACES:
        return found
    return Call("subtract", (found, Literal(1, INT4)), INT4, None, name)


def element_place(index: Expression) -> Expression:
    """Return the place in an array of a place in a vector."""
    if isinstance(index, Literal) and isinstance(index.value, int):
        return replace(index, value=index.value + 1)
    # A place before the first one has no element, whatever it is.
    zero = Literal(0, INT4)
    inside = Call("ge", (index, zero), SqlType("bool"))
    return Case(((inside, Call("add", (index, Literal(1, INT4)), INT4)),), Literal(0, INT4), INT4)
