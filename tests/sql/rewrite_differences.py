"""Writes data/differences.json: our answers where they are not PostgreSQL's. Run as a module; it starts a PostgreSQL of its own."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from tests.oracle.postgres import PostgresCluster
from tests.sql.answers import our_answer, postgres_answer
from tests.sql.sample_catalog import POSTGRES_TABLES
from tests.sql.test_against_postgres import DATA, FILES, statements


def main() -> None:
    """Ask both and keep what differs."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        cluster = PostgresCluster(Path(folder) / "cluster")
        cluster.start()
        differences = {}
        with cluster.connect() as connection:
            for name in FILES:
                connection.execute(POSTGRES_TABLES)
                for statement in statements(name):
                    ours = our_answer(statement)
                    if ours != postgres_answer(connection, statement):
                        differences[statement] = ours
                connection.execute("ROLLBACK")
        cluster.stop()
    text = ",\n".join(
        f"{json.dumps(statement)}: {json.dumps(answer)}" for statement, answer in sorted(differences.items())
    )
    (DATA / "differences.json").write_text("{\n" + text + "\n}\n")


if __name__ == "__main__":
    main()
