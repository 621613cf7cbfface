"""The stored form of types: plain values that JSON can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from engine.catalog.image import CatalogImage
from sql.errors import SqlError
from sql.types.datatypes import FAMILIES, SqlType

DAMAGED = "XX001"
TYPE_FIELDS = tuple(one.name for one in fields(SqlType))


def plain_type(kind: SqlType) -> dict[str, object]:
    """Return the stored form of a type: its family, and what else is not None.

    The family of an own type is a text with its oid.
    """
    return {name: value for name in TYPE_FIELDS if (value := getattr(kind, name)) is not None}


def type_of(plain: Mapping[str, Any], image: CatalogImage) -> SqlType:
    """Return the type that `plain_type` wrote.

    Raises SqlError for an own type that does not exist.
    """
    if plain["family"] in FAMILIES:
        return SqlType(**plain)
    for kind in image.types_by_oid.values():
        if kind.family == plain["family"]:
            return kind
    raise SqlError(DAMAGED, f"the type {plain['family']} is missing")
