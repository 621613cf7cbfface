"""Names in bodies of RETURN and BEGIN ATOMIC: a function keeps the objects that are meant, and
follows them through renames.

Enters: a description, an image, the settings of the definition. Leaves: the description with what
it names. Raises what binding raises.
"""

from __future__ import annotations

from dataclasses import replace

from engine.catalog.image import CatalogImage
from sql.bind.expressions.user_functions import body_query
from sql.bind.queries.function_bodies import check_function
from sql.catalog.catalog import SessionSettings, used_relation
from sql.catalog.functions import FunctionDescription
from sql.catalog.schemas import SYSTEM
from sql.errors import SqlError


def with_body(function: FunctionDescription, image: CatalogImage, settings: SessionSettings) -> FunctionDescription:
    """Return the function with what its body names beside its defaults; a string keeps nothing."""
    if function.is_polymorphic:
        if function.form != "string":
            raise SqlError("0A000", "SQL function with unquoted function body cannot have polymorphic arguments")
        body_query(function)
        return function
    _, named, references = check_function(function, image, settings)
    if function.form == "string":
        return function
    described = ((name, image.relation(name)) for name in sorted(named))
    used = tuple(
        used_relation(name, known) for name, known in described if known is not None and known.schema_name != SYSTEM
    )
    oids = {*(oid for _, oid in references.objects), *(one.oid for one in used)}
    return replace(
        function,
        needs=tuple(sorted({*function.needs, *references.columns, *((oid, 0) for oid in oids)})),
        used=used,
        objects=tuple(sorted({*(function.objects or ()), *references.objects})),
    )


def with_names(function: FunctionDescription, image: CatalogImage) -> FunctionDescription:
    """Return a stored function with what its body names, where an older server has not stored
    it.
    """
    if function.objects is not None or function.form == "string":
        return function
    try:
        settings = SessionSettings(time_zone=function.time_zone, search_path=function.search_path)
        return with_body(function, image, settings)
    except SqlError:
        return function
