"""The digest of rows does not depend on how they are cut, but on each value and its place."""

from __future__ import annotations

import random
from typing import cast

import pyarrow as pa

from engine.commit.row_digests import digest_of
from engine.commit.staging import StatementStage
from engine.streams.stream import make_stream
from ringbuffer.memory.arrow import morsel_from_arrow
from ringbuffer.memory.columns import Morsel
from sql.catalog.catalog import ColumnDescription
from sql.types.datatypes import BOOL, FLOAT8, INT4, TEXT
from views.model.arrow_schema import stream_layout

SEED = 11
COLUMNS = (
    ColumnDescription("k", INT4),
    ColumnDescription("b", BOOL),
    ColumnDescription("f", FLOAT8),
    ColumnDescription("t", TEXT),
    ColumnDescription("u", TEXT),
)
SCHEMA = pa.schema([("k", pa.int32()), ("b", pa.bool_()), ("f", pa.float64()), ("t", pa.string()), ("u", pa.string())])
STREAMS = [make_stream(name, oid, COLUMNS, 1024) for name, oid in (("s", 20001), ("r", 20002))]
Row = dict[str, object]


class Staged:
    """The rows of one statement on one stream."""

    def __init__(self, stream: int, rows: list[Row]) -> None:
        self.stream, self._rows = STREAMS[stream], rows

    def morsels(self) -> list[Morsel]:
        return [morsel_from_arrow(pa.Table.from_pylist(self._rows, SCHEMA), stream_layout(COLUMNS))] * bool(self._rows)


def digest(*statements: Staged) -> bytes:
    return digest_of(cast(list[StatementStage], list(statements)))


def drawn(rng: random.Random) -> Row:
    texts = ("", "a", "twelve bytes", "more than twelve bytes", "ä" * 20, None)
    numbers = (0, 1, -1, None)
    chosen = (rng.choice(numbers), rng.choice((True, False, None)), rng.choice((0.5, -1e9, None)))
    return dict(zip(SCHEMA.names, (*chosen, rng.choice(texts), rng.choice(texts)), strict=True))


def test_any_cut_and_any_change() -> None:
    rng = random.Random(SEED)
    for _ in range(40):
        rows = [drawn(rng) for _ in range(rng.randrange(2, 30))]
        whole = digest(Staged(0, rows))
        cuts = sorted(rng.randrange(len(rows) + 1) for _ in range(3))
        pieces = [rows[start:end] for start, end in zip((0, *cuts), (*cuts, len(rows)), strict=True)]
        assert digest(*(Staged(0, piece) for piece in pieces)) == whole
        assert digest(Staged(1, rows)) != whole
        between = [Staged(0, rows[:1]), Staged(1, rows), Staged(0, rows[1:])]
        assert digest(*between) == digest(Staged(1, rows), Staged(0, rows)) != whole
        place, name = rng.randrange(len(rows)), rng.choice(SCHEMA.names)
        other = next(row for row in iter(lambda: drawn(rng), None) if row[name] != rows[place][name])
        changed = [*rows[:place], rows[place] | {name: other[name]}, *rows[place + 1 :]]
        assert digest(Staged(0, changed)) != whole
        assert digest(Staged(0, rows[:-1])) != whole and digest(Staged(0, [*rows, rows[-1]])) != whole
        swapped = [rows[1], rows[0], *rows[2:]]
        assert (digest(Staged(0, swapped)) == whole) == (swapped == rows)


def test_texts_are_not_what_adjoins_them() -> None:
    """The borders of texts count, and a NULL is no empty text."""
    pairs: list[tuple[object, object]] = [("ab", "c"), ("a", "bc"), ("abc", ""), ("abc", None)]
    found = set()
    for t, u in pairs:
        row = {"k": 1, "b": None, "f": None}
        found |= {digest(Staged(0, [row | {"t": t, "u": u}])), digest(Staged(0, [row | {"t": t}, row | {"t": u}]))}
    assert len(found) == 2 * len(pairs)
