"""The way in, over a socket: SCRAM said by hand, what a stranger may not say, TLS, and limits on
those who are not in yet.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import logging
import socket
import ssl
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from engine.catalog.roles import BOOTSTRAP_OID, Role, Roles
from engine.server.authentication import Authenticator
from engine.server.certificate_hash import certificate_hash
from engine.server.server import Door, Server, ServerLimits, origin
from engine.server.tls import TlsError, make_context
from engine.settings.hba import default_rules, read_rules
from engine.storage.clock import SystemClock
from sql.errors import SqlError
from sql.wire.scram import make_verifier
from tests.engine.fake_session import WAIT_S_MAX, FakeWorld
from tests.sql.wire.frames import frame, opening, query, startup

PASSWORD = "pencil"
SSL_REQUEST = opening(80877103)
RULES = """
    host    all  trusted,nobody,group,single   localhost  trust
    hostssl all  secure    localhost  scram-sha-256
    host    all  rejected  localhost  reject
    host    all  ann,old,none,stranger localhost scram-sha-256
"""
LIMITS = ServerLimits(strangers_max=5, strangers_per_address_max=3, startup_wait_s_max=WAIT_S_MAX)


def roles() -> Roles:
    verifier = str(make_verifier(PASSWORD))
    found = Roles()
    for oid, role in enumerate(
        (
            Role("ann", 0, login=True, verifier=verifier),
            Role("secure", 0, login=True, verifier=verifier),
            Role("old", 0, login=True, verifier=verifier, valid_until=1),
            Role("none", 0, login=True),
            Role("trusted", 0, login=True),
            Role("single", 0, login=True, connection_limit=1),
            Role("group", 0, verifier=verifier),
        ),
        20000,
    ):
        found = found.with_role(Role(**{**{name: getattr(role, name) for name in role.__slots__}, "oid": oid}))
    return found


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "server.crt", folder / "server.key"
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    subprocess.run(
        [*command, "-addext", names, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True
    )
    key.chmod(0o600)
    return certificate, key


@pytest.fixture(scope="module")
def world(certificate: tuple[Path, Path]) -> Iterator[FakeWorld]:
    known = roles()
    authenticator = Authenticator(
        read_rules(RULES), lambda: known, SystemClock().now_us, certificate_hash(certificate[0])
    )
    door = Door(authenticator, make_context(*certificate))
    running = FakeWorld(LIMITS, door).start()
    yield running
    running.stop()


class Stranger:
    """A socket that has said its name."""

    def __init__(self, world: FakeWorld, user: str = "ann") -> None:
        self.socket = socket.create_connection((world.host, world.port), timeout=WAIT_S_MAX)
        self.stream = self.socket.makefile("rb")
        if user:
            self.socket.sendall(startup(version=0x30000, user=user, database="antumbra"))

    def say(self, data: bytes) -> None:
        self.socket.sendall(data)

    def hear(self) -> tuple[bytes, bytes]:
        head = self.stream.read(5)
        if not head:
            return b"", b""
        return head[:1], self.stream.read(struct.unpack("!i", head[1:])[0] - 4)

    def hear_error(self) -> str:
        """Return the error that is the last word."""
        kind, body = self.hear()
        assert kind == b"E", (kind, body)
        fields = {part[:1]: part[1:].decode() for part in body.split(b"\0") if part}
        assert fields[b"S"] == "FATAL"
        assert self.hear() == (b"", b"")
        return f"{fields[b'C']}: {fields[b'M']}"

    def close(self) -> None:
        self.stream.close()
        self.socket.close()


@pytest.fixture
def stranger(world: FakeWorld) -> Iterator[Stranger]:
    one = Stranger(world)
    assert one.hear() == (b"R", struct.pack("!i", 10) + b"SCRAM-SHA-256\0\0")
    yield one
    one.close()


def test_a_name_without_a_role_is_a_superuser_while_nobody_has_made_one() -> None:
    known = Roles()
    authenticator = Authenticator(default_rules(False, False), lambda: known, SystemClock().now_us)

    def let_in(user: str) -> int:
        login = authenticator.begin({"user": user, "database": "antumbra"}, "127.0.0.1", encrypted=False)
        return authenticator.role_of(login, "antumbra", ())

    assert let_in("anybody") == let_in("antumbra") == BOOTSTRAP_OID
    ann = Role("ann", 20000, login=True)
    known = known.with_role(ann)
    assert let_in("ann") == 20000
    assert let_in("antumbra") == BOOTSTRAP_OID
    with pytest.raises(SqlError, match='role "anybody" does not exist') as caught:
        let_in("anybody")
    assert (caught.value.sqlstate, caught.value.severity) == ("28000", "FATAL")
    known = known.without_role(ann)
    assert let_in("anybody") == BOOTSTRAP_OID


def initial(response: bytes) -> bytes:
    return frame(b"p", b"SCRAM-SHA-256\0" + struct.pack("!i", len(response)) + response)


def proof_of(server_first: str, password: str = PASSWORD) -> bytes:
    """Return client-final, by the RFC's formulas."""
    nonce, salt, count = (part[2:] for part in server_first.split(","))
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), base64.b64decode(salt), int(count))
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    without_proof = f"c=biws,r={nonce}"
    message = f"n=,r=abc,{server_first},{without_proof}".encode()
    signature = hmac.digest(hashlib.sha256(client_key).digest(), message, "sha256")
    proof = bytes(one ^ other for one, other in zip(client_key, signature, strict=True))
    return f"{without_proof},p={base64.b64encode(proof).decode()}".encode()


