"""The upper pipelines of views, run in Spark before anybody reads them.

A pipeline's first runs take some ten times as long as its hundredth: Spark plans it, and the JVM
loads and compiles what runs. Enters: the catalog, the engines. Leaves: nothing but a Spark that
knows the pipelines, on the first JVM and on each next one. One thread runs them over made-up rows,
by turns, while nobody else has work in Spark, and for no more than a share of the time. Must not
make versions of views.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter

import pyarrow as pa

from engine.catalog.image import CatalogImage, ViewEntry
from engine.scans.engines import QueryEngines
from engine.scans.query_view_cache import is_kept, over_groups, whole_query
from engine.scans.upper import is_for_spark
from sql.errors import SqlError
from sql.tree.relations import Relation
from sql.tree.walks import scans
from views.model.arrow_schema import arrow_schema
from views.model.trees import substitute_now
from views.plan.hand_over import hand_over

log = logging.getLogger(__name__)

# Of each pipeline, after which its time has fallen by most of what it will ever fall.
RUNS = 30
# Of one processor, while pipelines are warmed up and nobody else has work in Spark.
SHARE_MAX = 0.8
# Between two looks whether there is a JVM that does not know the pipelines.
LOOK_S = 0.5
END_S_MAX = 5.0
ROWS = 100
TOKEN: Hashable = ("warm-up",)


@dataclass(eq=False)
class WarmPipeline:
    """The part of a view that stands above its groups.

    Attributes:
        source: the relation as the view has it.
        groups: the forms of its inputs.
        tables: those that it reads.
        runs: how often the latest JVM has run it.
    """

    view: str
    source: Relation
    relation: Relation
    groups: Mapping[str, pa.Schema]
    tables: frozenset[str]
    runs: int = 0


def pipelines_of(image: CatalogImage) -> Iterator[WarmPipeline]:
    """Yield the upper pipelines of all views, and the queries above the states of views."""
    for chain in image.chains:
        # What is kept by change does without Spark, but for rows that fail.
        if (upper := chain.plan.upper) is not None and chain.state.upper is None:
            groups = {upper.groups: arrow_schema(chain.plan.finish.output)}
            yield WarmPipeline(chain.name, upper.relation, upper.relation, groups, chain.upper_tables)
    for entry in image.entries.values():
        if isinstance(entry, ViewEntry) and is_kept(entry):
            root = whole_query(entry).root
            if is_for_spark(relation := over_groups(root)):
                groups = {scan.name: arrow_schema(scan.schema) for scan in scans(relation) if scan.kind == "rows"}
                tables = frozenset(scan.name for scan in scans(relation) if scan.kind == "table")
                yield WarmPipeline(entry.description.name, root, relation, groups, tables)


class WarmPipelines:
    """The thread that warms up the upper pipelines of one server, started with the first of
    them.

    is_preloaded: Spark is there before anybody needs it, so a JVM that has died is replaced.
    """

    def __init__(self, engines: QueryEngines, is_preloaded: bool) -> None:
        self._engines = engines
        self._is_preloaded = is_preloaded
        self._upper = engines.upper
        self._image = CatalogImage()
        # Of this image, by the identities of their relations.
        self._seen = self._image
        self._pipelines: dict[int, WarmPipeline] = {}
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._jvm: object | None = None
        # One now() for all runs on it, so that a pipeline is planned once.
        self._now_us = 0

    def follow(self, image: CatalogImage) -> None:
        """Take up the views of a new catalog, at once: who defines waits."""
        self._image = image
        if image.chains and self._thread is None:
            self._thread = threading.Thread(target=self._run, name="antumbra-warm-up", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End what runs, and begin nothing."""
        self._stopping.set()
        if self._thread is not None:
            self._upper.cancel(TOKEN)
            self._thread.join(END_S_MAX)

    def _run(self) -> None:
        rest_s = LOOK_S
        while not self._stopping.wait(rest_s):
            rest_s = self._turn()

    def _turn(self) -> float:
        """Warm up the pipeline with the fewest runs; return the seconds to rest."""
        if self._image is not self._seen:
            # What was dropped is not kept here.
            self._seen, known = self._image, self._pipelines
            found = {id(one.source): one for one in pipelines_of(self._seen)}
            self._pipelines = {key: known.get(key, one) for key, one in found.items()}
        jvm = self._upper.ready_jvm
        if jvm is None and self._pipelines and self._is_preloaded:
            self._upper.start()
        if jvm is not None and jvm is not self._jvm:
            self._jvm, self._now_us = jvm, self._engines.clock.now_us()
            for one in self._pipelines.values():
                one.runs = 0
        next_one = min(self._pipelines.values(), key=attrgetter("runs"), default=None)
        if jvm is None or next_one is None or next_one.runs >= RUNS:
            return LOOK_S
        began_s = time.monotonic()
        try:
            if not self._warm_up(next_one):
                return LOOK_S
            next_one.runs += 1
        except SqlError as error:
            log.debug("the upper pipeline of %s is not warmed up: %s", next_one.view, error.message)
            next_one.runs = RUNS
        except Exception:
            # At the end of the server, what the work needs may be gone.
            if not self._stopping.is_set():
                log.exception("a bug in the warm-up of the upper pipeline of %s", next_one.view)
            next_one.runs = RUNS
        return (time.monotonic() - began_s) * (1 / SHARE_MAX - 1)

    def _warm_up(self, pipeline: WarmPipeline) -> bool:
        """Run a pipeline once, unless Spark has other work.

        Raises SqlError, also for a pipeline that is not for Spark.
        """
        relation = substitute_now(pipeline.relation, self._now_us)
        if hand_over(relation) is None:
            raise SqlError("0A000", "the embedded engine runs the pipeline")
        tables = self._engines.committed_tables.read_all(pipeline.tables) if pipeline.tables else {}
        try:
            groups = {name: made_up(schema) for name, schema in pipeline.groups.items()}
            return self._upper.warm_up(TOKEN, relation, groups, tables)
        except SqlError as error:
            if not error.sqlstate.startswith("22"):
                raise
            # Not with these values.
            groups = {name: schema.empty_table() for name, schema in pipeline.groups.items()}
            return self._upper.warm_up(TOKEN, relation, groups, tables)


def made_up(schema: pa.Schema) -> pa.Table:
    """Return a few rows: small numbers, and what these are in other types, else NULLs."""
    numbers = pa.array(range(ROWS), pa.int64())
    columns = []
    for field in schema:
        try:
            columns.append(numbers.cast(field.type))
        except pa.ArrowException:
            columns.append(pa.nulls(ROWS, field.type))
    return pa.Table.from_arrays(columns, schema=schema)
