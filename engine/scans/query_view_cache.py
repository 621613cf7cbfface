"""A cache of the rows of views that are queries over states.

Such a view has a version per combination of versions of its states and tables. Enters: a
statement's query, in which such views are inlined, and what its scans read. Leaves: the query over
scans of the whole views, and their rows. Readers of the same version share it, and wait for the
reader that makes it. A transaction that has changed tables, or sees older ones, makes a version of
its own, which is not kept. Must not cut views.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING

import pyarrow as pa

from engine.catalog.image import CatalogImage, TableEntry, ViewEntry
from engine.tables.table_store import version_of
from sql.bind.readers import has_open_zone
from sql.errors import SqlError
from sql.functions.volatility import has_volatile
from sql.tree.relations import BoundQuery, Relation, Scan
from sql.tree.walks import rewrite_everywhere
from views.model.properties import scans
from views.plan.first_groupings import with_scans
from views.upkeep.refresh import CANCEL_POLL_S, DATA_ERRORS

if TYPE_CHECKING:
    from engine.commit.transaction import Transaction

# So many versions of a view are kept: the newest one, and one that a transaction block may still
# read.
KEPT_MAX = 2

# What a version is made from: versions of parts and of tables.
Sources = tuple[object, ...]


@dataclass
class Made:
    """The kept versions of one view, newest last, for its present query.

    Attributes:
        lock: held while a version is made.
        tables: rows, or the error of the first row that can't be evaluated.
        passed_s: how long the last version took.
    """

    query: BoundQuery
    lock: threading.Lock = field(default_factory=threading.Lock)
    tables: dict[Sources, pa.Table | SqlError] = field(default_factory=dict)
    passed_s: float = 0.0


class WholeVersions:
    """The kept versions of all views that are made of parts, by the oid of the view."""

    def __init__(self) -> None:
        self._made: dict[int, Made] = {}

    def forget(self, image: CatalogImage) -> None:
        """Drop the versions of views that do not exist any more."""
        for oid in [oid for oid in tuple(self._made) if image.by_oid(oid) is None]:
            self._made.pop(oid, None)

    def made(self, entry: ViewEntry) -> tuple[int, float] | None:
        """Return how many rows the last version of a view has, and how long it took in seconds, or
        None.
        """
        made = self._made.get(entry.description.oid)
        if made is None or not made.tables:
            return None
        newest = list(made.tables.values())[-1]
        return (0 if isinstance(newest, SqlError) else newest.num_rows), made.passed_s

    def take(
        self,
        entry: ViewEntry,
        sources: Sources,
        make: Callable[[], pa.Table],
        check_cancelled: Callable[[], None],
    ) -> pa.Table:
        """Return the version made from `sources`, or make it.

        Raises what `make` raises, and what `check_cancelled` raises while another reader makes the
        version.
        """
        oid, query = entry.description.oid, whole_query(entry)
        made = self._made.get(oid)
        if made is None or made.query is not query:
            made = self._made[oid] = Made(query)
        known = made.tables.get(sources)
        if known is not None:
            return rows_or_raise(known)
        while not made.lock.acquire(timeout=CANCEL_POLL_S):
            check_cancelled()
        try:
            known = made.tables.get(sources)
            if known is None:
                began_s = perf_counter()
                try:
                    known = make()
                except SqlError as failure:
                    if not failure.sqlstate.startswith(DATA_ERRORS):
                        raise
                    known = failure
                made.passed_s = perf_counter() - began_s
                made.tables = dict([*made.tables.items(), (sources, known)][-KEPT_MAX:])
            return rows_or_raise(known)
        finally:
            made.lock.release()


def rows_or_raise(made: pa.Table | SqlError) -> pa.Table:
    """Return rows, or raise a copy of the error in their place, since several threads may raise
    it.
    """
    if isinstance(made, SqlError):
        raise replace(made)
    return made


def whole_query(entry: ViewEntry) -> BoundQuery:
    """Return the query of an ordinary view."""
    query = entry.description.query
    assert query is not None
    return query


def is_kept(entry: ViewEntry) -> bool:
    """Tell whether a view is made of states, and its rows depend on nothing but what it reads."""
    if not entry.states or entry.is_state:
        return False
    query = whole_query(entry)
    return not query.stable and not has_volatile(query.root) and not has_open_zone(query.root)


def with_whole_views(
    root: Relation, relations: frozenset[str], image: CatalogImage
) -> tuple[Relation, list[ViewEntry]]:
    """Return a query with a scan in the place of the query of each view of parts, and these views.

    Views whose rows depend on more than what they read are left as they are.
    """
    if not any(map(image.state, relations)):
        return root, []
    found = []
    for entry in image.entries.values():
        if isinstance(entry, ViewEntry) and is_kept(entry) and whole_query(entry).relations <= relations:
            found.append(entry)
    names = [entry.description.name for entry in found]
    if not found:
        return root, []
    over = with_scans(root, [whole_query(entry).root for entry in found], names)
    read = scans(over, "view")
    return over, [entry for entry in found if entry.description.name in read]


def sources_of(entry: ViewEntry, image: CatalogImage, transaction: Transaction) -> Sources | None:
    """Return the versions from which a version of the view is made for this transaction.

    None: no other transaction would read that version.
    """
    sources: list[object] = []
    for name in sorted(whole_query(entry).relations):
        source = image.entries.get(name)
        if image.state(name) is not None:
            sources.append(transaction.versions[name][1])
        elif isinstance(source, TableEntry):
            tables, committed = transaction.tables, source.data.committed
            if tables is None or tables.changed or committed > tables.snapshot:
                return None
            sources.append(version_of(source))
        else:
            return None
    return tuple(sources)


def over_groups(root: Relation) -> Relation:
    """Return a query over views as a query over groups, which Spark may run."""

    def scanned(node: Relation) -> Relation:
        return replace(node, kind="rows") if isinstance(node, Scan) and node.kind == "view" else node

    return rewrite_everywhere(root, scanned)
