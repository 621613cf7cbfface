"""A cache of encoded answers, each valid until something changes that the answer depends on.

Enters: a function that encodes an answer, with the versions of views and tables that it was made
from. Leaves: its bytes, while a new run would give the same. Must not know sessions or the
protocol.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from engine.catalog.image import TableData
from engine.commit.transaction import Transaction
from views.upkeep.chain import Chain
from views.upkeep.cuts import Version

if TYPE_CHECKING:
    from engine.catalog.image import CatalogImage

ViewVersions = tuple[tuple[Chain, Version], ...]
TableVersions = tuple[tuple[TableData, int], ...]

KEPT_ANSWERS_MAX = 256
# Of an Arrow table whose answer is worth keeping.
KEPT_ANSWER_BYTES_MAX = 1 << 20


@dataclass(frozen=True)
class KeptAnswer:
    """An answer, and the versions of views and tables for which it is right.

    Attributes:
        encode: returns the bytes of the answer.
    """

    image_version: int
    versions: ViewVersions
    tables: TableVersions
    encode: Callable[[], bytes]

    @cached_property
    def data(self) -> bytes:
        """The encoded answer, encoded when it is first asked for again: most texts come only
        once.
        """
        return self.encode()

    def holds(self, image: CatalogImage) -> bool:
        """True while the answer is what a new run would give."""
        if image.version != self.image_version:
            return False
        for view, version in self.versions:
            if view.committed != version.position:
                return False
        for data, number in self.tables:
            if data.committed != number:
                return False
        return True


class KeptAnswers:
    """The cache of one database: answers by (text, settings that shape them). Thread-safe.

    The least recently used answer is dropped first.
    """

    def __init__(self) -> None:
        self._answers: OrderedDict[object, KeptAnswer] = OrderedDict()
        self._lock = threading.Lock()

    def reads(self, key: object) -> bool:
        """Tell whether the cache has an answer that was made from views or tables."""
        answer = self._answers.get(key)
        return answer is not None and bool(answer.versions or answer.tables)

    def find(self, key: object, image: CatalogImage, transaction: Transaction | None) -> bytes | None:
        """Return the encoded answer if it is right, also for what an open transaction has seen."""
        answer = self._answers.get(key)
        if answer is None:
            return None
        if transaction is not None:
            if transaction.snapshot is not None or transaction.image is not None or answer.tables:
                return None
            if not agrees(transaction, answer.versions):
                return None
        if self.holding(key, image) is None:
            return None
        if transaction is not None:
            note(transaction, answer.versions)
        return answer.data

    def holding(self, key: object, image: CatalogImage) -> KeptAnswer | None:
        """Return the answer if it is right for what is committed."""
        answer = self._answers.get(key)
        if answer is not None and not answer.holds(image):
            with self._lock:
                self._answers.pop(key, None)
            return None
        return answer

    def forget(self, image: CatalogImage) -> None:
        """Drop the answers of older catalogs, and with them those of views that were dropped."""
        with self._lock:
            for key in [key for key, answer in self._answers.items() if answer.image_version != image.version]:
                del self._answers[key]

    def keep(self, key: object, answer: KeptAnswer) -> None:
        """Keep an answer, which is at most KEPT_ANSWER_BYTES_MAX bytes."""
        with self._lock:
            self._answers[key] = answer
            self._answers.move_to_end(key)
            if len(self._answers) > KEPT_ANSWERS_MAX:
                self._answers.popitem(last=False)


def agrees(transaction: Transaction, versions: ViewVersions) -> bool:
    """Tell whether the transaction sees these versions."""
    if transaction.pins is not None:
        return all(transaction.pins.stored(view) is version for view, version in versions)
    if not transaction.versions:
        return True
    known = dict(transaction.versions.values())
    return all(known.get(view, version) is version for view, version in versions)


def note(transaction: Transaction, versions: ViewVersions) -> None:
    """Note the versions that the transaction has read."""
    for view, version in versions:
        transaction.versions[view.name] = (view, version)
