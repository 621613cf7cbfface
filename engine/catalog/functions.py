"""Users' functions in the catalog: the plain form that is stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import Any

from engine.catalog.as_then import Objects
from engine.catalog.image import CatalogImage
from engine.catalog.plain_types import plain_type, type_of
from sql.catalog.catalog import UsedRelation
from sql.catalog.functions import FunctionArgument, FunctionDescription


def with_functions(image: CatalogImage, functions: Iterable[FunctionDescription]) -> CatalogImage:
    """Return an image with these functions."""
    found = MappingProxyType({one.oid: one for one in functions})
    return replace(image, functions=found, version=image.version + 1)


def plain_function(function: FunctionDescription) -> dict[str, object]:
    """Return the stored form of a function."""
    return {
        **asdict(function),
        "arguments": [{**asdict(one), "type": plain_type(one.type)} for one in function.arguments],
        "result": None if function.result is None else plain_type(function.result),
    }


def function_of(plain: Mapping[str, Any], image: CatalogImage) -> FunctionDescription:
    """Return a stored function. Raises SqlError for a type that is missing."""
    arguments = tuple(FunctionArgument(**{**one, "type": type_of(one["type"], image)}) for one in plain["arguments"])
    result = None if plain["result"] is None else type_of(plain["result"], image)
    needs = tuple((oid, number) for oid, number in plain.get("needs", ()))
    objects = None if plain.get("objects") is None else objects_of(plain, image)
    used = tuple(used_of(one) for one in plain.get("used", ()))
    known = {"arguments": arguments, "result": result, "needs": needs, "objects": objects, "used": used}
    return FunctionDescription(**{**plain, **known})


def objects_of(plain: Mapping[str, Any], image: CatalogImage) -> Objects:
    """Return the functions and types that a stored definition names.

    An older server has stored functions alone: it renamed no type that a definition names.
    """
    if "objects" in plain:
        return tuple((key, oid) for key, oid in plain["objects"])
    types = tuple((one.name, one.oid) for one in image.types.values())
    return (*((key, oid) for key, oid in plain.get("functions", ())), *types)


def used_of(plain: Mapping[str, Any]) -> UsedRelation:
    """Return a relation as a stored definition knew it."""
    return UsedRelation(plain["name"], plain["oid"], tuple((name, number) for name, number in plain["columns"]))
