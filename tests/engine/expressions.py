"""The expressions and queries of `expressions.txt`."""

from __future__ import annotations

from pathlib import Path

SOURCE = Path(__file__).with_name("expressions.txt")
QUERIES = "queries"


def sections() -> dict[str, list[str]]:
    """Return the lines of each section."""
    found: dict[str, list[str]] = {}
    for line in SOURCE.read_text().splitlines():
        if line.startswith("["):
            found[line.strip("[]")] = []
        elif line and not line.startswith("#"):
            list(found.values())[-1].append(line)
    return found


def expressions(topic: str) -> list[str]:
    """Return the expressions of a topic."""
    return [part.strip() for line in sections()[topic] for part in line.split(" | ")]


def queries() -> list[str]:
    """Return the queries."""
    return sections()[QUERIES]


TOPICS = tuple(topic for topic in sections() if topic != QUERIES)
