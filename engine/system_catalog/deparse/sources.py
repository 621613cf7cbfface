"""Items of FROM that are printed: an alias for each that no other around it has, and names of
columns that say the same as those of the text.

Enters: what a text means (`Meaning`), its items of FROM. Leaves: `Source`s with the names that the
printed query uses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from engine.system_catalog.deparse.pieces import literal
from engine.system_catalog.descriptions import description
from sql.bind.notes import Key, NotedItem, Notes
from sql.catalog.catalog import KnowsSystem, RelationDescription, SessionSettings
from sql.catalog.functions import FunctionDescription
from sql.catalog.schemas import find_type
from sql.errors import SqlError
from sql.names.relation_keys import name_of, quoted, schema_of, viewed_oid
from sql.parse import syntax
from sql.parse.type_names import resolve_type
from sql.types.datatypes import SqlType

NAME_BYTES_MAX = 63
# What PostgreSQL calls the rows of VALUES.
VALUES_NAME = "*VALUES*"
BY_PLACE = frozenset({"view", "query"})


@dataclass(frozen=True)
class Meaning:
    """The meaning of a definition's text.

    Attributes:
        then: the relations by the names of the definition's text.
        today: a relation by its oid.
        functions: a user's function by its oid.
        settings: those with which the text is read.
        shown_zone: the zone in which times are shown.
        oids: of relations that the text names in strings.
        function: whose body the text is.
    """

    notes: Notes
    then: KnowsSystem
    today: Callable[[int], RelationDescription | None]
    functions: Callable[[int], FunctionDescription | None]
    settings: SessionSettings
    shown_zone: str
    oids: Mapping[str, int] = field(default_factory=dict)
    function: FunctionDescription | None = None

    def oid_in_string(self, kind: str, text: str) -> int | None:
        """Return the oid of the object that a string names as a value of a type like regclass, None
        where there is none.
        """
        try:
            known = self.oids.get(text) if kind == "regclass" else None
            return known or self.then.object_oid(kind, text, self.settings, None)
        except SqlError:
            return None

    def resolve(self, written: syntax.TypeName) -> SqlType:
        """Return the type that a name as written means."""
        return resolve_type(written, lambda name: find_type(name, self.then, self.settings))


@dataclass(eq=False)
class Source:
    """An item of FROM, or the columns that a join has of its own.

    Attributes:
        kind: 'relation', 'output' (of a view), 'query', 'function', 'windows', 'item' (of WITH),
            'values' or 'join'.
        name: today, without an alias.
        columns: by name of today, without aliases for a relation.
        schema: of a relation, its schema today.
        places: of the columns that the text knows, where they are not the same today.
        hidden: places of columns for which no star stands.
        unknown: places of columns that are newer than the text.
        shown: the alias in the printed query.
        shown_columns: the names of its columns in the printed query.
        shows_columns: the printed query lists these names.
        is_inside: the relation is in another item of FROM, with its own name and columns.
        viewed: of the output of a view, the view's name today.
    """

    kind: str
    name: str
    columns: list[str]
    alias: str | None = None
    column_aliases: tuple[str, ...] = ()
    schema: str = ""
    places: dict[int, int] = field(default_factory=dict)
    hidden: frozenset[int] = frozenset()
    unknown: frozenset[int] = frozenset()
    shown: str = ""
    shown_columns: list[str] = field(default_factory=list)
    shows_columns: bool = False
    is_inside: bool = False
    viewed: str = ""

    def __post_init__(self) -> None:
        self.shown_columns = [""] * len(self.columns)

    def place(self, index: int) -> int:
        """Return the present place of a column that the text knows."""
        return self.places.get(index, index)

    def written(self, relation_name: Callable[[str, str], str]) -> str:
        """Return the text of a source but a relation. relation_name: prints schema, name."""
        if self.kind != "output":
            return quoted(self.name)
        return f"output_of({literal(relation_name(self.schema, self.viewed))})"

    @property
    def listed_columns(self) -> list[str]:
        """The columns that the source is printed with."""
        return [name for place, name in enumerate(self.shown_columns) if place not in self.hidden]


def relation_source(meaning: Meaning, item: syntax.Table, key: str, oid: int) -> Source:
    """Return a relation of the catalog with the columns that it has today."""
    then = meaning.then.relation(key) or description(schema_of(key), name_of(key))
    assert then is not None, item
    today = meaning.today(oid) or then
    schema = then.schema_name if then.schema_name != "public" else schema_of(today.name)
    if then.kind in BY_PLACE:
        before, now = ([str(place) for place, _ in enumerate(one.columns)] for one in (then, today))
    elif all(column.number for column in today.columns):
        before, now = ([str(column.number) for column in one.columns] for one in (then, today))
    else:
        before, now = ([column.name for column in one.columns] for one in (then, today))
    count = len(now)
    places = {place: now.index(known) for place, known in enumerate(before) if known in now}
    places |= {len(before) + place: count + place for place, _ in enumerate(today.hidden)}
    columns = [column.name for column in (*today.columns, *today.hidden)]
    view = meaning.today(viewed_oid(today.name)) if item.is_output else None
    kind, name = ("relation", name_of(today.name)) if view is None else ("output", "output_of")
    return Source(
        kind, name, columns, item.alias, item.column_aliases, schema_of(view.name) if view else schema, places,
        frozenset(range(count, len(columns))), frozenset(range(count)) - set(places.values()),
        viewed=name_of(view.name) if view else "",
    )  # fmt: skip


def windowed_source(item: syntax.WindowedTable, inner: Source, noted: NotedItem) -> Source:
    """Return a relation whose rows have windows. inner: the relation, which keeps its own names."""
    inner.is_inside = True
    inner.shown_columns = list(inner.columns)
    added = [column.name for column in noted.columns[-2:]]
    known, count = len(noted.columns) - 2, len(inner.columns)
    places = {**inner.places, known: count, known + 1: count + 1}
    return Source(
        "windows", inner.name, [*inner.columns, *added], item.alias, item.column_aliases, "", places, inner.hidden,
        inner.unknown,
    )  # fmt: skip


def give_names(sources: list[Source], around: frozenset[str]) -> frozenset[str]:
    """Give aliases to the items of a SELECT and return all that are taken inside of it."""
    taken = dict.fromkeys(around, 0)
    for source in sources:
        source.shown = _free(source.alias or source.name, taken)
    return frozenset(taken)


def name_columns(
    item: syntax.FromItem | syntax.ValuesBody, sources: Mapping[int, Source], notes: Notes, above: frozenset[str]
) -> None:
    """Give the columns of JOIN USING their common name on both sides, and all others theirs.

    above: the common names of the joins around.
    """
    source = sources[id(item)]
    if isinstance(item, syntax.JoinClause):
        for pair in notes.using.get(id(item), ()):
            shown = _shown_name(pair.meant, sources) or pair.name
            for owner, index in (pair.left, pair.right, pair.meant):
                if index is not None:
                    sources[owner].shown_columns[sources[owner].place(index)] = shown
            above |= {shown}
        name_columns(item.left, sources, notes, above)
        name_columns(item.right, sources, notes, above)
        return
    aliases = iter(source.column_aliases)
    for place, name in enumerate(source.columns):
        alias = None if place in source.hidden or place in source.unknown else next(aliases, None)
        if not source.shown_columns[place]:
            known = dict.fromkeys({*source.shown_columns, *above}, 0)
            source.shown_columns[place] = name if place in source.hidden else _free(alias or name, known)
    is_listed = source.kind == "function" or (source.kind != "relation" and bool(source.column_aliases))
    source.shows_columns = is_listed or source.shown_columns != source.columns


def _shown_name(key: Key, sources: Mapping[int, Source]) -> str:
    """Return the name that a join further out has given to a column, '' for none."""
    source, index = sources[key[0]], key[1]
    return "" if index is None else source.shown_columns[source.place(index)]


def _free(name: str, taken: dict[str, int]) -> str:
    """Return a name that is not taken, with a number after it where it would be."""
    if name not in taken:
        taken[name] = 0
        return name
    while True:
        taken[name] += 1
        suffix = f"_{taken[name]}"
        found = name.encode()[: NAME_BYTES_MAX - len(suffix)].decode(errors="ignore") + suffix
        if found not in taken:
            taken[found] = 0
            return found
