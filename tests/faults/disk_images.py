"""Files and folders as a power loss may leave them: a durable image each, and the changes since.

Enters: changes, completed and failed syncs, a source of chance. Leaves: contents and names as a
running program sees them, and as the next start may find them. Must not know paths, events or
failures.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from random import Random

CUTS_MAX = 8


@dataclass
class Change:
    """Part of a history. is_doubtful: a sync that failed was to make it durable."""

    is_durable: bool = field(default=False, init=False)
    is_doubtful: bool = field(default=False, init=False)


@dataclass
class Write(Change):
    """Bytes at a position."""

    position: int
    data: bytes

    def apply(self, content: bytearray) -> None:
        end = self.position + len(self.data)
        extend(content, end)
        content[self.position : end] = self.data

    def apply_partly(self, content: bytearray, chance: Random) -> None:
        end = self.position + len(self.data)
        if chance.random() < 0.5:
            # The new size is metadata, which can be there before the bytes are, in several steps.
            extend(content, chance.randint(min(len(content), end), end))
        for start, stop in surviving_ranges(len(self.data), chance):
            extend(content, self.position + stop)
            content[self.position + start : self.position + stop] = self.data[start:stop]


@dataclass
class Truncation(Change):
    """A new size."""

    size: int

    def apply(self, content: bytearray) -> None:
        extend(content, self.size)
        del content[self.size :]

    def apply_partly(self, content: bytearray, chance: Random) -> None:
        if chance.random() < 0.5:
            self.apply(content)


def extend(content: bytearray, size: int) -> None:
    """Add zeros up to `size`."""
    content.extend(bytes(max(size - len(content), 0)))


def surviving_ranges(size: int, chance: Random) -> list[tuple[int, int]]:
    """Return which bytes of a write are there after all."""
    kind = chance.randrange(4)
    if kind == 0:
        return []
    if kind == 1:
        return [(0, size)]
    if kind == 2:
        return [(0, chance.randrange(size + 1))]
    cuts = sorted({0, size, *(chance.randrange(size) for _ in range(chance.randint(1, CUTS_MAX)))})
    return [(start, stop) for start, stop in itertools.pairwise(cuts) if chance.random() < 0.5]


class Contents:
    """Return what is in a file, whatever its names are. now: as a running program reads it."""

    def __init__(self, data: bytes = b"") -> None:
        self.now = bytearray(data)
        self._durable = bytearray(data)
        self._history: list[Write | Truncation] = []

    def change(self, change: Write | Truncation) -> None:
        """Do something that no sync has covered yet."""
        if isinstance(change, Write) and not change.data:
            return
        change.apply(self.now)
        self._history.append(change)

    def sync(self) -> None:
        """Make all changes durable that no failed sync has left in doubt."""
        settle(self._history)
        while self._history and self._history[0].is_durable:
            self._history.pop(0).apply(self._durable)

    def fail_to_sync(self) -> None:
        """Leave all that is not durable in doubt."""
        doubt(self._history)

    def after_power_loss(self, chance: Random) -> bytes:
        """Return what the next start finds."""
        content = bytearray(self._durable)
        for change in self._history:
            if change.is_durable:
                change.apply(content)
            else:
                change.apply_partly(content, chance)
        return bytes(content)


@dataclass
class Naming(Change):
    """A file has got a name, another name, or none. It has one at most, so that all of it is one
    step.
    """

    contents: Contents
    name: str | None

    def apply(self, found: dict[str, Contents]) -> None:
        for name in [name for name, contents in found.items() if contents is self.contents]:
            del found[name]
        if self.name is not None:
            found[self.name] = self.contents


class Folder:
    """The names in a folder. now: as a running program finds them."""

    def __init__(self, names: dict[str, Contents] | None = None) -> None:
        self.now = dict(names or {})
        self._durable = dict(self.now)
        self._history: list[Naming] = []

    def name(self, contents: Contents, name: str | None) -> None:
        """Give a file its name, in place of the one it has and of the file that has it; no sync has
        covered that yet.
        """
        naming = Naming(contents, name)
        naming.apply(self.now)
        self._history.append(naming)

    def sync(self) -> None:
        """Make all changes durable that no failed sync has left in doubt."""
        settle(self._history)
        while self._history and self._history[0].is_durable:
            self._history.pop(0).apply(self._durable)

    def fail_to_sync(self) -> None:
        """Leave all that is not durable in doubt."""
        doubt(self._history)

    def after_power_loss(self, chance: Random) -> dict[str, Contents]:
        """Return the names that the next start finds."""
        found = dict(self._durable)
        for is_durable, namings in itertools.groupby(self._history, lambda naming: naming.is_durable):
            for naming in (
                namings if is_durable else in_any_order([one for one in namings if chance.random() < 0.5], chance)
            ):
                naming.apply(found)
        return found


def in_any_order(namings: list[Naming], chance: Random) -> list[Naming]:
    """Return the namings so that only those of the same file are in their order."""
    places = [id(naming.contents) for naming in namings]
    chance.shuffle(places)
    waiting = {place: [naming for naming in namings if id(naming.contents) == place] for place in places}
    return [waiting[place].pop(0) for place in places]


def settle(history: list[Write | Truncation] | list[Naming]) -> None:
    """Mark as durable what is not in doubt."""
    for change in history:
        change.is_durable = change.is_durable or not change.is_doubtful


def doubt(history: list[Write | Truncation] | list[Naming]) -> None:
    """Mark what is not durable as doubtful."""
    for change in history:
        change.is_doubtful = change.is_doubtful or not change.is_durable
