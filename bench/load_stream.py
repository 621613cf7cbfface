"""The stream and the views of the load test.

Must not import locust, which changes sockets for the whole process.
"""

from __future__ import annotations

import psycopg

KEYS_COUNT = 100

RANKING = (
    "SELECT key, total, rank() OVER (ORDER BY total DESC, key) AS place "
    "FROM (SELECT key, sum(amount) AS total FROM load_events GROUP BY key) AS totals"
)
SETUP = (
    "DROP FOREIGN TABLE IF EXISTS load_events CASCADE",
    "CREATE FOREIGN TABLE load_events (key integer, amount numeric(12,2), label text) SERVER stream",
    "CREATE VIEW load_per_key AS SELECT key, count(*) AS events, sum(amount) AS total FROM load_events GROUP BY key",
    f"CREATE VIEW load_ranking AS {RANKING}",
)
COUNT = "SELECT coalesce(sum(events), 0) FROM load_per_key"


def create_load_stream(dsn: str) -> None:
    """Make the stream and its views anew, and read each view once, so that what is compiled or
    started at first use is there.
    """
    with psycopg.connect(dsn, autocommit=True) as connection:
        for statement in SETUP:
            connection.execute(statement.encode())
        for view in ("load_per_key", "load_ranking"):
            connection.execute(f"SELECT * FROM {view}".encode())
