"""CREATE of streams and continuous views: from parsed statements to catalog entries.

Nothing here commits.

Enters: statements, an image. Leaves: entries. Raises PostgreSQL's errors for names that exist
already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from engine.catalog.as_then import Objects, StreamsAsThen, stream_as_then
from engine.catalog.image import (
    CatalogImage,
    SourceText,
    StateEntry,
    StreamEntry,
    ViewEntry,
    source_text,
)
from engine.ddl.query_views import define_query_view, note_passing, rescanned
from engine.ddl.table_names import relation_names
from engine.storage.errors import disk_error
from engine.storage.kernel_files import KernelFiles
from engine.streams.options import StreamOptions, read_options
from engine.streams.stream import Stream, make_stream
from engine.tables.table_expressions import new_stream_default
from ringbuffer.compile.loader import KernelFileError
from sql.bind.queries.query import bind_query
from sql.bind.readers import as_read, expression_with_zone, open_expressions
from sql.catalog.catalog import (
    ARRIVAL,
    ColumnDescription,
    RelationDescription,
    SessionSettings,
    UsedRelation,
    used_relation,
)
from sql.errors import SqlError, not_supported
from sql.names.relation_keys import name_of, output_key
from sql.parse.statements.create_foreign_table import CreateStream
from sql.parse.statements.create_view import CreateView
from sql.settings.values import zone_option
from sql.tree.expressions import Call, Expression, Literal
from sql.tree.relations import BoundQuery, Relation, Scan
from sql.tree.walks import relation_names as names_read
from sql.tree.walks import rewrite_everywhere
from sql.types.datatypes import require_column
from views.delta.upper import no_delta, why_whole
from views.model.definition import StateDefinition, ViewDefinition, define_view, only_state
from views.model.properties import scans
from views.model.protocols import RowEvaluator, Source, UpperExecutor
from views.model.text import expression_text
from views.plan.checks import check_sliding
from views.plan.closing import keeps_rows
from views.plan.planner import PlannedView, order_notices, plan_view
from views.plan.prepare import Prepared, prepared_view
from views.share.reuse import NotCoveredError
from views.upkeep.chain import Chain
from views.upkeep.kernels import KernelTools
from views.upkeep.lifecycle import Heritage, Oracles, build_view
from views.upkeep.twins import find_twin

ROW_TYPE_HINT = (
    "A relation has an associated type of the same name, "
    "so you must use a name that doesn't conflict with any existing type."
)
# Classes of errors of a table's rows: data, and subqueries with more than one.
FAILING_ROWS = ("22", "21")


def build_stream(
    statement: CreateStream,
    image: CatalogImage,
    settings: SessionSettings,
    oid: int,
    defaults_of_options: StreamOptions,
) -> StreamEntry:
    """Return the entry of a new stream.

    Raises 42701 for a column named twice or like the hidden one, 22023 for a bad option, and what
    defaults raise.
    """
    columns: list[ColumnDescription] = []
    defaults: dict[int, SourceText] = {}
    for number, definition in enumerate(statement.columns, 1):
        if any(column.name == definition.name for column in columns):
            raise SqlError(
                "42701", f'column "{definition.name}" specified more than once', position=definition.position
            )
        refuse_hidden_name(definition.name, definition.position)
        require_column(definition.name, definition.type)
        default = None
        if definition.default is not None:
            default, defaults[number] = new_stream_default(definition, image, settings)
        columns.append(ColumnDescription(definition.name, definition.type, definition.not_null, default, number))
    options = read_options(statement.options, defaults_of_options)
    stream = make_stream(statement.name, oid, columns, options.capacity, options.timeout_ms, options.string_capacity)
    return StreamEntry(stream_description(stream), stream, statement.options, defaults)


def stream_description(stream: Stream) -> RelationDescription:
    """Return the description of a stream, as bind sees it."""
    return RelationDescription(stream.name, "stream", stream.oid, stream.columns, hidden=(ARRIVAL,))


def refuse_hidden_name(name: str, position: int | None) -> None:
    """Raise 42701, as PostgreSQL does for its system columns."""
    if name == ARRIVAL.name:
        raise SqlError("42701", f'column name "{name}" conflicts with a system column name', position=position)


@dataclass(frozen=True)
class ViewEngines:
    """The engines with which continuous views are built.

    Attributes:
        kernels: the folder in which the kernels are written.
        executor: runs static and upper pipelines.
        tables: the rows of durable tables.
        evaluator: computes what kernels can't.
    """

    kernels: KernelFiles
    executor: UpperExecutor
    tables: Source
    evaluator: RowEvaluator


@dataclass(frozen=True)
class ViewDraft:
    """A state of a view over streams that is defined, but not built.

    Attributes:
        bound: its query.
        image: the catalog that it is built for.
        used: the streams in its text as the view knows them; None: as they are.
        whole: the query of the text, of which `bound` is a part; None: `bound` is all of it.
    """

    identity: StateDefinition
    bound: BoundQuery
    image: CatalogImage
    used: tuple[UsedRelation, ...] | None = None
    whole: BoundQuery | None = None

    @property
    def definition(self) -> ViewDefinition:
        """The definition of the view."""
        return self.identity.view

    @property
    def created(self) -> BoundQuery:
        """The query with the zone of the session that makes the view.

        Raises 0A000 for texts in a form of that session alone.
        """
        return replace(self.bound, root=as_read(self.bound.root, replace(self.definition.settings, is_shared=False)))

    @property
    def zone_notices(self) -> tuple[str, ...]:
        """The notices that groups of the view depend on the zone of the session that makes it."""
        zone = self.definition.settings.time_zone
        nodes = (node for node in open_expressions(self.bound.root) if not isinstance(node, Literal))
        texts = dict.fromkeys(zoned_text(expression_with_zone(node, zone)) for node in nodes)
        if not texts:
            return ()
        return (
            f'view "{self.definition.shown}" groups by the time zone "{zone}", whoever reads it: {", ".join(texts)}',
        )

    def plan(self) -> tuple[PlannedView, Chain | None]:
        """Return the plan, and the view whose stream pipeline the new one would have, if there is
        one.

        Builds nothing.
        """
        planned = plan_view(self.definition, self.created)
        check_sliding(planned.plan.stream)
        (name,) = scans(self.bound.root, "stream")
        candidates = alike(self.image.states.values(), used_relation(name, self.image.entries[name].description))
        twin, plan = find_twin(candidates, planned.plan, self.definition.joins.stream_join, is_new=True)
        return (planned, None) if twin is None else (replace(planned, plan=plan), twin)

    def build(
        self, engines: ViewEngines, heir_of: Heritage | None = None, others: Sequence[StateEntry] = ()
    ) -> StateEntry:
        """Return the entry of the new state: planned, split, its kernels compiled and durable.

        heir_of: that whose state the new one goes on with. others: states that are not in the
        image yet. Raises what the split refuses, 53100 or 58030 when the kernels can't be written,
        and NotCoveredError.
        """
        entry = self._entry(engines, heir_of, others, is_new=True)
        try:
            engines.kernels.make_durable(entry.chain.state.kernel_paths)
        except OSError as error:
            raise self._not_written(error) from None
        return entry

    def restore(self, engines: ViewEngines, others: Sequence[StateEntry]) -> StateEntry:
        """Return the entry of a stored state, without contents.

        Kernels that were compiled anew are not durable yet. others: as for `build`.
        """
        return self._entry(engines, None, others, is_new=False)

    def view(self, state: StateEntry) -> ViewEntry:
        """Return the entry of a view that is this state."""
        bound, settings = self.created, self.definition.settings
        note_passing(state.chain, None)
        return ViewEntry(
            state.chain.description,
            replace(source_text(self.definition.text, settings), objects=tuple(sorted(bound.objects))),
            state.used,
            bound.columns,
            (state,),
            bound.root,
            bound.named - {one.name for one in state.used},
        )

    def as_known(self, used: tuple[UsedRelation, ...], then: UsedRelation) -> ViewDraft:
        """Return the view over the columns of its stream that a state knows.

        used: the streams in the text, with these columns. then: the stream with the columns that
        the query has. Raises NotCoveredError.
        """
        own = next(one for one in used if one.oid == then.oid)
        if own == then:
            return replace(self, used=used)
        numbers, named = {number for _, number in own.columns}, (self.whole or self.bound).columns
        for name, number in then.columns:
            if (then.oid, number) in named and number not in numbers:
                raise NotCoveredError(
                    f'The view does not know all columns of its stream: column "{name}" does not exist.'
                )
        stream = self.image.by_oid(then.oid)
        assert isinstance(stream, StreamEntry), then
        before, known = stream_as_then(stream, then), stream_as_then(stream, replace(own, name=stream.description.name))
        root = rewrite_everywhere(
            self.bound.root,
            lambda node: rescanned(node, before, known) if isinstance(node, Scan) and node.name == known.name else node,
        )
        return replace(self, bound=replace(self.bound, root=root), used=used)

    def _entry(
        self, engines: ViewEngines, heir_of: Heritage | None, others: Sequence[StateEntry], is_new: bool
    ) -> StateEntry:
        definition, image, bound, used = self.definition, self.image, self.created, self.used
        if used is None:
            used = tuple(used_relation(name, image.entries[name].description) for name in streams_named(bound, image))
        # The planner of the view checks that there is one stream, and no more.
        scanned = [image.entries[name].description.oid for name in scans(bound.root, "stream")]
        own = next((one for one in used if one.oid in scanned), None)
        places = None if own is None else tuple(number - 1 for _, number in own.columns)
        try:
            view = build_view(
                self.identity,
                bound,
                Oracles(
                    engines.kernels.folder,
                    engines.executor,
                    engines.tables,
                    KernelTools(engines.kernels.compile_text, engines.evaluator),
                ),
                places,
                heir_of,
                alike((*image.states.values(), *others), own),
                is_new,
            )
        except KernelFileError as error:
            raise self._not_written(error.error) from error
        zoned = self.zone_notices
        view.notices += zoned
        stream = None if own is None else image.by_oid(own.oid)
        assert stream is not None, definition.name
        return StateEntry(
            stream_name=stream.description.name,
            chain=view,
            used=used,
            zone=definition.settings.time_zone if zoned else "",
        )

    def _not_written(self, error: OSError) -> SqlError:
        return disk_error(error, f'write the kernels of view "{self.definition.shown}"')


def streams_named(bound: BoundQuery, image: CatalogImage) -> list[str]:
    """Return the streams in the text of a query, and the views whose outputs it reads, in order."""
    found = ((name, image.entries.get(name)) for name in sorted(bound.named))
    return [
        name
        for name, entry in found
        if isinstance(entry, StreamEntry) or (entry is not None and output_key(entry.description.oid) in bound.named)
    ]


# Makes the entry of a state; the states of the same view before it are not in the image yet.
BuildState = Callable[[ViewDraft, Sequence[StateEntry]], StateEntry]


@dataclass(frozen=True)
class Drafts:
    """A view over streams that is defined, but not built.

    Attributes:
        whole: its query.
        states: the states of its plan, one for each stream pipeline.
        over: the query over the states, None for a chain.
        notices: for people, what was made of the query.
    """

    statement: CreateView
    whole: BoundQuery
    states: tuple[ViewDraft, ...]
    over: Prepared | None
    notices: tuple[str, ...]

    def built(self, image: CatalogImage, settings: SessionSettings, build: BuildState) -> ViewEntry:
        """Return the entry of the view. Raises as `build` and `define_query_view`."""
        if self.over is None:
            for column in self.whole.root.schema:
                require_column(column.name, column.type)
        states: list[StateEntry] = []
        for draft in self.states:
            states.append(build(draft, states))
        states[0].chain.notices += self.notices
        if self.over is None:
            made = self.states[0].view(states[0])
        else:
            states[0].chain.notices += order_notices(self.over.root)
            oid = self.states[0].definition.oid
            made = define_query_view(self.statement, self.whole, image, settings, oid, tuple(states), self.over)
        if "ttl" in self.statement.options and any(state.chain.passing is None for state in states):
            hint = "Group by it, for example by date_trunc('minute', arrival_timestamp)."
            raise not_supported("ttl_column other than a time by which the view groups a stream", hint=hint)
        return made


def drafted(
    statement: CreateView, whole: BoundQuery, image: CatalogImage, settings: SessionSettings, oid: int | None = None
) -> Drafts:
    """Return the states of a view over streams (`views.plan.first_groupings`), with their oids.

    whole: the query of the view. oid: of a view that exists. Raises the errors of eager grouping.
    """
    plain = define_view(statement, image.next_oid if oid is None else oid, settings)
    over = prepared_view(whole.root, plain.joins)
    count = len(over.groupings)
    if plain.lateness is not None and (count > 1 or keeps_rows(over.root)):
        hint = "Group the stream by windows in one view, and write a query over that view."
        raise not_supported("emit, lateness or late in a view that keeps several groupings, or rows", hint=hint)
    if count and plain.upper_maintenance != "spark":
        # By change a chain answers also what Spark can't.
        reason: str | None = "it stands above several groupings"
        if count == 1:
            # In a chain its groups would be others, and conditions on now() those of the insert.
            reason = "its stream is grouped eagerly" if over.is_eager else why_whole(plain, whole)
        if reason is None:
            count = 0
        elif plain.upper_maintenance == "delta":
            raise no_delta(reason)
    if not count:
        return Drafts(statement, whole, (ViewDraft(only_state(plain), whole, image),), None, over.notices)
    definition = replace(plain, oid=image.next_oid + count if oid is None else oid, column_names=())
    identities = (StateDefinition(definition, image.next_oid + number, number) for number in range(count))
    states = tuple(state_draft(identity, whole, over, image) for identity in identities)
    return Drafts(statement, whole, states, over, over.notices)


def state_draft(identity: StateDefinition, whole: BoundQuery, over: Prepared, image: CatalogImage) -> ViewDraft:
    """Return one of the states of a view below a query.

    All names of the text count as the state's own: the text is bound as a whole.
    """
    assert identity.number is not None, identity
    root = over.rows[identity.number]
    return ViewDraft(identity, replace(whole, root=root, relations=names_read(root)), image, whole=whole)


def build_continuous(
    statement: CreateView, bound: BoundQuery, image: CatalogImage, settings: SessionSettings, engines: ViewEngines
) -> ViewEntry:
    """Return the entry of a new view whose query, `bound`, reads streams.

    Raises as `ViewDraft.build` and `define_query_view`.
    """

    def build(statement: CreateView) -> ViewEntry:
        drafts = drafted(statement, bound, image, settings)
        return drafts.built(image, settings, lambda draft, others: draft.build(engines, others=others))

    return beside_failing_tables(statement, settings, build)


def beside_failing_tables(
    statement: CreateView, settings: SessionSettings, build: Callable[[CreateView], ViewEntry]
) -> ViewEntry:
    """Return the entry of a view by `build`, also where frozen rows of its tables fail.

    Then the tables are joined with the groups, and who reads the view gets the error, as in
    PostgreSQL. Raises as `build`.
    """
    try:
        return build(statement)
    except SqlError as error:
        choice = define_view(statement, 0, settings).joins
        if error.sqlstate[:2] not in FAILING_ROWS or choice.stream_join != "frozen" or choice.freeze_tables:
            raise
        try:
            entry = build(replace(statement, options={**statement.options, "stream_join": "retroactive"}))
        except SqlError:
            raise error from None
        told = f'view "{name_of(statement.name)}" joins tables with the groups, because they fail as they are now: '
        entry.states[0].chain.notices += (told + error.message,)
        return entry


def stored_draft(
    identity: StateDefinition,
    statement: CreateView,
    image: CatalogImage,
    used: tuple[UsedRelation, ...] | None,
    named: frozenset[str] | None,
    objects: Objects = (),
) -> ViewDraft:
    """Return a view of one state from its stored definition and the statement in its text.

    used: the streams in its text as it knew them when it was made; None: as they are. named: the
    other relations that it means. objects: the functions and types in its text. Raises SqlError
    when it can't be bound any more.
    """
    catalog = image if used is None else StreamsAsThen(image, objects, used, named)
    bound = bind_query(statement.query, catalog, identity.view.settings)
    today = {one.name: entry.description.name for one in used or () if (entry := image.by_oid(one.oid)) is not None}

    def called(node: Relation) -> Relation:
        return replace(node, name=today.get(node.name, node.name)) if isinstance(node, Scan) else node

    return ViewDraft(identity, replace(bound, root=rewrite_everywhere(bound.root, called)), image, used)


def creating_settings(statement: CreateView, settings: SessionSettings) -> SessionSettings:
    """Return the settings with which a view's query is bound: the session's, in the zone of WITH
    (time_zone = ...).

    Raises 22023.
    """
    zone = statement.options.get("time_zone")
    return settings if zone is None else replace(settings, time_zone=zone_option(zone))


def zoned_text(node: Expression) -> str:
    """Return an expression as its author reads it."""
    return node.text if isinstance(node, Call) and node.text else expression_text(node)


def alike(states: Iterable[StateEntry], own: UsedRelation | None) -> list[Chain]:
    """Return the continuous views over a stream that know the same columns of the stream."""
    if own is None:
        return []
    numbers = [number for _, number in own.columns]
    return [
        entry.chain
        for entry in states
        for one in entry.used
        if one.oid == own.oid and [number for _, number in one.columns] == numbers
    ]


def require_free(image: CatalogImage, name: str) -> None:
    """Raise 42P07 when a relation or the index of a key has the name, and 42710 when a type has
    it.
    """
    if name in relation_names(image):
        raise SqlError("42P07", f'relation "{name}" already exists')
    if name in image.types:
        raise SqlError("42710", f'type "{name_of(name)}" already exists', hint=ROW_TYPE_HINT)
