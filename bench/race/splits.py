"""A query over a stream in two, for peers that have no continuous views: what it groups of the rows
as they come, and what is above these groups.

Leaves: the SQL of both halves; ClickHouse keeps the groups by a materialized view, whose rows of
one key are merged when they are read, and Spark by a memory sink.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bench.race.peers import Peer


@dataclass(frozen=True, slots=True)
class Split:
    """A query in two.

    keys: of its groups; aggregates: sums and largest values by their names; stream, where: which
    rows count; above: the query over {groups}.
    """

    stream: str
    keys: str
    aggregates: Mapping[str, str]
    where: str
    above: str

    @property
    def groups(self) -> str:
        """The query of the groups."""
        columns = [*filter(None, [self.keys]), *(f"{text} AS {name}" for name, text in self.aggregates.items())]
        return f"SELECT {', '.join(columns)} FROM {self.stream} WHERE {self.where}{self.by}"

    def merged(self, table: str) -> str:
        """Return the query that merges the rows of one key."""
        functions = {name: text.partition("(")[0] for name, text in self.aggregates.items()}
        columns = [*filter(None, [self.keys]), *(f"{f}({table}.{name}) AS {name}" for name, f in functions.items())]
        return f"(SELECT {', '.join(columns)} FROM {table}{self.by})"

    @property
    def by(self) -> str:
        """The GROUP BY, if there are keys."""
        return f" GROUP BY {self.keys}" if self.keys else ""

    def over(self, table: str) -> str:
        """Return the query over a table that has one row per key."""
        return self.above.format(groups=table)

    def over_parts(self, table: str) -> str:
        """Return the query over a table that has several rows per key."""
        return self.over(self.merged(table))


def make_clickhouse_view(peer: Peer, name: str, split: Split) -> None:
    """Make the materialized view of a query's groups."""
    query = re.sub(r"\b(sum|max)\((?=.* AS )", r"\1SimpleState(", split.groups)
    engine = f"AggregatingMergeTree ORDER BY ({split.keys or 'tuple()'})"
    peer.ask("run", f"CREATE MATERIALIZED VIEW {name} ENGINE = {engine} AS {query}")
