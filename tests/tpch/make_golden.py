"""Writes the golden files: each query's answer by PostgreSQL 15 over the generated data. Run: python -m tests.tpch.make_golden"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.oracle.postgres import PostgresCluster
from tests.tpch.workload import GOLDEN_FOLDER, LINEITEM_COLUMNS, QUERIES, generate_lineitem


def main() -> None:
    """Generate lineitem, load it into a PostgreSQL of our own, and keep the sorted rows of each query as CSV."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        data = generate_lineitem(folder)
        cluster = PostgresCluster(folder / "postgres")
        cluster.start()
        try:
            with cluster.connect() as connection:
                connection.execute(f"CREATE UNLOGGED TABLE lineitem ({LINEITEM_COLUMNS})".encode())
                with connection.cursor().copy("COPY lineitem FROM STDIN WITH (FORMAT csv, HEADER)") as copy:
                    copy.write(data.read_bytes())
                for query_name, query in QUERIES.items():
                    with connection.cursor().copy(f"COPY ({query}) TO STDOUT WITH (FORMAT csv)".encode()) as copy:
                        rows = b"".join(bytes(piece) for piece in copy)
                    lines = sorted(rows.decode().splitlines())
                    (GOLDEN_FOLDER / f"{query_name}.csv").write_text("\n".join(lines) + "\n")
        finally:
            cluster.stop()


if __name__ == "__main__":
    main()
