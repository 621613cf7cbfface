"""The answer to a SELECT: cut the views it reads, run it on their stored versions and on tables,
keep small unchanged answers.

Enters: a bound query. Leaves: an `Outcome`. In a transaction block the first read fixes what all
reads see: tables and views as they were then, on one boundary between two commits. An answer is
reused only while every version it was made from is still the newest and nothing in the query
depends on time. Must not know the protocol.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from engine.catalog.image import SequenceEntry, TableEntry, ViewEntry, states_of
from engine.catalog.sequences import sequence_row
from engine.commit.transaction import Transaction
from engine.commit.transactions import Transactions
from engine.execution.outcome import Outcome, encode, row_description
from engine.ingest.transforms import transforms_counted
from engine.scans.answer_cache import KEPT_ANSWER_BYTES_MAX, KeptAnswer, KeptAnswers, TableVersions, ViewVersions
from engine.scans.engines import QueryEngines
from engine.scans.query_view_cache import over_groups, sources_of, whole_query, with_whole_views
from engine.scans.scans import ScanSettings, scan_streams, streams_among
from engine.scans.upper import rows_above
from engine.scans.view_states import group_states
from engine.scans.view_versions import changes
from engine.streams import backfills, view_statistics
from engine.streams import statistics as stream_statistics
from engine.system_catalog.registration import SETTLED
from engine.system_catalog.told_forms import told
from engine.tables.sequence_functions import ANSWERED, SequenceSession, in_session
from engine.tables.table_transaction import TableTransaction
from ringbuffer.encode.output_forms import Forms
from sql.bind.queries.view_versions import rows_of
from sql.bind.sharing import written_out
from sql.bind.substitute import substitute_now, substitute_parameters
from sql.catalog.schemas import SYSTEM_SCHEMAS
from sql.emit.open_values import is_open, may_stand
from sql.errors import SqlError
from sql.functions.table import OF_SESSION
from sql.names.relation_keys import name_of, schema_of
from sql.settings.settings import Settings
from sql.tree.expressions import Literal
from sql.tree.relations import BoundQuery, LockedRead, Relation, Scan, VersionRead
from sql.tree.walks import calls, scans
from sql.wire import writer
from views.plan.deferred import in_place_of
from views.upkeep.refresh import DATA_ERRORS, Reader

if TYPE_CHECKING:
    from engine.catalog.image import CatalogImage
    from views.upkeep.chain import Chain
    from views.upkeep.cuts import Upkeep


def answer_key(text: str, formats: tuple[int, ...], settings: Settings, described: bool) -> object:
    """Return the key of an encoded answer: all that it depends on besides the data.

    described: RowDescription was sent already.
    """
    return (text, formats, settings.captured(), described)


def keep(answers: KeptAnswers, text: str, image: CatalogImage, reading: Reading, settings: Settings) -> None:
    """Keep the answer of a SELECT for both protocols, in texts, unless it is large or depends on
    the time.
    """
    table, schema, forms = reading.outcome.table, reading.outcome.schema, Forms(*settings.shown)
    if not reading.reusable or table is None or schema is None or table.nbytes > KEPT_ANSWER_BYTES_MAX:
        return

    def rows() -> bytes:
        return encode(table, schema, (), forms)[0] + writer.command_complete(f"SELECT {table.num_rows}")

    def simple() -> bytes:
        return row_description(schema, ()) + rows()

    for key, answer in (
        (answer_key(text, (), settings, described=False), simple),
        (answer_key(text, (0,) * len(schema), settings, described=True), rows),
    ):
        answers.keep(key, KeptAnswer(image.version, reading.versions, reading.tables, answer))


@dataclass
class Reading:
    """The outcome of a SELECT and the versions that it read.

    Attributes:
        reusable: a new run in another transaction would give the same.
    """

    outcome: Outcome
    versions: ViewVersions
    tables: TableVersions
    reusable: bool

    def rests_on(self, image: CatalogImage) -> KeptAnswer | None:
        """Return what tells whether the answer still holds, None for one that depends on more than
        commits.
        """
        return KeptAnswer(image.version, self.versions, self.tables, bytes) if self.reusable else None


class LockedReads(Protocol):
    """The function that reads rows and locks them, as SELECT ... FOR UPDATE does."""

    def __call__(
        self,
        transaction: TableTransaction,
        reads: Sequence[LockedRead],
        inputs: Mapping[str, pa.Table],
        read_only: bool,
    ) -> dict[str, pa.Table]:
        """Return the rows of each read by the name of its scan. Raises SqlError."""


# The one function of the dialect that reads and locks.
_locked_reads: list[LockedReads] = []


def locks_rows(function: LockedReads) -> LockedReads:
    """Register a function for the reads that lock."""
    _locked_reads.append(function)
    return function


def read_locked(
    transaction: TableTransaction, reads: Sequence[LockedRead], inputs: Mapping[str, pa.Table], read_only: bool
) -> dict[str, pa.Table]:
    """Return the rows of each read that locks, by the name of its scan. Raises SqlError."""
    (function,) = _locked_reads
    return function(transaction, reads, inputs, read_only) if reads else {}


@dataclass(frozen=True, eq=False)
class StatementReader:
    """The reading of one statement: the engines for its queries, the data that they see, and how
    streams are scanned.

    Attributes:
        image: the catalog to which the queries are bound.
    """

    engines: QueryEngines
    transactions: Transactions
    transaction: Transaction
    image: CatalogImage
    reader: Reader
    scanning: ScanSettings
    sequences: SequenceSession

    def read(self, bound: BoundQuery, parameters: tuple[Literal, ...]) -> Reading | None:
        """Run a bound query; blocks, so call it on a worker thread. Raises SqlError.

        None is returned when the first table of
        the transaction was touched, and the catalog of its snapshot is not the one that the query
        was bound to.
        """
        image, transaction, reader = self.image, self.transaction, self.reader
        entries = [entry for name in sorted(bound.relations) if (entry := image.entries.get(name)) is not None]
        data = [entry.data for entry in entries if isinstance(entry, TableEntry)]
        if entries or views_among(bound.relations, image):
            self.transactions.begin_reading(transaction)
        if data or transaction.tables is not None or (bound.stable and not OF_SESSION.isdisjoint(bound.calls)):
            tables = self.transactions.begin_tables(transaction, views_among(bound.relations, image))
            if image is not (transaction.image or transaction.snapshot):
                return None
        is_late = bool(parameters) and not bound.stable and is_open(bound.root) and may_stand(parameters)
        values = parameters if is_late and not streams_among(bound.relations, image) else ()
        root = bound.root if values else settled_query(bound, parameters, reader.now_us)
        root, wholes = with_whole_views(root, bound.relations, image)
        locked = settled_reads(bound.locked, parameters, reader.now_us)
        asked_versions, more = self._version_reads(bound, parameters)
        wholes += [one for one in more if one not in wholes]
        asked = [part for one in asked_versions for part in (one.root, one.since) if part is not None]
        (root, *reads), inputs = self.scan_inputs(bound.relations, [root, *(one.root for one in locked), *asked])
        reads, asked = reads[: len(locked)], reads[len(locked) :]
        every = (root, *reads, *asked)
        if transaction.tables is None and any(part.kind == "table" for one in every for part in scans(one)):
            # Work that a version has left to its readers joins its rows with tables.
            tables = self.transactions.begin_tables(transaction, views_among(bound.relations, image))
            if image is not (transaction.image or transaction.snapshot):
                return None
        if values and any(version.above is not None for _, version in transaction.versions.values()):
            # Spark may take it.
            root, values = substitute_parameters(root, values), ()
        reader.check_cancelled()
        if locked:
            locked = tuple(replace(one, root=read) for one, read in zip(locked, reads, strict=True))
            read_only = transaction.sequences is not None and transaction.sequences.read_only
            inputs |= read_locked(tables, locked, inputs, read_only)
        for whole in wholes:
            name = whole.description.name
            try:
                inputs[name] = self._whole_version(whole, inputs)
            except SqlError as failure:
                ended = transaction.tables is not None and not transaction.tables.goes_on()
                if ended or not failure.sqlstate.startswith(DATA_ERRORS):
                    raise
                # One row of the version can't be evaluated: the query reads only the columns that
                # it asks for.
                above = with_deferred(whole_query(whole).root, transaction, bound.relations)
                root = in_place_of(name, above, root)
                asked = [in_place_of(name, above, one) for one in asked]
        for one in asked_versions:
            inputs[one.name] = self._version(one, asked, inputs, bound)
        for kept in bound.states:
            inputs[kept.name] = group_states(kept, image, transaction, self.engines.catalog.lock)
        table = self._run(root, root, inputs, bound, values)
        views = tuple(transaction.versions[name] for name in sorted(bound.relations) if name in transaction.versions)
        reusable = not bound.stable and not any(view.time_dependent or view.upper_tables for view, _ in views)
        reusable = reusable and all(view.committed == version.position for view, version in views)
        reusable = reusable and not streams_among(bound.relations, image)
        reusable = reusable and all(name in image.entries or image.state(name) for name in bound.relations)
        versions = tuple((one, one.committed) for one in data)
        if transaction.tables is not None and reusable:
            reusable = not tables.changed and all(version <= tables.snapshot for _, version in versions)
        table = told(table, bound.root.schema, self.sequences.context)
        return Reading(Outcome("SELECT #", bound.told, table), views, versions, reusable)

    def version_rows(
        self, reads: Iterable[VersionRead], relations: frozenset[str], parameters: tuple[Literal, ...]
    ) -> dict[str, pa.Table]:
        """Return what reads of versions yield for a statement that writes, by their names.

        Raises as `read`, and 40001 where the catalog has changed meanwhile.
        """
        found = {}
        for one in reads:
            called = frozenset(name for part in (one.root, one.since) if part is not None for name in calls(part))
            bound = BoundQuery(rows_of(one), (), relations, stable=True, calls=called, versions=(one,))
            reading = self.read(bound, parameters)
            if reading is None or reading.outcome.table is None:
                raise SqlError("40001", "could not serialize access due to concurrent update")
            found[one.name] = reading.outcome.table
        return found

    def _version_reads(
        self, bound: BoundQuery, parameters: tuple[Literal, ...]
    ) -> tuple[list[VersionRead], list[ViewEntry]]:
        """Return the reads of versions with their parameters' values and now(), and the whole views
        that they scan.
        """
        found, wholes = [], []
        for one in bound.versions:
            settled = [
                substitute_now(substitute_parameters(part, parameters) if parameters else part, self.reader.now_us)
                for part in (one.root, one.since)
                if part is not None
            ]
            for place, part in enumerate(settled):
                settled[place], more = with_whole_views(part, bound.relations, self.image)
                wholes += [entry for entry in more if entry not in wholes]
            found.append(replace(one, root=settled[0], since=None if one.since is None else settled[1]))
        return found, wholes

    def _version(
        self, read: VersionRead, asked: list[Relation], inputs: Mapping[str, pa.Table], bound: BoundQuery
    ) -> pa.Table:
        """Return the number of a view's version, or its changes. asked: gives the trees that are
        left, first those of this read. Raises 55000.
        """

        def rows(root: Relation) -> pa.Table:
            return inputs[root.name] if isinstance(root, Scan) else self._run(root, root, inputs, bound)

        context, kept = self.sequences.context(), self.engines.versions_kept
        of = (read.oid, context.role, context.settings) if read.is_own else (read.oid,)
        root = asked.pop(0)
        table, schema = rows(root), root.schema
        if read.since is None:
            return pa.table([pa.array([kept.number(of, schema, table)], pa.int64())], names=["version_of"])
        number = rows(asked.pop(0)).column(0)[0].as_py()
        if number is None:
            raise SqlError("22004", "since of changes_of must not be null")
        before = kept.find(of, schema, number, name_of(read.view))
        return changes(self.engines.tables, schema, read.keys, before, table, self.reader.token)

    def _run(
        self,
        query: Relation,
        seen: Relation,
        inputs: Mapping[str, pa.Table],
        bound: BoundQuery,
        values: Sequence[Literal] = (),
        upkeep: Upkeep | None = None,
    ) -> pa.Table:
        """Run a query in its engine.

        seen: the query as Spark would take it. bound: what it was. values: of parameters that it
        still has. upkeep: of a view, whose pipelines wait for Spark, and are counted.
        """
        engines, tables, token = self.engines, self.transaction.tables, self.reader.token
        upper, count = (engines.running_upper, None) if upkeep is None else (engines.upper, upkeep.count_upper)
        above = rows_above(upper, self.transaction, seen, inputs, self.scanning.spark_groups_min, token, count)
        if above is not None:
            return above
        state = self._state(bound) if tables is None else None
        if not bound.calls.isdisjoint(ANSWERED):
            self.sequences.image = self.image
            is_settled = state is not None and query is bound.root
            query = self.sequences.numbered(query) if is_settled else in_session(query, self.sequences)
        if tables is None:
            return engines.tables.run(query, inputs, token, values, state)
        return tables.query_plain(query, inputs, values)

    def _state(self, bound: BoundQuery) -> Hashable | None:
        """Return what a query on relations of the catalog alone depends on beside their rows, None
        for other queries.
        """
        relations = bound.relations
        if not relations or not all(
            name not in self.image.entries and schema_of(name) in SYSTEM_SCHEMAS for name in relations
        ):
            return None
        if self.transaction.image is not None or not bound.calls.isdisjoint(ANSWERED - SETTLED):
            return None
        context = self.sequences.context()
        return self.image.version, context.settings, context.role

    def _whole_version(self, whole: ViewEntry, inputs: Mapping[str, pa.Table]) -> pa.Table:
        """Return the rows of a view of parts at the statement's versions of these, shared with all
        readers of the same versions.
        """

        def make() -> pa.Table:
            bound = whole_query(whole)
            query = with_deferred(bound.root, self.transaction, bound.relations)
            began_s = perf_counter()
            # It is told of the first state.
            upkeep = whole.states[0].chain.upkeep
            rows = self._run(query, over_groups(query), inputs, bound, upkeep=upkeep)
            upkeep.note_upper(perf_counter() - began_s)
            return rows

        sources = sources_of(whole, self.image, self.transaction)
        if sources is None:
            return make()
        return self.engines.wholes.take(whole, sources, make, self.reader.check_cancelled)

    def scan_inputs(
        self, relations: frozenset[str], roots: Sequence[Relation]
    ) -> tuple[list[Relation], dict[str, pa.Table]]:
        """Return a statement's queries, and the inputs of their scans of streams, continuous views
        and sequences.

        roots: without open parameters; a returned query may read the groups of a stream where the
        root reads its rows.
        """
        streams = streams_among(relations, self.image)
        inputs: dict[str, pa.Table] = {}
        queries = list(roots)
        if streams:
            roots = [written_out(root) for root in roots]

            def run_on_tables(relation: Relation) -> pa.Table:
                tables = self.transaction.tables
                return self.engines.tables.run(relation, {}) if tables is None else tables.query(relation, {})

            kernels, check = self.engines.stream_kernels, self.reader.check_cancelled
            queries, inputs = scan_streams(streams, roots, self.scanning, kernels, run_on_tables, check)
        inputs |= self._view_inputs(relations)
        return [with_deferred(query, self.transaction, relations) for query in queries], inputs

    def _view_inputs(self, relations: frozenset[str]) -> dict[str, pa.Table]:
        """Return the inputs of the scans of continuous views and sequences in `relations`.

        The first read fixes what is seen.
        """
        transaction, image = self.transaction, self.image
        inputs: dict[str, pa.Table] = {}
        unread: list[Chain] = []
        for name in sorted(relations):
            entry, state = image.entries.get(name), image.state(name)
            if state is not None:
                known = transaction.versions.get(name)
                if known is None or known[0] is not state.chain:
                    unread.append(state.chain)
                else:
                    inputs[name] = known[1].table
            elif entry is None and schema_of(name) in SYSTEM_SCHEMAS:
                inputs[name] = self.sequences.context().table(schema_of(name), name_of(name))
            elif isinstance(entry, SequenceEntry):
                inputs[name] = sequence_row(entry.counter)
            elif entry is None and name == stream_statistics.NAME:
                inputs[name] = stream_statistics.stream_statistics(streams_among(frozenset(image.entries), image))
            elif entry is None and name == backfills.NAME:
                inputs[name] = backfills.progress_rows(self.transactions.backfills)
            elif entry is None and name == view_statistics.NAME:
                views = (
                    (entry.description.name, [(state.stream_name, state.chain, state.active) for state in states])
                    for entry in image.entries.values()
                    if (states := states_of(entry))
                )
                now_us = self.engines.clock.now_us()
                inputs[name] = view_statistics.view_statistics(views, transforms_counted(image), now_us)
        if unread:
            self.transactions.begin_reading(transaction)
        versions = self.engines.versions(transaction, unread, self.reader)
        for view in unread:
            name = view.name
            transaction.versions[name] = (view, versions[name])
            inputs[name] = versions[name].table
        return inputs


def settled_reads(
    reads: tuple[LockedRead, ...], parameters: tuple[Literal, ...], now_us: int
) -> tuple[LockedRead, ...]:
    """Return reads that lock with their parameters' values and now()."""

    def settled(root: Relation) -> Relation:
        return substitute_now(substitute_parameters(root, parameters) if parameters else root, now_us)

    return tuple(replace(one, root=settled(one.root)) for one in reads)


