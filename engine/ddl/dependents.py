"""The dependents of a relation, a column, a function or a type: DROP refuses because of them, or
takes them along with CASCADE.

Enters: an image and the objects that are to be dropped. Leaves: dependents, each with
the object that it depends on, in PostgreSQL's words. Must not change anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.catalog.image import (
    WORDS,
    CatalogImage,
    DisabledViewEntry,
    Entry,
    SequenceEntry,
    StreamEntry,
    TableEntry,
    ViewEntry,
    columns_named,
    states_of,
)
from engine.ddl.query_views import read_directly
from engine.tables.foreign_keys import Link, links_to
from sql.catalog.catalog import ColumnDescription, ConstraintDescription
from sql.catalog.functions import FunctionDescription
from sql.errors import SqlError
from sql.names.relation_keys import described, quoted_key
from sql.tree.expressions import Call, Literal
from sql.tree.walks import columns_of, walk
from sql.types.datatypes import SqlType
from sql.types.enums import EnumType

SEVERAL = "desired object(s)"
CASCADE_HINT = "Use DROP ... CASCADE to drop the dependent objects too."

Object = Entry | FunctionDescription | EnumType


@dataclass(frozen=True)
class Dependent:
    """A dependent: an object as a whole, or only a column, a column's default or a constraint of a
    relation.

    Attributes:
        on: the object that it depends on.
        column: its default depends.
        constraint: the constraint depends.
        typed: the column depends, by its type.
    """

    entry: Object
    on: str
    column: int | None = None
    constraint: str | None = None
    typed: int | None = None

    @property
    def oid(self) -> int:
        """The oid of the object."""
        return oid_of(self.entry)

    @property
    def relation(self) -> Entry | None:
        """The relation, None for a function or a type."""
        return None if isinstance(self.entry, FunctionDescription | EnumType) else self.entry

    @property
    def key(self) -> tuple[int, int | None, str | None, int | None]:
        """The dependent without what it depends on."""
        return self.oid, self.column, self.constraint, self.typed

    @property
    def is_whole(self) -> bool:
        """True when the whole object is the dependent."""
        return self.column is None and self.constraint is None and self.typed is None

    @property
    def columns(self) -> set[int]:
        """The columns of its relation without which a default or a constraint is not there."""
        if self.constraint is None or self.relation is None:
            return set() if self.column is None else {self.column}
        constraints = {known.source_key: known for known in self.relation.description.constraints}
        return used_by(constraints[self.constraint], self.relation.description.columns)

    @property
    def text(self) -> str:
        """The dependent as DROP's messages call it."""
        if self.constraint is not None:
            name = self.constraint.removeprefix("\0")
            return f"index {name}" if name != self.constraint else f"constraint {name} on {shown(self.entry)}"
        number = self.typed or self.column
        if number is None or self.relation is None:
            return shown(self.entry)
        name = next(one.name for one in self.relation.description.columns if one.number == number)
        return f"{'default value for ' if self.typed is None else ''}column {name} of {shown(self.entry)}"


def oid_of(entry: Object) -> int:
    """Return the oid of an object."""
    return entry.oid if isinstance(entry, FunctionDescription | EnumType) else entry.description.oid


def shown(entry: Object) -> str:
    """Return the name of an object in messages."""
    if isinstance(entry, FunctionDescription):
        return f"function {entry.signature}"
    if isinstance(entry, EnumType):
        return f"type {described(entry.name)}"
    return f"{WORDS[entry.description.kind]} {described(entry.description.name)}"


def dependents_of(image: CatalogImage, gone: Iterable[Object]) -> list[Dependent]:
    """Return all dependents of the objects in `gone`, and their dependents, in PostgreSQL's order:
    what depends on a dependent follows it.
    """
    roots = list(gone)
    leaving = {oid_of(entry) for entry in roots}
    return _reached(image, [one for root in reversed(roots) for one in _direct(image, root)], leaving)


def with_dependents(image: CatalogImage, direct: Sequence[Dependent]) -> list[Dependent]:
    """Return the dependents of an object that is none of the catalog's, and their dependents."""
    return _reached(image, sorted(direct, key=lambda one: one.oid), set())


def _reached(image: CatalogImage, direct: Sequence[Dependent], leaving: set[int]) -> list[Dependent]:
    """Return dependents with their dependents. leaving: the oids of what is dropped."""
    # By what they are: objects in the temporary schemas of several sessions have the same text.
    found: dict[object, Dependent] = {}

    def visit(one: Dependent) -> None:
        if one.key in found or (one.is_whole and one.oid in leaving):
            return
        below: list[Dependent] = []
        if one.is_whole:
            leaving.add(one.oid)
            below = _direct(image, one.entry)
        elif one.typed is not None and isinstance(one.entry, TableEntry | StreamEntry):
            below = sorted(column_dependents(image, one.entry, one.typed), key=lambda one: one.oid)
        for dependent in reversed(below):
            visit(dependent)
        found.setdefault(one.key, one)

    # PostgreSQL goes from the last to the first, and tells them from the first to the last.
    for one in reversed(direct):
        visit(one)
    lost = {(one.oid, one.typed) for one in found.values()}
    return [
        one
        for one in reversed(found.values())
        if one.is_whole or (one.oid not in leaving and lost.isdisjoint((one.oid, number) for number in one.columns))
    ]


