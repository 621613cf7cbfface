"""Catalogs by which definitions are bound again: each shows the relations, functions and types that
a text names by their names of then.

A definition keeps the keys of what is in its text, as they were when it was bound, with their oids:
one that gets another name or schema stays known to it, and a new one of the same name is none of
its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from engine.catalog.system import OverImage
from sql.catalog.catalog import (
    Catalog,
    ColumnDescription,
    RelationDescription,
    SessionSettings,
    UsedRelation,
    name_in_text,
)
from sql.catalog.functions import FunctionDescription
from sql.catalog.schemas import SYSTEM
from sql.tree.expressions import Column
from sql.tree.relations import BoundQuery, OutputColumn, Project, Relation, Scan, Schema
from sql.tree.walks import rewrite_everywhere
from sql.types.enums import EnumType

if TYPE_CHECKING:
    from engine.catalog.image import CatalogImage, StreamEntry

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

    def body_catalog(self, function: FunctionDescription, in_default: bool = False) -> Catalog:
        """See KnowsFunctions."""
        return body_as_then(function, self.image, in_default) or self

    def object_oid(self, kind: str, text: str, settings: SessionSettings, position: int | None) -> int:
        """See KnowsSystem."""
        key = name_in_text(kind, text)
        known = next((oid for then, oid in self.objects or () if then == key), None)
        return super().object_oid(kind, text, settings, position) if known is None else known


@dataclass(frozen=True)
class AsThen(ObjectsAsThen):
    """A catalog of the relations that a definition uses, as they were when it was made, but for
    their rows: a scan has its relation's name of today (`of_today`).
    """

    used: Mapping[str, UsedRelation]

    def relation(self, name: str) -> RelationDescription | None:
        """Return the relation that was called `name`, without the columns that were dropped."""
        used = self.used.get(name)
        entry = None if used is None else self.image.by_oid(used.oid)
        if used is None or entry is None:
            return None
        now = entry.description
        match now.kind:
            case "stream":
                then = stream_as_then(cast("StreamEntry", entry), used)
            case "table":
                numbers = {column.number: column for column in now.columns}
                known = [(then, numbers[number]) for then, number in used.columns if number in numbers]
                then = replace(now, columns=tuple(replace(column, name=name) for name, column in known))
            case "sequence":
                then = now
            case _:
                then = view_as_then(now, used)
        return replace(then, name=name, key_now=now.name)

    def relation_names(self) -> Iterable[str]:
        """Return the names that the definition knows."""
        return self.used.keys()

    def of_today(self, root: Relation) -> Relation:
        """Return a tree that was bound to this catalog over the columns that relations have now."""
        known = ((self.image.by_oid(one.oid), one) for one in self.used.values())
        used = {entry.description.name: (entry.description, one) for entry, one in known if entry is not None}

        def scanned(node: Relation) -> Relation:
            if not isinstance(node, Scan) or node.name not in used or node.kind not in ("table", "view"):
                return node
            now, then = used[node.name]
            whole: Schema = tuple(OutputColumn(column.name, column.type) for column in now.columns)
            if whole == node.schema:
                return node
            indexes = {one.number if node.kind == "table" else place: place for place, one in enumerate(now.columns)}
            keys = (number if node.kind == "table" else place for place, (_, number) in enumerate(then.columns))
            kept = [(name, indexes[key]) for (name, _), key in zip(then.columns, keys, strict=True) if key in indexes]
            items = tuple((name, Column(index, name, now.columns[index].type)) for name, index in kept)
            return Project(Scan(node.name, node.kind, whole), items)

        return rewrite_everywhere(root, scanned)


@dataclass(frozen=True)
class BodyAsThen(AsThen):
    """A catalog as the body of RETURN or BEGIN ATOMIC, or a default, of a function knows it."""

    def relation(self, name: str) -> RelationDescription | None:
        """Return the relation that was called `name`, or one of the server's own."""
        found = super().relation(name) or self.image.relation(name)
        return found if name in self.used or (found is not None and found.schema_name == SYSTEM) else None

    def body_catalog(self, function: FunctionDescription, in_default: bool = False) -> Catalog:
        """See KnowsFunctions."""
        return body_as_then(function, self.image, in_default) or self.image


def body_as_then(function: FunctionDescription, image: CatalogImage, in_default: bool) -> BodyAsThen | None:
    """Return the catalog of a function's body, or of its defaults; None: the text of a string means
    what its names mean at the call, and an older server has stored what it means as well.
    """
    if function.objects is None or (function.form == "string" and not in_default):
        return None
    return BodyAsThen(image, function.objects, {one.name: one for one in function.used})


@dataclass(frozen=True)
class StreamsAsThen(ObjectsAsThen):
    """A catalog in which streams are as a view knew them when it was made, dropped columns
    included.

    A query that is bound to this catalog stays the same for ever, and so do the view's kernels and
    the meaning of its state.

    Attributes:
        named: the other relations that the view's text means; None: as its names are understood
            now.
    """

    used: tuple[UsedRelation, ...]
    named: frozenset[str] | None = None

    def relation(self, name: str) -> RelationDescription | None:
        """Return the relation called `name`."""
        for used in self.used:
            entry = self.image.by_oid(used.oid)
            if used.name == name and entry is not None and entry.description.kind == "stream":
                return stream_as_then(cast("StreamEntry", entry), used)
            if used.name == name and entry is not None:
                return view_as_then(entry.description, used)
        return self.image.relation(name) if self.named is None or name in self.named else None


def stream_as_then(entry: StreamEntry, used: UsedRelation) -> RelationDescription:
    """Return a stream with the name and the columns that a view knew when it was made."""
    stored = entry.stream.stored
    columns = tuple(replace(stored[number - 1], name=then) for then, number in used.columns)
    return replace(entry.description, name=used.name, columns=columns)


def view_as_then(now: RelationDescription, used: UsedRelation) -> RelationDescription:
    """Return a view with the name and the columns that a definition knew when it was made."""
    # A view's columns keep their places, and more may have come after them.
    pairs = zip(used.columns, now.columns, strict=False)
    columns = tuple(replace(column, name=then) for (then, _), column in pairs)
    query = None if now.query is None else _query_as_then(now.query, columns)
    return replace(now, name=used.name, columns=columns, query=query)


def _query_as_then(query: BoundQuery, columns: tuple[ColumnDescription, ...]) -> BoundQuery:
    """Return a view's query with the columns that it had then, for a definition that reads it."""
    root = query.root
    if [column.name for column in columns] != [column.name for column in root.schema]:
        items = (Column(index, column.name, column.type) for index, column in enumerate(root.schema))
        root = Project(root, tuple((column.name, item) for column, item in zip(columns, items, strict=False)))
    return replace(query, root=root)
