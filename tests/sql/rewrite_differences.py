"""Writes data/*differences.json: our answers where they are not PostgreSQL's. Run as a module; it
starts a PostgreSQL of its own.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.oracle.postgres import PostgresCluster
from tests.sql.answers import our_answer, postgres_answer
from tests.sql.parse import test_syntax
from tests.sql.sample_catalog import POSTGRES_TABLES
from tests.sql.test_against_postgres import DATA, FILES, statements


def main() -> None:
    """Ask both and keep what differs."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        cluster = PostgresCluster(Path(folder) / "cluster")
        cluster.start()
        answers = answers_that_differ(cluster)
        syntax = syntax_that_differs(cluster)
        cluster.stop()
    write(DATA / "differences.json", answers)
    write(test_syntax.DIFFERENCES, syntax)


def answers_that_differ(cluster: PostgresCluster) -> dict[str, object]:
    """Return our answers to whole statements."""
    differences: dict[str, object] = {}
    with cluster.connect() as connection:
        for name in FILES:
            connection.execute(POSTGRES_TABLES)
            for statement in statements(name):
                ours = our_answer(statement)
                if ours != postgres_answer(connection, statement):
                    differences[statement] = ours
            connection.execute("ROLLBACK")
    return differences


def syntax_that_differs(cluster: PostgresCluster) -> dict[str, object]:
    """Return what our grammar alone says and PostgreSQL's does not."""
    differences: dict[str, object] = {}
    with test_syntax.failed_transaction(cluster) as connection:
        for name in test_syntax.FILES:
            for statement in test_syntax.statements(name):
                ours = test_syntax.our_answer(statement)
                if ours != test_syntax.postgres_answer(connection, statement):
                    differences[statement] = ours
    return differences


def write(path: Path, differences: Mapping[str, object]) -> None:
    """Write one difference per line."""
    lines = (f"{json.dumps(statement)}: {json.dumps(answer)}" for statement, answer in sorted(differences.items()))
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
