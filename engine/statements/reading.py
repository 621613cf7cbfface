"""Answering a SELECT: cut the views it reads, run it on their stored versions and on tables, and keep small unchanged answers.

Enters: a bound query. Leaves: an `Outcome`. In a transaction block the first read fixes what all reads see: tables and views as they were
then, on one boundary between two commits. An answer is reused only while every version it was made from is still the newest and nothing
in the query depends on time. Must not know the protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from engine.catalog.image import QueryViewEntry, SequenceEntry, TableEntry, ViewEntry, sequence_row
from engine.commit.transaction import Transaction
from engine.scans.answer_cache import KEPT_ANSWER_BYTES_MAX, KeptAnswer, KeptAnswers, TableVersions, ViewVersions
from engine.scans.query_view_cache import over_groups, sources_of, whole_query, with_whole_views
from engine.scans.scans import ScanSettings, scan_streams, streams_among
from engine.scans.upper import rows_above
from engine.statements.outcome import Outcome, encode, row_description
from engine.statements.row_locks import read_locked
from engine.streams import statistics as stream_statistics
from engine.streams import view_statistics
from engine.tables.sequence_functions import uses_sequences
from ringbuffer.encode.output_forms import Forms
from sql.bind.queries.origins import with_origins
from sql.bind.substitute import substitute_now, substitute_parameters
from sql.errors import SqlError
from sql.settings.settings import Settings
from sql.tree.expressions import Literal
from sql.tree.relations import BoundQuery, LockedRead, Relation
from sql.tree.sharing import written_out
from sql.tree.walks import scans
from sql.wire import writer
from views.plan.deferred import in_place_of
from views.upkeep.refresh import DATA_ERRORS, Reader

if TYPE_CHECKING:
    from engine.catalog.image import CatalogImage
    from engine.database import Database
    from views.upkeep.view import ContinuousView


def answer_key(text: str, formats: tuple[int, ...], settings: Settings, described: bool) -> object:
    """Return what an encoded answer depends on besides the data; described: RowDescription was sent already."""
    return (text, formats, settings.captured(), described)


def keep(answers: KeptAnswers, text: str, image: CatalogImage, reading: Reading, settings: Settings) -> None:
    """Keep the answer of a SELECT for both protocols, in texts, unless it is large or depends on the time."""
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
    """The outcome of a SELECT and the versions that it read. reusable: a new run in another transaction would give the same."""

    outcome: Outcome
    versions: ViewVersions
    tables: TableVersions
    reusable: bool


def read(
    database: Database,
    transaction: Transaction,
    image: CatalogImage,
    bound: BoundQuery,
    parameters: tuple[Literal, ...],
    reader: Reader,
    scanning: ScanSettings,
    given: Mapping[str, pa.Table],
) -> Reading | None:
    """Run a bound query; blocks, so call it on a worker thread. Raises SqlError. given: rows that are there, by the names of their scans.

    None: the first table of the transaction was touched, and the catalog of its snapshot is not the one that the query was bound to.
    """
    entries = [entry for name in sorted(bound.relations) if (entry := image.entries.get(name)) is not None]
    data = [entry.data for entry in entries if isinstance(entry, TableEntry)]
    if entries:
        database.begin_reading(transaction)
    if data or transaction.tables is not None or (bound.stable and uses_sequences(bound.root)):
        tables = database.begin_tables(transaction, views_among(bound.relations, image))
        if image is not (transaction.image or transaction.snapshot):
            return None
    root, wholes = with_whole_views(settled_query(bound, parameters, reader.now_us), bound.relations, image)
    locked = settled_reads(bound.locked, parameters, reader.now_us)
    roots = [root, *(one.root for one in locked)]
    (root, *reads), inputs = scan_inputs(database, transaction, image, bound.relations, roots, reader, scanning)
    inputs |= given
    if transaction.tables is None and any(part.kind == "table" for one in (root, *reads) for part in scans(one)):
        # What a version has left to its readers joins its rows with tables.
        tables = database.begin_tables(transaction, views_among(bound.relations, image))
        if image is not (transaction.image or transaction.snapshot):
            return None
    reader.check_cancelled()
    if locked:
        locked = tuple(replace(one, root=read) for one, read in zip(locked, reads, strict=True))
        read_only = transaction.sequences is not None and transaction.sequences.read_only
        inputs |= read_locked(tables, locked, inputs, read_only)

    def run(query: Relation, seen: Relation) -> pa.Table:
        """Run a query where that is done; seen: as Spark would take it."""
        above = rows_above(database.running_upper, transaction, seen, inputs, scanning.spark_groups_min, reader.token)
        if above is not None:
            return above
        known = transaction.tables
        return database.tables.run(query, inputs, reader.token) if known is None else known.query(query, inputs)

    for whole in wholes:
        name = whole.description.name
        try:
            inputs[name] = whole_version(database, transaction, image, whole, run, reader)
        except SqlError as failure:
            if not failure.sqlstate.startswith(DATA_ERRORS):
                raise
            # One row of it can't be evaluated: the query reads what it asks for of it.
            above = with_deferred(whole_query(whole).root, transaction, bound.relations)
            root = in_place_of(name, above, root)
    table = run(root, root)
    views = tuple(transaction.versions[name] for name in sorted(bound.relations) if name in transaction.versions)
    reusable = not bound.stable and not any(view.time_dependent or view.upper_tables for view, _ in views)
    reusable = reusable and all(view.committed == version.position for view, version in views)
    reusable = reusable and not streams_among(bound.relations, image) and bound.relations <= image.entries.keys()
    versions = tuple((one, one.committed) for one in data)
    if transaction.tables is not None and reusable:
        reusable = not tables.changed and all(version <= tables.snapshot for _, version in versions)
    return Reading(Outcome("SELECT #", with_origins(bound, image), table), views, versions, reusable)


def whole_version(
    database: Database,
    transaction: Transaction,
    image: CatalogImage,
    whole: QueryViewEntry,
    run: Callable[[Relation, Relation], pa.Table],
    reader: Reader,
) -> pa.Table:
    """Return the rows of a view of parts at the statement's versions of these, shared with all who read the same ones."""

    def make() -> pa.Table:
        query = with_deferred(whole_query(whole).root, transaction, whole_query(whole).relations)
        return run(query, over_groups(query))

    sources = sources_of(whole, image, transaction)
    return make() if sources is None else database.wholes.take(whole, sources, make, reader.check_cancelled)


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
    return substitute_now(root, now_us) if bound.stable else root


