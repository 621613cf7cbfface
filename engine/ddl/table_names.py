"""The names that PostgreSQL gives to nameless objects: constraints of tables, and sequences of
serial and identity columns.

Enters: the names of the table and its columns, and a catalog image. Leaves: a name that nothing
else has. Must not change anything.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.catalog.image import CatalogImage, TableEntry
from sql.names.relation_keys import in_schema_of, name_of

NAME_BYTES_MAX = 63


def constraint_names(image: CatalogImage) -> set[str]:
    """Return the names of all constraints of all tables, as keys in the schemas of their tables."""
    return {
        in_schema_of(entry.description.name, constraint.name)
        for entry in image.entries.values()
        if isinstance(entry, TableEntry)
        for constraint in entry.description.constraints
        if not constraint.is_index
    }


def own_names(entry: TableEntry) -> set[str]:
    """Return the names of a table's constraints: an index that is none of a key may have one of
    them, too.
    """
    return {one.name for one in entry.description.constraints if not one.is_index}


def relation_names(image: CatalogImage) -> set[str]:
    """Return the keys that a new relation can't have: those of relations and of indexes."""
    return {*image.entries, *index_names(image)}


def index_names(image: CatalogImage) -> set[str]:
    """Return the keys of indexes, those of keys among them: an index is in the schema of its
    table.
    """
    return {
        in_schema_of(entry.description.name, constraint.name)
        for entry in image.entries.values()
        if isinstance(entry, TableEntry)
        for constraint in entry.description.constraints
        if constraint.is_key or constraint.is_index
    }


def key_name(table: str, columns: Sequence[str], kind: str, taken: set[str]) -> str:
    """Return the name of a primary key or unique constraint. taken: names of relations and
    constraints.
    """
    if kind == "primary key":
        return free_name(table, "", "pkey", taken)
    return free_name(table, joined_names(columns), "key", taken)


def reference_name(table: str, columns: Sequence[str], taken: set[str]) -> str:
    """Return the name of a foreign key."""
    return free_name(table, joined_names(columns), "fkey", taken)


def check_name(table: str, columns: Sequence[str], taken: set[str]) -> str:
    """Return the name of a CHECK that reads `columns`; one alone goes into the name."""
    return free_name(table, columns[0] if len(columns) == 1 else "", "check", taken)


def sequence_name(table: str, column: str, taken: set[str]) -> str:
    """Return the key of the sequence of a column; the sequence is in the schema of its table."""
    return in_schema_of(table, free_name(table, column, "seq", taken))


def free_name(first: str, second: str, label: str, taken: set[str]) -> str:
    """Return first_second_label, cut to a name's length, with the first number after it that makes
    the name new.

    first: a table by its key; nothing else in its schema has the name.
    """
    number = 0
    while True:
        name = object_name(name_of(first), second, label + (str(number) if number else ""))
        if in_schema_of(first, name) not in taken:
            return name
        number += 1


def object_name(first: str, second: str, label: str) -> str:
    """Return the parts with underscores between them.

    The longer of the first two is cut until the name fits.
    """
    overhead = len(label.encode()) + 1 + (1 if second else 0)
    one, two = first.encode(), second.encode()
    while len(one) + len(two) + overhead > NAME_BYTES_MAX:
        if len(one) > len(two):
            one = one[:-1]
        else:
            two = two[:-1]
    parts = [one.decode(errors="ignore"), two.decode(errors="ignore"), label]
    return "_".join(part for index, part in enumerate(parts) if part or index != 1)


def joined_names(columns: Sequence[str]) -> str:
    """Return the columns' names as they stand in an index's name, which takes no more once it is
    long enough.

    A name that comes again has a number after it.
    """
    text = ""
    for column in index_column_names(columns):
        text = f"{text}_{column}" if text else column
        if len(text.encode()) > NAME_BYTES_MAX:
            break
    return text


def index_column_names(columns: Sequence[str]) -> list[str]:
    """Return the names of an index's own columns: one that comes again gets the first number after
    it that makes it new.
    """
    names: list[str] = []
    for column in columns:
        name, number = column, 0
        while name in names:
            number += 1
            room = NAME_BYTES_MAX - len(str(number))
            name = column.encode()[:room].decode(errors="ignore") + str(number)
        names.append(name)
    return names
