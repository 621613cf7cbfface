"""The engines that answer queries on streams, views and tables, with what they keep between two
queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.catalog.published import PublishedCatalog
from engine.commit.transaction import Transaction, refuse_unseen
from engine.embedded.query_engine import QueryEngine
from engine.scans.answer_cache import KeptAnswers
from engine.scans.kernels import StreamKernels
from engine.scans.point_reads import PointReads
from engine.scans.query_view_cache import WholeVersions
from engine.scans.view_changes import ViewChanges
from engine.scans.view_versions import ViewVersions
from engine.spark.upper import SparkUpperExecutor
from engine.storage.kernel_files import KernelFiles
from engine.tables.table_source import CommittedTables
from views.model.protocols import Clock
from views.upkeep.chain import Chain
from views.upkeep.cuts import Version
from views.upkeep.refresh import Engines, Reader, cut, require_groups


@dataclass(frozen=True, eq=False)
class QueryEngines:
    """The engines of one server.

    Attributes:
        tables: the embedded engine.
        upper: runs static and upper pipelines.
        kernels: of continuous views.
        stream_kernels: of queries that fold streams.
        changes: tells listeners of views that change.
        points: answers reads by key.
        versions_kept: the versions of views that somebody has asked for.
    """

    catalog: PublishedCatalog
    clock: Clock
    tables: QueryEngine
    committed_tables: CommittedTables
    upper: SparkUpperExecutor
    kernels: KernelFiles
    stream_kernels: StreamKernels
    answers: KeptAnswers
    wholes: WholeVersions
    changes: ViewChanges
    points: PointReads
    versions_kept: ViewVersions

    @property
    def of_views(self) -> Engines:
        """The engines that make versions of views."""
        return Engines(self.upper, self.clock, self.committed_tables, self.changes.made)

    @property
    def running_upper(self) -> SparkUpperExecutor | None:
        """The executor of pipelines in Spark, None where Spark would be waited for."""
        return self.upper if self.upper.is_ready else None

    def versions(self, transaction: Transaction, views: Sequence[Chain], reader: Reader) -> dict[str, Version]:
        """Return a version of each view: as the transaction has fixed it, or at the last commit,
        the same one for all others.
        """
        engines = self.of_views
        pins = transaction.pins
        fixed = [] if pins is None else [view for view in views if view in pins]
        others = [view for view in views if view not in fixed]
        if transaction.explicit and transaction.snapshot is not None:
            refuse_unseen(others, transaction)
        found = cut(others, self.catalog.lock, engines, reader)
        for view in fixed:
            assert pins is not None
            found[view.name] = pins.version(view, engines, reader)
        for view in views:
            require_groups(view, found[view.name], reader.now_us)
        return found
