"""Pathway, as a peer of the race.

Calls: keep(file, columns, views) reads the integers of a CSV file with a header to its end and
keeps a view for each (key, aggregate, column) meanwhile; each call is a job of its own.
"""

from __future__ import annotations

from typing import Any

import pathway as pw

from bench.peers.line_protocol import serve

REDUCERS = {"sum": pw.reducers.sum, "max": pw.reducers.max, "min": pw.reducers.min}


def keep(file: str, columns: list[str], views: list[tuple[str, str, str]]) -> None:
    """Run a job."""
    pw.internals.parse_graph.G.clear()
    schema = pw.schema_builder({column: pw.column_definition(dtype=int) for column in columns})
    rows = pw.io.csv.read(file, schema=schema, mode="static")
    for key, aggregate, column in views:
        reduced: Any = rows.groupby(rows[key]).reduce(
            rows[key], n=pw.reducers.count(), x=REDUCERS[aggregate](rows[column])
        )
        pw.io.null.write(reduced)
    if not views:
        pw.io.null.write(rows)
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)


if __name__ == "__main__":
    serve(f"Pathway {pw.__version__}", {"keep": keep}, (RuntimeError, ValueError))
