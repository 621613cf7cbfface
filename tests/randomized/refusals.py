"""Refusals that the generators draw although Antumbra answers 0A000: the reasons, each with the
part of its message that names it.

A refusal that is not listed here fails the random test, and so do more of them than `SHARE_MAX` of
all statements.
"""

from __future__ import annotations

from collections import Counter

REASONS = {
    "COPY into a table without columns": "A row without columns has no place in an Arrow table.",
    "because continuous view": "A continuous view knows what its query reads by its name.",
    "JOIN that keeps a table's rows": "An outer join of a stream keeps the stream's rows only, below the grouping.",
    "over rows that are grouped before they are joined": "Rows of joined groups have no arrival, and equal values in them look alike.",
    "stream_join = retroactive for a join that can only be made with the stream's rows": "No key of the stream says which rows meet.",
    "stream_join = arrival for a join that has to be above the groups": "What a row meets can't be known of its group.",
}
SHARE_MAX = 0.02
PREFIX = "refused "


def unknown_refusals(histogram: Counter[str]) -> list[str]:
    """Return the messages of refusals that are not listed."""
    messages = [name for name in histogram if name.startswith(PREFIX)]
    return [message for message in messages if not any(reason in message for reason in REASONS)]
