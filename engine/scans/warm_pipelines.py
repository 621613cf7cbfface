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
from collections.abc import Hashable
from weakref import WeakKeyDictionary

import pyarrow as pa

from engine.catalog.image import CatalogImage
from engine.scans.engines import QueryEngines
from sql.errors import SqlError
from sql.tree.relations import Relation
from views.model.arrow_schema import arrow_schema
from views.model.trees import substitute_now
from views.plan.hand_over import hand_over
from views.upkeep.chain import Chain

log = logging.getLogger(__name__)

# Of each pipeline, after which its time has fallen by most of what it will ever fall.
RUNS = 30
# Of one processor, while pipelines are warmed up.
SHARE_MAX = 0.5
# Between two looks whether there is a JVM that does not know the pipelines.
LOOK_S = 0.5
END_S_MAX = 5.0
ROWS = 100
TOKEN: Hashable = ("warm-up",)


class WarmPipelines:
    """The thread that warms up the upper pipelines of one server, started with the first of
    them.
    """

    def __init__(self, engines: QueryEngines) -> None:
        self._engines = engines
        self._views: tuple[Chain, ...] = ()
        self._changed = threading.Event()
        self._stopping = False
        self._thread: threading.Thread | None = None

    def follow(self, image: CatalogImage) -> None:
        """Take up the views of a new catalog."""
        self._views = tuple(view for view in image.chains if pipeline_of(view) is not None)
        if self._views and self._thread is None:
            self._thread = threading.Thread(target=self._run, name="antumbra-warm-up", daemon=True)
            self._thread.start()
        self._changed.set()

    def stop(self) -> None:
        """End what runs, and begin nothing."""
        self._stopping = True
        self._changed.set()
        if self._thread is not None:
            self._engines.upper.cancel(TOKEN)
            self._thread.join(END_S_MAX)

    def _run(self) -> None:
        upper, known = self._engines.upper, None
        # A chain that is dropped is let go.
        runs: WeakKeyDictionary[Chain, int] = WeakKeyDictionary()
        wait_s = 0.0
        while not self._stopping:
            # A new view does not shorten a rest.
            time.sleep(wait_s) if wait_s else self._changed.wait(LOOK_S)
            self._changed.clear()
            wait_s = 0.0
            jvm = upper.ready_jvm
            if jvm is None:
                continue
            if jvm is not known:
                known = jvm
                runs.clear()
            began_s = time.monotonic()
            if self._warm_up_next(runs):
                wait_s = (time.monotonic() - began_s) * (1 / SHARE_MAX - 1)

    def _warm_up_next(self, runs: WeakKeyDictionary[Chain, int]) -> bool:
        """Run the pipeline that has run least, unless all have run enough or Spark has other work;
        tell whether one was tried.
        """
        views = [view for view in self._views if runs.get(view, 0) < RUNS]
        if not views or self._stopping:
            return False
        view = min(views, key=lambda one: runs.get(one, 0))
        try:
            if not self._warm_up(view):
                return False
            runs[view] = runs.get(view, 0) + 1
        except SqlError as error:
            log.debug("the upper pipeline of %s is not warmed up: %s", view.name, error.message)
            runs[view] = RUNS
        return True

    def _warm_up(self, view: Chain) -> bool:
        """Run the pipeline of a view once, unless Spark has other work.

        Raises SqlError.
        """
        relation, upper = pipeline_of(view), view.plan.upper
        assert relation is not None and upper is not None
        if view.time_dependent:
            relation = substitute_now(relation, self._engines.clock.now_us())
        tables = self._engines.committed_tables.read_all(view.upper_tables) if view.upper_tables else {}
        schema = arrow_schema(view.plan.finish.output)
        try:
            return self._engines.upper.warm_up(TOKEN, relation, {upper.groups: made_up(schema)}, tables)
        except SqlError as error:
            if not error.sqlstate.startswith("22"):
                raise
            # Not with these values.
            return self._engines.upper.warm_up(TOKEN, relation, {upper.groups: schema.empty_table()}, tables)


def pipeline_of(view: Chain) -> Relation | None:
    """Return the upper pipeline that Spark runs for a view, None if there is none."""
    upper = view.plan.upper
    if upper is None or hand_over(substitute_now(upper.relation, 0)) is None:
        return None
    return upper.relation


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
