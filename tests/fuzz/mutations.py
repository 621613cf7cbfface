"""Frontend messages that are wrong in one way or another, made from what each type is built of.

Enters: a random source, the letter of a message type. Leaves: bytes. Most messages keep their
frame, so that the connection goes on: their fields are what nobody sends, or a body has bytes
changed, taken out, doubled. A few lie about their length.
"""

from __future__ import annotations

import random
import struct

from tests.end_to_end.raw_client import bind, close, copy_data, copy_fail, describe, execute, frame, parse, query

Draw = random.Random

# All that a client may send once it is let in.
TYPES = "QPBDECSHXFdcfp"
BODILESS = "SHXc"
FRAME_LIES = 0.01
INTEGERS = (0, 1, -1, -2, 2, 3, 7, 127, 255, 32767, -32768, 65535)
LENGTHS = (0, 1, -1, -2, 4, 5, 2**31 - 1, -(2**31), 10_000, 2**24)
OIDS = (0, 16, 20, 21, 23, 25, 701, 705, 1043, 1082, 1114, 1184, 1700, 2249, 2278, 1, 999_999, -1)
NAMES = (b"", b"", b"p", b"q", b"c", b"n" * 70, b"\xff\xfe", "ü".encode(), b"%s", b"a b", b'"', b"'", b"x" * 400)
TEXTS = (
    b"",
    b";",
    b"SELECT 1",
    b"SELECT $1::int",
    b"SELECT $1, $2",
    b"SELECT * FROM fz",
    b"SELECT * FROM fz_view",
    b"SELECT * FROM (VALUES (1), (2), (3)) AS q(x)",
    b"INSERT INTO fz VALUES ($1, $2)",
    b"INSERT INTO fz VALUES (1, 'x')",
    b"INSERT INTO fz_table VALUES ($1) ON CONFLICT DO NOTHING",
    b"COPY fz FROM STDIN",
    b"COPY fz FROM STDIN (FORMAT csv)",
    b"COPY (SELECT 1) TO STDOUT",
    b"BEGIN",
    b"COMMIT",
    b"ROLLBACK",
    b"SAVEPOINT a",
    b"ROLLBACK TO a",
    b"RELEASE a",
    b"DECLARE c CURSOR FOR SELECT 1",
    b"FETCH ALL FROM c",
    b"CLOSE c",
    b"PREPARE p AS SELECT 1",
    b"EXECUTE p",
    b"DEALLOCATE ALL",
    b"SET timezone = 'Asia/Tokyo'",
    b"SHOW ALL",
    b"LISTEN c",
    b"NOTIFY c, 'x'",
    b"UNLISTEN *",
    b"DISCARD ALL",
    b"BEGIN; SELECT 1/0",
    b"SELECT 1; SELECT 2; SELEC",
    b"SELECT '\xff'",
    b"SELECT '" + b"x" * 500 + b"'",
    b"SELECT " + b"(" * 60 + b"1" + b")" * 60,
)
VALUES = (
    b"",
    b"1",
    b"x",
    b"NULL",
    b"\x00",
    b"\x00\x00\x00\x01",
    b"\x00" * 8,
    b"\xff" * 8,
    b"-9" * 20,
    b"2026-01-01",
    b"t",
    b"\\N",
)
LINES = (
    b"1\ta\n",
    b"x\ty\n",
    b"1\n",
    b"\\.\n",
    b"\\N\t\\N\n",
    b"1\t\\x4\n",
    b"\n",
    b"",
    b"1\ta",
    b"\xff\xfe\n",
    b'"\n',
    b"1,a\n",
    b"\x00",
)


def message(draw: Draw, kind: str) -> bytes:
    """Return a message of a type, mostly wrong."""
    made = structured(draw, kind)
    chance = draw.random()
    if chance < FRAME_LIES:
        return made[:1] + struct.pack("!i", draw.choice(LENGTHS)) + made[5:]
    if chance < 0.45 and kind not in BODILESS:
        return frame(made[:1], changed(draw, made[5:]))
    return made


