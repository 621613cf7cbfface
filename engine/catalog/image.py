"""The relations of the database as one immutable image: names, descriptions, and the objects that
run.

Enters: entries made by DDL. Leaves: images (a new one per change) that bind reads;
`engine.catalog.stored_form` gives them their stored form. A transaction with DDL works on an image
of its own; committing the image is one assignment in `engine.commit.committer`. Must not lock or
write.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from engine.catalog.as_then import body_as_then
from engine.catalog.privileges import PUBLIC_SCHEMA_OID, Privileges
from engine.catalog.roles import Roles
from engine.catalog.sequences import SequenceCounter, SequenceDefinition
from engine.catalog.stream_output import StreamOutput
from engine.catalog.system import the_system
from engine.streams import backfills, view_statistics
from engine.streams import statistics as stream_statistics
from engine.streams.stream import Stream
from ringbuffer.memory.columns import Morsel
from sql.catalog.catalog import (
    Catalog,
    ColumnDescription,
    ConstraintDescription,
    RelationDescription,
    SessionSettings,
    UsedRelation,
)
from sql.catalog.functions import FunctionDescription
from sql.errors import SqlError
from sql.names.relation_keys import PUBLIC, is_output, process_of, schema_of
from sql.names.suggestions import did_you_mean
from sql.tree.relations import BoundQuery, Relation
from sql.types.datatypes import SqlType, array_of, enum_type
from sql.types.enums import EnumType
from views.model.plan import Plan, over
from views.upkeep.chain import Chain
from views.upkeep.twins import together

WORDS = {"stream": "foreign table", "view": "view", "query": "view", "table": "table", "sequence": "sequence"}

FIRST_OID = 16384  # PostgreSQL's FirstNormalObjectId

# What every database has, without an entry. A relation of the same name hides it.
SYSTEM_RELATIONS = {module.NAME: module.DESCRIPTION for module in (stream_statistics, view_statistics, backfills)}


@dataclass(frozen=True)
class StreamEntry:
    """A stream: its description and its ring.

    Attributes:
        options: as written.
        defaults: by column number.
    """

    description: RelationDescription
    stream: Stream
    options: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[int, SourceText] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class StateEntry:
    """A state in the plan of a view: what the view keeps of one grouping of a stream.

    Attributes:
        stream_name: the present name of the stream.
        used: streams in the view's text, and views whose outputs it reads, as when the state began.
        chain: the pipelines up to its rows, as they run.
        active: true if it takes rows.
        zone: the TimeZone on which its groups depend, '' if they depend on none.
    """

    stream_name: str
    chain: Chain
    used: tuple[UsedRelation, ...]
    active: bool = True
    zone: str = ""

    @property
    def plan(self) -> Plan:
        """The pipelines up to its rows."""
        return self.chain.plan


@dataclass(frozen=True)
class SourceText:
    """An expression or query as the user wrote it, with the session values with which it was bound.

    Attributes:
        names: of a check, the table's columns as its text calls them, with their numbers.
        table: of a check, the key by which its text knows the table; '': that of today.
        sequences: of a default, the sequences by their names in its text, with their oids.
        objects: the users' functions and types in it: their keys when it was bound, with their
            oids; and what names in constants of regclass and the like mean.
    """

    text: str
    time_zone: str
    names: tuple[tuple[str, int], ...] = ()
    search_path: str = PUBLIC
    sequences: tuple[tuple[str, int], ...] = ()
    objects: tuple[tuple[str, int], ...] = ()
    table: str = ""

    @property
    def settings(self) -> SessionSettings:
        """The settings with which the text is bound."""
        settings = SessionSettings(time_zone=self.time_zone, search_path=self.search_path, is_shared=True)
        own = next(filter(None, map(process_of, settings.path)), 0)
        return replace(settings, process_id=own)


def source_text(text: str, settings: SessionSettings, names: tuple[tuple[str, int], ...] = ()) -> SourceText:
    """Return a text that was bound in a session."""
    return SourceText(text, settings.time_zone, names, settings.shared().search_path)


@dataclass(eq=False)
class TableData:
    """The versions of a durable table's rows.

    Attributes:
        committed: the number of the last commit that changed them, 0 before the first.
        removed: the number of the last commit that removed keys.
    """

    committed: int = 0
    removed: int = 0


@dataclass(frozen=True)
class TableEntry:
    """A durable table.

    Attributes:
        physical: its name in DuckDB's schema `stored`, where column `number` of the description is
            called c<number>.
        next_number: of the next column.
        defaults: by column number.
        checks: the texts of checks, and of what indexes compute, by `source_key`.
        indexes: name of a key or an index -> its inner name; a key has its inner name in DuckDB.
        data: shared by all images that have the table.
        properties: those that are only shown (`engine.catalog.kept_properties`).
    """

    description: RelationDescription
    physical: str
    next_number: int
    defaults: Mapping[int, SourceText]
    checks: Mapping[str, SourceText]
    indexes: Mapping[str, str]
    data: TableData
    properties: Mapping[str, str] = field(default_factory=dict)

    def numbered(self, numbers: Iterable[int]) -> list[ColumnDescription]:
        """Return the columns with these numbers, in this order."""
        columns = {column.number: column for column in self.description.columns}
        return [columns[number] for number in numbers]

    def with_constraints(self, constraints: Iterable[ConstraintDescription]) -> TableEntry:
        """Return the table with these constraints, and with their checks and indexes alone."""
        kept = tuple(constraints)
        checks = {one.source_key: self.checks[one.source_key] for one in kept if one.source_key in self.checks}
        indexes = {one.name: self.indexes[one.name] for one in kept if one.is_key or one.is_index}
        return replace(self, description=replace(self.description, constraints=kept), checks=checks, indexes=indexes)


@dataclass(frozen=True)
class SequenceEntry:
    """A sequence.

    Attributes:
        owner: (oid of the table, column number) with which it is dropped.
        identity: true if it is the identity of that column.
    """

    description: RelationDescription
    definition: SequenceDefinition
    counter: SequenceCounter
    owner: tuple[int, int] | None = None
    identity: bool = False


@dataclass(frozen=True)
class ViewEntry:
    """A query under a name, over states of its own if its text reads streams.

    Attributes:
        source: the whole CREATE VIEW statement.
        used: the relations that it reads directly; of a view that is a state, what the state has.
        columns: the (oid, attnum) that the text names, of the relations in the text.
        states: what it keeps of each grouping of a stream in its text, in the order of
            `views.plan.first_groupings`. Its query scans each by the name of its rows, which no
            client can write. An ordinary view has none.
        root: of a view with states, the query of the text as the view understands it.
        named: of a view with states, the relations that the text names besides streams.
        followers: oids of views that would read it, had it not exchanged its contents with another
            view; they are dropped with it.
        output: of a transform, the stream that gets its rows; it has no states.
    """

    description: RelationDescription
    source: SourceText
    used: tuple[UsedRelation, ...]
    columns: frozenset[tuple[int, int]]
    states: tuple[StateEntry, ...] = ()
    root: Relation | None = field(default=None, compare=False)
    named: frozenset[str] = frozenset()
    followers: frozenset[int] = frozenset()
    output: StreamOutput | None = None

    @property
    def is_state(self) -> bool:
        """True if no query stands above the rows of its one state, which has the view's name."""
        return self.description.query is None

    @cached_property
    def plan(self) -> Plan:
        """The pipelines of its states and above them; a view over streams has it."""
        if self.description.query is None:
            return self.states[0].plan
        names = [state.chain.name for state in self.states]
        return over([state.plan for state in self.states], names, self.description.query.root)


