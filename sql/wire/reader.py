"""The bodies of frontend messages: bytes to the values of `messages`, one small function per type
byte.

Enters: a buffer, the start and the end of one complete body in it. Leaves: a message. Raises
SqlError (severity ERROR, 08P01 or 22021) when the body does not hold what its type promises. Must
not copy more than the strings; must not know of states: framing is `conversation`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import cast

from sql.errors import SqlError
from sql.values.encodings import UTF8
from sql.wire.messages import (
    COPY_DONE,
    FLUSH,
    SYNC,
    TERMINATE,
    Bind,
    BindRun,
    Close,
    CopyFail,
    Describe,
    Execute,
    FrontendMessage,
    FunctionCall,
    Malformed,
    ObjectKind,
    Parse,
    Password,
    Query,
)

_INT32 = struct.Struct("!i").unpack_from
_UINT32 = struct.Struct("!I").unpack_from

# Struct objects by count, so that a repeated shape costs no format parsing; longer lists are rare
# and built when they come.
_COUNTS_CACHED = 64
_INT16S = [struct.Struct(f"!{count}h") for count in range(_COUNTS_CACHED)]
_UINT32S = [struct.Struct(f"!{count}I") for count in range(_COUNTS_CACHED)]

_FORMAT_TUPLES: dict[bytes, tuple[int, ...]] = {b"": (), b"\x00\x00": (0,), b"\x00\x01": (1,)}

# The ends of most Binds: result formats none, all text, all binary.
_RESULT_FORMATS: dict[bytes, tuple[int, ...]] = {
    b"\x00\x00": (),
    b"\x00\x01\x00\x00": (0,),
    b"\x00\x01\x00\x01": (1,),
}
HEADS_KEPT_MAX = 256
# The type byte and the length of a message.
HEAD_BYTES = 5
HEAD_KEPT_BYTES_MAX = 256

# Portal, statement, parameter formats, count of parameters.
BindHead = tuple[str, str, tuple[int, ...], int]
Decoder = Callable[[bytes, int, int], FrontendMessage]


def read_query(buffer: bytes, start: int, end: int) -> Query:
    """Return Query (Q): the text, to its NUL."""
    if buffer.find(0, start, end) != end - 1:
        raise _bad_string(buffer, start, end)
    return Query(_decode(buffer, start, end - 1))


def read_parse(buffer: bytes, start: int, end: int) -> Parse:
    """Return Parse (P): name, text, int16 count, that many OIDs."""
    name, at = _string(buffer, start, end)
    text, at = _string(buffer, at, end)
    count, at = _count(buffer, at, end)
    if at + 4 * count != end:
        raise _bad_layout(at + 4 * count, end)
    if count == 0:
        return Parse(name, text, ())
    form = _UINT32S[count] if count < _COUNTS_CACHED else struct.Struct(f"!{count}I")
    return Parse(name, text, form.unpack_from(buffer, at))


def read_bind(buffer: bytes, start: int, end: int) -> Bind:
    """Return Bind (B): portal, statement, parameter formats, values (checked to fit, left in
    place), result formats.
    """
    (portal, statement, formats, count), at = _bind_head(buffer, start, end)
    values_offset = at
    for _ in range(count):
        if at + 4 > end:
            raise _bad_layout(at + 4, end)
        (length,) = _INT32(buffer, at)
        at += 4
        if length > 0:
            at += length
        elif length < -1:
            raise _protocol_error("invalid parameter length in bind message")
    if at > end:
        raise _bad_layout(at, end)
    if len(formats) > 1 and len(formats) != count:
        raise _protocol_error(f"bind message has {len(formats)} parameter formats but {count} parameters")
    result_formats = _RESULT_FORMATS.get(buffer[at:end])
    if result_formats is None:
        result_formats, at = _formats(buffer, at, end)
        if at != end:
            raise _bad_layout(at, end)
    return Bind(portal, statement, formats, buffer, values_offset, count, result_formats)


def _bind_head(buffer: bytes, start: int, end: int) -> tuple[BindHead, int]:
    """Return the fields before the values of a Bind, and the place where the values begin.

    All Binds of a statement begin with the same bytes.
    """
    portal_end = buffer.find(0, start, end)
    statement_end = buffer.find(0, portal_end + 1, end)
    if 0 <= portal_end < statement_end <= end - 3:
        head_end = statement_end + 5 + 2 * (buffer[statement_end + 1] << 8 | buffer[statement_end + 2])
        if head_end <= end and head_end - start <= HEAD_KEPT_BYTES_MAX:
            return _known_bind_head(buffer[start:head_end]), head_end
    return _read_bind_head(buffer, start, end)


@lru_cache(maxsize=HEADS_KEPT_MAX)
def _known_bind_head(head: bytes) -> BindHead:
    return _read_bind_head(head, 0, len(head))[0]


def _read_bind_head(buffer: bytes, start: int, end: int) -> tuple[BindHead, int]:
    portal, at = _string(buffer, start, end)
    statement, at = _string(buffer, at, end)
    formats, at = _formats(buffer, at, end)
    count, at = _count(buffer, at, end)
    return (portal, statement, formats, count), at


def read_extended(buffer: bytes, start: int, end: int) -> FrontendMessage:
    """Return the message of the extended protocol whose body is buffer[start:end], after its
    head.
    """
    kind = buffer[start - HEAD_BYTES]
    try:
        return DECODERS[kind](buffer, start, end)
    except SqlError as error:
        return Malformed(error, True, kind, buffer[start:end])


def read_run(run: BindRun, row: int = 0, stop: int | None = None) -> Iterator[FrontendMessage]:
    """Yield the messages of the rows [row, stop) of a run; None: all from `row` on."""
    start = run.message_start(row)
    end = run.message_start(run.rows_count if stop is None else stop)
    while start < end:
        message_end = start + 1 + _INT32(run.payload, start + 1)[0]
        yield read_extended(run.payload, start + HEAD_BYTES, message_end)
        start = message_end


def read_describe(buffer: bytes, start: int, end: int) -> Describe:
    """Return Describe (D): 'S' or 'P', name."""
    return Describe(*_object(buffer, start, end, "DESCRIBE"))


def read_close(buffer: bytes, start: int, end: int) -> Close:
    """Return Close (C): 'S' or 'P', name."""
    return Close(*_object(buffer, start, end, "CLOSE"))


def read_execute(buffer: bytes, start: int, end: int) -> Execute:
    """Return Execute (E): portal, row limit; PostgreSQL takes a negative limit for none."""
    portal, at = _string(buffer, start, end)
    if at + 4 != end:
        raise _bad_layout(at + 4, end)
    (row_limit,) = _INT32(buffer, at)
    return Execute(portal, max(row_limit, 0))


def read_copy_fail(buffer: bytes, start: int, end: int) -> CopyFail:
    """Return CopyFail (f): the reason."""
    reason, _ = _string(buffer, start, end)
    return CopyFail(reason)


def read_function_call(buffer: bytes, start: int, end: int) -> FunctionCall:
    """Return FunctionCall (F): only the function's OID is looked at."""
    if start + 4 > end:
        raise _bad_layout(start + 4, end)
    (function_oid,) = _UINT32(buffer, start)
    return FunctionCall(function_oid)


