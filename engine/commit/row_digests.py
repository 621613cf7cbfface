"""The digest of the rows of a transaction: equal for the same rows in the same order, by stream,
however they have come.

Enters: staged statements. Leaves: DIGEST_BYTES bytes. Each column is hashed by itself, its values
one after the other, so that neither the borders of morsels nor those of statements count. What a
statement does not give in a retry as it did before is left out: the columns whose defaults are no
constants. So are columns that are NULL in all rows, for they may have been added in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from engine.commit.staging import StatementStage
from engine.log.batches import DIGEST_BYTES
from engine.streams.stream import Stream
from ringbuffer.memory.columns import LENGTH_MASK, Morsel, PhysicalType
from ringbuffer.memory.strings import string_bytes, string_offsets
from sql.catalog.catalog import ARRIVAL
from sql.functions.volatility import is_constant


def digest_of(stages: Sequence[StatementStage]) -> bytes:
    """Return the digest of the rows of all statements."""
    found: dict[int, RowDigest] = {}
    for stage in stages:
        digest = found.setdefault(stage.stream.oid, RowDigest())
        for morsel in stage.morsels():
            digest.add(stage.stream, morsel)
    whole = blake2b(digest_size=DIGEST_BYTES)
    for oid, digest in sorted(found.items()):
        whole.update(oid.to_bytes(8, "little") + digest.to_bytes())
    return whole.digest()


class RowDigest:
    """The digest of the rows of one stream."""

    def __init__(self) -> None:
        self._rows_count = 0
        # By number of the column.
        self._columns: dict[int, ColumnDigest] = {}

    def add(self, stream: Stream, morsel: Morsel) -> None:
        """Go on with whole rows."""
        self._rows_count += morsel.rows_count
        columns = zip((*stream.stored, ARRIVAL), stream.row_layout, morsel.data, morsel.nulls, strict=False)
        for column, layout, data, nulls in columns:
            if column.default is None or is_constant(column.default):
                digest = self._columns.setdefault(column.number, ColumnDigest())
                digest.add(data, nulls, morsel.heap if layout.physical == PhysicalType.TEXT else None)

    def to_bytes(self) -> bytes:
        """Return the digest of all columns that have a value."""
        parts = [
            number.to_bytes(4, "little") + one.to_bytes() for number, one in self._columns.items() if one.has_values
        ]
        return self._rows_count.to_bytes(8, "little") + b"".join(sorted(parts))


class ColumnDigest:
    """The digest of one column. has_values: true once a value is not NULL."""

    def __init__(self) -> None:
        self.has_values = False
        # Which values are NULL; the words, or lengths of texts; the bytes of texts.
        self._hashes = [blake2b(digest_size=DIGEST_BYTES) for _ in range(3)]

    def add(self, data: Any, nulls: Any, heap: Any) -> None:
        """Go on with values in the form of `ringbuffer.memory.columns`. heap: of texts."""
        of_nulls, of_words, of_bytes = self._hashes
        of_nulls.update(nulls.tobytes())
        self.has_values = self.has_values or not nulls.all()
        if heap is None:
            of_words.update(data.tobytes())
            return
        words = np.ascontiguousarray(data)
        of_words.update((words[:, 0] & LENGTH_MASK).tobytes())
        offsets = np.empty(len(words) + 1, dtype=np.int32)
        content = np.empty(string_offsets(words, offsets), dtype=np.uint8)
        string_bytes(words, heap, offsets, content)
        of_bytes.update(content.tobytes())

    def to_bytes(self) -> bytes:
        """Return the digest of the values."""
        return b"".join(one.digest() for one in self._hashes)
