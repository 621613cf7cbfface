"""The dependents of a relation or a column: DROP refuses because of them, or takes them along with
CASCADE.

Enters: an image and the relations or columns that are to be dropped. Leaves: dependents, each with
the object that it depends on, in PostgreSQL's words. Must not change anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from engine.catalog.image import (
    WORDS,
    CatalogImage,
    DisabledViewEntry,
    Entry,
    QueryViewEntry,
    SequenceEntry,
    StreamEntry,
    TableEntry,
    ViewEntry,
    states_of,
)
from engine.ddl.query_views import read_directly
from sql.catalog.catalog import ColumnDescription, ConstraintDescription
from sql.catalog.functions import FunctionDescription
from sql.errors import SqlError
from sql.names.relation_keys import described, quoted_key
from sql.tree.expressions import Call, Literal
from sql.tree.walks import columns_of, walk

SEVERAL = "desired object(s)"
CASCADE_HINT = "Use DROP ... CASCADE to drop the dependent objects too."


@dataclass(frozen=True)
class Dependent:
    """A dependent: a relation or a function as a whole, or only a column's default or a constraint
    of the relation.

    Attributes:
        on: the object that it depends on.
        column: its default depends.
        constraint: the constraint depends.
    """

    entry: Entry | FunctionDescription
    on: str
    column: int | None = None
    constraint: str | None = None

    @property
    def oid(self) -> int:
        """The oid of the relation or the function."""
        return oid_of(self.entry)

    @property
    def relation(self) -> Entry | None:
        """The relation, None for a function."""
        return None if isinstance(self.entry, FunctionDescription) else self.entry

    @property
    def is_whole(self) -> bool:
        """True when the whole relation, or a function, is the dependent."""
        return self.column is None and self.constraint is None

    @property
    def text(self) -> str:
        """The dependent as DROP's messages call it."""
        if self.constraint is not None:
            return f"constraint {self.constraint} on {shown(self.entry)}"
        if self.column is None or isinstance(self.entry, FunctionDescription):
            return shown(self.entry)
        name = next(one.name for one in self.entry.description.columns if one.number == self.column)
        return f"default value for column {name} of {shown(self.entry)}"


def oid_of(entry: Entry | FunctionDescription) -> int:
    """Return the oid of a relation or a function."""
    return entry.oid if isinstance(entry, FunctionDescription) else entry.description.oid


def shown(entry: Entry | FunctionDescription) -> str:
    """Return the name of a relation or a function in messages."""
    if isinstance(entry, FunctionDescription):
        return f"function {entry.signature}"
    return f"{WORDS[entry.description.kind]} {described(entry.description.name)}"


def dependents_of(image: CatalogImage, gone: Iterable[Entry]) -> list[Dependent]:
    """Return all dependents of the objects in `gone`, and their dependents, in PostgreSQL's order:
    what depends on a dependent follows it.
    """
    roots = list(gone)
    leaving = {entry.description.oid for entry in roots}
    return _reached(image, [one for root in reversed(roots) for one in _direct(image, root)], leaving)


def with_dependents(image: CatalogImage, direct: Sequence[Dependent], leaving: Iterable[int] = ()) -> list[Dependent]:
    """Return the dependents of an object that is no relation, and their dependents.

    leaving: the oids of what is dropped anyway.
    """
    return _reached(image, sorted(direct, key=lambda one: one.oid), set(leaving))


def _reached(image: CatalogImage, direct: Sequence[Dependent], leaving: set[int]) -> list[Dependent]:
    """Return dependents with their dependents. leaving: the oids of what is dropped."""
    found: list[Dependent] = []

    def visit(one: Dependent) -> None:
        if one.is_whole:
            if one.oid in leaving:
                return
            leaving.add(one.oid)
            for below in reversed(_direct(image, one.entry)):
                visit(below)
        found.append(one)

    # PostgreSQL goes from the last to the first, and tells them from the first to the last.
    for one in reversed(direct):
        visit(one)
    return [one for one in reversed(found) if one.is_whole or one.oid not in leaving]


