"""The counts of the state of a view, for people and statistics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StateCounts:
    """How many rows, groups and tables a state has taken and has.

    Attributes:
        tuples_in: rows that came.
        tuples_passed: rows that the filters let through; with joins, matches.
        tuples_skipped: rows that were left out (on_error = skip).
        groups: groups that are merged.
        groups_waiting: groups in tables that are not merged.
        queue: tables of statements that wait.
        queue_most: tables of statements that have waited at most.
    """

    tuples_in: int
    tuples_passed: int
    tuples_skipped: int
    groups: int
    groups_waiting: int
    queue: int
    queue_most: int
