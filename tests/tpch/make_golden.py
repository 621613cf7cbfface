"""Writes the golden files: each query's answer by PostgreSQL 15 over the generated data. Run:
python -m tests.tpch.make_golden
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.oracle.postgres import PostgresCluster
from tests.tpch.workload import GOLDEN_FOLDER, TABLES, generate, queries


def main() -> None:
    """Generate the tables, load them into a PostgreSQL of our own, and keep the sorted rows of each
    query as CSV.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        generate(folder)
        cluster = PostgresCluster(folder / "postgres")
        cluster.start()
        try:
            with cluster.connect() as connection:
                for table, columns in TABLES.items():
                    connection.execute(f"CREATE UNLOGGED TABLE {table} ({columns})".encode())
                    with connection.cursor().copy(
                        f"COPY {table} FROM STDIN WITH (FORMAT csv, HEADER)".encode()
                    ) as copy:
                        copy.write((folder / f"{table}.csv").read_bytes())
                # Q17 and Q20 look lineitem up by part.
                connection.execute("CREATE INDEX ON lineitem (l_partkey)")
                connection.execute("ANALYZE")
                for query_name, query in queries().items():
                    with connection.cursor().copy(f"COPY ({query}) TO STDOUT WITH (FORMAT csv)".encode()) as copy:
                        rows = b"".join(bytes(piece) for piece in copy)
                    lines = sorted(rows.decode().splitlines())
                    (GOLDEN_FOLDER / f"{query_name}.csv").write_text("\n".join(lines) + "\n")
                    print(f"{query_name}: {len(lines)} rows")
        finally:
            cluster.stop()


if __name__ == "__main__":
    main()