def begin(one: Stranger) -> str:
    one.say(initial(b"n,,n=,r=abc"))
    kind, body = one.hear()
    assert (kind, body[:4]) == (b"R", struct.pack("!i", 11))
    return body[4:].decode()


def test_the_exchange_and_what_follows_it_in_one_packet(stranger: Stranger) -> None:
    final = proof_of(begin(stranger))
    stranger.say(frame(b"p", final) + query("echo hello"))
    kinds = [stranger.hear()]
    while kinds[-1][0] not in (b"C", b""):
        kinds.append(stranger.hear())
    heard = b"".join(kind for kind, _ in kinds)
    assert heard.replace(b"S", b"") == b"RRKZTDC"


def test_the_exchange_byte_by_byte(stranger: Stranger) -> None:
    stranger.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for byte in initial(b"n,,n=,r=abc"):
        stranger.say(bytes([byte]))
    kind, body = stranger.hear()
    assert kind == b"R"
    for byte in frame(b"p", proof_of(body[4:].decode())):
        stranger.say(bytes([byte]))
    assert stranger.hear()[1][:4] == struct.pack("!i", 12)
    assert stranger.hear() == (b"R", struct.pack("!i", 0))


def test_a_wrong_password(stranger: Stranger) -> None:
    stranger.say(frame(b"p", proof_of(begin(stranger), "pen")))
    assert stranger.hear_error() == '28P01: password authentication failed for user "ann"'


@pytest.mark.parametrize("user", ["stranger", "none", "old"])
def test_who_has_no_password_fails_at_the_end_only(world: FakeWorld, user: str) -> None:
    salts = set()
    for _ in range(2):
        one = Stranger(world, user)
        assert one.hear()[0] == b"R"
        first = begin(one)
        salts.add(first.split(",")[1])
        one.say(frame(b"p", proof_of(first)))
        assert one.hear_error() == f'28P01: password authentication failed for user "{user}"'
        one.close()
    assert len(salts) == 1


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (query("SELECT 1"), "08P01: expected SASL response, got message type 81"),
        (frame(b"X", b""), "08P01: expected SASL response, got message type 88"),
        (b"\0\0\0\0\0\0", "08P01: expected SASL response, got message type 0"),
        (b"p" + struct.pack("!i", 3) + b"abc", "08P01: invalid message length"),
        (b"p" + struct.pack("!i", 1 << 30), "08P01: invalid message length"),
        (frame(b"p", b"x" * 1100), "08P01: invalid message length"),
        (frame(b"p", b""), "08P01: invalid SASL response"),
        (frame(b"p", b"PLAIN\0" + struct.pack("!i", 0)), "08P01: client selected an invalid SASL authentication mechanism"),
        (initial(b"p=tls-unique,,n=,r=abc"), "08P01: malformed SCRAM message"),
        (initial(b"y,,n=,r=abc") + frame(b"p", b"c=biws"), "08P01: unexpected SCRAM channel-binding attribute in client-final-message"),
        (initial(b"n,,n=,r=abc") + frame(b"p", b"c=biws,r=abc,p="), "08P01: malformed SCRAM message"),
    ],
)  # fmt: skip
def test_what_a_stranger_may_not_say(world: FakeWorld, data: bytes, expected: str) -> None:
    one = Stranger(world)
    assert one.hear()[0] == b"R"
    one.say(data)
    if data.startswith((initial(b"n,,n=,r=abc"), initial(b"y,,n=,r=abc"))):
        assert one.hear()[0] == b"R"
    assert one.hear_error() == expected
    one.close()


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        ("nobody", '28000: role "nobody" does not exist'),
        ("group", '28000: role "group" is not permitted to log in'),
        (
            "rejected",
            '28000: pg_hba.conf rejects connection for host "127.0.0.1", user "rejected", database "antumbra", no encryption',
        ),
        (
            "secure",
            '28000: no pg_hba.conf entry for host "127.0.0.1", user "secure", database "antumbra", no encryption',
        ),
    ],
)
def test_who_may_not_try(world: FakeWorld, user: str, expected: str) -> None:
    one = Stranger(world, user)
    assert one.hear_error() == expected
    one.close()


