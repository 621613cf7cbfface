"""Fixtures that tests of views share."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture
def many_switches() -> Iterator[None]:
    """Let threads take turns every few bytecodes."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)
