"""The packets that open a connection: StartupMessage with its options, and the requests for
encryption and cancellation.

Enters: the body of a packet without its length. Leaves: a message, or SqlError (severity FATAL).
Must not decide what a setting means.
"""

from __future__ import annotations

import struct

from sql.errors import SqlError
from sql.values.encodings import UTF8
from sql.wire.messages import GSS_REQUEST, SSL_REQUEST, CancelRequest, GssRequest, SslRequest, Startup

# PostgreSQL's MAX_STARTUP_PACKET_LENGTH.
STARTUP_BYTES_MAX = 10_000
STARTUP_BYTES_MIN = 8

PROTOCOL_MAJOR = 3
MINOR_VERSION_MAX = 0
PROTOCOL_VERSION_MAX = PROTOCOL_MAJOR << 16 | MINOR_VERSION_MAX
CANCEL_CODE = 80877102
SSL_CODE = 80877103
GSS_CODE = 80877104

OpeningMessage = Startup | SslRequest | GssRequest | CancelRequest


def read_opening(body: bytes) -> OpeningMessage:
    """Return the message in an opening packet.

    `body` starts at the protocol code, after the length.
    """
    (code,) = struct.unpack_from("!I", body)
    if code == SSL_CODE:
        return SSL_REQUEST
    if code == GSS_CODE:
        return GSS_REQUEST
    if code == CANCEL_CODE:
        return _read_cancel(body)
    if code >> 16 != PROTOCOL_MAJOR:
        raise unsupported_protocol(code)
    return _read_startup(body, code & 0xFFFF)


def unsupported_protocol(code: int) -> SqlError:
    """Return the error for a protocol of another number, or for a request that may not come now."""
    number = f"{code >> 16}.{code & 0xFFFF}"
    return fatal("0A000", f"unsupported frontend protocol {number}: server supports 3.0 to 3.{MINOR_VERSION_MAX}")


def fatal(sqlstate: str, message: str, hint: str | None = None) -> SqlError:
    """Return an error that ends the connection."""
    return SqlError(sqlstate, message, hint=hint, severity="FATAL")


def split_options(options: str) -> dict[str, str]:
    """Return the settings in the `options` parameter: `-c name=value`, `-cname=value` and
    `--name=value`.

    These are the forms of the server's command line. Words are separated by white space; a
    backslash takes the next character as it is.
    """
    words = _split_words(options)
    settings: dict[str, str] = {}
    at = 0
    while at < len(words):
        word = words[at]
        if word.startswith("--") and len(word) > 2:
            shown, assignment = word, word[2:]
        elif word == "-c" and at + 1 < len(words):
            at += 1
            shown, assignment = f"-c {words[at]}", words[at]
        elif word.startswith("-c") and len(word) > 2:
            shown, assignment = f"-c {word[2:]}", word[2:]
        else:
            raise fatal("42601", f"invalid command-line argument for server process: {word}")
        name, equals, value = assignment.partition("=")
        if not equals:
            raise fatal("42601", f"{shown} requires a value")
        settings[name.replace("-", "_")] = value
        at += 1
    return settings


def _read_cancel(body: bytes) -> CancelRequest:
    if len(body) != 12:
        raise fatal("08P01", "invalid length of cancel request packet")
    _, process_id, secret_key = struct.unpack("!IiI", body)
    return CancelRequest(process_id, secret_key)


def _read_startup(body: bytes, minor: int) -> Startup:
    pairs = _read_pairs(body)
    protocol_options = tuple(name for name in pairs if name.startswith("_pq_."))
    settings = {name: value for name, value in pairs.items() if not name.startswith("_pq_.")}
    # A parameter of its own wins over the same setting in `options`, as in PostgreSQL.
    parameters = split_options(settings.pop("options", "")) | settings
    if not parameters.get("user"):
        raise fatal("28000", "no PostgreSQL user name specified in startup packet")
    if not parameters.get("database"):
        parameters["database"] = parameters["user"]
    if parameters.pop("replication", "false").lower() not in ("false", "off", "no", "0"):
        raise fatal("0A000", "replication connections are not supported")
    return Startup(parameters, minor, protocol_options)


def _read_pairs(body: bytes) -> dict[str, str]:
    """Return the name and value strings; one NUL more ends the list, and no byte may follow it."""
    try:
        text = body[4:].decode()
    except UnicodeDecodeError as error:
        refusal = UTF8.refused(body[4:], error.start)
        raise fatal(refusal.sqlstate, refusal.message) from None
    pairs: dict[str, str] = {}
    strings = text.split("\x00")
    at = 0
    while at < len(strings) and strings[at]:
        if at + 1 >= len(strings):
            break
        pairs[strings[at]] = strings[at + 1]
        at += 2
    if at != len(strings) - 2 or strings[at:] != ["", ""]:
        raise fatal("08P01", "invalid startup packet layout: expected terminator as last byte")
    return pairs


def _split_words(text: str) -> list[str]:
    words: list[str] = []
    word: list[str] | None = None
    characters = iter(text)
    for character in characters:
        if character.isspace():
            if word is not None:
                words.append("".join(word))
                word = None
            continue
        if word is None:
            word = []
        word.append(next(characters, "") if character == "\\" else character)
    if word is not None:
        words.append("".join(word))
    return words
