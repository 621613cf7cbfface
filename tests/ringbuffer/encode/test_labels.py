"""Labels to numbers in a kernel, and back as columns: as a dictionary would."""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from ringbuffer.decode.copy_formats import TextDecoder, TextFormat
from ringbuffer.decode.parameters import decode_parameters
from ringbuffer.encode.columns import binary_column, text_column
from ringbuffer.encode.output_forms import Forms
from ringbuffer.memory.columns import ColumnLayout, PhysicalType
from ringbuffer.memory.error_codes import INVALID_TEXT, RowError
from ringbuffer.memory.labels import Labels, label_family

WORDS = ["", "a", "b", "ab", "ba", "a longer label", "ünïcödé", "x" * 63, "x" * 62 + "y", "with\ttab", "NULL"]


def labels_of(source: random.Random, count: int) -> tuple[Labels, dict[str, int]]:
    texts = [*WORDS, *(f"label {number}" for number in range(count))]
    source.shuffle(texts)
    numbers = sorted(source.sample(range(-1000 * len(texts), 1000 * len(texts)), len(texts)))
    return Labels(17_000, numbers, texts), dict(zip(texts, numbers, strict=True))


def parameters(texts: list[str | None]) -> tuple[bytes, npt.NDArray[np.int64]]:
    block, starts = bytearray(), []
    for text in texts:
        starts.append(len(block))
        data = b"" if text is None else text.encode()
        block += (-1 if text is None else len(data)).to_bytes(4, "big", signed=True) + data
    return bytes(block), np.array(starts, dtype=np.int64)


@pytest.mark.parametrize("count", [0, 3, 500])
@pytest.mark.parametrize("binary", [0, 1])
def test_parameters_are_numbers_and_back(count: int, binary: int) -> None:
    source = random.Random(count)
    labels, known = labels_of(source, count)
    layout = (ColumnLayout("l", PhysicalType.INT64, labels=labels),)
    texts: list[str | None] = [source.choice([None, *known]) for _ in range(300)]
    morsel = decode_parameters(*parameters(texts), np.array([binary], dtype=np.int8), layout)
    expected = [None if text is None else known[text] for text in texts]
    found = pa.array(morsel.data[0], mask=morsel.nulls[0] != 0)
    assert found.to_pylist() == expected
    family = label_family(labels, is_array=False)
    for encoded in (text_column(found, family, Forms("UTC")), binary_column(found, family)):
        data = encoded.data.tobytes()
        shown = [data[encoded.ends[row] : encoded.ends[row + 1]].decode() for row in range(len(texts))]
        assert shown == [text or "" for text in texts]


def test_what_is_no_label_is_an_error() -> None:
    labels, known = labels_of(random.Random(1), 20)
    layout = (ColumnLayout("l", PhysicalType.INT64, labels=labels),)
    for text in ("nope", "A", "a ", "x" * 64, "label 20"):
        assert text not in known
        with pytest.raises(RowError) as raised:
            decode_parameters(*parameters(["a", text]), np.array([0], dtype=np.int8), layout)
        assert (raised.value.code, raised.value.row, raised.value.field) == (INVALID_TEXT, 1, text)


def test_copied_lines_plain_and_escaped() -> None:
    labels, known = labels_of(random.Random(2), 5)
    layout = (ColumnLayout("i", PhysicalType.INT32), ColumnLayout("l", PhysicalType.INT64, labels=labels))
    lines, expected = [], []
    for number in range(1000):
        text = list(known)[number % len(known)]
        escaped = text.replace("\t", "\\t")
        field = "\\N" if number % 7 == 0 else escaped
        lines.append(f"{number}\t{field}\n")
        expected.append(None if number % 7 == 0 else known[text])
    decoder = TextDecoder(layout, TextFormat("\t", "\\N", False), None, "UTC")
    morsels = [*decoder.feed("".join(lines).encode()), *decoder.finish()]
    found = [
        None if null else int(value)
        for morsel in morsels
        for value, null in zip(morsel.data[1].tolist(), morsel.nulls[1].tolist(), strict=True)
    ]
    assert found == expected
