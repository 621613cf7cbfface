"""Enum types: numbers in the order of labels, new labels between others, and families that are one
type's whatever its labels.
"""

from __future__ import annotations

import random

import pytest

from sql.errors import SqlError
from sql.types.datatypes import array_of, element_family, enum_type
from sql.types.enums import EnumType, new_enum

MOOD = new_enum("mood", 20_000, ("sad", "ok", "happy"))


def texts(enum: EnumType) -> list[str]:
    return [label.text for label in enum.labels]


def test_numbers_are_in_the_order_of_labels_wherever_one_is_added() -> None:
    source = random.Random(7)
    enum, expected = MOOD, ["sad", "ok", "happy"]
    numbers = dict(enum.numbers)
    for count in range(60):
        label, neighbor, is_after = f"v{count}", source.choice(expected), source.random() < 0.5
        enum = enum.with_value(label, 30_000 + count, neighbor, is_after)
        expected.insert(expected.index(neighbor) + is_after, label)
        # What is stored already keeps its meaning.
        assert numbers.items() <= enum.numbers.items()
        numbers = dict(enum.numbers)
    assert texts(enum) == expected == sorted(expected, key=enum.numbers.__getitem__)
    assert len(set(enum.numbers.values())) == len(expected)


def test_labels_without_room_between_them_refuse_another() -> None:
    enum = MOOD
    for count in range(24):
        enum = enum.with_value(f"v{count}", 30_000 + count, "happy", is_after=False)
    with pytest.raises(SqlError) as raised:
        enum.with_value("more", 40_000, "happy", is_after=False)
    assert raised.value.sqlstate == "0A000"
    assert texts(enum.with_value("last", 40_000, None, is_after=False))[-1] == "last"


@pytest.mark.parametrize(
    ("sqlstate", "change"),
    [
        ("22P02", lambda: MOOD.number("joy")),
        ("22023", lambda: MOOD.with_value("x", 1, "joy", is_after=True)),
        ("22023", lambda: MOOD.with_renamed("joy", "x")),
        ("42710", lambda: MOOD.with_renamed("sad", "ok")),
        ("42602", lambda: MOOD.with_renamed("sad", "ü" * 32)),
        ("23505", lambda: new_enum("x", 1, ("a", "b", "a"))),
    ],
)
def test_errors(sqlstate: str, change: object) -> None:
    assert callable(change)
    with pytest.raises(SqlError) as raised:
        change()
    assert raised.value.sqlstate == sqlstate


def test_a_type_is_the_same_with_other_labels_and_another_name() -> None:
    renamed = EnumType("s", MOOD.oid, MOOD.array_oid, MOOD.with_renamed("sad", "low").labels)
    assert enum_type(MOOD) == enum_type(renamed) != enum_type(new_enum("mood", 20_010, ("sad",)))
    assert array_of(enum_type(MOOD)).oid == 20_001
    assert array_of(enum_type(MOOD)).sql_name == "mood[]"
    assert element_family(array_of(enum_type(MOOD)).family) == enum_type(MOOD).family
    assert array_of(enum_type(MOOD)).element.enum is MOOD
