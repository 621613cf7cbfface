"""How much does it cost that the embedded engine computes a column before a kernel?

Rows come by COPY, and one by one by a prepared INSERT, by turns into two streams of each type of
payload, text, json and jsonb. Each stream has a view of a plain column, and every second one a view
of `payload ->> 'type'` as well, of a text `payload::json ->> 'type'`. Other streams of texts have
views of a pattern, a list, a CASE and a chain of JSON, for single INSERTs alone. Prints the rows
per second of the server's processor time, medians of the runs, and for single INSERTs the ratios to
streams without such a view.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import psycopg

from bench.workload import NO_SPARK
from engine.demo.child import child_server

# What is computed, by the type of the payload.
COMPUTED = {"text": "payload::json ->> 'type'", "json": "payload ->> 'type'", "jsonb": "payload ->> 'type'"}
# What else is computed of texts, for single INSERTs alone.
OF_TEXTS = {
    "pattern": "payload ~ '\"b.y\"'",
    "list": "array_length(array_remove(string_to_array(payload, ','), 'x'), 1)",
    "case": "initcap(CASE WHEN payload LIKE '%buy%' THEN payload::json ->> 'type' ELSE 'no' END)",
    "chain": "payload::json -> 'of' -> 0 ->> 'x'",
}
STREAMS = [f"{kind}{suffix}" for kind in COMPUTED for suffix in ("", "_computed")] + list(OF_TEXTS)
INSERTS = "prepared INSERTs per second"


def cpu_s(process_id: int) -> float:
    """Return the processor time of a process, in seconds."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def prepare(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    """Make the streams and their views."""
    for name in STREAMS:
        stream, (kind, _, is_computed) = f"{name}_rows", name.partition("_")
        computed = COMPUTED[kind] if is_computed else OF_TEXTS.get(kind)
        kind = "text" if kind in OF_TEXTS else kind
        connection.execute(f"CREATE FOREIGN TABLE {stream} (k integer, payload {kind}) SERVER stream")
        connection.execute(f"CREATE VIEW {name}_keys AS SELECT k % 100 AS k, count(*) AS n FROM {stream} GROUP BY 1")
        if computed is not None:
            connection.execute(
                f"CREATE VIEW {name}_types AS SELECT {computed} AS type, count(*) AS n FROM {stream} GROUP BY 1"
            )


def copy(connection: psycopg.Connection[tuple[object, ...]], name: str, lines: bytes) -> None:
    """Send lines by COPY."""
    with connection.cursor().copy(f"COPY {name}_rows FROM STDIN") as pipe:
        for start in range(0, len(lines), 1 << 16):
            pipe.write(lines[start : start + (1 << 16)])


def insert(connection: psycopg.Connection[tuple[object, ...]], name: str, rows_count: int) -> None:
    """Insert rows one by one."""
    cursor = connection.cursor()
    for number in range(rows_count):
        row = (number, f'{{"type": "buy", "x": {number}}}')
        cursor.execute(f"INSERT INTO {name}_rows VALUES (%s, %s)", row, prepare=True)


def run(rows_count: int, singles_count: int, runs_count: int) -> dict[str, float]:
    """Print the figures, and return them by their names."""
    kinds = ("buy", "sell")
    lines = "".join(f'{n}\t{{"type": "{kinds[n % 2]}", "x": {n}}}\n' for n in range(rows_count)).encode()
    found: dict[str, list[float]] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        child_server(Path(folder) / "data", options=NO_SPARK) as server,
        psycopg.connect(server.dsn, autocommit=True) as connection,
    ):
        connection.execute("SET synchronous_commit = off")
        prepare(connection)
        for _ in range(runs_count):
            for name in STREAMS:
                if name not in OF_TEXTS:
                    began_s = cpu_s(server.process_id)
                    copy(connection, name, lines)
                    took_s = max(cpu_s(server.process_id) - began_s, 0.01)
                    found.setdefault(f"{name}: COPY, rows per second of one core", []).append(rows_count / took_s)
                began_s = time.perf_counter()
                insert(connection, name, singles_count)
                took_s = time.perf_counter() - began_s
                found.setdefault(f"{name}: {INSERTS}", []).append(singles_count / took_s)
    figures = {name: statistics.median(values) for name, values in found.items()}
    compared = {kind: (f"{kind}_computed", kind) for kind in COMPUTED} | {kind: (kind, "text") for kind in OF_TEXTS}
    for kind, (name, other) in compared.items():
        pairs = zip(found[f"{name}: {INSERTS}"], found[f"{other}: {INSERTS}"], strict=True)
        figures[f"{kind}: INSERTs beside the computed column, ratio"] = statistics.median(a / b for a, b in pairs)
    for name, value in figures.items():
        print(f"{name}: {value:,.2f}")
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=500_000, help="of each COPY")
    parser.add_argument("--singles", type=int, default=3_000, help="INSERTs of one row")
    parser.add_argument("--runs", type=int, default=5, help="of each kind")
    given = parser.parse_args()
    run(given.rows, given.singles, given.runs)


if __name__ == "__main__":
    main()
