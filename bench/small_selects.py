"""The cost of a small SELECT for the server: processor time for each statement, of all its threads.

Shapes over tables of 100 rows and a view of 1,000 groups, and the catalog queries of psql, each as
a Query and as a prepared statement. Constants differ each time, so that no kept answer is read.
Prints the least and the median of the rounds, which take turns; `--only` takes the shapes whose
names have a text.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psycopg

from engine.demo.child import child_server

SETUP = (
    "CREATE TABLE items (id integer PRIMARY KEY, name text, price bigint, kind integer)",
    "INSERT INTO items SELECT i, 'item ' || i, i * 1000, i % 10 FROM generate_series(1, 100) AS g(i)",
    "CREATE TABLE kinds (kind integer PRIMARY KEY, title text)",
    "INSERT INTO kinds SELECT i, 'kind ' || i FROM generate_series(0, 9) AS g(i)",
    "CREATE FOREIGN TABLE events (k bigint, v integer) SERVER stream",
    "CREATE VIEW totals AS SELECT k, count(*) AS n, sum(v) AS total FROM events GROUP BY k",
    "INSERT INTO events SELECT i % 1000, i % 100 FROM generate_series(0, 4999) AS g(i)",
)
# {} is an integer, another one each time, which all answers are the same for.
SHAPES: Mapping[str, str] = {
    "filter": "SELECT id, name, price FROM items WHERE price < 6000 AND price > {}",
    "join": "SELECT i.name, k.title FROM items i JOIN kinds k ON i.kind = k.kind WHERE i.price < 6000 AND i.price > {}",
    "order by, limit": "SELECT id, name FROM items WHERE price > {} ORDER BY price DESC LIMIT 5",
    "aggregate": "SELECT kind, count(*), sum(price) FROM items WHERE price > {} GROUP BY kind",
    "view, filter": "SELECT k, n, total FROM totals WHERE total < 20 AND total > {}",
    "view, order by, limit": "SELECT k, total FROM totals WHERE total > {} ORDER BY k LIMIT 5",
}
# What psql 15 sends for \\dt, and for \\d of a table.
CATALOG: Mapping[str, str] = {
    "list of tables": """SELECT n.nspname as "Schema", c.relname as "Name",
  CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index'
  WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table'
  WHEN 'I' THEN 'partitioned index' END as "Type", pg_catalog.pg_get_userbyid(c.relowner) as "Owner"
FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
WHERE c.relkind IN ('r','p','') AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast'
      AND n.nspname <> 'information_schema' AND pg_catalog.pg_table_is_visible(c.oid)
ORDER BY 1,2;""",
    "relation by name": """SELECT c.oid, n.nspname, c.relname
FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname OPERATOR(pg_catalog.~) '^(items)$' COLLATE pg_catalog.default
  AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 2, 3;""",
    "columns": """SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod),
  (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid, true) FROM pg_catalog.pg_attrdef d
   WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef), a.attnotnull,
  (SELECT c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t
   WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS attcollation,
  a.attidentity, a.attgenerated
FROM pg_catalog.pg_attribute a WHERE a.attrelid = 'items'::regclass AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum;""",
    "indexes": """SELECT c2.relname, i.indisprimary, i.indisunique, i.indisclustered, i.indisvalid,
  pg_catalog.pg_get_indexdef(i.indexrelid, 0, true), pg_catalog.pg_get_constraintdef(con.oid, true), contype,
  condeferrable, condeferred, i.indisreplident, c2.reltablespace
FROM pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_index i
  LEFT JOIN pg_catalog.pg_constraint con ON (conrelid = i.indrelid AND conindid = i.indexrelid AND contype IN ('p','u','x'))
WHERE c.oid = 'items'::regclass AND c.oid = i.indrelid AND i.indexrelid = c2.oid
ORDER BY i.indisprimary DESC, c2.relname;""",
}
WARMING = 20
CONSTANTS = itertools.count(-1, -1)

Connection = psycopg.Connection[tuple[object, ...]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench.small_selects", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--only", default="", help="take the shapes whose names have this text")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--reads", type=int, default=100, help="of each shape in a round (default 100)")
    options = parser.parse_args(arguments)
    run(options.only, options.rounds, options.reads)
    return 0


def run(only: str = "", rounds_count: int = 8, reads_count: int = 100) -> dict[str, float]:
    """Return the least milliseconds of each shape, and print them with the medians."""
    with (
        tempfile.TemporaryDirectory(prefix="antumbra-bench-") as name,
        child_server(Path(name) / "data", options=("--set", "spark_preload=off")) as child,
        psycopg.connect(child.dsn, autocommit=True, prepare_threshold=None) as connection,
    ):
        for text in SETUP:
            connection.execute(text.encode())
        measures = {what: one for what, one in measured(connection).items() if only in what}
        for one in measures.values():
            for _ in range(WARMING):
                one()
        clock = clock_of(child.process_id)
        found: dict[str, list[float]] = {what: [] for what in measures}
        for _ in range(rounds_count):
            for what, one in measures.items():
                before_s = time.clock_gettime(clock)
                for _ in range(reads_count):
                    one()
                found[what].append(1000 * (time.clock_gettime(clock) - before_s) / reads_count)
    print(f"{'ms of the processor for each':40} {'least':>8} {'median':>8}")
    for what, values in found.items():
        print(f"{what:40} {min(values):8.3f} {statistics.median(values):8.3f}", flush=True)
    return {what: min(values) for what, values in found.items()}


def measured(connection: Connection) -> dict[str, Callable[[], int]]:
    """Return the reads by what they are; each returns the number of rows."""

    def read(text: str, parameters: tuple[int, ...] | None = None, prepare: bool | None = None) -> int:
        with connection.cursor() as cursor:
            return cursor.execute(text.encode(), parameters, prepare=prepare).rowcount

    def simple(text: str) -> Callable[[], int]:
        return lambda: read(text.format(next(CONSTANTS)))

    def prepared(text: str) -> Callable[[], int]:
        return lambda: read(text.replace("{}", "%s"), (next(CONSTANTS),), True)

    measures = {"SELECT 1": lambda: read("SELECT 1")}
    for name, text in SHAPES.items():
        measures |= {f"{name}, simple": simple(text), f"{name}, prepared": prepared(text)}
    return measures | {name: (lambda text=text: read(text)) for name, text in CATALOG.items()}


def clock_of(process_id: int) -> int:
    """Return the number of the clock of a process's processor time (Linux's MAKE_PROCESS_CPUCLOCK
    of CPUCLOCK_SCHED).
    """
    assert os.path.exists(f"/proc/{process_id}")
    return (~process_id << 3) | 2


if __name__ == "__main__":
    sys.exit(main())
