"""The walk over all nodes of a syntax tree, of whatever kind."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any


def nodes(value: Any) -> Iterator[Any]:
    """Yield a syntax tree's nodes."""
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack.extend(node)
        elif dataclasses.is_dataclass(node):
            yield node
            stack.extend(getattr(node, field.name) for field in dataclasses.fields(node))
