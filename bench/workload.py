"""The streams of the benchmarks: events of 1,000 keys, the stream or table for them, and the views
attached.

Seeded, so every run is the same.

Leaves: SQL and bytes of COPY text. Must not connect to anything.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

KEYS_COUNT = 1000
SEED = 20_261_120

# Options of a server whose views need no Spark, and which is to be alone on its cores.
NO_SPARK = ("--set", "spark_preload=off")
# Options of a server whose views wait for Spark, however few groups they have.
WITH_SPARK = ("--set", "cold_upper_groups=0")

COLUMNS = "key integer, amount numeric(12,2), weight double precision, label text, taken timestamp"
CREATE_STREAM = f"CREATE FOREIGN TABLE events ({COLUMNS}) SERVER stream"
COPY_EVENTS = "COPY events FROM STDIN"

# The grouped view that is attached whenever events are written.
GROUPED_QUERY = "SELECT key, count(*) AS events, sum(amount) AS total, max(taken) AS latest FROM events GROUP BY key"
CREATE_GROUPED_VIEW = f"CREATE VIEW per_key AS {GROUPED_QUERY}"

# A window above the grouping is a breaker, so all groups travel to Spark and back.
RANKED_QUERY = f"SELECT key, events, total, rank() OVER (ORDER BY total DESC) AS place FROM ({GROUPED_QUERY}) AS groups"

# A view of as many groups as there are visits.
CREATE_VISITS = "CREATE FOREIGN TABLE visits (visitor bigint, amount numeric(12,2)) SERVER stream"
CREATE_VISITORS_VIEW = (
    "CREATE VIEW per_visitor AS SELECT visitor, count(*) AS events, sum(amount) AS total FROM visits GROUP BY visitor"
)
COPY_VISITS = "COPY visits FROM STDIN"
VISITS_AT_ONCE = 500_000

INSERT_SCRIPT = r"""\set key random(0, 999)
\set cents random(100, 999)
INSERT INTO events VALUES (:key, :cents, 1.5, 'a label', '2026-05-01 12:00:00');
"""


def copy_text(rows_count: int) -> bytes:
    """Return `rows_count` events as COPY text."""
    chance = random.Random(SEED)
    lines = []
    for row in range(rows_count):
        key = chance.randrange(KEYS_COUNT)
        amount = f"{chance.randrange(100_000_000) / 100:.2f}"
        label = chance.choice(("north", "south", "a somewhat longer label", "\\N"))
        second = row % 86_400
        taken = f"2026-05-01 {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
        lines.append(f"{key}\t{amount}\t{chance.random() * 100:.4f}\t{label}\t{taken}\n")
    return "".join(lines).encode()


def visits_text(visits_count: int) -> Iterator[bytes]:
    """Yield visits of as many visitors as COPY text, some at a time."""
    for start in range(0, visits_count, VISITS_AT_ONCE):
        visitors = range(start, min(start + VISITS_AT_ONCE, visits_count))
        yield "".join(f"{visitor * 7_919}\t{visitor % 1000}.50\n" for visitor in visitors).encode()