def column_dependents(image: CatalogImage, entry: TableEntry | StreamEntry, number: int) -> list[Dependent]:
    """Return the dependents of a column: views, functions, foreign keys that need a key of it, and
    what takes values of its sequences.
    """
    oid = entry.description.oid
    name = next(one.name for one in entry.description.columns if one.number == number)
    what = f"column {name} of {shown(entry)}"
    found = naming(image, oid, what, number)
    if isinstance(entry, StreamEntry):
        return found + [Dependent(one, what) for one in image.entries.values() if (oid, number) in columns_named(one)]
    covering = [one for one in entry.description.constraints if one.is_plain_key and number in one.columns]
    needing = links_needing(entry, covering, image)
    found += [Dependent(one.child, what, constraint=one.constraint.name) for one in needing]
    found += [one for sequence in owned_by(image, oid, number) for one in _direct(image, sequence)]
    return found + [Dependent(view, what) for view in views_using(image, entry, number)]


def links_needing(table: TableEntry, gone: Sequence[ConstraintDescription], image: CatalogImage) -> list[Link]:
    """Return the foreign keys of any table that refer to columns of `table` which no key covers
    after `gone` is dropped.
    """
    kept = [set(one.columns) for one in table.description.constraints if one.is_plain_key and one not in gone]
    return [link for link in links_to(table, image) if set(link.reference.columns) not in kept]


def is_of(enum: EnumType, *kinds: SqlType | None) -> bool:
    """Tell whether one of several types is the enum or an array of it."""
    return any(kind is not None and kind.enum is not None and kind.enum.oid == enum.oid for kind in kinds)


def _of_type(image: CatalogImage, enum: EnumType) -> list[Dependent]:
    """Return the dependents of a type: columns, views of columns of it, functions, and what names
    it; columns of its arrays come first.
    """
    on = shown(enum)
    arrays: list[Dependent] = []
    found: list[tuple[int, Dependent]] = []
    for entry in image.entries.values():
        oid = entry.description.oid
        for place, column in enumerate(entry.description.columns, 1):
            if not is_of(enum, column.type):
                continue
            if isinstance(entry, TableEntry | StreamEntry):
                array = "[]" if column.type.is_array else ""
                one = Dependent(entry, on + array, typed=column.number)
                arrays += [one] if array else []
                found += [] if array else [(oid, one)]
                continue
            what = f"column {column.name} of {shown(entry)}"
            key = oid, column.number or place
            found += [(oid, Dependent(one, what)) for one in image.entries.values() if key in columns_named(one)]
    for function in image.functions.values():
        if is_of(enum, function.result, *(one.type for one in function.arguments)):
            found.append((function.oid, Dependent(function, on)))
    found += [(one.oid, one) for one in naming(image, enum.oid, on)]
    return arrays + [one for _, one in sorted(found, key=lambda one: one[0])]


def _direct(image: CatalogImage, needed: Object) -> list[Dependent]:
    """Return the dependents of an object, of its sequences last."""
    on, oid = shown(needed), oid_of(needed)
    if isinstance(needed, EnumType):
        return _of_type(image, needed)
    if isinstance(needed, FunctionDescription):
        return sorted(naming(image, oid, on), key=lambda one: one.oid)
    found: list[Dependent] = []
    for entry in sorted(image.entries.values(), key=lambda one: one.description.oid):
        if reads(entry, needed) or entry.description.oid in followers_of(needed):
            found.append(Dependent(entry, on))
        elif isinstance(needed, SequenceEntry) and isinstance(entry, TableEntry):
            found += [Dependent(entry, on, number) for number in defaults_using(entry, needed)]
        elif isinstance(needed, TableEntry) and isinstance(entry, TableEntry):
            references = ((one.name, one.reference) for one in entry.description.constraints)
            found += [Dependent(entry, on, constraint=name) for name, one in references if one and one.oid == oid]
    known = {one.key for one in found}
    found += [one for one in naming(image, oid, on) if one.key not in known]
    found.sort(key=lambda one: one.oid)
    if isinstance(needed, TableEntry):
        found += [one for sequence in owned_by(image, oid) for one in _direct(image, sequence)]
    return found


def objects_named(entry: Entry) -> frozenset[int]:
    """Return the oids of the functions and types in the texts of a relation."""
    match entry:
        case ViewEntry():
            return _oids(entry.source.objects)
        case DisabledViewEntry():
            return _oids(entry.plain.get("objects", entry.plain.get("functions", ())))
        case StreamEntry():
            return frozenset().union(*(_oids(one.objects) for one in entry.defaults.values()))
        case TableEntry():
            sources = (*entry.defaults.values(), *entry.checks.values())
            return frozenset().union(*(_oids(one.objects) for one in sources))
    return frozenset()


def _oids(objects: Iterable[tuple[str, int]]) -> frozenset[int]:
    return frozenset(oid for _, oid in objects)