def test_nothing_may_follow_a_request_for_tls(world: FakeWorld) -> None:
    one = Stranger(world, user="")
    one.say(SSL_REQUEST + startup(version=0x30000, user="trusted", database="antumbra"))
    assert one.hear_error() == "08P01: received unencrypted data after SSL request"
    one.close()


def test_what_is_no_handshake_ends_the_connection(world: FakeWorld) -> None:
    one = Stranger(world, user="")
    one.say(SSL_REQUEST)
    assert one.stream.read(1) == b"S"
    one.say(startup(version=0x30000, user="trusted", database="antumbra"))
    assert b"Z" not in one.stream.read()
    one.close()


def test_tls_inside_tls_is_refused(world: FakeWorld, certificate: tuple[Path, Path]) -> None:
    with encrypted(world, certificate) as secure:
        secure.sendall(SSL_REQUEST)
        assert b"unsupported frontend protocol 1234.5679" in secure.recv(1000)


@pytest.mark.parametrize("mode", ["require", "verify-full"])
def test_tls_with_a_password(world: FakeWorld, certificate: tuple[Path, Path], mode: str) -> None:
    dsn = f"host=localhost port={world.port} user=secure password={PASSWORD} dbname=antumbra sslmode={mode}"
    with psycopg.connect(f"{dsn} sslrootcert={certificate[0]}", autocommit=True) as connection:
        assert connection.pgconn.ssl_in_use
        assert connection.execute("echo encrypted", prepare=False).fetchone() == ("encrypted",)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("user=secure sslmode=disable", "no pg_hba.conf entry"),
        ("user=secure password=wrong", "password authentication failed"),
        ("user=ann password=pencil sslmode=disable channel_binding=require", "channel binding"),
        ("user=ann", "no password supplied"),
    ],
)
def test_libpq_is_refused_cleanly(world: FakeWorld, options: str, expected: str) -> None:
    with pytest.raises(psycopg.OperationalError, match=expected):
        psycopg.connect(f"host=localhost port={world.port} dbname=antumbra passfile=/nonexistent {options}")


@pytest.mark.parametrize("options", ["channel_binding=require", "channel_binding=prefer", "channel_binding=disable"])
def test_channel_binding_with_libpq(world: FakeWorld, options: str) -> None:
    dsn = f"host=localhost port={world.port} user=secure dbname=antumbra sslmode=require {options}"
    with psycopg.connect(f"{dsn} password={PASSWORD}", autocommit=True) as connection:
        assert connection.execute("echo bound", prepare=False).fetchone() == ("bound",)
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(f"{dsn} password=wrong")


def test_binding_is_offered_and_taken_under_tls_alone(world: FakeWorld, certificate: tuple[Path, Path]) -> None:
    for said, expected in (
        (named(b"SCRAM-SHA-256", b"y,,n=,r=abc"), b"28000"),
        (named(b"SCRAM-SHA-256", b"p=tls-server-end-point,,n=,r=abc"), b"08P01"),
        (named(b"SCRAM-SHA-256-PLUS", b"n,,n=,r=abc"), b"08P01"),
        (named(b"SCRAM-SHA-256-PLUS", b"p=tls-unique,,n=,r=abc"), b"08P01"),
        (named(b"SCRAM-SHA-256", b"n,,n=,r=abc"), b"R"),
    ):
        with encrypted(world, certificate) as secure:
            secure.sendall(startup(version=0x30000, user="secure", database="antumbra"))
            offered = b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0"
            assert secure.recv(1000) == frame(b"R", struct.pack("!i", 10) + offered)
            secure.sendall(said)
            assert expected in secure.recv(1000), said
    one = Stranger(world)
    assert one.hear() == (b"R", struct.pack("!i", 10) + b"SCRAM-SHA-256\0\0")
    one.say(named(b"SCRAM-SHA-256-PLUS", b"p=tls-server-end-point,,n=,r=abc"))
    assert one.hear_error() == "08P01: client selected an invalid SASL authentication mechanism"
    one.close()


def named(mechanism: bytes, response: bytes) -> bytes:
    return frame(b"p", mechanism + b"\0" + struct.pack("!i", len(response)) + response)


def encrypted(world: FakeWorld, certificate: tuple[Path, Path]) -> ssl.SSLSocket:
    raw = socket.create_connection((world.host, world.port), timeout=WAIT_S_MAX)
    raw.sendall(SSL_REQUEST)
    assert raw.recv(1) == b"S"
    context = ssl.create_default_context(cafile=str(certificate[0]))
    return context.wrap_socket(raw, server_hostname="localhost")


