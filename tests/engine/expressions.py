"""The expressions and queries of `expressions.txt`, which both engines answer, and of
`functions.txt`, some of which Spark does not.
"""

from __future__ import annotations

from pathlib import Path

SOURCE = Path(__file__).with_name("expressions.txt")
FUNCTIONS = Path(__file__).with_name("functions.txt")
QUERIES = "queries"


def sections(source: Path = SOURCE) -> dict[str, list[str]]:
    """Return the lines of each section."""
    found: dict[str, list[str]] = {}
    for line in source.read_text().splitlines():
        if line.startswith("["):
            found[line.strip("[]")] = []
        elif line and not line.startswith("#"):
            list(found.values())[-1].append(line)
    return found


def expressions(topic: str, source: Path = SOURCE) -> list[str]:
    """Return the expressions of a topic."""
    return [part.strip() for line in sections(source)[topic] for part in line.split(" | ")]


def queries(source: Path = SOURCE) -> list[str]:
    """Return the queries."""
    return sections(source)[QUERIES]


TOPICS = tuple(topic for topic in sections() if topic != QUERIES)
FUNCTION_TOPICS = tuple(topic for topic in sections(FUNCTIONS) if topic != QUERIES)
