"""Answering a SELECT: bind once per text, cut the views it reads, run it on their stored versions, and keep small unchanged answers.

Enters: a bound query. Leaves: an `Outcome`. An answer is reused only while every version it was made from is still the newest cut and
nothing in the query depends on time. Must not know the protocol.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.catalog import ViewEntry
from engine.results import Outcome, encode, row_description
from sql.bind.substitute import substitute_now, substitute_parameters
from sql.expressions import Literal
from sql.relations import BoundQuery
from sql.settings import Settings
from sql.wire import writer
from views.refresh import Reader
from views.view import ContinuousView, Version

if TYPE_CHECKING:
    from engine.catalog import CatalogImage
    from engine.database import Database

KEPT_ANSWERS_MAX = 256
KEPT_ANSWER_BYTES_MAX = 1 << 20


@dataclass(frozen=True)
class KeptAnswer:
    """An encoded answer and the view versions that it holds for."""

    image_version: int
    versions: tuple[tuple[ContinuousView, Version], ...]
    data: bytes

    def holds(self, image: CatalogImage) -> bool:
        """True while the answer is what a new run would give."""
        return image.version == self.image_version and all(
            view.committed == version.position for view, version in self.versions
        )


class KeptAnswers:
    """Encoded answers by (text, settings that shape them), least recently used out first. One per database; thread-safe."""

    def __init__(self) -> None:
        self._answers: OrderedDict[object, KeptAnswer] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: object, image: CatalogImage) -> bytes | None:
        """Return the encoded answer if it still holds."""
        answer = self._answers.get(key)
        if answer is None:
            return None
        if not answer.holds(image):
            with self._lock:
                self._answers.pop(key, None)
            return None
        return answer.data

    def forget(self, image: CatalogImage) -> None:
        """Let go of the answers of older catalogs, and with them of views that were dropped."""
        with self._lock:
            for key in [key for key, answer in self._answers.items() if answer.image_version != image.version]:
                del self._answers[key]

    def keep(self, key: object, answer: KeptAnswer) -> None:
        """Keep an answer, if it is small."""
        if len(answer.data) > KEPT_ANSWER_BYTES_MAX:
            return
        with self._lock:
            self._answers[key] = answer
            self._answers.move_to_end(key)
            if len(self._answers) > KEPT_ANSWERS_MAX:
                self._answers.popitem(last=False)


def answer_key(text: str, formats: tuple[int, ...], settings: Settings, described: bool) -> object:
    """Return what an encoded answer depends on besides the data; described: RowDescription was sent already."""
    return (text, formats, settings.captured(), described)


def keep(answers: KeptAnswers, text: str, image: CatalogImage, reading: Reading, settings: Settings) -> None:
    """Keep the answer of a SELECT, encoded for both protocols, unless it is large or depends on the time."""
    outcome = reading.outcome
    if (
        not reading.reusable
        or outcome.table is None
        or outcome.schema is None
        or outcome.table.nbytes > KEPT_ANSWER_BYTES_MAX
    ):
        return
    rows, _ = encode(outcome.table, outcome.schema, (), settings.time_zone)
    end = writer.command_complete(f"SELECT {outcome.table.num_rows}")
    simple = row_description(outcome.schema, ()) + rows + end
    answers.keep(answer_key(text, (), settings, described=False), KeptAnswer(image.version, reading.versions, simple))
    formats = (0,) * len(outcome.schema)
    answers.keep(
        answer_key(text, formats, settings, described=True), KeptAnswer(image.version, reading.versions, rows + end)
    )


@dataclass
class Reading:
    """The outcome of a SELECT and the versions that it read. reusable: nothing in it or in a view above depends on the time."""

    outcome: Outcome
    versions: tuple[tuple[ContinuousView, Version], ...]
    reusable: bool


def read(
    database: Database,
    image: CatalogImage,
    bound: BoundQuery,
    parameters: tuple[Literal, ...],
    reader: Reader,
    token: object,
) -> Reading:
    """Run a bound query; blocks, so call it on a worker thread. Raises SqlError."""
    versions = database.cut(image, bound.relations, reader)
    reader.check_cancelled()
    root = bound.root
    if parameters:
        root = substitute_parameters(root, parameters)
    if bound.stable:
        root = substitute_now(root, reader.now_us)
    table = database.answer(root, versions, token)
    read_views = []
    for name, version in versions.items():
        entry = image.entries[name]
        assert isinstance(entry, ViewEntry)
        read_views.append((entry.view, version))
    reusable = not bound.stable and not any(view.time_dependent for view, _ in read_views)
    return Reading(Outcome("SELECT #", bound.root.schema, table), tuple(read_views), reusable)
