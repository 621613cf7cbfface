"""Pages come back as they were, and no kind of damage goes unnoticed."""

from __future__ import annotations

import io
import random
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ringbuffer.pages import pages
from ringbuffer.pages.pages import CHECKSUM, CHUNK_BYTES, HEAD, PAGES_FORM, START, DamagedPagesError, Page

SEED = 8
DTYPES = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
END_BYTES = HEAD.size + CHECKSUM.size


def written(given: list[Page]) -> bytes:
    file = io.BytesIO()
    pages.write_pages(file.write, given)
    return file.getvalue()


def found(data: bytes) -> list[Page]:
    return list(pages.read_pages(io.BytesIO(data).read))


def assert_same(one: list[Page], other: list[Page]) -> None:
    assert [page.name for page in one] == [page.name for page in other]
    for a, b in zip(one, other, strict=True):
        assert a.array.dtype == b.array.dtype and a.array.shape == b.array.shape
        assert a.array.tobytes() == b.array.tobytes()
        assert b.array.flags.writeable and b.array.flags.c_contiguous and b.array.flags.aligned


def small_pages() -> list[Page]:
    return [
        Page("control", np.array([1, -2, 3], dtype=np.int64)),
        Page("", np.zeros(0, dtype=np.float32)),
        Page("rows of größe", np.arange(6, dtype=np.uint16).reshape(3, 2)),
        Page("heap", np.frombuffer(b"some bytes", dtype=np.uint8)),
    ]


def regions(given: list[Page]) -> Iterator[tuple[str, int, int]]:
    """Yield (page's name when its head is known to be good, start, end) of everything that has a
    boundary of its own.
    """
    at = 0
    parts = [("", START.size), ("", CHECKSUM.size)]
    for page in given:
        parts += [("", HEAD.size), ("", len(page.name.encode())), ("", CHECKSUM.size)]
        parts += [(page.name, page.array.nbytes), (page.name, CHECKSUM.size)]
    for name, size in [*parts, ("", HEAD.size), ("", CHECKSUM.size)]:
        yield name, at, at + size
        at += size


def test_round_trip() -> None:
    rng = np.random.default_rng(SEED)
    given = [Page("none", np.zeros((0, 7), dtype=np.int64)), Page("no columns", np.zeros((7, 0), dtype=np.int64))]
    for dtype in DTYPES:
        for shape in ((1,), (1000,), (33, 5), (1, 9)):
            content = rng.bytes(int(np.prod(shape)) * np.dtype(dtype).itemsize)
            given.append(Page(f"{dtype} {shape}", np.frombuffer(content, dtype=dtype).reshape(shape)))
    assert_same(given, found(written(given)))
    assert_same([], found(written([])))