def test_no_more_strangers_than_allowed(world: FakeWorld) -> None:
    waiting = [Stranger(world, user="") for _ in range(LIMITS.strangers_per_address_max)]
    # Those that come first are known to the server first.
    for one in waiting:
        one.say(opening(80877104))
        assert one.stream.read(1) == b"N"
    late = Stranger(world, user="")
    assert late.hear_error() == "53300: sorry, too many clients already"
    late.close()
    # Who is in takes no place of theirs.
    waiting[0].say(startup(version=0x30000, user="trusted", database="antumbra"))
    assert waiting[0].hear()[0] == b"R"
    other = Stranger(world, user="")
    other.say(opening(80877104))
    assert other.stream.read(1) == b"N"
    for one in (*waiting, other):
        one.close()


def test_one_address_keeps_out_nobody_else() -> None:
    assert asyncio.run(strangers_of_many_addresses()) == 2, "those who have come after the others were let in"


class Somebody:
    def __init__(self, address: str) -> None:
        self.address = address


async def strangers_of_many_addresses() -> int:
    limits = ServerLimits(strangers_max=5, strangers_per_address_max=2)
    server = Server(limits, Door(Authenticator((), Roles, lambda: 0), None), lambda *_: None)  # type: ignore[arg-type]  # nobody gets in

    def comes(address: str) -> Any:
        connection: Any = Somebody(address)
        server.take_in(connection)
        return connection

    taken = [comes("10.0.0.1"), comes("::ffff:10.0.0.1"), comes("2001:db8::1"), comes("2001:db8::ffff:1")]
    for address in ("10.0.0.1", "2001:db8::2"):
        with pytest.raises(SqlError, match="53300"):
            comes(address)
    taken.append(comes("10.0.0.2"))
    with pytest.raises(SqlError, match="53300"):
        comes("10.0.0.3")
    for connection in taken:
        server.is_known(connection)
        server.is_known(connection)
    assert [comes("10.0.0.3"), comes("10.0.0.3")]
    return len(server.strangers)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("127.0.0.1", "127.8.8.8", True),
        ("127.0.0.1", "::1", True),
        ("127.0.0.1", "::ffff:127.0.0.1", True),
        ("10.0.0.1", "10.0.0.2", False),
        ("fe80::1%eth0", "fe80::2%eth1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
    ],
)
def test_what_counts_as_one_address(one: str, other: str, is_same: bool) -> None:
    assert (origin(one) == origin(other)) == is_same


def test_the_last_places_are_for_superusers() -> None:
    known = roles()
    authenticator = Authenticator(default_rules(False, False), lambda: known, SystemClock().now_us)
    world = FakeWorld(
        ServerLimits(connections_max=3, superuser_reserved_connections=2), Door(authenticator, None)
    ).start()
    reserved = "53300: remaining connection slots are reserved for non-replication superuser connections"
    one = Stranger(world, "ann")
    assert one.hear()[0] == b"R"
    other = Stranger(world, "trusted")
    assert other.hear_error() == reserved
    operators = [Stranger(world, "antumbra") for _ in range(2)]
    assert [operator.hear()[0] for operator in operators] == [b"R", b"R"]
    late = Stranger(world, "antumbra")
    assert late.hear_error() == "53300: sorry, too many clients already"
    for each in (one, other, *operators, late):
        each.close()
    world.stop()


def test_a_role_has_no_more_connections_than_its_limit(world: FakeWorld) -> None:
    one = Stranger(world, "single")
    while one.hear()[0] != b"Z":
        pass
    other = Stranger(world, "single")
    assert other.hear_error() == '53300: too many connections for role "single"'
    other.close()
    one.close()


def test_no_password_is_logged(world: FakeWorld, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(psycopg.OperationalError):
        psycopg.connect(f"host=localhost port={world.port} dbname=antumbra user=ann password=verysecret")
    assert "password authentication failed for user 'ann'" in caplog.text
    assert "verysecret" not in caplog.text


def test_a_key_that_others_can_read(certificate: tuple[Path, Path], tmp_path: Path) -> None:
    key = tmp_path / "open.key"
    key.write_bytes(certificate[1].read_bytes())
    key.chmod(0o640)
    with pytest.raises(TlsError, match="group or world access"):
        make_context(certificate[0], key)


def test_a_key_of_another_certificate_or_none(certificate: tuple[Path, Path], tmp_path: Path) -> None:
    key = tmp_path / "no.key"
    with pytest.raises(TlsError, match="No such file"):
        make_context(certificate[0], key)
    key.write_text("nothing")
    key.chmod(0o600)
    with pytest.raises(TlsError, match="can't use the certificate"):
        make_context(certificate[0], key)
