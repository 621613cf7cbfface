"""Parameters of which `make test` takes a share; `make test-long` takes the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def share(values: Iterable[Any], is_taken: Callable[[Any], bool]) -> list[Any]:
    """Return the parameters of a test: those that are not taken are marked long."""
    return [value if is_taken(value) else pytest.param(value, marks=pytest.mark.long) for value in values]