def structured(draw: Draw, kind: str) -> bytes:
    """Return a message whose fields are drawn one by one."""
    match kind:
        case "Q":
            return query_of(draw)
        case "P":
            oids = [draw.choice(OIDS) for _ in range(draw.choice((0, 0, 1, 2, 30)))]
            return parse(printable(text_of(draw)), printable(draw.choice(NAMES)), oids)
        case "B":
            values = [draw.choice((None, draw.choice(VALUES))) for _ in range(draw.choice((0, 0, 1, 1, 2, 2, 5, 300)))]
            formats = [draw.choice((0, 1, 2, -1)) for _ in range(draw.choice((0, 0, 1, 2, 9)))]
            results = [draw.choice((0, 1, 2, 77)) for _ in range(draw.choice((0, 0, 1, 2, 9)))]
            return bind(values, printable(draw.choice(NAMES)), printable(draw.choice(NAMES)), formats, results)
        case "D" | "C":
            made = describe if kind == "D" else close
            return made(draw.choice("SSPPXsp\x01"), printable(draw.choice(NAMES)))
        case "E":
            return execute(printable(draw.choice(NAMES)), draw.choice((*INTEGERS, 2**31 - 1, -(2**31))))
        case "F":
            count = draw.choice(INTEGERS)
            return frame(
                b"F",
                struct.pack("!ihh", draw.choice(OIDS), draw.choice((0, 1, 2)), count % 30000) + draw.choice(VALUES),
            )
        case "d":
            return copy_data(draw.choice(LINES) * draw.choice((1, 1, 1, 3, 50)))
        case "f":
            return copy_fail(printable(draw.choice(NAMES)))
        case "p":
            return frame(b"p", password_body(draw))
        case _:
            return frame(kind.encode(), b"" if draw.random() < 0.97 else draw.choice(VALUES))


def query_of(draw: Draw) -> bytes:
    return frame(b"Q", text_of(draw) + b"\0") if draw.random() < 0.5 else query(printable(text_of(draw)))


def text_of(draw: Draw) -> bytes:
    """Return a statement, or what is left of one."""
    text = draw.choice(TEXTS)
    if draw.random() < 0.3:
        words = text.split(b" ")
        draw.shuffle(words)
        return b" ".join(words)
    return changed(draw, text) if draw.random() < 0.3 else text


def changed(draw: Draw, body: bytes) -> bytes:
    """Return a body with one to three changes of bytes."""
    made = bytearray(body)
    for _ in range(draw.choice((1, 1, 2, 3))):
        place = draw.randrange(len(made) + 1)
        match draw.randrange(6):
            case 0 if made:
                made[place % len(made)] ^= 1 << draw.randrange(8)
            case 1:
                made[place:place] = draw.choice(VALUES)
            case 2:
                del made[place : place + draw.choice((1, 1, 2, 4, 100))]
            case 3:
                made[place:place] = made[place : place + draw.choice((1, 4, 20))]
            case 4:
                made[place : place + 2] = struct.pack("!h", draw.choice(INTEGERS) % 32768)
            case _:
                made[place : place + 4] = struct.pack("!i", draw.choice(LENGTHS))
    return bytes(made)


def opening(draw: Draw, kind: str) -> bytes:
    """Return what comes before a session: 'startup', 'ssl', 'gss' or 'cancel'."""
    pairs = [(b"user", b"fuzz"), (b"database", b"antumbra")]
    match kind:
        case "ssl":
            body = struct.pack("!i", 80877103)
        case "gss":
            body = struct.pack("!i", 80877104)
        case "cancel":
            body = struct.pack("!iii", 80877102, draw.choice((0, 1, 77, -1)), draw.choice(INTEGERS))
        case _:
            options = (
                b"-c timezone=UTC",
                b"-c nosuch=1",
                b"-x",
                b"--",
                b"-c",
                b"\\",
                b"-c work_mem=1MB -c a.b=c",
                b"\xff",
            )
            keys = (
                b"options",
                b"application_name",
                b"client_encoding",
                b"replication",
                b"_pq_.x",
                b"nosuch",
                b"DateStyle",
                b"",
            )
            pairs += [(draw.choice(keys), draw.choice((*options, *NAMES))) for _ in range(draw.choice((0, 0, 1, 2)))]
            version = draw.choice((0x30000, 0x30000, 0x30000, 0x30002, 0x20000, 0x40000, 0))
            body = struct.pack("!i", version) + b"".join(key + b"\0" + value + b"\0" for key, value in pairs) + b"\0"
    if draw.random() < 0.6:
        body = changed(draw, body)
    length = len(body) + 4 if draw.random() < 0.95 else draw.choice(LENGTHS)
    return struct.pack("!i", length) + body


def password_body(draw: Draw) -> bytes:
    """Return what may stand in a message of SASL, or instead of it."""
    first = b"n,,n=,r=" + draw.choice((b"abcdefghijklmnop", b"", b"\xff", b"a" * 1000))
    name = draw.choice((b"SCRAM-SHA-256", b"SCRAM-SHA-256-PLUS", b"MD5", b""))
    length = draw.choice((len(first), len(first), -1, 0, 2**31 - 1))
    initial = name + b"\0" + struct.pack("!i", length) + first
    final = b"c=biws,r=abcdefghijklmnop,p=" + draw.choice((b"", b"AAAA", b"!", b"v0X8v3Bz2T0CJGbJQyF0X+HI4Ts="))
    return changed(draw, draw.choice((initial, initial, final, b"secret\0", b"")))


def printable(text: bytes) -> str:
    """Return bytes as the text that `raw_client` encodes again."""
    return text.decode("utf-8", "ignore").replace("\0", "")
