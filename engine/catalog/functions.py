"""Users' functions in the catalog: the plain form that is stored, and the functions and types that
a definition names.

A definition keeps the keys of the functions and types in its text, as they were when it was bound,
with their oids: one that gets another name or schema stays known to it, and a new one of the same
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
from sql.catalog.catalog import RelationDescription, SessionSettings, name_in_text
from sql.catalog.functions import FunctionArgument, FunctionDescription
from sql.types.enums import EnumType

Objects = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class ObjectsAsThen(OverImage):
    """A catalog of today with the functions and types that a definition names.

    Attributes:
        objects: these, and the names in constants of regclass and the like; None: those of today
            are meant.
    """

    image: CatalogImage
    objects: Objects | None

    def relation(self, name: str) -> RelationDescription | None:
        """See Catalog."""
        return self.image.relation(name)

    def relation_names(self) -> Iterable[str]:
        """See Catalog."""
        return self.image.relation_names()

    def type(self, key: str) -> EnumType | None:
        """See KnowsTypes."""
        if self.objects is None:
            return self.image.type(key)
        types = self.image.types_by_oid
        return next((types[oid].enum for then, oid in self.objects if then == key and oid in types), None)

    def functions_called(self, key: str) -> tuple[FunctionDescription, ...]:
        """See KnowsFunctions."""
        if self.objects is None:
            return self.image.functions_called(key)
        functions = self.image.functions
        return tuple(
            replace(functions[oid], name=key) for then, oid in self.objects if then == key and oid in functions
        )

    def object_oid(self, kind: str, text: str, settings: SessionSettings, position: int | None) -> int:
        """See KnowsSystem."""
        key = name_in_text(kind, text)
        known = next((oid for then, oid in self.objects or () if then == key), None)
        return super().object_oid(kind, text, settings, position) if known is None else known


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
    return FunctionDescription(**{**plain, "arguments": arguments, "result": result, "needs": needs})