@dataclass(frozen=True)
class DisabledViewEntry:
    """A view of either kind that could not be built at the start (`engine.catalog.disabled_views`).

    Attributes:
        plain: its stored form.
        needed: oids of the relations that its text names.
    """

    description: RelationDescription
    plain: Mapping[str, Any]
    needed: frozenset[int]

    @property
    def is_continuous(self) -> bool:
        """True if the view keeps something of streams."""
        return self.description.kind == "view" or bool(self.plain.get("states") or self.plain.get("output"))


Entry = StreamEntry | ViewEntry | TableEntry | SequenceEntry | DisabledViewEntry


@dataclass(frozen=True)
class CatalogImage:
    """All relations at one moment.

    Attributes:
        version: rises with every change, so that a plan bound to an older image is found out.
        comments: by (oid of the relation, number of the column); the number is from 1 in the order
            of `description.columns` for views, and 0 for the relation itself.
        schemas: oids by name.
        types: the database's own types by key.
        functions: of users, by their oids.
        constant_rows: of INSERTs, with what they were made of, by (oid of the stream, text); filled
            as statements are prepared.
    """

    entries: Mapping[str, Entry] = field(default_factory=lambda: MappingProxyType({}))
    version: int = 0
    next_oid: int = FIRST_OID
    roles: Roles = field(default_factory=Roles)
    comments: Mapping[tuple[int, int], str] = field(default_factory=lambda: MappingProxyType({}))
    privileges: Privileges = field(default_factory=Privileges)
    schemas: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({PUBLIC: PUBLIC_SCHEMA_OID}))
    types: Mapping[str, EnumType] = field(default_factory=lambda: MappingProxyType({}))
    functions: Mapping[int, FunctionDescription] = field(default_factory=lambda: MappingProxyType({}))
    constant_rows: dict[tuple[int, str], tuple[object, Morsel]] = field(default_factory=dict, init=False, compare=False)

    def has_schema(self, name: str) -> bool:
        """Tell whether a schema exists (the Protocol `sql.catalog.catalog.KnowsSchemas`)."""
        return name in self.schemas

    def type(self, key: str) -> EnumType | None:
        """Return the type with this key, or None; see `sql.catalog.catalog.KnowsTypes`."""
        return self.types.get(key)

    def functions_called(self, key: str) -> tuple[FunctionDescription, ...]:
        """Return the functions with this key; see `sql.catalog.functions.KnowsFunctions`."""
        return self._functions.get(key, ())

    def body_catalog(self, function: FunctionDescription, in_default: bool = False) -> Catalog:
        """See `sql.catalog.functions.KnowsFunctions`."""
        return body_as_then(function, self, in_default) or self

    @cached_property
    def _functions(self) -> dict[str, tuple[FunctionDescription, ...]]:
        found: dict[str, tuple[FunctionDescription, ...]] = {}
        for one in self.functions.values():
            found[one.name] = (*found.get(one.name, ()), one)
        return found

    @cached_property
    def types_by_oid(self) -> Mapping[int, SqlType]:
        """The database's own types and their arrays by their oids."""
        own = [enum_type(one) for one in self.types.values()]
        return {kind.oid: kind for one in own for kind in (one, array_of(one))}

    def schema_oid(self, key: str) -> int:
        """Return the oid of the schema of an existing relation."""
        return self.schemas[schema_of(key)]

    @property
    def oids(self) -> list[int]:
        """The oids of all objects that have an owner."""
        own = (*self.schemas.values(), *(one.oid for one in self.types.values()), *self.functions)
        return [*own, *(entry.description.oid for key, entry in self.entries.items() if not is_output(key))]

    def relation(self, name: str) -> RelationDescription | None:
        """Return the description of `name`, which may be a state of a view, or None."""
        entry = self.entries.get(name)
        if entry is None and (state := self.state(name)) is not None:
            return state.chain.description
        return SYSTEM_RELATIONS.get(name) if entry is None else entry.description

    def system_relation(self, schema: str, name: str) -> RelationDescription | None:
        """See `sql.catalog.catalog.KnowsSystem`."""
        return the_system().relation(schema, name)

    def system_view(self, key: str, settings: SessionSettings) -> BoundQuery | None:
        """See `sql.catalog.catalog.KnowsSystem`."""
        return the_system().view(key, settings)

    def object_oid(self, kind: str, text: str, settings: SessionSettings, position: int | None) -> int:
        """See `sql.catalog.catalog.KnowsSystem`."""
        return the_system().oid(self, kind, text, settings, position)

    def object_name(self, kind: str, oid: int, settings: SessionSettings) -> str:
        """See `sql.catalog.catalog.KnowsSystem`."""
        return the_system().name(self, kind, oid, settings)

    def existing(self, name: str, position: int | None = None) -> Entry:
        """Return the relation that a statement names at `position`. Raises 42P01."""
        entry = self.entries.get(name)
        if entry is None:
            hint = did_you_mean(name, self.relation_names())
            raise SqlError("42P01", f'relation "{name}" does not exist', hint=hint, position=position or None)
        return entry

    def relation_names(self) -> Iterable[str]:
        """Return all names, for 'did you mean'."""
        return self.entries.keys()

    @cached_property
    def states(self) -> Mapping[int, StateEntry]:
        """The states at the edges of all plans by their oids, in order of creation; a continuous
        view of one stream is its own state.
        """
        return {state.chain.state_oid: state for entry in self.entries.values() for state in states_of(entry)}

    @cached_property
    def streams(self) -> Mapping[int, Stream]:
        """All streams by their oids."""
        entries = self.entries.values()
        return {entry.description.oid: entry.stream for entry in entries if isinstance(entry, StreamEntry)}

    def state(self, name: str) -> StateEntry | None:
        """Return the state that a query scans by this name, or None."""
        return self._states_by_name.get(name)

    @cached_property
    def _states_by_name(self) -> dict[str, StateEntry]:
        return {state.chain.name: state for state in self.states.values()}

    def by_oid(self, oid: int) -> Entry | None:
        """Return the relation with an oid, or None."""
        return self._by_oid.get(oid)

    @cached_property
    def _by_oid(self) -> dict[int, Entry]:
        return {entry.description.oid: entry for entry in self.entries.values()}

    def chains_of(self, stream_name: str) -> tuple[Chain, ...]:
        """Return the chains that take a stream's rows, in order of creation.

        Of chains that take rows together only the first is returned.
        """
        return self._attached.get(stream_name, ())

    def transforms_of(self, stream_name: str) -> tuple[ViewEntry, ...]:
        """Return the transforms of a stream's rows, in order of creation."""
        return self._transforms.get(stream_name, ())

    @cached_property
    def _transforms(self) -> dict[str, tuple[ViewEntry, ...]]:
        found: dict[str, tuple[ViewEntry, ...]] = {}
        for entry in self.entries.values():
            query = entry.description.query
            if isinstance(entry, ViewEntry) and entry.output is not None and query is not None:
                (name,) = query.relations
                found[name] = (*found.get(name, ()), entry)
        return found

    @cached_property
    def chains(self) -> tuple[Chain, ...]:
        """The chains in the plans of all views, one for each state."""
        return tuple(state.chain for state in self.states.values())

    @cached_property
    def disabled(self) -> tuple[DisabledViewEntry, ...]:
        """All disabled views."""
        return tuple(entry for entry in self.entries.values() if isinstance(entry, DisabledViewEntry))

    @cached_property
    def held_up(self) -> Mapping[str, DisabledViewEntry]:
        """The streams that take no rows, with a disabled continuous view over each."""
        continuous = (entry for entry in self.disabled if entry.is_continuous)
        below = ((self.by_oid(oid), entry) for entry in continuous for oid in entry.needed)
        return {one.description.name: entry for one, entry in below if isinstance(one, StreamEntry)}

    @cached_property
    def has_tables(self) -> bool:
        """True when there is a durable table."""
        return any(isinstance(entry, TableEntry) for entry in self.entries.values())

    def led_by(self, leaders: Iterable[Chain]) -> list[Chain]:
        """Return these chains, and all that take rows together with one of them."""
        wanted = set(leaders)
        return [chain for chains in self.together if chains[0] in wanted for chain in chains]

    @cached_property
    def together(self) -> tuple[tuple[Chain, ...], ...]:
        """The chains that take rows, in sets that take rows together (`views.upkeep.twins`)."""
        return together(state.chain for state in self.states.values() if state.active)

    @cached_property
    def _attached(self) -> dict[str, tuple[Chain, ...]]:
        names = {state.chain: state.stream_name for state in self.states.values()}
        attached: dict[str, tuple[Chain, ...]] = {}
        for leader, *_ in self.together:
            attached[names[leader]] = (*attached.get(names[leader], ()), leader)
        return attached

    def with_entry(self, entry: Entry) -> CatalogImage:
        """Return an image that also holds `entry`; its oid was taken from `next_oid`."""
        entries = {**self.entries, entry.description.name: entry}
        next_oid = max(self.next_oid, entry.description.oid + 1)
        return replace(self, entries=MappingProxyType(entries), version=self.version + 1, next_oid=next_oid)

    def with_replaced(self, name: str, entry: Entry) -> CatalogImage:
        """Return an image with `entry` in the place of the relation called `name`.

        It may have another name.
        """
        entries = {
            entry.description.name if known == name else known: entry if known == name else other
            for known, other in self.entries.items()
        }
        return replace(self, entries=MappingProxyType(entries), version=self.version + 1)

    def without(self, names: Iterable[str]) -> CatalogImage:
        """Return an image without the relations called `names`."""
        gone = frozenset(names)
        entries = {name: entry for name, entry in self.entries.items() if name not in gone}
        left = replace(self, entries=MappingProxyType(entries), version=self.version + 1)
        oids = frozenset(left.oids)
        return replace(left, comments={place: text for place, text in self.comments.items() if place[0] in oids})

    def with_comment(self, oid: int, number: int, text: str | None) -> CatalogImage:
        """Return an image with another comment on a relation or column; None removes the
        comment.
        """
        comments = {place: known for place, known in self.comments.items() if place != (oid, number)}
        if text is not None:
            comments[oid, number] = text
        return replace(self, version=self.version + 1, comments=comments)

    def moved_last(self, names: Iterable[str]) -> CatalogImage:
        """Return an image in whose order of creation the relations called `names` come last."""
        last = {name: self.entries[name] for name in names}
        entries = {name: entry for name, entry in self.entries.items() if name not in last} | last
        return replace(self, entries=MappingProxyType(entries), version=self.version + 1)


def states_of(entry: Entry) -> tuple[StateEntry, ...]:
    """Return what a relation keeps of streams."""
    return entry.states if isinstance(entry, ViewEntry) else ()


def columns_named(entry: Entry) -> frozenset[tuple[int, int]]:
    """Return the (oid, attnum) that the text of a view names."""
    return entry.columns if isinstance(entry, ViewEntry) else frozenset()


def in_states(entry: ViewEntry, states: tuple[StateEntry, ...]) -> ViewEntry:
    """Return a view with other states in the places of its own."""
    return replace(entry, states=states, description=(states[0].chain if entry.is_state else entry).description)