def naming(image: CatalogImage, oid: int, on: str, number: int = 0) -> list[Dependent]:
    """Return the views, defaults, checks and functions that name an object, or a column of it, of
    their own accord: what calls a function that names the object depends on the function.

    on: the object, as messages call it.
    """
    functions = [one for one in image.functions.values() if (oid, number) in one.needs]
    between = {one.oid for one in functions}

    def names(objects: Iterable[tuple[str, int]]) -> bool:
        named = _oids(objects)
        return oid in named and named.isdisjoint(between)

    found: list[Dependent] = []
    for entry in () if number else image.entries.values():
        if oid not in objects_named(entry):
            continue
        if not isinstance(entry, TableEntry | StreamEntry):
            found += [Dependent(entry, on)] if objects_named(entry).isdisjoint(between) else []
            continue
        checks = entry.checks.items() if isinstance(entry, TableEntry) else ()
        found += [Dependent(entry, on, column=place) for place, one in entry.defaults.items() if names(one.objects)]
        found += [Dependent(entry, on, constraint=name) for name, one in checks if names(one.objects)]
    return found + [Dependent(one, on) for one in functions]


def without_constraint(entry: TableEntry, name: str | None) -> TableEntry:
    """Return a table without the foreign key, check or index whose `source_key` is `name`."""
    return entry.with_constraints(one for one in entry.description.constraints if one.source_key != name)


def reads(entry: Entry, needed: Entry) -> bool:
    """Tell whether a view directly reads a relation, names it in a constant, or sends it its
    rows.
    """
    name, oid = needed.description.name, needed.description.oid
    match entry:
        case DisabledViewEntry():
            return oid in entry.needed
        case ViewEntry():
            is_read = oid in read_directly(entry) or (entry.is_state and name in names_built_in(entry))
            is_written = entry.output is not None and entry.output.oid == oid
            return is_read or is_written or oid in objects_named(entry)
    return False


def names_built_in(entry: Entry) -> frozenset[str]:
    """Return the names of the relations, besides streams, that the pipelines of a view over streams
    know.
    """
    if not isinstance(entry, ViewEntry):
        return frozenset()
    tables = (state.chain.stream_tables | state.chain.upper_tables for state in states_of(entry))
    return entry.named.union(*tables)


def refuse_in_use(image: CatalogImage, entry: TableEntry) -> None:
    """Raise 0A000 for a table that a continuous view reads: its pipelines were made for the table
    as it is.
    """
    for view in image.entries.values():
        if entry.description.name in names_built_in(view):
            name = view.description.name
            raise SqlError(
                "0A000",
                f'cannot alter table "{entry.description.name}" because continuous view "{name}" reads it',
                hint=f"DROP VIEW {name} first, and create it again afterwards.",
            )


def followers_of(entry: Entry) -> frozenset[int]:
    """Return the oids of views that are dropped with a view though they do not read it."""
    return entry.followers if isinstance(entry, ViewEntry) else frozenset()


def owned_by(image: CatalogImage, oid: int, number: int | None = None) -> list[SequenceEntry]:
    """Return the sequences that are dropped with a table, or with one column of it."""
    return [
        entry
        for entry in image.entries.values()
        if isinstance(entry, SequenceEntry)
        and entry.owner is not None
        and entry.owner[0] == oid
        and number in (None, entry.owner[1])
    ]


def defaults_using(table: TableEntry, sequence: SequenceEntry) -> list[int]:
    """Return the columns whose default takes values of a sequence."""
    wanted = quoted_key(sequence.description.name)
    return [
        column.number
        for column in table.description.columns
        if column.default is not None
        and any(
            isinstance(node, Call)
            and node.function == "nextval"
            and isinstance(node.arguments[0], Literal)
            and node.arguments[0].value == wanted
            for node in walk(column.default)
        )
    ]


def views_using(image: CatalogImage, table: TableEntry, number: int) -> list[Entry]:
    """Return the views that directly use a column."""
    name, oid = table.description.name, table.description.oid

    def is_used(entry: Entry) -> bool:
        match entry:
            case ViewEntry():
                return name in names_built_in(entry) if entry.is_state else (oid, number) in entry.columns
            case DisabledViewEntry():
                return oid in entry.needed
        return False

    return [entry for entry in image.entries.values() if is_used(entry)]


def used_by(constraint: ConstraintDescription, columns: Sequence[ColumnDescription]) -> set[int]:
    """Return the numbers of the columns of a constraint."""
    computed = () if constraint.condition is None else columns_of(constraint.condition)
    numbers = {columns[column.index].number for column in computed}
    return (numbers | {*constraint.columns, *constraint.included}) - {0}


def refusal(what: str, found: Iterable[Dependent]) -> SqlError:
    """Return the 2BP01 error.

    what: 'table t', or `SEVERAL`.
    """
    detail = "\n".join(f"{one.text} depends on {one.on}" for one in found)
    pronoun = "them" if what == SEVERAL else "it"
    message = f"cannot drop {what} because other objects depend on {pronoun}"
    return SqlError("2BP01", message, detail=detail, hint=CASCADE_HINT)
