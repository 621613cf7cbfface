"""All messages of a backend in protocol 3, as functions that return their bytes.

Enters: names, types, errors. Leaves: bytes ready for the socket; data rows are encoded elsewhere,
in bulk. Must not keep state or know of sockets.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from sql.errors import SqlError
from sql.names.relation_keys import schema_of, shown
from sql.types.datatypes import SqlType

_HEAD = struct.Struct("!ci")
_FIELD = struct.Struct("!ihihih")
_INT32 = struct.Struct("!i")
_INT16 = struct.Struct("!h")

AUTHENTICATION_OK = b"R\x00\x00\x00\x08\x00\x00\x00\x00"
PARSE_COMPLETE = b"1\x00\x00\x00\x04"
BIND_COMPLETE = b"2\x00\x00\x00\x04"
CLOSE_COMPLETE = b"3\x00\x00\x00\x04"
NO_DATA = b"n\x00\x00\x00\x04"
EMPTY_QUERY_RESPONSE = b"I\x00\x00\x00\x04"
PORTAL_SUSPENDED = b"s\x00\x00\x00\x04"
COPY_DONE = b"c\x00\x00\x00\x04"
READY_FOR_QUERY = {status: b"Z\x00\x00\x00\x05" + status.encode() for status in "ITE"}

# Severities that ErrorResponse and NoticeResponse may carry, as PostgreSQL has them.
SEVERITIES = frozenset({"ERROR", "FATAL", "PANIC", "WARNING", "NOTICE", "DEBUG", "INFO", "LOG"})


def message(kind: bytes, body: bytes) -> bytes:
    """Return one framed message; its length counts itself but not the type byte."""
    return _HEAD.pack(kind, len(body) + 4) + body


def authentication_ok() -> bytes:
    """Return AuthenticationOk."""
    return AUTHENTICATION_OK


def authentication_sasl(mechanisms: Sequence[str]) -> bytes:
    """Return AuthenticationSASL: the mechanisms that the client may choose from."""
    return message(b"R", _INT32.pack(10) + b"".join(_string(name) for name in mechanisms) + b"\x00")


def authentication_sasl_continue(data: bytes) -> bytes:
    """Return AuthenticationSASLContinue with the mechanism's own message."""
    return message(b"R", _INT32.pack(11) + data)


def authentication_sasl_final(data: bytes) -> bytes:
    """Return AuthenticationSASLFinal with the mechanism's last message."""
    return message(b"R", _INT32.pack(12) + data)


def parameter_status(name: str, value: str) -> bytes:
    """Return ParameterStatus: a setting that the client library wants to follow."""
    return message(b"S", _string(name) + _string(value))


def backend_key_data(process_id: int, secret_key: int) -> bytes:
    """Return BackendKeyData: the numbers that a CancelRequest has to repeat.

    secret_key: 32 bits.
    """
    return message(b"K", struct.pack("!iI", process_id, secret_key))


def ready_for_query(status: str) -> bytes:
    """Return ReadyForQuery.

    status: I idle, T in a transaction block, E in a failed block.
    """
    return READY_FOR_QUERY[status]


def row_description(fields: Iterable[tuple[str, SqlType, int, tuple[int, int]]]) -> bytes:
    """Return RowDescription of (name, type, format, origin) columns.

    The format is 0 text or 1 binary; the origin is OID and attnum, or (0, 0).
    """
    parts = [
        _string(name) + _FIELD.pack(*origin, kind.oid, kind.size_bytes, kind.typmod, format_code)
        for name, kind, format_code, origin in fields
    ]
    return message(b"T", _INT16.pack(len(parts)) + b"".join(parts))


def parameter_description(oids: Sequence[int]) -> bytes:
    """Return ParameterDescription: the type OID of each parameter."""
    return message(b"t", struct.pack(f"!H{len(oids)}I", len(oids), *oids))


def data_row(values: Sequence[bytes | None]) -> bytes:
    """Return one DataRow of encoded values, None for NULL: for the few rows of SHOW and EXPLAIN.

    Results are encoded in bulk.
    """
    parts = [_INT16.pack(len(values))]
    for value in values:
        parts.append(b"\xff\xff\xff\xff" if value is None else _INT32.pack(len(value)) + value)
    return message(b"D", b"".join(parts))


def command_complete(tag: str) -> bytes:
    """Return CommandComplete, such as 'INSERT 0 1'."""
    return message(b"C", _string(tag))


def error_response(error: SqlError) -> bytes:
    """Return ErrorResponse with every field that `error` has."""
    return message(b"E", _report(error))


def notice_response(notice: SqlError) -> bytes:
    """Return NoticeResponse; the severity tells its kind (WARNING, NOTICE, INFO, DEBUG, LOG)."""
    return message(b"N", _report(notice))


def copy_in_response(format_code: int, columns_count: int) -> bytes:
    """Return CopyInResponse; format 0 text or CSV, 1 binary, for all columns."""
    return message(b"G", _copy_formats(format_code, columns_count))


def copy_out_response(format_code: int, columns_count: int) -> bytes:
    """Return CopyOutResponse; format 0 text or CSV, 1 binary, for all columns."""
    return message(b"H", _copy_formats(format_code, columns_count))


def copy_data(data: bytes | memoryview) -> bytes:
    """Return CopyData."""
    return b"".join((_HEAD.pack(b"d", len(data) + 4), data))


def negotiate_protocol_version(version: int, protocol_options: Sequence[str]) -> bytes:
    """Return NegotiateProtocolVersion: the newest version that we speak, and the options that we do
    not know.

    version: major << 16 | minor. The manual names the minor version alone; PostgreSQL sends both,
    and libpq 18 insists.
    """
    body = struct.pack("!ii", version, len(protocol_options)) + b"".join(_string(name) for name in protocol_options)
    return message(b"v", body)


def notification_response(process_id: int, channel: str, payload: str) -> bytes:
    """Return NotificationResponse, for which a client with LISTEN waits."""
    return message(b"A", _INT32.pack(process_id) + _string(channel) + _string(payload))


def _string(text: str) -> bytes:
    return text.encode("utf-8", "replace").replace(b"\x00", b"?") + b"\x00"


def _copy_formats(format_code: int, columns_count: int) -> bytes:
    return struct.pack(f"!bh{columns_count}h", format_code, columns_count, *([format_code] * columns_count))


def _report(error: SqlError) -> bytes:
    assert error.severity in SEVERITIES, error.severity
    fields = [
        (b"S", error.severity),
        (b"V", error.severity),
        (b"C", error.sqlstate),
        (b"M", error.message),
        (b"D", error.detail),
        (b"H", error.hint),
        (b"P", None if error.position is None else str(error.position)),
        (b"W", error.context),
        (b"s", None if error.table_name is None else schema_of(error.table_name)),
        (b"t", error.table_name),
        (b"c", error.column_name),
        (b"n", error.constraint_name),
        (b"R", error.routine),
    ]
    return b"".join(code + _string(shown(value)) for code, value in fields if value is not None) + b"\x00"
