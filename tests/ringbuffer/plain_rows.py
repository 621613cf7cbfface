"""Morsels to and from plain Python rows: the reference that ring and decoder tests compare with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ringbuffer.memory.columns import Layout, Morsel, PhysicalType, empty_column

Row = tuple[Any, ...]


def make_morsel(rows: Sequence[Row], layout: Layout) -> Morsel:
    """Return rows (text as str or bytes, numeric as the unscaled int, None for NULL) as a
    morsel.
    """
    heap = bytearray()
    data = [empty_column(column.physical, len(rows)) for column in layout]
    nulls = [np.zeros(len(rows), dtype=np.uint8) for _ in layout]
    for number, row in enumerate(rows):
        for index, (column, value) in enumerate(zip(layout, row, strict=True)):
            if value is None:
                nulls[index][number] = 1
            elif column.physical == PhysicalType.TEXT:
                content = value.encode() if isinstance(value, str) else value
                data[index][number] = string_words(content, len(heap))
                if len(content) > 12:
                    heap += content
            elif column.physical == PhysicalType.NUMERIC:
                data[index][number] = np.frombuffer(value.to_bytes(16, "little", signed=True), dtype=np.int64)
            else:
                data[index][number] = value
    return Morsel(len(rows), tuple(data), tuple(nulls), np.frombuffer(bytes(heap), dtype=np.uint8).copy())


def string_words(content: bytes, offset: int) -> tuple[int, int]:
    """Return the two words of a string whose long form would lie at `offset`."""
    first = int.from_bytes(len(content).to_bytes(4, "little") + content[:4].ljust(4, b"\0"), "little", signed=True)
    if len(content) > 12:
        return first, offset
    return first, int.from_bytes(content[4:].ljust(8, b"\0"), "little", signed=True)


def plain_rows(morsel: Morsel, layout: Layout) -> list[Row]:
    """Return a morsel's rows in the form of `make_morsel`; text as str. Asserts that NULLs have
    zero words.
    """
    columns = []
    for column, data, nulls in zip(layout, morsel.data, morsel.nulls, strict=True):
        assert data.shape[0] == nulls.shape[0] == morsel.rows_count
        columns.append(
            [plain_value(column.physical, data[row], nulls[row], morsel) for row in range(morsel.rows_count)]
        )
    return list(zip(*columns, strict=True))


def plain_value(physical: PhysicalType, value: Any, null: Any, morsel: Morsel) -> Any:
    if null:
        assert not np.any(value), value
        return None
    if physical == PhysicalType.TEXT:
        length = int(value[0]) & 0xFFFFFFFF
        head = value.tobytes()[4:16]
        if length <= 12:
            assert not any(head[length:]), "unused inline bytes must be zero"
            return head[:length].decode()
        content = morsel.heap[int(value[1]) : int(value[1]) + length].tobytes()
        assert content[:4] == head[:4] and len(content) == length
        return content.decode()
    if physical == PhysicalType.NUMERIC:
        return int.from_bytes(value.tobytes(), "little", signed=True)
    return bool(value) if physical == PhysicalType.BOOL else value.item()
