"""The types of rows as values: PostgreSQL's record, with the fields that are known when a statement
is bound.

The table of types knows a record by a family that has the fields with it. Fields have no modifiers,
and their numerics carry their own scale, as elements of arrays do. Records are values of
expressions alone: no column stores one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sql.errors import SqlError, not_supported

if TYPE_CHECKING:
    from sql.types.datatypes import SqlType

OID = 2249
ARRAY_OID = 2287
# The types of the rows of relations have no oid of their own in our catalog: the oid follows from
# the relation's. All are positive as int4, and far from oids that are given out one by one.
ROW_TYPES = 1 << 29
ROW_ARRAYS = ROW_TYPES + (1 << 27)


@dataclass(frozen=True)
class RecordType:
    """The fields of a record in their order: names and types.

    Attributes:
        relation, name: oid and name of the relation whose rows the records are, if any.
    """

    fields: tuple[tuple[str, SqlType], ...]
    relation: int = 0
    name: str = "record"

    @property
    def oid(self) -> int:
        """The object identifier of the type."""
        return row_type_oid(self.relation) if self.relation else OID

    @property
    def array_oid(self) -> int:
        """The object identifier of the type of arrays."""
        return row_array_oid(self.relation) if self.relation else ARRAY_OID

    @property
    def types(self) -> tuple[SqlType, ...]:
        """The types of the fields."""
        return tuple(kind for _, kind in self.fields)


class RecordFamily(str):
    """The family of a record, or of arrays of records: a text with the types of its fields.

    Families are equal where these texts and the oids are.
    """

    record: RecordType

    @property
    def is_array(self) -> bool:
        """True for the family of arrays."""
        return self.endswith("[]")


def record_family(record: RecordType, is_array: bool = False) -> RecordFamily:
    """Return the family of a record's values, or of arrays of them."""
    types = ", ".join(kind.family for kind in record.types)
    family = RecordFamily(f"record {record.oid}({types}){'[]' if is_array else ''}")
    family.record = record
    return family


def row_type_oid(relation: int) -> int:
    """Return the OID of the type of a relation's rows."""
    return ROW_TYPES + relation


def row_array_oid(relation: int) -> int:
    """Return the OID of the type of arrays of a relation's rows."""
    return ROW_ARRAYS + relation


def field_type(kind: SqlType) -> SqlType:
    """Return the type of a field with values of `kind`."""
    return replace(kind.without_modifier(), display_scale=None)


def require_stored(name: str, kind: SqlType) -> None:
    """Raise 42P16 for a column of a type that no relation has."""
    if kind.record is not None and kind.record.relation:
        raise not_supported(f"a column of the type {kind.sql_name}")
    if kind.row.category == "P":
        raise SqlError("42P16", f'column "{name}" has pseudo-type {kind.sql_name}')