def read_password(buffer: bytes, start: int, end: int) -> Password:
    """Return Password (p): the body, whatever the method of authentication."""
    return Password(buffer[start:end])


DECODERS: dict[int, Decoder] = {
    ord("Q"): read_query,
    ord("P"): read_parse,
    ord("B"): read_bind,
    ord("D"): read_describe,
    ord("C"): read_close,
    ord("E"): read_execute,
    ord("f"): read_copy_fail,
    ord("F"): read_function_call,
    ord("p"): read_password,
}

# Messages without a body: the same value each time.
CONSTANTS: dict[int, FrontendMessage] = {
    ord("H"): FLUSH,
    ord("S"): SYNC,
    ord("c"): COPY_DONE,
    ord("X"): TERMINATE,
}


def _decode(buffer: bytes, start: int, end: int) -> str:
    try:
        return buffer[start:end].decode()
    except UnicodeDecodeError as error:
        raise UTF8.refused(buffer[start:end], error.start) from None


def _string(buffer: bytes, start: int, end: int) -> tuple[str, int]:
    stop = buffer.find(0, start, end)
    if stop < 0:
        raise _bad_string(buffer, start, end)
    if stop == start:
        return "", start + 1
    return _decode(buffer, start, stop), stop + 1


def _count(buffer: bytes, at: int, end: int) -> tuple[int, int]:
    """Return a number of up to 65,535, as PostgreSQL reads it, and the place after it."""
    if at + 2 > end:
        raise _bad_layout(at + 2, end)
    return buffer[at] << 8 | buffer[at + 1], at + 2


def _formats(buffer: bytes, at: int, end: int) -> tuple[tuple[int, ...], int]:
    count, at = _count(buffer, at, end)
    stop = at + 2 * count
    if stop > end:
        raise _bad_layout(stop, end)
    known = _FORMAT_TUPLES.get(buffer[at:stop]) if count < 2 else None
    if known is not None:
        return known, stop
    form = _INT16S[count] if count < _COUNTS_CACHED else struct.Struct(f"!{count}h")
    formats = form.unpack_from(buffer, at)
    for code in formats:
        if code not in (0, 1):
            raise SqlError("22023", f"unsupported format code: {code}")
    return formats, stop


def _object(buffer: bytes, start: int, end: int, what: str) -> tuple[ObjectKind, str]:
    if start >= end:
        raise _bad_layout(start + 1, end)
    name, at = _string(buffer, start + 1, end)
    if at != end:
        raise _bad_layout(at, end)
    kind = chr(buffer[start])
    if kind not in ("S", "P"):
        raise _protocol_error(f"invalid {what} message subtype {buffer[start]}")
    return cast(ObjectKind, kind), name


def _bad_string(buffer: bytes, start: int, end: int) -> SqlError:
    """Return the error of a string without its NUL, or with bytes after it."""
    missing = buffer.find(0, start, end) < 0
    return _protocol_error("invalid string in message" if missing else "invalid message format")


def _bad_layout(wanted: int, end: int) -> SqlError:
    return _protocol_error("insufficient data left in message" if wanted > end else "invalid message format")


def _protocol_error(text: str) -> SqlError:
    return SqlError("08P01", text)
