"""CREATE OR REPLACE VIEW of an existing view: its contents are kept if its stream pipelines answer
the new query, too.

Enters: the statement, the entry in its place, an image. Leaves: an image with the new entry, the
continuous views that were built, notices. Every stream pipeline of the new query goes on with the
state of one of the old view's (`views.share.reuse`); where one can't, the statement is refused,
unless it says WITH (reset = true). Must not commit.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from engine.catalog.image import (
    CatalogImage,
    StateEntry,
    StreamEntry,
    ViewEntry,
    states_of,
)
from engine.ddl.definitions import Drafts, ViewDraft, ViewEngines, beside_failing_tables, drafted, streams_named
from engine.ddl.dependents import dependents_of
from engine.ddl.query_views import bound_again, define_query_view, reads_stream, statement_of
from engine.ddl.view_alterations import refuse_built_in, require_view
from sql.catalog.catalog import ColumnDescription, SessionSettings, UsedRelation, used_relation
from sql.errors import SqlError, not_supported
from sql.names.relation_keys import name_of
from sql.parse.statements.create_view import CreateView
from sql.tree.relations import BoundQuery
from views.explain.pipelines import stream_lines
from views.model.plan import Plan
from views.model.properties import scans
from views.model.text import aggregate_text
from views.share.counting_points import marked, unmarked
from views.share.passing import passing
from views.share.reuse import NotCoveredError, refuse_added, refuse_mixed, state_marks
from views.upkeep.chain import Chain
from views.upkeep.lifecycle import Heritage, planned_over

# A text and its detail.
Notice = tuple[str, str | None]


def replaced_view(statement: CreateView, image: CatalogImage) -> ViewEntry | None:
    """Return the view that the statement replaces; None: the statement makes a new view.

    Raises 42809 for another relation of that name, and 0A000 where one of both is a transform.
    """
    entry = image.entries.get(statement.name) if statement.or_replace else None
    if entry is None:
        return None
    found = require_view(entry)
    if statement.is_transform != (found.output is not None):
        hint = "DROP VIEW and CREATE VIEW in one transaction exchange it between two commits."
        raise not_supported("CREATE OR REPLACE VIEW of a transform by another view, and the other way", hint=hint)
    return found


def replace_view(
    statement: CreateView,
    entry: ViewEntry,
    image: CatalogImage,
    settings: SessionSettings,
    bound: BoundQuery,
    engines: ViewEngines,
    require: Callable[[CatalogImage, BoundQuery], None],
    now_us: int,
) -> tuple[CatalogImage, list[Chain], list[Notice]]:
    """Return the image after the statement, the views that were built for it, and the notices for
    the client.

    bound: its query. require: raises 42501 for relations that may not be read. now_us: the present
    time.

    Raises the errors of CREATE VIEW, 42P16 for columns that don't begin like the old ones, 42P17
    for a view that would read itself, and 55000 when contents would be lost.
    """
    refuse_built_in(image, entry, "replace")
    if reads_stream(bound, image):
        require(image, bound)
    relations = [one.relation for one in dependents_of(image, [entry])]
    behind = [one.description.name for one in relations if one is not None]
    if not bound.named.isdisjoint({statement.name, *behind}):
        raise SqlError("42P17", f'infinite recursion detected in rules for relation "{statement.name}"')
    replacing = Replacing(statement, entry, image, settings, engines, now_us)

    def build(statement: CreateView) -> ViewEntry:
        nonlocal replacing
        replacing = Replacing(statement, entry, image, settings, engines, now_us)
        return replacing.made(bound)

    made = beside_failing_tables(statement, settings, build)
    check_columns(entry.description.columns, made.description.columns)
    after = image.without([statement.name]).with_entry(made)
    comments = {place: text for place, text in image.comments.items() if place[0] == entry.description.oid}
    after = replace(after, comments={**after.comments, **comments}, next_oid=replacing.next_oid)
    after = after.moved_last(name for name in behind if name in after.entries)
    built = [state.chain for state in states_of(made)]
    told: list[Notice] = [(text, None) for view in built for text in view.notices]
    return bound_again(after, [entry.description.oid]), built, replacing.notices + told


def check_columns(before: Sequence[ColumnDescription], after: Sequence[ColumnDescription]) -> None:
    """Raise 42P16 unless the new columns begin with the old ones."""
    if len(after) < len(before):
        raise SqlError("42P16", "cannot drop columns from view")
    for old, new in zip(before, after, strict=False):
        if old.name != new.name:
            raise SqlError(
                "42P16",
                f'cannot change name of view column "{old.name}" to "{new.name}"',
                hint="Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.",
            )
        if old.type.sql_name != new.type.sql_name:
            raise SqlError(
                "42P16",
                f'cannot change data type of view column "{old.name}" from {old.type.sql_name} to {new.type.sql_name}',
            )


@dataclass
class Replacing:
    """A CREATE OR REPLACE VIEW that is being done.

    Attributes:
        engines: build its views, None: nothing is built.
        left: the states of the old view that no state of the new one goes on with yet.
        kept: the others, with the plans that go on with them, and the names of their rows.
        grows: one of them counts more from now on.
    """

    statement: CreateView
    entry: ViewEntry
    image: CatalogImage
    settings: SessionSettings
    engines: ViewEngines | None = None
    now_us: int = 0
    notices: list[Notice] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.left = list(states_of(self.entry))
        self.has_contents = bool(self.left)
        self.next_oid = self.image.next_oid
        self.kept: list[tuple[Chain, Plan, str]] = []
        self.grows = False

    def made(self, bound: BoundQuery) -> ViewEntry:
        """Return the entry that the statement makes."""
        oid = self.entry.description.oid
        if not reads_stream(bound, self.image):
            if self.has_contents and not self.statement.reset:
                raise self._refusal(NotCoveredError("The new query reads no stream."))
            return define_query_view(self.statement, bound, self.image, self.settings, oid)
        drafts = drafted(self.statement, bound, self.image, self.settings, oid)
        made = drafts.built(self.image, self.settings, self._state)
        self.require_above(drafts)
        return made

    def require_above(self, drafts: Drafts) -> None:
        """Raise 55000 where the query above the states asks for what they do not have."""
        try:
            self.require_groups(drafts)
            self.require_points(drafts)
        except NotCoveredError as error:
            raise self._refusal(error) from None
        if self.statement.backfill is not None and self.has_contents and not self.statement.reset and not self.grows:
            hint = "Leave the option out: the view has counted all that the new query asks for."
            raise SqlError("22023", "a backfill has nothing to count", hint=hint)

    def require_points(self, drafts: Drafts) -> None:
        """Raise NotCoveredError where the query above the states mixes aggregates that count from
        different points on, or shows those that are added elsewhere than in the last columns.
        """
        if drafts.over is None:
            return
        found = {name: state_marks(plan, name) for _, plan, name in self.kept}
        added = frozenset(
            (name, len(plan.maintained.added))
            for chain, plan, name in self.kept
            if len(plan.maintained.added) > len(chain.plan.maintained.added)
        )
        root = drafts.over.above([draft.identity.name for draft in drafts.states])
        above = marked(root, lambda scan: found.get(scan.name) or unmarked(scan))
        refuse_added(above, added, len(self.entry.description.columns))
        refuse_mixed(above)

    def require_groups(self, drafts: Drafts) -> None:
        """Raise NotCoveredError where the new query asks for groups that the old one has given up.

        With a longer `ttl`, or from_now, what has gone stays away, and a notice says so.
        """
        names = [draft.identity.name for draft in drafts.states]
        root = None if drafts.over is None else drafts.over.above(names)
        options = statement_of(self.entry.source.text).options, self.statement.options
        expires = all("ttl" in one for one in options) and options[0]["ttl_column"] == options[1]["ttl_column"]
        for chain, plan, name in self.kept:
            if chain.passing is None or chain.passing.has_all_of(passing(root, name, plan)):
                continue
            if not expires and not self.statement.from_now:
                raise NotCoveredError("It has given up the rows that have left its window.", True)
            text = f'view "{name_of(self.statement.name)}" has given up rows that it would show now'
            self.notices.append((text, "They stay away; rows that it still has, or that come, are shown for longer."))

    def _state(self, draft: ViewDraft, others: Sequence[StateEntry]) -> StateEntry:
        """Return a state of the view, which goes on with a state that is left if it can."""
        left = () if self.statement.reset else tuple(self.left)
        reasons: list[NotCoveredError] = []
        # As it is, and else with what it has not counted yet.
        for grows, piece in itertools.product((False, True), left):
            stream = self.image.entries.get(piece.stream_name)
            assert isinstance(stream, StreamEntry)
            if scans(draft.bound.root, "stream") != (stream.description.name,):
                continue
            oid = self.next_oid if grows else piece.chain.state_oid
            backfilled = self.statement.backfill is not None
            heritage = Heritage(piece.chain, grows, self.statement.from_now, self.now_us, backfilled)
            try:
                made = self._heir(replace(draft, identity=replace(draft.identity, oid=oid)), piece, stream, heritage)
            except NotCoveredError as error:
                reasons.append(error)
                continue
            self.next_oid += grows
            return made
        if self.has_contents and not self.statement.reset:
            unread = NotCoveredError("It has not counted the rows of the stream that the new query reads.")
            # That of the first state: as it is, or with the conditions that it may have.
            first = len(reasons) // 2 if self.statement.from_now else 0
            raise self._refusal(reasons[first] if reasons else unread)
        oid, self.next_oid = self.next_oid, self.next_oid + 1
        return self.new(replace(draft, identity=replace(draft.identity, oid=oid)), others)

    def new(self, draft: ViewDraft, others: Sequence[StateEntry]) -> StateEntry:
        """Return the entry of a state that begins anew."""
        assert self.engines is not None
        return draft.build(self.engines, others=others)

    def heir(self, draft: ViewDraft, piece: StateEntry, heritage: Heritage) -> tuple[StateEntry, Sequence[str]]:
        """Return the entry of a state that goes on with that of `piece`, and what this state counts
        from now on only.

        Raises NotCoveredError.
        """
        assert self.engines is not None
        made = draft.build(self.engines, heritage)
        self.kept.append((piece.chain, made.plan, made.chain.name))
        if heritage.is_backfilled:
            before = piece.chain.plan.maintained.aggregates
            return made, [aggregate_text(call) for _, call in made.chain.plan.maintained.aggregates[len(before) :]]
        since = made.chain.identity.since[len(heritage.chain.identity.since) :]
        return made, [text for text, _ in since]

    def _heir(self, draft: ViewDraft, piece: StateEntry, stream: StreamEntry, heritage: Heritage) -> StateEntry:
        names = streams_named(draft.bound, self.image)
        used = tuple(
            columns_kept(piece, stream)
            if name == stream.description.name
            else used_relation(name, self.image.entries[name].description)
            for name in names
        )
        then = used_relation(stream.description.name, stream.description)
        made, gained = self.heir(draft.as_known(used, then), piece, heritage)
        self.left.remove(piece)
        grouping = stream_lines(made.chain.plan.maintained)[0].removesuffix(" (pipeline breaker)")
        name, source = name_of(self.statement.name), name_of(stream.description.name)
        text = f'view "{name}" keeps what it has counted of stream "{source}"'
        self.notices.append((text, f"Its stream pipeline goes on: {grouping}"))
        self.grows = self.grows or bool(gained)
        if gained and heritage.is_backfilled:
            told = f'view "{name}" counts the rows of the backfill in these alone: {", ".join(gained)}'
            self.notices.append((told, f"Rows of the backfill: {self.statement.backfill}"))
        elif gained:
            told = f'view "{name}" counts from now on only: {", ".join(gained)}'
            self.notices.append((told, "Of the rows before, an added count is 0, any other added aggregate NULL."))
        return replace(made, active=piece.active)

    def _refusal(self, error: NotCoveredError) -> SqlError:
        name = self.statement.name
        hint = f"CREATE OR REPLACE VIEW {name} WITH (reset = true) AS ... begins anew"
        if error.is_of_conditions and not self.statement.from_now:
            hint += ", WITH (replace = from_now) keeps it and follows the new conditions from now on"
        message = f'cannot replace view "{name}" without losing what it has counted'
        return SqlError("55000", message, detail=error.reason, hint=f"{hint}.")


class Judged(Replacing):
    """The same statement under EXPLAIN: the states that would be kept are planned, and nothing is
    built.
    """

    def lines(self, bound: BoundQuery) -> list[str]:
        """Return the lines on what the old view has counted.

        Raises the refusal of a statement that would lose it.
        """
        if not self.has_contents:
            return []
        if not reads_stream(bound, self.image):
            self.made(bound)
        else:
            drafts = drafted(self.statement, bound, self.image, self.settings, self.entry.description.oid)
            for draft in drafts.states:
                self._state(draft, ())
            self.require_above(drafts)
        lost = "What the view has counted is lost (reset = true)"
        return [f"{text[:1].upper()}{text[1:]}. {detail}" for text, detail in self.notices] or [lost]

    def new(self, draft: ViewDraft, others: Sequence[StateEntry]) -> StateEntry:
        """Return the entry in whose place it would be."""
        return self.left[0]

    def heir(self, draft: ViewDraft, piece: StateEntry, heritage: Heritage) -> tuple[StateEntry, Sequence[str]]:
        """Return the entry that it would go on with, and what it would count from now on only.

        Raises NotCoveredError.
        """
        planned, gained = planned_over(draft.identity, draft.created, heritage, is_new=True)
        self.kept.append((piece.chain, planned.plan, draft.identity.name))
        return piece, gained


def replacing_lines(
    statement: CreateView, bound: BoundQuery, image: CatalogImage, settings: SessionSettings
) -> list[str]:
    """Return the lines of EXPLAIN on CREATE OR REPLACE VIEW besides the plan.

    None where no contents are at stake.
    """
    entry = replaced_view(statement, image)
    if entry is None:
        return []
    return Judged(statement, entry, image, settings).lines(bound)


def columns_kept(piece: StateEntry, stream: StreamEntry) -> UsedRelation:
    """Return the stream with the columns that a view's kernel knows, under their present names.

    Dropped columns have no name.
    """
    old = next(one for one in piece.used if one.oid == stream.description.oid)
    today = {column.number: column.name for column in stream.description.columns}
    columns = tuple((today.get(number, f"\0\0\0{number}"), number) for _, number in old.columns)
    return UsedRelation(stream.description.name, old.oid, columns)
