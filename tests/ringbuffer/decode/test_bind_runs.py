"""Runs of Binds in bytes, against a model that takes the messages apart one by one."""

from __future__ import annotations

import random
import struct

import pytest

from ringbuffer.decode.bind_runs import HEADS_MAX, find_binds
from tests.sql.wire.frames import bind, frame

EXECUTE = frame(b"E", b"\0\0\0\0\0")
DESCRIBE = frame(b"D", b"P\0")

Found = tuple[list[list[int]], list[int], int, bool]


def int16(data: bytes, at: int) -> int:
    return int(struct.unpack_from("!h", data, at)[0])


def int32(data: bytes, at: int) -> int:
    return int(struct.unpack_from("!i", data, at)[0])


def parts_of(body: bytes) -> tuple[bytes, bytes, int, bytes] | None:
    """Return name, formats, place of the values and tail of a Bind of the unnamed portal."""
    try:
        if body[0] != 0:
            return None
        name_end = body.index(0, 1)
        formats_count = int16(body, name_end + 1)
        values = name_end + 5 + 2 * formats_count
        at = values
        if formats_count < 0 or int16(body, values - 2) < 0:
            return None
        for _ in range(int16(body, values - 2)):
            if int32(body, at) < -1:
                return None
            at += 4 + max(int32(body, at), 0)
    except (ValueError, IndexError, struct.error):
        return None
    return (body[1:name_end], body[name_end:values], values, body[at:]) if at + 2 <= len(body) else None


def model(data: bytes, offset: int) -> Found | None:
    """Return the places of the rows, the first row of each head, the run's length, and whether it
    is described.
    """
    at, like = offset, None
    rows: list[list[int]] = []
    heads: dict[tuple[bytes, bytes], int] = {}
    while at + 5 <= len(data) and data[at : at + 1] == b"B":
        end = at + 1 + int32(data, at + 1)
        parts = parts_of(data[at + 5 : end]) if at + 9 <= end <= len(data) else None
        if parts is None:
            break
        name, formats, values, tail = parts
        is_described = data[end : end + 7] == DESCRIBE
        like = like or (tail, is_described)
        end += 7 * is_described
        execute = data[end : end + 10]
        if like != (tail, is_described) or len(execute) < 10 or execute[:6] != EXECUTE[:6]:
            break
        if len(heads) == HEADS_MAX and (name, formats) not in heads:
            break
        heads.setdefault((name, formats), len(rows))
        rows.append([at - offset, at - offset + 5 + values, list(heads).index((name, formats))])
        at = end + 10
    if len(rows) < 2 or like is None:
        return None
    return rows, list(heads.values()), at - offset, like[1]


def found(data: bytes, offset: int) -> Found | None:
    run = find_binds(data, offset)
    return None if run is None else (run.places.tolist(), run.heads.tolist(), run.bytes_count, run.is_described)


def random_run(draw: random.Random) -> bytes:
    names = draw.choice((["s"], ["s"], ["s", "t", "s12"], [""]))
    columns_count = draw.randint(0, 4)
    formats = draw.sample(((), (0,), (1,), (1,) * columns_count), draw.choice((1, 1, 3)))
    results, described = draw.choice(((), (1,), (0, 1))), draw.random() < 0.5
    parts = []
    for _ in range(draw.randint(0, 6)):
        values = [draw.choice((None, b"", b"1", b"a longer value")) for _ in range(columns_count)]
        parts.append(bind(values, results, draw.choice(formats), statement=draw.choice(names)))
        parts.append(DESCRIBE * described + frame(b"E", b"\0" + struct.pack("!i", draw.choice((0, 1, -1)))))
    return b"".join(parts)


@pytest.mark.parametrize("seed", range(4))
def test_against_the_model(seed: int) -> None:
    draw = random.Random(seed)
    runs_count = 0
    for _ in range(400):
        data = b"x" * draw.randrange(4)
        offset = len(data)
        data += random_run(draw) + draw.choice((b"", random_run(draw), frame(b"S", b""), b"B\0\0"))
        broken = bytearray(data)
        if draw.random() < 0.5 and len(data) > offset:
            for _ in range(draw.randint(1, 2)):
                broken[draw.randrange(offset, len(data))] = draw.choice((0, 1, 66, 68, 69, 127, 128, 255))
        data = bytes(broken[: draw.randint(offset, len(data))] if draw.random() < 0.3 else broken)
        assert found(data, offset) == model(data, offset), (data, offset)
        runs_count += model(data, offset) is not None
    assert runs_count > 50


def test_no_more_heads_than_there_is_room_for() -> None:
    rows = [bind([b"1"], (), (), statement=f"s{number % (HEADS_MAX + 3)}") + EXECUTE for number in range(400)]
    run = find_binds(b"".join(rows), 0)
    assert run is not None and len(run.places) == HEADS_MAX and found(b"".join(rows), 0) == model(b"".join(rows), 0)
