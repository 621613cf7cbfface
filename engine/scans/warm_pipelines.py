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
from collections import Counter
from collections.abc import Hashable

import pyarrow as pa

from engine.catalog.image import CatalogImage
from engine.scans.engines import QueryEngines
from sql.errors import SqlError
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

    is_preloaded: Spark is there before anybody needs it, so a JVM that has died is replaced.
    """

    def __init__(self, engines: QueryEngines, is_preloaded: bool) -> None:
        self._engines = engines
        self._is_preloaded = is_preloaded
        self._upper = engines.upper
        self._views: tuple[Chain, ...] = ()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        # The latest JVM, and how often it has run the pipeline of each view.
        self._jvm: object | None = None
        # One now() for all runs on it, so that a pipeline is planned once.
        self._now_us = 0
        self._runs = Counter[Chain]()

    def follow(self, image: CatalogImage) -> None:
        """Take up the views of a new catalog, at once: who defines waits."""
        self._views = tuple(view for view in image.chains if view.plan.upper is not None)
        if self._views and self._thread is None:
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
        """Warm up the view with the fewest runs; return the seconds to rest."""
        # A view that was dropped is not kept here, nor are its groups.
        self._runs = Counter({view: self._runs[view] for view in self._views})
        jvm = self._upper.ready_jvm
        if jvm is None and self._views and self._is_preloaded:
            self._upper.start()
        if jvm is not None and jvm is not self._jvm:
            self._jvm, self._runs = jvm, Counter(dict.fromkeys(self._runs, 0))
            self._now_us = self._engines.clock.now_us()
        view = min(self._runs, key=self._runs.__getitem__, default=None)
        if jvm is None or view is None or self._runs[view] >= RUNS:
            return LOOK_S
        began_s = time.monotonic()
        try:
            if not self._warm_up(view):
                return LOOK_S
            self._runs[view] += 1
        except SqlError as error:
            log.debug("the upper pipeline of %s is not warmed up: %s", view.name, error.message)
            self._runs[view] = RUNS
        except Exception:
            # At the end of the server, what the work needs may be gone.
            if not self._stopping.is_set():
                log.exception("a bug in the warm-up of the upper pipeline of %s", view.name)
            self._runs[view] = RUNS
        return (time.monotonic() - began_s) * (1 / SHARE_MAX - 1)

    def _warm_up(self, view: Chain) -> bool:
        """Run the pipeline of a view once, unless Spark has other work.

        Raises SqlError, also for a pipeline that is not for Spark.
        """
        upper = view.plan.upper
        assert upper is not None
        relation = substitute_now(upper.relation, self._now_us)
        if hand_over(relation) is None:
            raise SqlError("0A000", "the embedded engine runs the pipeline")
        tables = self._engines.committed_tables.read_all(view.upper_tables) if view.upper_tables else {}
        schema = arrow_schema(view.plan.finish.output)
        try:
            return self._upper.warm_up(TOKEN, relation, {upper.groups: made_up(schema)}, tables)
        except SqlError as error:
            if not error.sqlstate.startswith("22"):
                raise
            # Not with these values.
            return self._upper.warm_up(TOKEN, relation, {upper.groups: schema.empty_table()}, tables)


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
