"""A choice between two values without a branch in the code that makes it."""

from __future__ import annotations

from typing import Any

from ringbuffer.compile.jit import kernel


@kernel
def select(condition: bool, value: Any, other: Any) -> Any:
    """Return `value` if `condition` is true, else `other`, which is of its type."""
    return value if condition else other