def scan_inputs(
    database: Database,
    transaction: Transaction,
    image: CatalogImage,
    relations: frozenset[str],
    roots: Sequence[Relation],
    reader: Reader,
    scanning: ScanSettings,
) -> tuple[list[Relation], dict[str, pa.Table]]:
    """Return a statement's queries, and what their scans of all that is no table read: streams, continuous views, sequences.

    roots: without open parameters; what comes back may read the groups of a stream where they read its rows.
    """
    streams = streams_among(relations, image)
    inputs: dict[str, pa.Table] = {}
    queries = list(roots)
    if streams:
        roots = [written_out(root) for root in roots]

        def run_on_tables(relation: Relation) -> pa.Table:
            tables = transaction.tables
            return database.tables.run(relation, {}) if tables is None else tables.query(relation, {})

        kernels = database.stream_kernels
        queries, inputs = scan_streams(streams, roots, scanning, kernels, run_on_tables, reader.check_cancelled)
    inputs |= view_inputs(database, transaction, image, relations, reader)
    return [with_deferred(query, transaction, relations) for query in queries], inputs


def with_deferred(root: Relation, transaction: Transaction, relations: frozenset[str]) -> Relation:
    """Return a query with what versions have left to their readers in the place of the scans of these views."""
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


def view_inputs(
    database: Database, transaction: Transaction, image: CatalogImage, relations: frozenset[str], reader: Reader
) -> dict[str, pa.Table]:
    """Return what the scans of continuous views and sequences among `relations` read. The first read fixes what is seen."""
    inputs: dict[str, pa.Table] = {}
    unread: list[ContinuousView] = []
    for name in sorted(relations):
        entry = image.entries.get(name)
        if isinstance(entry, ViewEntry):
            known = transaction.versions.get(name)
            if known is None or known[0] is not entry.view:
                unread.append(entry.view)
            else:
                inputs[name] = known[1].table
        elif isinstance(entry, SequenceEntry):
            inputs[name] = sequence_row(entry)
        elif entry is None and name == stream_statistics.NAME:
            inputs[name] = stream_statistics.stream_statistics(streams_among(frozenset(image.entries), image))
        elif entry is None and name == view_statistics.NAME:
            views = (one for one in image.entries.values() if isinstance(one, ViewEntry))
            now_us = database.clock.now_us()
            inputs[name] = view_statistics.view_statistics(
                ((one.stream_name, one.view, one.active) for one in views), now_us
            )
    if unread:
        database.begin_reading(transaction)
    versions = database.versions(transaction, unread, reader)
    for view in unread:
        name = view.definition.name
        transaction.versions[name] = (view, versions[name])
        inputs[name] = versions[name].table
    return inputs


def views_among(relations: frozenset[str], image: CatalogImage) -> list[ContinuousView]:
    """Return the continuous views among `relations`."""
    entries = (image.entries.get(name) for name in sorted(relations))
    return [entry.view for entry in entries if isinstance(entry, ViewEntry)]