def _direct(image: CatalogImage, needed: Entry | FunctionDescription) -> list[Dependent]:
    """Return the dependents of a relation or a function, of its sequences last."""
    on, oid = shown(needed), oid_of(needed)
    if isinstance(needed, FunctionDescription):
        return naming(image, oid, on)
    found: list[Dependent] = []
    for entry in sorted(image.entries.values(), key=lambda one: one.description.oid):
        if reads(entry, needed) or entry.description.oid in followers_of(needed):
            found.append(Dependent(entry, on))
        elif isinstance(needed, SequenceEntry) and isinstance(entry, TableEntry):
            found += [Dependent(entry, on, number) for number in defaults_using(entry, needed)]
        elif isinstance(needed, TableEntry) and isinstance(entry, TableEntry):
            references = ((one.name, one.reference) for one in entry.description.constraints)
            found += [Dependent(entry, on, constraint=name) for name, one in references if one and one.oid == oid]
    known = {one.text for one in found}
    found += [one for one in naming(image, oid, on) if one.text not in known]
    found.sort(key=lambda one: one.oid)
    if isinstance(needed, TableEntry):
        found += [one for sequence in owned_by(image, oid) for one in _direct(image, sequence)]
    return found


def objects_named(entry: Entry) -> frozenset[int]:
    """Return the oids of the functions and types in the texts of a relation."""
    match entry:
        case ViewEntry():
            return _oids(entry.objects)
        case QueryViewEntry():
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
    """Return a table without the foreign key or check called `name`."""
    kept = tuple(one for one in entry.description.constraints if one.name != name)
    checks = {one: source for one, source in entry.checks.items() if one != name}
    return replace(entry, description=replace(entry.description, constraints=kept), checks=checks)


def reads(entry: Entry, needed: Entry) -> bool:
    """Tell whether a view directly reads a relation, or names it in a constant."""
    name, oid = needed.description.name, needed.description.oid
    match entry:
        case DisabledViewEntry():
            return oid in entry.needed
        case ViewEntry():
            is_read = entry.stream_name == name if isinstance(needed, StreamEntry) else name in names_built_in(entry)
            return is_read or any(oid == named for _, named in entry.objects)
        case QueryViewEntry():
            return oid in read_directly(entry) or any(oid == named for _, named in entry.source.objects)
    return False


def names_built_in(entry: Entry) -> frozenset[str]:
    """Return the names of the relations, besides streams, that the pipelines of a view over streams
    know.
    """
    if not isinstance(entry, ViewEntry | QueryViewEntry):
        return frozenset()
    tables = (state.chain.stream_tables | state.chain.upper_tables for state in states_of(entry))
    return entry.named.union(*tables)


def followers_of(entry: Entry) -> frozenset[int]:
    """Return the oids of views that are dropped with a view though they do not read it."""
    return entry.followers if isinstance(entry, ViewEntry | QueryViewEntry) else frozenset()


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
            case QueryViewEntry():
                return (oid, number) in entry.columns
            case ViewEntry():
                return name in names_built_in(entry)
            case DisabledViewEntry():
                return oid in entry.needed
        return False

    return [entry for entry in image.entries.values() if is_used(entry)]


def used_by(constraint: ConstraintDescription, columns: Sequence[ColumnDescription]) -> set[int]:
    """Return the numbers of the columns of a constraint."""
    if constraint.condition is None:
        return {*constraint.columns, *constraint.included}
    return {columns[column.index].number for column in columns_of(constraint.condition)}


def refusal(what: str, found: Iterable[Dependent]) -> SqlError:
    """Return the 2BP01 error.

    what: 'table t', or `SEVERAL`.
    """
    return refusal_of(what, (f"{one.text} depends on {one.on}" for one in found))


def refusal_of(what: str, lines: Iterable[str]) -> SqlError:
    """Return the 2BP01 error with the lines of its DETAIL."""
    detail = "\n".join(lines)
    pronoun = "them" if what == SEVERAL else "it"
    message = f"cannot drop {what} because other objects depend on {pronoun}"
    return SqlError("2BP01", message, detail=detail, hint=CASCADE_HINT)


def cascade_notice(texts: list[str]) -> tuple[str, str | None]:
    """Return the notice of the objects that CASCADE has taken along, and its DETAIL."""
    lines = [f"drop cascades to {text}" for text in texts]
    if len(lines) == 1:
        return lines[0], None
    return f"drop cascades to {len(lines)} other objects", "\n".join(lines)