def settled_query(bound: BoundQuery, parameters: tuple[Literal, ...], now_us: int) -> Relation:
    """Return a query with its parameters' values and now()."""
    root = substitute_parameters(bound.root, parameters) if parameters else bound.root
    return substitute_now(root, now_us) if "now" in bound.calls else root


def with_deferred(root: Relation, transaction: Transaction, relations: frozenset[str]) -> Relation:
    """Return a query with the work that versions have left to their readers in the place of the
    scans of these views.
    """
    for name in sorted(relations & transaction.versions.keys()):
        _, version = transaction.versions[name]
        if version.above is not None:
            root = in_place_of(name, version.above, root)
    return root


def scan_settings(settings: Settings, transaction: Transaction) -> ScanSettings:
    """Return how a session's statement scans streams."""
    timeout_s = settings.stream_timeout_ms / 1000
    bytes_max, now_us = settings.query_memory_max_bytes, transaction.now_us
    groups_min, bytes_min = settings.min_spark_groups, settings.min_stream_kernel_bytes
    return ScanSettings(settings.scans_from_latest, timeout_s, bytes_max, now_us, groups_min, bytes_min)


def views_among(relations: frozenset[str], image: CatalogImage) -> list[Chain]:
    """Return the continuous views among `relations`."""
    states = (image.state(name) for name in sorted(relations))
    return [state.chain for state in states if state is not None]
