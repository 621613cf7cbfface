"""Reading of views: one consistent cut of all chains of a statement, and a version of each.

Enters: chains, the commit lock, the reader's now() and cancellation. Leaves: a `Version` per chain
name. Under the commit lock a cut only swaps local tables. Merging, exporting and Spark run outside
the lock, one refresh at a time per chain, and readers of one position share the result. Swapped
tables are merged before anything that can fail, so that an error or a cancelled read loses no row.
Must not know sessions.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from time import monotonic, perf_counter

import pyarrow as pa

from sql.errors import SqlError
from views.model.arrow_schema import arrow_schema
from views.model.protocols import Clock, Source, TableExport, VersionExecutor
from views.model.trees import substitute_now
from views.plan.deferred import above_finished, above_groups
from views.upkeep.chain import Chain
from views.upkeep.cuts import READER, Cut, CutPhase, Exported, Moment, Version

QUERY_CANCELED = "57014"
# The SQLSTATEs of values that can not be computed, or not here, begin with one of these.
DATA_ERRORS = ("22", "54000", "0A000")
CANCEL_POLL_S = 0.05
# Of cuts, in the order in which they are taken.
MOMENTS = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Reader:
    """The one for whom versions are made: a statement, or a schedule.

    Attributes:
        now_us: now() of its transaction.
        check_cancelled: raises 57014 after the client has cancelled.
        token: the name under which the jobs that Spark runs for the statement can be cancelled.
        staleness_us: versions are good enough that were the answer so long ago.
        reason: READER or SCHEDULE, as statistics tell it.
        deadline_s: the time of the monotonic clock after which nobody wants the versions any more.
    """

    now_us: int
    check_cancelled: Callable[[], None]
    token: Hashable = None
    staleness_us: int = 0
    reason: str = READER
    deadline_s: float = inf

    def check(self) -> None:
        """Raise 57014 after the reader was cancelled, or after its deadline."""
        self.check_cancelled()
        if monotonic() > self.deadline_s:
            raise SqlError(QUERY_CANCELED, "canceling refresh after its deadline")


def nobody(target: Cut, before: Version | None, version: Version) -> None:
    """Take a new version for nobody."""


@dataclass(frozen=True, slots=True)
class Engines:
    """The engines, clock and tables that making a version takes besides the view.

    Attributes:
        made: is given each new version of a chain, with the stored one before it.
    """

    executor: VersionExecutor
    clock: Clock
    tables: Source
    made: Callable[[Cut, Version | None, Version], None] = nobody


def cut(chains: Sequence[Chain], commit_lock: threading.Lock, engines: Engines, reader: Reader) -> dict[str, Version]:
    """Return a version of each chain by name, all of them at one position between two commits.

    Every refresh begins here, for whatever reason.

    Tables that are joined above the groupings are read when a version is made: as they are at the
    cut, or later. Raises SqlError for what fails above the stream pipelines, and 57014; the states
    of the chains are intact then.
    """
    if len(chains) == 1:
        stored = reusable(chains[0], engines.tables)
        if stored is not None:
            return {chains[0].name: stored}
    if reader.staleness_us:
        old = not_too_old(chains, engines.clock.now_us() - reader.staleness_us)
        if old is not None:
            return old
    exact = len(chains) > 1
    for chain in chains:
        # Those that take rows together with it will be given a table.
        chain.state.groups.drain()
    with commit_lock:
        moment = Moment(next(MOMENTS), engines.clock.now_us())
        wanted = [(chain, _take(chain, exact, reader, engines.tables, moment)) for chain in chains]
    versions: dict[str, Version] = {}
    try:
        for chain, entry in wanted:
            versions[chain.name] = obtain(chain, entry, engines, reader)
    finally:
        for chain, entry in wanted:
            with chain.changed:
                entry.waiting -= 1
    return versions


def not_too_old(chains: Sequence[Chain], oldest_us: int) -> dict[str, Version] | None:
    """Return the stored versions if all were the answer at one moment not before `oldest_us`, else
    None.
    """
    found: dict[str, Version] = {}
    moments: set[Moment] = set()
    for chain in chains:
        moment, stored = chain.latest_at, chain.latest
        if moment is None or stored is None or moment.time_us < oldest_us:
            return None
        if chain.latest_at is not moment:
            return None
        moments.add(moment)
        found[chain.name] = stored
    return found if len(moments) <= 1 else None


def reusable(chain: Chain, tables: Source) -> Version | None:
    """Return the stored version if a new one would be the same, else None."""
    stored = chain.latest
    return stored if stored is not None and is_current(chain, stored, tables) else None


def is_current(chain: Chain, version: Version, tables: Source) -> bool:
    """Return whether a new version of `chain` would be the same as `version`.

    It would be if no statement on the chain's stream, nor on a table of its upper part, was
    committed since, and the answer does not depend on the time.
    """
    if chain.time_dependent or version.position != chain.committed:
        return False
    return not chain.upper_tables or tables.versions(chain.upper_tables) == version.table_versions


def _take(chain: Chain, exact: bool, reader: Reader, tables: Source, moment: Moment) -> Cut:
    """Return the cut of `chain` at the last commit: one that other readers wait for, or a new one.

    The caller holds the commit lock.
    """
    stored = reusable(chain, tables)
    if stored is not None:
        chain.latest_at = moment
        return Cut(chain, stored.position, None, exact, None, waiting=1, version=stored)
    now_us = reader.now_us if chain.time_dependent else None
    table_versions = tables.versions(chain.upper_tables) if chain.upper_tables else {}
    with chain.changed:
        if chain.cuts and not chain.time_dependent:
            last = chain.cuts[-1]
            is_same = last.chain is chain and last.position == chain.committed and last.table_versions == table_versions
            if is_same and not last.pins:
                last.moment = moment
                last.waiting += 1
                last.exact = last.exact or exact
                return last
        entry = new_cut(chain, exact, now_us, table_versions)
        entry.waiting, entry.moment = 1, moment
        return entry


def new_cut(chain: Chain, exact: bool, now_us: int | None, table_versions: Mapping[str, Hashable]) -> Cut:
    """Return a new last cut in the queue of the chain, at the last commit.

    The caller holds the commit lock and `chain.changed`.
    """
    groups = chain.state.groups
    began_s = perf_counter()
    swapped = groups.swap() if groups.swapped != groups.committed else None
    groups.swapped = groups.committed
    entry = Cut(chain, groups.committed, swapped, exact, now_us, table_versions=table_versions)
    entry.phases.swap_s = perf_counter() - began_s
    chain.cuts.append(entry)
    return entry


def obtain(chain: Chain, wanted: Cut, engines: Engines, reader: Reader) -> Version:
    """Return the version of `wanted`: wait for the reader that refreshes the chain, or become that
    reader.

    Raises SqlError for what fails above the stream pipeline, and what `reader` raises when it is
    cancelled.
    """
    while True:
        with chain.changed:
            while not wanted.done and (
                chain.upkeep.refreshing or not (wanted.phase is CutPhase.KEPT or _can_refresh(chain))
            ):
                chain.changed.wait(CANCEL_POLL_S)
                reader.check()
            if not wanted.done:
                chain.upkeep.refreshing = True
        if wanted.version is not None:
            return wanted.version
        if wanted.error is not None:
            # A copy, because several threads may raise it and each adds its own traceback.
            raise replace(wanted.error)
        try:
            reader.check()
            if wanted.phase is CutPhase.KEPT:
                _finish_kept(wanted, engines, reader)
            else:
                _refresh_next(chain, engines, reader)
        finally:
            with chain.changed:
                chain.upkeep.refreshing = False
                chain.changed.notify_all()


def _can_refresh(chain: Chain) -> bool:
    """Tell whether a reader waits for a cut with no cut before it that is held for a snapshot.

    Every waiting reader refreshes for all: a snapshot waits for readers who may be busy with
    another chain before they come to this one. The caller holds `chain.changed`.
    """
    for entry in chain.cuts:
        if entry.held:
            return False
        if entry.waiting > 0:
            return True
    return False


def _refresh_next(chain: Chain, engines: Engines, reader: Reader) -> None:
    """Merge the next batch of cuts, make a version at its last cut, and give the version to all of
    them.

    When the reader is cancelled, or the version fails by a bug of ours, the cuts stay in the queue
    with their rows merged, and the next reader goes on.
    """
    with chain.changed:
        batch = _next_batch(chain)
    assert batch, "nobody refreshes a chain whose first cut is held for a snapshot"
    target = batch[-1]
    merge_cuts(chain, batch, target)
    target.chain.forget_passed(engines.clock.now_us())
    version: Version | None = None
    error: SqlError | None = None
    try:
        version = _make_version(target, engines, reader)
    except SqlError as failure:
        if failure.sqlstate == QUERY_CANCELED:
            raise
        error = failure
    if version is not None:
        # Who begins to listen after the version can be seen does not hear of it.
        engines.made(target, target.chain.latest, version)
    with chain.changed:
        while target in chain.cuts:
            entry = chain.cuts.popleft()
            entry.end(version, error)
        if version is not None and not target.chain.time_dependent:
            target.chain.latest_at, target.chain.latest = None, version
            target.chain.latest_at = target.moment
        chain.changed.notify_all()


def _next_batch(chain: Chain) -> list[Cut]:
    """Return the first cuts in the queue, up to the cut whose version serves all of them.

    A reader of this chain alone is served by any later position, so that such readers share. A
    reader of several chains needs its own position. A reader of a chain whose place another one has
    taken meanwhile needs a version of its own too: the two chains share the state, but not what is
    above it. A batch ends before a cut that is held for a snapshot. The caller holds
    `chain.changed`.
    """
    batch: list[Cut] = []
    awaited: Chain | None = None
    for entry in chain.cuts:
        if entry.held or (awaited is not None and entry.chain is not awaited):
            break
        batch.append(entry)
        if entry.waiting > 0:
            awaited = entry.chain
        if entry.waiting > 0 and (entry.exact or entry.now_us is not None):
            break
    return batch


def merge_tables_of(chain: Chain, entry: Cut) -> None:
    """Merge the rows of a cut into the global table, if that has not been done.

    The caller is the reader that refreshes the view.
    """
    if entry.phase is CutPhase.WAITING:
        tables = entry.merge()
        if tables:
            chain.state.groups.merge(tables)


def merge_cuts(chain: Chain, entries: Sequence[Cut], target: Cut) -> None:
    """Bring the global table to the position of `target`, the last of `entries`.

    A pinned cut before it gets a copy of its groups and leaves the queue. The caller is the reader
    that refreshes the view.
    """
    for entry in entries:
        began_s = perf_counter()
        merge_tables_of(chain, entry)
        target.phases.merge_s += perf_counter() - began_s
        if not entry.pins or entry is target:
            continue
        groups, error = None, None
        try:
            groups = exported(entry.chain, entry.now_us or 0)
        except SqlError as failure:
            error = failure
        with chain.changed:
            if groups is None:
                entry.end(None, error)
            else:
                entry.keep(groups)
            chain.cuts.remove(entry)
            chain.changed.notify_all()


def require_groups(chain: Chain, version: Version, now_us: int) -> None:
    """Raise 72000 where a version lacks groups that a reader with an old now() asks for."""
    if version.passed_us and now_us < version.passed_us:
        raise SqlError(
            "72000",
            "snapshot too old",
            detail=f'View "{chain.definition.shown}" has given up rows that were in its window at now(), '
            "the beginning of this transaction.",
            hint="End the transaction, and read the view in a new one.",
        )


def _finish_kept(entry: Cut, engines: Engines, reader: Reader) -> None:
    """Make the version of a pinned cut from its copy of the groups.

    Raises 57014, and may be tried again.
    """
    assert entry.groups is not None
    entry.reason = reader.reason
    version: Version | None = None
    error: SqlError | None = None
    try:
        version = _finished(entry, entry.groups, engines, reader)
    except SqlError as failure:
        if failure.sqlstate == QUERY_CANCELED:
            raise
        error = failure
    with entry.chain.changed:
        entry.end(version, error)


def _make_version(target: Cut, engines: Engines, reader: Reader) -> Version:
    """Export the merged groups and run what lies above them."""
    reader.check()
    target.reason = reader.reason
    version = _by_change(target, engines, reader)
    if version is not None:
        return version
    now_us = reader.now_us if target.now_us is None else target.now_us
    began_s = perf_counter()
    groups = exported(target.chain, now_us)
    target.phases.hand_over_s = perf_counter() - began_s
    return _finished(target, groups, engines, reader)


def _by_change(target: Cut, engines: Engines, reader: Reader) -> Version | None:
    """Return a version of the groups that have changed; None: all groups have to be looked at."""
    chain, phases = target.chain, target.phases
    upper = chain.state.upper
    if upper is None:
        return None
    began_s = perf_counter()
    versions = engines.tables.versions(chain.upper_tables) if chain.upper_tables else {}
    exports: Mapping[str, TableExport] = {}
    try:
        is_joined = upper.joined == {name: versions[name] for name in upper.delta.tables}
        if not is_joined or upper.delta.plan.upper_tables:
            exports = engines.tables.read_all(chain.upper_tables)
            versions = {name: export.version for name, export in exports.items()}
        if upper.joined != {name: versions[name] for name in upper.delta.tables}:
            upper.join(chain.name, exports, engines.executor)
        how = upper.update(chain.state.groups, chain.state.finished)
        updated_s = perf_counter()
        table = upper.rows(reader.token, exports, engines.executor)
    except SqlError as failure:
        if not failure.sqlstate.startswith(DATA_ERRORS):
            raise
        # Which rows fail, and for whom, the whole pipeline tells.
        return None
    chain.upkeep.count_upper(how, upper.reason)
    phases.hand_over_s, phases.spark_s = updated_s - began_s, perf_counter() - updated_s
    return _stored(target, table, versions, engines, chain.state.groups.passed_us)


def exported(chain: Chain, now_us: int) -> Exported:
    """Return the rows of the finish step, or all groups where the step fails for some.

    Raises SqlError.
    """
    passed_us = chain.state.groups.passed_us
    try:
        return Exported(chain.state.export(now_us), passed_us=passed_us)
    except SqlError as failure:
        if not failure.sqlstate.startswith(DATA_ERRORS):
            raise
    table, unmade = chain.state.export_groups()
    return Exported(table, above_groups(chain.plan, unmade), passed_us)


def _finished(target: Cut, groups: Exported, engines: Engines, reader: Reader) -> Version:
    """Run what lies above the groups, or leave that to the readers where some row can't be
    evaluated.
    """
    if groups.above is None:
        try:
            return _evaluated(target, groups, engines, reader)
        except SqlError as failure:
            if not failure.sqlstate.startswith(DATA_ERRORS):
                raise
    chain = target.chain
    above = above_finished(chain.plan) if groups.above is None else groups.above
    if chain.time_dependent:
        above = substitute_now(above, reader.now_us if target.now_us is None else target.now_us)
    versions = engines.tables.versions(chain.upper_tables) if chain.upper_tables else {}
    return _version(target, replace(groups, above=above), versions, engines.clock.now_us())


def _version(target: Cut, rows: Exported, table_versions: Mapping[str, Hashable], created_us: int) -> Version:
    """Return a version. rows: all that readers get, and what they run above it."""
    upkeep = target.chain.upkeep
    upkeep.versions_count += 1
    upkeep.refreshed = created_us, target.phases
    upkeep.reasons[target.reason] += 1
    upkeep.last_reason = target.reason
    number, position = upkeep.versions_count, target.position
    return Version(number, position, rows.table, created_us, table_versions, target.phases, rows.above, rows.passed_us)


def _evaluated(target: Cut, exported: Exported, engines: Engines, reader: Reader) -> Version:
    """Run what lies above the groups. Raises SqlError."""
    chain, table = target.chain, exported.table
    now_us = reader.now_us if target.now_us is None else target.now_us
    plan, phases = chain.plan, target.phases
    table_versions: Mapping[str, Hashable] = {}
    if plan.upper is not None:
        began_s = perf_counter()
        relation = substitute_now(plan.upper.relation, now_us) if chain.time_dependent else plan.upper.relation
        exports = engines.tables.read_all(chain.upper_tables) if chain.upper_tables else {}
        table_versions = {name: export.version for name, export in exports.items()}
        groups = {plan.upper.groups: table}
        table = engines.executor.run(reader.token, relation, groups, exports, chain.upkeep.count_upper)
        phases.spark_s = perf_counter() - began_s
    reader.check()
    began_s = perf_counter()
    if plan.tail is not None:
        table = chain.state.finish_tail(table, plan.tail)
    phases.store_s = perf_counter() - began_s
    return _stored(target, table, table_versions, engines, exported.passed_us)


def _stored(
    target: Cut, table: pa.Table, table_versions: Mapping[str, Hashable], engines: Engines, passed_us: int
) -> Version:
    """Return a version of rows in the forms of the view's columns."""
    chain, began_s = target.chain, perf_counter()
    expected = arrow_schema(chain.schema)
    assert table.schema.types == expected.types, f"chain {chain.name}: {table.schema} instead of {expected}"
    renamed = table.rename_columns(expected.names)
    created_us = engines.clock.now_us()
    target.phases.store_s += perf_counter() - began_s
    return _version(target, Exported(renamed, passed_us=passed_us), table_versions, created_us)
