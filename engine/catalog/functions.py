"""Users' functions in the catalog: the plain form that is stored, and the functions that a
definition calls.

A definition keeps the keys of the functions in its text, as they were when it was bound, with their
oids: a function that gets another name or schema stays known to it, and a new function of the same
name is none of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any

from engine.catalog.image import CatalogImage
from engine.catalog.plain_types import plain_type, type_of
from engine.catalog.system import OverImage
from sql.catalog.catalog import RelationDescription
from sql.catalog.functions import FunctionArgument, FunctionDescription
from sql.types.enums import EnumType

Called = tuple[tuple[str, int], ...]


def called_as_then(image: CatalogImage, called: Called | None, key: str) -> tuple[FunctionDescription, ...]:
    """Return the functions that had a key when a definition was bound.

    called: the functions that it calls; None: those of today are meant.
    """
    if called is None:
        return image.functions_called(key)
    return tuple(
        replace(image.functions[oid], name=key) for then, oid in called if then == key and oid in image.functions
    )


@dataclass(frozen=True)
class FunctionsAsThen(OverImage):
    """A catalog of today with the functions that a definition calls."""

    image: CatalogImage
    called: Called

    def relation(self, name: str) -> RelationDescription | None:
        """See Catalog."""
        return self.image.relation(name)

    def relation_names(self) -> Iterable[str]:
        """See Catalog."""
        return self.image.relation_names()

    def type(self, key: str) -> EnumType | None:
        """See KnowsTypes."""
        return self.image.type(key)

    def functions_called(self, key: str) -> tuple[FunctionDescription, ...]:
        """See KnowsFunctions."""
        return called_as_then(self.image, self.called, key)


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
    return FunctionDescription(**{**plain, "arguments": arguments, "result": result})
