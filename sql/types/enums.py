"""Enum types: their labels with the integers that stand for them, and their families in the table
of types.

A value is stored as the number of its label wherever rows are: in rings, logs, kernels and engines.
Numbers are in the order of the labels, with room between them, so that a new label finds its place
and no row is ever written again. Labels are only at the edges: constants become numbers when they
are bound, decoders and encoders look labels up. Must not know catalogs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sql.errors import SqlError, not_supported
from sql.names.relation_keys import described, shown_key

# Room for 24 labels one after the other in the middle of the last two, as the 24 bits of
# PostgreSQL's enumsortorder have; at the ends 2^39 labels fit.
STEP = 1 << 24
LABEL_BYTES_MAX = 63


@dataclass(frozen=True, slots=True)
class EnumLabel:
    """A label of an enum type, with its oid.

    Attributes:
        number: the integer as which values are stored.
    """

    oid: int
    number: int
    text: str


@dataclass(frozen=True)
class EnumType:
    """An enum type.

    Attributes:
        name: the key (`sql.names.relation_keys`).
        labels: in their order, which is the order of their numbers.
    """

    name: str
    oid: int
    array_oid: int
    labels: tuple[EnumLabel, ...]

    @property
    def shown(self) -> str:
        """The name, with its schema unless that is public."""
        return shown_key(self.name)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Numbers by label."""
        return {label.text: label.number for label in self.labels}

    @cached_property
    def texts(self) -> dict[int, str]:
        """Labels by number."""
        return {label.number: label.text for label in self.labels}

    def number(self, text: str, position: int | None = None) -> int:
        """Return the number of a label. Raises 22P02."""
        found = self.numbers.get(text)
        if found is None:
            raise unknown_label(text, described(self.name), position)
        return found

    def with_value(self, text: str, oid: int, neighbor: str | None, is_after: bool) -> EnumType:
        """Return the type with another label: after or before `neighbor`, or the last one.

        Raises 22023, and 0A000 without room.
        """
        require_label(text)
        place = len(self.labels)
        if neighbor is not None:
            place = self._place(neighbor) + is_after
        before, behind = self.labels[:place], self.labels[place:]
        if not behind:
            number = before[-1].number + STEP if before else STEP
        elif not before:
            number = behind[0].number - STEP
        else:
            number = (before[-1].number + behind[0].number) // 2
            if number == before[-1].number:
                raise not_supported(f'another value between "{before[-1].text}" and "{behind[0].text}"')
        return replace(self, labels=(*before, EnumLabel(oid, number, text), *behind))

    def with_renamed(self, text: str, new_text: str) -> EnumType:
        """Return the type with another text for a label. Raises 22023 and 42710."""
        require_label(new_text)
        place = self._place(text)
        if new_text in self.numbers:
            raise SqlError("42710", f'enum label "{new_text}" already exists')
        labels = list(self.labels)
        labels[place] = replace(labels[place], text=new_text)
        return replace(self, labels=tuple(labels))

    def _place(self, text: str) -> int:
        for place, label in enumerate(self.labels):
            if label.text == text:
                return place
        raise SqlError("22023", f'"{text}" is not an existing enum label')


def new_enum(name: str, oid: int, texts: Sequence[str]) -> EnumType:
    """Return a new type whose oids begin with `oid`: of the type, of its arrays, of its labels.

    Raises 42602 and 23505.
    """
    for place, text in enumerate(texts):
        require_label(text)
        if text in texts[:place]:
            raise repeated(oid, text)
    labels = (EnumLabel(oid + 2 + place, (place + 1) * STEP, text) for place, text in enumerate(texts))
    return EnumType(name, oid, oid + 1, tuple(labels))


def require_label(text: str) -> None:
    """Raise 42602 for a label that is too long."""
    if len(text.encode()) > LABEL_BYTES_MAX:
        detail = f"Labels must be {LABEL_BYTES_MAX} bytes or less."
        raise SqlError("42602", f'invalid enum label "{text}"', detail=detail)


def unknown_label(text: str, shown: str, position: int | None = None) -> SqlError:
    """Return the error of a text that is no label of the enum shown as `shown`."""
    return SqlError("22P02", f'invalid input value for enum {shown}: "{text}"', position)


def repeated(oid: int, text: str) -> SqlError:
    """Return the error of a label that is written twice; in PostgreSQL a key of pg_enum finds
    it.
    """
    message = 'duplicate key value violates unique constraint "pg_enum_typid_label_index"'
    return SqlError("23505", message, detail=f"Key (enumtypid, enumlabel)=({oid}, {text}) already exists.")


class EnumFamily(str):
    """The family of an enum type, or of its arrays: a text with the oid, as rooms that know
    families take it.

    Families are equal where the oids are, whatever the type is called and whichever labels it has.

    Attributes:
        enum: the type.
    """

    enum: EnumType

    @property
    def is_array(self) -> bool:
        """True for the family of arrays."""
        return self.endswith("[]")


def enum_family(enum: EnumType, is_array: bool = False) -> EnumFamily:
    """Return the family of a type's values, or of arrays of them."""
    family = EnumFamily(f"enum {enum.oid}{'[]' if is_array else ''}")
    family.enum = enum
    return family