def test_round_trip_of_what_takes_many_pieces() -> None:
    rng = np.random.default_rng(SEED)
    whole = rng.integers(0, 2**62, (3 * CHUNK_BYTES // 64 + 5, 9))
    arrays: list[npt.NDArray[Any]] = [
        whole, whole[::3], whole[:, 2:5], whole[:, 4], whole.T, whole[::-1], whole.reshape(-1)[: CHUNK_BYTES // 8],
        whole.reshape(-1)[: CHUNK_BYTES // 8 + 1],
    ]  # fmt: skip
    sizes: list[int] = []
    given = [Page(str(number), array) for number, array in enumerate(arrays)]
    pages.write_pages(lambda piece: sizes.append(len(piece)), given)
    assert max(sizes) <= max(CHUNK_BYTES, whole.T[:1].nbytes)
    assert_same(given, found(written(given)))


def test_reads_and_writes_page_by_page() -> None:
    file = io.BytesIO()
    sizes = []

    def some() -> Iterator[Page]:
        for page in small_pages():
            sizes.append(len(file.getvalue()))
            yield page

    pages.write_pages(file.write, some())
    assert sizes == sorted(set(sizes))
    file.seek(0)
    reader = pages.read_pages(file.read)
    assert next(reader).name == "control"
    assert file.tell() == sizes[1]


def test_every_flipped_bit_is_noticed() -> None:
    given = small_pages()
    data = written(given)
    for name, start, end in regions(given):
        for bit in range(8 * start, 8 * end):
            damaged = bytearray(data)
            damaged[bit // 8] ^= 1 << bit % 8
            with pytest.raises(DamagedPagesError) as caught:
                found(bytes(damaged))
            assert caught.value.name == name, (start, end, bit)
            # A page whose head is good is told from where its array begins.
            assert not name or caught.value.offset <= start


def test_every_truncation_is_noticed() -> None:
    given = small_pages()
    data = written(given)
    boundaries = {start for _, start, _ in regions(given)}
    assert boundaries <= set(range(len(data)))
    for end in range(len(data)):
        with pytest.raises(DamagedPagesError, match="too early") as caught:
            found(data[:end])
        assert caught.value.offset == end


def test_pages_before_the_damage_were_good() -> None:
    given = small_pages()
    data = bytearray(written(given))
    data[-END_BYTES - 8] ^= 1
    reader = pages.read_pages(io.BytesIO(bytes(data)).read)
    assert_same(given[:3], [next(reader) for _ in range(3)])
    with pytest.raises(DamagedPagesError, match=r'page "heap" at byte .* checksum'):
        next(reader)


def test_missing_end_mark_missing_page_and_more_behind_it() -> None:
    given = small_pages()
    data = written(given)
    with pytest.raises(DamagedPagesError, match="too early"):
        found(data[:-END_BYTES])
    with pytest.raises(DamagedPagesError, match="neither"):
        found(data[:-END_BYTES] + bytes(4096))
    with pytest.raises(DamagedPagesError, match="behind the end mark"):
        found(data + b"\0")
    for number in range(len(given)):
        starts = [start for _, start, _ in regions(given)][2 + 5 * number :: 5]
        with pytest.raises(DamagedPagesError, match="was expected"):
            found(data[: starts[0]] + data[starts[1] :])
        with pytest.raises(DamagedPagesError, match="was expected"):
            found(data[: starts[1]] + data[starts[0] :])


def test_random_damage() -> None:
    rng = random.Random(SEED)
    data = written(small_pages())
    for _ in range(2000):
        damaged = bytearray(data)
        for _ in range(rng.choice((1, 2, 8))):
            at = rng.randrange(len(damaged))
            damaged[at : at + rng.choice((0, 1, 8, 40))] = rng.choice((b"", bytes(8), rng.randbytes(rng.randrange(40))))
        if damaged != data:
            with pytest.raises(DamagedPagesError):
                found(bytes(damaged))


@pytest.mark.parametrize("data", [b"", b"PK\3\4 something else altogether", bytes(4096)])
def test_other_files_are_not_pages(data: bytes) -> None:
    with pytest.raises(DamagedPagesError):
        found(data)


def test_another_form_is_named() -> None:
    start = START.pack(pages.MAGIC, PAGES_FORM + 1)
    with pytest.raises(DamagedPagesError, match=f"of form {PAGES_FORM + 1}; this server reads form {PAGES_FORM}"):
        found(start + CHECKSUM.pack(zlib.crc32(start)))


def test_form_1_stays_what_it_is() -> None:
    """Bytes as they are on disks; another form needs another PAGES_FORM."""
    start = b"APGS" + struct.pack("<I", 1)
    head = b"PAGE" + struct.pack("<IH2sIQQ", 0, 1, b"i4", 2, 1, 2) + b"n"
    array = struct.pack("<2i", 5, -6)
    end = b"PEND" + struct.pack("<IH2sIQQ", 1, 0, bytes(2), 0, 0, 0)
    expected = b"".join(part + struct.pack("<I", zlib.crc32(part)) for part in (start, head, array, end))
    assert written([Page("n", np.array([[5, -6]], dtype=np.int32))]) == expected


@pytest.mark.parametrize("dtype", ["bool", "datetime64[us]", ">i8", "object", "float16", "complex128"])
def test_only_numbers_are_pages(dtype: str) -> None:
    with pytest.raises(AssertionError):
        written([Page("n", np.zeros(3, dtype=dtype))])
    with pytest.raises(AssertionError):
        written([Page("n", np.zeros((1, 1, 1)))])
