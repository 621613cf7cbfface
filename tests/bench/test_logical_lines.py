"""Logical lines as they are counted, and the rooms that files belong to."""

from __future__ import annotations

import pytest

from bench import logical_lines as counting
from bench.logical_lines import logical_lines, room_of, rooms

MODULE = '''"""A docstring."""

import os


class Two:
    """Another one."""

    lines = (
        1,
        2,
    )


def four(number: int) -> int:
    # A comment.
    if number:
        return 1; print()
    return os.cpu_count() or 0
'''


def test_statements_are_counted_and_nothing_else() -> None:
    # class, lines; def, if, return, print, return
    assert logical_lines(MODULE) == 7
    assert logical_lines("") == 0


def test_every_room_has_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    assert room_of("engine/statements/select.py") == "engine/statements"
    monkeypatch.setattr(counting, "PACKAGES", ("ringbuffer/ring", "views/share"))
    found = rooms()
    assert set(found) == {"ringbuffer/ring", "views/share"} and min(found.values()) > 100
