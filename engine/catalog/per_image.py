"""A value that was made for one image of the catalog, and goes with it.

Enters: images, values. Leaves: the value, for that image alone. The image is held weakly: what a
session keeps between its statements holds no relation that others have dropped meanwhile.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class PerImage(Generic[Value]):
    """At most one value, which must not hold its image itself."""

    __slots__ = ("_cell", "_image")

    def __init__(self) -> None:
        self._image: Callable[[], object | None] = nothing
        self._cell: list[Value] = []

    @property
    def image(self) -> Any:
        """The image of the value; None: there is no value, or the image is gone."""
        return self._image()

    def find(self, image: object) -> Value | None:
        """Return the value if it was made for this image."""
        return self._cell[0] if self._image() is image else None

    def keep(self, image: object, value: Value) -> Value:
        """Return the value, which takes the place of the one before."""
        cell = [value]
        self._cell, self._image = cell, weakref.ref(image, lambda _: cell.clear())
        return value

    def forget(self) -> None:
        """Let go of the value."""
        self._image, self._cell = nothing, []


def nothing() -> None:
    """Return no image."""
